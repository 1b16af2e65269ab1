"""Reads the source and says where it breaks the rules of the rooms."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.row_writes import row_writes

ROOT = Path(__file__).parents[2]

PLAIN = ("protocol", "formats", "tools", "engine", "providers")
# Who may import whom, apart from itself. What lies at the top of `chat/` is a room of one module.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "protocol": (),
    "formats": ("protocol",),
    "tools": ("protocol", "formats"),
    "engine": ("protocol", "formats"),
    "providers": ("protocol", "formats"),
    "models": ("protocol",),
    "rendering": ("protocol",),
    "services": ("models", "engine", "providers", "tools", "formats", "protocol"),
    "consumers": ("services", "rendering", "models", "protocol", "formats", "views"),
    "views": ("services", "rendering", "models", "protocol", "formats", "tools"),
    "admin": ("services", "rendering", "models", "protocol", "providers", "tools", "views"),
    "management": (
        *("services", "rendering", "models", "protocol", "tools"),
        *("chatsite.asgi", "chatsite.daphne_bodies", "chatsite.entrance"),
    ),
    "templatetags": ("rendering", "protocol"),
    "__init__": (),
    "apps": ("checks", "services", "tools"),
    "checks": ("chatsite.environment",),
    "routing": ("consumers",),
    "translation": ("models",),
    "urls": ("views",),
    "chatsite": ("admin", "checks", "consumers", "protocol", "routing", "services", "views"),
}
# Modules of Django and its neighbours, which the plain rooms do without.
DJANGO = {"django", "channels", "daphne", "modeltranslation", "django_htmx", "asgiref"}
HTTP = {
    *("httpx", "httpcore", "requests", "urllib3", "primp", "ddgs", "aiohttp"),
    "httpx_aiohttp",
    *("http.client", "urllib.request"),
}
HTTP_OWNERS = ("chat/providers/http/", "chat/tools/", "chat/services/people/issuer.py")
LAYER = {"channels.layers", "get_channel_layer"}
LAYER_OWNERS = ("chat/services/broadcast.py", "chat/services/layer.py", "chat/consumers/")
SAFE = {"mark_safe", "SafeString", "SafeText", "format_html", "format_html_join"}
SAFE_OWNERS = ("chat/rendering/", "chat/templatetags/")
ID_OWNERS = ("chat/rendering/",)
# Packages of which others may use only the names that their __init__ lists.
CLOSED = ("chat.rendering.streaming", "chat.services")
ROW_OWNERS = ("chat/services/",)
VAGUE = {"utils.py", "helpers.py", "common.py", "util.py", "misc.py"}
MAX_FUNCTION = 60
# Of how many modules beside it a module may know; a package's __init__ may know all of them.
MAX_SIBLINGS = 7
MAX_LINE = 120


@dataclass(frozen=True, order=True)
class Breach:
    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def room_of(path: str) -> str:
    """`chat/engine/loop.py` is in the room `engine`, `chat/apps.py` in one of its own."""
    pieces = path.removesuffix(".py").split("/")
    return pieces[1] if pieces[0] == "chat" else pieces[0]


PRODUCT = ("chat", "chatsite", "templates", "static")


def sources(*suffixes: str, tops: tuple[str, ...] = PRODUCT) -> Iterator[tuple[str, str]]:
    for top in tops:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in suffixes and "migrations" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def breaches_of(path: str, source: str) -> Iterator[Breach]:
    """All that is wrong with one Python file."""
    tree = ast.parse(source)
    yield from _sizes(path, tree)
    yield from _siblings(path, tree)
    if room_of(path) not in MAY_IMPORT:
        yield Breach(path, 1, "is in no room that has rules")
    # The plain rooms know no Django, so what they save (a picture, say) is no row.
    if not path.startswith(ROW_OWNERS) and room_of(path) not in PLAIN:
        for line, method in row_writes(tree):
            yield Breach(path, line, f"writes rows by {method}: only services do")
    for node in ast.walk(tree):
        for line, what in _node(path, node):
            yield Breach(path, line, what)


def template_breaches_of(path: str, source: str) -> Iterator[Breach]:
    for number, line in enumerate(source.splitlines(), 1):
        if re.search(r"\|\s*safe(seq)?\b|autoescape\s+off", line):
            yield Breach(path, number, "says that something is safe HTML")


def long_lines_of(path: str, source: str) -> Iterator[Breach]:
    """Lines that do not fit beside another file, counted in characters."""
    for number, line in enumerate(source.splitlines(), 1):
        if len(line) > MAX_LINE:
            yield Breach(path, number, f"has {len(line)} characters")


def _sizes(path: str, tree: ast.Module) -> Iterator[Breach]:
    if path.rsplit("/", 1)[-1] in VAGUE:
        yield Breach(path, 1, "has a name that says nothing")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield Breach(path, node.lineno, f"{node.name}() has {length} lines")


def _siblings(path: str, tree: ast.Module) -> Iterator[Breach]:
    """A module that needs everything around it is no module."""
    package = path.rpartition("/")[0].replace("/", ".")
    known = {
        module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for module in (node.module, *(f"{node.module}.{name.name}" for name in node.names))
        if module.rpartition(".")[0] == package and (ROOT / f"{_file(module)}.py").exists()
    }
    if len(known) > MAX_SIBLINGS and not path.endswith("__init__.py"):
        yield Breach(path, 1, f"imports {len(known)} modules beside it")


def _file(module: str) -> str:
    return module.replace(".", "/")


def _node(path: str, node: ast.AST) -> Iterator[tuple[int, str]]:
    yield from _imports(path, node)
    yield from _powers(path, node)


def _imports(path: str, node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.ImportFrom(level=level) if level:
            yield node.lineno, "imports by a relative name"
        case ast.ImportFrom(module=str(module), names=names):
            for name in names:
                yield from _import(path, node.lineno, module, name.name)
        case ast.Import(names=names):
            for name in names:
                yield from _import(path, node.lineno, name.name, "")
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(str(name)), *_]):
            yield from _import(path, node.lineno, name, "")


def _powers(path: str, node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in SAFE:
            if not path.startswith(SAFE_OWNERS):
                yield node.lineno, f"uses {name}: only rendering makes HTML"
        case ast.Attribute(attr="channel_layer"):
            if not path.startswith(LAYER_OWNERS):
                yield node.lineno, "uses the channel layer"
        case ast.Constant(value=str(text)) if re.search(r"""<[a-z][^>]*\sid=["']?[\w{]""", text):
            if not path.startswith(ID_OWNERS) and not path.startswith("chat/templatetags/"):
                yield node.lineno, "writes an element with an id"


