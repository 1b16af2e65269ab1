"""Every text a person may see is there in Chinese too, and says so whole (A12, A13)."""

import ast
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import translation

from chat.models import AuditEntry
from chat.rendering.errors import GENERAL, MESSAGES, error_text

ROOT = Path(settings.BASE_DIR)
LANGUAGE = "zh-hans"
FOLDER = Path("locale") / translation.to_locale(LANGUAGE) / "LC_MESSAGES"
SOURCES = ("chat", "chatsite", "templates", "static")
# Names that are the same in every language.
SAME = {"Anthropic", "Ollama", "Parley", "JSON", "Tokens", "time of day\x04H:i"} | {
    "%(field)s: %(message)s"
}

pytestmark = pytest.mark.skipif(
    shutil.which("msgfmt") is None, reason="gettext is not installed (apt-get install gettext)"
)


@cache
def entries(file: Path) -> dict[str, tuple[list[str], bool]]:
    """Every text of a .po file: its translations, and whether they are only guessed."""
    found = {}
    for block in file.read_text().split("\n\n"):
        lines = block.splitlines()
        texts: dict[str, str] = {}
        key = ""
        for keyword, text in re.findall(r'^(msg[\w\[\]]+)? ?(".*")$', block, re.MULTILINE):
            key = keyword or key
            texts[key] = texts.get(key, "") + ast.literal_eval(text)
        if texts.get("msgid"):
            name = f"{texts.get('msgctxt', '')}\x04{texts['msgid']}".removeprefix("\x04")
            said = [text for key, text in texts.items() if key.startswith("msgstr")]
            found[name] = (said, any(re.match("#,.*fuzzy", line) for line in lines))
    return found


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The texts that the sources use now, gathered as `make messages` does."""
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / FOLDER).mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copy)
        patch.setattr(settings, "LOCALE_PATHS", [copy / "locale"])
        locale = translation.to_locale(LANGUAGE)
        call_command("makemessages", locale=[locale], no_location=True, verbosity=0)
    return set(entries(copy / FOLDER / "django.po"))


@pytest.fixture
def translated() -> dict[str, tuple[list[str], bool]]:
    return entries(ROOT / FOLDER / "django.po")


def test_every_text_is_in_the_catalogue(
    used: set[str], translated: dict[str, tuple[list[str], bool]]
) -> None:
    """`make messages` gathers them; then they want translating."""
    assert used - set(translated) == set()


def test_nothing_is_in_the_catalogue_that_nobody_says(
    used: set[str], translated: dict[str, tuple[list[str], bool]]
) -> None:
    assert set(translated) - used == set()


def test_no_translation_is_empty_or_guessed(
    translated: dict[str, tuple[list[str], bool]],
) -> None:
    wanting = [
        text for text, (said, fuzzy) in translated.items() if fuzzy or not said or not all(said)
    ]
    assert wanting == []


def test_a_translation_has_the_places_of_its_text(
    translated: dict[str, tuple[list[str], bool]],
) -> None:
    """A name or a number that gets lost in translation."""
    for text, (said, _fuzzy) in translated.items():
        wanted = set(re.findall(r"%\(\w+\)\w|\{\w*\}", text))
        for translation_ in said:
            assert set(re.findall(r"%\(\w+\)\w|\{\w*\}", translation_)) == wanted, text


def test_a_translation_is_chinese(translated: dict[str, tuple[list[str], bool]]) -> None:
    """A text copied to be translated later."""
    same = {
        text
        for text, (said, _fuzzy) in translated.items()
        if not any(re.search("[\u4e00-\u9fff]", part) for part in said)
    }
    assert {text for text in same - SAME if re.search("[A-Za-z]{2}", text)} == set()


# One of two words that mean the same, and the other: on one page they read as two things.
ONE_WORD = {"您": "你", "共享": "分享", "账户": "账号"}


@pytest.mark.parametrize("word", ONE_WORD)
def test_one_thing_is_called_by_one_word(
    word: str, translated: dict[str, tuple[list[str], bool]]
) -> None:
    spoken = [part for said, _fuzzy in translated.values() for part in said]
    assert any(word in part for part in spoken)
    assert [part for part in spoken if ONE_WORD[word] in part] == []


def test_the_acts_in_the_audit_log_are_all_verbs() -> None:
    """None reads like a state in which a thing is (已…: is done)."""
    with translation.override(LANGUAGE):
        assert [str(label) for label in AuditEntry.Verb.labels if "已" in str(label)] == []


def test_the_compiled_catalogue_is_that_of_the_texts(tmp_path: Path) -> None:
    """The .mo file is committed, so that nobody needs gettext to run Parley."""
    compiled = tmp_path / "django.mo"
    source = ROOT / FOLDER / "django.po"
    subprocess.run(["msgfmt", "--check-format", "-o", compiled, source], check=True)
    assert compiled.read_bytes() == (ROOT / FOLDER / "django.mo").read_bytes()


@pytest.mark.parametrize("key", MESSAGES)
def test_every_error_has_a_sentence_in_both_languages(key: str) -> None:
    """A12"""
    with translation.override("en"):
        english = error_text(key)
    with translation.override(LANGUAGE):
        chinese = error_text(key)
    assert english
    assert english != str(GENERAL)
    assert re.search("[\u4e00-\u9fff]", chinese), chinese


def test_every_error_that_is_raised_has_a_sentence() -> None:
    """A12: no key is met that only the general sentence stands for."""
    used = {
        key
        for file in (ROOT / "chat").rglob("*.py")
        for key in re.findall(r"[\"'](error\.chat_\w+)[\"']", file.read_text())
    }
    assert len(used) > 20
    assert used - set(MESSAGES) == set()
