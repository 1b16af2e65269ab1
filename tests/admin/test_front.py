"""The front page of the administration says whether it is well (A11, F3)."""

import json
import re
import shutil
import zipfile
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.admin.connect import is_local
from chat.models import Agent, DailyUsage, LanguageModel, Provider
from chat.providers.presets import PRESETS
from chat.services.catalog.defaults import ensure_defaults
from chat.services.pool import close_connections
from chat.services.upkeep.backup import backup_folder
from chat.services.upkeep.database_copy import copy_name
from tests.admin.test_pages import MOST_QUERIES
from tests.support import factories as make
from tests.support.pages import faults_of
from tests.support.world import KEY

FRONT = "/admin/"


def a_failure(key: str, **fields: Any) -> None:
    talk = fields.pop("conversation", None) or make.a_conversation()
    now = timezone.now()
    make.a_message(talk, "assistant", status="error", error_key=key, completed_at=now, **fields)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.fixture
def real(db: None) -> LanguageModel:
    """A model that is no demo, with a price, which the default agent uses."""
    ensure_defaults()
    provider = make.a_provider(name="Acme", kind="openai", base_url="https://api.acme.example/v1")
    model = make.a_model(provider, model_id="acme-1", input_price=3, output_price=15)
    make.an_agent(model, name_en="Writer")
    return model


def test_what_runs_and_what_failed_is_told_without_what_was_said(
    admin: Client, real: LanguageModel
) -> None:
    talk = make.a_conversation(make.a_user("olivia"), title="Secret plans")
    answer = make.a_message(talk, "assistant", status="streaming", model_id="acme-1")
    make.a_generation(answer, user=talk.owner)
    for _ in range(2):
        a_failure("error.chat_provider_rate_limited", model_id="acme-1")
    page = admin.get(FRONT).content.decode()
    assert list(faults_of(page)) == []
    words = text_of(page)
    assert "olivia" in words
    assert "The provider is busy" in words
    assert "Secret plans" not in words
    assert "Parley 0." in words


@pytest.mark.both_databases
def test_figures_are_of_all_days_and_people(admin: Client, real: LanguageModel) -> None:
    today = timezone.localdate()
    for name in ("ada", "ben"):
        DailyUsage.objects.create(
            day=today, person=make.a_user(name), kind="answer", requests=3, model_id="acme-1",
            input_tokens=1000, output_tokens=500, cost=Decimal("0.25"),
        )  # fmt: skip
    page = admin.get(FRONT).content.decode()
    assert "3,000" in page
    for chart in ("Tokens per day", "Cost per day"):
        assert chart in page
    charts = page.partition("usage-charts")[2].partition("<table")[0]
    assert charts.count("<rect") == 2 * 30
    words = text_of(page)
    assert "$0.5000" in words
    assert f"{reverse('admin:chat_dailyusage_report')}?csv=1" in page


def test_every_trouble_leads_to_what_mends_it(
    admin: Client, real: LanguageModel, settings: Any, tmp_path: Path
) -> None:
    """Warnings with a link: no price, a refused key, a model that is switched off."""
    settings.DATA_DIR = tmp_path
    page = admin.get(FRONT).content.decode()
    assert "No backup was made yet" in page
    backup_folder().mkdir(parents=True, exist_ok=True)
    (backup_folder() / "last").write_text(timezone.now().isoformat())
    assert "All is well" in admin.get(FRONT).content.decode()
    LanguageModel.objects.filter(pk=real.pk).update(input_price=0, output_price=0)
    a_failure("error.chat_provider_auth_failed", provider_id=str(real.provider_id))
    page = admin.get(FRONT).content.decode()
    assert "The price of acme-1 is unknown" in page
    assert reverse("admin:chat_languagemodel_change", args=[real.pk]) in page
    assert "Acme refuses us: The provider does not accept our key." in page
    assert reverse("admin:chat_provider_change", args=[real.provider_id]) in page
    LanguageModel.objects.filter(pk=real.pk).update(enabled=False)
    page = admin.get(FRONT).content.decode()
    assert "Only the demo model answers" in page
    assert "The agent Writer has no model that is switched on" in page


@pytest.fixture
def well(admin: Client, real: LanguageModel, settings: Any, tmp_path: Path) -> Client:
    """Somebody who looks at a front page without a trouble."""
    settings.DATA_DIR = tmp_path
    backup_folder().mkdir(parents=True, exist_ok=True)
    backed_up(timezone.now())
    assert "All is well" in admin.get(FRONT).content.decode()
    return admin


def backed_up(moment: datetime) -> None:
    (backup_folder() / "last").write_text(moment.isoformat())


def told(admin: Client, sentence: str, address: str) -> None:
    """It is the only trouble there is, and its link leads somewhere."""
    page = admin.get(FRONT).content.decode()
    assert sentence in text_of(page)
    concerns = page.partition('class="concerns"')[2].partition("</ul>")[0]
    assert re.findall(r'<a [^>]*href="([^"]+)"', concerns) == [address]
    assert admin.get(address).status_code == 200


