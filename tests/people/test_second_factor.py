"""A second factor: codes of an app, codes on paper, at every door."""

import re
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from cryptography.fernet import Fernet
from django.contrib.auth.models import Permission, User
from django.core import serializers
from django.core.management import CommandError, call_command
from django.test import Client

from chat.models import AuditEntry
from chat.services import Caller, examine, new_factor_secret, rotate_keys, set_up_second_factor
from chatsite.entrance import entrance_link
from tests.support import factories as make
from tests.support.issuer import CLIENT, SECRET, running_issuer

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LOG_IN = "/accounts/login/"
CODE = "/accounts/code/"
PAGE = "/settings/account/second-factor/"
HALF_MINUTE = 30


class App:
    """What a telephone does: a code for every half minute."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.secret = 1_800_000_000.0, ""
        clock = SimpleNamespace(time=lambda: self.now)
        monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", clock)

    def code(self, later: int = 0) -> str:
        counter = int(self.now) // HALF_MINUTE + later
        return format_hotp_value(hotp_value(self.secret, counter))

    def next_code(self) -> str:
        """Each is good once, so a moment goes by."""
        self.now += 10 * HALF_MINUTE
        return self.code()


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, settings: Any, db: None) -> App:
    settings.PARLEY_SECOND_FACTOR = "optional"
    return App(monkeypatch)


@pytest.fixture
def bea(app: App) -> User:
    """Somebody who has one."""
    return with_factor(make.a_user("bea"), app)


def with_factor(person: User, app: App) -> User:
    app.secret = new_factor_secret()
    caller = Caller(user_id=person.pk, name=person.username)
    assert set_up_second_factor(caller, app.secret, app.next_code(), "")
    return person


def log_in(client: Client, name: str = "bea", where: str = LOG_IN) -> Any:
    return client.post(where, {"username": name, "password": make.PASSWORD, "next": "/settings/"})


def is_in(client: Client) -> bool:
    return client.get("/settings/").status_code == 200


def set_up(client: Client, app: App, **changed: str) -> Any:
    page = client.get(PAGE).content.decode()
    app.secret = re.findall(r'class="letters">([A-Z2-7 ]+)<', page)[0].replace(" ", "")
    return client.post(PAGE, {"password": make.PASSWORD, "code": app.next_code(), **changed})


def test_it_is_set_up_with_an_app_that_makes_the_right_codes(app: App) -> None:
    make.a_user("bea")
    client, elsewhere = Client(), Client()
    for each in (client, elsewhere):
        log_in(each)
    assert is_in(elsewhere)
    assert "Set up a second factor" in client.get("/settings/account/").content.decode()
    for wrong in ({"code": "000000"}, {"password": "wrong"}, {"code": "²²²²²²"}, {"code": ""}):
        assert set_up(client, app, **wrong).status_code == 422
    assert not Authenticator.objects.exists()
    page = set_up(client, app).content.decode()
    codes = re.findall(r"<code>(\d{8})</code>", page)
    assert len(set(codes)) == 10
    # Whoever was logged in before was not asked for a code.
    assert is_in(client)
    assert not is_in(elsewhere)
    # They are shown once.
    assert codes[0] not in client.get(PAGE).content.decode()


def test_a_password_alone_opens_nothing(bea: User, app: App) -> None:
    client = Client()
    assert log_in(client)["Location"] == CODE
    assert not is_in(client)
    assert "_auth_user_id" not in client.session
    before = client.session.session_key
    for wrong in ("000000", "", "12345678", "x" * 30):
        assert client.post(CODE, {"code": wrong}).status_code == 422
    assert not is_in(client)
    right = app.next_code()
    answer = client.post(CODE, {"code": f"{right[:3]} {right[3:]}"})
    assert answer["Location"] == "/settings/"
    assert is_in(client)
    assert client.session.session_key != before


@pytest.mark.parametrize("later", [-1, 1])
def test_a_telephone_may_be_half_a_minute_wrong(bea: User, app: App, later: int) -> None:
    app.next_code()
    client = Client()
    log_in(client)
    assert client.post(CODE, {"code": app.code(2 * later)}).status_code == 422
    assert client.post(CODE, {"code": app.code(later)}).status_code == 302


def test_each_code_is_good_once(bea: User, app: App) -> None:
    """Also that by which it was set up: somebody may have looked over a shoulder."""
    first, second = Client(), Client()
    for each in (first, second):
        log_in(each)
    assert first.post(CODE, {"code": app.code()}).status_code == 422
    code = app.next_code()
    assert first.post(CODE, {"code": code}).status_code == 302
    assert second.post(CODE, {"code": code}).status_code == 422


def test_codes_on_paper_let_in_once_each(bea: User, app: App) -> None:
    client = Client()
    log_in(client)
    client.post(CODE, {"code": app.next_code()})
    page = client.post(PAGE, {"code": app.next_code(), "codes": "1"}).content.decode()
    codes = re.findall(r"<code>(\d{8})</code>", page)
    for expected in (302, 422):
        other = Client()
        log_in(other)
        assert other.post(CODE, {"code": codes[3]}).status_code == expected
    assert "9 recovery codes are good still" in client.get(PAGE).content.decode()
    # New ones end the old ones.
    client.post(PAGE, {"code": app.next_code(), "codes": "1"})
    late = Client()
    log_in(late)
    assert late.post(CODE, {"code": codes[5]}).status_code == 422


def test_guessing_rests_whatever_is_done_between(bea: User, app: App) -> None:
    """The right password in between does not give more guesses."""
    for number in range(10):
        client = Client(REMOTE_ADDR=f"198.51.100.{number}")
        assert log_in(client)["Location"] == CODE
        assert client.post(CODE, {"code": "000000"}).status_code == 422
    log_in(client)
    page = client.post(CODE, {"code": app.next_code()})
    assert page.status_code == 422
    assert "Too many attempts." in page.content.decode()
    assert not is_in(client)


@pytest.mark.parametrize("door", ["administration", "link", "issuer", "new password"])
def test_every_door_asks_for_it(bea: User, app: App, door: str, settings: Any) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    bea.refresh_from_db()
    client = Client()
    match door:
        case "administration":
            assert log_in(client, where="/admin/login/")["Location"] == CODE
        case "link":
            link = entrance_link(bea, "")
            assert client.post(link)["Location"] == CODE
        case "new password":
            bea.set_password("another horse 9")
            bea.save()
            form = {"username": "bea", "password": "another horse 9"}
            assert client.post(LOG_IN, form)["Location"] == CODE
        case "issuer":
            with running_issuer() as issuer:
                settings.PARLEY_OIDC_ISSUER = issuer.url
                settings.PARLEY_OIDC_CLIENT_ID = CLIENT
                settings.PARLEY_OIDC_CLIENT_SECRET = SECRET
                by_issuer(client, bea, app)
    assert client.get("/admin/").status_code == 302
    assert not is_in(client)
    assert client.post(CODE, {"code": app.next_code()}).status_code == 302
    assert is_in(client)
    assert client.get("/admin/").status_code == 200


def by_issuer(client: Client, person: User, app: App) -> None:
    from tests.people.test_single_sign_on import connected, go

    owner = Client()
    owner.force_login(person)
    connected(owner)
    assert go(client)["Location"] == CODE


@pytest.mark.parametrize("how", ["late", "switched off", "another password", "nobody"])
def test_who_is_half_in_does_not_stay_so(bea: User, app: App, how: str) -> None:
    client = Client()
    if how != "nobody":
        log_in(client)
    match how:
        case "late":
            session = client.session
            session["waits_for_code"] = {**session["waits_for_code"], "until": 1.0}
            session.save()
        case "switched off":
            User.objects.update(is_active=False)
        case "another password":
            bea.set_password("another horse 9")
            bea.save()
    assert client.post(CODE, {"code": app.next_code()})["Location"] == LOG_IN
    assert not is_in(client)


def test_it_is_given_up_by_whoever_has_a_code(bea: User, app: App) -> None:
    client = Client()
    client.force_login(bea)
    assert client.post(PAGE, {"code": "000000", "remove": "1"}).status_code == 422
    assert client.post(PAGE, {"password": make.PASSWORD, "remove": "1"}).status_code == 422
    assert client.post(PAGE, {"code": app.next_code(), "remove": "1"}).status_code == 302
    assert not Authenticator.objects.exists()
    other = Client()
    assert log_in(other)["Location"] == "/settings/"


def test_the_administration_may_take_one(app: App, settings: Any) -> None:
    settings.PARLEY_SECOND_FACTOR = "administration"
    root = make.a_superuser("root")
    client = Client()
    client.force_login(root)
    for address in ("/admin/", "/admin/auth/user/", f"/admin/auth/user/{root.pk}/change/"):
        assert client.get(address)["Location"] == PAGE
    assert "The administration opens once you have one." in client.get(PAGE).content.decode()
    assert set_up(client, app).status_code == 200
    assert client.get("/admin/").status_code == 200
    member = Client()
    member.force_login(make.a_user("bea"))
    assert is_in(member)


def test_an_administrator_takes_it_off_and_that_is_written_down(bea: User, app: App) -> None:
    root = Client()
    root.force_login(make.a_superuser("root"))
    page = root.get(f"/admin/auth/user/{bea.pk}/change/").content.decode()
    assert "Take off the second factor" in page
    address = f"/admin/auth/user/{bea.pk}/second-factor/"
    assert root.get(address).status_code == 405
    assert root.post(address).status_code == 302
    entry = AuditEntry.objects.get(kind="auth.user", actor="root")
    assert (entry.name, entry.details) == ("bea", {"fields": ["second_factor"]})
    assert log_in(Client())["Location"] == "/settings/"
    # Not by whoever may do less than its person.
    with_factor(make.a_superuser("boss"), app)
    staff = make.a_user("sam", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__in=("view_user", "change_user")))
    sam = Client()
    sam.force_login(staff)
    boss = User.objects.get(username="boss")
    assert sam.post(f"/admin/auth/user/{boss.pk}/second-factor/").status_code == 403
    assert Authenticator.objects.filter(user=boss).exists()


def test_it_is_encrypted_and_turns_with_the_other_keys(bea: User, app: App, settings: Any) -> None:
    dumped = serializers.serialize("json", Authenticator.objects.all())
    assert app.secret not in dumped
    old = settings.PARLEY_KEYS
    settings.PARLEY_KEYS = [Fernet.generate_key().decode(), *old]
    assert rotate_keys().unreadable == ()
    settings.PARLEY_KEYS = settings.PARLEY_KEYS[:1]
    client = Client()
    log_in(client)
    assert client.post(CODE, {"code": app.next_code()}).status_code == 302


def test_what_no_key_opens_is_no_empty_secret(bea: User, app: App, settings: Any) -> None:
    settings.PARLEY_KEYS = [Fernet.generate_key().decode()]
    app.secret = ""
    client = Client()
    assert log_in(client)["Location"] == CODE
    assert client.post(CODE, {"code": app.next_code()}).status_code == 422
    assert len(rotate_keys().unreadable) == 2


def test_nothing_of_it_is_there_until_it_is_set(settings: Any) -> None:
    client = Client()
    client.force_login(make.a_user("bea"))
    assert "econd factor" not in client.get("/settings/account/").content.decode()
    assert client.get(PAGE).status_code == 404


def test_it_goes_with_its_account(transactional_db: None, bea: User, app: App) -> None:
    client = Client()
    client.force_login(bea)
    assert client.post("/settings/account/delete/", {"password": make.PASSWORD}).status_code == 302
    assert not Authenticator.objects.exists()


def test_the_command_lists_and_takes_off(bea: User, app: App) -> None:
    make.a_user("cleo")

    def said(*words: str) -> str:
        output = StringIO()
        call_command("second_factor", *words, stdout=output)
        return output.getvalue()

    assert said() == "bea\n"
    assert said("cleo") == "cleo has none.\n"
    with pytest.raises(CommandError, match="no account “nobody”"):
        said("nobody", "--remove")
    with pytest.raises(CommandError, match="Say whose"):
        said("--remove")
    assert said("bea", "--remove") == "bea: removed\n"
    assert said() == "Nobody has one.\n"
    assert AuditEntry.objects.filter(name="bea", actor="", verb="change").exists()


def test_the_doctor_names_who_has_rights_and_none(bea: User, app: App, settings: Any) -> None:
    make.a_superuser("root")
    assert doctor()["Second factor"] == "look: these enter the administration without: root"
    settings.PARLEY_SECOND_FACTOR = "off"
    assert doctor()["Second factor"] == "look: 1 people have one, and are not asked for it"
    settings.PARLEY_KEYS = [Fernet.generate_key().decode()]
    assert "second factor" in doctor()["Keys"]


def test_the_doctor_asks_the_log_in_server(db: None, settings: Any) -> None:
    assert "Log-in server 127.0.0.1" not in doctor()
    with running_issuer() as issuer:
        settings.PARLEY_OIDC_ISSUER = issuer.url
        ok = "ok: answers; it must lead back to http://127.0.0.1:8000/accounts/oidc/return/"
        assert doctor()["Log-in server 127.0.0.1"] == ok
        issuer.calls_itself = "https://evil.example"
        assert doctor()["Log-in server 127.0.0.1"].startswith("look: it calls itself https")
    assert doctor()["Log-in server 127.0.0.1"] == "look: ConnectionError"


def doctor() -> dict[str, str]:
    return {each.about: f"{each.state}: {each.words}" for each in examine()}
