"""Known providers as data: where they are, which wire they speak, how they differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final, Literal, assert_never
from urllib.parse import urlsplit

from chat.protocol.adjustments import Adjustments
from chat.providers.anthropic import AnthropicMessages
from chat.providers.http import Http
from chat.providers.ollama import Ollama
from chat.providers.openai import STEP, OpenAIChat, Quirks, ThinkingFields
from chat.providers.responses import OpenAIResponses
from chat.providers.retry import RetryPolicy
from chat.providers.wire_provider import WireProvider

Wire = Literal["openai", "responses", "anthropic", "ollama"]


@dataclass(frozen=True, slots=True)
class Preset:
    """One known provider; `slug` is its name in code, `name` the one people know."""

    slug: str
    name: str
    wire: Wire
    base_url: str
    quirks: Quirks = field(default_factory=Quirks)
    # Whether its models with vision also read PDF files, sent as they are.
    pdf: bool = False
    # Whether it wants to be asked on the Responses wire: its newest models refuse tools on chat.
    responses: bool = False
    # Other addresses of the same.
    other_hosts: tuple[str, ...] = ()

    @property
    def preferred_wire(self) -> Wire:
        return "responses" if self.responses else self.wire


_LOCAL: Final = "http://127.0.0.1"

PRESETS: Final[tuple[Preset, ...]] = (
    Preset(
        "openai",
        "OpenAI",
        "openai",
        "https://api.openai.com/v1",
        quirks=Quirks(
            max_tokens_field="max_completion_tokens",
            think_tags=False,
            warm_thinking=False,
            cache_key=True,
        ),
        pdf=True,
        responses=True,
    ),
    Preset("anthropic", "Anthropic", "anthropic", "https://api.anthropic.com/v1"),
    Preset("ollama", "Ollama", "ollama", f"{_LOCAL}:11434"),
    Preset(
        "openrouter",
        "OpenRouter",
        "openai",
        "https://openrouter.ai/api/v1",
        quirks=Quirks(
            web_search={"plugins": [{"id": "web"}]},
            thinking=ThinkingFields(
                off={"reasoning": {"enabled": False}},
                on={"reasoning": {"enabled": True}},
                none={"reasoning": {"effort": "none"}},
                step={"reasoning": {"effort": STEP}},
            ),
        ),
        pdf=True,
    ),
    Preset(
        "deepseek",
        "DeepSeek",
        "openai",
        "https://api.deepseek.com/v1",
        # In thinking mode a turn with calls is refused without its thinking.
        quirks=Quirks(
            thinking=ThinkingFields(
                off={"thinking": {"type": "disabled"}},
                on={"thinking": {"type": "enabled"}},
                none={"thinking": {"type": "disabled"}},
                step={"thinking": {"type": "enabled"}, "reasoning_effort": STEP},
            ),
            echo_reasoning="reasoning_content",
        ),
    ),
    Preset(
        "qwen",
        "Qwen",
        "openai",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        quirks=Quirks(
            thinking=ThinkingFields(
                off={"enable_thinking": False},
                on={"enable_thinking": True},
                none={"enable_thinking": False},
                step={"enable_thinking": True, "reasoning_effort": STEP},
            )
        ),
        other_hosts=("dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
    ),
    Preset(
        "mistral",
        "Mistral",
        "openai",
        "https://api.mistral.ai/v1",
        # Counts tokens unasked, and is strict about fields it does not know.
        quirks=Quirks(include_usage=False),
    ),
    Preset(
        "groq",
        "Groq",
        "openai",
        "https://api.groq.com/openai/v1",
        quirks=Quirks(
            thinking=ThinkingFields(
                off={"reasoning_effort": "none"}, on={"reasoning_effort": "default"}
            )
        ),
    ),
    Preset("xai", "xAI", "openai", "https://api.x.ai/v1", responses=True),
    Preset(
        "gemini",
        "Gemini",
        "openai",
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    Preset("lmstudio", "LM Studio", "openai", f"{_LOCAL}:1234/v1"),
    Preset("vllm", "vLLM", "openai", f"{_LOCAL}:8000/v1"),
    Preset("llamacpp", "llama.cpp", "openai", f"{_LOCAL}:8080/v1"),
    Preset("custom", "", "openai", ""),
)

CUSTOM: Final = PRESETS[-1]

# Images that a wire's servers decode, where these are not all.
IMAGES_OF: Final[Mapping[str, tuple[str, ...]]] = {"ollama": ("image/png", "image/jpeg")}


def preset_at(base_url: str) -> Preset:
    """The known provider at an address; one nobody knows has no quirks."""
    try:
        host = urlsplit(base_url).netloc.lower()
    except ValueError:
        return CUSTOM
    known = (
        preset
        for preset in PRESETS
        if host and host in (urlsplit(preset.base_url).netloc, *preset.other_hosts)
    )
    return next(known, CUSTOM)


# Names that nobody has in the open network.
_OWN_NAMES: Final = (".local", ".localhost", ".internal", ".lan", ".home.arpa")


def is_on_own_network(base_url: str) -> bool:
    """Whether a server is on a machine of one's own: by how its address is written, for a name is
    not looked up."""
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_OWN_NAMES))


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is run on this machine instead of a server that is asked."""

    slug: str
    name: str
    kind: str
    # What it is called where it is installed.
    command: str


PROGRAMS: Final = (Program("claude-code", "Claude Code", "claude_code", "claude"),)


def carries_pdf(wire: str) -> bool:
    """Whether a PDF file can be sent on a wire at all."""
    return wire in ("anthropic", "claude_code", "openai")


def takes_pdf(wire: str, base_url: str) -> bool:
    """Whether models that see are sent PDF files where nobody has said more of them: Claude reads
    documents; of the other wires only some servers take them."""
    return wire in ("anthropic", "claude_code") or (wire == "openai" and preset_at(base_url).pdf)


def open_provider(
    wire: Wire,
    base_url: str,
    api_key: str = "",
    *,
    extra_headers: Mapping[str, str] | None = None,
    http: Http,
    retry: RetryPolicy | None = None,
    adjustments: Adjustments = (),
    extra_body: Mapping[str, Any] | None = None,
) -> WireProvider:
    """A provider that speaks the wire, with the quirks of whoever is at the address."""
    preset = preset_at(base_url)
    common: dict[str, Any] = {
        "extra_headers": extra_headers,
        "http": http,
        "retry": retry,
        "adjustments": adjustments,
        "extra_body": extra_body,
    }
    match wire:
        case "openai":
            return OpenAIChat(base_url, api_key, quirks=preset.quirks, **common)
        case "responses":
            return OpenAIResponses(base_url, api_key, **common)
        case "anthropic":
            return AnthropicMessages(base_url, api_key, **common)
        case "ollama":
            return Ollama(base_url, api_key, **common)
        case _:
            assert_never(wire)
