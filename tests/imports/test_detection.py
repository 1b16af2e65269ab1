"""Which form a file has is seen by its content, however it was written down."""

import codecs
import json

import pytest

from chat.formats.imported.chats import read_chats
from chat.formats.imported.decode import decoded
from chat.formats.imported.items import Began, Ended, Item, Known, Skipped
from tests.imports.test_broken_files import OPENAI_MESSAGES, left_out, words_of
from tests.imports.transcripts import SESSION, TRANSCRIPT, asked, said, text


def read(file: str, size: int = 50) -> list[Item]:
    return list(read_chats([file[at : at + size] for at in range(0, len(file), size)], "…"))


def forms(items: list[Item]) -> list[str]:
    return [item.form for item in items if isinstance(item, Began)]


@pytest.mark.parametrize("indent", [None, 2])
def test_lines_of_claude_in_one_list(indent: int | None) -> None:
    rows = [json.loads(line) for line in TRANSCRIPT.splitlines()]
    items = read(json.dumps(rows, indent=indent))
    assert (forms(items), left_out(items)) == (["claude"], [])
    assert "It says **Hello** now." in words_of(items)
    assert next(item for item in items if isinstance(item, Known)).external_id == SESSION


def test_one_line_of_claude_that_was_made_readable() -> None:
    items = read(json.dumps(asked("Mend it, please"), indent=4))
    assert (forms(items), left_out(items)) == (["claude"], [])
    assert "Mend it, please" in words_of(items)


def test_a_list_of_lines_that_is_cut_off() -> None:
    file = json.dumps([asked("Mend it"), said(text("Mended."))])
    items = read(file[:-10])
    assert "Mend it" in words_of(items)
    assert left_out(items) == [("file_cut_off", "1")]


def test_messages_one_in_each_line() -> None:
    """Also where a line is broken, and the end is missing."""
    rows = [json.dumps(each) for each in OPENAI_MESSAGES]
    items = read("\n".join(rows) + "\n")
    assert (forms(items), left_out(items)) == (["openai"], [])
    assert all(f"word-{number}" in words_of(items) for number in range(5))
    items = read("\n".join([*rows[:3], '{"role": "user", "con', *rows[3:], '{"role": "u']))
    assert left_out(items) == [("line_not_json", "4"), ("line_not_json", "7")]
    assert all(f"word-{number}" in words_of(items) for number in range(5))


@pytest.mark.parametrize("bom", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8, b""])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_file_in_another_encoding(bom: bytes, size: int) -> None:
    encoding = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    rows = [json.dumps(each, ensure_ascii=False) for each in (asked("多少 🐔?"), said(text("四")))]
    file = bom + "\r\n".join(rows).encode(encoding.get(bom, "utf-8"))
    chunks = [file[at : at + size] for at in range(0, len(file), size)]
    items = list(read_chats(decoded(chunks), "…"))
    assert left_out(items) == []
    assert "多少 🐔?" in words_of(items)
    assert "四" in words_of(items)
    assert isinstance(items[-1], Ended)
    assert not any(isinstance(item, Skipped) for item in items)
