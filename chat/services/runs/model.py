"""The model of a run: its wire, its tool style, and what its server has refused before."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from chat.engine.adjusting_provider import AdjustingProvider
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.adjustments import Adjustments, has
from chat.protocol.interfaces import ModelProvider, ToolSpec, ToolStyle
from chat.providers.http import Http
from chat.providers.registry import connect
from chat.providers.retry import RetryPolicy
from chat.services.catalog.known import ModelChoice


def open_model(
    model: ModelChoice,
    http: Http,
    retry: RetryPolicy | None = None,
    *,
    style: ToolStyle = "json",
    tools: Sequence[ToolSpec] = (),
    try_now: asyncio.Event | None = None,
) -> AdjustingProvider:
    """The model; one that does not take tools is told of them in its prompt. Whoever sets the event
    ends the wait for its provider."""

    def connected(adjustments: Adjustments) -> ModelProvider:
        connection = replace(model.connection, adjustments=adjustments)
        provider = connect(connection, http, retry, try_now=try_now)
        in_prompt = style == "xml" or has(adjustments, "tools")
        return XmlToolProvider(provider, tools) if in_prompt else provider

    return AdjustingProvider(
        connected,
        model.adjustments,
        accepted=model.accepted_files,
        can_change_wire=model.connection.can_change_wire,
    )
