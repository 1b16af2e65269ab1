"""Why a tool call failed, as a person is told: a key and its values, translated where it is drawn.

The model reads another text, in English and always the same; that one is the state's `error`.
"""

from typing import Literal, get_args

from chat.protocol.frozen import Frozen, FrozenObject

ReasonKey = Literal[
    # whatever the tool
    "aborted",
    "timed_out",
    "not_available",
    "broke",
    "silent",
    "threads_stuck",
    "too_many_calls",
    "repeated_call",
    "one_at_a_time",
    "cut_off",
    "no_result",
    "not_stored",
    # what the model gave it
    "unusable_arguments",
    "argument_missing",
    "argument_unknown",
    "argument_wrong",
    "argument_not_text",
    "argument_not_number",
    "argument_not_whole",
    "argument_not_list",
    "argument_too_small",
    "argument_too_large",
    "argument_too_long",
    "argument_not_one_of",
    "more_arguments",
    # searching
    "search_nothing",
    "search_unreachable",
    "search_refused",
    "search_key",
    "search_unreadable",
    "search_busy",
    "search_no_words",
    # reading pages
    "page_address",
    "page_not_named",
    "page_not_public",
    "page_unreachable",
    "page_certificate",
    "page_refused",
    "page_redirects",
    "page_slow",
    "page_too_large",
    "page_type",
    "page_empty",
    "page_pdf",
    "page_offset",
    # calculating
    "division_by_zero",
    "number_too_large",
    "number_not_real",
    "number_not_whole",
    "function_limit",
    "function_undefined",
    "function_arguments",
    "round_digits",
    "unknown_function",
    "unknown_name",
    "expression_empty",
    "expression_too_long",
    "expression_too_complicated",
    "expression_unreadable",
    "expression_not_arithmetic",
    "unexpected_character",
    "thousands_in_function",
    "misplaced_comma",
    "of_without_percentage",
    "unclear_percentage",
    "percentage_without_number",
    "bracket_not_opened",
]
KEYS: frozenset[str] = frozenset(get_args(ReasonKey))


class Reason(Frozen):
    key: ReasonKey
    values: FrozenObject = {}


def reason(key: ReasonKey, **values: str | int | float) -> Reason:
    return Reason(key=key, values=values)
