from typing import Any

from django.core.management import BaseCommand

from chat import services


class Command(BaseCommand):
    help = "Builds the search index anew from all messages."

    def handle(self, *args: Any, **options: Any) -> None:
        number = services.reindex()
        self.stdout.write(f"{number} messages can be searched.")
