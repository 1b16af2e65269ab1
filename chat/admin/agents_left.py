"""Which agents lose their model by what is done to a model or a provider: said at once, where it
is done, with the way to mend it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from chat import services
from chat.rendering.page.links import with_link

RowT = TypeVar("RowT", bound=Model)


class TellsAgents(ModelAdmin[RowT]):
    """For lists of rows without which an agent cannot answer."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with telling(request):
            return super().changeform_view(request, *args, **kwargs)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with telling(request):
            return super().changelist_view(request, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with telling(request):
            return super().delete_view(request, *args, **kwargs)


@contextmanager
def telling(request: HttpRequest) -> Iterator[None]:
    before = _answering() if request.method == "POST" else {}
    yield
    for key in before.keys() - _answering().keys() if before else ():
        sentence = _("The agent %(name)s has no model that is switched on.") % {"name": before[key]}
        address = reverse("admin:chat_agent_change", args=[key])
        messages.warning(request, with_link(sentence, address, _("Give it another")))


def _answering() -> dict[UUID, str]:
    """The agents that can answer, and what they are called."""
    catalog = services.current_catalog()
    return {
        agent.id: services.spoken(agent.names)
        for agent in catalog.agents.values()
        if agent.enabled and agent.model_id and catalog.answers(agent)
    }
