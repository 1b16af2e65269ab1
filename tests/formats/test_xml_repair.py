"""Calls in texts are looked for in a time that grows with the texts, whatever is in them (C4)."""

from collections.abc import Callable

from chat.formats.xml_repair import repair_blocks
from chat.protocol.frozen import JsonObject
from tests.support.measuring import ratio


def results(names: int) -> str:
    return "\n".join(f"[a{number} Result]\n" for number in range(names))


def repairing(said: list[str], typed: str) -> Callable[[], list[JsonObject]]:
    content = [{"type": "text", "text": each} for each in said]
    messages: list[JsonObject] = [
        {"role": "assistant", "content": content},
        {"role": "user", "content": typed},
    ]
    return lambda: repair_blocks(messages, ())


def test_many_headings_after_a_long_text() -> None:
    def sized(size: int) -> Callable[[], object]:
        return repairing(["</" + "word " * 20 * size], results(size))

    assert ratio(sized(2000), sized(1000), 2.6) <= 2.6


def test_many_texts_before_a_long_one() -> None:
    def sized(size: int) -> Callable[[], object]:
        return repairing(["</b>"] * size, results(1) + "\nword" * 20 * size)

    assert ratio(sized(1000), sized(500), 2.6) <= 2.6


def many_calls(size: int) -> Callable[[], list[JsonObject]]:
    calls = "".join(f"<b><x>{number}</x></b>" for number in range(size))
    return repairing([calls], "\n\n".join(["[b Result]\n\n1"] * size + ["word"] * 20 * size))


def test_many_calls_and_their_results() -> None:
    assert ratio(many_calls(800), many_calls(400), 3) <= 3


def test_more_calls_than_any_answer_has_are_a_text() -> None:
    assert [block["type"] for block in many_calls(1000)()[0]["content"]] == ["tool_use"] * 1000
    assert [block["type"] for block in many_calls(1001)()[0]["content"]] == ["text"]


def test_a_hundred_tools_that_nobody_knows_are_found() -> None:
    calls = [f"<a{number}><x>1</x></a{number}>" for number in range(99)]
    messages = [
        {"role": "assistant", "content": "\n".join(calls)},
        {
            "role": "user",
            "content": "\n\n".join(f"[a{number} Result]\n\n1" for number in range(99)),
        },
    ]
    answer, question = repair_blocks(messages, ())
    assert [block["name"] for block in answer["content"]] == [f"a{number}" for number in range(99)]
    assert {block["type"] for block in question["content"]} == {"tool_result"}
