"""What there is to choose from: the list of models, and one's favourites among them."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat import services
from chat.rendering.page.models import models_html
from chat.views.page_data import model_groups
from chat.views.responses import caller, reader_of


@require_GET
@never_cache
def models(request: HttpRequest) -> HttpResponse:
    """The list, when somebody opens it."""
    asking, catalog = caller(request), services.current_catalog()
    reader = reader_of(request, catalog)
    with reader.speaking():
        groups = model_groups(catalog, services.favourite_models(asking))
        return HttpResponse(models_html(groups, reader))


@require_POST
def favourite(request: HttpRequest) -> HttpResponse:
    """A model is listed first from now on, or no longer."""
    is_favourite = request.POST.get("favourite") != "false"
    services.set_favourite(caller(request), request.POST.get("model", ""), is_favourite)
    return HttpResponse(status=204)
