"""Staff are told where to mend what a chat has met, everybody else is not (A12)."""

import pytest
from django.contrib.auth.models import Permission, User

from chat.models import Message
from chat.rendering.errors import MESSAGES
from chat.rendering.mending import mending_url
from chat.rendering.page.pages import toast_html
from chat.rendering.reader import Reader
from tests.support.model_server import refuse
from tests.support.page import LivePage
from tests.support.site import Site
from tests.support.tabs import in_thread

AGENTS, PROVIDERS = "/admin/chat/agent/", "/admin/chat/provider/"
# What somebody can do something about: at the agent, or at the provider.
WHERE = {
    **dict.fromkeys(("agent_not_found", "model_not_configured"), AGENTS),
    **dict.fromkeys(
        (
            "provider_not_enabled", "provider_connect_failed", "provider_tls_failed",
            "provider_wrong_address", "provider_auth_failed", "provider_forbidden",
            "provider_model_not_found", "provider_quota_exceeded", "provider_region_blocked",
            "provider_not_verified", "provider_terms_not_accepted", "provider_data_policy",
            "provider_model_not_allowed", "provider_model_retired",
            "provider_not_a_chat_model", "provider_not_supported", "provider_cli_missing",
        ),
        PROVIDERS,
    ),
}  # fmt: skip
KEYS = [key.removeprefix("error.chat_") for key in MESSAGES]
LINK = "Mend it in the administration"


@pytest.mark.parametrize("name", KEYS)
def test_a_toast_leads_staff_there(name: str) -> None:
    key, where = f"error.chat_{name}", WHERE.get(name, "")
    told = toast_html(key, {}, Reader(is_staff=True))
    assert (f'href="{where}"' in told) if where else "/admin/" not in told
    assert "/admin/" not in toast_html(key, {}, Reader())


def test_every_key_that_is_mended_is_one_that_is_told() -> None:
    assert set(WHERE) <= set(KEYS)
    provider = "0198c0de-0000-7000-8000-000000000001"
    for name, where in WHERE.items():
        leads = mending_url(f"error.chat_{name}", provider)
        assert leads == (where if where == AGENTS else f"{PROVIDERS}{provider}/change/"), name


def words(page: LivePage) -> str:
    return "".join(page.root.itertext())


def make_staff(person: User) -> None:
    person.is_staff = True
    person.save(update_fields=["is_staff"])
    person.user_permissions.set(Permission.objects.filter(codename="view_provider"))


async def test_a_failed_message_leads_staff_to_its_provider(site: Site) -> None:
    """Live and on a reload; nobody else is shown it."""
    tab = await site.tab()
    site.provider.script(refuse(401))
    await tab.send("Go")
    await tab.sees("does not accept our key")
    assert LINK not in words(tab.page)
    await in_thread(make_staff)(site.alice.user)
    staff = await site.tab()
    answer = await Message.objects.aget(role="assistant")
    [link] = [each for each in staff.page.root.iter("a") if each.text and LINK in each.text]
    assert link.get("href") == f"{PROVIDERS}{answer.provider_id}/change/"
    site.provider.script(refuse(401))
    await staff.send("Again")
    await staff.until(lambda: words(staff.page).count(LINK) == 2)
    await staff.equals_a_fresh_page()
    opened = await site.alice.client.get(link.get("href", ""))
    assert opened.status_code == 200
