from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, call_command

from chat import services
from chat.management.commands.serve import check_alone


class Command(BaseCommand):
    help = "Puts a backup in the place of database and files. No server may be running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--replace",
            action="store_true",
            help="although there are conversations here: they are backed up first, and replaced",
        )

    def handle(self, path: Path, replace: bool, **options: Any) -> None:
        check_alone()
        if serving := services.count_servers():
            raise CommandError(
                f"Servers that use this database at this moment: {serving}. Stop them first; one "
                "that was killed counts for twenty seconds more."
            )
        try:
            found = services.read_backup(path)
            if services.is_in_use():
                if not replace:
                    raise CommandError(
                        "There are people or conversations here. With --replace they are backed "
                        "up first, and then replaced."
                    )
                self.stdout.write("Backing up what is here …")
                call_command("backup", stdout=self.stdout)
            services.put_back(path, self.stdout.write)
        except services.CopyFailed as failed:
            raise CommandError(str(failed)) from None
        except OSError as error:
            raise CommandError(f"{error.strerror or error}.") from None
        fault = ""
        try:
            call_command("prepare", stdout=self.stdout, skip_checks=True)
        except CommandError as error:
            # Above all that the keys are elsewhere: they are in no backup.
            fault = str(error)
        self.stdout.write(
            f"As it was on {found.made:%Y-%m-%d %H:%M} UTC: people: {found.people}, "
            f"conversations: {found.conversations}, messages: {found.messages}, "
            f"files: {found.files}."
        )
        if fault:
            raise CommandError(f"It was put back, and cannot be served yet. {fault}")
