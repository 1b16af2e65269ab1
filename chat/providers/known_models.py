"""What is known of models by their names, for lists that say nothing of them but that.

The data is in `known_models.json`: patterns in their order, the first that fits counts. In a name,
dots count as dashes, and a date or a maker in front of it does not count. Prices are those of the
maker itself, per million tokens: input, output, read from and written to a cache. Where they rise
with the length of a prompt or the hour of the day, they are those of the short and quiet ones.
"""

import json
import re
from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final

from chat.protocol.effort import ThinkingForm
from chat.providers.model_facts import ModelFacts

_DATE: Final = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest)$|:[\w-]+$|-v\d+:\d+$")
# Makers whose models everybody may serve, with a window of their own choice and for as long as
# they like.
_OPEN_WEIGHTS: Final = frozenset({"deepseek", "gpt-oss", "qwen"})
# A model that ends within so many days is not one to begin with.
SOON: Final = 90


@cache
def _data() -> dict[str, Any]:
    text = files("chat.providers").joinpath("known_models.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def checked_on() -> date:
    """When the data was last compared with what makers say."""
    return date.fromisoformat(_data()["checked"])


def known_facts(model_id: str, slug: str = "") -> ModelFacts:
    """What is known of a model at the provider of this slug (`presets.py`)."""
    entry = _entry(model_id)
    if entry is None:
        return ModelFacts(model_id)
    at_home = entry["vendor"] == slug
    sized = at_home or entry["vendor"] not in _OPEN_WEIGHTS
    efforts = entry.get("efforts")
    form: ThinkingForm = entry.get("thinking", "")
    # A model reads PDF files where its server takes them, which other servers may not.
    facts = ModelFacts(
        model_id,
        label=entry.get("label", "") if at_home else "",
        context_window=entry.get("window") if sized else None,
        max_output=entry.get("output") if sized else None,
        native_tools=entry.get("tools"),
        reasoning=entry.get("thinks", bool(efforts) if efforts is not None else None),
        vision=entry.get("vision"),
        documents=entry.get("pdf") if at_home or not entry.get("pdf") else None,
        efforts=tuple(efforts) if efforts is not None else None,
        thinking=form or None,
        wire="responses" if entry.get("responses_only") else None,
        retires_on=date.fromisoformat(entry["retires"]) if sized and "retires" in entry else None,
        chats=entry.get("chat"),
        current=entry.get("current", False) if at_home else None,
    )
    return facts.with_prices(entry["prices"]) if at_home and "prices" in entry else facts


def favourite_of(slug: str, model_ids: Sequence[str], today: date) -> str:
    """The model of a provider that one would begin with: the first of the best that is listed and
    does not end soon. A server that is no maker's may have models of all."""
    best: dict[str, list[str]] = _data()["defaults"]
    for pattern in best.get(slug) or chain.from_iterable(best.values()):
        for model_id in model_ids:
            if fnmatchcase(_plain(model_id), pattern) and not ends_soon(model_id, slug, today):
                return model_id
    return ""


def guess_of(slug: str) -> str:
    """A model that a maker is likely to have, for when it cannot be asked."""
    guess: str = _data()["guesses"].get(slug, "")
    return guess


def ends_soon(model_id: str, slug: str, today: date) -> bool:
    retires = known_facts(model_id, slug).retires_on
    return retires is not None and (retires - today).days <= SOON


@lru_cache(maxsize=4096)
def _entry(model_id: str) -> dict[str, Any] | None:
    name = _plain(model_id)
    entries: list[dict[str, Any]] = _data()["models"]
    return next((entry for entry in entries if fnmatchcase(name, entry["match"])), None)


def _plain(model_id: str) -> str:
    name = model_id.lower().rsplit("/", 1)[-1]
    # Amazon's names have the maker, and where it is served, in front: us.anthropic.claude-…
    name = re.sub(r"^(?:[a-z]+\.)+(?=claude|gpt|grok)", "", name)
    return _DATE.sub("", name).replace(".", "-")
