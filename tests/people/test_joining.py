"""How people get an account: by an invitation, once, or by themselves where that is wanted."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core import mail
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.utils import timezone

from chat import services
from chat.models import AuditEntry, Invitation
from chat.protocol.errors import ChatError
from chat.services import Caller, NewAccount
from tests.support import factories as make
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PASSWORD = "a longer horse 7"
ADD = "/admin/chat/invitation/add/"
SIGN_UP = "/accounts/sign-up/"


def form(username: str = "ivan", **others: str) -> dict[str, str]:
    return {"username": username, "password1": PASSWORD, "password2": PASSWORD, **others}


@pytest.fixture
def root(client: Client) -> Client:
    services.ensure_groups()
    client.force_login(make.a_superuser("root"))
    return client


def invite(admin: Client, **fields: Any) -> str:
    """The path of the link that the page of a new invitation shows."""
    made = admin.post(ADD, {"note": "Ivan", "days": "7", **fields}, follow=True)
    page = made.content.decode()
    found = re.search(r'value="http://[^/]+(/accounts/invitation/[^"]+)"', page)
    assert found, page
    return found[1]


def test_whoever_is_invited_makes_an_account_once(root: Client) -> None:
    member = Group.objects.get(name="member")
    link = invite(root, groups=[member.pk])
    visitor = Client()
    assert "You are invited." in visitor.get(link).content.decode()
    # To look does not use it up, nor does a form with faults.
    assert visitor.post(link, {**form(), "password2": "another"}).status_code == 422
    assert visitor.post(link, form(name=" Ivan  I. ", email="ivan@example.org")).status_code == 302
    assert visitor.get("/settings/account/").status_code == 200
    ivan = User.objects.get(username="ivan")
    assert (ivan.first_name, ivan.email, ivan.is_staff) == ("Ivan I.", "ivan@example.org", False)
    assert list(ivan.groups.all()) == [member]
    again = Client()
    assert again.get(link).status_code == again.post(link, form("eve")).status_code == 410
    assert not User.objects.filter(username="eve").exists()
    row = Invitation.objects.get()
    assert (row.used_by, row.made_by.username, row.token) == (ivan, "root", "")
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.verb, entry.kind) == ("root", "add", "chat.invitation")


def test_the_page_of_an_invitation_shows_its_link_until_it_is_over(root: Client) -> None:
    link = invite(root)
    row = Invitation.objects.get()
    page = f"/admin/chat/invitation/{row.pk}/change/"
    assert link in root.get(page).content.decode()
    assert row.token not in Invitation.objects.values_list("token_hash", flat=True)
    root.post(f"/admin/chat/invitation/{row.pk}/revoke/")
    assert link not in root.get(page).content.decode()
    assert "revoked" in root.get(page).content.decode()
    assert Client().get(link).status_code == 410
    verbs = AuditEntry.objects.order_by("id").values_list("verb", flat=True)
    assert list(verbs) == ["add", "change"]


def test_it_ends_with_its_day(root: Client) -> None:
    link = invite(root, days="1")
    Invitation.objects.update(expires_at=timezone.now() + timedelta(minutes=1))
    assert Client().get(link).status_code == 200
    Invitation.objects.update(expires_at=timezone.now())
    assert Client().get(link).status_code == Client().post(link, form()).status_code == 410


def test_several_are_revoked_together(root: Client) -> None:
    links = [invite(root), invite(root)]
    keys = [str(row.pk) for row in Invitation.objects.all()]
    root.post("/admin/chat/invitation/", {"action": "revoke", "_selected_action": keys})
    assert [Client().get(link).status_code for link in links] == [410, 410]


def test_a_name_that_is_taken_does_not_use_it_up(root: Client) -> None:
    link = invite(root)
    for name in ("root", "ROOT"):
        assert Client().post(link, form(name)).status_code == 422
    token = link.split("/")[-2]
    with pytest.raises(ChatError, match=r"error.chat_name_taken"):
        services.accept_invitation(token, NewAccount("root", PASSWORD))
    assert Client().post(link, form()).status_code == 302


def test_a_group_with_rights_opens_the_administration(root: Client) -> None:
    link = invite(root, groups=[Group.objects.get(name="operator").pk])
    visitor = Client()
    visitor.post(link, form())
    assert visitor.get("/admin/").status_code == 200
    assert visitor.get("/admin/auth/user/").status_code == 200
    assert visitor.get("/admin/chat/provider/add/").status_code == 403


def test_nobody_invites_into_more_than_they_may_do(root: Client) -> None:
    sam = make.a_user("sam", is_staff=True)
    rights = ("add_invitation", "view_invitation")
    sam.user_permissions.set(Permission.objects.filter(codename__in=rights))
    clerk = Client()
    clerk.force_login(sam)
    offered = clerk.get(ADD).content.decode()
    assert "member" in offered
    assert "operator" not in offered
    operator = Group.objects.get(name="operator")
    refused = clerk.post(ADD, {"note": "me", "days": "7", "groups": [operator.pk]})
    assert refused.status_code == 200
    assert not Invitation.objects.exists()
    # Nor does whoever may only look see a link that is worth more than they are.
    invite(root, groups=[operator.pk])
    sam.user_permissions.set(Permission.objects.filter(codename="view_invitation"))
    page = clerk.get(f"/admin/chat/invitation/{Invitation.objects.get().pk}/change/")
    assert page.status_code == 200
    assert "/accounts/invitation/" not in page.content.decode()


def test_somebody_who_is_logged_in_does_not_use_it_up(root: Client) -> None:
    link = invite(root)
    assert "You are logged in as root." in root.get(link).content.decode()
    assert root.post(link, form()).status_code == 200
    assert not User.objects.filter(username="ivan").exists()
    root.post(link, {"leave": "1"})
    assert root.post(link, form()).status_code == 302
    assert User.objects.filter(username="ivan").exists()


def test_an_invitation_is_sent_where_mail_is_configured(
    root: Client, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PARLEY_EMAIL = "smtp://mail.example.org"
    with django_capture_on_commit_callbacks(execute=True):
        link = invite(root, email="ivan@example.org")
    sent = wait_for_mail()
    assert sent.to == ["ivan@example.org"]
    assert link in sent.body
    # The address is the account's, and not asked for.
    assert "id_email" not in Client().get(link).content.decode()
    Client().post(link, form(email="eve@example.org"))
    assert User.objects.get(username="ivan").email == "ivan@example.org"


def wait_for_mail() -> mail.EmailMessage:
    from chat.services.people.mail import _sender

    _sender.submit(int).result(PATIENCE)
    return mail.outbox[-1]


@pytest.mark.django_db(transaction=True)
def test_an_invitation_that_is_used_many_times_at_once_makes_one_account() -> None:
    row = Invitation(expires_at=timezone.now() + timedelta(days=1))
    services.make_invitation(Caller(make.a_superuser().pk), row)
    token, start = str(row.token), Barrier(6)

    def accept(number: int) -> str:
        start.wait()
        try:
            return services.accept_invitation(token, NewAccount(f"i{number}", "x")).username
        except ChatError as error:
            return error.key
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        outcomes = sorted(threads.map(accept, range(6)))
    assert outcomes[:5] == ["error.chat_invitation_over"] * 5
    assert User.objects.filter(username=outcomes[5]).count() == 1
    assert User.objects.count() == 2


# --- by oneself ---------------------------------------------------------------------------


def test_nobody_signs_up_unless_that_is_wanted() -> None:
    assert Client().get(SIGN_UP).status_code == 404
    assert Client().post(SIGN_UP, form()).status_code == 404
    assert SIGN_UP not in Client().get("/accounts/login/").content.decode()


def test_anybody_signs_up_where_that_is_wanted(settings: Any) -> None:
    settings.PARLEY_SIGN_UP = True
    services.ensure_groups()
    visitor = Client()
    assert visitor.post(SIGN_UP, form("<b>")).status_code == 422
    assert visitor.post(SIGN_UP, form()).status_code == 302
    ivan = User.objects.get()
    assert [group.name for group in ivan.groups.all()] == ["member"]
    assert (ivan.is_staff, ivan.is_superuser) == (False, False)
    assert visitor.get("/").status_code == 200


def test_a_member_group_that_was_given_rights_is_not_given_to_strangers(settings: Any) -> None:
    settings.PARLEY_SIGN_UP = True
    services.ensure_groups()
    Group.objects.get(name="member").permissions.set(Permission.objects.all()[:1])
    assert Client().post(SIGN_UP, form()).status_code == 302
    assert not User.objects.get().groups.exists()


def test_one_address_makes_so_many_accounts_and_no_more(settings: Any) -> None:
    settings.PARLEY_SIGN_UP = True
    for number in range(10):
        assert Client().post(SIGN_UP, form(f"i{number}")).status_code == 302
    refused = Client().post(SIGN_UP, form("one-more"))
    assert "Too many attempts." in refused.content.decode()
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert elsewhere.post(SIGN_UP, form("one-more")).status_code == 302


# --- groups -------------------------------------------------------------------------------


def test_the_groups_are_made_once() -> None:
    call_command("prepare", verbosity=0)
    assert set(Group.objects.values_list("name", flat=True)) == {"member", "operator", "auditor"}
    rights = {
        group.name: set(group.permissions.values_list("codename", flat=True))
        for group in Group.objects.all()
    }
    assert rights["member"] == set()
    assert {"change_user", "add_invitation", "stop_generation"} <= rights["operator"]
    assert rights["operator"].isdisjoint(
        {"read_conversation", "change_provider", "add_provider", "delete_user", "view_prompt"}
    )
    assert {"read_conversation", "view_auditentry", "view_requestlog"} <= rights["auditor"]
    assert {name.partition("_")[0] for name in rights["auditor"]} == {"view", "read", "export"}


def test_what_an_administrator_makes_of_the_groups_stays() -> None:
    call_command("prepare", verbosity=0)
    Group.objects.get(name="auditor").delete()
    Group.objects.get(name="operator").permissions.clear()
    Group.objects.filter(name="member").update(name="everybody")
    call_command("prepare", verbosity=0)
    assert set(Group.objects.values_list("name", flat=True)) == {"everybody", "operator"}
    assert not Group.objects.get(name="operator").permissions.exists()
