"""Reasons in words: every error key that a person may meet, translated where it is shown."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from chat.protocol.ids import now_ms
from chat.rendering.page.sizes import file_size
from chat.rendering.page.times import moment

GENERAL = _("Something went wrong. Try again in a moment.")

_CONVERSATION: dict[str, Promise | str] = {
    "error.chat_conversation_not_found": _("This conversation does not exist, or is not yours."),
    "error.chat_message_not_found": _("This message does not exist any more."),
    "error.chat_no_active_generation": _("Nothing is being answered that could be stopped."),
    "error.chat_generation_in_progress": _(
        "This conversation is already answering. Stop it first."
    ),
    "error.chat_generation_in_progress_other_tab": _(
        "This conversation is already answering in another tab. Stop it first."
    ),
    "error.chat_nothing_waits": _("No answer waits for its provider any more."),
    "error.chat_previous_generation_not_finished": _(
        "The answer before is still ending. Try again in a moment."
    ),
    "error.chat_queue_full": ngettext_lazy(
        "At most %(limit)s message can wait. Send or remove it first.",
        "At most %(limit)s messages can wait. Send or remove one first.",
        "limit",
    ),
    "error.chat_not_queued": _("This message no longer waits: it was sent or removed."),
    "error.chat_format_too_new": _(
        "A newer version of Parley has written in this conversation. Update this one to go on."
    ),
    "error.chat_stale": _("The conversation has changed meanwhile. Look again, then send."),
    "error.chat_share_not_found": _("This link is not there any more."),
    "error.chat_share_too_many": _("There are %(limit)s links already. Revoke one first."),
    "error.chat_share_too_large": _(
        "The conversation is too large to be kept as it is now: at most %(size)s. Share it as it"
        " goes on."
    ),
    "error.chat_share_copy_too_large": _(
        "The conversation is too large to be copied: at most %(size)s with its files."
    ),
    "error.chat_import_running": _(
        "Another import of yours is running. Try again when it is over."
    ),
    "error.chat_temporary": _("This chat is temporary. Keep it first."),
    "error.chat_folder_not_found": _("This folder does not exist any more."),
    "error.chat_folder_name_required": _("A folder needs a name."),
    "error.chat_folder_exists": _("You have a folder “%(name)s” already."),
    "error.chat_too_many_folders": _("At most %(limit)s folders can be made."),
    "error.chat_redaction_too_short": _("Enter the text to replace, at least two characters."),
    "error.chat_invitation_over": _(
        "This invitation was used, withdrawn, or is too old. Ask for a new one."
    ),
    "error.chat_name_taken": _("Somebody has this user name already."),
    "error.chat_identity_unknown": _(
        "No account here is connected with it. Log in as you did so far and connect it under"
        " Account; or ask for an invitation."
    ),
    "error.chat_identity_email": _(
        "There is an account with your e-mail address already. Log in to that one and connect it"
        " under Account."
    ),
    "error.chat_identity_other": _("Your account is connected already."),
    "error.chat_identity_taken": _("That is connected with another account here."),
    "error.chat_last_administrator": _(
        "Nobody else is an administrator. Make somebody else one first."
    ),
    "error.chat_title_required": _("A title needs at least one letter."),
    "error.chat_nothing_to_continue": _("There is nothing here to go on with."),
    "error.chat_content_required": _("Write something first."),
    "error.chat_content_too_long": ngettext_lazy(
        "The message is too long: at most %(limit)s character.",
        "The message is too long: at most %(limit)s characters.",
        "limit",
    ),
    "error.chat_unknown_command": _("The page asked for something we cannot do. Reload it."),
    "error.chat_command_failed": _("That did not work. Try again, or reload the page."),
    "error.chat_bad_command": _("The page sent something we do not understand. Reload it."),
    "error.chat_too_fast": _("That was a little too fast. Try again in a moment."),
    "error.chat_too_many_generations": ngettext_lazy(
        "You have %(limit)s answer running already. Wait for it, or stop it.",
        "You have %(limit)s answers running already. Wait for one, or stop one.",
        "limit",
    ),
    "error.chat_too_many_messages": _(
        "At most %(limit)s messages a minute. The next can be sent in %(seconds)s s."
    ),
    "error.chat_server_busy": _("The server is busy. Try again in a moment."),
}

_BUDGET: dict[str, Promise | str] = {
    "error.chat_budget_tokens_day": _(
        "Today’s tokens are used up (%(limit)s). There are new ones from %(when)s on."
    ),
    "error.chat_budget_tokens_month": _(
        "This month’s tokens are used up (%(limit)s). There are new ones from %(when)s on."
    ),
    "error.chat_budget_cost_day": _(
        "Today’s budget is used up ($%(limit)s). There is a new one from %(when)s on."
    ),
    "error.chat_budget_cost_month": _(
        "This month’s budget is used up ($%(limit)s). There is a new one from %(when)s on."
    ),
}

_ATTACHMENT: dict[str, Promise | str] = {
    "error.chat_attachment_type_refused": _(
        "%(name)s cannot be attached: only images (PNG, JPEG, WebP, GIF), PDF and text files can."
    ),
    "error.chat_attachment_too_large": _("%(name)s is too large: at most %(size)s."),
    "error.chat_attachment_text_too_large": _(
        "%(name)s is too long for a text file: at most %(size)s."
    ),
    "error.chat_attachment_empty": _("%(name)s is empty."),
    "error.chat_attachment_too_many": ngettext_lazy(
        "At most %(limit)s file fits on one message.",
        "At most %(limit)s files fit on one message.",
        "limit",
    ),
    "error.chat_attachment_missing": _("No file came with this. Choose one first."),
    "error.chat_attachment_not_found": _(
        "A file of this message is not there any more. Attach it again."
    ),
    "error.chat_attachment_in_use": _("This file is on a message already."),
}

_PROMPT: dict[str, Promise | str] = {
    "error.chat_prompt_name_invalid": _(
        "One word only is its name: letters, digits, - and _, at most 40."
    ),
    "error.chat_prompt_name_taken": _("You have a prompt called %(name)s already."),
    "error.chat_prompt_text_required": _("Write what the prompt says."),
    "error.chat_prompt_text_too_long": _("The prompt is too long: at most %(limit)s characters."),
    "error.chat_prompt_too_many_variables": _("At most %(limit)s different variables."),
    "error.chat_prompt_too_many": _("You can keep %(limit)s prompts. Delete one first."),
    "error.chat_prompt_not_found": _("This prompt does not exist any more."),
}

_SETUP: dict[str, Promise | str] = {
    "error.chat_agent_not_found": _("The agent of this conversation does not exist any more."),
    "error.chat_model_not_configured": _("No model is set up for this agent."),
    "error.chat_provider_not_enabled": _("The provider of this model is switched off."),
    "error.chat_model_not_permitted": _(
        "You may not use this model. Choose another one, or ask an administrator."
    ),
}

_RUN: dict[str, Promise | str] = {
    "error.chat_generation_failed": _("The answer failed."),
    "error.chat_imported_failure": _("The answer failed: %(detail)s"),
    "error.chat_tool_execution_failed": _("A tool failed."),
    "error.chat_interrupted": _("The server stopped in the middle of this answer."),
    "error.chat_shutdown": _("The server was restarted in the middle of this answer."),
    "error.chat_max_steps": ngettext_lazy(
        "The agent took its %(steps)s step without an answer.",
        "The agent took all its %(steps)s steps without an answer.",
        "steps",
    ),
    "error.chat_repeated_calls": _("The agent called %(tool)s in the same way again and again."),
    "error.chat_output_limit": ngettext_lazy(
        "The answer grew longer than %(limit)s character.",
        "The answer grew longer than %(limit)s characters.",
        "limit",
    ),
    "error.chat_time_limit": ngettext_lazy(
        "The answer took longer than %(seconds)s second.",
        "The answer took longer than %(seconds)s seconds.",
        "seconds",
    ),
    "error.chat_empty_answer": _("The model answered nothing."),
    "error.chat_content_filter": _("The provider’s content filter held the answer back."),
    "error.chat_model_refused": _("The model refused to answer this."),
    "error.chat_model_refused_because": _("The model refused to answer this: %(reason)s"),
    "error.chat_model_refused_cyber": _(
        "The model refused to answer this because it could help an attack on computers."
    ),
    "error.chat_model_refused_bio": _(
        "The model refused to answer this because it touches dangerous biology."
    ),
    "error.chat_model_refused_frontier_llm": _(
        "The model refused to answer this because it is about building models of its kind."
    ),
    "error.chat_model_refused_reasoning_extraction": _(
        "The model refused to answer this because it asks for the model’s own thoughts."
    ),
    "error.chat_model_refused_general_harms": _(
        "The model refused to answer this because it could do harm."
    ),
}

_PROVIDER: dict[str, Promise | str] = {
    "error.chat_provider_connect_failed": _("The provider cannot be reached."),
    "error.chat_provider_tls_failed": _("The provider’s certificate is not trusted."),
    "error.chat_provider_wrong_address": _("There is no model provider at the given address."),
    "error.chat_provider_no_models": _("The provider has no model that can hold a conversation."),
    "error.chat_provider_auth_failed": _("The provider does not accept our key."),
    "error.chat_provider_forbidden": _("The provider does not allow this."),
    "error.chat_provider_model_not_found": _("The provider does not know this model."),
    "error.chat_provider_context_too_long": _("The conversation is too long for this model."),
    "error.chat_provider_request_too_large": _("The request is too large for the provider."),
    "error.chat_provider_request_refused": _("The provider did not accept the request."),
    "error.chat_provider_content_filtered": _(
        "The provider’s content filter held the answer back."
    ),
    "error.chat_provider_quota_exceeded": _("The provider’s credit or quota is used up."),
    "error.chat_provider_region_blocked": _(
        "The provider does not serve the country this server is in."
    ),
    "error.chat_provider_not_verified": _(
        "The provider wants your organisation to be verified before this model can be used."
    ),
    "error.chat_provider_terms_not_accepted": _(
        "The terms of this model have to be accepted at the provider first."
    ),
    "error.chat_provider_data_policy": _(
        "The privacy settings of the account at the provider rule this model out."
    ),
    "error.chat_provider_model_not_allowed": _("This model is not part of the key’s plan."),
    "error.chat_provider_model_retired": _(
        "The provider has retired this model. Choose another one."
    ),
    "error.chat_provider_not_a_chat_model": _("This model cannot hold a conversation."),
    "error.chat_provider_tool_refused": _(
        "The provider does not accept the tool %(tool)s. Switch it off, or correct its schema."
    ),
    "error.chat_provider_out_of_memory": _(
        "The server of this model has not enough memory to load it."
    ),
    "error.chat_provider_malformed_request": _(
        "We asked the provider in a way it does not understand. The fault is ours; it was logged."
    ),
    "error.chat_provider_rate_limited": _("The provider is busy; it asked us to wait a little."),
    "error.chat_provider_overloaded": _("The provider is overloaded at the moment."),
    "error.chat_provider_server_error": _("The provider had a fault of its own."),
    "error.chat_provider_bad_response": _("The provider answered something we do not understand."),
    "error.chat_provider_answer_too_large": _("The provider answered more than we can take."),
    "error.chat_provider_stalled": _("The provider fell silent."),
    "error.chat_provider_cut_off": _("The connection to the provider broke off."),
    "error.chat_provider_cli_missing": _(
        "The program that answers is not on the server, or cannot be run there."
    ),
    "error.chat_provider_cli_crashed": _("The program that answers broke off (%(code)s)."),
    "error.chat_provider_cli_max_turns": _("The program took all the turns it may take."),
    "error.chat_provider_cli_max_budget": _("The program has spent all that it may spend."),
    "error.chat_provider_not_supported": _("This kind of provider is not supported."),
}

MESSAGES: Mapping[str, Promise | str] = (
    _CONVERSATION | _BUDGET | _ATTACHMENT | _PROMPT | _SETUP | _RUN | _PROVIDER
)


class Unknown(int):
    """A value that nobody has given: written as an ellipsis, and counted as none."""

    def __str__(self) -> str:
        return "…"


def error_text(key: str, data: Mapping[str, Any] | None = None) -> str:
    """The reason in the active language; an unknown key has a sentence too."""
    values: defaultdict[str, Any] = defaultdict(Unknown, data or {})
    if isinstance(size := values.get("bytes"), int):
        values["size"] = file_size(size)
    if isinstance(until := values.get("until"), int):
        values["when"] = moment(until, now_ms()).text
        values["limit"] = number_format(values["limit"], force_grouping=True)
    return MESSAGES.get(key, GENERAL) % values


def staff_details(key: str, data: Mapping[str, Any]) -> str:
    """What only staff may see: the key, and all that is known of it."""
    lines = [key, *(f"{name}: {value}" for name, value in data.items() if value not in ("", None))]
    return "\n".join(line for line in lines if line)
