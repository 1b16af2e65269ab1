"""Foreign histories of blocks: results once, right after their calls, nothing left open (C2)."""

from chat.formats.openai_messages import INTERRUPTED, blocks_to_openai, resume

CALLS = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": "a", "name": "calculator", "input": {"expression": "1"}},
        {"type": "tool_use", "id": "b", "name": "calculator", "input": {}},
    ],
}


def result(key, content="1"):
    return {"type": "tool_result", "tool_use_id": key, "content": content}


def test_the_first_of_equal_results_is_sent():
    given = [CALLS, {"role": "user", "content": [result("a"), result("a", "2"), result("b")]}]
    sent = blocks_to_openai(given, "json")
    assert [(one["tool_call_id"], one["content"]) for one in sent[1:]] == [("a", "1"), ("b", "1")]


def test_an_image_is_sent_as_one_and_named_in_a_result():
    source = {"type": "base64", "media_type": "image/png", "data": "QQ=="}
    image = {"type": "image", "source": source}
    text = {"type": "text", "text": "see"}
    given = [CALLS, {"role": "user", "content": [image, result("a", [text, image])]}]
    answered, image = blocks_to_openai(given, "json")[1:]
    assert answered["content"] == "see\n(see following user message for image)"
    url = {"url": "data:image/png;base64,QQ=="}
    assert image["content"] == [{"type": "image_url", "image_url": url}]


def test_open_calls_at_the_end_are_closed():
    closed = {"role": "user", "content": [result("a", INTERRUPTED), result("b", INTERRUPTED)]}
    assert resume([CALLS], "json") == [CALLS, closed]


def test_a_missing_result_joins_those_that_came():
    asked = {"role": "user", "content": [result("b")]}
    assert resume([CALLS, asked], "json")[1]["content"] == [result("b"), result("a", INTERRUPTED)]


def test_a_history_without_open_calls_stays_as_it_is():
    given = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    assert resume(given, "json") == given
    assert resume(given, "xml") == given
