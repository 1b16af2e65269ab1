"""Every address there is, found by asking the resolver, and what each kind of person gets there.

A new route has no row in `EXPECTED`, and a route without a row fails the tests: whoever adds
one has to say who may use it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.urls import URLPattern, URLResolver, get_resolver

# Staff have no rights by themselves, operators and auditors those of their groups.
ROLES = (
    "anonymous", "owner", "other", "deactivated", "staff", "operator", "auditor", "superuser",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Route:
    name: str
    pattern: str
    parameters: frozenset[str]

    @property
    def is_admin(self) -> bool:
        return self.name.startswith("admin:")

    def filled(self, values: dict[str, str]) -> str:
        """The path with its parameters in it: `<uuid:name>`, or `(?P<name>…)`."""
        path = re.sub(r"\(\?P<(\w+)>[^)]*\)", lambda found: values[found[1]], self.pattern)
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], path)
        return path.replace("^", "").replace("$", "")


@dataclass(frozen=True, slots=True)
class Expect:
    """What each role gets: a status, or `login` for being sent to log in.

    `own` is a route about one object, which here belongs to `owner`.
    """

    get: dict[str, int | str] = field(default_factory=dict)
    post: dict[str, int | str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    query: str = ""
    # Only an object of one's own is there at all.
    own: bool = False


def routes(
    resolver: URLResolver | None = None,
    prefix: str = "",
    space: str = "",
    parameters: frozenset[str] = frozenset(),
) -> Iterator[Route]:
    """All patterns, named and unnamed, through every include."""
    for entry in (resolver or get_resolver()).url_patterns:
        pattern = prefix + str(entry.pattern)
        held = parameters | frozenset(entry.pattern.regex.groupindex)
        if isinstance(entry, URLResolver):
            inner = f"{space}{entry.namespace}:" if entry.namespace else space
            yield from routes(entry, pattern, inner, held)
        elif isinstance(entry, URLPattern):
            yield Route(space + (entry.name or pattern), pattern, held)


def everyone(answer: int | str, **others: int | str) -> dict[str, int | str]:
    return {role: others.get(role, answer) for role in ROLES}


def people(answer: int | str) -> dict[str, int | str]:
    """Whoever is logged in; the others are sent to log in."""
    return everyone(answer, anonymous="login", deactivated="login")


def owner_only(answer: int | str) -> dict[str, int | str]:
    """To a stranger, an administrator too, it is not there."""
    return everyone(404, owner=answer, anonymous="login", deactivated="login")


REFUSED = 405

EXPECTED: dict[str, Expect] = {
    # the site
    "login": Expect(
        get=everyone(302, anonymous=200, deactivated=200),
        post=everyone(302, anonymous=200, deactivated=200),
    ),
    "logout": Expect(get=people(REFUSED), post=people(302)),
    # Without a token in it, the link only leads on.
    "enter": Expect(get=everyone(302), post=everyone(302)),
    # Nobody is half in; there is no issuer.
    "code": Expect(get=everyone(302), post=everyone(302)),
    "oidc": Expect(get=everyone(404), post=everyone(REFUSED)),
    "oidc_return": Expect(get=everyone(404), post=everyone(REFUSED)),
    # Sign-up is off; a token that opens nothing; no link was opened before.
    "sign_up": Expect(get=everyone(404), post=everyone(404)),
    "invitation": Expect(get=everyone(410), post=everyone(410)),
    "forgotten": Expect(get=everyone(200), post=everyone(200)),
    "reset": Expect(get=everyone(410), post=everyone(REFUSED)),
    "new_password": Expect(get=everyone(410), post=everyone(410)),
    "set_language": Expect(
        get=everyone(REFUSED), post=everyone(302), data={"language": "zh-hans", "next": "/"}
    ),
    "favicon.ico": Expect(get=everyone(302), post=everyone(302)),
    # the chat
    "chat:home": Expect(get=people(200), post=people(REFUSED)),
    "chat:new": Expect(get=people(REFUSED), post=people(409), data={"content": ""}),
    "chat:theme": Expect(get=people(REFUSED), post=people(302), data={"theme": "dark"}),
    "chat:readings": Expect(get=people(200), post=people(REFUSED)),
    "chat:left": Expect(get=people(200), post=people(REFUSED)),
    "chat:settings": Expect(get=people(200), post=people(200)),
    "chat:account": Expect(get=people(200), post=people(422), data={"email": "no address"}),
    "chat:change_password": Expect(get=people(REFUSED), post=people(422)),
    "chat:end_log_ins": Expect(get=people(REFUSED), post=people(302)),
    # Both are off until somebody sets them up.
    "chat:second_factor": Expect(get=people(404), post=people(404)),
    "chat:connect_identity": Expect(get=people(REFUSED), post=people(404)),
    "chat:disconnect_identity": Expect(get=people(REFUSED), post=people(404)),
    "chat:delete_account": Expect(get=people(REFUSED), post=people(422)),
    # Without an agent there is nobody to introduce.
    "chat:introduction": Expect(get=people(404), post=people(REFUSED)),
    "chat:models": Expect(get=people(200), post=people(REFUSED)),
    "chat:prompts": Expect(get=people(200), post=people(409)),
    "chat:prompt": Expect(get=owner_only(200), post=owner_only(409), own=True),
    "chat:delete_prompt": Expect(get=people(REFUSED), post=owner_only(302), own=True),
    "chat:offered_prompts": Expect(get=people(200), post=people(REFUSED)),
    "chat:fill_prompt": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    "chat:favourite": Expect(get=people(REFUSED), post=people(204)),
    # A form without a file.
    "chat:import": Expect(get=people(200), post=people(400)),
    # Without a choice of the form it is asked for.
    "chat:export_chats": Expect(get=people(200), post=people(200)),
    "chat:archived": Expect(get=people(200), post=people(REFUSED)),
    "chat:deleted": Expect(get=people(200), post=people(REFUSED)),
    "chat:folder_new": Expect(get=people(200), post=people(422)),
    "chat:folder": Expect(get=owner_only(200), post=owner_only(422), own=True),
    "chat:folder_delete": Expect(get=owner_only(200), post=owner_only(302), own=True),
    "chat:move": Expect(
        get=owner_only(200),
        post=owner_only(302),
        query="?c={conversation_id}",
        data={"c": "{conversation_id}", "folder": ""},
        own=True,
    ),
    "chat:several": Expect(
        get=people(REFUSED),
        post=owner_only(302),
        data={"c": "{conversation_id}", "do": "archive"},
        own=True,
    ),
    # Being let into the administration is not enough: it takes the right to change tools.
    "chat:tools": Expect(
        get=people(REFUSED),
        post=everyone(403, anonymous="login", deactivated="login", operator=302, superuser=302),
    ),
    "chat:conversation": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    "chat:older": Expect(get=owner_only(200), post=people(REFUSED), query="?before=2", own=True),
    "chat:newer": Expect(get=owner_only(200), post=people(REFUSED), query="?after=2", own=True),
    "chat:outline": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    "chat:send": Expect(get=people(REFUSED), post=owner_only(409), data={"content": ""}, own=True),
    "chat:upload": Expect(get=people(REFUSED), post=people(400)),
    "chat:upload_here": Expect(get=people(REFUSED), post=owner_only(400), own=True),
    "chat:attachment": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    # An answer is running in the world of these tests.
    "chat:stop": Expect(get=people(REFUSED), post=owner_only(302), own=True),
    "chat:try_now": Expect(get=people(REFUSED), post=owner_only(302), own=True),
    "chat:edit": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:queue_edit": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:queue_remove": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:queue_send": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:queue_hold": Expect(get=people(REFUSED), post=owner_only(302), own=True),
    "chat:regenerate": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:continue": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:version": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:feedback": Expect(get=people(REFUSED), post=owner_only(409), own=True),
    "chat:choose": Expect(get=people(REFUSED), post=owner_only(302), own=True),
    "chat:details": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    "chat:source": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    "chat:export": Expect(get=owner_only(200), post=people(REFUSED), own=True),
    "chat:share": Expect(
        get=owner_only(200), post=owner_only(302), data={"live": "1", "days": "7"}, own=True
    ),
    # A token that opens nothing; what one opens is in tests/security/test_shares.py.
    "chat:shared": Expect(get=everyone(404), post=everyone(REFUSED), own=True),
    "chat:shared_file": Expect(get=everyone(404), post=everyone(REFUSED), own=True),
    "chat:shared_copy": Expect(
        get=people(REFUSED), post=everyone(404, anonymous="login", deactivated="login"), own=True
    ),
    # Without a script it leads to the page that shows what was found.
    "chat:search": Expect(get=people(302), post=people(REFUSED), query="?q=needle"),
    # The form names the conversation, so it is about one object as well.
    "chat:organise": Expect(
        get=people(REFUSED), post=owner_only(302), data={"pin": "{conversation_id}"}, own=True
    ),
}

# The administration's routes are Django's own: one class for everything about rows, and these few
# besides. Nobody but staff gets in; which right each takes is tried by `test_rights.py`.
_NO_STAFF = ("anonymous", "owner", "other", "deactivated")
ADMIN_ROWS = {"staff": 403} | dict.fromkeys(_NO_STAFF, "login")
ADMIN_BESIDES: dict[str, int] = {
    # name -> what staff without any permission get
    "admin:index": 200,
    "admin:jsi18n": 200,
    "admin:password_change": 200,
    "admin:password_change_done": 200,
    "admin:app_list": 302,
    "admin:view_on_site": 404,
    "admin:autocomplete": 403,
    "admin:admin/(?P<url>.*)$": 404,
}
# Everybody may try to log in; for who is staff already it leads on.
ADMIN_LOGIN = "admin:login"
ADMIN_LOGOUT = "admin:logout"


def admin_expects(route: Route) -> Expect:
    outside = dict.fromkeys(_NO_STAFF, "login")
    if route.name == ADMIN_LOGIN:
        return Expect(get=everyone(200, staff=302, operator=302, auditor=302, superuser=302))
    if route.name == ADMIN_LOGOUT:
        inside = dict.fromkeys(("staff", "operator", "auditor", "superuser"), 405)
        return Expect(get=everyone(302, anonymous="login", deactivated="login", **inside))
    if route.name in ADMIN_BESIDES:
        return Expect(get={**outside, "staff": ADMIN_BESIDES[route.name]})
    if route.pattern.endswith("<path:object_id>/"):
        # The old address of a row: it only leads to the new one.
        return Expect(get={**outside, "staff": 302, "superuser": 302})
    return Expect(get={**ADMIN_ROWS}, post={**ADMIN_ROWS})
