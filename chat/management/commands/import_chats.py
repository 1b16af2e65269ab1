import asyncio
from argparse import ArgumentTypeError
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.template.defaultfilters import pluralize
from django.utils import translation

from chat import services
from chat.rendering.page.imports import skipped_text
from chat.services import Caller, ImportReport, ImportSource

CHUNK = 256 * 1024


# What is read of a folder.
KINDS = (".json", ".jsonl", ".ndjson", ".zip")


def a_path(name: str) -> Path:
    path = Path(name)
    if not path.is_file() and not path.is_dir():
        raise ArgumentTypeError(f"there is no file or folder {name}")
    return path


class Command(BaseCommand):
    help = (
        "Imports conversations: exports of ChatGPT (ZIP or JSON), Claude.ai, Open WebUI, LibreChat "
        "and Parley, what Claude's command line prints (stream-json) or keeps (transcripts), lists "
        "of messages as OpenAI's API has them, and ToolMessage2. Of a folder, all such files in "
        "it; what sub-agents of Claude's command line did goes to the session that they worked "
        "for. Harmless to repeat: a file that is imported again adds what is new."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=a_path, metavar="PATH")
        parser.add_argument("--user", help="whose they will be; needed where there are several")

    def handle(self, *, paths: list[Path], user: str | None, **options: Any) -> None:
        caller = _caller(user)
        for source in services.in_reading_order(list(_sources(paths))):
            self._tell(asyncio.run(self._import(caller, source)))

    async def _import(self, caller: Caller, source: ImportSource) -> ImportReport:
        report = ImportReport(source.name, source.size)
        async for report in services.import_chats(caller, source):
            self._progress(report)
        return report

    def _progress(self, report: ImportReport) -> None:
        if self.stdout.isatty():
            percent = 100 * report.read // max(report.size, 1)
            self.stdout.write(f"\r{report.name}: {percent} %", ending="")
            self.stdout.flush()

    def _tell(self, report: ImportReport) -> None:
        start = "\r" if self.stdout.isatty() else ""
        for chat in report.chats:
            known = ", left as it is: it was gone on with here" if chat.is_known else ""
            known = known or (", here already" if chat.is_unchanged else "")
            counts = f"{_count(chat.messages, 'message')}, {_count(chat.tools, 'tool call')}"
            self.stdout.write(f"{start}{report.name}: “{chat.title}”, {counts}{known}")
        if not report.chats:
            self.stdout.write(f"{start}{report.name}: nothing was imported")
        for each in report.skipped:
            words = skipped_text(each.reason, each.where, each.inside, each.count)
            self.stdout.write(f"  {words}")
        if report.skipped_more:
            self.stdout.write(f"  and {report.skipped_more} more")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{pluralize(number)}"


def _caller(name: str | None) -> Caller:
    people = User.objects.filter(is_active=True)
    if name:
        people = people.filter(username=name)
    found = list(people[:2])
    if len(found) != 1:
        raise CommandError(
            f"There is nobody called {name}." if name else "Say whose they will be: --user NAME."
        )
    return Caller(user_id=found[0].pk, name=found[0].get_username())


def _sources(paths: list[Path]) -> Iterator[ImportSource]:
    for path in paths:
        for file in _files(path) if path.is_dir() else (path,):
            name = str(file.relative_to(path)) if path.is_dir() else path.name
            chunks = services.Reopened(partial(_chunks, file))
            language = translation.get_language() or "en"
            yield ImportSource(name, file.stat().st_size, chunks, language)


def _files(folder: Path) -> list[Path]:
    """The files in a folder that may be conversations."""
    found = (each for each in folder.rglob("*") if each.suffix.lower() in KINDS)
    return sorted(each for each in found if each.is_file())


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
