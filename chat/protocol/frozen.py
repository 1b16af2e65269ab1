"""Values that never change: the base class of our types, and JSON that cannot be written to."""

from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

# A JSON object that belongs to whoever holds it.
JsonObject = dict[str, Any]


class Frozen(BaseModel):
    """A value: it never changes, it is only replaced."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="forbid", strict=True)


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("this JSON is part of a value and cannot be changed; make a copy first")


class FrozenDict(dict[str, Any]):
    """A read-only object: still a `dict` for JSON, comparing and copying."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[JsonObject]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A read-only list: still a `list` for JSON, comparing and copying."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = _refuse
    sort = reverse = _refuse

    def __reduce__(self) -> tuple[type, tuple[list[Any]]]:
        return FrozenList, (list(self),)


def frozen(value: Any) -> Any:
    """A read-only copy of a JSON value; what is read-only already is not copied again."""
    if isinstance(value, dict):
        if type(value) is FrozenDict:
            return value
        return FrozenDict({key: frozen(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return value if type(value) is FrozenList else FrozenList(map(frozen, value))
    return value


def thawed(value: Any) -> Any:
    """A copy of a JSON value that belongs to the caller, made of plain dicts and lists."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value


class _ReadOnly:
    """Tells pydantic to keep a field read-only, and to write it out as plain JSON."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def check(value: Any, inner: core_schema.ValidatorFunctionWrapHandler) -> Any:
            # States are made anew for every change of a call: their JSON is checked once.
            return value if type(value) is FrozenDict else frozen(inner(value))

        return core_schema.no_info_wrap_validator_function(
            check,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(
                thawed, return_schema=core_schema.any_schema()
            ),
        )


# A JSON object, or any JSON value, as part of a value: nobody can change it in place.
FrozenObject = Annotated[JsonObject, _ReadOnly()]
FrozenJson = Annotated[JsonObject | list[Any] | str | int | float | bool | None, _ReadOnly()]
