from typing import Any

from asgiref.sync import async_to_sync
from django.core.management import BaseCommand

from chat import services


class Command(BaseCommand):
    help = "Settles the answers that a crashed server left open; running ones are not touched."

    def handle(self, **options: Any) -> None:
        settled = async_to_sync(_settle)()
        self.stdout.write(f"Settled {settled} {'answer' if settled == 1 else 'answers'}.")


async def _settle() -> int:
    try:
        return await services.settle_orphans()
    finally:
        await services.retire()
