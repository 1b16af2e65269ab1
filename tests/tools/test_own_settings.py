"""Settings of a tool's own, from the type hints of a class to what the tool is given."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, SecretStr

from chat.protocol.interfaces import ToolContext
from chat.tools.own_settings import OwnSettings, is_valid, read_settings, settings_of
from chat.tools.registry import Registry, ToolLimits


class Weather(OwnSettings):
    key: Annotated[SecretStr, "Key of the service"] = SecretStr("")
    region: Annotated[Literal["eu", "us"], "Region"] = "eu"
    days: Annotated[int, Field(ge=1, le=14), "Days", "How many are told."] = 3
    share: float = 0.5
    in_words: bool = True


CONTEXT = ToolContext("c", "m", "call")


def weather(city: Annotated[str, "Name of the city"], settings: Weather) -> str:
    """The weather."""
    key = settings.key.get_secret_value()
    return f"{city} {settings.region} {settings.days} {key} {settings.in_words}"


def registered() -> Registry:
    registry = Registry()
    registry.tool(weather)
    return registry


def test_each_hint_is_a_field_of_a_form() -> None:
    found = [
        (each.name, each.kind, each.label, each.choices, each.least, each.most)
        for each in settings_of(Weather)
    ]
    assert found == [
        ("key", "secret", "Key of the service", (), None, None),
        ("region", "choice", "Region", ("eu", "us"), None, None),
        ("days", "whole", "Days", (), 1, 14),
        ("share", "number", "Share", (), None, None),
        ("in_words", "switch", "In words", (), None, None),
    ]


def test_a_second_text_stands_below_the_field() -> None:
    assert {each.name: each.help for each in settings_of(Weather)}["days"] == "How many are told."


def test_the_model_is_shown_nothing_of_them() -> None:
    tool = registered().get("weather")
    assert tool is not None
    assert list(tool.spec.parameters["properties"]) == ["city"]


async def test_the_tool_is_given_what_was_entered() -> None:
    limits = {"weather": ToolLimits(own={"key": "k-1", "region": "us"})}
    assert "k-1" not in repr(limits)
    toolbox = registered().toolbox(["weather"], limits=limits)
    result = await toolbox.run("weather", {"city": "Rome"}, CONTEXT)
    assert result.text == "Rome us 3 k-1 True"
    plain = await registered().toolbox(["weather"]).run("weather", {"city": "Rome"}, CONTEXT)
    assert plain.text == "Rome eu 3  True"


async def test_a_model_cannot_set_them() -> None:
    toolbox = registered().toolbox(["weather"])
    asked = {"city": "Rome", "settings": {"region": "us"}}
    result = await toolbox.run("weather", asked, CONTEXT)
    assert result.is_error
    assert "settings is not an argument" in result.text


def test_what_no_longer_fits_counts_as_not_entered() -> None:
    """After an update of the tool: the rest is kept, and the tool goes on."""
    stored = {"region": "mars", "days": 99, "key": "k-1", "gone": 1}
    read = read_settings(Weather, stored)
    assert isinstance(read, Weather)
    assert (read.region, read.days, read.key.get_secret_value()) == ("eu", 3, "k-1")


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [("region", "us", True), ("region", "mars", False), ("days", 14, True), ("days", 15, False)],
)
def test_a_form_asks_the_tool_whether_it_takes_a_value(name: str, value: Any, fits: bool) -> None:
    assert is_valid(Weather, name, value) is fits


def with_settings(kind: type[OwnSettings]) -> Any:
    def tool(settings: OwnSettings) -> str:
        """A tool."""
        return ""

    tool.__annotations__["settings"] = kind
    return tool


class WithoutDefault(OwnSettings):
    key: str


class OfAnOddType(OwnSettings):
    keys: list[str] = []


class OfNumbers(OwnSettings):
    days: Literal[1, 2] = 1


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (WithoutDefault, "key needs a default"),
        (OfAnOddType, "must be a text, a secret"),
        (OfNumbers, "choices must be texts"),
    ],
)
def test_a_mistake_of_its_author_is_told_at_once(kind: type[OwnSettings], fault: str) -> None:
    with pytest.raises(TypeError, match=fault):
        Registry().tool(with_settings(kind))
