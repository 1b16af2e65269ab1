"""Share links: who reads what, and nothing besides."""

import re
from base64 import b64decode
from datetime import timedelta
from typing import Any

import pytest
from django.test import AsyncClient
from django.utils import timezone

from chat.models import AuditEntry, Conversation, Message, Part, ShareLink
from chat.protocol.errors import ChatError
from chat.protocol.factories import create_file_part, create_reasoning_part, create_text_part
from chat.protocol.files import own_url
from chat.services import (
    Caller,
    NewShare,
    amend_part,
    amendable,
    one_import,
    remove_message,
    remove_part,
    revoke_as_admin,
    share,
)
from chat.services.conversations import shares
from chat.services.conversations.shares import MOST_KEPT_BYTES, SHARED_PAGE, forget_expired
from tests.imports.exports import PIXEL
from tests.support import factories as make
from tests.support.page import LivePage
from tests.support.site import Site
from tests.support.tabs import in_thread

# Each stands somewhere in the rows of the conversation, and nowhere on the page.
CANARIES = (
    "canary-agent", "canary-provider", "canary-system", "canary-detail", "canary-comment",
    "canary-waiting", "canary-archived", "canary-signature", "canary-call", "canary-variant",
    "alice", "Alice",
)  # fmt: skip


@in_thread
def a_talk(site: Site) -> Message:
    """A conversation with something private in every column that has room for it."""
    talk = site.talk
    Conversation.objects.filter(pk=talk.pk).update(title="Of tides", queue_held=True)
    question = make.a_message_with_parts(talk, "user", "When is *high* tide?")
    Message.objects.filter(pk=question.pk).update(
        system="canary-system", variant="canary-variant", agent="canary-agent"
    )
    file = make.an_attachment(
        site.alice.user, question, b64decode(PIXEL), mime="image/png", filename="coast.png"
    )
    part = create_file_part(str(talk.pk), str(question.pk), "image/png", own_url(file.pk), "coast")
    make.a_part(part)
    answer = make.a_message(
        talk, "assistant", status="error", error_key="error.chat_generation_failed",
        error_data={"detail": "canary-detail"}, agent="canary-agent",
        provider_id="canary-provider", model_id="tide-1", input_tokens=4321, parent=question,
    )  # fmt: skip
    thought = create_reasoning_part(
        str(talk.pk), str(answer.pk), "It depends.", {"signature": "canary-signature"}
    )
    make.a_part(thought)
    tool = make.a_tool_part(answer)
    Part.objects.filter(pk=tool.pk).update(call_id="canary-call")
    make.a_text_part(answer, "At **six**.")
    make.a_feedback(answer, person=site.alice.user, comment="canary-comment")
    make.a_queued_message(talk, "canary-waiting")
    make.a_message_with_parts(talk, "user", "canary-archived", archived_at=timezone.now())
    return answer


async def linked(site: Site, **wanted: Any) -> str:
    caller = Caller(user_id=site.alice.user.pk, name="Alice")
    return (await share(caller, site.talk.pk, NewShare(**wanted))).token


async def read(token: str, query: str = "", **headers: Any) -> Any:
    """As anybody without an account gets it."""
    return await AsyncClient().get(f"/s/{token}/{query}", headers=headers)


def bodies(html: str) -> list[str]:
    page = LivePage(html)
    found = []
    for message in page.messages():
        body = next(each for each in message.iter() if each.get("class") == "body")
        found.append(" ".join(" ".join(body.itertext()).split()))
    return found


@pytest.mark.parametrize("live", [False, True])
async def test_anybody_reads_what_was_said_and_nothing_else(site: Site, live: bool) -> None:
    await a_talk(site)
    response = await read(await linked(site, live=live))
    html = response.content.decode()
    assert response.status_code == 200
    assert [canary for canary in CANARIES if canary in html] == []
    assert str(site.talk.pk) not in html
    assert "4,321" not in html
    assert "tide-1" in html
    # What is said is drawn as its owner sees it.
    own = (await site.alice.client.get(f"/c/{site.talk.pk}/")).content.decode()
    assert bodies(html) == bodies(own)
    assert "Of tides" in html
    # Nothing is set, nothing is asked elsewhere, nobody lists it.
    assert not response.cookies
    assert response["X-Robots-Tag"].startswith("noindex")
    assert response["Referrer-Policy"] == "same-origin"
    assert '<meta name="robots" content="noindex' in html
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "unsafe" not in policy
    loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"', html)
    assert [url for url in loaded if not url.startswith(("/static/", "/s/", "data:"))] == []
    assert "zone" not in " ".join(loaded)
    assert "<form" not in html


