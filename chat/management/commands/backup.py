from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from chat import services


class Command(BaseCommand):
    help = "Copies database and files into one ZIP file, beside a running server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", nargs="?", type=Path, help="a file or a folder (backups/ in the data folder)"
        )
        parser.add_argument(
            "--keep", type=int, default=14, help="of those in backups/, so many stay (14)"
        )

    def handle(self, path: Path | None, keep: int, **options: Any) -> None:
        target = path or services.backup_folder()
        if target.is_dir():
            target = target / f"parley-{timezone.now():%Y%m%d-%H%M%S}.zip"
        if not target.parent.is_dir():
            raise CommandError(f"There is no folder {target.parent}.")
        self.stdout.write("Copying …")
        try:
            made = services.make_backup(target.absolute())
        except services.CopyFailed as failed:
            raise CommandError(str(failed)) from None
        except OSError as error:
            raise CommandError(f"{error.strerror or error} ({target}).") from None
        if path is None:
            services.forget_backups(keep)
        size = target.stat().st_size / 1_000_000
        self.stdout.write(
            f"{target}: {size:.1f} MB, people: {made.people}, conversations: "
            f"{made.conversations}, messages: {made.messages}, files: {made.files}."
        )
        self.stdout.write(
            "Not in it: the keys (PARLEY_KEYS, or provider_keys in the data folder). "
            "Keep them elsewhere; without them providers' API keys must be entered again."
        )
