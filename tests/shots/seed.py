"""People with conversations in every state, in the language they speak; prints how to be them.

Run with the settings of the server that will show them: `python -m tests.shots.seed`.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")

import django

django.setup()

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from chat.models import Agent, Conversation, LanguageModel, Part, Profile, Provider  # noqa: E402
from chat.protocol.ids import new_id  # noqa: E402
from chat.protocol.messages import AnswerInfo, WithParts  # noqa: E402
from chat.services.catalog.defaults import ensure_defaults, give_examples  # noqa: E402
from chat.services.conversations.search_index import reindex  # noqa: E402
from tests.shots.chinese import chinese_answer, chinese_question  # noqa: E402
from tests.support import factories as make  # noqa: E402
from tests.support import samples  # noqa: E402

ENGLISH_TITLES = (
    ("House rules for the API", 9, True),
    ("Why does the nightly backup stall at 92%?", 0, False),
    ("Rewrite the onboarding mail", 0, False),
    ("Regex for ISO week dates", 1, False),
    ("Compare three small espresso machines", 1, False),
    ("Notes on Simpson’s paradox", 3, False),
    ("SQL: last order per customer", 4, False),
    ("A gentle plan for learning Rust", 20, False),
    ("Bread at 78% hydration", 30, False),
)
CHINESE_TITLES = (
    ("接口的约定", 9, True),
    ("夜间备份为什么停在 92%？", 0, False),
    ("重写入职邮件", 0, False),
    ("匹配 ISO 周的正则表达式", 1, False),
    ("比较三台小型咖啡机", 1, False),
    ("辛普森悖论笔记", 3, False),
    ("每位客户的最近订单", 4, False),
    ("循序渐进学 Rust", 20, False),
)

LOOKED_UP = {
    "icon": "globe",
    "title_en": "Look it up",
    "title_zh_hans": "查一查",
    "text_en": "What is new in SQLite?",
    "text_zh_hans": "SQLite 有什么新内容？",
}


# As many as there are tests that need one.
KEEPERS = 16
# A test that is tried again finds everything as it was.
ATTEMPTS = ("", "-2", "-3")


def seed() -> dict[str, dict[str, str]]:
    """For each person: their session, and the addresses of what they can look at."""
    ensure_defaults()
    provider, _ = Provider.objects.get_or_create(
        name="Main", kind="openai", defaults={"base_url": "http://127.0.0.1:9/v1"}
    )
    LanguageModel.objects.get_or_create(provider=provider, model_id="glm-4.6")
    researcher, made = Agent.objects.get_or_create(
        name_en="Researcher",
        defaults={
            "name_zh_hans": "研究员",
            "description_en": "Researcher looks things up and names its sources.",
            "description_zh_hans": "研究员查找资料并注明出处。",
            "tools": ["duckduckgo_search"],
        },
    )
    if made:
        give_examples(researcher, (LOOKED_UP,))
    people = {
        f"{language}-{theme}": _person(language, theme)
        for language in ("en", "zh-hans")
        for theme in ("light", "dark")
    }
    people["collector"] = _collector()
    people["newcomer"] = {"session": session_of(make.a_user("newcomer"))}
    people |= {
        f"keeper{number}{attempt}": _keeper(f"{number}{attempt}")
        for number in range(KEEPERS)
        for attempt in ATTEMPTS
    }
    reindex()
    return people


@transaction.atomic
def _person(language: str, theme: str) -> dict[str, str]:
    english = language == "en"
    name = "Ada" if english else "小林"
    user = make.a_superuser(f"{language}-{theme}", first_name=name)
    Profile.objects.create(user=user, language=language, theme=theme)
    titles = ENGLISH_TITLES if english else CHINESE_TITLES
    for title, days, pinned in titles:
        make.a_conversation(user, title=title, pinned=pinned, updated=_ago(days))
    return {
        "session": session_of(user),
        "chat": _talk(user, english),
        "states": _states(user, english),
        "long": _long(user),
        **_put_away(user, english),
    }


@transaction.atomic
def _collector() -> dict[str, str]:
    """Somebody with more conversations than a column lists at once; `last` is the oldest."""
    user = make.a_user("collector", first_name="Cem")
    talks = [make.a_conversation(user, title=f"Talk {n:03}", updated=_ago(n)) for n in range(150)]
    return {"session": session_of(user), "last": f"/c/{talks[-1].pk}/"}


@transaction.atomic
def _keeper(number: str) -> dict[str, str]:
    """Somebody who puts things in order, in a test of their own; `first` is the latest talk."""
    user = make.a_user(f"keeper{number}", first_name="Kim")
    names = ("Apples", "Berries", "Cherries", "Dates", "Elder", "Figs")
    talks = [make.a_conversation(user, title=name, updated=_ago(n)) for n, name in enumerate(names)]
    for talk in talks:
        make.a_message_with_parts(talk, "user", f"About {talk.title}: which are ripe?")
    return {"session": session_of(user), "first": f"/c/{talks[0].pk}/"}


def _talk(user: User, english: bool) -> str:
    title = "Deposit on the Lisbon flat" if english else "里斯本公寓的定金"
    talk = make.a_conversation(user, title=title)
    if english:
        _store(talk, samples.said(1, samples.QUESTION), _answer())
    else:
        _store(talk, samples.said(1, chinese_question()), chinese_answer(2))
    return f"/c/{talk.pk}/"


def _answer() -> WithParts:
    """The sample answer, without the search result that only tests need."""
    found = {**samples.SEARCH, "hits": samples.SEARCH["hits"][:2]}
    return samples.answer(
        2,
        samples.step(),
        samples.thinking("A percentage, a legal custom and a function. Calculate first."),
        samples.tool(
            "calculator",
            samples.done({"expression": "17.5 / 100 * 2340"}, "409.5", samples.SUM, ms=100),
        ),
        samples.tool("duckduckgo_search", samples.done({"query": "x"}, "…", found), "call-2"),
        samples.text(samples.PROSE),
    )


def _states(user: User, english: bool) -> str:
    title = "Totals without void rows" if english else "不含作废行的合计"
    talk = make.a_conversation(user, title=title, updated=_ago(0, minutes=5))
    question = "Why are the totals wrong?" if english else "合计为什么不对？"
    _store(talk, samples.said(5, question), samples.every_card(6), samples.said(7, question),
           samples.failed_answer(8))  # fmt: skip
    return f"/c/{talk.pk}/"


def _put_away(user: User, english: bool) -> dict[str, str]:
    """What the column does not list: some that were deleted, and one that was archived, in which
    messages wait for a person and an answer was judged."""
    for title, days in (
        (("A draft", 1), ("Old notes", 12)) if english else (("草稿", 1), ("旧笔记", 12))
    ):
        make.a_conversation(user, title=title, deleted_at=_ago(days))
    title = "Plans for the garden" if english else "花园计划"
    talk = make.a_conversation(user, title=title, archived_at=_ago(3), queue_held=True)
    make.a_message_with_parts(talk, text="What grows in the shade?" if english else "阴处种什么？")
    answer = make.a_message_with_parts(
        talk, "assistant", "Ferns and hostas." if english else "蕨类和玉簪。"
    )
    make.a_feedback(answer, comment="")
    for text in ("And in the sun?", "Make a list.") if english else ("向阳处呢？", "列个清单。"):
        make.a_queued_message(talk, text)
    place = f"/c/{talk.pk}/"
    return {"queue": place, "window": f"{place}?window=1"}


def _long(user: User) -> str:
    talk = make.a_conversation(user, title="A long talk", updated=_ago(2))
    make.a_talk(talk, 420)
    return f"/c/{talk.pk}/"


def _store(talk: Conversation, *messages: WithParts) -> None:
    """Sample values as rows, as if they had been said a moment ago."""
    for value in messages:
        role = "assistant" if isinstance(value.info, AnswerInfo) else "user"
        row = make.a_message(talk, role, **_fields(value))
        for position, part in enumerate(value.parts):
            ids = {"id": new_id(), "session_id": str(talk.pk), "message_id": str(row.pk)}
            Part.of(part.model_copy(update=ids), position).save(force_insert=True)


def _fields(value: WithParts) -> dict[str, Any]:
    info = value.info
    if not isinstance(info, AnswerInfo):
        return {}
    return {
        "status": info.status,
        "agent": "Assistant",
        "model_id": info.model_id,
        "input_tokens": info.tokens.input,
        "output_tokens": info.tokens.output,
        "cost": info.cost,
        "error_key": info.error.key if info.error else "",
        "error_data": dict(info.error.data) if info.error else {},
        "created": _moment(info.time.created),
        "completed_at": _moment(info.time.completed or info.time.created),
    }


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _ago(days: int, minutes: int = 1) -> Any:
    return timezone.now() - timedelta(days=days, minutes=minutes)


def session_of(user: User) -> str:
    """A session in which this person is logged in."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


if __name__ == "__main__":
    print(json.dumps(seed()))
