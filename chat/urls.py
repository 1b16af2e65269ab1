"""Addresses of the chat."""

from django.urls import include, path

from chat.views import attachments, organise, pages, preferences, search, settings, turns

app_name = "chat"

conversation = [
    path("", pages.conversation, name="conversation"),
    path("older/", pages.older, name="older"),
    path("send/", turns.send, name="send"),
    path("attachments/", attachments.upload, name="upload_here"),
    path("stop/", turns.stop, name="stop"),
    path("edit/", turns.edit, name="edit"),
    path("regenerate/", turns.regenerate, name="regenerate"),
    path("continue/", turns.continue_answer, name="continue"),
    path("version/", turns.version, name="version"),
    path("choose/", organise.choose, name="choose"),
    path("m/<uuid:message_id>/source/", pages.source, name="source"),
    path("export/<slug:form>/", organise.export, name="export"),
]

urlpatterns = [
    path("", pages.home, name="home"),
    path("new/", turns.new, name="new"),
    path("attachments/", attachments.upload, name="upload"),
    path("attachments/<uuid:attachment_id>/", attachments.attachment, name="attachment"),
    path("theme/", preferences.theme, name="theme"),
    path("settings/", settings.settings, name="settings"),
    path("settings/tools/", settings.tools, name="tools"),
    path("search/", search.search, name="search"),
    path("organise/", organise.organise, name="organise"),
    path("c/<uuid:conversation_id>/", include(conversation)),
]
