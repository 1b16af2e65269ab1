"""Reading pages: on for the default agent, unless somebody has chosen its tools."""

from django.db import migrations

BEFORE = {"calculator", "duckduckgo_search", "todo_write"}
READ = "read_page"


def give(apps, schema_editor):
    for agent in apps.get_model("chat", "Agent").objects.filter(is_default=True):
        if set(agent.tools) == BEFORE:
            agent.tools = [*agent.tools, READ]
            agent.save(update_fields=["tools"])


def take(apps, schema_editor):
    for agent in apps.get_model("chat", "Agent").objects.all():
        if READ in agent.tools:
            agent.tools = [tool for tool in agent.tools if tool != READ]
            agent.save(update_fields=["tools"])


class Migration(migrations.Migration):
    dependencies = [("chat", "0013_effort")]

    operations = [migrations.RunPython(give, take)]
