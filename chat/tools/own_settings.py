"""Settings of a tool's own: what an administrator enters for it, by the type hints of a class.

class Weather(OwnSettings):
    key: Annotated[SecretStr, "Key of the weather service"] = SecretStr("")
    region: Annotated[Literal["eu", "us"], "Region"] = "eu"

A tool that has a parameter of that type is given what was entered, and nothing of it is shown to
the model. Every setting has a default, for a tool works before anybody has entered anything.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError
from pydantic.fields import FieldInfo

log = logging.getLogger(__name__)

SettingKind = Literal["text", "secret", "whole", "number", "switch", "choice"]

_KINDS: dict[Any, SettingKind] = {
    str: "text",
    SecretStr: "secret",
    int: "whole",
    float: "number",
    bool: "switch",
}


class OwnSettings(BaseModel):
    """The base of such a class."""

    model_config = ConfigDict(frozen=True, extra="ignore", validate_default=True)


@dataclass(frozen=True, slots=True)
class OwnSetting:
    """One of them, as a form asks for it."""

    name: str
    kind: SettingKind
    label: str
    default: Any
    # A sentence below it.
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


def settings_of(cls: type[OwnSettings]) -> tuple[OwnSetting, ...]:
    """What there is to set; a type that no form has a field for is a mistake of its author."""
    return tuple(_setting(cls, name, field) for name, field in cls.model_fields.items())


def _setting(cls: type[OwnSettings], name: str, field: FieldInfo) -> OwnSetting:
    where = f"{cls.__name__}.{name}"
    if field.is_required():
        raise TypeError(f"{where} needs a default: the tool works before anybody has set it")
    hint = field.annotation
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    if choices and not all(isinstance(choice, str) for choice in choices):
        raise TypeError(f"{where}: its choices must be texts")
    kind = "choice" if choices else _KINDS.get(hint)
    if kind is None:
        raise TypeError(f"{where} must be a text, a secret, a number, a switch or a choice")
    # `Annotated[str, "Region", "Of the service."]` is a setting of that name, with a sentence.
    texts = [each for each in field.metadata if isinstance(each, str)]
    return OwnSetting(
        name=name,
        kind=kind,
        label=texts[0] if texts else name.replace("_", " ").capitalize(),
        help=" ".join(texts[1:]),
        default=field.default,
        choices=choices,
        least=_bound(field, Ge, "ge"),
        most=_bound(field, Le, "le"),
    )


def _bound(field: FieldInfo, kind: type, name: str) -> float | None:
    return next((getattr(each, name) for each in field.metadata if isinstance(each, kind)), None)


def read_settings(cls: type[OwnSettings], stored: Mapping[str, Any]) -> OwnSettings:
    """What was entered. What no longer fits the tool counts as not entered: an update of a tool
    must not take it away."""
    try:
        return cls.model_validate(stored)
    except ValidationError as error:
        wrong = {str(fault["loc"][0]) for fault in error.errors(include_input=False)}
        log.warning("settings of a tool no longer fit it: %s", ", ".join(sorted(wrong)))
        return cls.model_validate({k: v for k, v in stored.items() if k not in wrong})


def is_valid(cls: type[OwnSettings], name: str, value: Any) -> bool:
    """Whether the tool would take this for one of its settings."""
    try:
        cls.model_validate({name: value})
    except ValidationError:
        return False
    return True
