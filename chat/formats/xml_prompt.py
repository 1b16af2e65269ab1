"""The tools as a system prompt describes them, for models that cannot call them natively.

The same tools give the same bytes, so that prompt caches hit.
"""

import json
from collections.abc import Iterator, Sequence

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolSpec

_RULES = """\
# Tools

You can use the tools listed below. To use a tool, write its tag with one tag inside for each \
parameter, like this:

<tool_name>
<parameter_name>
value
</parameter_name>
</tool_name>

Then stop writing. The tool runs, and its result comes in the next message, after a line \
[tool_name Result]. Read it, then go on.

Rules:
- Use one tool in a message, and write it last.
- Use the tag names exactly as they are listed. Tags have no attributes.
- Write the tags as plain text. Tags inside a code block or between backticks do nothing.
- Write values as they are, without quotes around them and without escaping anything. \
Write lists and objects as JSON.
- Never write a result yourself.
- If you need no tool, just answer."""


def tools_prompt(tools: Sequence[ToolSpec]) -> str:
    """How to use the tools, and the tools themselves; empty when there are none."""
    if not tools:
        return ""
    return "\n\n".join([_RULES, *("\n".join(_tool(tool)) for tool in tools)])


def with_tools(system: str, tools: Sequence[ToolSpec]) -> str:
    return "\n\n".join(text for text in (system, tools_prompt(tools)) if text)


def _tool(tool: ToolSpec) -> Iterator[str]:
    properties: JsonObject = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required") or ()
    yield f"## {tool.name}"
    yield tool.description.strip()
    if properties:
        yield ""
        yield "Parameters:"
    for name, schema in properties.items():
        yield _parameter(name, schema, name in required)
    yield ""
    yield "To use it:"
    yield f"<{tool.name}>"
    for name in properties:
        if name in required:
            yield f"<{name}>\n{_placeholder(name, properties[name])}\n</{name}>"
    yield f"</{tool.name}>"


def _parameter(name: str, schema: JsonObject, required: bool) -> str:
    marks = [_kind(schema), "required" if required else "optional"]
    if schema.get("default") is not None:
        marks.append(f"default {_json(schema['default'])}")
    if "enum" in schema:
        marks.append("one of " + ", ".join(_json(value) for value in schema["enum"]))
    line = f"- {name} ({', '.join(marks)})"
    if description := str(schema.get("description", "")).strip():
        line += f": {description}"
    if schema.get("type") in ("array", "object"):
        shape = {key: value for key, value in schema.items() if key != "description"}
        line += f"\n  JSON, by this schema: {_json(shape)}"
    return line


def _placeholder(name: str, schema: JsonObject) -> str:
    """An example in the place of the value; a small model copies its form."""
    match schema.get("type"):
        case "array":
            return "[...]"
        case "object":
            return "{...}"
        case _:
            return f"{name} here"


def _kind(schema: JsonObject) -> str:
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    kinds = kind or [one.get("type", "any") for one in schema.get("anyOf", ())]
    return " or ".join(map(str, kinds)) or "any"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
