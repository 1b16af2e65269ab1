from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        from chat import checks, services  # noqa: F401 - they register themselves
        from chat.tools import read_page, web_search

        # Any installed app adds tools by having a module of that name.
        autodiscover_modules("tools")
        web_search.configure(url=settings.PARLEY_SEARCH_URL or None)
        read_page.configure(private_hosts=settings.PARLEY_PRIVATE_HOSTS)
