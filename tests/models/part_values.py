"""Every part that the rules allow, for property tests."""

from hypothesis import strategies as st

from chat.protocol import parts, tool_state
from chat.protocol.ids import new_id

# What `clean_text` lets through: no NUL, no surrogates.
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30)
words = texts.filter(str.strip)
moments = st.integers(0, 2**53)
numbers = st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-(2**53), 2**53)
jsons = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, jsons, max_size=3)
NOWHERE = "00000000-0000-0000-0000-000000000000"
counts = st.integers(0, 2**31)
costs = st.floats(0, 1e6, allow_nan=False)


def maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | values


excerpts = st.builds(parts.Excerpt, value=texts, start=counts, end=counts)
sources = (
    st.builds(parts.FileSource, path=texts, text=excerpts)
    | st.builds(
        parts.SymbolSource, path=texts, name=texts, kind=counts, range=objects, text=excerpts
    )
    | st.builds(parts.ResourceSource, uri=texts, clientName=texts, text=excerpts)
)
tokens = st.builds(
    parts.Tokens,
    input=counts,
    output=counts,
    reasoning=counts,
    cache=st.builds(parts.CacheTokens, read=counts, write=counts),
)


def file_parts(ids: dict[str, st.SearchStrategy]) -> st.SearchStrategy:
    return st.builds(
        parts.FilePart,
        **ids,
        mime=words,
        filename=maybe(texts),
        url=texts,
        source=maybe(sources),
    )


def tool_states(ids: dict[str, st.SearchStrategy]) -> dict[str, st.SearchStrategy]:
    spans = st.tuples(moments, moments).map(sorted)  # a call ends after its start
    span = spans.map(lambda times: tool_state.Ended(start=times[0], end=times[1]))
    output_span = st.builds(
        lambda times, compacted: tool_state.EndedOutput(
            start=times[0], end=times[1], compacted=compacted
        ),
        spans,
        maybe(moments),
    )
    return {
        "pending": st.builds(tool_state.ToolPending, input=objects, raw=texts),
        "running": st.builds(
            tool_state.ToolRunning,
            input=objects,
            title=maybe(texts),
            metadata=maybe(objects),
            time=st.builds(tool_state.Started, start=moments),
        ),
        "completed": st.builds(
            tool_state.ToolCompleted,
            input=objects,
            output=words,
            title=texts,
            metadata=objects,
            time=output_span,
            attachments=maybe(st.tuples(file_parts(ids))),
        ),
        "error": st.builds(
            tool_state.ToolError,
            input=objects,
            error=words,
            metadata=maybe(objects),
            time=span,
        ),
    }


def parts_by_kind() -> dict[str, st.SearchStrategy]:
    """Parts by type; tool parts by the state they are in. They belong to no message."""
    ids = {
        # A new id each time: an example that is tried again is still another row.
        "id": st.builds(new_id),
        "sessionID": st.just(NOWHERE),
        "messageID": st.just(NOWHERE),
    }
    metadata = maybe(objects)
    span = st.builds(parts.Span, start=moments, end=maybe(moments))
    open_span = st.builds(parts.OpenSpan, start=maybe(moments), end=maybe(moments))
    return {
        "text": st.builds(
            parts.TextPart,
            **ids,
            text=texts,
            synthetic=maybe(st.booleans()),
            ignored=maybe(st.booleans()),
            time=maybe(open_span),
            metadata=metadata,
        ),
        "reasoning": st.builds(
            parts.ReasoningPart, **ids, text=texts, metadata=metadata, time=span
        ),
        "step-start": st.builds(parts.StepStartPart, **ids, snapshot=maybe(texts)),
        "step-finish": st.builds(
            parts.StepFinishPart,
            **ids,
            reason=texts,
            snapshot=maybe(texts),
            cost=costs,
            tokens=tokens,
        ),
        "file": file_parts(ids),
        **{
            f"tool {status}": st.builds(
                parts.ToolPart,
                **ids,
                callID=words,
                tool=words,
                state=states,
                metadata=metadata,
            )
            for status, states in tool_states(ids).items()
        },
    }


PARTS = parts_by_kind()
