"""Running statements that are written out, on either database.

Django needs ten times as long to build a statement as the database needs to run it, and a turn
takes some twenty of them. Those are written out in `statements.py`; all else is asked of the ORM.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model

Row = TypeVar("Row", bound=Model)


def here() -> BaseDatabaseWrapper:
    """The connection of this thread. `django.db.connection` is a proxy that looks it up again
    for every attribute."""
    return connections[DEFAULT_DB_ALIAS]


def fetch(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """What is asked for, as the database gives it."""
    with here().cursor() as cursor:
        cursor.execute(sql, _stored(values))
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def change(sql: str, *values: Any) -> int:
    """Write; the number of rows that were changed."""
    with here().cursor() as cursor:
        cursor.execute(sql, _stored(values))
        changed: int = cursor.rowcount
    return changed


def change_each(sql: str, rows: Iterable[Sequence[Any]]) -> None:
    """The same statement with the values of each row."""
    with here().cursor() as cursor:
        cursor.executemany(sql, [_stored(values) for values in rows])


def select(
    model: type[Row], tail: str, *values: Any, also: Mapping[str, str] | None = None
) -> list[Row]:
    """Rows of a model. `tail` is what follows its table; `also` are expressions, by the name of
    the attribute that each row is given for them."""
    shape = _shape(model)
    columns = (*shape.columns, *(also or {}).values())
    found = fetch(f"SELECT {', '.join(columns)} FROM {model._meta.db_table} {tail}", *values)
    return [_row(model, shape, also or {}, stored) for stored in found]


def insert(rows: Sequence[Model], conflict: str = "") -> None:
    """New rows of one model; `conflict` says what becomes of known ones."""
    if not rows:
        return
    meta, shape = rows[0]._meta, _shape(type(rows[0]))
    fields = [field for field in shape.fields if field is not meta.auto_field]
    columns = ", ".join(field.attname for field in fields)
    statement = f"INSERT INTO {meta.db_table} ({columns}) VALUES {places(fields)} {conflict}"
    connection = here()
    values = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
        for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(statement, values)
    for row in rows:
        row._state.adding = False


def update(row: Model, *columns: str) -> None:
    """Write these columns of a row that is there."""
    connection = here()
    fields = [field for field in _shape(type(row)).fields if field.attname in columns]
    assert len(fields) == len(columns), f"{type(row).__name__} has not all of {columns}"
    setting = ", ".join(f"{field.attname} = %s" for field in fields)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    change(f"UPDATE {row._meta.db_table} SET {setting} WHERE id = %s", *values, row.pk)


def places(values: Sequence[object]) -> str:
    """For `IN` and `VALUES`: a place for each value."""
    return f"({', '.join(['%s'] * len(values))})"


def for_update() -> str:
    """Holds the rows that are read against other writers; rows that only point to them can be
    written meanwhile. SQLite has one writer at a time anyway."""
    connection = here()
    held = connection.features.has_select_for_update
    return connection.ops.for_update_sql(no_key=True) if held else ""


def as_uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def as_moment(value: datetime | str) -> datetime:
    """SQLite keeps the time of UTC and does not say so."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Shape(NamedTuple):
    """How rows of a model are stored."""

    fields: tuple["Field[Any, Any]", ...]
    names: tuple[str, ...]
    columns: tuple[str, ...]
    # What turns a stored value into that of its field, by its place.
    converters: tuple[tuple[int, Any, tuple[Any, ...]], ...]


@cache
def _shape(model: type[Model]) -> _Shape:
    connection = here()
    fields = model._meta.concrete_fields
    expressions = [field.get_col(model._meta.db_table) for field in fields]
    converters = [
        (*connection.ops.get_db_converters(each), *each.get_db_converters(connection))
        for each in expressions
    ]
    return _Shape(
        tuple(fields),
        tuple(field.attname for field in fields),
        tuple(f"{model._meta.db_table}.{field.attname}" for field in fields),
        tuple((at, expressions[at], each) for at, each in enumerate(converters) if each),
    )


def _row(model: type[Row], shape: _Shape, also: Mapping[str, str], stored: tuple[Any, ...]) -> Row:
    connection = here()
    values = list(stored[: len(shape.names)])
    for at, expression, converters in shape.converters:
        for convert in converters:
            values[at] = convert(values[at], expression, connection)
    row = model.from_db(connection.alias, shape.names, values)
    for name, value in zip(also, stored[len(shape.names) :], strict=True):
        setattr(row, name, value)
    return row


def _stored(values: Iterable[Any]) -> list[Any]:
    """Values as this database takes them."""
    connection = here()
    return [_stored_value(value, connection) for value in values]


def _stored_value(value: Any, connection: BaseDatabaseWrapper) -> Any:
    match value:
        case UUID():
            return value if connection.features.has_native_uuid_field else value.hex
        case datetime():
            return connection.ops.adapt_datetimefield_value(value)
        case dict():
            return connection.ops.adapt_json_value(value, None)
        case _:
            return value
