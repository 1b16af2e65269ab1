"""What can go wrong, as values that carry the decision with them."""

from collections.abc import Mapping
from typing import Any

from chat.protocol.adjustments import Adjustment
from chat.protocol.reasons import Reason


class PartError(Exception):
    """A part, or a change to one, breaks the rules of parts."""


class PartValidationError(PartError):
    """A value does not fit its field; `rule` is the BR number it breaks, if it has one."""

    def __init__(self, field: str, message: str, rule: str = "") -> None:
        super().__init__(f"{field}: {message}" + (f" ({rule})" if rule else ""))
        self.field = field
        self.message = message
        self.rule = rule


class MissingRequiredField(PartValidationError):
    """A required field is not there at all."""


class InvalidStateTransition(PartError):
    """A tool cannot go from the state it is in to the one asked for (BR-05)."""

    def __init__(self, current: str, attempted: str, valid: tuple[str, ...]) -> None:
        super().__init__(f"a {current} tool cannot become {attempted}")
        self.current = current
        self.attempted = attempted
        self.valid = valid

    @property
    def details(self) -> dict[str, Any]:
        return {
            "currentStatus": self.current,
            "attemptedStatus": self.attempted,
            "validTransitions": list(self.valid),
        }


class ChatError(Exception):
    """A refusal that the person is told about: a translated key and its values."""

    def __init__(self, key: str, **data: str | int | float) -> None:
        super().__init__(key)
        self.key = key
        self.data: Mapping[str, str | int | float] = data


class ProviderError(Exception):
    """A model provider failed; the error says whether to try again, when, and with what change."""

    def __init__(
        self,
        key: str,
        message: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        attempts: int | None = None,
        status: int | None = None,
        data: Mapping[str, str | int | float] | None = None,
        words: str = "",
        quotable: bool = False,
    ) -> None:
        super().__init__(message or key)
        self.key = key
        self.message = message
        # Whether whoever has set the address may read the message: a model provider's own error,
        # and not what some other server in our network has answered.
        self.quotable = quotable
        # All that the server said, in lower case: for finding out what it means, never shown.
        self.words = words
        self.retryable = retryable
        self.retry_after = retry_after
        # How often to ask in all, where that is less often than usual.
        self.attempts = attempts
        self.status = status
        # What the sentence of the key names.
        self.data: Mapping[str, str | int | float] = data or {}
        # Set where the refusal names what it does not like.
        self.adjustment: Adjustment | None = None


class ToolFailure(Exception):
    """A tool says why it could not do it.

    The text goes to the model. The card shows the reasons in the reader's language; where there
    are none, it shows the text as what the model was told.
    """

    def __init__(self, text: str = "", *reasons: Reason) -> None:
        super().__init__(text)
        self.reasons = reasons
