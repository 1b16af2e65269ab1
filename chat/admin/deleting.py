"""How much goes with what is deleted, in numbers: what it is called would be words of somebody.

Django's way reads every row that goes, which for a person with many conversations takes seconds;
here one statement counts them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.admin import AdminSite
from django.db.models import (
    CASCADE,
    Count,
    IntegerField,
    ManyToOneRel,
    Model,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.http import HttpRequest

# What the summary before a deletion consists of: names, numbers, what one lacks the right to
# delete, and what stands in the way.
Summary = tuple[list[str], dict[str, int], set[str], list[str]]


def deleted_with(
    site: AdminSite, request: HttpRequest, rows: Sequence[Model] | QuerySet[Any]
) -> Summary:
    rows = list(rows)
    if not rows:
        return [], {}, set(), []
    model = type(rows[0])
    its_rows = site.get_model_admin(model)
    missing = {
        str(model._meta.verbose_name)
        for row in rows
        if not its_rows.has_delete_permission(request, row)
    }
    going = _counted(rows)
    missing |= {
        str(other._meta.verbose_name)
        for other, count in going.items()
        if count and site.is_registered(other)
        if not site.get_model_admin(other).has_delete_permission(request)
    }
    counts = {model: len(rows), **going}
    told = {str(model._meta.verbose_name_plural): count for model, count in counts.items() if count}
    return [str(row) for row in rows], told, missing, []


def _counted(rows: Sequence[Model]) -> dict[type[Model], int]:
    """How many rows of each other model go with these, in one statement."""
    model = type(rows[0])
    found = dict(_going_with(model, [row.pk for row in rows]))
    numbered = {f"count_{place}": _counting(each) for place, each in enumerate(found.values())}
    one = model._base_manager.filter(pk=rows[0].pk).values(**numbered).get() if found else {}
    return dict(zip(found, one.values(), strict=True))


def _counting(rows: QuerySet[Any]) -> Coalesce:
    together = rows.order_by().values(all=Value(1)).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(together, output_field=IntegerField()), 0)


def _going_with(
    model: type[Model], keys: Sequence[Any]
) -> Iterator[tuple[type[Model], QuerySet[Any]]]:
    """The rows that go because they point to what goes, model by model."""
    going: dict[type[Model], Any] = {model: keys}
    for child in _parents_first(model)[1:]:
        ways = Q()
        for parent, parents in going.items():
            for name in _pointing(parent).get(child, ()):
                ways |= Q(**{f"{name}__in": parents})
        rows = child._base_manager.filter(ways)
        yield child, rows
        going[child] = rows.values("pk")


def _parents_first(model: type[Model]) -> list[type[Model]]:
    """All models whose rows may go with those of this one, each behind those it points to."""
    visited: dict[type[Model], None] = {}
    ordered: list[type[Model]] = []

    def visit(each: type[Model]) -> None:
        visited[each] = None
        for child in _pointing(each):
            if child not in visited:
                visit(child)
        ordered.append(each)

    visit(model)
    return ordered[::-1]


def _pointing(model: type[Model]) -> dict[type[Model], list[str]]:
    """The other models that point to this one and whose rows go with its own, and by which columns.
    What only ties two others together is nothing by itself."""
    found: dict[type[Model], list[str]] = {}
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, ManyToOneRel) and relation.on_delete is CASCADE:
            child = relation.related_model
            if child is not model and not child._meta.auto_created:
                found.setdefault(child, []).append(relation.field.name)
    return found
