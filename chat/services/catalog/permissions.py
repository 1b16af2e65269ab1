"""Who may use which agents and models: everybody all of them, but for agents that are for groups
and for programs on the server."""

from dataclasses import replace
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User

from chat.protocol.ids import is_uuid
from chat.services.caller import Caller
from chat.services.catalog.known import Catalog, current_catalog

PERMISSION: Final = "chat.use_claude_code"
# Whoever may change agents tries them, also those that are switched off.
TRYING: Final = "chat.change_agent"


def catalog_for(
    caller: Caller, stamp: str | None = None, *, trying: str | UUID | None = None
) -> Catalog:
    """The catalog as it is now, for this person: what they may not use cannot be picked in it,
    but for the agent that is named as the one they try, if they may. Permissions are only looked
    up where there is something that needs one."""
    catalog = current_catalog(stamp)
    if not catalog.has_restricted and not catalog.has_groups:
        user = None
    else:
        user = User.objects.filter(pk=caller.user_id).first()
        catalog = _permitted(catalog, user)
    agent = catalog.agents.get(UUID(str(trying))) if is_uuid(str(trying)) else None
    if agent is None or agent.usable:
        return catalog
    user = user or User.objects.filter(pk=caller.user_id).first()
    if user is None or not user.has_perm(TRYING):
        return catalog
    tried = replace(agent, enabled=True, permitted=True)
    return replace(catalog, agents={**catalog.agents, agent.id: tried})


def _permitted(catalog: Catalog, user: User | None) -> Catalog:
    if catalog.has_restricted and not (user and user.has_perm(PERMISSION)):
        catalog = catalog.without_restricted()
    # Whoever may do everything tries agents before they are given to others.
    if catalog.has_groups and not (user and user.is_superuser):
        groups = user.groups.values_list("pk", flat=True) if user else ()
        catalog = catalog.for_groups(set(groups))
    return catalog
