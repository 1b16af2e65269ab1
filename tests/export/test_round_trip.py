"""Importing an export equals the original: every version, file, verdict and waiting message."""

import io
import json
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import Attachment, Conversation, Message
from chat.protocol import parts as values
from chat.protocol.files import own_url
from chat.protocol.ids import new_id
from chat.services import (
    FORMATS,
    Caller,
    ImportReport,
    ImportSource,
    import_chats,
    open_export,
    own_chats,
    zip_chats,
)
from chat.services.conversations.queue import describe_file
from chat.services.turns.edit import _keep_version, _write_new_text, put_away
from chat.services.turns.versions import switch_version
from tests.models.part_values import PARTS, costs, texts, words
from tests.support import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(20)
# What nothing of an answer that has ended looks like.
OVER = [kind for kind in PARTS if kind not in ("tool pending", "tool running", "file")]
DEEDS = ("ask", "answer", "again", "edit", "switch", "feedback", "queue", "file", "picture")


class Talk:
    """A conversation that somebody has held, with all that can be done in one."""

    def __init__(self, owner: User, data: st.DataObject) -> None:
        self.owner = owner
        self.draw = data.draw
        self.row = make.a_conversation(
            owner,
            title=self.draw(texts),
            titled_by_hand=self.draw(st.booleans()),
            pinned=self.draw(st.booleans()),
            tools_off=self.draw(st.none() | st.just(["calculator"])),
            tool_style=self.draw(st.sampled_from(["", "json", "xml"])),
            archived_at=self.draw(st.none() | st.just(datetime(2026, 1, 2, 3, 4, 5, 6, UTC))),
        )
        # Not every position is taken: messages were deleted.
        self.row.last_position = self.draw(st.integers(0, 3))
        self.row.save()

    def shown(self, role: str) -> list[Message]:
        rows = Message.objects.shown().filter(conversation=self.row, role=role)
        return list(rows.order_by("position"))

    def ask(self) -> None:
        last = Message.objects.shown().filter(conversation=self.row).order_by("position").last()
        question = self._message("user", last, variant="json", tools={"calculator": True})
        make.a_text_part(question, self.draw(words))

    def answer(self) -> None:
        if questions := self.shown("user"):
            put_away(self.row, questions[-1].position + 1)
            self._answer(questions[-1])

    def again(self) -> None:
        if answers := self.shown("assistant"):
            asked = self.draw(st.sampled_from(answers))
            put_away(self.row, asked.position)
            self._answer(asked.parent)

    def edit(self) -> None:
        if questions := self.shown("user"):
            asked = self.draw(st.sampled_from(questions))
            put_away(self.row, asked.position + 1)
            _keep_version(self.row, asked)
            self.row.save()
            _write_new_text(asked, self.draw(words))
            self._answer(asked)

    def switch(self) -> None:
        if messages := [*self.shown("user"), *self.shown("assistant")]:
            message = self.draw(st.sampled_from(messages))
            siblings = Message.objects.filter(conversation=self.row)
            others = siblings.filter(copy_of=message) | siblings.filter(
                parent=message.parent, parent__isnull=False, role=message.role
            )
            if versions := sorted({each.version for each in others} - {message.version}):
                version = self.draw(st.sampled_from(versions))
                switch_version(Caller(self.owner.pk), self.row.pk, str(message.pk), version)
                self.row.refresh_from_db()

    def feedback(self) -> None:
        for answer in self.shown("assistant")[-1:]:
            if not answer.verdicts.exists():
                make.a_feedback(answer, verdict="up", comment=" ".join(self.draw(texts).split()))

    def queue(self) -> None:
        created = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
        place = self.row.queued.count()
        queued = make.a_queued_message(self.row, self.draw(words), place=place, created=created)
        if self.draw(st.booleans()):
            file = make.an_attachment(self.owner, content="备注".encode(), queued=queued)
            queued.files = [describe_file(file)]
            queued.save()
        self.row.queue_held = True
        self.row.save()

    def file(self) -> None:
        for question in self.shown("user")[-1:]:
            row = make.an_attachment(self.owner, question, content="注\n".encode())
            self._part(question, _file_part(row))

    def picture(self) -> None:
        """A tool has made one."""
        for answer in self.shown("assistant")[-1:]:
            row = make.an_attachment(
                self.owner, answer, content=PNG, mime="image/png", filename="图.png"
            )
            call = make.a_tool_part(answer)
            part = call.value()
            state = part.state.model_copy(update={"attachments": (_file_part(row),)})
            call.delete()
            self._part(answer, part.model_copy(update={"state": state}))

    def _answer(self, question: Message | None) -> None:
        if question is None:
            return
        versions = [each.version for each in question.answers.filter(role="assistant")]
        ended = self.draw(st.sampled_from(["success", "error", "cancelled"]))
        answer = self._message(
            "assistant",
            question,
            version=max(versions, default=0) + 1,
            status=ended,
            error_key="error.chat_provider_stalled" if ended == "error" else "",
            error_data={"seconds": 3} if ended == "error" else {},
            finish_reason="stop" if ended == "success" else ended,
            completed_at=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
            cost=f"{self.draw(costs):.8f}",
            path=self.draw(st.none() | st.just({"cwd": "/w"})),
            pauses=self.draw(st.none() | st.just([[1, 2]])),
        )
        calls: set[str] = set()
        for kind in self.draw(st.lists(st.sampled_from(OVER), max_size=3)):
            part = self.draw(PARTS[kind])
            if isinstance(part, values.ToolPart):
                if part.call_id in calls or len(part.call_id) > 200:
                    continue
                calls.add(part.call_id)
                if getattr(part.state, "attachments", None):
                    state = part.state.model_copy(update={"attachments": None})
                    part = part.model_copy(update={"state": state})
            self._part(answer, part)

    def _message(self, role: str, parent: Message | None, **fields: Any) -> Message:
        created = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(microseconds=self.row.last_position)
        fields = {
            "model_id": "m-1",
            "provider_id": "p",
            "agent": "文员",
            "created": created,
            **fields,
        }
        return make.a_message(self.row, role, parent=parent, updated=created, **fields)

    def _part(self, message: Message, part: values.Part) -> None:
        ids = {"id": new_id(), **make.of(message)}
        state = getattr(part, "state", None)
        if getattr(state, "attachments", None):
            files = tuple(each.model_copy(update=make.of(message)) for each in state.attachments)
            part = part.model_copy(
                update={"state": state.model_copy(update={"attachments": files})}
            )
        make.a_part(part.model_copy(update=ids), self._next(message))

    def _next(self, message: Message) -> int:
        last = message.parts.order_by("position").last()
        return last.position + 1 if last else 0


