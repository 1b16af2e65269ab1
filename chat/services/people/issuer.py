"""The issuer: another server that says who somebody is, by OpenID Connect; asked by django-allauth.

The token that names somebody is believed only if it is signed by a key of the issuer, is for us,
is fresh, and answers the very question that this browser has asked (state, nonce, PKCE).
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from time import monotonic
from typing import Any, Final

import jwt
import requests
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest

from chat.protocol.frozen import JsonObject

# Signed by a key that only the issuer has; never by what we know too, and never not at all.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
REQUIRED: Final = ("iss", "sub", "aud", "exp", "iat")
# How much clocks may differ, in seconds.
LEEWAY: Final = 60
# As much as a column of allauth holds; the standard allows 255.
MOST_SUBJECT: Final = 191
MOST_ISSUER: Final = 200


# For how many seconds is kept what an issuer says of itself: every visit to it needs that.
KEPT: Final = 5 * 60

# Until when, and what it is, by the issuer's address.
_known: dict[str, tuple[float, JsonObject]] = {}


class IssuerRefused(Exception):
    """What came back does not say who somebody is. The words are for operators: no secrets."""


class IssuerAway(Exception):
    """It cannot be asked at this moment."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is at the issuer: by `subject` and by nothing else. An address is here only if
    the issuer says that it is theirs."""

    subject: str
    username: str = ""
    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """Somebody who comes back from the issuer, with what was kept when they left."""

    identity: Identity
    kept: JsonObject


class CarefulRequests(DefaultSocialAccountAdapter):
    """How allauth asks: it follows nobody elsewhere, for its requests carry secrets."""

    def get_requests_session(self) -> requests.Session:
        session: requests.Session = super().get_requests_session()
        session.max_redirects = 0
        return session


def issuer_name() -> str:
    """What people know it by; nothing where there is none."""
    if not settings.PARLEY_OIDC_ISSUER:
        return ""
    host = re.sub(r"^https?://|[/:].*$", "", settings.PARLEY_OIDC_ISSUER)
    return str(settings.PARLEY_OIDC_NAME or host)


def issuer_id() -> str:
    """By what its people are kept: those of another issuer are others, whatever they are called."""
    issuer = str(settings.PARLEY_OIDC_ISSUER).rstrip("/")
    return issuer if len(issuer) <= MOST_ISSUER else sha256(issuer.encode()).hexdigest()


def send_to_issuer(request: HttpRequest, callback: str, kept: JsonObject) -> str:
    """Where the browser goes next. What is kept waits in its session."""
    nonce = secrets.token_urlsafe(24)
    provider = _provider(request, callback)
    with _faults():
        response = provider.redirect(
            request, process="login", data={**kept, "nonce": nonce}, auth_params={"nonce": nonce}
        )
    return str(response["Location"])


def take_back(request: HttpRequest, callback: str) -> Returned:
    """Who has come back. The question that was asked is used up, however this ends."""
    provider = _provider(request, callback)
    state = statekit.unstash_state(
        request, provider_id=provider.sub_id, state_id=request.GET.get("state", "")
    )
    if state is None:
        raise IssuerRefused("nobody has asked, or too long ago")
    if "code" not in request.GET:
        raise IssuerRefused(f"it said {_word(request.GET.get('error', ''))}")
    kept = state["data"]
    issuer = provider.get_oauth2_adapter(request)
    with _faults():
        client = issuer.get_client(request, provider.app)
        tokens = issuer.get_access_token_data(
            request, provider.app, client, pkce_code_verifier=state["pkce_code_verifier"]
        )
        return Returned(issuer.identity(tokens, kept.pop("nonce")), kept)


def examine_issuer() -> None:
    """Ask for all that a log-in needs, without one."""
    _known.clear()
    issuer = _provider(HttpRequest(), "").get_oauth2_adapter(HttpRequest())
    with _faults():
        for needed in ("authorization_endpoint", "token_endpoint"):
            issuer.openid_config[needed]
        issuer.keys()


class Issuer(OpenIDConnectOAuth2Adapter):
    """How allauth speaks with it, with what allauth leaves out."""

    callback = ""
    provider: Any = None

    def get_provider(self) -> Any:
        return self.provider

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return str(self.callback)

    @property
    def openid_config(self) -> dict[str, Any]:
        address = settings.PARLEY_OIDC_ISSUER
        until, config = _known.get(address, (0.0, {}))
        if monotonic() < until:
            return config
        config = dict(super().openid_config)
        if str(config["issuer"]).rstrip("/") != settings.PARLEY_OIDC_ISSUER.rstrip("/"):
            raise IssuerRefused(f"it calls itself {config['issuer']}")
        _known[address] = (monotonic() + KEPT, config)
        return config

    def keys(self) -> list[dict[str, Any]]:
        found = self._get(self.openid_config["jwks_uri"])["keys"]
        return [key for key in found if key.get("use", "sig") == "sig"]

    def identity(self, tokens: dict[str, Any], nonce: str) -> Identity:
        claims = self._verified(str(tokens["id_token"]), nonce)
        if "userinfo_endpoint" in self.openid_config:
            said = self._fetch_user_info(tokens["access_token"])
            if said.get("sub") != claims["sub"]:
                raise IssuerRefused("it speaks of somebody else")
            claims = {**said, **claims}
        return _identity(claims)

    def _verified(self, token: str, nonce: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        config, client_id = self.openid_config, settings.PARLEY_OIDC_CLIENT_ID
        claims: dict[str, Any] = jwt.decode(
            token,
            key=self._key(header),
            algorithms=[header["alg"]],
            audience=client_id,
            issuer=config["issuer"],
            leeway=LEEWAY,
            options={"require": list(REQUIRED)},
        )
        if not compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise IssuerRefused("the token answers another question (nonce)")
        # Where a token is for several, it was given to the one that is named here.
        for_several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (for_several or "azp" in claims) and claims.get("azp") != client_id:
            raise IssuerRefused("the token was given to another client (azp)")
        return claims

    def _key(self, header: dict[str, Any]) -> Any:
        alg, kid = header.get("alg"), header.get("kid")
        if alg not in ALGORITHMS:
            raise IssuerRefused(f"the token is signed by {_word(alg)}")
        fitting = [
            key
            for key in self.keys()
            if kid in (None, key.get("kid")) and key.get("alg", alg) == alg
        ]
        # A token may leave out which key it is of where there is one.
        if len(fitting) != 1:
            raise IssuerRefused("the token is signed by an unknown key")
        return jwt.PyJWK(fitting[0], algorithm=alg).key

    def _get(self, url: str) -> Any:
        with CarefulRequests().get_requests_session() as session:
            response = session.get(url)
            response.raise_for_status()
            return response.json()


class _Provider(OpenIDConnectProvider):
    oauth2_adapter_class = Issuer
    callback = ""

    def get_oauth2_adapter(self, request: HttpRequest) -> Any:
        issuer = self.oauth2_adapter_class(request, self.sub_id)
        issuer.provider, issuer.callback = self, self.callback
        return issuer


def _provider(request: HttpRequest, callback: str) -> Any:
    app = SocialApp(
        provider=OpenIDConnectProvider.id,
        provider_id=issuer_id(),
        name=issuer_name(),
        client_id=settings.PARLEY_OIDC_CLIENT_ID,
        secret=settings.PARLEY_OIDC_CLIENT_SECRET,
        settings={
            "server_url": settings.PARLEY_OIDC_ISSUER.rstrip("/"),
            "oauth_pkce_enabled": True,
        },
    )
    provider = _Provider(request, app=app)
    provider.callback = callback
    return provider


def _identity(claims: dict[str, Any]) -> Identity:
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT:
        raise IssuerRefused("it gives no name that can be kept (sub)")
    # Some servers write the word.
    is_theirs = claims.get("email_verified") in (True, "true")
    return Identity(
        subject=subject,
        username=_text(claims, "preferred_username"),
        name=_text(claims, "name"),
        email=_text(claims, "email") if is_theirs else "",
    )


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""


@contextmanager
def _faults() -> Iterator[None]:
    """What libraries say of an issuer becomes one of our two; without what it has sent."""
    try:
        yield
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else ""
        raise IssuerAway(f"HTTP {status}") from None
    except requests.RequestException as error:
        raise IssuerAway(type(error).__name__) from None
    except OAuth2Error as error:
        said = re.search(r'"error"\s*:\s*"([a-z_]{1,40})"', str(error))
        raise IssuerRefused(f"it gave no token: {said[1] if said else 'no reason'}") from None
    except jwt.PyJWTError as error:
        raise IssuerRefused(f"the token does not hold: {type(error).__name__}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IssuerRefused(f"it answered what nobody understands: {_word(error)}") from None


def _word(said: object) -> str:
    """What may be in a log: a short word of plain letters."""
    return re.sub(r"[^\w .,-]", "", str(said), flags=re.ASCII)[:60] or "nothing"
