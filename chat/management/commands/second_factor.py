from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser

from chat import services


class Command(BaseCommand):
    help = "Lists who has a second factor; with --remove, somebody has none any more."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", help="default: everybody")
        parser.add_argument("--remove", action="store_true", help="take it off this person")

    def handle(self, *, username: str | None, remove: bool, **options: Any) -> None:
        people = User.objects.order_by("username")
        if username:
            people = people.filter(username=username)
            if not people:
                raise CommandError(f"There is no account “{username}”.")
        elif remove:
            raise CommandError("Say whose: manage.py second_factor NAME --remove")
        having = [person for person in people if services.ways_in(person.pk).factor]
        for person in having:
            if remove:
                services.take_off_second_factor(services.Caller(user_id=0, name=""), person)
            self.stdout.write(f"{person.get_username()}{': removed' if remove else ''}")
        if not having:
            self.stdout.write("Nobody has one." if not username else f"{username} has none.")
