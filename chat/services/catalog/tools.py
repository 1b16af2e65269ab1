"""What an administrator sets for tools: limits, names, and the settings that tools have themselves.

Those may be keys: they are kept encrypted, all of a tool's together, and are never given back.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from chat.models import ToolSetting


def own_settings(row: ToolSetting) -> dict[str, Any]:
    """What was entered; nothing where it cannot be decrypted at the moment."""
    stored = json.loads(row.own) if row.own else {}
    return stored if isinstance(stored, dict) else {}


@transaction.atomic
def save_tool(row: ToolSetting, entered: Mapping[str, Any] | None = None) -> None:
    """Write a tool's row, and what was entered for its own settings, if that was asked for: what is
    None is forgotten, what is not named stays. Without it the column is left alone: what cannot be
    decrypted at the moment reads as empty, and must not be written back."""
    if entered is None and not row._state.adding:
        columns = [field.name for field in row._meta.concrete_fields if not field.primary_key]
        row.save(update_fields=[name for name in columns if name != "own"])
        return
    values = {**own_settings(row), **(entered or {})}
    kept = {name: value for name, value in values.items() if value is not None}
    row.own = json.dumps(kept) if kept else ""
    row.save()