def _file_part(row: Attachment) -> values.FilePart:
    return values.FilePart(
        id=new_id(),
        sessionID=new_id(),
        messageID=new_id(),
        mime=row.mime,
        filename=row.filename,
        url=own_url(row.pk),
        size=row.size,
    )


# --- what is compared -------------------------------------------------------------

# Ids, which an import gives anew, and what only says how the row came to be here.
_NEW = {"id", "conversation", "parent", "copy_of", "client_id", "message", "folder", "rev"}
_NEW |= {"owner", "external_session_id", "last_position", "unread", "tab_id", "files", "file"}
_NEW |= {"queued", "person", "format_version"}
# When somebody gave a verdict or uploaded a file is not told.
_TIMES = {"created", "updated"}


def fields_of(row: Any, *without: str) -> dict[str, Any]:
    names = [field.name for field in row._meta.concrete_fields]
    kept = [name for name in names if name not in _NEW and name not in without]
    return {name: getattr(row, name) for name in kept}


def everything(talk: Conversation) -> dict[str, Any]:
    """All rows of a conversation, with places instead of ids."""
    messages = list(talk.messages.order_by("position"))
    place = {row.pk: row.position for row in messages}
    return {
        "talk": fields_of(talk),
        "messages": [
            fields_of(row)
            | {
                "parent": place.get(row.parent_id),
                "copy_of": place.get(row.copy_of_id),
                "parts": [
                    with_files(part.data) | {"": fields_of(part, "data")}
                    for part in row.parts.order_by("position")
                ],
                "verdicts": [fields_of(each, *_TIMES) for each in row.verdicts.all()],
                "attachments": files_of(row.attachments.order_by("created", "pk")),
            }
            for row in messages
        ],
        "queue": [
            fields_of(row) | {"attachments": files_of(row.attachments.all())}
            for row in talk.queued.order_by("place")
        ],
    }


def files_of(rows: Iterable[Attachment]) -> list[tuple[Any, ...]]:
    return [(row.mime, row.size, row.filename, row.file.read()) for row in rows]


