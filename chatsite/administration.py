"""Django's administration with our own site: its front page, its groups, its looks."""

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.apps import AdminConfig


class AdministrationConfig(AdminConfig):
    default_site = "chat.admin.site.Administration"

    def ready(self) -> None:
        # Rows register themselves when `chat.admin` is imported. Were it imported only when Django
        # makes the site, they would register with a second one, which is then thrown away.
        import chat.admin  # noqa: F401
        from chat.admin.rights import PAGELESS

        super().ready()
        # Whose rows these are is for the pages of people and accounts; some of them are secrets.
        for label in PAGELESS:
            for model in apps.get_app_config(label).get_models():
                if admin.site.is_registered(model):
                    admin.site.unregister(model)
