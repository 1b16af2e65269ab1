from typing import Any

from django.core.management import BaseCommand

from chat.services.search_index import reindex


class Command(BaseCommand):
    help = "Build the search index anew from what was said."

    def handle(self, *args: Any, **options: Any) -> None:
        number = reindex()
        self.stdout.write(f"{number} messages can be searched.")