def with_files(value: Any) -> Any:
    """What a part says, with the content of its files in place of their addresses."""
    if isinstance(value, dict):
        ids = ("id", "messageID", "sessionID")
        return {key: with_files(item) for key, item in value.items() if key not in ids}
    if isinstance(value, list):
        return [with_files(item) for item in value]
    if isinstance(value, str) and value.startswith("/attachments/"):
        return Attachment.objects.get(pk=value.split("/")[2]).file.read()
    return value


def imported(caller: Caller, data: bytes, **more: Any) -> ImportReport:
    async def run() -> ImportReport:
        chunks = [data[at : at + 700] for at in range(0, len(data), 700)]
        source = ImportSource("export.json", len(data), chunks, **more)
        return [report async for report in import_chats(caller, source)][-1]

    return async_to_sync(run)()


def exported(caller: Caller, talk: Conversation) -> bytes:
    return "".join(FORMATS["json"].write(open_export(caller, talk.pk), {})).encode()


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data())
def test_an_import_equals_what_was_exported(transactional_db: None, data: st.DataObject) -> None:
    alice = make.a_user()
    talk = Talk(alice, data)
    for deed in data.draw(st.lists(st.sampled_from(DEEDS), max_size=12)):
        getattr(talk, deed)()
    talk.row.refresh_from_db()
    caller = Caller(alice.pk)
    file = exported(caller, talk.row)
    json.loads(file)
    report = imported(caller, file)
    assert report.skipped == []
    copy = Conversation.objects.get(pk=report.chats[0].id)
    assert copy.pk != talk.row.pk
    assert everything(copy) == everything(talk.row)
    # Read as one value, as somebody may have written it, it is the same.
    other = make.a_user()
    whole = imported(Caller(other.pk), json.dumps(json.loads(file), indent=1).encode())
    assert whole.skipped == []
    same = everything(Conversation.objects.get(pk=whole.chats[0].id))
    assert same == everything(talk.row)


def test_an_archive_of_all_gives_all_of_it_back() -> None:
    """With the files beside the conversations; once more it changes nothing."""
    alice, bob = make.a_user("alice"), make.a_user("bob")
    folder = make.a_folder(alice, "农场", instructions="Count.")
    for number in range(3):
        talk = make.a_conversation(alice, title=f"鸡 {number}", folder=folder)
        question = make.a_message(talk)
        row = make.an_attachment(
            alice, question, content=PNG, mime="image/png", filename="a b?.png"
        )
        make.a_part(_file_part(row).model_copy(update={"id": new_id(), **make.of(question)}))
    make.a_conversation(alice, title="Gone", deleted_at=datetime.now(UTC))
    make.a_conversation(alice, title="", temporary=True)
    caller = Caller(alice.pk)
    pieces = list(zip_chats(caller, own_chats(caller), FORMATS["json"], {}))
    assert [piece.done for piece in pieces] == sorted(piece.done for piece in pieces)
    assert pieces[-1].done == 3
    data = b"".join(piece.data for piece in pieces)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert len([name for name in archive.namelist() if name.startswith("files/")]) == 3
    for _ in range(2):
        report = imported(Caller(bob.pk), data)
        assert (report.skipped, len(report.chats)) == ([], 3)
        assert 0 < report.read <= report.size
    mine, theirs = (
        sorted(
            map(
                json.dumps,
                (without_times(each) for each in person.conversations.kept_by(person.pk)),
            )
        )
        for person in (alice, bob)
    )
    assert mine == theirs
    assert bob.folders.get().instructions == "Count."
    assert Attachment.objects.filter(owner=bob).count() == 3


def without_times(talk: Conversation) -> Any:
    return json.loads(json.dumps(everything(talk), default=repr))


def test_a_newer_export_takes_the_place_of_an_older_one() -> None:
    """Unless somebody has gone on with the conversation here."""
    alice = make.a_user("alice")
    caller = Caller(alice.pk)
    talk = make.a_conversation(alice, title="Hens")
    question = make.a_message_with_parts(talk, "user", "How many?")
    make.a_message_with_parts(talk, "assistant", "Three.", parent=question)
    first = imported(caller, exported(caller, talk))
    put_away(talk, question.position + 1)
    make.a_message_with_parts(talk, "assistant", "Four.", parent=question, version=2)
    Conversation.objects.filter(pk=talk.pk).update(updated=datetime.now(UTC))
    talk.refresh_from_db()
    newer = exported(caller, talk)
    cut = imported(caller, newer[: newer.index(b"Four.") + 2])
    assert [each.reason for each in cut.skipped] == ["line_not_json", "file_cut_off"]
    second = imported(caller, newer)
    assert second.chats[0].id == cut.chats[0].id == first.chats[0].id
    copy = Conversation.objects.get(pk=second.chats[0].id)
    assert everything(copy) == everything(talk)
    make.a_message_with_parts(copy, "user", "My own words")
    third = imported(caller, newer)
    assert third.chats[0].is_known
    assert copy.messages.count() == 4


