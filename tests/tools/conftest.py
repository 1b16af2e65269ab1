"""A context for tools, and a registry of the test's own."""

import pytest

from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolContext
from chat.tools.pool import ThreadPool
from chat.tools.registry import Registry


@pytest.fixture
def context() -> ToolContext:
    return ToolContext(conversation_id=new_id(), message_id=new_id(), call_id="call-1")


@pytest.fixture
def pool() -> ThreadPool:
    return ThreadPool(size=2)


@pytest.fixture
def registry(pool: ThreadPool) -> Registry:
    return Registry(pool)
