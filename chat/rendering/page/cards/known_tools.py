"""Tools of other programs: what a person sees of them where nobody said so.

What came of such a call is kept as the model read it. A command, or lines of a file, are found in
that by the name of the tool and by the form of the text.
"""

import re
from typing import Any, Final

from chat.protocol.displays import Display, FileDisplay, ShellDisplay
from chat.protocol.mcp_names import read_mcp_name
from chat.protocol.tool_state import NO_OUTPUT, ToolCompleted, ToolError, ToolState
from chat.rendering.page.json_text import parsed

_SHELLS: Final = {
    *("bash", "shell", "local_shell", "terminal", "exec_command", "execute_command"),
    *("run_command", "run_shell_command", "run_terminal_cmd", "bash_code_execution"),
}
_FILES: Final = {"read", "read_file", "view"}
ICONS: Final = {
    # Also where there is nothing of a command or of a file to show: stopped, or not run at all.
    **dict.fromkeys(_SHELLS, "term"),
    **dict.fromkeys(_FILES, "file"),
    "web_search": "globe",
    "websearch": "globe",
    "web_fetch": "page",
    "webfetch": "page",
    "code_execution": "term",
    "code_interpreter": "term",
    "text_editor_code_execution": "file",
    "image_generation": "file",
    "file_search": "search",
    "glob": "search",
    "grep": "search",
    "ls": "search",
    "write": "edit",
    "edit": "edit",
    "multiedit": "edit",
    "notebookedit": "edit",
    "todowrite": "list",
    "taskcreate": "list",
    "taskupdate": "list",
    "tasklist": "list",
    "task": "outline",
    "agent": "outline",
    "bashoutput": "term",
    "killshell": "term",
}

# What is looked at of a text to see of which form it is.
_BEGIN: Final = 4096
_EXIT: Final = re.compile(r"(?:Error: )?Exit (?:code|status):? (-?\d{1,10})(?:\n|$)")
# As `cat -n` writes lines.
_NUMBERED: Final = re.compile(r"[ \t]*+(\d{1,9})(?:→|\t)([^\n]*+)(?:\n|$)")
_REMINDER: Final = "<system-reminder>"
_LONGEST: Final = 1_000_000


def own_name(tool: str) -> str:
    """What a tool is called on its server, in small letters."""
    found = read_mcp_name(tool)
    return (found.tool if found else tool).lower()


def display_of(tool: str, state: ToolState) -> Display | None:
    """From the name, the arguments and the result of a call; None where nothing is known."""
    name = own_name(tool)
    if name in _SHELLS:
        return _shell(state)
    if name in _FILES and isinstance(state, ToolCompleted):
        return _file(state)
    return None


def _shell(state: ToolState) -> ShellDisplay | None:
    command = _command(state.input)
    match state:
        case ToolCompleted():
            text = "" if state.output == NO_OUTPUT else state.output
            return _of_object(command, text) or _of_text(command, text)
        case ToolError():
            # Where a command has not even run, there is an error and nothing that it printed.
            found = _of_object(command, state.error) or _of_text(command, state.error)
            return found if found.exit_code is not None else None
        case _:
            return ShellDisplay(command=command) if command else None


def _command(arguments: Any) -> str:
    for key in ("command", "cmd", "script", "code"):
        match arguments.get(key):
            case str(text):
                return text
            case [*words] if all(isinstance(word, str) for word in words):
                return " ".join(words)
    return ""


def _of_object(command: str, text: str) -> ShellDisplay | None:
    """Some programs answer in JSON."""
    value = parsed(text) if len(text) <= _LONGEST else None
    if not isinstance(value, dict):
        return None
    facts = value.get("metadata")
    codes = {**(facts if isinstance(facts, dict) else {}), **value}
    code = next((codes[key] for key in ("exit_code", "return_code") if key in codes), None)
    output = next((value[key] for key in ("stdout", "output") if key in value), None)
    if not isinstance(output, str):
        return None
    errors = value.get("stderr")
    return ShellDisplay(
        command=command,
        output=output,
        errors=errors if isinstance(errors, str) else "",
        exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


def _of_text(command: str, text: str) -> ShellDisplay:
    said = _EXIT.match(text, 0, _BEGIN)
    if said is None:
        return ShellDisplay(command=command, output=text)
    return ShellDisplay(command=command, output=text[said.end() :], exit_code=int(said[1]))


def _file(state: ToolCompleted) -> FileDisplay | None:
    path = next(
        (found for key in ("file_path", "path") if isinstance(found := state.input.get(key), str)),
        "",
    )
    text = state.output
    begin = _NUMBERED.match(text)
    if not path or begin is None or len(text) > _LONGEST:
        return None
    lines: list[str] = []
    end = 0
    while line := _NUMBERED.match(text, end):
        if end == len(text):
            break
        lines.append(line[2])
        end = line.end()
    rest = text[end : end + _BEGIN].strip()
    if rest and not rest.startswith(_REMINDER):
        return None
    return FileDisplay(path=path, text="\n".join(lines), first=int(begin[1]))
