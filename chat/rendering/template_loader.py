"""Compiles our templates without the line breaks and the indentation they are written with.

A template is written over many short lines, and its indentation would be a third of every fragment
that is sent while an answer grows. So what is written for people is left out when a template is
compiled, once. The rule for text is the one of JSX:

- A line break, with the white space around it, is dropped where it stands next to a tag
  (`<p>`, `{% if … %}`) or a variable (`{{ … }}`).
- Between two words it is one space.
- A space that is meant and would fall on a line break is written `{{ " " }}`. Spaces inside a line
  are kept as they are.

Inside a tag a line break is one space, so attributes (and the words of a long value) may stand on
lines of their own. It is dropped before `>`, before `{% … %}` and at both ends of a quoted value:

    <a
      class="row"
      href="{{ entry.url }}"
      {% if entry.current %}
        aria-current="page"
      {% endif %}
    >

is `<a class="row" href="/c/1/" aria-current="page">` or `<a class="row" href="/c/1/">`. On one line
the space is the author's: `{% if entry.current %} aria-current="page"{% endif %}`.

What stands in `<pre>`, `<textarea>`, `<script>` and `<style>`, and between `{% blocktranslate %}`
and its end, is kept to the last character. Only the templates in the directories of `DIRS` are
compiled in this way; those of Django's administration and of other applications are left alone.
"""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

from django.template import Context, Origin, Template
from django.template.base import DebugLexer, Lexer, Parser, Token, TokenType
from django.template.loaders import base, cached, filesystem
from django.templatetags.i18n import TranslateNode
from django.utils.translation import get_language

from chat.rendering.icons import icon_html

KEPT_ELEMENTS = ("pre", "textarea", "script", "style")
KEPT_BLOCKS = ("blocktranslate", "blocktrans", "comment", "verbatim")
MEANT_SPACE = '" "'
# An icon with a name is the same in every drawing: it is put into the template as it is compiled.
_ICON = re.compile(r'icon "([a-z-]+)"(?: "([a-z -]+)")?')

_MARKUP = re.compile(
    r"""(?P<break>\s*\n\s*) | <(?P<name>/?[a-zA-Z][\w-]*) | (?P<quote>["']) | (?P<end>>)""",
    re.VERBOSE,
)


class _CompactCompiler(base.Loader):
    """Compiles what was found in `DIRS`, and nothing else, without its line breaks."""

    def get_template(self, template_name: str, skip: list[Origin] | None = None) -> Template:
        template = super().get_template(template_name, skip)
        # Not isinstance: the loader of the applications' directories is a subclass.
        if type(template.origin.loader) is filesystem.Loader:
            _compile_compactly(template)
        return template


class Loader(cached.Loader, _CompactCompiler):
    """Django's cached loader around a compiler of our own.

    The cached loader compiles what its loaders find by itself and asks them for source only, so the
    compiler has to stand behind it, not among its loaders.
    """


def _compile_compactly(template: Template) -> None:
    """Puts other nodes into a template that Django has compiled, and so found to be correct.

    The tokens are changed and not the source: so errors name the line of the file.
    """
    engine = template.engine
    lexer = DebugLexer if engine.debug else Lexer
    tokens = compact(lexer(template.source).tokenize())
    libraries, builtins = engine.template_libraries, engine.template_builtins
    template.nodelist = Parser(tokens, libraries, builtins, template.origin).parse()
    for node in template.nodelist.get_nodes_by_type(TranslateNode):
        assert isinstance(node, TranslateNode)
        if not (node.asvar or node.message_context) and node.filter_expression.var.literal:
            node.render = _Remembered(node.render)  # type: ignore[method-assign]


class _Remembered:
    """Words that are always the same in a language: looked up once in each."""

    def __init__(self, render: Callable[[Context], str]) -> None:
        self._render = render
        self._known: dict[str | None, str] = {}

    def __call__(self, context: Context) -> str:
        language = get_language()
        words = self._known.get(language)
        if words is None:
            words = self._known[language] = self._render(context)
        return words


def compact(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a template, without the white space that is there for its readers."""
    markup = _Markup()
    compacted: list[Token] = []
    kept_until = ""
    for token, following in zip_longest(tokens, tokens[1:]):
        if kept_until:
            if token.token_type == TokenType.BLOCK and _name(token) == kept_until:
                kept_until = ""
        elif token.token_type == TokenType.TEXT:
            token.contents = markup.without_breaks(token.contents, following)
        elif token.token_type == TokenType.VAR and token.contents == MEANT_SPACE:
            token.token_type, token.contents = TokenType.TEXT, " "
        elif token.token_type == TokenType.COMMENT:
            continue
        elif drawn := _ICON.fullmatch(token.contents):
            token.token_type, token.contents = TokenType.TEXT, icon_html(drawn[1], drawn[2] or "")
        elif token.token_type == TokenType.BLOCK:
            kept_until = f"end{_name(token)}" if _name(token) in KEPT_BLOCKS else ""
        _append(compacted, token)
    return compacted


def _name(tag: Token) -> str:
    return tag.contents.split(maxsplit=1)[0]


def _append(tokens: list[Token], token: Token) -> None:
    """Adds a token. Texts that meet become one, and empty ones none: so there is less to render."""
    if token.token_type != TokenType.TEXT:
        tokens.append(token)
    elif tokens and tokens[-1].token_type == TokenType.TEXT:
        tokens[-1].contents += token.contents
    elif token.contents:
        tokens.append(token)


class _Markup:
    """Where in the HTML a template is while it is read: in text, in a tag, in a quoted value."""

    def __init__(self) -> None:
        self.tag = ""
        self.quote = ""
        self.kept_element = ""

    def without_breaks(self, text: str, following: Token | None) -> str:
        """One text of a template; `following` is the token after it."""

        def replacement(match: re.Match[str]) -> str:
            if match["break"] and not self.kept_element:
                before, after = text[: match.start()], text[match.end() :]
                return self._line_break(before, after, following)
            self._follow(match)
            return match[0]

        return _MARKUP.sub(replacement, text)

    def _line_break(self, before: str, after: str, following: Token | None) -> str:
        """What a line break is sent as: one space or nothing."""
        if not self.tag:
            words_meet = before and after and before[-1] != ">" and after[0] != "<"
            return " " if words_meet else ""
        if not after:
            return " " if following and following.token_type == TokenType.VAR else ""
        if self.quote:
            at_an_end = before[-1:] == self.quote or after[0] == self.quote
            return "" if at_an_end else " "
        return "" if after.startswith((">", "/>")) else " "

    def _follow(self, match: re.Match[str]) -> None:
        """Takes notice of a piece of markup that was passed."""
        name = (match["name"] or "").lower()
        if self.kept_element:
            if name == f"/{self.kept_element}":
                self.tag, self.kept_element = name, ""
        elif not self.tag:
            self.tag = name
        elif self.quote:
            if match["quote"] == self.quote:
                self.quote = ""
        elif match["quote"]:
            self.quote = match["quote"]
        elif match["end"]:
            self.kept_element = self.tag if self.tag in KEPT_ELEMENTS else ""
            self.tag = ""
