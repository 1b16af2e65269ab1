"""What models are sent of attached files: read off the wire by the scripted provider (A17, C2)."""

from base64 import b64decode, b64encode
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from chat.engine.files import AcceptedFiles, replace_other_files
from chat.engine.history import to_model_messages
from chat.formats.pictures import prepare_picture
from chat.models import Attachment, LanguageModel, Part, Provider
from chat.protocol.factories import create_file_part
from chat.protocol.ids import new_id
from chat.protocol.interfaces import FileBlock, ModelMessage, TextBlock, ToolResultBlock
from chat.providers.presets import takes_pdf
from chat.services.catalog.known import choice_of
from chat.services.conversations.history import read_history
from chat.services.runs.files import open_files, rows_of
from tests.support import factories as make
from tests.support import sample_files as samples
from tests.support.pdf_files import pdf_file
from tests.support.photos import a_photo
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread

CODE = samples.CODE.decode()
QUOTED = f"[Attached f.py]\n````py\n{CODE.rstrip()}\n````"
PNG = prepare_picture(samples.PNG).data
DATA = b64encode(PNG).decode()
PDF = pdf_file("The harbour opens at six.", "And closes at ten.")
PDF_DATA = b64encode(PDF).decode()
NO_IMAGES = "[Attached a.png: this model cannot see images]"
PDF_TEXT = (
    "[Attached d.pdf: the text of 2 of its 2 pages]\n```\n"
    "The harbour opens at six.\n\nAnd closes at ten.\n```"
)


@in_thread
def speak(site: Site, kind: str, *, vision: bool) -> None:
    """Let the scripted provider be one of this kind, whose model sees or does not."""
    model = LanguageModel.objects.get(model_id="scripted-small")
    model.provider.kind = kind
    model.provider.base_url = site.provider.root if kind == "ollama" else site.provider.base_url
    model.provider.save()
    model.vision = vision
    model.save()


@in_thread
def files_of(site: Site, *wanted: tuple[str, str, bytes]) -> list[str]:
    owner = site.alice.user
    rows = (
        make.an_attachment(owner, filename=name, mime=mime, content=content)
        for name, mime, content in wanted
    )
    return [str(row.pk) for row in rows]


PICTURE = ("a.png", "image/png", samples.PNG)
TEXT = ("f.py", "text/plain", samples.CODE)
DOCUMENT = ("d.pdf", "application/pdf", PDF)


async def asked(site: Site, kind: str, *, vision: bool) -> Any:
    """Send all three kinds of files with a word; the body that the provider received."""
    await speak(site, kind, vision=vision)
    tab = await site.tab()
    await say(site, tab, "Look", await files_of(site, PICTURE, TEXT, DOCUMENT))
    return site.provider.requests[-1].json


async def say(site: Site, tab: Tab, content: str, ids: list[str]) -> None:
    site.provider.script("Seen.")
    sent = await tab.ask("send", content=content, attachments=ids, tab_id=tab.tab_id)
    assert sent["ok"], sent
    await tab.sees_the_end()


async def test_the_openai_wire_has_images_as_data(site: Site) -> None:
    body = await asked(site, "openai", vision=True)
    assert body["messages"][-1]["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
        {"type": "text", "text": QUOTED},
        {"type": "text", "text": PDF_TEXT},
        {"type": "text", "text": "Look"},
    ]


async def test_the_anthropic_wire_has_images_and_documents_as_sources(site: Site) -> None:
    body = await asked(site, "anthropic", vision=True)
    image = {"type": "base64", "media_type": "image/png", "data": DATA}
    document = {"type": "base64", "media_type": "application/pdf", "data": PDF_DATA}
    assert body["messages"][-1]["content"] == [
        {"type": "image", "source": image},
        {"type": "text", "text": QUOTED},
        {"type": "document", "source": document},
        {"type": "text", "text": "Look", "cache_control": {"type": "ephemeral"}},
    ]


async def test_the_ollama_wire_has_images_beside_the_words(site: Site) -> None:
    body = await asked(site, "ollama", vision=True)
    said = body["messages"][-1]
    assert said["images"] == [DATA]
    assert said["content"] == f"{QUOTED}\n\n{PDF_TEXT}\n\nLook"


@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
async def test_a_model_that_sees_nothing_is_told_what_it_does_not_see(
    site: Site, kind: str
) -> None:
    body = await asked(site, kind, vision=False)
    content = body["messages"][-1]["content"]
    texts = [block["text"] for block in content] if isinstance(content, list) else [content]
    assert "\n\n".join(texts) == f"{NO_IMAGES}\n\n{QUOTED}\n\n{PDF_TEXT}\n\nLook"
    assert DATA not in site.provider.requests[-1].body.decode()


