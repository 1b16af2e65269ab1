"""Why a tool call failed, in words: a sentence for every key of `chat/protocol/reasons.py`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.protocol.reasons import Reason, ReasonKey

_ANY_TOOL: dict[ReasonKey, Promise | str] = {
    "aborted": _("The call was stopped."),
    "timed_out": _("It took longer than %(seconds)s s."),
    "not_available": _("The tool %(tool)s is not available."),
    "broke": _("The tool broke down (%(error)s)."),
    "silent": _("The tool failed without saying why."),
    "threads_stuck": _("Earlier calls are still running. Try again later."),
    "too_many_calls": _(
        "Not run: more than %(limit)s calls in one step. Any further ones were dropped."
    ),
    "repeated_call": _("Not run: the same call was made three times in a row."),
    "one_at_a_time": _("Not run: another call of the same message came first."),
    "cut_off": _("The call was cut off before its arguments were complete."),
    "no_result": _("The provider gave no result for this call."),
    "not_stored": _("Not run: the call could not be stored first. Nothing was changed."),
}

_ARGUMENTS: dict[ReasonKey, Promise | str] = {
    "unusable_arguments": _("The arguments of the call cannot be used."),
    "argument_missing": _("The argument %(field)s is missing."),
    "argument_unknown": _("The tool has no argument %(field)s."),
    "argument_wrong": _("The argument %(field)s does not fit."),
    "argument_not_text": _("The argument %(field)s is not a text."),
    "argument_not_number": _("The argument %(field)s is not a number."),
    "argument_not_whole": _("The argument %(field)s is not a whole number."),
    "argument_not_list": _("The argument %(field)s is not a list."),
    "argument_too_small": _("The argument %(field)s is less than %(limit)s."),
    "argument_too_large": _("The argument %(field)s is more than %(limit)s."),
    "argument_too_long": _("The argument %(field)s is longer than %(limit)s characters."),
    "argument_not_one_of": _("The argument %(field)s is none of %(limit)s."),
    "more_arguments": _("More arguments do not fit: %(count)s."),
}

_SEARCHING: dict[ReasonKey, Promise | str] = {
    "search_nothing": _("Nothing was found."),
    "search_unreachable": _("The search engine could not be reached."),
    "search_refused": _("The search engine refuses for now: too many searches, or a captcha."),
    "search_key": _("The search engine does not accept the key that an administrator has set."),
    "search_unreadable": _("The search engine answered in a form that cannot be read."),
    "search_busy": _("There are too many searches at once."),
    "search_no_words": _("There was nothing to search for."),
}

_READING: dict[ReasonKey, Promise | str] = {
    "page_address": _("This is not the address of a web page that can be opened."),
    "page_not_named": _("Nobody has named this address in the conversation, so it was not opened."),
    "page_not_public": _("%(host)s is not on the public internet, so it was not opened."),
    "page_unreachable": _("%(host)s could not be reached."),
    "page_certificate": _("%(host)s has no valid certificate."),
    "page_refused": _("The server refused the page (%(status)s)."),
    "page_redirects": _("The page leads on to other addresses without end."),
    "page_slow": _("The page took longer than %(seconds)s seconds."),
    "page_too_large": _("The file is larger than %(limit)s MB."),
    "page_type": _("The address leads to a file that is no page, PDF or text (%(type)s)."),
    "page_empty": _("There is no text on the page; perhaps it needs scripts, which are not run."),
    "page_pdf": _("The PDF file is broken or locked with a password."),
    "page_offset": _("The text ends before that: it has %(length)s characters."),
}

_CALCULATING: dict[ReasonKey, Promise | str] = {
    "division_by_zero": _("Division by zero."),
    "number_too_large": _("The result is too large."),
    "number_not_real": _("The result is not a real number."),
    "number_not_whole": _("%(number)s is not a whole number."),
    "function_limit": _("%(function)s takes numbers up to %(limit)s."),
    "function_undefined": _("A function is not defined for this number."),
    "function_arguments": _("A function has the wrong number or kind of arguments."),
    "round_digits": _("round takes at most %(limit)s digits."),
    "unknown_function": _("There is no function %(name)s."),
    "unknown_name": _("There is no name %(name)s."),
    "expression_empty": _("The expression is empty."),
    "expression_too_long": _("The expression is longer than %(limit)s characters."),
    "expression_too_complicated": _("The expression is too complicated."),
    "expression_unreadable": _("The expression cannot be read."),
    "expression_not_arithmetic": _("The expression is not arithmetic; every * must be written."),
    "unexpected_character": _("The character %(character)s has no place here."),
    "thousands_in_function": _("Inside a function it is 1000, not 1,000."),
    "misplaced_comma": _(
        "A comma stands between groups of three digits or between arguments of a function."
    ),
    "of_without_percentage": _("“of” follows a percentage, as in 17.5%% of 2340."),
    "unclear_percentage": _("The percentage after %(sign)s needs brackets."),
    "percentage_without_number": _("A percentage needs a number before the %%."),
    "bracket_not_opened": _("A bracket is closed that was not opened."),
}

SENTENCES: Mapping[ReasonKey, Promise | str] = (
    _ANY_TOOL | _ARGUMENTS | _SEARCHING | _READING | _CALCULATING
)


def reason_text(key: ReasonKey, values: Mapping[str, Any] | None = None) -> str:
    """The sentence in the active language; a value that is not known is left open."""
    known = {name: _written(value) for name, value in (values or {}).items()}
    return str(SENTENCES[key]) % defaultdict(lambda: "…", known)


def reasons_text(reasons: Iterable[Reason]) -> str:
    return "\n".join(reason_text(reason.key, reason.values) for reason in reasons)


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
