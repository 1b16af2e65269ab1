from typing import Any

from django.conf import settings
from django.core.management import CommandParser, call_command

from chat import services
from chat.management.commands.serve import Command as Serve
from chat.management.commands.serve import check_alone, check_port
from chat.management.llama_server import CONTEXT
from chat.management.local_model import LocalServer, find_weights, install_engine


class Command(Serve):
    help = "Serves like `serve`, with a small real model beside it; downloads it the first time."

    def add_arguments(self, parser: CommandParser) -> None:
        """One process: the model beside it has no room for more."""

    def handle(self, **options: Any) -> None:
        check_alone()
        check_port(settings.HOST, settings.PORT)
        call_command("prepare", stdout=self.stdout, stderr=self.stderr, skip_checks=True)
        install_engine(self.stdout.write)
        weights = find_weights(settings.DATA_DIR / "models", self.stdout.write)
        with LocalServer(weights) as server:
            services.adopt_local_model(server.base_url, server.key, CONTEXT)
            try:
                self.serve()
            finally:
                services.retire_local_model()
