"""Logging in with another server (OpenID Connect), against a real one on this machine."""

import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from chat.models import Invitation
from chat.services import Caller, make_invitation
from chat.views.single_sign_on import MOST_LEFT
from tests.support import factories as make
from tests.support.issuer import CLIENT, KEY, SECRET, STRANGE_KEY, Issuer, running_issuer, signed

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

GO = "/accounts/oidc/"
LOG_IN = "/accounts/login/"
ACCOUNT = "/settings/account/"


@pytest.fixture
def issuer(settings: Any, db: None) -> Iterator[Issuer]:
    with running_issuer() as server:
        settings.PARLEY_OIDC_ISSUER = server.url
        settings.PARLEY_OIDC_CLIENT_ID = CLIENT
        settings.PARLEY_OIDC_CLIENT_SECRET = SECRET
        settings.PARLEY_OIDC_NAME = "Example Ltd"
        settings.PARLEY_OIDC_SIGN_UP = True
        yield server


def leave(client: Client, query: str = "") -> str:
    """Over to the issuer, as a browser goes; the address to come back by."""
    there = client.get(GO + query)["Location"]
    answer = requests.get(there, allow_redirects=False, timeout=10)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["Location"])
    assert back.path == "/accounts/oidc/return/"
    return f"{back.path}?{back.query}"


def go(client: Client, query: str = "") -> Any:
    return client.get(leave(client, query))


def who(client: Client) -> str | None:
    """Who is logged in here."""
    key = client.session.get("_auth_user_id")
    return User.objects.get(pk=key).username if key else None


def told(client: Client, page: str = LOG_IN) -> str:
    return client.get(page).content.decode()


def connected(client: Client, password: str = make.PASSWORD) -> Any:
    """Say the password, go there, and come back."""
    client.post(f"{ACCOUNT}connect/", {"password": password})
    return go(client, "?connect")


def test_somebody_new_gets_an_account_and_finds_it_again(issuer: Issuer) -> None:
    issuer.person |= {"preferred_username": "anna", "name": "Anna Li",
                      "email": "anna@example.org", "email_verified": True}  # fmt: skip
    client = Client()
    page = told(client)
    assert "Go on with Example Ltd" in page
    before = client.session.session_key
    assert go(client, "?next=/settings/")["Location"] == "/settings/"
    assert client.session.session_key != before
    anna = User.objects.get()
    assert (anna.username, anna.first_name, anna.email) == ("anna", "Anna Li", "anna@example.org")
    assert not anna.has_usable_password()
    assert not anna.is_staff
    assert client.get("/").status_code == 200
    # By what the issuer knows them by, whatever they are called there now.
    issuer.person |= {"preferred_username": "ann", "email": "other@example.org"}
    again = Client()
    go(again)
    assert who(again) == "anna"
    assert User.objects.count() == 1


def test_nothing_of_it_is_there_until_it_is_set(settings: Any) -> None:
    client = Client()
    assert "accounts/oidc" not in told(client)
    assert client.get(GO).status_code == 404
    assert client.get(f"{GO}return/?state=x&code=y").status_code == 404
    member = Client()
    member.force_login(make.a_user("bea"))
    assert "connect" not in told(member, ACCOUNT).lower()
    assert member.post(f"{ACCOUNT}connect/").status_code == 404


WRONG = {
    "nonce of another question": {"nonce": "somebody-elses"},
    "no nonce": {"nonce": None},
    "another issuer": {"iss": "https://evil.example"},
    "for another client": {"aud": "another"},
    "given to another client": {"aud": [CLIENT, "another"], "azp": "another"},
    "for several, given to nobody": {"aud": [CLIENT, "another"]},
    "expired": {"exp": int(time.time()) - 3600},
    "without an end": {"exp": None},
    "made in the future": {"iat": int(time.time()) + 3600},
    "of nobody": {"sub": ""},
    "of a number": {"sub": 7},
    "of somebody with too long a name": {"sub": "x" * 300},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
def test_a_token_that_does_not_hold_lets_nobody_in(issuer: Issuer, claims: Any) -> None:
    issuer.claims = claims
    refused(issuer)


SIGNED = {
    "by another key": lambda said: signed(said, STRANGE_KEY),
    "by a key that is not listed": lambda said: signed(said, KEY, kid="two"),
    "by nothing": lambda said: jwt.encode(said, None, algorithm="none", headers={"kid": "one"}),
    "by what both know": lambda said: signed(said, SECRET.ljust(40, "x"), "HS256"),
    "by an algorithm that is not that of the key": lambda said: signed(said, KEY, "RS512"),
    "changed afterwards": lambda said: _changed(signed(said)),
    "not at all a token": lambda said: "not-a-token",
}


def _changed(token: str) -> str:
    header, _body, signature = token.split(".")
    other = signed({"sub": "root-1"}).split(".")[1]
    return f"{header}.{other}.{signature}"


@pytest.mark.parametrize("sign", SIGNED.values(), ids=SIGNED)
def test_a_token_that_is_not_signed_by_the_issuer(issuer: Issuer, sign: Any) -> None:
    issuer.sign = sign
    refused(issuer)


def test_a_key_without_a_name_is_found_where_it_is_the_only_one(issuer: Issuer) -> None:
    issuer.sign = lambda said: jwt.encode(said, KEY, algorithm="RS256")
    client = Client()
    go(client)
    assert who(client) == "person"


@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        ("/token", 500, "did not work"),
        ("/jwks", 500, "does not answer"),
        ("/userinfo", 401, "does not answer"),
        # Secrets are not sent on to wherever it leads.
        ("/token", "http://127.0.0.1:9/", "does not answer"),
    ],
)
def test_an_issuer_that_fails(issuer: Issuer, path: str, answer: int | str, words: str) -> None:
    client = Client()
    back = leave(client)
    issuer.broken[path] = answer
    assert client.get(back)["Location"] == LOG_IN
    assert words in told(client)
    assert who(client) is None


