import asyncio
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.utils import translation

from chat import services
from chat.rendering.page.imports import skipped_text
from chat.services import Caller, ImportReport, ImportSource

CHUNK = 256 * 1024


def a_file(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise ArgumentTypeError(f"there is no file {name}")
    return path


class Command(BaseCommand):
    help = (
        "Imports conversations: what Claude's command line prints (stream-json) or keeps "
        "(transcripts), lists of messages as OpenAI's API has them, ToolMessage2, and Parley's own "
        "exports. Harmless to repeat: a file that is imported again adds what is new."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=a_file, metavar="PATH")
        parser.add_argument("--user", help="whose they will be; needed where there are several")

    def handle(self, *, paths: list[Path], user: str | None, **options: Any) -> None:
        caller = _caller(user)
        for path in paths:
            language = translation.get_language() or "en"
            source = ImportSource(path.name, path.stat().st_size, _chunks(path), language)
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
            counts = f"{chat.messages} messages, {chat.tools} tool calls"
            self.stdout.write(f"{start}{report.name}: “{chat.title}”, {counts}{known}")
        if not report.chats:
            self.stdout.write(f"{start}{report.name}: nothing was imported")
        for skipped in report.skipped:
            self.stdout.write(f"  {skipped_text(skipped.reason, skipped.where)}")
        if report.skipped_more:
            self.stdout.write(f"  and {report.skipped_more} more")


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


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
