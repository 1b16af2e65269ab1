"""The model of a run: its wire, its tool style, and what its server has refused before."""

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
) -> AdjustingProvider:
    """The model; one that does not take tools is told of them in its prompt."""

    def connected(adjustments: Adjustments) -> ModelProvider:
        provider = connect(replace(model.connection, adjustments=adjustments), http, retry)
        in_prompt = style == "xml" or has(adjustments, "tools")
        return XmlToolProvider(provider, tools) if in_prompt else provider

    return AdjustingProvider(
        connected,
        model.adjustments,
        accepted=model.accepted_files,
        can_change_wire=model.connection.can_change_wire,
    )