def test_an_issuer_that_is_away_or_is_another(issuer: Issuer, settings: Any) -> None:
    client = Client()
    issuer.calls_itself = "https://evil.example"
    assert client.get(GO)["Location"] == LOG_IN
    assert "did not work" in told(client)
    settings.PARLEY_OIDC_ISSUER = "http://127.0.0.1:9"
    assert client.get(GO)["Location"] == LOG_IN
    assert "Example Ltd does not answer" in told(client)


def test_the_details_are_of_the_same_person(issuer: Issuer) -> None:
    """What is said apart from the token is not signed."""
    issuer.userinfo = {"sub": "root-1"}
    refused(issuer)


def refused(issuer: Issuer) -> None:
    client = Client()
    assert go(client)["Location"] == LOG_IN
    assert "Logging in with Example Ltd did not work" in told(client)
    assert who(client) is None
    assert not User.objects.exists()


@pytest.mark.parametrize("how", ["another browser", "twice", "forged", "missing", "old"])
def test_only_the_browser_that_has_asked_is_answered_and_once(issuer: Issuer, how: str) -> None:
    """Otherwise somebody could be logged in to, or connected with, the account of another."""
    client = Client()
    back = leave(client)
    match how:
        case "another browser":
            client = Client()
        case "twice":
            assert client.get(back)["Location"] == "/"
            client.logout()
        case "forged":
            back = back.replace("state=", "state=x")
        case "missing":
            back = f"{GO}return/?code=code-0"
        case "old":
            session = client.session
            states = session["socialaccount_states"]
            session["socialaccount_states"] = {
                key: (state, at - 3600, kept) for key, (state, at, kept) in states.items()
            }
            session.save()
    assert client.get(back)["Location"] == LOG_IN
    assert who(client) is None
    assert "did not work" in told(client)


def test_a_code_that_was_stolen_is_of_no_use(issuer: Issuer) -> None:
    """Put into one's own answer: the issuer wants what only the right browser knows (PKCE)."""
    thief, victim = Client(), Client()
    stolen = parse_qs(urlsplit(leave(victim)).query)["code"][0]
    own = parse_qs(urlsplit(leave(thief)).query)["state"][0]
    assert thief.get(f"{GO}return/?state={own}&code={stolen}")["Location"] == LOG_IN
    assert who(thief) is None


def test_who_says_no_at_the_issuer_is_told_so(issuer: Issuer) -> None:
    client = Client()
    assert client.get(f"{GO}return/?error=access_denied")["Location"] == LOG_IN
    assert "You did not log in with Example Ltd." in told(client)


# --- which account --------------------------------------------------------------------


@pytest.mark.parametrize("verified", [True, False, None, "false"])
def test_nobody_takes_an_account_by_its_address_or_name(issuer: Issuer, verified: Any) -> None:
    """error.chat_identity_email: whoever has the address elsewhere need not be who has it here."""
    victim = make.a_user("anna", email="anna@example.org")
    issuer.person |= {"preferred_username": "anna", "email": "ANNA@example.org",
                      "email_verified": verified}  # fmt: skip
    client = Client()
    go(client)
    if verified is True:
        assert who(client) is None
        assert "There is an account with your e-mail address already" in told(client)
        assert User.objects.count() == 1
    else:
        # An address that nobody has checked is not even noted down.
        new = User.objects.exclude(pk=victim.pk).get()
        assert (who(client), new.username, new.email) == ("anna-2", "anna-2", "")


def test_those_of_another_issuer_are_others(issuer: Issuer, settings: Any) -> None:
    go(Client())
    with running_issuer() as second:
        settings.PARLEY_OIDC_ISSUER = second.url
        client = Client()
        go(client)
    assert User.objects.count() == 2


