"""In which forms a conversation can be exported, in words."""

from dataclasses import dataclass

from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class ExportChoice:
    value: str
    label: str
    about: str


def export_choices(*, of_all: bool) -> list[ExportChoice]:
    """Those that people read first; of all one has, the one that gives all of it back."""
    choices = _choices()
    return sorted(choices, key=lambda each: each.value != "json") if of_all else list(choices)


def _choices() -> tuple[ExportChoice, ...]:
    return (
        ExportChoice("html", _("Web page"), _("To read, send and print; pictures are in it.")),
        ExportChoice("markdown", "Markdown", _("Plain text with simple marks.")),
        ExportChoice(
            "json",
            "Parley JSON",
            _("Everything: all versions, files and feedback. Import it to have it back."),
        ),
        ExportChoice("openai", "OpenAI JSON", _("Messages as OpenAI’s API takes them.")),
        ExportChoice("tool-messages", "ToolMessage2", _("JSON with a message for each result.")),
    )


def export_title(*, of_all: bool) -> str:
    return _("Export my data") if of_all else _("Export")
