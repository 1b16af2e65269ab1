"""The model of a run: its wire, its tool style, and what its server has refused before."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from chat.engine.adjusting_provider import AdjustingProvider
from chat.engine.text_call_provider import TextCallProvider
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.adjustments import Adjustment, Adjustments, has
from chat.protocol.interfaces import ModelProvider, ToolSpec, ToolStyle
from chat.providers.http import Http
from chat.providers.presets import is_on_own_network
from chat.providers.registry import Connection, connect, wire_of
from chat.providers.retry import RetryPolicy
from chat.services.catalog.known import ModelChoice
from chat.services.pool import in_worker
from chat.services.runs.files import document_as_text

# The wires that servers speak which people run themselves.
_LOCAL_WIRES = ("openai", "ollama")


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
        if in_prompt:
            return XmlToolProvider(provider, tools)
        return TextCallProvider(provider) if may_miss_calls(connection) else provider

    return AdjustingProvider(
        connected,
        model.adjustments,
        presumed=_other_wire(model) if tools else None,
        accepted=model.accepted_files,
        read_document=lambda block: in_worker(document_as_text, block),
        can_change_wire=model.connection.can_change_wire,
    )


def may_miss_calls(connection: Connection) -> bool:
    """Whether its server may miss a call in what its model says, which is then looked for here.
    Those that people run themselves may; in the text of any other a call is only told of, and may
    come from a page that the model has read."""
    return wire_of(connection) in _LOCAL_WIRES and is_on_own_network(connection.base_url)


def _other_wire(model: ModelChoice) -> Adjustment | None:
    """Models that do not think beside their tools on Chat Completions are asked on Responses, also
    behind an address that nobody knows; if it has no such wire, they use tools without thinking."""
    quiet = Adjustment("set", "reasoning_effort", "none")
    decided = has(model.adjustments, "wire") or quiet in model.adjustments
    on_chat = model.connection.can_change_wire and wire_of(model.connection) == "openai"
    if model.thinking.form != "toolless" or decided or not on_chat:
        return None
    return Adjustment("wire", value="responses", instead=quiet)
