"""A password that was forgotten: a link by mail, or from an administrator, good once."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from chat.models import AuditEntry, Profile
from chatsite import environment
from tests.people.test_joining import wait_for_mail
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PASSWORD = "a longer horse 7"
NEW = {"new_password1": PASSWORD, "new_password2": PASSWORD}
ASK = "/accounts/forgotten/"
CHOOSE = "/accounts/password/"


@pytest.fixture
def bea(transactional_db: None, settings: Any) -> User:
    settings.PARLEY_EMAIL = "smtp://mail.example.org"
    return make.a_user("bea", email="bea@example.org")


def ask(email: str, address: str = "198.51.100.7", host: str = "127.0.0.1:8000") -> Any:
    client = Client(REMOTE_ADDR=address, headers={"host": host})
    return client.post(ASK, {"email": email})


def mailed_link() -> str:
    found = re.search(r"http://127\.0\.0\.1:8000(/accounts/reset/\S+)", wait_for_mail().body)
    assert found, wait_for_mail().body
    return found[1]


def test_a_link_by_mail_sets_a_password_once(bea: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(bea)
    assert ask("BEA@example.org")["Location"] == f"{ASK}?sent"
    link = mailed_link()
    visitor = Client()
    # Opening it changes nothing; the address of the page has no secret in it.
    assert visitor.get(link)["Location"] == visitor.get(link)["Location"] == CHOOSE
    assert "For bea." in visitor.get(CHOOSE).content.decode()
    assert visitor.post(CHOOSE, {**NEW, "new_password2": "other"}).status_code == 422
    assert visitor.post(CHOOSE, NEW)["Location"] == "/accounts/login/"
    assert "Your password was changed." in visitor.get("/accounts/login/").content.decode()
    bea.refresh_from_db()
    assert bea.check_password(PASSWORD)
    assert elsewhere.get("/settings/account/").status_code == 302
    for late in (visitor.get(CHOOSE), visitor.post(CHOOSE, NEW), Client().get(link)):
        assert late.status_code == 410


def test_two_who_opened_one_link_do_not_both_set_a_password(bea: User) -> None:
    ask("bea@example.org")
    link = mailed_link()
    first, second = Client(), Client()
    for each in (first, second):
        each.get(link)
        assert each.get(CHOOSE).status_code == 200
    assert first.post(CHOOSE, NEW).status_code == 302
    other = {"new_password1": "the other horse 8", "new_password2": "the other horse 8"}
    assert second.post(CHOOSE, other).status_code == 410
    bea.refresh_from_db()
    assert bea.check_password(PASSWORD)


@pytest.mark.parametrize("gone", ["deactivated", "logged in since", "another's", "forged"])
def test_a_link_that_is_not_good(bea: User, gone: str) -> None:
    ask("bea@example.org")
    link = mailed_link()
    match gone:
        case "deactivated":
            User.objects.update(is_active=False)
        case "logged in since":
            Client().login(username="bea", password=make.PASSWORD)
        case "another's":
            other = make.a_user("cleo")
            from chat.services import reset_link

            uid = reset_link(other).uid
            link = f"/accounts/reset/{uid}/{link.split('/')[-2]}/"
        case "forged":
            link = f"{link[:-3]}xx/"
    page = Client().get(link)
    assert page.status_code == 410
    assert "This link is over" in page.content.decode()


def test_nobody_learns_who_has_an_account(bea: User) -> None:
    make.a_user("off", email="off@example.org", is_active=False)
    without = make.a_user("linked", email="linked@example.org")
    without.set_unusable_password()
    without.save()
    answers = [
        ask(email)
        for email in ("bea@example.org", "nobody@example.org", "off@example.org",
                      "linked@example.org")
    ]  # fmt: skip
    assert {(each.status_code, each["Location"], each.content) for each in answers} == {
        (302, f"{ASK}?sent", b"")
    }
    wait_for_mail()
    assert [sent.to for sent in mail.outbox] == [["bea@example.org"]]


def test_nobody_is_flooded_with_mail(bea: User) -> None:
    for _ in range(6):
        assert ask("bea@example.org").status_code == 302
    wait_for_mail()
    assert len(mail.outbox) == 3
    for _ in range(14):
        ask("nobody@example.org")
    refused = ask("someone@example.org")
    assert "Too many attempts." in refused.content.decode()


def test_a_link_leads_to_us_whatever_host_was_asked(bea: User, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    ask("bea@example.org", host="evil.example.net")
    assert mailed_link()
    assert "evil" not in wait_for_mail().body


def test_the_mail_is_in_the_language_of_its_reader(bea: User) -> None:
    Profile.objects.create(user=bea, language="zh-hans")
    ask("bea@example.org")
    assert "密码" in wait_for_mail().subject


def test_without_mail_the_page_says_whom_to_ask(bea: User, settings: Any) -> None:
    settings.PARLEY_EMAIL = ""
    assert "This Parley sends no mail." in Client().get(ASK).content.decode()
    assert '<form method="post"><input' not in ask("bea@example.org").content.decode()
    assert mail.outbox == []


def test_an_administrator_hands_a_link_over(bea: User, client: Client) -> None:
    client.force_login(make.a_superuser("root"))
    assert client.get(f"/admin/auth/user/{bea.pk}/link/").status_code == 405
    page = client.post(f"/admin/auth/user/{bea.pk}/link/").content.decode()
    found = re.search(r'value="http://[^/]+(/accounts/reset/[^"]+)"', page)
    assert found
    visitor = Client()
    visitor.get(found[1])
    assert visitor.post(CHOOSE, NEW).status_code == 302
    bea.refresh_from_db()
    assert bea.check_password(PASSWORD)
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.verb, entry.name) == ("root", "link", "bea")


def test_only_for_those_who_may_do_no_more(bea: User, client: Client) -> None:
    """S13: a link to an administrator's password would make one."""
    from django.contrib.auth.models import Permission

    sam = make.a_user("sam", is_staff=True)
    rights = Permission.objects.filter(codename__in=("change_user", "view_user"))
    sam.user_permissions.set(rights)
    client.force_login(sam)
    root = make.a_superuser("root")
    for act in ("link", "log-out"):
        assert client.post(f"/admin/auth/user/{root.pk}/{act}/").status_code == 403
    assert client.post(f"/admin/auth/user/{bea.pk}/link/").status_code == 200


