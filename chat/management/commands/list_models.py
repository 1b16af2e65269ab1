from typing import Any

from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.db.models import Q
from django.template.defaultfilters import pluralize

from chat import services
from chat.management.terminal import error_line
from chat.models import Provider
from chat.protocol.errors import ProviderError


class Command(BaseCommand):
    help = "Asks providers for their models and adds those that are new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("provider", nargs="?", help="its name; default: all that are enabled")

    def handle(self, *, provider: str | None, **options: Any) -> None:
        chosen = Provider.objects.exclude(kind=Provider.Kind.DEMO)
        if provider:
            chosen = chosen.filter(Q(name_en__iexact=provider) | Q(name_zh_hans__iexact=provider))
            if not chosen:
                raise CommandError(f"There is no provider “{provider}”.")
        else:
            chosen = chosen.filter(enabled=True)
        failed = [each.name for each in chosen if not self.list_models(each)]
        if failed:
            raise CommandError(f"Not listed: {', '.join(failed)}.")

    def list_models(self, provider: Provider) -> bool:
        """List the models of one provider; whether that worked."""
        try:
            found = services.list_models(provider)
        except ProviderError as error:
            self.stdout.write(f"{provider}: {error_line(error)}")
            return False
        off = " (switched off: too many for a menu)" if found.too_many else ""
        models = f"{len(found.models)} model{pluralize(found.models)}"
        self.stdout.write(f"{provider}: {models}, {found.added} of them new{off}")
        for model_id in found.models:
            self.stdout.write(f"  {model_id}")
        return True
