from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db import DatabaseError

from chat import services
from chat.management import preparation
from chat.management.local_model import retire_if_gone


class Command(BaseCommand):
    help = "Makes everything ready to serve: database, static files, owner. Harmless to repeat."

    def handle(self, **options: Any) -> None:
        try:
            preparation.check_disk()
            preparation.check_database_file()
            preparation.migrate_if_needed(self.stdout.write)
            preparation.collect_if_needed(self.stdout.write)
            preparation.ensure_owner(self.stdout.write)
            services.ensure_defaults()
            services.fill_in_known()
            preparation.connect_providers(self.stdout.write)
            retire_if_gone()
        except DatabaseError as error:
            raise CommandError(f"The database cannot be used: {str(error).strip()}") from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise CommandError(f"{error.strerror or error}{where}.") from None
