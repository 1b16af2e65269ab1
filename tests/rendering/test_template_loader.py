"""Templates are written over many lines and sent without them."""

from pathlib import Path

import pytest
from django.template import Context, Engine, TemplateSyntaxError
from django.template.base import TextNode
from django.template.loader import get_template, render_to_string

LOADERS = [
    (
        "chat.rendering.template_loader.Loader",
        [
            "django.template.loaders.filesystem.Loader",
            "django.template.loaders.app_directories.Loader",
        ],
    )
]


def engine_of(directory: Path, *, debug: bool = False) -> Engine:
    return Engine(
        dirs=[str(directory)],
        loaders=LOADERS,
        debug=debug,
        libraries={"i18n": "django.templatetags.i18n"},
    )


@pytest.fixture
def sent(tmp_path):
    """What is sent of a template with this source."""

    def render(source: str, **values: object) -> str:
        (tmp_path / "page.html").write_text("{% load i18n %}\n" + source, "utf-8")
        return engine_of(tmp_path).get_template("page.html").render(Context(values))

    return render


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<ul>\n  <li>One</li>\n\n  <li>Two</li>\n</ul>\n", "<ul><li>One</li><li>Two</li></ul>"),
        ("<p>\r\n  One\r\n</p>\r\n", "<p>One</p>"),
        ("<p>\n  One\n  two\n</p>", "<p>One two</p>"),
        ("<p>One <b>two</b> three</p>", "<p>One <b>two</b> three</p>"),
        ("{{ word }}\n{{ word }}", "wordword"),
        ("<p>\n  {{ word }}\n</p>", "<p>word</p>"),
        ("{% if word %}\n  yes\n{% else %}\n  no\n{% endif %}\n", "yes"),
        ("<b>One</b>\n{# why #}\n<b>Two</b>", "<b>One</b><b>Two</b>"),
    ],
)
def test_a_line_break_next_to_a_tag_is_dropped_and_between_words_a_space(sent, written, expected):
    assert sent(written, word="word") == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('<p>\n  One{{ " " }}\n  <b>two</b>\n</p>', "<p>One <b>two</b></p>"),
        ('{{ word }}\n{{ " " }}\n{{ word }}', "word word"),
        ('{% if word %}\n  {{ " " }}· {{ word }}\n{% endif %}', " · word"),
        ("{{ word }} <b>{{ word }}</b>", "word <b>word</b>"),
    ],
)
def test_a_space_that_is_meant_is_sent(sent, written, expected):
    assert sent(written, word="word") == expected


ROW = """
<a
  class="row
    {% if current %}
      current
    {% endif %}"
  href="
    {% if current %}
      {% firstof url %}
    {% endif %}
  "
  {% if current %}
    aria-current="page"
  {% endif %}
  {# why #}
  data-name="{{ name }}"
>
  <path
    d="M1 2
      L3 4"
  />
</a>
"""


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (True, '<a class="row current" href="/c/1/" aria-current="page" data-name="a > b">'),
        (False, '<a class="row" href="" data-name="a > b">'),
    ],
)
def test_attributes_may_stand_on_lines_of_their_own(sent, current, expected):
    page = sent(ROW, current=current, url="/c/1/", name="a > b").replace("&gt;", ">")
    assert page == expected + '<path d="M1 2 L3 4"/></a>'


def test_a_bracket_in_a_value_does_not_end_its_tag(sent):
    assert sent('<p title="a > b"\n  id="c">\n  One\n</p>') == '<p title="a > b" id="c">One</p>'


@pytest.mark.parametrize(
    "kept",
    [
        "<pre>\n  a\n    b\n</pre>",
        '<textarea name="text">\n\n  a\n</textarea>',
        "<script>\n  // first\n  second()\n</script>",
        "<PRE>\n  a\n</PRE>",
    ],
)
def test_what_keeps_its_white_space_in_a_browser_is_kept(sent, kept):
    assert sent(f"<div>\n  {kept}\n  <p>\n</p>\n</div>") == f"<div>{kept}<p></p></div>"


def test_a_text_for_translators_is_kept(sent):
    """Else it would not be found among the translations."""
    text = "\n  One {{ word }}\n  <b>two</b>\n"
    source = f"<p>\n{{% blocktranslate %}}{text}{{% endblocktranslate %}}\n</p>"
    assert sent(source, word="word") == "<p>\n  One word\n  <b>two</b>\n</p>"


def test_verbatim_text_and_comments_do_not_disturb_what_follows(sent):
    source = "{% verbatim a %}\n<p {% x %}{% endverbatim a %}\n{% comment %}\n<p {% endcomment %}\n"
    assert sent(source + "<b>\n</b>") == "\n<p {% x %}<b></b>"


def test_an_error_names_the_line_that_was_written(tmp_path):
    (tmp_path / "page.html").write_text("<ul>\n  <li>\n    {% for %}\n  </li>\n</ul>", "utf-8")
    with pytest.raises(TemplateSyntaxError) as caught:
        engine_of(tmp_path, debug=True).get_template("page.html")
    assert caught.value.template_debug["line"] == 3


def test_an_error_while_drawing_names_the_line_that_was_written(tmp_path):
    (tmp_path / "page.html").write_text("<ul>\n  <li>\n\n    {% include name %}\n</ul>", "utf-8")
    template = engine_of(tmp_path, debug=True).get_template("page.html")
    with pytest.raises(Exception, match="no-such") as caught:
        template.render(Context({"name": "no-such.html"}))
    assert caught.value.template_debug["line"] == 4


def test_a_template_is_compiled_once(tmp_path):
    (tmp_path / "page.html").write_text("<p>\n</p>", "utf-8")
    engine = engine_of(tmp_path)
    assert engine.get_template("page.html") is engine.get_template("page.html")


def test_our_pages_are_sent_without_line_breaks():
    assert "\n" not in render_to_string("404.html")


def test_templates_of_others_are_left_alone():
    """A page of Django's administration has the line breaks that its templates have."""
    name = "admin/404.html"
    django = Engine(app_dirs=True, libraries={"i18n": "django.templatetags.i18n"})
    ours, plain = get_template(name).template, django.get_template(name)
    assert [node.s for node in ours.nodelist.get_nodes_by_type(TextNode)] == [
        node.s for node in plain.nodelist.get_nodes_by_type(TextNode)
    ]
    assert "\n" in "".join(node.s for node in plain.nodelist.get_nodes_by_type(TextNode))
