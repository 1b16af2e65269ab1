from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser

from chatsite.entrance import entrance_link


class Command(BaseCommand):
    help = "Prints a link that logs somebody in: it works once, for ten minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", help="default: the first administrator")

    def handle(self, *, username: str | None, **options: Any) -> None:
        users = User.objects.filter(is_active=True).order_by("pk")
        user = users.filter(
            **({"username": username} if username else {"is_superuser": True})
        ).first()
        if user is None:
            raise CommandError(
                f"There is no active account “{username}”."
                if username
                else "There is no administrator yet. Run `manage.py prepare` first."
            )
        self.stdout.write(entrance_link(user, settings.ORIGINS[0]))
