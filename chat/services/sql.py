"""Running statements that are written out, on either database.

Django needs ten times as long to build a statement as the database needs to run it, and a turn
takes some twenty of them. Those are written out in `statements.py`; all else is asked of the ORM.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    AutoField,
    BigAutoField,
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    ForeignKey,
    IntegerField,
    Model,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    TextField,
    UUIDField,
)
from django.db.models.base import ModelState

Row = TypeVar("Row", bound=Model)

# A value of these is stored as it is.
_AS_THEY_ARE = frozenset(
    (AutoField, BigAutoField, BooleanField, CharField, IntegerField, PositiveIntegerField,
     PositiveSmallIntegerField, TextField)
)  # fmt: skip


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


def new(model: type[Row], **values: Any) -> Row:
    """A row that is not stored yet, as its class would make it, in a third of the time: with the
    defaults of its fields, and without telling anybody that it is made."""
    constants, makers = _defaults(model)
    unknown = values.keys() - constants.keys() - makers.keys()
    if unknown:
        raise TypeError(f"{model.__name__} has no {', '.join(sorted(unknown))}")
    made = {name: make() for name, make in makers.items() if name not in values}
    return _made(model, {**constants, **made, **values})


def insert(rows: Sequence[Model], conflict: str = "") -> None:
    """New rows of one model; `conflict` says what becomes of known ones."""
    if not rows:
        return
    statement, columns = _insertion(type(rows[0]), conflict)
    values = [_prepared(columns, row.__dict__) for row in rows]
    with here().cursor() as cursor:
        if len(values) == 1:
            cursor.execute(statement, values[0])
        else:
            cursor.executemany(statement, values)
    for row in rows:
        row._state.adding = False


def update(row: Model, *columns: str) -> None:
    """Write these columns of a row that is there."""
    write(type(row), row.pk, {name: row.__dict__[name] for name in columns})


def write(model: type[Model], key: UUID, values: Mapping[str, Any]) -> None:
    """Write these columns of the row with this key."""
    statement, columns = _setting(model, tuple(values))
    change(statement, *_prepared(columns, values), key)


def places(values: Sequence[object]) -> str:
    """For `IN` and `VALUES`: a place for each value."""
    return f"({', '.join(['%s'] * len(values))})"


def for_update() -> str:
    """Holds the rows that are read against other writers; rows that only point to them can be
    written meanwhile. SQLite has one writer at a time anyway."""
    connection = here()
    held = connection.features.has_select_for_update
    return connection.ops.for_update_sql(no_key=True) if held else ""


def now() -> str:
    """The moment by the clock of the database, as it keeps times."""
    if here().vendor == "sqlite":
        return "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')"
    return "STATEMENT_TIMESTAMP()"


def as_uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def as_moment(value: datetime | str) -> datetime:
    """SQLite keeps the time of UTC and does not say so."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Shape(NamedTuple):
    """How rows of a model are read."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    # What turns a stored value into that of its field, by its place.
    converters: tuple[tuple[int, Any, tuple[Any, ...]], ...]


class _Column(NamedTuple):
    """A column that is written, and what turns a value of it into what is stored."""

    name: str
    prepare: Callable[[Any], Any] | None


def _prepared(columns: Iterable[_Column], values: Mapping[str, Any]) -> list[Any]:
    """The values of these columns as they are stored."""
    return [
        values[name] if prepare is None or values[name] is None else prepare(values[name])
        for name, prepare in columns
    ]


def _column(field: "Field[Any, Any]") -> _Column:
    connection = here()
    kind = type(field.target_field if isinstance(field, ForeignKey) else field)
    prepare: Callable[[Any], Any] | None
    if kind in _AS_THEY_ARE:
        prepare = None
    elif kind is UUIDField and not connection.features.has_native_uuid_field:
        prepare = _hex
    elif kind is DateTimeField:
        prepare = connection.ops.adapt_datetimefield_value
    else:
        prepare = partial(field.get_db_prep_save, connection=connection)
    return _Column(field.attname, prepare)


def _hex(value: UUID | str) -> str:
    return as_uuid(value).hex


@cache
def _insertion(model: type[Model], conflict: str) -> tuple[str, tuple[_Column, ...]]:
    """The statement that puts rows into a table, and what it is given of each."""
    meta = model._meta
    columns = [_column(each) for each in meta.concrete_fields if each is not meta.auto_field]
    names = ", ".join(column.name for column in columns)
    statement = f"INSERT INTO {meta.db_table} ({names}) VALUES {places(columns)} {conflict}"
    return statement, tuple(columns)


@cache
def _setting(model: type[Model], names: tuple[str, ...]) -> tuple[str, tuple[_Column, ...]]:
    """The statement that writes these columns of a row, and what it is given."""
    known = {each.attname: each for each in model._meta.concrete_fields}
    columns = tuple(_column(known[name]) for name in names)
    setting = ", ".join(f"{name} = %s" for name in names)
    return f"UPDATE {model._meta.db_table} SET {setting} WHERE id = %s", columns


@cache
def _defaults(model: type[Model]) -> tuple[dict[str, Any], dict[str, Callable[[], Any]]]:
    """What the fields of a new row are: what is always the same, and what is made for each."""
    fields = model._meta.concrete_fields
    made = [each for each in fields if each.has_default() and callable(each.default)]
    constants = {each.attname: each.get_default() for each in fields if each not in made}
    return constants, {each.attname: each.default for each in made}


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
        tuple(field.attname for field in fields),
        tuple(f"{model._meta.db_table}.{field.attname}" for field in fields),
        tuple((at, expressions[at], each) for at, each in enumerate(converters) if each),
    )


def _row(model: type[Row], shape: _Shape, also: Mapping[str, str], stored: tuple[Any, ...]) -> Row:
    connection = here()
    values = list(stored)
    for at, expression, converters in shape.converters:
        if values[at] is not None:
            for convert in converters:
                values[at] = convert(values[at], expression, connection)
    row = _made(model, dict(zip((*shape.names, *also), values, strict=True)))
    row._state.adding, row._state.db = False, connection.alias
    return row


def _made(model: type[Row], values: dict[str, Any]) -> Row:
    """A row with these values. Django's own way looks at each of them anew, and signals that it
    makes a row, to which nobody listens here."""
    row = model.__new__(model)
    row._state = ModelState()
    row.__dict__.update(values)
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
