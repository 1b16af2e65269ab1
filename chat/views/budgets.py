"""What is left of one's budget."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat import services
from chat.rendering.page.budgets import left_html
from chat.views.responses import person, reader_of


@require_GET
@never_cache
def left(request: HttpRequest) -> HttpResponse:
    """The line beside the composer; empty while there is plenty."""
    limits = services.budget_left(person(request).pk)
    return HttpResponse(left_html(limits, reader_of(request)))
