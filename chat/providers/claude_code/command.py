"""What is run, and with what: pure functions of what an administrator has set and of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chat.protocol.interfaces import ModelRequest
from chat.providers.claude_code.folders import Folder


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The installed command line, as an administrator has set it; without tools by default."""

    path: str
    # Where each conversation has a folder of its own.
    folders: Path
    arguments: tuple[str, ...] = ()
    permission_mode: str = ""
    allowed_tools: tuple[str, ...] = ()


# Print what happens, line by line, and take the question from the standard input. Nothing that lies
# on this machine for other uses of the program counts: no settings, servers, skills or commands.
_ALWAYS: Final = (
    "--print",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--include-partial-messages",
    "--verbose",
    "--setting-sources=",
    "--strict-mcp-config",
    "--disable-slash-commands",
)
# What the program needs of our environment: where programs are, the language, and how to get out.
# All else, our keys above all, is not handed on.
_HANDED_ON: Final = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
_SET: Final = {
    # A file that somebody names with an @ would be read and sent, whatever tools are allowed.
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    # Its own number lets a person wait for minutes.
    "CLAUDE_CODE_MAX_RETRIES": "4",
}
# The variable by which what one run has started is found again.
MARK: Final = "PARLEY_ANSWER"
_SUBSCRIPTION: Final = "sk-ant-oat"
_EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")


def arguments(
    command: CommandLine, request: ModelRequest, folder: Folder, session: str
) -> list[str]:
    """The program and its arguments; what an administrator has set comes last, and so counts."""
    given = [command.path, *_ALWAYS, f"--model={request.model}"]
    if request.effort in _EFFORTS:
        given += [f"--effort={request.effort}"]
    if request.system:
        # In a file: arguments can be read by everybody on the machine, and are limited in length.
        kind = "--append-system-prompt-file" if folder.is_kept else "--system-prompt-file"
        given.append(f"{kind}={folder.instructions}")
    if session:
        given += [f"--resume={session}", "--fork-session"]
    if not folder.is_kept:
        # A title or a summary: nothing is looked up for it, and nothing kept.
        return [*given, "--tools=", "--no-session-persistence", *command.arguments]
    given.append(f"--tools={','.join(_own_tools(command.allowed_tools))}")
    if command.allowed_tools:
        given += ["--allowedTools", *command.allowed_tools]
    if command.permission_mode:
        given.append(f"--permission-mode={command.permission_mode}")
    return [*given, *command.arguments]


def _own_tools(allowed: tuple[str, ...]) -> list[str]:
    """The program's own tools among those that are allowed: `Bash(git log *)` is of `Bash`."""
    names = (tool.partition("(")[0].strip() for tool in allowed)
    return list(dict.fromkeys(name for name in names if name and not name.startswith("mcp__")))


def environment(
    given: Mapping[str, str], folder: Folder, api_key: str, base_url: str, mark: str
) -> dict[str, str]:
    """The environment of a run, made of little of ours. Its home is the conversation's own."""
    made = {name: given[name] for name in _HANDED_ON if given.get(name)}
    made |= _SET
    made |= {"HOME": str(folder.home), "TMPDIR": str(folder.tmp), MARK: mark}
    if api_key:
        # What `claude setup-token` makes is a token of a subscription.
        is_token = api_key.startswith(_SUBSCRIPTION)
        made["CLAUDE_CODE_OAUTH_TOKEN" if is_token else "ANTHROPIC_API_KEY"] = api_key
    if base_url:
        made["ANTHROPIC_BASE_URL"] = base_url
    return made
