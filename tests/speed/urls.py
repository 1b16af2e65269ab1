"""The product's addresses, and a view that does nothing, to compare with."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse("nothing")


urlpatterns = [path("nothing/", nothing), path("", include("chatsite.urls"))]
