"""Theme and language, from the foot of the sidebar."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST
from django.views.i18n import set_language as django_set_language

from chat import services
from chat.models import Profile
from chat.views.responses import back, caller


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """System, light or dark."""
    wanted = request.POST.get("theme", "")
    if wanted in Profile.Theme.values:
        services.save_preferences(caller(request), theme=wanted)
    return back(request)


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Django's own view, and the choice kept with the account."""
    response = django_set_language(request)
    wanted = request.POST.get("language", "")
    if request.user.is_authenticated and wanted in dict(settings.LANGUAGES):
        services.save_preferences(caller(request), language=wanted)
    return response
