"""Where a module writes rows, found by reading its source.

What a name stands for at run time cannot be read, so this goes by what calls look like. Methods
that only rows and managers have are writes wherever they are called. `update` is a method of
dictionaries and sets as well, so it counts on what was asked of a manager. `delete` counts on
everything but an imported name: `services.delete(…)` is a verb, `cache.delete(…)` deletes no row.
"""

import ast
import re
from collections.abc import Iterator

_PLAIN = {"save", "create", "get_or_create", "update_or_create", "bulk_create", "bulk_update"}
ALWAYS = {
    *_PLAIN,
    *(f"a{name}" for name in _PLAIN),
    *("adelete", "aupdate", "create_user", "create_superuser", "acreate_user"),
}
# What turns a manager or a query into another query.
QUERIES = {
    *("all", "filter", "exclude", "order_by", "annotate", "only", "defer", "distinct", "using"),
    *("select_related", "prefetch_related", "select_for_update"),
}
_WRITING_SQL = re.compile(r"\s*(insert|update|delete|replace|drop|alter|create)\b", re.IGNORECASE)


def row_writes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines that write rows, and the methods by which they do."""
    imported = set(_imported(tree))
    queries = set(_queries(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in ALWAYS:
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr="delete", value=ast.Name(id=owner))):
                if owner not in imported:
                    yield node.lineno, "delete"
            case ast.Call(func=ast.Attribute(attr="delete")):
                yield node.lineno, "delete"
            case ast.Call(func=ast.Attribute(attr="update", value=value)):
                if _is_query(value, queries):
                    yield node.lineno, "update"
            case ast.Call(
                func=ast.Attribute(attr="execute"), args=[ast.Constant(value=str(sql)), *_]
            ):
                if _WRITING_SQL.match(sql):
                    yield node.lineno, "execute"


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in node.names:
                yield (name.asname or name.name).split(".")[0]


def _queries(tree: ast.Module) -> Iterator[str]:
    """Names that are given a query, or are said to be one."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_query(value, set()):
                yield name
            case ast.arg(arg=name, annotation=annotation) if annotation is not None:
                if "QuerySet" in ast.unparse(annotation):
                    yield name


def _is_query(node: ast.expr, queries: set[str]) -> bool:
    match node:
        case ast.Attribute(attr="objects" | "_default_manager" | "_base_manager"):
            return True
        case ast.Call(func=ast.Attribute(attr=name, value=value)):
            return name in QUERIES or _is_query(value, queries)
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Await(value=value):
            return _is_query(value, queries)
        case ast.Name(id=name):
            return name in queries
        case _:
            return False
