from typing import Any

from django.core.management import BaseCommand, CommandError

from chat import services


class Command(BaseCommand):
    help = "Encrypts API keys and share links anew, with the first key of PARLEY_KEYS."

    def handle(self, **options: Any) -> None:
        rotated = services.rotate_keys()
        self.stdout.write(f"Secrets that were encrypted with the first key: {rotated.secrets}.")
        if rotated.unreadable:
            raise CommandError(
                "No key of PARLEY_KEYS opens these, and they were left as they are: "
                f"{', '.join(rotated.unreadable)}."
            )
        self.stdout.write("The other keys of PARLEY_KEYS are no longer needed.")