def test_an_administrator_logs_somebody_out(bea: User, client: Client) -> None:
    theirs = Client()
    theirs.force_login(bea)
    theirs.get("/settings/account/")
    client.force_login(make.a_superuser("root"))
    told = client.post(f"/admin/auth/user/{bea.pk}/log-out/", follow=True).content.decode()
    assert "1 log-in was ended." in told
    assert theirs.get("/settings/account/").status_code == 302


# --- how mail is configured ---------------------------------------------------------------


def test_mail_from_one_address() -> None:
    assert environment.mail("") == {}
    assert environment.mail("console:")["EMAIL_BACKEND"].endswith("console.EmailBackend")
    starttls = environment.mail("smtp://us%40example.org:p%3Aw@mail.example.org")
    assert starttls["EMAIL_HOST_USER"] == "us@example.org"
    assert starttls["EMAIL_HOST_PASSWORD"] == "p:w"
    assert (starttls["EMAIL_PORT"], starttls["EMAIL_USE_TLS"]) == (587, True)
    tls = environment.mail("smtps://mail.example.org:2465")
    assert (tls["EMAIL_PORT"], tls["EMAIL_USE_TLS"], tls["EMAIL_USE_SSL"]) == (2465, False, True)
    plain = environment.mail("smtp+plain://localhost")
    assert (plain["EMAIL_PORT"], plain["EMAIL_USE_TLS"]) == (25, False)


@pytest.mark.parametrize("wrong", ["mail.example.org", "http://x:secret@y", "smtp://u:secret@h:x"])
def test_mail_that_is_not_understood_is_refused_without_its_password(wrong: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PARLEY_EMAIL_URL") as refused:
        environment.mail(wrong)
    assert "secret" not in str(refused.value)
