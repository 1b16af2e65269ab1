"""The JSON Schema of a function's arguments, and their check, from its type hints."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from chat.protocol.errors import ToolFailure
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolContext
from chat.protocol.reasons import Reason, ReasonKey, reason
from chat.tools.own_settings import OwnSettings, read_settings, settings_of

EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})
_SHOWN_FAULTS = 5


@dataclass(frozen=True, slots=True)
class Signature:
    """What a tool takes: the model's arguments, and perhaps the context."""

    model: type[BaseModel]
    parameters: JsonObject
    context: str | None
    # The parameter that takes what an administrator has set, and its class.
    settings: tuple[str, type[OwnSettings]] | None = None

    def bind(
        self, arguments: JsonObject, context: ToolContext, own: Mapping[str, Any] = EMPTY
    ) -> dict[str, Any]:
        """The keyword arguments of the call; bad ones raise with the field's name."""
        try:
            checked = self.model.model_validate(arguments)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)
            raise ToolFailure(_faults(faults), *_reasons(faults)) from error
        fields = type(checked).model_fields
        values = {str(field.alias): getattr(checked, name) for name, field in fields.items()}
        if self.settings is not None:
            name, kind = self.settings
            values[name] = read_settings(kind, own)
        return values if self.context is None else values | {self.context: context}


def signature(function: Callable[..., Any]) -> Signature:
    """Read a function's parameters; one without a type hint is a mistake of its author."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    context: str | None = None
    settings: tuple[str, type[OwnSettings]] | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"tool {function.__name__}: *{name} has no place in a JSON schema")
        if name not in hints:
            raise TypeError(f"tool {function.__name__}: parameter {name} needs a type")
        if hints[name] is ToolContext:
            context = name
            continue
        if isinstance(hints[name], type) and issubclass(hints[name], OwnSettings):
            settings_of(hints[name])
            settings = (name, hints[name])
            continue
        # The underscore keeps names such as `copy` or `json` off pydantic's own.
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[f"{name}_"] = (_described(hints[name]), Field(default, alias=name))
    config = ConfigDict(extra="forbid")
    model: type[BaseModel] = create_model(function.__name__, __config__=config, **fields)
    return Signature(model, _tidy(model.model_json_schema(by_alias=True)), context, settings)


def _described(hint: Any) -> Any:
    """`Annotated[int, "how many"]` is a field with that description."""
    if get_origin(hint) is not Annotated:
        return hint
    base, *extras = get_args(hint)
    for extra in extras:
        base = Annotated[base, Field(description=extra) if isinstance(extra, str) else extra]
    return base


def _tidy(schema: JsonObject) -> JsonObject:
    """References written out and noise dropped: not every provider reads `$ref`."""
    definitions = schema.pop("$defs", {})
    tidy = _written_out(schema, definitions, ())
    tidy.pop("description", None)  # pydantic's, of the made-up class
    return {"type": "object", "properties": {}, **tidy}


def _written_out(node: Any, definitions: JsonObject, path: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_written_out(item, definitions, path) for item in node]
    if not isinstance(node, dict):
        return node
    if reference := node.get("$ref"):
        name = str(reference).rpartition("/")[2]
        if name in path:
            raise TypeError(f"{name} contains itself: a tool's arguments must be finite")
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _written_out({**definitions[name], **rest}, definitions, (*path, name))
    node = _without_null(node)
    return {
        key: _properties(value, definitions, path)
        if key == "properties"
        else _written_out(value, definitions, path)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }


def _properties(properties: JsonObject, definitions: JsonObject, path: tuple[str, ...]) -> Any:
    return {name: _written_out(node, definitions, path) for name, node in properties.items()}


def _without_null(node: JsonObject) -> JsonObject:
    """An optional argument is left out, not sent as null: small models read that better."""
    if "default" not in node or node["default"] is not None:
        return node
    kinds = [kind for kind in node.get("anyOf", []) if kind != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
    if len(kinds) == 1:
        return {**kinds[0], **rest}
    return {**rest, "anyOf": kinds} if kinds else rest


def _faults(faults: Sequence[ErrorDetails]) -> str:
    """What is wrong with the arguments, for the model."""
    texts = [_fault(item["loc"], item["type"], item["msg"]) for item in faults]
    shown = "; ".join(texts[:_SHOWN_FAULTS])
    more = len(faults) - _SHOWN_FAULTS
    return f"Invalid arguments: {shown}" + (f"; and {more} more" if more > 0 else "")


def _fault(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    field = ".".join(str(step) for step in loc)
    match kind:
        case "missing":
            return f"{field} is required"
        case "extra_forbidden":
            return f"{field} is not an argument of this tool"
        case _:
            return f"{field}: {message}"


# What pydantic calls a fault, and what a person is told of it; `limit` and such are its values.
_REASONS: dict[str, ReasonKey] = {
    "missing": "argument_missing",
    "extra_forbidden": "argument_unknown",
    "string_type": "argument_not_text",
    "float_type": "argument_not_number",
    "float_parsing": "argument_not_number",
    "int_type": "argument_not_whole",
    "int_parsing": "argument_not_whole",
    "int_from_float": "argument_not_whole",
    "list_type": "argument_not_list",
    "greater_than_equal": "argument_too_small",
    "less_than_equal": "argument_too_large",
    "string_too_long": "argument_too_long",
    "literal_error": "argument_not_one_of",
}
_LIMITS = {
    "greater_than_equal": "ge",
    "less_than_equal": "le",
    "string_too_long": "max_length",
    "literal_error": "expected",
}


def _reasons(faults: Sequence[ErrorDetails]) -> tuple[Reason, ...]:
    """The same for the person."""
    reasons = tuple(_reason(item) for item in faults[:_SHOWN_FAULTS])
    more = len(faults) - _SHOWN_FAULTS
    return (*reasons, reason("more_arguments", count=more)) if more > 0 else reasons


def _reason(fault: ErrorDetails) -> Reason:
    field = ".".join(str(step) for step in fault["loc"])
    kind = fault["type"]
    if kind not in _LIMITS:
        return reason(_REASONS.get(kind, "argument_wrong"), field=field)
    limit = fault["ctx"][_LIMITS[kind]]
    limit = limit if isinstance(limit, int | float) else str(limit)
    return reason(_REASONS[kind], field=field, limit=limit)
