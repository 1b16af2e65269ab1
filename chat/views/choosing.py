"""What there is to choose from: what an agent can do, the list of models, one's favourites."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat import services
from chat.rendering.page.introduction import introduction_html
from chat.rendering.page.models import models_html
from chat.views.page_data import introduction as introduction_of
from chat.views.page_data import model_groups
from chat.views.responses import caller, reader_of


@require_GET
@never_cache
def introduction(request: HttpRequest) -> HttpResponse:
    """What an agent can do, and its examples, when somebody chooses it for a new chat."""
    asked = request.GET.get("agent", "")
    catalog = services.catalog_for(caller(request), trying=asked)
    picked = catalog.picked_agent(asked)
    agent = catalog.agent(picked) if picked else None
    if agent is None:
        raise Http404
    reader = reader_of(request, catalog)
    with reader.speaking():
        return HttpResponse(introduction_html(introduction_of(catalog, agent), reader))


@require_GET
@never_cache
def models(request: HttpRequest) -> HttpResponse:
    """The list, when somebody opens it."""
    asking = caller(request)
    catalog = services.catalog_for(asking)
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
