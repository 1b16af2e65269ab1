"""Saved prompts: their page in the settings, the list above the composer, and the questions that
are asked before one is used."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.safestring import SafeString

from chat.protocol.prompts import (
    LONGEST_NAME,
    LONGEST_TEXT,
    Piece,
    SavedPrompt,
    Variable,
    Words,
    asked_variables,
    parse_prompt,
)
from chat.rendering.errors import error_text
from chat.rendering.page import times
from chat.rendering.reader import Reader


@dataclass(frozen=True, slots=True)
class PromptForm:
    """What was typed, and why it was refused; with an id it changes a prompt."""

    id: str = ""
    name: str = ""
    text: str = ""
    error_key: str = ""
    error_data: dict[str, Any] | None = None

    @property
    def error(self) -> str:
        return error_text(self.error_key, self.error_data) if self.error_key else ""


def prompts_context(
    prompts: Sequence[SavedPrompt], form: PromptForm, reader: Reader, *, saved: bool
) -> dict[str, Any]:
    """All that `chat/prompts.html` needs."""
    return {
        "reader": reader,
        "own": [prompt for prompt in prompts if not prompt.shared],
        "shared": [prompt for prompt in prompts if prompt.shared],
        "form": form,
        "longest_name": LONGEST_NAME,
        "longest_text": LONGEST_TEXT,
        "saved": saved,
    }


def offered_html(prompts: Sequence[SavedPrompt], reader: Reader) -> SafeString:
    """The list that opens above the composer."""
    with reader.speaking():
        return SafeString(render_to_string("chat/offered.html", {"prompts": prompts}).strip())


def fill_html(prompt: SavedPrompt, reader: Reader) -> SafeString:
    """The dialog that asks for the variables; it carries the text in pieces for the script, also
    where nothing has to be asked."""
    with reader.speaking():
        pieces = parse_prompt(prompt.text)
        values = {
            "prompt": prompt,
            "variables": asked_variables(pieces),
            "pieces": json.dumps([_piece(each, reader) for each in pieces], ensure_ascii=False),
        }
        return SafeString(render_to_string("chat/fill_prompt.html", values).strip())


def _piece(piece: Piece, reader: Reader) -> dict[str, str]:
    match piece:
        case Words():
            return {"text": piece.text}
        case Variable():
            if piece.is_date:
                return {"text": date_format(times.local(reader.now), "DATE_FORMAT")}
            return {"variable": piece.name}
        case _:
            assert_never(piece)