async def test_what_was_sent_once_is_sent_the_same_again(site: Site) -> None:
    """The prompt cache: a turn begins with all that the turn before sent."""
    await asked(site, "openai", vision=True)
    await say(site, site.tabs[0], "And this?", await files_of(site, PICTURE))
    first, second = (received.json["messages"] for received in site.provider.requests[-2:])
    assert second[: len(first)] == first
    assert second[-1]["content"][0]["type"] == "image_url"


async def test_what_is_stored_stays_a_file(site: Site) -> None:
    """C2: the form that is sent is never written back."""
    await asked(site, "anthropic", vision=True)
    rows = await in_thread(lambda: list(Part.objects.filter(message__role="user")))()
    assert [row.type for row in rows] == ["file", "file", "file", "text"]
    assert all(row.data["url"].startswith("/attachments/") for row in rows[:3])


async def test_a_file_is_read_once_however_many_steps_there_are(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chat.services.runs import files
    from tests.support.model_server import Call, reply

    read: list[str] = []
    before = files.read_file

    def count(row: Attachment) -> bytes | None:
        read.append(row.filename)
        return before(row)

    monkeypatch.setattr(files, "read_file", count)
    await speak(site, "openai", vision=True)
    tab = await site.tab()
    site.provider.script(*(reply(Call("calculator", {"expression": f"{n}+1"})) for n in range(3)))
    await say(site, tab, "Count", await files_of(site, TEXT))
    assert len(site.provider.requests) == 4
    assert read == ["f.py"]


def opened(alice: Any, message: Any, **accepted: Any) -> list[Any]:
    history = read_history(message.conversation_id, before=99)
    model = AcceptedFiles(**{"images": ("image/png",), **accepted})
    found = open_files(history, rows_of(history, alice.pk), model)
    sent = replace_other_files(to_model_messages(found), model)
    return [block for each in sent for block in each.content]


def on_a_message(alice: Any, *names: str, owner: Any = None) -> Any:
    message = make.a_message(make.a_conversation(alice))
    for name in names:
        row = make.an_attachment(
            owner or alice, message, samples.PNG, filename=name, mime="image/png"
        )
        part = create_file_part(
            str(message.conversation_id), str(message.pk), "image/png", f"/attachments/{row.pk}/",
            name,
        )  # fmt: skip
        make.a_part(part)
    return message


@pytest.mark.django_db
def test_when_not_all_fit_the_oldest_are_only_named(alice: Any) -> None:
    message = on_a_message(alice, "old.png", "new.png")
    blocks = opened(alice, message, max_total=len(PNG))
    assert blocks[0] == TextBlock("[Attached old.png: too large to be sent to this model]")
    assert blocks[1].url.startswith("data:image/png;base64,")
    assert [type(block) for block in opened(alice, message, max_file=3)] == [TextBlock, TextBlock]


def on_a_message_of(alice: Any, mime: str, content: bytes) -> Any:
    message = make.a_message(make.a_conversation(alice))
    row = make.an_attachment(alice, message, content, filename="x", mime=mime)
    url = f"/attachments/{row.pk}/"
    make.a_part(create_file_part(str(message.conversation_id), str(message.pk), mime, url, "x"))
    return message


@pytest.mark.django_db
def test_a_pdf_that_is_too_large_for_a_model_that_takes_them_goes_as_text(alice: Any) -> None:
    message = on_a_message_of(alice, "application/pdf", PDF)
    [whole] = opened(alice, message, pdf=True)
    assert isinstance(whole, FileBlock)
    [text] = opened(alice, message, pdf=True, max_file=len(PDF) - 1)
    assert "The harbour opens at six." in text.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("mime", "content", "note"),
    [
        ("application/pdf", samples.PDF, "broken and cannot be read"),
        ("application/pdf", pdf_file(" "), "a PDF file without text"),
        ("image/jpeg", samples.JPEG, "broken and cannot be read"),
        ("image/webp", samples.WEBP, "broken and cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said(alice: Any, mime: str, content: bytes, note: str) -> None:
    [block] = opened(alice, on_a_message_of(alice, mime, content))
    assert note in block.text


@pytest.mark.django_db
def test_a_photo_goes_upright_small_and_without_its_place(alice: Any) -> None:
    photo = a_photo((2400, 1200), turned=6)
    message = on_a_message_of(alice, "image/jpeg", photo)
    [block] = opened(alice, message, images=("image/png", "image/jpeg"))
    data = b64decode(block.url.partition(",")[2])
    with Image.open(BytesIO(data)) as sent:
        assert sent.size == (784, 1568)
        assert not sent.getexif()
    # Made once, and kept beside the file, which stays as it was.
    row = Attachment.objects.get()
    assert row.file.storage.open(f"{row.file.name}.shown").read() == data
    assert row.file.read() == photo


@pytest.mark.django_db
def test_a_part_that_names_somebody_elses_file_opens_nothing(alice: Any) -> None:
    """An imported conversation may say anything."""
    message = on_a_message(alice, "a.png", owner=make.a_user("bob"))
    assert opened(alice, message) == [TextBlock("[Attached a.png: the file is not there any more]")]


@pytest.mark.django_db
def test_a_file_that_is_lost_is_named(alice: Any) -> None:
    message = on_a_message(alice, "a.png")
    row = Attachment.objects.get()
    row.file.storage.delete(str(row.file.name))
    assert opened(alice, message) == [TextBlock("[Attached a.png: the file is not there any more]")]


def test_files_of_tools_are_named_too_where_they_cannot_be_seen() -> None:
    file = FileBlock("image/png", "data:image/png;base64,AA==", "chart.png")
    sent = (ModelMessage("tool", (ToolResultBlock("c", "t", "Done", files=(file,)),)),)
    [blind] = replace_other_files(sent, AcceptedFiles())[0].content
    assert isinstance(blind, ToolResultBlock)
    assert blind.text == "Done\n[Attached chart.png: this model cannot see images]"
    assert blind.files == ()
    assert replace_other_files(sent, AcceptedFiles(images=("image/png",))) == sent


@pytest.mark.parametrize(
    ("mime", "accepted", "note"),
    [
        (
            "image/gif",
            AcceptedFiles(images=("image/png",)),
            "cannot see images of the type image/gif",
        ),
        ("image/svg+xml", AcceptedFiles(), "cannot see images"),
        ("application/pdf", AcceptedFiles(), "cannot read PDF files"),
        ("audio/wav", AcceptedFiles(pdf=True), "cannot take files of the type audio/wav"),
    ],
)
def test_a_note_says_what_the_model_cannot_do(
    mime: str, accepted: AcceptedFiles, note: str
) -> None:
    sent = (ModelMessage("user", (FileBlock(mime, "data:,", "x"),)),)
    [block] = replace_other_files(sent, accepted)[0].content
    assert isinstance(block, TextBlock)
    assert note in block.text


@pytest.mark.parametrize(
    ("kind", "url", "takes"),
    [
        ("anthropic", "http://127.0.0.1/v1", True),
        ("openai", "https://api.openai.com/v1", True),
        ("openai", "https://openrouter.ai/api/v1", True),
        ("openai", "http://127.0.0.1:8080/v1", False),
        ("ollama", "http://127.0.0.1:11434", False),
        ("demo", "", False),
    ],
)
def test_documents_go_only_where_they_are_understood(kind: str, url: str, takes: bool) -> None:
    assert takes_pdf(kind, url) is takes


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "url", "vision", "documents", "takes"),
    [
        ("openai", "http://127.0.0.1:8080/v1", True, True, True),
        ("openai", "http://127.0.0.1:8080/v1", False, True, True),
        ("openai", "http://127.0.0.1:8080/v1", True, None, False),
        ("openai", "https://api.openai.com/v1", True, None, True),
        ("openai", "https://api.openai.com/v1", False, None, False),
        ("openai", "https://api.openai.com/v1", True, False, False),
        ("anthropic", "https://api.anthropic.com", True, False, False),
        ("ollama", "http://127.0.0.1:11434", True, True, False),
    ],
)
def test_what_is_said_of_a_model_counts_as_far_as_its_wire_carries_files(
    kind: str, url: str, vision: bool, documents: bool | None, takes: bool
) -> None:
    provider = Provider(name="A", kind=kind, base_url=url)
    provider.save()
    row = LanguageModel(provider=provider, model_id="a", vision=vision, documents=documents)
    row.save()
    assert choice_of(row).accepted_files.pdf is takes
    assert bool(choice_of(row).accepted_files.images) is vision


def test_an_address_of_ours_never_leaves() -> None:
    url = f"/attachments/{new_id()}/"
    sent = (ModelMessage("user", (FileBlock("image/png", url, "x"),)),)
    [block] = replace_other_files(sent, AcceptedFiles(images=("image/png",)))[0].content
    assert block == TextBlock("[Attached x: the file is not there any more]")
