"""How one person wants it: theme and language, from the foot of the column."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST
from django.views.i18n import set_language as django_set_language

from chat.models import Profile
from chat.services.preferences import prefer
from chat.views.showing import back, person


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """System, light or dark."""
    wanted = request.POST.get("theme", "")
    if wanted in Profile.Theme.values:
        prefer(person(request).pk, theme=wanted)
    return back(request)


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Django's own view, and the choice kept with the account."""
    response = django_set_language(request)
    wanted = request.POST.get("language", "")
    if request.user.is_authenticated and wanted in dict(settings.LANGUAGES):
        prefer(person(request).pk, language=wanted)
    return response
