from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from chat import services
from chat.management import preparation
from chat.management.local_model import retire_if_gone


class Command(BaseCommand):
    help = "Makes everything ready to serve: database, static files, owner. Harmless to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--without-copy", action="store_true",
            help="updates the database also where no copy of it can be made first",
        )  # fmt: skip

    def handle(self, *, without_copy: bool, **options: Any) -> None:
        try:
            preparation.check_disk()
            preparation.check_database_file()
            with services.prepared_alone(self.say):
                self.prepare(without_copy=without_copy)
        except DatabaseError as error:
            raise CommandError(f"The database cannot be used: {str(error).strip()}") from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise CommandError(f"{error.strerror or error}{where}.") from None

    def prepare(self, *, without_copy: bool) -> None:
        preparation.check_installation()
        preparation.migrate_if_needed(self.stdout.write, without_copy=without_copy)
        services.found_installation()
        preparation.collect_if_needed(self.stdout.write)
        preparation.ensure_owner(self.stdout.write)
        services.ensure_groups()
        services.ensure_defaults()
        services.fill_in_known()
        preparation.connect_providers(self.stdout.write)
        retire_if_gone()

    def say(self, line: str) -> None:
        """At once: whoever waits wants to know why."""
        self.stdout.write(line)
        self.stdout.flush()
