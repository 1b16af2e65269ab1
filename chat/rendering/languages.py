"""The languages that code is coloured in: how each writes its words, strings and comments.

A language is one regular expression whose groups are named after the classes of the style sheet:

| class | what | class | what |
| --- | --- | --- | --- |
| `c` | comment | `nt` | tag, key |
| `s` | string | `na` | attribute, variable |
| `m` | number | `nb` | what the language brings |
| `k` | keyword | `p` | punctuation |
| `nf` | what is defined or called | `gi` `gd` | line that came, that went |

A `word` is looked up in the language's words, a `text` has no colour. An `in_<language>` is code
of another language behind the first `edge`, such as the `>` of `<script>`.

Time must grow with the length of the code, whatever the code is. So a rule may look at much only
if it takes what it has looked at: repetitions are possessive (`*+`), and a string, a comment or
a tag that nobody closes goes on to the end of the line or of the code. What a rule looks at and
then refuses – a key without its colon – is taken whole by a later rule.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    pattern: re.Pattern[str]
    words: Mapping[str, str]
    ignores_case: bool = False
    edge: str = ""


# What comes behind these words is a definition.
DEFINING: Final = {
    "class", "contract", "def", "defmodule", "enum", "fn", "fun", "func", "function", "interface",
    "module", "namespace", "object", "protocol", "record", "struct", "sub", "trait", "type",
}  # fmt: skip

KNOWN: Final[dict[str, Language]] = {}

# --- what many languages share ------------------------------------------------------

_DOUBLE: Final = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?'
_SINGLE: Final = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?"
_BACKTICK: Final = r"`[^`\\]*+(?:\\.[^`\\]*+)*+`?"
_TRIPLE: Final = r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?'
_TRIPLE_SINGLE: Final = r"'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?"
_DOUBLED: Final = r"'[^']*+'?"
_QUOTED: Final = f"{_DOUBLE}|{_SINGLE}"
_CHARACTER: Final = r"'(?:[^'\\\n]|\\[^'\n]{1,9})'"

_SLASHES: Final = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_HASH: Final = r"#[^\n]*+"
# Not in the middle of a word, as in an address.
_LONE_HASH: Final = r"(?<![^\s;&|(])#[^\n]*+"
_DASHES: Final = r"--[^\n]*+"
_MARKUP: Final = r"<!--(?:[^-]++|-(?!->))*+(?:-->)?"

_NUMBER: Final = r"(?<![\w$])\d(?:[\w.]|(?<=[eE])[+-](?=\d))*+"
_WORD: Final = r"[^\W\d][\w$]*+|\$[\w$]*+"
_DASHED: Final = r"[^\W\d][\w-]*+"
# One at a time: the next one may begin a comment.
_SIGNS: Final = r"[-+*/%=<>!&|^~?:;,.(){}\[\]@\\]"
_VARIABLE: Final = r"\$(?:\w++|\{[^{}\n]*+\}?|[@#?*!$-])"


def _language(
    names: str,
    rules: Mapping[str, str],
    *,
    ignores_case: bool = False,
    edge: str = "",
    **words: str,
) -> None:
    """Know a language by its names, the first being how people write it, and those that look
    like it: `CSS | css / scss`."""
    same, _, alike = names.partition(" / ")
    name, *others = same.split(" | ")
    pattern = "|".join(f"(?P<{role}>{rule})" for role, rule in rules.items())
    known = {word: role for role, listed in words.items() for word in listed.split()}
    flags = re.S | re.M | (re.I if ignores_case else re.NOFLAG)
    language = Language(name, re.compile(pattern, flags), known, ignores_case, edge)
    KNOWN.update(dict.fromkeys([name.lower(), *others], language))
    KNOWN.update(
        {other: replace(language, name=other) for other in filter(None, alike.split(" | "))}
    )


def _code(names: str, keywords: str, **given: str | bool) -> None:
    """A language of words and signs; unless given, its comments and strings are those of C."""
    parts = {key: str(given[key]) for key in ("c", "s", "nb", "na", "nt", "word") if key in given}
    rules = {"c": _SLASHES, "s": _QUOTED} | {
        key: parts[key] for key in ("c", "s", "nt", "na", "nb") if key in parts
    }
    rules |= {"m": _NUMBER, "word": parts.get("word", _WORD), "p": _SIGNS}
    _language(
        names,
        rules,
        ignores_case=bool(given.get("ignores_case")),
        k=keywords,
        **({"nb": str(given["builtins"])} if "builtins" in given else {}),
    )


def find_language(name: str) -> Language | None:
    """The language that goes by this name, if it is one that we colour."""
    return KNOWN.get(name.lower())


# --- like C -------------------------------------------------------------------------

_FLOW: Final = "break case continue default do else for goto if return switch while"
_TYPES: Final = "bool char double float int long short signed unsigned void"
_OBJECTS: Final = (
    "abstract catch class const enum extends false final finally import implements instanceof "
    "interface new null package private protected public static super this throw throws true try"
)
_DIRECTIVE: Final = r"^[ \t]*+#[ \t]*+\w*+"
_ATTRIBUTE: Final = r"@[\w.]++"
_C: Final = (
    f"{_FLOW} {_TYPES} auto const enum extern inline NULL register restrict sizeof static struct "
    "typedef union volatile"
)

_code("C / h", _C, nb=_DIRECTIVE, builtins="size_t uint8_t uint16_t uint32_t uint64_t int8_t "
    "int16_t int32_t int64_t FILE printf malloc free")  # fmt: skip
_code("C++ | cpp | cc | cxx / hpp | arduino", f"{_C} alignas bool catch class concept const_cast "
    "consteval constexpr co_await co_return co_yield decltype delete dynamic_cast explicit export "
    "false final friend import module mutable namespace new noexcept nullptr operator override "
    "private protected public reinterpret_cast requires static_assert static_cast template this "
    "throw true try typeid typename using virtual", builtins="std string vector map cout cin endl",
    s=r'R"\((?:[^)]++|\)(?!"))*+(?:\)")?|' + _QUOTED, nb=_DIRECTIVE)  # fmt: skip
_code("Objective-C | objc | objectivec", f"{_C} BOOL YES NO nil self super id instancetype in "
    "nonatomic strong weak", nb=f"{_DIRECTIVE}|{_ATTRIBUTE}")  # fmt: skip
_code("C# | cs | csharp | c-sharp", f"{_FLOW} {_TYPES} {_OBJECTS} as async await base byte checked "
    "decimal delegate dynamic event explicit extern fixed foreach get implicit in init internal is "
    "lock namespace object operator out override params partial readonly record ref required "
    "sbyte sealed set sizeof stackalloc string struct typeof uint ulong unchecked unsafe ushort "
    "using var virtual volatile when where with yield",
    s=r'(?:\$@|@\$|@)"(?:[^"]++|"")*+"?|\$?' + f'(?:{_TRIPLE}|{_DOUBLE})|{_SINGLE}',
    nb=_DIRECTIVE)  # fmt: skip
_code("Java", f"{_FLOW} {_TYPES} {_OBJECTS} assert boolean byte native non-sealed permits record "
    "sealed strictfp synchronized transient var volatile when yield",
    s=f"{_TRIPLE}|{_QUOTED}", nb=_ATTRIBUTE)  # fmt: skip
_code("Groovy / gradle | jenkinsfile", f"{_FLOW} {_TYPES} {_OBJECTS} as assert boolean byte def in "
    "it trait", s=f"{_TRIPLE}|{_TRIPLE_SINGLE}|{_QUOTED}", nb=_ATTRIBUTE)  # fmt: skip
_code("Kotlin | kt | kts", f"{_FLOW} as by catch class companion const constructor data enum "
    "external false final finally fun get import in infix init inline inner interface internal is "
    "lateinit null object open operator out override package private protected public reified "
    "sealed set super suspend this throw true try typealias val var vararg when where",
    s=f"{_TRIPLE}|{_QUOTED}", nb=_ATTRIBUTE)  # fmt: skip
_code("Scala | sc", "abstract case catch class def do else enum extends extension false final "
    "finally for given if implicit import lazy match new null object override package private "
    "protected return sealed super this then throw trait true try type using val var while with "
    "yield", s=f"{_TRIPLE}|{_DOUBLE}|{_CHARACTER}", nb=_ATTRIBUTE)  # fmt: skip
_code("Swift", f"{_FLOW} actor as associatedtype async await catch class convenience defer deinit "
    "enum extension fallthrough false fileprivate final func get guard import in indirect init "
    "inout internal is lazy let mutating nil nonisolated open operator override private protocol "
    "public repeat rethrows self Self set some any static struct subscript super throw throws true "
    "try typealias unowned var weak where", s=f"{_TRIPLE}|{_DOUBLE}", nb=r"[@#]\w++",
    builtins="Int String Double Bool Array Dictionary Float print")  # fmt: skip
_code("Go | golang", "any break case chan const continue default defer else fallthrough false for "
    "func go goto if import interface iota map nil package range return select struct switch true "
    "type var", s=f"{_BACKTICK}|{_QUOTED}", builtins="append bool byte cap close complex64 "
    "complex128 copy delete error float32 float64 int int8 int16 int32 int64 len make max min new "
    "panic print println recover rune string uint uint8 uint16 uint32 uint64 uintptr")  # fmt: skip
_code("Rust | rs", "as async await break const continue crate dyn else enum extern false fn for if "
    "impl in let loop match mod move mut pub ref return self Self static struct super trait true "
    "type union unsafe use where while", nb=r"#!?\[[^\[\]\n]*+\]?|\b\w++!(?=[(\[{])",
    s=r'b?r#"(?:[^"]++|"(?!#))*+(?:"#)?|b?' + f"{_DOUBLE}|{_CHARACTER}", builtins="bool char f32 "
    "f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Some None "
    "Result Ok Err Box")  # fmt: skip
_code("Zig", "and anytype asm break catch comptime const continue defer else enum errdefer error "
    "export extern false fn for if inline null opaque or orelse packed pub return struct switch "
    "test true try type undefined union unreachable usingnamespace var while", nb=_ATTRIBUTE,
    builtins="bool f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize void anyerror")  # fmt: skip
_code("Dart", f"{_FLOW} {_OBJECTS} as assert async await base bool covariant deferred double "
    "dynamic export extension external factory Function get in int is late library mixin mounted "
    "num on operator part required rethrow sealed set show String sync typedef var void when with "
    "yield", s=f"r?(?:{_TRIPLE}|{_TRIPLE_SINGLE}|{_QUOTED})", nb=_ATTRIBUTE)  # fmt: skip
_code("Solidity | sol", f"{_FLOW} address abstract assembly bool bytes constant constructor "
    "contract delete emit enum error event external false function immutable import indexed "
    "interface internal is library mapping memory modifier new override payable pragma private "
    "public pure require returns revert storage string struct this true uint uint256 int unchecked "
    "using view virtual")  # fmt: skip
_code("Protobuf | proto | protobuf", "bool bytes double enum extend false fixed32 fixed64 float "
    "import int32 int64 map message oneof option optional package public repeated required "
    "reserved returns rpc service sint32 sint64 stream string syntax true uint32 "
    "uint64")  # fmt: skip
_code("GLSL / hlsl | wgsl | cuda", f"{_C} attribute discard fn in inout let mat2 mat3 mat4 "
    "out precision sampler2D true false uniform var varying vec2 vec3 vec4",
    nb=_DIRECTIVE)  # fmt: skip
_code("PHP", f"{_FLOW} {_OBJECTS} and array as bool callable clone declare echo elseif empty "
    "endfor endforeach endif endwhile exit float fn foreach function global include include_once "
    "insteadof int isset iterable list match mixed namespace never object or print readonly "
    "require require_once self string trait unset use var void xor yield",
    c=f"{_SLASHES}|#(?!\\[)[^\\n]*+", nb=r"<\?(?:php|=)?|\?>|#\[[^\[\]\n]*+\]?",
    na=r"\$\w++", ignores_case=True)  # fmt: skip

_JS: Final = (
    f"{_FLOW} as async await catch class const debugger delete export extends false finally from "
    "function get import in instanceof let new null of set static super this throw true try typeof "
    "undefined var void with yield"
)
_TS: Final = (
    f"{_JS} abstract any asserts bigint boolean declare enum implements infer interface is keyof "
    "module namespace never number object override private protected public readonly satisfies "
    "string symbol type unique unknown"
)
_GLOBALS: Final = (
    "Array Boolean console Date document Error fetch globalThis JSON Map Math module NaN Number "
    "Object process Promise Proxy RegExp require Set String Symbol window"
)
_JSX: Final = r"</?[A-Za-z][\w.]*+(?=[\s/>])"
_JS_STRING: Final = f"{_BACKTICK}|{_QUOTED}"

_code("JavaScript | js | mjs | cjs | node", _JS, builtins=_GLOBALS, s=_JS_STRING, nb=_ATTRIBUTE)
_code("JSX", _JS, builtins=_GLOBALS, s=_JS_STRING, nb=_ATTRIBUTE, nt=_JSX)
_code("TypeScript | ts | mts", _TS, builtins=_GLOBALS, s=_JS_STRING, nb=_ATTRIBUTE)
_code("TSX", _TS, builtins=_GLOBALS, s=_JS_STRING, nb=_ATTRIBUTE, nt=_JSX)

# --- not like C ---------------------------------------------------------------------

_code("Python | py | python3 / gyp | starlark", "and as assert async await break case class "
    "continue def del elif else except False finally for from global if import in is lambda match "
    "None nonlocal not or pass raise return True try type while with yield", c=_HASH,
    s=r"(?:\b[rRbBfFuU]{1,2})?" + f"(?:{_TRIPLE}|{_TRIPLE_SINGLE}|{_QUOTED})",
    nb=r"^[ \t]*+@[\w.]++", builtins="abs all any ascii bin bool breakpoint bytearray bytes "
    "callable chr classmethod cls compile complex delattr dict dir divmod enumerate eval exec "
    "filter float format frozenset getattr globals hasattr hash hex id input int isinstance "
    "issubclass iter len list locals map max memoryview min next object oct open ord pow print "
    "property range repr reversed round self set setattr slice sorted staticmethod str sum super "
    "tuple vars zip Exception KeyError TypeError ValueError RuntimeError")  # fmt: skip
_code("Ruby | rb", "alias and begin break case class def defined? do else elsif end ensure extend "
    "false for if in include loop module next nil not or private protected public raise redo "
    "require require_relative rescue retry return self super then true undef unless until when "
    "while yield", c=_LONE_HASH + r"|^=begin\b(?:[^=]++|=(?!end))*+(?:=end)?",
    s=r"%[wWiIqQ]\([^)]*+\)?|" + f"{_BACKTICK}|{_QUOTED}|" + r"(?<![\w:]):[^\W\d]\w*+[?!]?",
    na=r"@{1,2}\w++|\$\w++", word=r"[^\W\d]\w*+[?!]?",
    builtins="attr_accessor attr_reader attr_writer lambda print proc puts p")  # fmt: skip
_code("Crystal | cr", "abstract begin break case class def do else elsif end ensure enum extend "
    "false for fun if in include lib macro module next nil of out private property require rescue "
    "return self struct then true until unless when while yield", c=_LONE_HASH)  # fmt: skip
_code("Perl | pl | pm", "and cmp die do else elsif eq for foreach ge given gt if last le local lt "
    "my ne next no not or our package print redo require return say sub undef unless until use "
    "when while", c=_LONE_HASH, na=r"[$@%]\w++")  # fmt: skip
_code("Lua | luau", "and break do else elseif end false for function goto if in local nil not or "
    "repeat return then true until while", builtins="ipairs pairs print require self string table "
    "tonumber tostring type", c=r"--\[\[(?:[^\]]++|\](?!\]))*+(?:\]\])?|" + _DASHES,
    s=r"\[\[(?:[^\]]++|\](?!\]))*+(?:\]\])?|" + _QUOTED)  # fmt: skip
_code("R | rscript", "break else FALSE for function if in Inf library NA NaN next NULL repeat "
    "require return TRUE while", c=_HASH, word=r"[^\W\d][\w.]*+")  # fmt: skip
_code("Julia | jl", "abstract baremodule begin break catch const continue do else elseif end "
    "export false finally for function global if import in let local macro module mutable nothing "
    "primitive quote return struct true try type using where while", nb=_ATTRIBUTE,
    c=r"#=(?:[^=]++|=(?!#))*+(?:=#)?|" + _HASH, s=f"{_TRIPLE}|{_DOUBLE}|{_CHARACTER}")  # fmt: skip
_code("MATLAB / octave", "break case catch classdef continue else elseif end endfunction false for "
    "function global if otherwise parfor persistent return switch true try while",
    c=r"[%#][^\n]*+", s=f"{_DOUBLE}|{_CHARACTER}")  # fmt: skip
_code("Elixir | ex | exs", "after alias and case catch cond def defimpl defmacro defmodule defp "
    "defprotocol defstruct do else end false fn for if import in nil not or quote raise receive "
    "require rescue true try unless unquote use when with", c=_HASH, nb=_ATTRIBUTE,
    s=f"{_TRIPLE}|{_QUOTED}|" + r"(?<![\w:]):[^\W\d]\w*+", word=r"[^\W\d]\w*+[?!]?")  # fmt: skip
_code("Erlang | erl", "after and andalso begin case catch div end fun if not of or orelse receive "
    "rem try when xor", c=r"%[^\n]*+", nb=r"^-\w++")  # fmt: skip
_code("Haskell | hs", "as case class data deriving do else family forall hiding if import in infix "
    "infixl infixr instance let module newtype of qualified then type where",
    c=r"\{-(?:[^-]++|-(?!\}))*+(?:-\})?|" + _DASHES, s=f"{_DOUBLE}|{_CHARACTER}",
    word=r"[^\W\d][\w']*+")  # fmt: skip
_code("Elm", "as case else exposing if import in let module of port then type where alias",
    c=r"\{-(?:[^-]++|-(?!\}))*+(?:-\})?|" + _DASHES, s=f"{_TRIPLE}|{_DOUBLE}")  # fmt: skip
_code("OCaml | ml / reason", "and as begin class do done else end exception false for fun function "
    "if in include inherit let match method module mutable new object of open rec sig struct then "
    "to true try type val virtual when while with", c=r"\(\*(?:[^*]++|\*(?!\)))*+(?:\*\))?",
    s=f"{_DOUBLE}|{_CHARACTER}", word=r"[^\W\d][\w']*+")  # fmt: skip
_code("F# | fs | fsharp", "abstract and as async begin class do done elif else end exception "
    "extern false finally for fun function if in inherit inline interface internal let match "
    "member module mutable namespace new null of open or override private public rec return static "
    "struct then to true try type use val when while with yield", nb=_DIRECTIVE,
    c=r"//[^\n]*+|\(\*(?:[^*]++|\*(?!\)))*+(?:\*\))?", s=f"{_TRIPLE}|{_DOUBLE}|{_CHARACTER}",
    )  # fmt: skip
_code("Lisp | common-lisp / clojure | clj | scheme | racket | elisp | scm", "and cond case def "
    "defmacro defn defun define do else false fn for if lambda let let* letrec loop nil ns or "
    "quote recur require set! setq true try when", c=r";[^\n]*+", s=_DOUBLE, na=r":[^\W\d][\w-]*+",
    word=r"[^\W\d][\w*!?<>=/.-]*+")  # fmt: skip
_code("Pascal / delphi", "and array begin case class const constructor destructor div do downto "
    "else end except false file finally for function if implementation in inherited interface mod "
    "nil not of or override private procedure program property public record repeat set string "
    "then to true try type unit until uses var while with xor", s=_DOUBLED, ignores_case=True,
    c=r"//[^\n]*+|\{[^}]*+\}?|\(\*(?:[^*]++|\*(?!\)))*+(?:\*\))?")  # fmt: skip
_code("Fortran | f90 | f95", "allocatable allocate call case character complex contains cycle "
    "deallocate dimension do else elseif end enddo endif exit function if implicit in integer "
    "intent logical module none only out parameter print program real result return select "
    "subroutine then type use while write", c=r"![^\n]*+", ignores_case=True)  # fmt: skip
_code("Visual Basic | vb | vbnet / vba | basic", "and as boolean byref byval call case catch class "
    "const dim do double each else elseif end enum exit false for function get if imports in "
    "inherits integer is let long loop me mod module namespace new next not nothing object of on "
    "option or private property protected public return select set shared single static step "
    "string sub then to true try until using wend while with", c=r"'[^\n]*+", ignores_case=True,
    s=r'"[^"\n]*+"?')  # fmt: skip
_code("Assembly | asm / nasm | armasm | x86asm", "add and call cmp dec div global inc int jb "
    "je jg jl jle jmp jne jnz jz lea loop mov mul nop not or pop push ret section shl shr sub "
    "syscall test xor", c=r"[;#][^\n]*+", nb=r"%?\b[er]?[abcd]x\b|\b[er]?[sd]i\b|\br\d{1,2}\b",
    na=r"^[\w.$]++:", ignores_case=True)  # fmt: skip
_code("PowerShell | ps1 | pwsh", "begin break catch class continue data do dynamicparam else "
    "elseif end enum exit filter finally for foreach from function hidden if in param process "
    "return static switch throw trap try until using var while",
    c=r"<#(?:[^#]++|#(?!>))*+(?:#>)?|" + _HASH, s=r'"[^"`\n]*+(?:`.[^"`\n]*+)*+"?|' + _DOUBLED,
    na=r"\$[\w:]++", nb=r"\b[A-Za-z]++-[A-Za-z]++", ignores_case=True)  # fmt: skip
_code("Bash / zsh | fish | ksh", "case do done elif else esac fi for function "
    "if in local return select then until while", c=_LONE_HASH, na=_VARIABLE,
    s=f"{_DOUBLE}|{_DOUBLED}", word=r"[^\W\d][\w-]*+",
    builtins="alias apt brew cat cd chmod chown cp curl docker echo eval "
    "exec exit export find git grep head kill kubectl ls make mkdir mv npm npx pip pip3 printf pwd "
    "python python3 read rm sed set sleep source ssh sudo systemctl tail tar test touch trap unset "
    "wget which xargs")  # fmt: skip
_code("Batch | bat | cmd", "call do echo else endlocal errorlevel exist exit for goto if in not "
    "pause set setlocal shift", c=r"^[ \t]*+(?:rem\b|::)[^\n]*+", s=_DOUBLE, ignores_case=True,
    na=r"%[\w~]++%?")  # fmt: skip
_code("SQL / mysql | postgresql | postgres | psql | plpgsql | sqlite | tsql | plsql",
    "add all alter analyze and any as asc begin between by cascade case cast check column commit "
    "constraint create cross current database declare default delete desc distinct drop each else "
    "end except exists explain false fetch first for foreign from full function grant group "
    "having if ilike in index inner insert intersect into is join key last lateral left like "
    "limit materialized natural not null offset on or order outer over partition primary "
    "procedure references replace returning returns revoke right rollback row rows schema select "
    "set table then to transaction trigger true truncate union unique update using values view "
    "when where window with",
    builtins="avg bigint bool boolean bytea char coalesce count date decimal double float int "
    "integer interval json jsonb lower max min now numeric real serial smallint sum "
    "text time timestamp upper uuid varchar",
    c=f"{_DASHES}|{_SLASHES}", s=_DOUBLED + r'|"[^"\n]*+"?',
    ignores_case=True)  # fmt: skip
_code("GraphQL | gql", "directive enum extend false fragment implements input interface mutation "
    "null on query repeatable scalar schema subscription true type union", c=_HASH, na=r"\$\w++",
    nb=_ATTRIBUTE, s=f"{_TRIPLE}|{_DOUBLE}")  # fmt: skip
_code("HCL / terraform | tf", "data dynamic false for for_each if in locals module null output "
    "provider resource terraform true variable", c=f"{_HASH}|{_SLASHES}", s=_DOUBLE)  # fmt: skip
_code("Nix", "assert else false if import in inherit let null or rec then true with",
    c=_HASH, s=_DOUBLE + r"|''(?:[^']++|'(?!'))*+(?:'')?")  # fmt: skip
_code("Dockerfile | docker", "add arg as cmd copy entrypoint env expose from healthcheck label "
    "onbuild run shell stopsignal user volume workdir", c=r"^[ \t]*+#[^\n]*+", na=_VARIABLE,
    ignores_case=True)  # fmt: skip
_code("Makefile | make | mk", "define else endef endif export ifdef ifeq ifndef ifneq include "
    "override", c=_LONE_HASH, nt=r"^[\w./%$()-]++(?=:(?!=))", na=r"\$(?:\([^()\n]*+\)?|[@<^?*%$])",
    word=r"[^\W\d][\w./-]*+")  # fmt: skip
_code("CMake", "add_executable add_library add_subdirectory cmake_minimum_required else endforeach "
    "endfunction endif find_package foreach function if include install option project set "
    "target_link_libraries", c=_HASH, s=_DOUBLE, na=_VARIABLE, ignores_case=True)  # fmt: skip
_code("Nginx / apache | apacheconf", "events http location server upstream if return rewrite",
    c=_LONE_HASH, na=_VARIABLE)  # fmt: skip

KNOWN.update(dict.fromkeys(["sh", "shell"], replace(KNOWN["bash"], name="Shell")))

# --- data ---------------------------------------------------------------------------

_language("JSON / json5 | jsonc | jsonl | geojson", {
    "c": _SLASHES, "nt": r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"(?=[ \t]*+:)', "s": _QUOTED,
    "m": r"-?" + _NUMBER, "word": _WORD, "p": _SIGNS,
}, k="true false null")  # fmt: skip
_language("YAML | yml", {
    "c": _LONE_HASH, "nt": r'[^\W\d][\w./-]*+(?=:(?:\s|\Z))|"[^"\n]*+"(?=:\s)', "s": _QUOTED,
    "nb": r"(?<!\S)[&*!][\w./-]++", "m": r"(?<![\w.-])-?\d[\d_.eE+:-]*+(?![\w-])",
    "word": r"[\w./-]++", "p": r"[-:,>|?{}\[\]]",
}, k="true false null yes no on off")  # fmt: skip
_language("TOML / ini | cfg | conf | properties | env | dotenv | editorconfig | systemd", {
    "c": r"(?<!\S)[#;][^\n]*+", "k": r"^[ \t]*+\[[^\]\n]*+\]*+",
    "na": r"[\w.-]++(?=[ \t]*+=)", "s": f"{_TRIPLE}|{_TRIPLE_SINGLE}|{_QUOTED}",
    "m": r"(?<![\w.-])-?\d[\d_.eE+:TZ-]*+(?![\w-])", "word": r"[\w.-]++", "p": r"[=,{}\[\]]",
}, nb="true false null yes no on off")  # fmt: skip
_language("CSS / scss | sass | less | stylus", {
    "c": r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|(?<!:)//[^\n]*+", "s": _QUOTED,
    "m": r"#[0-9a-fA-F]{3,8}\b|(?<![\w-])[-+]?\.?\d[\w.%]*+", "k": r"@[\w-]++|!important",
    "nb": r"(?:--|\$)[\w-]++", "nt": r"[.#&][A-Za-z_-][\w-]*+",
    "na": r"[^\W\d][\w-]*+(?=[ \t]*+:[ \t])", "word": _DASHED, "p": r"[{}()\[\]:;,>+~*=|]",
})  # fmt: skip
_language("Diff / patch | udiff", {
    "c": r"^(?:diff |index |--- |\+\+\+ )[^\n]*+", "k": r"^@@[^\n]*+", "gi": r"^\+[^\n]*+",
    "gd": r"^-[^\n]*+", "text": r"[^\n]++",
})  # fmt: skip

# --- texts, and code inside them ----------------------------------------------------

_TAGS: Final = {
    "nt": r"</?[A-Za-z][\w:.-]*+|/?>|<[?!][A-Za-z]*+|\?>",
    "na": r"[\w:@.#-]++(?==)", "s": r"(?<==)(?:\"[^\"]*+\"?|'[^']*+'?)",
    "nb": r"&[#\w]{1,10};|\{\{[^{}\n]*+\}{0,2}|\{%[^%\n]*+(?:%\})?", "text": r"[\w:@.#-]++",
}  # fmt: skip
_language("HTML | htm / xhtml | vue | svelte | jinja | jinja2 | django | handlebars | erb | twig", {
    "c": _MARKUP,
    "in_javascript": r"<script\b[^<>]*+>[^<]*+(?:<(?!/script)[^<]*+)*+",
    "in_css": r"<style\b[^<>]*+>[^<]*+(?:<(?!/style)[^<]*+)*+",
} | _TAGS, ignores_case=True, edge=">")  # fmt: skip
_language("XML / svg | xsd | xslt | plist | rss | xaml | mathml", {
    "c": _MARKUP, "m": r"<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+(?:\]\]>)?",
} | _TAGS)  # fmt: skip
_language("Markdown | md / mdx | rst", {
    "s": r"^(?:```|~~~)[^\n]*+|`[^`\n]*+`?", "k": r"^#{1,6} [^\n]*+",
    "p": r"^[ \t]*+(?:[-*+>]|\d{1,9}[.)])(?= )", "nb": r"\*\*[^*\n]*+(?:\*\*)?",
    "na": r"\[[^\[\]\n]*+\](?=[(\[:])", "text": r"[^\W\d]\w*+",
})  # fmt: skip
_language("LaTeX | tex / bibtex", {
    "c": r"%[^\n]*+", "k": r"\\(?:[A-Za-z@]++\*?|.)", "s": r"\$\$?+[^$\n]*+\$?\$?",
    "p": r"[{}\[\]&]",
})  # fmt: skip
_language("Console | shell-session / terminal", {
    "in_bash": r"^[\w@~:./()-]{0,60}[$#%>] [^\n]*+", "text": r"[^\n]++",
}, edge=" ")  # fmt: skip
_language("Python console | pycon / ipython", {
    "in_python": r"^(?:>>>|\.\.\.) [^\n]*+", "text": r"[^\n]++",
}, edge=" ")  # fmt: skip
