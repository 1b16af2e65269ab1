"""The model of a run: its wire, its tool style, and what its server has refused before."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from chat.engine.adjusting_provider import AdjustingProvider
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.adjustments import Adjustment, Adjustments, has
from chat.protocol.interfaces import ModelProvider, ToolSpec, ToolStyle
from chat.providers.http import Http
from chat.providers.registry import connect, wire_of
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
        presumed=_other_wire(model) if tools else None,
        accepted=model.accepted_files,
        can_change_wire=model.connection.can_change_wire,
    )


def _other_wire(model: ModelChoice) -> Adjustment | None:
    """Models that do not think beside their tools on Chat Completions are asked on Responses, also
    behind an address that nobody knows; if it has no such wire, they use tools without thinking."""
    quiet = Adjustment("set", "reasoning_effort", "none")
    decided = has(model.adjustments, "wire") or quiet in model.adjustments
    on_chat = model.connection.can_change_wire and wire_of(model.connection) == "openai"
    if model.thinking.form != "toolless" or decided or not on_chat:
        return None
    return Adjustment("wire", value="responses", instead=quiet)
