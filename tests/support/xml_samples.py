"""Tools and calls of every type, for tests of the XML style."""

from hypothesis import strategies as st

from chat.protocol.interfaces import ToolSpec

_KINDS = {
    "word": {"type": "string"},
    "content": {"type": "string"},
    "count": {"type": "integer"},
    "ratio": {"type": "number"},
    "sure": {"type": "boolean"},
    "items": {"type": "array", "items": {}},
    "shape": {"type": "object"},
    "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
}
TOOLS = (
    ToolSpec("calculator", "Counts.", {"type": "object", "properties": _KINDS}),
    ToolSpec("write_file", "Writes.", {"type": "object", "properties": _KINDS}),
)

# Texts that look like what stands around them.
pieces = st.one_of(
    st.sampled_from(
        [
            "<calculator>", "</calculator>", "<word>", "</word>", "<content>", "</content>",
            "<write_file>", "</write_file>", "<![CDATA[", "]]>", "]]", "<", ">", "\n", " ", "`",
            "```", "\n```\n", "5", "null", "true", '"', "<thinking>", "</thinking>", "é", "字",
        ]
    ),
    st.text("aZ0-_.\t\r\\&;=/\u3000é字😀\x85", max_size=5),
)  # fmt: skip
texts = st.lists(pieces, max_size=8).map("".join)
_scalars = st.one_of(st.none(), st.booleans(), st.integers(), texts)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
_VALUES = {
    "word": texts,
    "content": texts,
    "count": st.integers(),
    "ratio": st.floats(allow_nan=False, allow_infinity=False),
    "sure": st.booleans(),
    "items": st.lists(_json, max_size=3),
    "shape": st.dictionaries(texts, _json, max_size=3),
    "either": st.one_of(texts, st.integers(), st.none()),
}
arguments = st.fixed_dictionaries({}, optional=_VALUES)
calls = st.tuples(st.sampled_from([tool.name for tool in TOOLS]), arguments)
