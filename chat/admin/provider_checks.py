"""Listing and testing models from the administration; the result is a message on the page."""

from typing import Final

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat import services
from chat.admin.rights import may_run
from chat.models import LanguageModel, Provider
from chat.protocol.errors import ProviderError
from chat.rendering.errors import error_text
from chat.views.responses import caller

# How many characters of a provider's own words are shown.
MOST_WORDS: Final = 200


def may_ask(request: HttpRequest, provider: Provider) -> bool:
    """A program is run by superusers alone; whoever else wants it to answer is told so."""
    if may_run(request, provider):
        return True
    sentence = _("%(provider)s is a program, which only superusers may run.")
    messages.error(request, sentence % {"provider": provider})
    return False


def list_models_of(request: HttpRequest, provider: Provider) -> None:
    """Read the models of a provider into rows, and say how many there are."""
    first = services.only_demo()
    try:
        found = services.list_models(provider, caller(request))
    except ProviderError as error:
        sentence = _("%(provider)s cannot be asked for its models. %(reason)s")
        messages.error(request, sentence % {"provider": provider, "reason": fault_in_words(error)})
        return
    count = len(found.models)
    sentence = ngettext(
        "%(provider)s has %(count)s model; new: %(added)s.",
        "%(provider)s has %(count)s models, %(added)s of them new.",
        count,
    )
    values = {"provider": provider, "count": count, "added": found.added}
    messages.success(request, sentence % values)
    if found.too_many:
        messages.warning(
            request, _("So many new models were added switched off. Switch on those you want.")
        )
    if first:
        tell_new_chats(request, provider)


def tell_new_chats(request: HttpRequest, provider: Provider) -> None:
    """Say so where new chats use a model of this provider now."""
    model = services.best_model(provider)
    if model is not None and services.is_for_new_chats(model):
        messages.success(request, _("New chats use %(model)s now.") % {"model": model})


def test_provider(request: HttpRequest, provider: Provider) -> LanguageModel | None:
    """List the models of a provider, then ask the one to begin with; the model, if it answers. A
    program is asked for its version instead, which costs nothing; its models are not for all."""
    if provider.kind == Provider.Kind.CLAUDE_CODE:
        _test_program(request, provider)
        return None
    list_models_of(request, provider)
    model = services.best_model(provider)
    # Why there is none was said by the listing.
    return model if model is not None and test_model(request, model) else None


def _test_program(request: HttpRequest, provider: Provider) -> None:
    try:
        version = services.program_version(provider)
    except ProviderError as error:
        sentence = _("%(provider)s does not run. %(reason)s")
        messages.error(request, sentence % {"provider": provider, "reason": fault_in_words(error)})
        return
    sentence = _("%(provider)s runs: %(version)s.")
    messages.success(request, sentence % {"provider": provider, "version": version})
    list_models_of(request, provider)


def test_model(request: HttpRequest, model: LanguageModel) -> bool:
    """Ask a model for one word and show it; whether it answers."""
    try:
        words = services.try_model(model)
    except ProviderError as error:
        sentence = _("%(model)s does not answer. %(reason)s")
        messages.error(request, sentence % {"model": model, "reason": fault_in_words(error)})
        return False
    messages.success(request, _("%(model)s says: %(words)s") % {"model": model, "words": words})
    return True


def fault_in_words(error: ProviderError) -> str:
    """Why a provider could not be asked: our sentence, the status, and its own words where they
    are those of a model provider. What any other server answers is not shown: whoever may enter
    an address would read from here what only this machine can reach."""
    told = [f"HTTP {error.status}"] if error.status else []
    if error.quotable:
        told.append(_one_line(error.message))
    details = ": ".join(part for part in told if part)
    sentence = error_text(error.key, error.data)
    return f"{sentence} ({details})" if details else sentence


def _one_line(text: str) -> str:
    """A short text without what could pass for something else on the page."""
    line = " ".join(text.split())
    line = "".join(character for character in line if character.isprintable())
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]}…"