def test_without_sign_up_it_takes_an_account_or_an_invitation(
    issuer: Issuer, settings: Any
) -> None:
    """error.chat_identity_unknown"""
    settings.PARLEY_OIDC_SIGN_UP = False
    client = Client()
    assert go(client)["Location"] == LOG_IN
    assert "No account here is connected with it." in told(client)
    row = Invitation(expires_at=timezone.now() + timedelta(days=1))
    make_invitation(Caller(user_id=make.a_superuser("root").pk, name="root"), row)
    page = client.get(f"/accounts/invitation/{row.token}/").content.decode()
    assert f"/accounts/oidc/?invitation={row.token}" in page
    go(client, f"?invitation={row.token}")
    assert who(client) == "person"
    # It is used up; without it nobody else gets in.
    issuer.person["sub"] = "bob-1"
    late = Client()
    go(late, f"?invitation={row.token}")
    assert who(late) is None
    assert "This invitation was used" in told(late)


def test_who_is_switched_off_stays_out(issuer: Issuer) -> None:
    go(Client())
    User.objects.update(is_active=False)
    client = Client()
    assert go(client)["Location"] == LOG_IN
    assert "This account is switched off." in told(client)
    assert who(client) is None


def test_an_account_is_connected_by_whoever_knows_its_password(issuer: Issuer) -> None:
    """error.chat_identity_other, error.chat_identity_taken"""
    bea, client = make.a_user("bea"), Client()
    client.force_login(bea)
    # Without the password nothing begins, also not for whoever leads the browser there.
    assert client.post(f"{ACCOUNT}connect/", {"password": "wrong"}).status_code == 422
    assert client.get(f"{GO}?connect")["Location"] == ACCOUNT
    assert connected(client)["Location"] == ACCOUNT
    assert "From now on you can log in with Example Ltd." in told(client, ACCOUNT)
    other = Client()
    go(other)
    assert who(other) == "bea"
    # Nobody else connects the same, and nobody connects a second one.
    cleo = Client()
    cleo.force_login(make.a_user("cleo"))
    connected(cleo)
    assert "connected with another account" in told(cleo, ACCOUNT)
    issuer.person["sub"] = "second-1"
    connected(client)
    assert "connected already" in told(client, ACCOUNT)
    # And it ends.
    client.post(f"{ACCOUNT}disconnect/")
    issuer.person["sub"] = "anna-1"
    late = Client()
    go(late)
    assert who(late) == "person"


def test_what_one_person_began_another_does_not_end(issuer: Issuer) -> None:
    client = Client()
    client.force_login(make.a_user("bea"))
    client.post(f"{ACCOUNT}connect/", {"password": make.PASSWORD})
    back = leave(client, "?connect")
    kept = {"socialaccount_states": client.session["socialaccount_states"]}
    client.force_login(make.a_user("cleo"))
    session = client.session
    session.update(kept)
    session.save()
    client.get(back)
    nobody = Client()
    go(nobody)
    assert who(nobody) == "person"


def test_nobody_locks_themselves_out(issuer: Issuer) -> None:
    client = Client()
    go(client)
    client.post(f"{ACCOUNT}disconnect/")
    assert "Set a password first" in told(client, ACCOUNT)
    go(again := Client())
    assert who(again) == "person"


def test_it_goes_with_its_account(transactional_db: None, issuer: Issuer) -> None:
    client = Client()
    go(client)
    assert client.post(f"{ACCOUNT}delete/", {"username": "person"})["Location"] == LOG_IN
    assert not SocialAccount.objects.exists()


def test_it_leads_only_to_pages_of_ours(issuer: Issuer) -> None:
    for where in ("https://evil.example/", "//evil.example", "javascript:alert(1)"):
        assert go(Client(), f"?next={where}")["Location"] == "/"


def test_no_secret_is_logged_or_kept(issuer: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        go(Client())
        issuer.claims = {"aud": "another"}
        go(client := Client())
        page = told(client)
    dumped = StringIO()
    call_command("dumpdata", stdout=dumped)
    for secret in (SECRET, "at-canary"):
        assert secret not in caplog.text
        assert secret not in page
        assert secret not in dumped.getvalue()
    assert "the token does not hold: InvalidAudienceError" in caplog.text


def test_whoever_only_leaves_is_kept_for_an_hour_and_counted(issuer: Issuer) -> None:
    """Each asks for a session; the issuer is asked once in a while, not by every one of them."""
    for _ in range(MOST_LEFT):
        assert Client().get(GO)["Location"].startswith(issuer.url)
    assert issuer.asked.count("/.well-known/openid-configuration") == 1
    stranger = Client()
    assert stranger.get(GO)["Location"] == LOG_IN
    assert "Too many attempts" in told(stranger)
    assert Session.objects.count() == MOST_LEFT
    hour = timezone.now() + timedelta(hours=1)
    assert not Session.objects.filter(expire_date__gt=hour).exists()
    # Elsewhere they go on, and whoever comes back has not been one of those.
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    go(elsewhere)
    assert who(elsewhere) == "person"
    assert elsewhere.session.get_expiry_date() > timezone.now() + timedelta(days=29)
    assert Session.objects.get(pk=elsewhere.session.session_key).expire_date > hour
    for _ in range(2):
        for _ in range(MOST_LEFT - 1):
            Client(REMOTE_ADDR="192.0.2.7").get(GO)
        assert go(Client(REMOTE_ADDR="192.0.2.7"))["Location"] == "/"
