"""A small world: one row of every kind, for tests that go through all of them."""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db.models import Model

from chat.models import (
    CatalogStamp,
    Example,
    ModelAdjustment,
    Profile,
    Prompt,
    SearchEngine,
    SearchEntry,
)
from chat.protocol.tool_state import Ended, Started, ToolError, ToolPending, ToolRunning
from tests.support import factories as make

# The provider's key: it must turn up nowhere.
KEY = "sk-canary-0123456789-wxyz"


def one_of_everything(owner: User | None = None) -> dict[type[Model], Any]:
    """A row of every model there is, all of one conversation."""
    owner = owner or make.a_user("olivia")
    Profile.objects.create(user=owner, language="zh-hans")
    provider = make.a_provider(name="Acme", api_key=KEY, extra_headers={"x-team": "a"})
    model = make.a_model(provider, model_id="acme-1")
    agent = make.an_agent(model, tools=["calculator", "gone_tool"])
    folder = make.a_folder(owner, "Hens & <i>eggs</i>")
    title = "About <b>hens</b>"
    talk = make.a_conversation(owner, title=title, agent=agent, model=model, folder=folder)
    said = make.a_message_with_parts(talk, text="What is <i>2+2</i>?")
    states = (
        make.a_finished_call(),
        ToolPending(input={}, raw=""),
        ToolRunning(input={}, time=Started(start=1)),
        ToolError(input={}, error="broken", time=Ended(start=1, end=2)),
    )
    make.a_message_with_parts(talk, "assistant", "It is **4**.", states)
    answer = make.a_message(talk, "assistant", status="streaming")
    process = make.a_process()
    adjustment = ModelAdjustment.objects.create(
        model=model, kind="drop", name="temperature", refusal="temperature is not supported"
    )
    made = [
        owner,
        Profile.objects.get(),
        Group.objects.create(name="Helpers"),
        provider,
        model,
        adjustment,
        agent,
        Example.objects.create(agent=agent, title_en="Ask", text_en="What is 2+2?"),
        make.a_tool_setting("calculator", name="Calculator"),
        SearchEngine.objects.create(kind="brave", api_key=KEY),
        folder,
        talk,
        said,
        said.parts.get(),
        make.a_generation(answer, user=owner, process=process),
        process,
        make.a_view(talk, process=process),
        make.an_attachment(owner, said),
        make.a_queued_message(talk),
        make.a_feedback(answer),
        make.a_background_call(talk),
        Prompt.objects.create(owner=owner, name="hens", text="About {{hens}}"),
    ]
    found = {type(row): row for row in made}
    # What the rows themselves give rise to: what is searched of them, and the stamp of the catalog.
    made_by_rows = {SearchEntry, CatalogStamp}
    missing = set(apps.get_app_config("chat").get_models()) - set(found) - made_by_rows
    assert not missing, "a model without a row here"
    return found