async def test_a_snapshot_stays_and_a_live_link_goes_on(site: Site) -> None:
    answer = await a_talk(site)
    kept, live = await linked(site), await linked(site, live=True)
    before = (await read(kept)).content
    await in_thread(make.a_message_with_parts)(site.talk, "user", "And low tide?")
    await Part.objects.filter(message=answer, type="text").aupdate(text="At seven.")
    await Conversation.objects.filter(pk=site.talk.pk).aupdate(title="Another title")
    assert bodies((await read(kept)).content.decode()) == bodies(before.decode())
    assert "Of tides" in (await read(kept)).content.decode()
    now = (await read(live)).content.decode()
    for expected in ("And low tide?", "At seven.", "Another title"):
        assert expected in now


async def test_thinking_and_tools_are_left_out_where_that_is_wanted(site: Site) -> None:
    await a_talk(site)
    for live in (False, True):
        html = (await read(await linked(site, live=live, thinking=False, tools=False))).content
        assert b"It depends." not in html
        assert b'class="tool' not in html
        assert b"six" in html
    stored = await ShareLink.objects.filter(live=False).afirst()
    assert stored is not None
    assert "It depends." not in str(stored.messages)


@pytest.mark.parametrize(
    ("key", "data", "told"),
    [
        ("imported_failure", {"detail": "canary-detail"}, "The answer failed"),
        ("model_refused_because", {"reason": "canary-detail"}, "The model refused to answer this"),
    ],
)
async def test_a_failure_in_words_of_a_provider_is_told_without_them(
    site: Site, key: str, data: dict[str, str], told: str
) -> None:
    """Nor with an ellipsis in their place."""
    await a_talk(site)
    failed = Message.objects.filter(status="error")
    await failed.aupdate(error_key=f"error.chat_{key}", error_data=data)
    own = (await site.alice.client.get(f"/c/{site.talk.pk}/")).content.decode()
    assert f"{told}: canary-detail" in own
    html = (await read(await linked(site, live=True))).content.decode()
    assert f"{told}." in html
    assert f"{told}:" not in html
    assert "canary-detail" not in html


@in_thread
def end(site: Site, how: str) -> None:
    rows = ShareLink.objects.filter(conversation=site.talk)
    match how:
        case "expired":
            rows.update(expires_at=timezone.now() - timedelta(seconds=1))
        case "revoked":
            revoke_as_admin(Caller(make.a_superuser("root").pk), rows.get())
        case "deleted":
            Conversation.objects.filter(pk=site.talk.pk).update(deleted_at=timezone.now())
        case "deactivated":
            type(site.alice.user).objects.filter(pk=site.alice.user.pk).update(is_active=False)


@pytest.mark.parametrize("how", ["expired", "revoked", "deleted", "deactivated"])
async def test_a_link_that_is_over_leads_nowhere(site: Site, how: str) -> None:
    """The same page as for one that never was, in the reader's language; its files are gone too."""
    await a_talk(site)
    token = await linked(site)
    html = (await read(token)).content.decode()
    file = re.findall(r'href="(/s/[^"]+/files/[^"]+)"', html)[0]
    assert (await AsyncClient().get(file)).status_code == 200
    await end(site, how)
    never, over = await read("x" * 43), await read(token)
    assert (never.status_code, over.status_code) == (404, 404)
    assert never.content == over.content
    assert b"Nothing is shared here" in over.content
    assert "noindex" in over["X-Robots-Tag"]
    chinese = (await read(token, **{"accept-language": "zh-hans"})).content.decode()
    assert "这里没有共享的内容" in chinese
    assert (await AsyncClient().get(file)).status_code == 404
    other = await in_thread(make.a_user)("bob")
    client = AsyncClient()
    await client.aforce_login(other)
    assert (await client.post(f"/s/{token}/copy/")).status_code == 404
    if how == "revoked":
        assert await AuditEntry.objects.filter(kind="chat.sharelink", actor="root").aexists()
        row = await ShareLink.objects.aget()
        assert (row.messages, row.token) == (None, "")
    if how == "expired":
        await in_thread(forget_expired)()
        assert await ShareLink.objects.filter(messages__isnull=True).aexists()


