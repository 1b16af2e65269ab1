from typing import Any

from django.core.management import BaseCommand

from chat import services


class Command(BaseCommand):
    help = "Goes on with these PARLEY_KEYS and this folder of files, when the earlier are lost."

    def handle(self, **options: Any) -> None:
        services.take_over()
        self.stdout.write(
            "These keys and this folder are those of the database from now on. "
            "`manage.py doctor` says which API keys must be entered anew."
        )