def grown(caller: Caller, talk: Conversation) -> bytes:
    make.a_message_with_parts(talk, "assistant", "Five.")
    Conversation.objects.filter(pk=talk.pk).update(updated=datetime.now(UTC))
    talk.refresh_from_db()
    return exported(caller, talk)


@pytest.mark.parametrize("own", ["continued", "thought of", "waiting", "nothing"])
def test_what_somebody_has_written_here_is_not_written_over(own: str) -> None:
    """A continued answer has the name under which it was imported. What came with the file may be
    written anew."""
    alice = make.a_user("alice")
    caller = Caller(alice.pk)
    talk = make.a_conversation(alice, title="Hens", queue_held=True)
    answers = [make.a_message_with_parts(talk, "assistant", words) for words in ("Three.", "Four.")]
    make.a_feedback(answers[0])
    make.a_queued_message(talk, "And ducks?", place=0)
    copy = Conversation.objects.get(pk=imported(caller, exported(caller, talk)).chats[0].id)
    last = copy.messages.order_by("position").last()
    match own:
        case "continued":
            make.a_generation(last, status="done")
        case "thought of":
            make.a_feedback(last)
        case "waiting":
            make.a_queued_message(copy, "My own words", place=1)
    ids = set(copy.messages.values_list("pk", flat=True))
    again = imported(caller, grown(caller, talk))
    assert again.chats[0].id == str(copy.pk)
    assert again.chats[0].is_known == (own != "nothing")
    assert (ids == set(copy.messages.values_list("pk", flat=True))) == (own != "nothing")


def test_where_somebody_has_put_it_is_where_it_stays() -> None:
    alice = make.a_user("alice")
    caller = Caller(alice.pk)
    talk = make.a_conversation(alice, title="Hens", folder=make.a_folder(alice, name="Animals"))
    make.a_message_with_parts(talk, "assistant", "Three.")
    file = exported(caller, talk)
    begun = imported(caller, file[: file.index(b"Three.")])
    copy = Conversation.objects.get(pk=begun.chats[0].id)
    imported(caller, file)
    copy.refresh_from_db()
    assert (copy.title, copy.folder_id) == ("Hens", talk.folder_id)
    changes = {"title": "Birds", "titled_by_hand": True, "pinned": True, "folder": None}
    mine = Conversation.objects.filter(pk=copy.pk)
    mine.update(**changes, archived_at=datetime.now(UTC))
    again = imported(caller, grown(caller, talk))
    copy.refresh_from_db()
    assert again.chats[0].title == "Birds"
    assert copy.messages.count() == 2
    assert {name: getattr(copy, name) for name in changes} == changes
    assert copy.archived_at is not None


@pytest.mark.parametrize(
    "places",
    [
        # In a circle; itself; nobody; two under one id.
        [("a", "b", ""), ("b", "a", "")],
        [("a", "a", "a")],
        [("a", "x", "x")],
        [("a", "", ""), ("a", "a", "a")],
    ],
)
def test_versions_that_cannot_be_lead_nobody_astray(places: list[tuple[str, str, str]]) -> None:
    alice = make.a_user("alice")
    caller = Caller(alice.pk)
    ids = {name: new_id() for name in "abx"} | {"": ""}
    talk = new_id()
    messages = [
        {
            "place": {"parent": ids[parent], "copyOf": ids[copy]},
            "info": {"id": ids[name], "sessionID": talk, "role": "user", "time": {"created": 1}},
            "parts": [],
        }
        for name, parent, copy in places
    ]
    file = {"format": "parley.v2", "id": talk, "messages": messages}
    report = imported(caller, json.dumps(file).encode())
    rows = {row.pk: row for row in Message.objects.filter(conversation_id=report.chats[0].id)}
    assert len(rows) == len(places)
    for row in rows.values():
        seen, at = set(), row
        while at.parent_id:
            assert at.pk not in seen
            seen.add(at.pk)
            at = rows[at.parent_id]
        assert row.copy_of_id != row.pk
