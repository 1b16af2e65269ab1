"""Addresses of the chat."""

from django.urls import include, path

from chat.views import (
    attachments,
    choosing,
    details,
    exports,
    folders,
    imports,
    organise,
    pages,
    preferences,
    prompts,
    search,
    settings,
    turns,
)

app_name = "chat"

conversation = [
    path("", pages.conversation, name="conversation"),
    path("older/", pages.older, name="older"),
    path("newer/", pages.newer, name="newer"),
    path("outline/", pages.outline, name="outline"),
    path("send/", turns.send, name="send"),
    path("attachments/", attachments.upload, name="upload_here"),
    path("stop/", turns.stop, name="stop"),
    path("try/", turns.try_now, name="try_now"),
    path("edit/", turns.edit, name="edit"),
    path("queue/edit/", turns.edit_queued, name="queue_edit"),
    path("queue/remove/", turns.remove_queued, name="queue_remove"),
    path("queue/send/", turns.send_queued, name="queue_send"),
    path("queue/hold/", turns.hold_queue, name="queue_hold"),
    path("regenerate/", turns.regenerate, name="regenerate"),
    path("continue/", turns.continue_answer, name="continue"),
    path("version/", turns.version, name="version"),
    path("feedback/", turns.feedback, name="feedback"),
    path("choose/", organise.choose, name="choose"),
    path("m/<uuid:answer_id>/details/", details.details, name="details"),
    path("m/<uuid:message_id>/source/", pages.source, name="source"),
    path("export/<slug:form>/", exports.export, name="export"),
]

urlpatterns = [
    path("", pages.home, name="home"),
    path("new/", turns.new, name="new"),
    path("attachments/", attachments.upload, name="upload"),
    path("attachments/<uuid:attachment_id>/", attachments.attachment, name="attachment"),
    path("theme/", preferences.theme, name="theme"),
    path("settings/", settings.settings, name="settings"),
    path("settings/tools/", settings.tools, name="tools"),
    path("introduction/", choosing.introduction, name="introduction"),
    path("folders/new/", folders.new_folder, name="folder_new"),
    path("folders/<uuid:folder_id>/", folders.folder, name="folder"),
    path("folders/<uuid:folder_id>/delete/", folders.delete_folder, name="folder_delete"),
    path("move/", folders.move, name="move"),
    path("several/", organise.several, name="several"),
    path("settings/prompts/", prompts.prompts, name="prompts"),
    path("settings/prompts/<uuid:prompt_id>/", prompts.prompts, name="prompt"),
    path("settings/prompts/<uuid:prompt_id>/delete/", prompts.delete, name="delete_prompt"),
    path("prompts/", prompts.offered, name="offered_prompts"),
    path("prompts/<uuid:prompt_id>/", prompts.fill, name="fill_prompt"),
    path("models/", choosing.models, name="models"),
    path("models/favourite/", choosing.favourite, name="favourite"),
    path("search/", search.search, name="search"),
    path("import/", imports.import_chats, name="import"),
    path("archived/", organise.archived, name="archived"),
    path("deleted/", organise.deleted, name="deleted"),
    path("organise/", organise.organise, name="organise"),
    path("c/<uuid:conversation_id>/", include(conversation)),
]
