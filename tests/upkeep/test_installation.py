"""R5, R11: one installation on many machines is prepared once, with the same keys and files."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection

from chat import services
from chat.models import Installation
from tests.crash.remote import fresh_database
from tests.support.server import ROOT, environment, python

KEY, OTHER = (Fernet.generate_key().decode() for _ in range(2))


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.PARLEY_KEYS = [KEY]
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


def refused() -> str:
    with pytest.raises(CommandError) as error:
        call_command("prepare")
    return str(error.value)


@pytest.mark.both_databases
@pytest.mark.django_db
class TestKeys:
    @pytest.fixture(autouse=True)
    def prepared(self, media: Path) -> None:
        services.found_installation()

    def test_other_keys_are_refused(self, settings: Any) -> None:
        settings.PARLEY_KEYS = [OTHER]
        assert "give all servers the same PARLEY_KEYS" in refused()
        assert Installation.objects.count() == 1

    def test_a_new_key_before_the_old_one_is_not(self, settings: Any) -> None:
        settings.PARLEY_KEYS = [OTHER, KEY]
        assert services.foreign_keys_or_files() == ""

    def test_after_they_were_rotated_the_old_one_alone_is_refused(self, settings: Any) -> None:
        settings.PARLEY_KEYS = [OTHER, KEY]
        services.rotate_keys()
        settings.PARLEY_KEYS = [OTHER]
        assert services.foreign_keys_or_files() == ""
        settings.PARLEY_KEYS = [KEY]
        assert "do not open" in services.foreign_keys_or_files()

    def test_lost_keys_are_given_up(self, settings: Any) -> None:
        settings.PARLEY_KEYS = [OTHER]
        services.take_over()
        assert services.foreign_keys_or_files() == ""


@pytest.mark.both_databases
@pytest.mark.django_db
class TestFiles:
    @pytest.fixture(autouse=True)
    def prepared(self, media: Path) -> None:
        services.found_installation()

    def test_a_folder_without_the_files_is_refused_where_others_can_serve(
        self, settings: Any, media: Path
    ) -> None:
        assert services.foreign_keys_or_files() == ""
        settings.MEDIA_ROOT = media.parent / "elsewhere"
        fault = services.foreign_keys_or_files()
        if connection.vendor == "sqlite":
            assert fault == ""
            return
        assert f"are not in {media.parent}/elsewhere: let all servers share" in fault
        assert refused() == fault
        services.take_over()
        assert services.foreign_keys_or_files() == ""

    def test_a_copy_of_the_folder_is_as_good(self, settings: Any, media: Path) -> None:
        if connection.vendor == "sqlite":
            assert not media.exists()
            return
        media.rename(media.parent / "moved")
        settings.MEDIA_ROOT = media.parent / "moved"
        assert services.foreign_keys_or_files() == ""


@pytest.mark.full
def test_four_at_once_on_an_empty_database(tmp_path: Path, postgres_url: str) -> None:
    """R5: three of four died, and left a database with steps that were noted twice."""
    settings = {"DATABASE_URL": fresh_database(postgres_url), "PARLEY_KEYS": KEY}
    processes = [
        subprocess.Popen(
            [sys.executable, "manage.py", "prepare"],
            cwd=ROOT, env=environment(tmp_path / folder, **settings), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for folder in ("one", "one", "two", "two")
    ]  # fmt: skip
    said = [process.communicate()[0] for process in processes]
    # The folder of files is shared by two of them only.
    codes = sorted(process.returncode for process in processes)
    assert codes == [0, 0, 1, 1], said
    assert sum("Updating the database" in each for each in said) == 1
    assert sum("Creating the account" in each for each in said) == 1
    assert sum("let all servers share that folder" in each for each in said) == 2
    assert sum("waiting for it" in each for each in said) == 3
    assert "Traceback" not in "".join(said)


@pytest.mark.full
def test_no_server_starts_with_the_keys_of_another(tmp_path: Path, postgres_url: str) -> None:
    """R11: whichever server it is, and although nobody has called `prepare`."""
    url = fresh_database(postgres_url)
    first = python(tmp_path, "manage.py", "prepare", DATABASE_URL=url, PARLEY_KEYS=KEY)
    assert first.returncode == 0, first.stderr
    for words in (
        ["manage.py", "serve"],
        ["-m", "uvicorn", "chatsite.asgi:application", "--port", "0"],
        ["-m", "daphne", "chatsite.asgi:application", "--port", "0"],
    ):
        ended = python(tmp_path, *words, DATABASE_URL=url, PARLEY_KEYS=OTHER)
        assert ended.returncode != 0, words
        assert "give all servers the same PARLEY_KEYS" in ended.stderr, ended.stderr
        assert "Traceback" not in ended.stderr


@pytest.mark.full
def test_no_server_starts_with_the_files_of_another(tmp_path: Path, postgres_url: str) -> None:
    """R11: a second machine whose folder is not the shared one, but that of another Parley."""
    ours, theirs = fresh_database(postgres_url), fresh_database(postgres_url)
    for folder, url in (("ours", ours), ("theirs", theirs)):
        (tmp_path / folder).mkdir()
        ended = python(tmp_path / folder, "manage.py", "prepare", DATABASE_URL=url, PARLEY_KEYS=KEY)
        assert ended.returncode == 0, ended.stderr
    for words in (
        ["manage.py", "serve"],
        ["-m", "uvicorn", "chatsite.asgi:application", "--port", "0"],
        ["-m", "daphne", "chatsite.asgi:application", "--port", "0"],
    ):
        ended = python(tmp_path / "theirs", *words, DATABASE_URL=ours, PARLEY_KEYS=KEY)
        assert ended.returncode != 0, words
        media = tmp_path / "theirs/media"
        assert f"The files of this database are not in {media}: let all" in ended.stderr
        assert "Traceback" not in ended.stderr