async def test_only_files_that_are_shown_are_given(site: Site) -> None:
    await a_talk(site)
    token = await linked(site, live=True)
    for message in (None, await Message.objects.aget(archived_at__isnull=False)):
        hidden = await in_thread(make.an_attachment)(site.alice.user, message)
        assert (await AsyncClient().get(f"/s/{token}/files/{hidden.pk}/")).status_code == 404
    stranger = await in_thread(make.a_message_with_parts)(
        await in_thread(make.a_conversation)(), "user", "Other"
    )
    other = await in_thread(make.an_attachment)(None, stranger)
    assert (await AsyncClient().get(f"/s/{token}/files/{other.pk}/")).status_code == 404


async def test_a_snapshot_gives_the_files_that_it_shows(site: Site) -> None:
    """Those of tools too where tools are shown; an address in a text gives nothing."""
    answer = await a_talk(site)
    by_tool = await in_thread(make.an_attachment)(site.alice.user, answer)
    made = create_file_part(str(site.talk.pk), str(answer.pk), "text/plain", own_url(by_tool.pk))
    state = make.a_finished_call().model_copy(update={"attachments": (made,)})
    await in_thread(make.a_tool_part)(answer, state)
    await in_thread(make.a_text_part)(answer, f"It is at {own_url(by_tool.pk)}")
    await in_thread(make.a_text_part)(answer, own_url(by_tool.pk))
    for tools, status in ((True, 200), (False, 404)):
        token = await linked(site, tools=tools)
        page = (await read(token)).content.decode()
        coast = re.findall(r'href="(/s/[^"]+/files/[^"]+)"', page)[0]
        assert (await AsyncClient().get(coast)).status_code == 200
        file = await AsyncClient().get(f"/s/{token}/files/{by_tool.pk}/")
        assert file.status_code == status


@in_thread
def correct(how: str, answer: Message) -> None:
    part = Part.objects.get(message=answer, type="text")
    match how:
        case "amended":
            amend_part(part, "At seven.", amendable(part))
        case "part removed":
            remove_part(part)
        case "message removed":
            remove_message(Message.objects.get(pk=answer.pk))


@pytest.mark.parametrize("how", ["amended", "part removed", "message removed"])
async def test_what_is_removed_or_corrected_is_not_public_any_more(site: Site, how: str) -> None:
    """Nor what was read before it for a link that is written after it."""
    answer = await a_talk(site)
    kept, live = await linked(site), await linked(site, live=True)
    caller = Caller(user_id=site.alice.user.pk, name="Alice")
    wanted = NewShare()
    made = await in_thread(shares._made)(caller, site.talk.pk, wanted)
    await correct(how, answer)
    assert (await read(kept)).status_code == 404
    assert not await ShareLink.objects.filter(messages__isnull=False).aexists()
    assert "six" not in (await read(live)).content.decode()
    assert await in_thread(shares._share)(caller, site.talk.pk, wanted, made) is None
    assert "six" not in (await read(await linked(site))).content.decode()


async def test_a_snapshot_is_not_larger_than_it_can_be_read(site: Site) -> None:
    question = await in_thread(make.a_message)(site.talk, "user")
    await in_thread(make.a_text_part)(question, "x" * MOST_KEPT_BYTES)
    form = {"live": "", "thinking": "1", "tools": "1", "days": "7"}
    refused = await site.alice.client.post(f"/c/{site.talk.pk}/share/", form)
    assert refused.status_code == 422
    assert "too large to be kept as it is now: at most 10" in refused.content.decode()
    assert not await ShareLink.objects.aexists()
    with pytest.raises(ChatError):
        await linked(site)
    await linked(site, live=True)


async def test_the_owner_makes_and_revokes_links(site: Site) -> None:
    """In the dialog, which stays open; a temporary chat has none."""
    await a_talk(site)
    address = f"/c/{site.talk.pk}/share/"
    scripted = {"headers": {"HX-Request": "true"}}
    form = {"live": "", "thinking": "1", "tools": "1", "days": "7"}
    made = await site.alice.client.post(address, form, **scripted)
    assert made["Parley-Form"] == "again"
    row = await ShareLink.objects.aget()
    assert str(row.token) in made.content.decode()
    assert row.token_hash != row.token
    assert row.expires_at is not None
    # What lies in the column opens nothing.
    stored = await ShareLink.objects.filter(token__contains=str(row.token)).acount()
    assert stored == 0
    assert (await site.alice.client.post(address, {**form, "days": "9"})).status_code == 422
    gone = await site.alice.client.post(address, {"revoke": str(row.pk)}, **scripted)
    assert str(row.token) not in gone.content.decode()
    assert (await read(str(row.token))).status_code == 404
    await Conversation.objects.filter(pk=site.talk.pk).aupdate(temporary=True)
    assert (await site.alice.client.get(address)).status_code == 404
    assert (await site.alice.client.post(address, form)).status_code == 404


