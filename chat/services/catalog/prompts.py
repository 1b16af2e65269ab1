"""Saved prompts: a person's own, and those that administrators have given to everybody."""

from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone

from chat.models import Profile, Prompt
from chat.protocol.errors import ChatError
from chat.protocol.prompts import (
    LONGEST_TEXT,
    MOST_PROMPTS,
    MOST_VARIABLES,
    NAME,
    SavedPrompt,
    asked_variables,
    parse_prompt,
)
from chat.protocol.text import clean_text
from chat.services.caller import Caller


def list_prompts(caller: Caller) -> tuple[SavedPrompt, ...]:
    """All that a person can use, their own first."""
    rows = Prompt.objects.filter(_usable(caller))
    ordered = rows.order_by(F("owner").asc(nulls_last=True), Lower("name"))
    return tuple(row.value() for row in ordered)


def find_prompt(caller: Caller, prompt_id: UUID) -> SavedPrompt:
    """One of those."""
    row = Prompt.objects.filter(_usable(caller), pk=prompt_id).first()
    if row is None:
        raise ChatError("error.chat_prompt_not_found")
    return row.value()


def _usable(caller: Caller) -> Q:
    return Q(owner_id=caller.user_id) | Q(owner=None)


def save_prompt(caller: Caller, name: str, text: str, prompt_id: UUID | None = None) -> None:
    """Keep a new prompt, or change one of one's own."""
    name = clean_text(name).strip().removeprefix("/")
    text = clean_text(text).replace("\r\n", "\n").strip()
    _check(name, text)
    _write(caller, name, text, prompt_id)


def _check(name: str, text: str) -> None:
    if not NAME.fullmatch(name):
        raise ChatError("error.chat_prompt_name_invalid")
    if not text:
        raise ChatError("error.chat_prompt_text_required")
    if len(text) > LONGEST_TEXT:
        raise ChatError("error.chat_prompt_text_too_long", limit=LONGEST_TEXT)
    if len(asked_variables(parse_prompt(text))) > MOST_VARIABLES:
        raise ChatError("error.chat_prompt_too_many_variables", limit=MOST_VARIABLES)


@transaction.atomic
def _write(caller: Caller, name: str, text: str, prompt_id: UUID | None) -> None:
    # One after another: two at one moment must not be one too many, nor have one name.
    Profile.objects.select_for_update().get_or_create(user_id=caller.user_id)
    own = Prompt.objects.filter(owner_id=caller.user_id)
    others = own if prompt_id is None else own.exclude(pk=prompt_id)
    if others.filter(name__iexact=name).exists():
        raise ChatError("error.chat_prompt_name_taken", name=name)
    if prompt_id is not None:
        if not own.filter(pk=prompt_id).update(name=name, text=text, updated=timezone.now()):
            raise ChatError("error.chat_prompt_not_found")
        return
    if own.count() >= MOST_PROMPTS:
        raise ChatError("error.chat_prompt_too_many", limit=MOST_PROMPTS)
    Prompt.objects.create(owner_id=caller.user_id, name=name, text=text)


def delete_prompt(caller: Caller, prompt_id: UUID) -> None:
    """One of one's own; what is gone already is gone."""
    Prompt.objects.filter(owner_id=caller.user_id, pk=prompt_id).delete()
