"""A12: every way an answer can fail, made for real and read on the page in both languages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import translation

from chat.models import Agent, Conversation, LanguageModel, Message
from chat.rendering.errors import MESSAGES, error_text
from chat.services.runs import generate
from tests.support import factories as make
from tests.support.model_server import Call, Received, Reply, Wait, reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread
from tests.turns.test_refusals import REFUSALS

LANGUAGES = ("en", "zh-hans")
# Not by a provider: by how it is set up, before it is asked.
REFUSED = {"error.chat_provider_not_enabled", "error.chat_provider_not_supported"}
BY_PROVIDERS = sorted(key for key in MESSAGES if "_provider_" in key and key not in REFUSED)
# A new page shows so many turns and no more.
IN_A_TALK = 10


@in_thread
def last_answer(talk: Conversation) -> Message:
    return Message.objects.filter(conversation=talk).latest("position")


async def ends_in_words(tabs: Sequence[Tab], talk: Conversation, question: str, key: str) -> None:
    """Readers watch the answer fail; each is told why in their own language."""
    await tabs[0].send(question)
    for tab in tabs:
        # Until then the last one on its page may be the answer before.
        await tab.sees(question)
        await tab.sees_the_end()
    answer = await last_answer(talk)
    assert (answer.status, answer.error_key) == ("error", key)
    for tab, language in zip(tabs, LANGUAGES, strict=True):
        with translation.override(language):
            words = error_text(key, answer.error_data)
        assert words in "".join(list(tab.page.messages())[-1].itertext()), (key, language)


async def two_readers(site: Site, talk: Conversation) -> list[Tab]:
    return [await site.tab(site.alice.speaking(language), talk) for language in LANGUAGES]


async def test_whatever_a_provider_does_is_told_in_words(site: Site) -> None:
    demo = await in_thread(LanguageModel.objects.get)(provider__kind="demo")
    await in_thread(Agent.objects.update)(model=demo)
    for number, key in enumerate(BY_PROVIDERS):
        if number % IN_A_TALK == 0:
            talk = await in_thread(make.a_conversation)(site.alice.user, title=key)
            tabs = await two_readers(site, talk)
        await ends_in_words(tabs, talk, f"/slow 0 /fail {key}", key)
        await tabs[number % len(tabs)].equals_a_fresh_page()


def again(_request: Received) -> Reply:
    return reply(Call("calculator", {"expression": "1+1"}))


def filtered() -> Reply:
    return reply("Half", finish="content_filter")


def breaks(*_: Any) -> None:
    raise RuntimeError("a fault of ours")


def fewer_steps(_patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    return lambda: Agent.objects.update(max_steps=2)


def less_output(patch: pytest.MonkeyPatch) -> None:
    few = {**django_settings.PARLEY_LIMITS, "output_chars": 20}
    patch.setattr(django_settings, "PARLEY_LIMITS", few)


def less_time(patch: pytest.MonkeyPatch) -> None:
    little = {**django_settings.PARLEY_LIMITS, "run_seconds": 2}
    patch.setattr(django_settings, "PARLEY_LIMITS", little)


def a_fault(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(generate.RequestBuilder, "request", breaks)


# The answers, and what has to be otherwise for the failure to happen.
ENDINGS: dict[str, tuple[Any, Callable[[pytest.MonkeyPatch], Any] | None]] = {
    "error.chat_content_filter": (filtered(), None),
    "error.chat_empty_answer": (reply(), None),
    "error.chat_repeated_calls": (again, None),
    "error.chat_max_steps": (again, fewer_steps),
    "error.chat_output_limit": (reply("a word " * 20), less_output),
    "error.chat_time_limit": (reply("Half", Wait(ping=b":\n\n")), less_time),
    "error.chat_generation_failed": (reply("never asked"), a_fault),
}
# Made by processes that are killed or told to end, by files, and by a row no database takes.
ELSEWHERE = {
    "error.chat_provider_not_supported": "connecting/test_registry.py",
    "error.chat_nothing_waits": "connecting/test_failing_turns.py",
    "error.chat_import_running": "security/test_shares.py",
    "error.chat_queue_full": "turns/test_queue.py",
    "error.chat_not_queued": "turns/test_queue.py",
    "error.chat_temporary": "turns/test_temporary.py",
    "error.chat_folder_exists": "live/test_folders.py",
    "error.chat_folder_name_required": "live/test_folders.py",
    "error.chat_folder_not_found": "live/test_folders.py",
    "error.chat_too_many_folders": "live/test_folders.py",
    "error.chat_prompt_name_invalid": "turns/test_prompts.py",
    "error.chat_prompt_name_taken": "turns/test_prompts.py",
    "error.chat_prompt_not_found": "turns/test_prompts.py",
    "error.chat_prompt_text_required": "turns/test_prompts.py",
    "error.chat_prompt_text_too_long": "turns/test_prompts.py",
    "error.chat_prompt_too_many": "turns/test_prompts.py",
    "error.chat_prompt_too_many_variables": "turns/test_prompts.py",
    "error.chat_model_refused": "engine/test_loop.py",
    "error.chat_model_refused_because": "engine/test_loop.py",
    "error.chat_model_refused_bio": "engine/test_loop.py",
    "error.chat_model_refused_cyber": "engine/test_loop.py",
    "error.chat_model_refused_frontier_llm": "engine/test_loop.py",
    "error.chat_model_refused_general_harms": "engine/test_loop.py",
    "error.chat_model_refused_reasoning_extraction": "engine/test_loop.py",
    "error.chat_interrupted": "crash/test_crashes.py",
    "error.chat_shutdown": "crash/test_crashes.py",
    "error.chat_attachment_empty": "attachments/test_upload.py",
    "error.chat_attachment_missing": "attachments/test_upload.py",
    "error.chat_attachment_not_found": "attachments/test_sending.py",
    "error.chat_attachment_text_too_large": "attachments/test_upload.py",
    "error.chat_attachment_too_large": "attachments/test_upload.py",
    "error.chat_attachment_too_many": "attachments/test_upload.py",
    "error.chat_attachment_type_refused": "attachments/test_upload.py",
    "error.chat_budget_cost_day": "usage/test_budgets.py",
    "error.chat_budget_cost_month": "usage/test_budgets.py",
    "error.chat_budget_tokens_day": "usage/test_budgets.py",
    "error.chat_budget_tokens_month": "usage/test_budgets.py",
    "error.chat_too_many_messages": "usage/test_budgets.py",
    "error.chat_format_too_new": "upkeep/test_format_version.py",
    "error.chat_imported_failure": "imports/test_failures.py",
    "error.chat_model_not_permitted": "live/test_claude_code.py",
    "error.chat_redaction_too_short": "upkeep/test_refused.py",
    "error.chat_share_not_found": "upkeep/test_refused.py",
    "error.chat_share_too_many": "upkeep/test_refused.py",
    "error.chat_invitation_over": "people/test_joining.py",
    "error.chat_name_taken": "people/test_joining.py",
    "error.chat_identity_unknown": "people/test_single_sign_on.py",
    "error.chat_identity_email": "people/test_single_sign_on.py",
    "error.chat_identity_other": "people/test_single_sign_on.py",
    "error.chat_identity_taken": "people/test_single_sign_on.py",
    "error.chat_last_administrator": "people/test_leaving.py",
    "error.chat_share_too_large": "upkeep/test_refused.py",
    "error.chat_share_copy_too_large": "upkeep/test_refused.py",
}
# In no sentence: it is a status alone, or the words of the tool itself.
WORDLESS = {"error.chat_attachment_in_use", "error.chat_tool_execution_failed"}


def test_every_key_is_made_somewhere() -> None:
    made = {*REFUSALS, *ENDINGS, *BY_PROVIDERS, *ELSEWHERE, *WORDLESS}
    assert made == set(MESSAGES)
    for key, module in ELSEWHERE.items():
        assert key in (Path(__file__).parent.parent / module).read_text()


@pytest.mark.parametrize("key", ENDINGS)
async def test_a_failure_in_words(key: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.provider.answer, change = ENDINGS[key]
    if change and (in_rows := change(monkeypatch)):
        await in_thread(in_rows)()
    tabs = await two_readers(site, site.talk)
    await ends_in_words(tabs, site.talk, "Go", key)
    for tab in tabs:
        await tab.equals_a_fresh_page()


@pytest.mark.parametrize("key", ["error.chat_interrupted", "error.chat_shutdown"])
async def test_what_a_process_left_behind_is_told_in_words(key: str, site: Site) -> None:
    """As `tests/crash` finds it in the rows after a kill and after a restart."""

    def left_behind() -> None:
        said = make.a_message_with_parts(site.talk)
        make.a_message(site.talk, "assistant", status="error", parent=said, error_key=key)

    await in_thread(left_behind)()
    for language in LANGUAGES:
        tab = await site.tab(site.alice.speaking(language))
        with translation.override(language):
            assert error_text(key) in tab.page.text_of("t")
        await tab.equals_a_fresh_page()