async def test_a_visitor_goes_on_with_a_copy_of_their_own(site: Site) -> None:
    await a_talk(site)
    token = await linked(site)
    bob = await in_thread(make.a_user)("bob")
    client = AsyncClient()
    await client.aforce_login(bob)
    page = (await client.get(f"/s/{token}/")).content.decode()
    assert "Continue this conversation" in page
    assert "alice" not in page.lower()
    answer = await client.post(f"/s/{token}/copy/")
    copied = await Conversation.objects.aget(owner=bob)
    assert answer["Location"] == f"/c/{copied.pk}/"
    html = (await client.get(answer["Location"])).content.decode()
    assert bodies(html)[0] == bodies(page)[0]
    assert [canary for canary in CANARIES if canary in html] == []
    files = [row async for row in copied.messages.all().values_list("attachments__owner")]
    assert (bob.pk,) in files


async def test_a_copy_sends_a_model_no_text_that_the_conversation_does_not_send(site: Site) -> None:
    answer = await a_talk(site)
    ids = str(site.talk.pk), str(answer.pk)
    part = create_text_part(*ids, "Under the stone.", synthetic=True, ignored=True)
    await in_thread(make.a_part)(part)
    token = await linked(site)
    assert "Under the stone." in (await read(token)).content.decode()
    bob = await in_thread(make.a_user)("bob")
    client = AsyncClient()
    await client.aforce_login(bob)
    await client.post(f"/s/{token}/copy/")
    texts = Part.objects.filter(conversation__owner=bob, type="text", ignored=True)
    [copied] = [row async for row in texts]
    assert copied.text == "Under the stone."
    assert copied.synthetic


async def test_what_is_too_large_to_import_is_not_copied(site: Site, settings: Any) -> None:
    """A file that is shown twice counts twice."""
    await a_talk(site)
    content = b"x" * 20_000
    question = await Message.objects.filter(conversation=site.talk).order_by("position").afirst()
    assert question is not None
    file = await in_thread(make.an_attachment)(site.alice.user, question, content)
    for _ in range(2):
        url = own_url(file.pk)
        part = create_file_part(str(site.talk.pk), str(question.pk), "text/plain", url)
        await in_thread(make.a_part)(part)
    token = await linked(site)
    bob = await in_thread(make.a_user)("bob")
    client = AsyncClient()
    await client.aforce_login(bob)
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "import_bytes": 2 * len(content)}
    refused = await client.post(f"/s/{token}/copy/", headers={"accept-language": "zh-hans"})
    assert refused.status_code == 422
    assert "对话太大，无法复制：连同文件最多 40" in refused.content.decode()
    assert not await Conversation.objects.filter(owner=bob).aexists()
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "import_bytes": 3 * len(content)}
    assert (await client.post(f"/s/{token}/copy/")).status_code == 302


async def test_a_copy_counts_as_an_import_of_whoever_makes_it(site: Site) -> None:
    """`error.chat_import_running`, in the reader's language."""
    await a_talk(site)
    token = await linked(site)
    bob = await in_thread(make.a_user)("bob")
    client = AsyncClient()
    await client.aforce_login(bob)
    with one_import(Caller(bob.pk)) as may_import:
        assert may_import
        refused = await client.post(f"/s/{token}/copy/", headers={"accept-language": "zh-hans"})
    assert refused.status_code == 422
    assert "您的另一个导入正在进行。请在其完成后再试。" in refused.content.decode()
    assert not await Conversation.objects.filter(owner=bob).aexists()
    assert (await client.post(f"/s/{token}/copy/")).status_code == 302


async def test_a_long_conversation_has_pages(site: Site) -> None:
    await in_thread(make.a_talk)(site.talk, SHARED_PAGE + 4)
    for live in (False, True):
        token = await linked(site, live=live)
        first, second = [(await read(token, f"?page={page}")).content.decode() for page in (1, 2)]
        assert len(bodies(first)) == SHARED_PAGE
        assert len(bodies(second)) == 4
        assert "?page=2" in first
        assert "?page=1" in second
