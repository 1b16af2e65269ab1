from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.utils import translation

from chat import services
from chat.rendering.page.exports import export_html
from chat.rendering.reader import Names, Reader
from chat.services import Caller, ExportForm


class Command(BaseCommand):
    help = (
        "Exports all conversations of a person as one ZIP archive, with their files. As JSON (the "
        "default) it has everything, and import_chats gives it back; deleted conversations and "
        "temporary chats are not in it. The audit log has it, and the person sees it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="the archive to write")
        parser.add_argument("--user", required=True, metavar="NAME", help="whose they are")
        parser.add_argument("--format", default="json", choices=["html", *services.FORMATS])

    def handle(self, *, path: Path, user: str, format: str, **options: Any) -> None:
        person = User.objects.filter(username=user).first()
        if person is None:
            raise CommandError(f"There is nobody called {user}.")
        if path.exists():
            raise CommandError(f"{path} is there already.")
        caller = Caller(user_id=person.pk, name=user)
        ids = services.own_chats(caller)
        language = translation.get_language() or "en"
        agents = {
            agent.key: services.spoken(agent.names, language)
            for agent in services.current_catalog().agents.values()
        }
        reader = Reader(id=str(person.pk), name=user, language=language, names=Names(agents=agents))
        services.note_export(person, len(ids))
        partly = path.with_name(f"{path.name}.part")
        with partly.open("wb") as file:
            for piece in services.zip_chats(caller, ids, _form(format, reader), agents):
                file.write(piece.data)
                self._progress(piece.done, len(ids))
        # Whoever sees the archive sees all of it.
        partly.rename(path)
        start = "\r" if self.stdout.isatty() else ""
        size = path.stat().st_size
        self.stdout.write(f"{start}{path}: {len(ids)} conversations, {size:,} bytes")

    def _progress(self, done: int, total: int) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\r{done} of {total} conversations", ending="")
            self.stdout.flush()


def _form(name: str, reader: Reader) -> ExportForm:
    if name == "html":
        return services.html_form(partial(export_html, reader=reader))
    return services.FORMATS[name]
