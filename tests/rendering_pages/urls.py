"""The addresses that pages name, for tests that draw pages and serve none."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from chatsite import urls as site


def _nothing(request: HttpRequest, **kwargs: str) -> HttpResponse:
    return HttpResponse()


_chat = [
    path("", _nothing, name="home"),
    path("new/", _nothing, name="new"),
    path("theme/", _nothing, name="theme"),
    path("organise/", _nothing, name="organise"),
    path("c/<uuid:pk>/", _nothing, name="conversation"),
    *(
        path(f"c/<uuid:pk>/{verb}/", _nothing, name=verb)
        for verb in ("send", "stop", "older", "edit", "regenerate")
    ),
    path("c/<uuid:pk>/export/<slug:form>/", _nothing, name="export"),
]

urlpatterns = [
    *site.urlpatterns[:-1],
    path("", include((_chat, "chat"))),
]
