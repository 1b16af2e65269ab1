"""Listing and testing models from the administration; the result is a message on the page."""

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat import services
from chat.models import LanguageModel, Provider
from chat.protocol.errors import ProviderError
from chat.rendering.errors import error_text


def list_models_of(request: HttpRequest, provider: Provider) -> None:
    """Read the models of a provider into rows, and say how many there are."""
    first = services.only_demo()
    try:
        found = services.list_models(provider)
    except ProviderError as error:
        sentence = _("%(provider)s cannot be asked for its models. %(reason)s")
        messages.error(request, sentence % {"provider": provider, "reason": _in_words(error)})
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
    """List the models of a provider, then ask the one to begin with; the model, if it answers."""
    list_models_of(request, provider)
    model = services.best_model(provider)
    # Why there is none was said by the listing.
    return model if model is not None and test_model(request, model) else None


def test_model(request: HttpRequest, model: LanguageModel) -> bool:
    """Ask a model for one word and show it; whether it answers."""
    try:
        words = services.try_model(model)
    except ProviderError as error:
        sentence = _("%(model)s does not answer. %(reason)s")
        messages.error(request, sentence % {"model": model, "reason": _in_words(error)})
        return False
    messages.success(request, _("%(model)s says: %(words)s") % {"model": model, "words": words})
    return True


def _in_words(error: ProviderError) -> str:
    details = f" ({error.message})" if error.message else ""
    return f"{error_text(error.key)}{details}"