def _import(path: str, line: int, module: str, name: str) -> Iterator[tuple[int, str]]:
    room, full = room_of(path), f"{module}.{name}" if name else module
    top = module.split(".")[0]
    if top in ("chat", "chatsite") and not _may_import(room, full):
        yield line, f"{room} imports {full}"
    if top == "tests":
        yield line, f"imports {full}, which is for tests only"
    if room in PLAIN and top in DJANGO:
        yield line, f"{room} imports {full}, but knows no Django"
    if (module in HTTP or top in HTTP or full in HTTP) and not path.startswith(HTTP_OWNERS):
        yield line, f"imports {full}: outgoing HTTP has other owners"
    if (module in LAYER or name in LAYER) and not path.startswith(LAYER_OWNERS):
        yield line, f"imports {full}: the channel layer has other owners"
    for package in CLOSED:
        if not path.startswith(package.replace(".", "/") + "/") and _is_inside(package, full):
            yield line, f"imports {full}: only what {package} itself exports is for others"


def _may_import(room: str, full: str) -> bool:
    top, *inside = full.split(".")
    if top == "chatsite":
        allowed = MAY_IMPORT.get(room, ())
        return room == "chatsite" or any(f"{full}.".startswith(f"{each}.") for each in allowed)
    return not inside or inside[0] in (room, *MAY_IMPORT.get(room, ()))


def _is_inside(package: str, full: str) -> bool:
    """Whether this is something of the package that is not among its public names."""
    return full.startswith(f"{package}.") and full[len(package) + 1 :] not in public_names(package)


@cache
def public_names(package: str) -> tuple[str, ...]:
    """What `__all__` of a package lists."""
    source = (ROOT / package.replace(".", "/") / "__init__.py").read_text("utf-8")
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return tuple(ast.literal_eval(value))
    raise LookupError(f"{package} does not say what is public")
