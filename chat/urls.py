"""Addresses of the chat."""

from django.urls import include, path

from chat.views import organise, pages, preferences, turns

app_name = "chat"

conversation = [
    path("", pages.conversation, name="conversation"),
    path("older/", pages.older, name="older"),
    path("send/", turns.send, name="send"),
    path("stop/", turns.stop, name="stop"),
    path("edit/", turns.edit, name="edit"),
    path("regenerate/", turns.regenerate, name="regenerate"),
    path("continue/", turns.continue_answer, name="continue"),
    path("version/", turns.version, name="version"),
    path("export/<slug:form>/", organise.export, name="export"),
]

urlpatterns = [
    path("", pages.home, name="home"),
    path("new/", turns.new, name="new"),
    path("theme/", preferences.theme, name="theme"),
    path("organise/", organise.organise, name="organise"),
    path("c/<uuid:conversation_id>/", include(conversation)),
]
