from typing import Any

from django.core.management import BaseCommand

from chat import services


class Command(BaseCommand):
    help = "Removes for good what is no longer kept; a running server does this by itself."

    def handle(self, **options: Any) -> None:
        services.prune_now()
        self.stdout.write("Done.")
