from typing import Any
from uuid import UUID

from django.core.management import BaseCommand
from django.core.management.base import CommandParser
from django.template.defaultfilters import pluralize

from chat import services
from chat.services import Repair


class Command(BaseCommand):
    help = (
        "Finds tool calls and results that were saved as text and makes them tool parts again. "
        "Shows what it would do; writes with --apply. Harmless to repeat."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="write the repairs")
        parser.add_argument("--conversation", type=UUID, help="look at this one only")

    def handle(self, *, apply: bool, conversation: UUID | None, **options: Any) -> None:
        repairs = list(services.repair_conversations(apply=apply, only=conversation))
        for repair in repairs:
            self.stdout.write(_line(repair))
        found = sum(not (repair.busy or repair.newer) for repair in repairs)
        conversations = f"{found} conversation{pluralize(found)}"
        if not found:
            self.stdout.write("There is nothing to repair.")
        elif apply:
            self.stdout.write(f"Repaired {conversations}.")
        else:
            self.stdout.write(f"{conversations} to repair. Write it with --apply.")


def _line(repair: Repair) -> str:
    if repair.newer:
        return f"{repair.conversation_id}: left alone, a newer Parley has written in it"
    if repair.busy:
        return f"{repair.conversation_id}: left alone, an answer is being written"
    return (
        f"{repair.conversation_id}: {repair.calls} call{pluralize(repair.calls)}, "
        f"{repair.results} result{pluralize(repair.results)}, "
        f"{repair.joined} message{pluralize(repair.joined)} joined"
    )
