"""What every new installation starts with: the demo model, an agent, the built-in tools."""

from django.db import transaction

from chat.models import Agent, LanguageModel, Provider, ToolSetting

DEMO_MODEL = "parley-demo"

TOOLS = {
    "calculator": {
        "name_en": "Calculator",
        "name_zh_hans": "计算器",
        "description_en": "Works out sums, percentages and mathematical functions.",
        "description_zh_hans": "计算算式、百分比和数学函数。",
    },
    "duckduckgo_search": {
        "name_en": "Web search",
        "name_zh_hans": "网页搜索",
        "description_en": "Searches the web with DuckDuckGo.",
        "description_zh_hans": "用 DuckDuckGo 搜索网页。",
    },
    "todo_write": {
        "name_en": "Plan",
        "name_zh_hans": "计划",
        "description_en": "Shows the steps of a longer piece of work.",
        "description_zh_hans": "展示较长工作的各个步骤。",
    },
}

_AGENT = {
    "name_en": "Assistant",
    "name_zh_hans": "助手",
    "description_en": "Assistant can calculate, search the web and plan.",
    "description_zh_hans": "助手会计算、搜索网页和制定计划。",
    "system_prompt_en": (
        "You are a helpful assistant. Think before you answer, use the tools when they help, "
        "and answer in the language of the question, in plain Markdown."
    ),
    "system_prompt_zh_hans": (
        "你是一个乐于助人的助手。先思考再回答，需要时使用工具，"
        "用提问的语言、以简洁的 Markdown 回答。"
    ),
}


@transaction.atomic
def ensure_defaults() -> None:
    """Create what is missing; change nothing that is there."""
    for tool, texts in TOOLS.items():
        ToolSetting.objects.get_or_create(tool=tool, defaults=texts)
    model = _demo_model()
    if not Agent.objects.filter(is_default=True).exists():
        Agent.objects.create(**_AGENT, model=model, tools=list(TOOLS), is_default=True)


def _demo_model() -> LanguageModel:
    provider, _ = Provider.objects.get_or_create(
        kind=Provider.Kind.DEMO, defaults={"name_en": "Demo", "name_zh_hans": "演示"}
    )
    model, _ = LanguageModel.objects.get_or_create(
        provider=provider,
        model_id=DEMO_MODEL,
        defaults={"label": "Parley", "reasoning": True, "context_window": 128_000},
    )
    return model


def only_demo() -> bool:
    """Whether nothing but the demo model can answer."""
    models = LanguageModel.objects.filter(enabled=True, provider__enabled=True)
    return not models.exclude(provider__kind=Provider.Kind.DEMO).exists()
