"""Groups to begin with: what a member, an operator and an auditor may do.

They are made once, when none of them is there; what an administrator makes of them, or that one was
renamed or deleted, stays.
"""

from typing import Final

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

MEMBER: Final = "member"
OPERATOR: Final = "operator"
AUDITOR: Final = "auditor"

_ALL: Final = ("view", "add", "change", "delete")
_LOOK: Final = ("view",)
# Runs Parley for others: people, agents, models, budgets; reads no words, but the titles in the
# list of conversations, and sets no connections, which would let the server call any address.
_OPERATOR: Final[dict[str, tuple[str, ...]]] = {
    "user": ("view", "add", "change"),
    "group": _LOOK,
    "profile": ("view", "change"),
    "invitation": ("view", "add", "change"),
    "budget": _ALL,
    "agent": _ALL,
    "toolsetting": ("view", "change"),
    "provider": _LOOK,
    "languagemodel": ("view", "change"),
    "conversation": _LOOK,
    "generation": ("view", "stop"),
    "process": _LOOK,
    "view": _LOOK,
    "sharelink": ("view", "change"),
    "dailyusage": _LOOK,
    "backgroundcall": _LOOK,
}
# Looks at everything and changes nothing; what others wrote only with a reason, which they see.
_AUDITOR: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_OPERATOR, _LOOK),
    "conversation": ("view", "read", "export"),
    "message": _LOOK,
    "part": _LOOK,
    "feedback": _LOOK,
    "attachment": _LOOK,
    "queuedmessage": _LOOK,
    "requestlog": _LOOK,
    "auditentry": _LOOK,
}
# Of members nothing is asked: whoever has an account may chat. The group is for agents, budgets
# and whatever an administrator gives to all of them.
RIGHTS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    MEMBER: {},
    OPERATOR: _OPERATOR,
    AUDITOR: _AUDITOR,
}


@transaction.atomic
def ensure_groups() -> bool:
    """Make the groups, if that was never done; whether it was done now."""
    if Group.objects.filter(name__in=RIGHTS).exists():
        return False
    for name, rights in RIGHTS.items():
        Group.objects.create(name=name).permissions.set(_permissions(rights))
    return True


def _permissions(rights: dict[str, tuple[str, ...]]) -> list[Permission]:
    wanted = Q(pk__in=())
    for model, verbs in rights.items():
        codenames = [f"{verb}_{model}" for verb in verbs]
        wanted |= Q(content_type__model=model, codename__in=codenames)
    return list(Permission.objects.filter(wanted, content_type__app_label__in=("auth", "chat")))
