"""A11: a tool is one decorated function; its schema, permission and presentation follow."""

import subprocess
import sys
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from chat.protocol.interfaces import ToolContext
from chat.tools import registry as shipped
from chat.tools.registry import Registry


class Leaf(BaseModel):
    name: str
    title: str = ""


class Tree(BaseModel):
    children: "list[Tree]" = []


class Colour(Enum):
    red = "red"


def parameters(registry: Registry, name: str) -> Any:
    tool = registry.get(name)
    assert tool is not None
    return tool.spec.parameters


def test_the_schema_comes_from_type_hints_and_the_docstring(registry: Registry) -> None:
    """A11"""

    @registry.tool
    def look(
        place: Annotated[str, "Where to look"],
        mode: Literal["fast", "good"] = "good",
        tags: list[str] | None = None,
        count: Annotated[int, Field(ge=1), "How many"] = 3,
    ) -> str:
        """Look around."""
        return f"{place} {mode} {tags} {count}"

    tool = registry.get("look")
    assert tool is not None
    assert tool.spec.description == "Look around."
    assert tool.spec.parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["place"],
        "properties": {
            "place": {"type": "string", "description": "Where to look"},
            "mode": {"type": "string", "enum": ["fast", "good"], "default": "good"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer", "minimum": 1, "default": 3, "description": "How many"},
        },
    }
    assert look("here") == "here good None 3"


def test_nested_types_are_written_out_without_references(registry: Registry) -> None:
    @registry.tool
    def plant(leaves: list[Leaf], either: int | str | None = None) -> str:
        """Plant."""
        return f"{leaves} {either}"

    schema = parameters(registry, "plant")
    assert "$ref" not in str(schema)
    assert set(schema["properties"]["leaves"]["items"]["properties"]) == {"name", "title"}
    assert schema["properties"]["either"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]


def test_the_context_is_not_in_the_schema(registry: Registry) -> None:
    @registry.tool
    def whoami(context: ToolContext) -> str:
        """Who."""
        return context.call_id

    assert parameters(registry, "whoami")["properties"] == {}


def test_a_parameter_may_be_called_like_a_method_of_pydantic(registry: Registry) -> None:
    @registry.tool
    def copy(json: str, schema: Colour = Colour.red) -> str:
        """Copy."""
        return json + schema.value

    assert set(parameters(registry, "copy")["properties"]) == {"json", "schema"}


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "é"])
def test_a_name_that_providers_refuse_is_refused_at_once(registry: Registry, name: str) -> None:
    def nameless() -> str:
        """Nothing."""
        return ""

    nameless.__name__ = name
    with pytest.raises(ValueError, match="tool name"):
        registry.tool(nameless)


def test_mistakes_of_a_tools_author_are_named(registry: Registry) -> None:
    def untyped(a) -> str:
        """Untyped."""
        return str(a)

    def starred(*a: int) -> str:
        """Starred."""
        return str(a)

    def silent(a: int) -> str:
        return str(a)

    def endless(a: Tree) -> str:
        """Endless."""
        return str(a)

    with pytest.raises(TypeError, match="a needs a type"):
        registry.tool(untyped)
    with pytest.raises(TypeError, match="JSON schema"):
        registry.tool(starred)
    with pytest.raises(ValueError, match="docstring"):
        registry.tool(silent)
    with pytest.raises(TypeError, match="contains itself"):
        registry.tool(endless)


def test_two_tools_of_one_name_are_refused(registry: Registry) -> None:
    registry.tool(name="same", description="One.")(lambda: "1")
    with pytest.raises(ValueError, match="two tools are called same"):
        registry.tool(name="same", description="Two.")(lambda: "2")


def test_tools_are_listed_by_name_whatever_the_order_of_import(registry: Registry) -> None:
    for name in ("b", "c", "a"):
        registry.tool(name=name, description="A letter.")(lambda: "x")
    assert [tool.name for tool in registry] == ["a", "b", "c"]
    box = registry.toolbox(["c", "a", "unknown"])
    assert [spec.name for spec in box.specs()] == ["a", "c"]
    assert "a" in registry
    assert "d" not in registry


def test_a_call_has_a_one_line_summary(registry: Registry) -> None:
    registry.tool(name="plain", description="No gist.")(lambda: "x")
    registry.tool(name="own", description="Own gist.", gist=lambda a: a["x"])(lambda: "x")
    box = registry.toolbox(["plain", "own"])
    assert box.summary("plain", {"n": 1, "q": "two\n  lines\x00"}) == "two lines"
    assert box.summary("plain", {"n": 1}) == ""
    assert box.summary("own", {}) == ""
    assert box.summary("absent", {"x": "y"}) == ""
    assert len(box.summary("own", {"x": "y" * 500})) == 120


def test_the_shipped_tools_are_there_with_their_icons() -> None:
    """A11"""
    icons = {tool.name: tool.icon for tool in shipped}
    expected = {"calculator": "calc", "duckduckgo_search": "globe", "todo_write": "list"}
    assert icons.items() >= expected.items()


def test_the_tools_need_no_django_and_do_not_load_the_search_engine() -> None:
    code = "import sys, chat.tools; print({'django', 'ddgs'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
