"""Asking providers from the administration; the answer, or the fault in words, is a message."""

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.models import LanguageModel, Provider
from chat.protocol.errors import ProviderError
from chat.rendering.errors import error_text
from chat.services.providers import list_models, try_model


def tell_models(request: HttpRequest, provider: Provider) -> None:
    """Read the models of a provider into rows, and say how many there are."""
    try:
        found = list_models(provider)
    except ProviderError as error:
        said = _("%(provider)s cannot be asked for its models. %(reason)s")
        messages.error(request, said % {"provider": provider, "reason": _in_words(error)})
        return
    said = _("%(provider)s has %(count)s models, %(added)s of them new.")
    values = {"provider": provider, "count": len(found.models), "added": found.added}
    messages.success(request, said % values)
    if found.too_many:
        messages.warning(
            request, _("So many new models were added switched off. Switch on those you want.")
        )


def tell_word_of_provider(request: HttpRequest, provider: Provider) -> None:
    model = provider.models.filter(enabled=True).first()
    if model is None:
        said = _("%(provider)s has no model that is switched on. List its models first.")
        messages.error(request, said % {"provider": provider})
        return
    tell_word(request, model)


def tell_word(request: HttpRequest, model: LanguageModel) -> None:
    """Ask a model for one word and show it."""
    try:
        words = try_model(model)
    except ProviderError as error:
        said = _("%(model)s does not answer. %(reason)s")
        messages.error(request, said % {"model": model, "reason": _in_words(error)})
        return
    messages.success(request, _("%(model)s says: %(words)s") % {"model": model, "words": words})


def _in_words(error: ProviderError) -> str:
    said = f" ({error.message})" if error.message else ""
    return f"{error_text(error.key)}{said}"
