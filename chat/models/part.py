"""A part row, and the one place where rows become parts and parts rows."""

import logging
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation
from chat.models.message import Message
from chat.protocol import parts as values
from chat.protocol.errors import PartError, PartValidationError
from chat.protocol.notes import part_notes
from chat.protocol.validation import part_from_json, part_to_json

log = logging.getLogger(__name__)

_COLUMNS = ("id", "sessionID", "messageID", "type", "text", "tool", "callID")


class Part(Row):
    """`text` and what is asked for in queries have columns; the rest is in `data`."""

    class Type(models.TextChoices):
        TEXT = "text", _("text")
        REASONING = "reasoning", _("thinking")
        TOOL = "tool", _("tool")
        STEP_START = "step-start", _("step start")
        STEP_FINISH = "step-finish", _("step finish")
        FILE = "file", _("file")

    class ToolStatus(models.TextChoices):
        PENDING = "pending", _("pending")
        RUNNING = "running", _("running")
        COMPLETED = "completed", _("success")
        ERROR = "error", _("error")

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="parts", verbose_name=_("conversation")
    )
    message = models.ForeignKey(
        Message, models.CASCADE, related_name="parts", verbose_name=_("message")
    )
    position = models.PositiveIntegerField(_("position"))
    type = models.CharField(_("type"), max_length=12, choices=Type)
    text = models.TextField(_("text"), blank=True)
    data = models.JSONField(_("data"), default=dict, blank=True)
    tool = models.CharField(_("tool"), max_length=200, blank=True)
    call_id = models.CharField(_("call id"), max_length=200, blank=True)
    tool_status = models.CharField(_("tool status"), max_length=10, choices=ToolStatus, blank=True)
    parent_call_id = models.CharField(_("parent call"), max_length=200, blank=True)
    synthetic = models.BooleanField(_("synthetic"), default=False)
    ignored = models.BooleanField(_("ignored"), default=False)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("part")
        verbose_name_plural = _("parts")
        ordering = ("message", "position")
        indexes = (
            models.Index(fields=("tool", "id"), condition=Q(type="tool"), name="calls_by_tool"),
            models.Index(fields=("call_id", "id"), condition=Q(type="tool"), name="calls_by_id"),
        )
        constraints = (
            models.UniqueConstraint(fields=("message", "position"), name="part_position_once"),
            models.UniqueConstraint(
                fields=("message", "call_id"), condition=Q(type="tool"), name="call_once"
            ),
            models.CheckConstraint(
                condition=Q(
                    type__in=["text", "reasoning", "tool", "step-start", "step-finish", "file"]
                ),
                name="part_type",
            ),
            models.CheckConstraint(
                condition=(Q(type="tool") & ~Q(tool="") & ~Q(call_id="") & ~Q(tool_status=""))
                | (~Q(type="tool") & Q(tool="", call_id="", tool_status="")),
                name="tool_part_columns",
            ),
            models.CheckConstraint(
                condition=Q(tool_status__in=["", "pending", "running", "completed", "error"]),
                name="part_tool_status",
            ),
        )

    def __str__(self) -> str:
        return f"{self.position} · {self.get_type_display()}"

    @classmethod
    def of(cls, value: values.Part, position: int) -> "Part":
        """The row of a part at its place in the message."""
        data = part_to_json(value)
        span = _span(data)
        state = data.get("state", {})
        return cls(
            id=value.id,
            conversation_id=value.session_id,
            message_id=value.message_id,
            position=position,
            type=value.type,
            text=data.get("text", ""),
            tool=data.get("tool", ""),
            call_id=data.get("callID", ""),
            tool_status=state.get("status", ""),
            parent_call_id=part_notes(value).parent_call_id[:200],
            synthetic=data.get("synthetic", False),
            ignored=data.get("ignored", False),
            started_at=_moment(span.get("start")),
            ended_at=_moment(span.get("end")),
            data={key: data[key] for key in data if key not in _COLUMNS},
        )

    def as_json(self) -> dict[str, Any]:
        """The part's JSON form, checked or not."""
        form = {
            # Whatever else a broken row may hold there is not part of a part.
            **(self.data if isinstance(self.data, dict) else {}),
            "id": str(self.id),
            "sessionID": str(self.conversation_id),
            "messageID": str(self.message_id),
            "type": self.type,
        }
        if self.type in (self.Type.TEXT, self.Type.REASONING):
            form["text"] = self.text
        if self.type == self.Type.TOOL:
            form |= {"tool": self.tool, "callID": self.call_id}
        return form

    def value(self) -> values.Part | None:
        """The part, or nothing when an old row no longer fits the rules (it is logged)."""
        try:
            if not isinstance(self.data, dict):
                raise PartValidationError("data", "is not an object")
            return part_from_json(self.as_json())
        except PartError as error:
            log.warning("part %s cannot be read: %s", self.pk, error)
            return None


def _span(data: dict[str, Any]) -> dict[str, int]:
    return (data.get("state") or data).get("time") or {}


def _moment(ms: int | None) -> datetime | None:
    if ms is None:
        return None
    try:
        return datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        # An imported time beyond the calendar; the part itself keeps it in `data`.
        return None
