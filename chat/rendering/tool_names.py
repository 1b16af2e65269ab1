"""What tools are called: ours by their rows, those of providers by words of ours."""

from django.utils.translation import gettext as _

from chat.protocol.mcp_names import plain_name
from chat.rendering.reader import Reader


def tool_name(tool: str, reader: Reader) -> str:
    """The name in the language that is spoken now; a tool that nobody named has its own."""
    return reader.names.tools.get(tool) or _server_tool_name(tool)


def _server_tool_name(tool: str) -> str:
    """Of a provider's own tool; each provider has another word for the same thing."""
    match tool:
        case "web_search":
            return _("Web search")
        case "web_fetch":
            return _("Page")
        case "code_execution" | "code_interpreter":
            return _("Code")
        case "bash_code_execution":
            return _("Command")
        case "text_editor_code_execution":
            return _("File")
        case "image_generation":
            return _("Picture")
        case "file_search":
            return _("File search")
        case _:
            return plain_name(tool)
