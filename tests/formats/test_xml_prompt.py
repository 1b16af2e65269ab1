"""The tools as a small model reads of them: always the same bytes (C1)."""

from chat.formats.xml_prompt import tools_prompt, with_tools
from chat.protocol.interfaces import ToolSpec

SEARCH = ToolSpec(
    "search",
    "Search the web.\n",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to search for"},
            "limit": {"type": "integer", "default": 5},
            "kind": {"type": "string", "enum": ["web", "news"]},
            "sites": {"type": "array", "items": {"type": "string"}},
            "when": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["query", "sites"],
    },
)
DESCRIBED = """\
## search
Search the web.

Parameters:
- query (string, required): Words to search for
- limit (integer, optional, default 5)
- kind (string, optional, one of "web", "news")
- sites (array, required)
  JSON, by this schema: {"type": "array", "items": {"type": "string"}}
- when (string or integer, optional)

To use it:
<search>
<query>
query here
</query>
<sites>
[...]
</sites>
</search>"""


def test_a_tool_is_told_with_its_parameters_and_its_form():
    prompt = tools_prompt([SEARCH])
    assert prompt.startswith("# Tools\n")
    assert prompt.endswith(DESCRIBED)


def test_a_tool_without_parameters_is_told_too():
    prompt = tools_prompt([ToolSpec("now", "The time.", {"type": "object"})])
    assert prompt.endswith("## now\nThe time.\n\nTo use it:\n<now>\n</now>")


def test_the_prompt_follows_the_instructions_and_without_tools_there_is_none():
    assert with_tools("Be kind.", [SEARCH]) == "Be kind.\n\n" + tools_prompt([SEARCH])
    assert with_tools("", [SEARCH]) == tools_prompt([SEARCH])
    assert with_tools("Be kind.", []) == "Be kind."
