"""The details of an answer, read when somebody asks for them."""

from collections.abc import Iterable
from decimal import Decimal
from uuid import UUID

from chat.models import BackgroundCall, Conversation, Message, Part
from chat.protocol.details import AnswerDetails, Spent
from chat.protocol.errors import ChatError
from chat.protocol.messages import AnswerInfo
from chat.protocol.parts import CacheTokens, StepFinishPart, Tokens
from chat.services.access import get_conversation
from chat.services.caller import Caller
from chat.services.conversations.history import as_value


def answer_details(
    caller: Caller, conversation_id: str | UUID, answer_id: str | UUID
) -> AnswerDetails:
    """Of an answer in a conversation of one's own."""
    conversation = get_conversation(caller, conversation_id)
    rows = Message.objects.filter(conversation=conversation, role=Message.Role.ASSISTANT)
    message = rows.filter(pk=answer_id).first()
    if message is None:
        raise ChatError("error.chat_message_not_found")
    return details_of(message)


def details_of(message: Message) -> AnswerDetails:
    """The same for whoever may read the row, such as an administrator."""
    answer = as_value(message)
    assert isinstance(answer.info, AnswerInfo), "only answers have details"
    conversation = message.conversation
    steps = _spent(part for part in answer.parts if isinstance(part, StepFinishPart))
    if not steps.calls:
        # An answer that was imported may say what it took without saying in which steps.
        steps = Spent(0, answer.info.tokens, message.cost)
    return AnswerDetails(
        answer=answer,
        effort=message.variant,
        steps=steps,
        answers=_spent(_all_steps(conversation)),
        titles=_background(conversation, BackgroundCall.Purpose.TITLE),
        summaries=_background(conversation, BackgroundCall.Purpose.SUMMARY),
    )


def _spent(steps: Iterable[StepFinishPart]) -> Spent:
    spent = Spent()
    for step in steps:
        spent = spent.plus(step.tokens, Decimal(str(step.cost)))
    return spent


def _all_steps(conversation: Conversation) -> Iterable[StepFinishPart]:
    rows = Part.objects.filter(conversation=conversation, type=Part.Type.STEP_FINISH)
    values = (row.value() for row in rows.iterator())
    return (value for value in values if isinstance(value, StepFinishPart))


def _background(conversation: Conversation, purpose: str) -> Spent:
    spent = Spent()
    for row in BackgroundCall.objects.filter(conversation=conversation, purpose=purpose):
        tokens = Tokens(
            input=row.input_tokens,
            output=row.output_tokens,
            reasoning=row.reasoning_tokens,
            cache=CacheTokens(read=row.cache_read_tokens, write=row.cache_write_tokens),
        )
        spent = spent.plus(tokens, row.cost)
    return spent
