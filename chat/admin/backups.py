"""Backups: which there are, and how one is made. None can be taken from here, nor put back."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat import services
from chat.protocol.ids import now_ms
from chat.rendering.page.sizes import file_size
from chat.rendering.page.times import Moment, moment

RIGHT = "chat.view_provider"
SHOWN = 40


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup in our own folder; `fault` says why it could not be put back."""

    name: str
    size: str
    made: Moment
    version: str = ""
    contents: str = ""
    fault: str = ""


def backups(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    last = services.last_backup()
    context |= {
        "title": _("Backups"),
        "last": moment(int(last.timestamp() * 1000), now_ms()) if last else None,
        "is_old": last is None or timezone.now() - last > services.OLD_BACKUP,
        "kept": [_kept(each) for each in services.list_backups()[:SHOWN]],
        "folder": settings.DATA_DIR / "backups",
        "command": f"{settings.BASE_DIR}/.venv/bin/python {settings.BASE_DIR}/manage.py backup",
    }
    return TemplateResponse(request, "admin/backups.html", context)


def _kept(backup: services.KeptBackup) -> Kept:
    made = moment(int(backup.made.timestamp() * 1000), now_ms())
    size = file_size(backup.bytes)
    said = backup.contents
    if said is None:
        return Kept(backup.name, size, made, fault=_("This version of Parley cannot read it."))
    numbers = {"people": said.people, "talks": said.conversations, "files": said.files}
    contents = _("people: %(people)s, conversations: %(talks)s, files: %(files)s") % numbers
    return Kept(backup.name, size, made, said.version, contents)
