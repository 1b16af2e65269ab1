"""What every answer says to the browser, whoever asked for it."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from chatsite.headers import NO_DOCUMENTS, PERMISSIONS
from tests.support.pages import faults_of, is_page

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def says_what_it_needs(response: HttpResponseBase) -> bool:
    """What a script or a style sheet is not told: no page can be made of them."""
    headers = {**response.headers}
    is_document = not headers.get("Content-Type", "").startswith(NO_DOCUMENTS)
    of_documents = {"Cross-Origin-Opener-Policy", "Permissions-Policy"} & headers.keys()
    return EVERYWHERE.items() <= headers.items() and len(of_documents) == (2 if is_document else 0)


def assert_hardened(response: HttpResponseBase) -> None:
    """S14: it is for our own pages, needs no device, and what is a page is one without faults."""
    assert says_what_it_needs(response)
    for device in ("camera", "microphone", "geolocation", "usb", "payment"):
        assert f"{device}=()" in response.headers.get("Permissions-Policy", PERMISSIONS)
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert "*" not in policy
    assert response["X-Frame-Options"] == "DENY"
    if not response["Content-Type"].startswith(NO_DOCUMENTS):
        assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    if isinstance(response, HttpResponse) and is_page(response):
        assert "script-src" in policy
        assert list(faults_of(response.content.decode())) == []
