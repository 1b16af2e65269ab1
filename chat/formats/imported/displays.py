"""What a person sees of the tools of Claude's command line: changes of files, and plans."""

from typing import Any

from chat.formats.imported import shapes
from chat.formats.imported.plans import Plans, plan
from chat.formats.imported.updates import Called, Returned
from chat.protocol.displays import (
    DiffDisplay,
    Display,
    SearchDisplay,
    SearchHit,
    ShellDisplay,
    TodoDisplay,
)
from chat.protocol.frozen import JsonObject


def of_result(result: Any) -> Display | None:
    """From what the command line keeps beside a result: the file before and after, or a plan."""
    found = shapes.an_object(result)
    path = shapes.text(found.get("filePath"))
    if path and isinstance(found.get("newString"), str):
        before = shapes.text(found.get("oldString"))
        whole = shapes.text(found.get("originalFile"))
        above = whole[: max(whole.find(before), 0)]
        return DiffDisplay(
            path=path,
            before=before,
            after=shapes.text(found.get("newString")),
            first=above.count("\n") + 1,
        )
    if path and isinstance(found.get("content"), str):
        before = shapes.text(found.get("originalFile"))
        return DiffDisplay(path=path, before=before, after=shapes.text(found.get("content")))
    if isinstance(found.get("newTodos"), list):
        return TodoDisplay(items=plan(found["newTodos"]), before=plan(found.get("oldTodos")))
    if shapes.text(found.get("stderr")):
        # Without any, the result itself is all that was printed.
        output, errors = shapes.text(found.get("stdout")), shapes.text(found.get("stderr"))
        return ShellDisplay(command="", output=output, errors=errors)
    return _search(found)


def _search(found: JsonObject) -> Display | None:
    """What a search on the web found: lists of pages, among what the model says of them."""
    query = shapes.text(found.get("query"))
    hits = tuple(
        SearchHit(title=shapes.text(hit.get("title")), url=shapes.text(hit.get("url")))
        for group in shapes.objects(found.get("results"))
        for hit in shapes.objects(group.get("content"))
    )
    return SearchDisplay(query=query, hits=hits) if query and hits else None


def with_command(display: Display | None, input: JsonObject) -> Display | None:
    """What is kept beside the result of a command does not say which command it was."""
    if isinstance(display, ShellDisplay) and not display.command:
        return display.model_copy(update={"command": shapes.text(input.get("command"))})
    return display


def of_returned(call: Called, result: Returned, plans: Plans) -> Display | None:
    """What is shown of a call with its result; a plan is remembered for the next call."""
    display = with_command(result.display, call.input)
    if display is None and not result.is_error:
        display = of_call(call.name, call.input)
        display = display or plans.of_call(call.parent, call.name, call.input, result.output)
    if isinstance(display, TodoDisplay):
        plans.note(call.parent, display)
    return display


def of_call(name: str, input: JsonObject) -> Display | None:
    """From the arguments of a call that went well, where nothing is kept beside its result."""
    path = shapes.text(input.get("file_path"))
    match name:
        case "Edit":
            return _change(path, [input])
        case "MultiEdit":
            return _change(path, list(shapes.objects(input.get("edits"))))
        case "Write":
            return DiffDisplay(path=path, before="", after=shapes.text(input.get("content")))
        case "NotebookEdit":
            path = shapes.text(input.get("notebook_path"))
            return DiffDisplay(path=path, before="", after=shapes.text(input.get("new_source")))
        case _:
            return None


def _change(path: str, edits: list[JsonObject]) -> Display:
    return DiffDisplay(
        path=path,
        before="\n".join(shapes.text(edit.get("old_string")) for edit in edits),
        after="\n".join(shapes.text(edit.get("new_string")) for edit in edits),
    )
