"""A request in a form that can be read, and in one that can be repeated."""

import json
import shlex
from collections.abc import Mapping


def readable(text: str) -> str:
    """JSON with line breaks; whatever is not, as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def as_curl(url: str, headers: Mapping[str, str], body: str) -> str:
    """A command that sends the same. Whoever runs it puts the key into `API_KEY` first: that is
    why headers stand in double quotes."""
    lines = [f"curl -N {shlex.quote(url)}"]
    lines += [f"-H {_in_double_quotes(f'{name}: {value}')}" for name, value in headers.items()]
    lines.append(f"--data-raw {shlex.quote(body)}")
    return " \\\n  ".join(lines)


def _in_double_quotes(text: str) -> str:
    for sign in ("\\", '"', "`"):
        text = text.replace(sign, f"\\{sign}")
    # Of all that a shell would fill in, only our own placeholder.
    text = text.replace("$", "\\$").replace("\\$API_KEY", "$API_KEY")
    return f'"{text}"'
