"""What every new installation starts with: the demo model, an agent, the built-in tools."""

from collections.abc import Mapping, Sequence

from django.db import transaction

from chat.models import Agent, Example, LanguageModel, Provider, ToolSetting

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
        "description_en": "Searches the web.",
        "description_zh_hans": "搜索网页。",
    },
    "read_page": {
        "name_en": "Read page",
        "name_zh_hans": "阅读网页",
        "description_en": "Opens a page or PDF on the web and reads its text.",
        "description_zh_hans": "打开网上的页面或 PDF 并阅读其文字。",
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
    "description_en": "Assistant can calculate, search and read the web, and plan.",
    "description_zh_hans": "助手会计算、搜索和阅读网页、制定计划。",
    "system_prompt_en": (
        "You are a helpful assistant. Think before you answer, use the tools when they help, "
        "and answer in the language of the question, in plain Markdown."
    ),
    "system_prompt_zh_hans": (
        "你是一个乐于助人的助手。先思考再回答，需要时使用工具，"
        "用提问的语言、以简洁的 Markdown 回答。"
    ),
}

# One each for tools, thinking, code and tables; the demo model answers all four.
EXAMPLES = (
    {
        "icon": Example.Icon.SUM,
        "title_en": "Split a bill",
        "title_zh_hans": "分摊账单",
        "text_en": "12 people, 486.20 €, 126.20 € of it for wine, and 2 did not drink: "
        "who pays what?",
        "text_zh_hans": "12 个人，共 486.20 €，其中酒 126.20 €，有 2 人没喝酒：各付多少？",
    },
    {
        "icon": Example.Icon.THOUGHT,
        "title_en": "Think it through",
        "title_zh_hans": "仔细想想",
        "text_en": "Three boxes – apples, oranges, both – and every label is wrong: "
        "how is one fruit from one box enough?",
        "text_zh_hans": "三个盒子分别装苹果、橙子和两种都有，标签全错：为什么只取一个水果就够了？",
    },
    {
        "icon": Example.Icon.CODE,
        "title_en": "Write a script",
        "title_zh_hans": "写个脚本",
        "text_en": "Rename photos by the date they were taken",
        "text_zh_hans": "按拍摄日期重命名照片",
    },
    {
        "icon": Example.Icon.TABLE,
        "title_en": "Make a table",
        "title_zh_hans": "做张表格",
        "text_en": "Compare SQLite, PostgreSQL and DuckDB for one user",
        "text_zh_hans": "为单个用户比较 SQLite、PostgreSQL 和 DuckDB",
    },
)


@transaction.atomic
def ensure_defaults() -> None:
    """Create what is missing; change nothing that is there."""
    for tool, texts in TOOLS.items():
        ToolSetting.objects.get_or_create(tool=tool, defaults=texts)
    model = _demo_model()
    if not Agent.objects.filter(is_default=True).exists():
        agent = Agent.objects.create(**_AGENT, model=model, tools=list(TOOLS), is_default=True)
        give_examples(agent, EXAMPLES)


def give_examples(agent: Agent, examples: Sequence[Mapping[str, str]]) -> None:
    """What the empty page offers to ask this agent, in this order."""
    Example.objects.bulk_create(
        Example(agent=agent, position=position, **example)
        for position, example in enumerate(examples, start=1)
    )


def _demo_model() -> LanguageModel:
    # An administrator may have added another one: a server must start all the same.
    provider = Provider.objects.filter(kind=Provider.Kind.DEMO).order_by("pk").first()
    if provider is None:
        provider = Provider.objects.create(
            kind=Provider.Kind.DEMO, name_en="Demo", name_zh_hans="演示"
        )
    model, _ = LanguageModel.objects.get_or_create(
        provider=provider,
        model_id=DEMO_MODEL,
        defaults={"label": "Parley", "reasoning": True, "context_window": 128_000},
    )
    return model