class TestTroubles:
    """What the front page warns of; each is made as it happens."""

    def test_no_agent_is_the_default(self, well: Client) -> None:
        Agent.objects.update(is_default=False)
        told(well, "No agent is the default", reverse("admin:chat_agent_changelist"))

    def test_a_key_that_cannot_be_decrypted(
        self, well: Client, real: LanguageModel, settings: Any
    ) -> None:
        provider = real.provider
        provider.api_key = KEY
        provider.save()
        settings.PARLEY_KEYS = [Fernet.generate_key().decode()]
        told(
            well, "The key of Acme cannot be decrypted. Enter it again.",
            reverse("admin:chat_provider_change", args=[provider.pk]),
        )  # fmt: skip

    def test_a_model_that_ends(self, well: Client, real: LanguageModel) -> None:
        LanguageModel.objects.filter(pk=real.pk).update(
            retires_on=timezone.localdate() + timedelta(days=31)
        )
        assert "All is well" in well.get(FRONT).content.decode()
        LanguageModel.objects.filter(pk=real.pk).update(retires_on="2026-01-31")
        told(
            well, "acme-1 is no longer served from Jan. 31, 2026 on.",
            reverse("admin:chat_languagemodel_change", args=[real.pk]),
        )  # fmt: skip

    def test_little_space(self, well: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        left = shutil.disk_usage("/")._replace(free=900_000_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: left)
        told(
            well, "Little space is left on the disk: 900 MB.",
            reverse("admin:chat_attachment_changelist"),
        )  # fmt: skip

    def test_an_old_backup(self, well: Client) -> None:
        backed_up(datetime(2026, 1, 31, 12, tzinfo=UTC))
        told(well, "The last backup is of Jan. 31, 2026.", reverse("admin:backups"))


class TestPrices:
    """A price of 0 is unknown until somebody says that it is none."""

    @pytest.fixture
    def chosen(self, well: Client, real: LanguageModel) -> LanguageModel:
        """A model without a price that somebody has chosen by themselves, and no agent has."""
        model = make.a_model(real.provider, model_id="acme-2")
        DailyUsage.objects.create(
            day=timezone.localdate() - timedelta(days=6), person=make.a_user(), kind="answer",
            provider_id=str(real.provider_id), model_id="acme-2", requests=1,
        )  # fmt: skip
        return model

    def test_of_a_model_that_is_used(self, well: Client, chosen: LanguageModel) -> None:
        page = reverse("admin:chat_languagemodel_change", args=[chosen.pk])
        told(well, "The price of acme-2 is unknown", page)
        LanguageModel.objects.filter(pk=chosen.pk).update(output_price=2)
        assert "All is well" in well.get(FRONT).content.decode()

    def test_of_one_that_was_used_long_ago(self, well: Client, chosen: LanguageModel) -> None:
        DailyUsage.objects.update(day=timezone.localdate() - timedelta(days=7))
        assert "All is well" in well.get(FRONT).content.decode()

    def test_of_one_that_costs_nothing(self, well: Client, chosen: LanguageModel) -> None:
        """The warning ends with a mark, which nobody can set beside a price."""
        page = reverse("admin:chat_languagemodel_change", args=[chosen.pk])
        form = well.get(page).context["adminform"].form
        values = {name: form[name].value() for name in form.fields}
        given = {name: "" if value is None else value for name, value in values.items()}
        given |= {"efforts": "null", "extra_body": "{}", "server_tools": [], "enabled": "on"}
        given |= {"adjustments-TOTAL_FORMS": "0", "adjustments-INITIAL_FORMS": "0", "free": "on"}
        refused = well.post(page, {**given, "input_price": "3"}).content.decode()
        assert "It has prices. Set them to 0, or take this mark away." in refused
        saved = well.post(page, given)
        assert saved.status_code == 302, saved.context["errors"]
        chosen.refresh_from_db()
        assert chosen.free
        assert "free" in chosen.set_by_hand
        assert "All is well" in well.get(FRONT).content.decode()
        listed = well.get(reverse("admin:chat_languagemodel_changelist")).content.decode()
        assert "Free" in text_of(listed)

    @pytest.mark.parametrize(
        "address",
        [
            *(preset.base_url for preset in PRESETS if is_local(preset)),
            "http://vllm:8000/v1", "http://gpu.lan/v1", "http://192.168.1.7:8000/v1",
            "http://host.docker.internal:1234/v1", "http://[::1]:8080/v1",
        ],
    )  # fmt: skip
    def test_of_one_on_a_machine_of_ones_own(
        self, well: Client, chosen: LanguageModel, address: str
    ) -> None:
        Provider.objects.filter(pk=chosen.provider_id).update(base_url=address)
        assert "All is well" in well.get(FRONT).content.decode()


class Doors(HTMLParser):
    """The links of the tiles and tables, of what must be looked after, and each figure's words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.feed(page.partition("<main")[2].partition('class="doors"')[0])

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "a":
            self.links.append(dict(attrs)["href"])


def test_every_figure_leads_to_what_it_is_made_of(
    admin: Client, real: LanguageModel, settings: Any, tmp_path: Path
) -> None:
    """And every link of the front page leads somewhere."""
    settings.DATA_DIR = tmp_path
    today = timezone.localdate()
    ada = make.a_user("ada")
    DailyUsage.objects.create(
        day=today, person=ada, kind="answer", requests=3, model_id="acme-1", input_tokens=1000
    )
    key = "error.chat_provider_stalled"
    a_failure(key, model_id="acme-1")
    a_failure("error.chat_provider_rate_limited", model_id="acme-1")
    run = make.a_generation()
    links = Doors(admin.get(FRONT).content.decode()).links
    report = reverse("admin:chat_dailyusage_report")
    of_today = f"since={today}&until={today}"
    for wanted in (
        f"{report}?by=model&{of_today}",
        f"{report}?by=person&{of_today}",
        f"{report}?by=day&model=acme-1",
        f"{reverse('admin:chat_generation_changelist')}?status__exact=active",
        reverse("admin:chat_generation_change", args=[run.pk]),
        reverse("admin:backups"),
    ):
        assert wanted in links
    for link in set(links):
        assert admin.get(link).status_code == 200, link
    [failed] = [link for link in links if key in link]
    assert "1 row" in text_of(admin.get(failed).content.decode())


def test_backups_are_listed_and_it_is_said_how_one_is_made(
    admin: Client, real: LanguageModel, settings: Any, tmp_path: Path
) -> None:
    """Neither a key nor a word of anybody is in the listing."""
    settings.DATA_DIR = tmp_path
    page = admin.get(reverse("admin:backups")).content.decode()
    assert list(faults_of(page)) == []
    assert "No backup was made yet." in page
    assert "manage.py backup" in page
    (backup_folder() / "parley-broken.zip").write_bytes(b"PK")
    # A real one is made by processes of their own: tests/upkeep/test_backup.py.
    said = {"format": 1, "made": timezone.now().isoformat(), "version": "0.1.0",
            "database": copy_name(), "migrations": [], "people": 2, "conversations": 1,
            "messages": 3, "files": 0}  # fmt: skip
    with zipfile.ZipFile(backup_folder() / "parley-1.zip", "w") as archive:
        archive.writestr("parley.json", json.dumps(said))
        archive.writestr(copy_name(), f"Secret plans of olivia, {KEY}")
    (backup_folder() / "last").write_text(timezone.now().isoformat())
    page = admin.get(reverse("admin:backups")).content.decode()
    words = text_of(page)
    assert "The last backup is of" in words
    assert "parley-1.zip" in words
    assert "conversations: 1" in words
    assert "This version of Parley cannot read it." in words
    for secret in (KEY, "olivia", "Secret plans"):
        assert secret not in page


def test_the_listing_of_backups_takes_a_right(client: Client, staff: User) -> None:
    client.force_login(staff)
    assert client.get(reverse("admin:backups")).status_code == 403


def test_a_provider_that_answers_again_is_no_trouble(admin: Client, real: LanguageModel) -> None:
    talk = make.a_conversation()
    theirs = {"conversation": talk, "provider_id": str(real.provider_id)}
    a_failure("error.chat_provider_auth_failed", **theirs)
    make.a_message(role="assistant", completed_at=timezone.now(), **theirs)
    assert "refuses us" not in admin.get(FRONT).content.decode()


def test_temporary_chats_are_in_no_figure(admin: Client, real: LanguageModel) -> None:
    talk = make.a_conversation(make.a_user("tess"), temporary=True)
    a_failure("error.chat_provider_stalled", conversation=talk)
    answer = make.a_message(talk, "assistant", status="streaming")
    run = make.a_generation(answer, user=talk.owner)
    words = text_of(admin.get(FRONT).content.decode())
    assert "tess" not in words
    assert "fell silent" not in words
    assert admin.post(reverse("admin:stop_answer", args=[run.pk])).status_code == 404


def test_the_front_page_asks_little_of_the_database(
    admin: Client, real: LanguageModel, django_assert_max_num_queries: Any
) -> None:
    a_failure("error.chat_provider_auth_failed", provider_id=str(real.provider_id))
    admin.get(FRONT)
    with django_assert_max_num_queries(MOST_QUERIES):
        admin.get(FRONT)


def test_nobody_is_told_more_than_they_may_see(
    client: Client, staff: User, real: LanguageModel
) -> None:
    client.force_login(staff)
    a_failure("error.chat_provider_stalled")
    assert "fell silent" not in client.get(FRONT).content.decode()
    staff.user_permissions.set(Permission.objects.filter(codename="view_generation"))
    page = client.get(FRONT).content.decode()
    assert "fell silent" in page
    assert "Free on the disk" not in page


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_stopped_from_the_front_page(admin: Client) -> None:
    """A5"""
    run = make.a_generation()
    address = reverse("admin:stop_answer", args=[run.pk])
    assert address in admin.get(FRONT).content.decode()
    assert admin.get(address).status_code == 405
    assert admin.post(address)["Location"] == FRONT
    run.refresh_from_db()
    close_connections()
    assert run.stop_requested_by
    assert run.stop_requested_by["by"] == "root"
