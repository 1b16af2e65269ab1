from typing import Any

from django.core.management import BaseCommand
from django.template.defaultfilters import pluralize

from chat import services


class Command(BaseCommand):
    help = "Builds the search index anew from all messages."

    def handle(self, *args: Any, **options: Any) -> None:
        number = services.reindex()
        self.stdout.write(f"{number} message{pluralize(number)} can be searched.")
