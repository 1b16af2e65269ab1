"""Reads the source and says where it breaks the rules of the rooms."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent

PLAIN = ("protocol", "formats", "tools", "engine", "providers")
# Who may import whom, apart from itself; a room that is not here may import all of them.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "protocol": (),
    "formats": ("protocol",),
    "tools": ("protocol",),
    "engine": ("protocol", "formats"),
    "providers": ("protocol", "formats"),
    "models": ("protocol",),
    "rendering": ("protocol",),
    "services": ("models", "engine", "providers", "tools", "formats", "protocol"),
}
# Modules of Django and its neighbours, which the plain rooms do without.
DJANGO = {"django", "channels", "daphne", "modeltranslation", "django_htmx", "asgiref"}
HTTP = {"httpx", "requests", "urllib3", "primp", "ddgs", "aiohttp", "http.client", "urllib.request"}
# The benchmark plays browsers and a rival over loopback; it is no part of what is served.
BENCHMARK = "chat/benchmark/"
HTTP_OWNERS = ("chat/providers/http.py", "chat/tools/", BENCHMARK)
LAYER = {"channels.layers", "get_channel_layer"}
LAYER_OWNERS = ("chat/services/broadcast.py", "chat/layers.py", "chat/consumers.py")
SAFE = {"mark_safe", "SafeString", "SafeText", "format_html", "format_html_join"}
SAFE_OWNERS = ("chat/rendering/", "chat/templatetags/")
ID_OWNERS = ("chat/rendering/",)
VAGUE = {"utils.py", "helpers.py", "common.py", "util.py", "misc.py"}
MAX_LINES = {".py": 299, ".html": 80, ".css": 200, ".js": 150}
MAX_FUNCTION = 60


@dataclass(frozen=True, order=True)
class Breach:
    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def room_of(path: str) -> str:
    """`chat/engine/loop.py` is in the room `engine`; a file at the top is in none."""
    pieces = path.split("/")
    return pieces[1] if pieces[0] == "chat" and len(pieces) > 2 else ""


def sources(*suffixes: str) -> Iterator[tuple[str, str]]:
    for top in ("chat", "chatsite", "templates", "static"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in suffixes and "migrations" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def breaches_of(path: str, source: str) -> Iterator[Breach]:
    """All that is wrong with one Python file."""
    tree = ast.parse(source)
    yield from _sizes(path, source, tree)
    for node in ast.walk(tree):
        for line, what in _node(path, node):
            yield Breach(path, line, what)


def template_breaches_of(path: str, source: str) -> Iterator[Breach]:
    yield from _too_long(path, source)
    for number, line in enumerate(source.splitlines(), 1):
        if re.search(r"\|\s*safe(seq)?\b|autoescape\s+off", line):
            yield Breach(path, number, "says that something is safe HTML")


def _sizes(path: str, source: str, tree: ast.Module) -> Iterator[Breach]:
    yield from _too_long(path, source)
    if path.rsplit("/", 1)[-1] in VAGUE:
        yield Breach(path, 1, "has a name that says nothing")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield Breach(path, node.lineno, f"{node.name}() has {length} lines")


def _too_long(path: str, source: str) -> Iterator[Breach]:
    suffix = "." + path.rsplit(".", 1)[-1]
    lines = len(source.splitlines())
    if lines > MAX_LINES[suffix]:
        yield Breach(path, 1, f"has {lines} lines")


def _node(path: str, node: ast.AST) -> Iterator[tuple[int, str]]:
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
    if room in MAY_IMPORT and top in ("chat", "chatsite", "tests"):
        pieces = full.split(".")
        other = pieces[1] if top == "chat" and len(pieces) > 1 else full
        if other != room and other not in MAY_IMPORT[room]:
            yield line, f"{room} imports {full}"
    if full.startswith("chat.benchmark") and not path.startswith((BENCHMARK, "chat/management/")):
        yield line, f"imports {full}, which only measures"
    if room in PLAIN and top in DJANGO:
        yield line, f"{room} imports {full}, but knows no Django"
    if (module in HTTP or top in HTTP or full in HTTP) and not path.startswith(HTTP_OWNERS):
        yield line, f"imports {full}: outgoing HTTP has other owners"
    if (module in LAYER or name in LAYER) and not path.startswith(LAYER_OWNERS):
        yield line, f"imports {full}: the channel layer has other owners"
