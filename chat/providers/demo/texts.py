"""The texts of the demo model, in the languages it knows."""

from collections.abc import Iterator
from itertools import count

from chat.providers.demo.questions import Language

Texts = dict[Language, str]

THINK_SUM: Texts = {
    "en": "The question contains a calculation: {sum}. I could do it in my head, but a model that "
    "guesses digits is worse than a calculator. So I call the calculator and quote its result.",
    "zh": "问题里有一个算式：{sum}。我可以心算，但猜数字的模型不如计算器可靠。"
    "所以我先调用计算器，再引用它的结果。",
}
THINK_BILL: Texts = {
    "en": "{people} people share {total} €, but {drinks} € of it was drink, and {dry} had none. So "
    "everybody shares the food, and only {drinking} share the drink: two divisions. I let the "
    "calculator do them, and check afterwards that it all comes to the bill.",
    "zh": "{people} 个人分摊 {total} €，其中 {drinks} € 是酒，有 {dry} 人没喝。"
    "所以餐费由所有人分摊，酒钱只由 {drinking} 人分摊：两次除法。"
    "我用计算器来算，最后再核对总额是否等于账单。",
}
THINK_SEARCH: Texts = {
    "en": "This asks for something from the web: {search}. I search first, then summarise what was "
    "found, with its sources.",
    "zh": "这个问题需要查网络：{search}。我先搜索，然后根据找到的内容作答，并注明来源。",
}
THINK_PLAN: Texts = {
    "en": "A plan is asked for. I write it down as a list of steps first, so that it can be "
    "watched, and tick off what is done.",
    "zh": "需要一个计划。我先把步骤写成清单，这样可以看到进展，然后逐项完成。",
}
THINK_PLAIN: Texts = {
    "en": "There is nothing to calculate or to search for here. I am only the demo model: I should "
    "say so, and show what this chat can do.",
    "zh": "这里没有要计算或搜索的内容。我只是演示模型：应当说明这一点，并展示这个聊天的功能。",
}
THINK_RESULTS: Texts = {
    "en": "The tools have answered. Now I put the results together.",
    "zh": "工具已经返回结果，现在整理成答案。",
}

ANSWER_SUM: Texts = {
    "en": "## Result\n\n**{sum} = {result}**\n\n| step | value |\n| --- | --- |\n"
    "| expression | `{sum}` |\n| tool | `calculator` |\n| result | **{result}** |\n\n"
    "As a formula: $x = {result}$\n\n",
    "zh": "## 结果\n\n**{sum} = {result}**\n\n| 步骤 | 值 |\n| --- | --- |\n"
    "| 算式 | `{sum}` |\n| 工具 | `calculator` |\n| 结果 | **{result}** |\n\n"
    "写成公式：$x = {result}$\n\n",
}
ANSWER_BILL: Texts = {
    "en": "## Who pays what\n\n| who | food | drink | pays |\n| --- | ---: | ---: | ---: |\n"
    "| {drinking} who drank | {food} € | {wine} € | **{both} €** |\n"
    "| {dry} who did not | {food} € | – | **{food} €** |\n\n"
    "Checked: {drinking} × {both} € + {dry} × {food} € = {sum} €, and the bill is {total} €. Each "
    "of these sums was done by the tool `calculator`; open its cards above to see them.\n\n",
    "zh": "## 各付多少\n\n| 谁 | 餐费 | 酒钱 | 应付 |\n| --- | ---: | ---: | ---: |\n"
    "| 喝了酒的 {drinking} 人 | {food} € | {wine} € | **{both} €** |\n"
    "| 没喝酒的 {dry} 人 | {food} € | – | **{food} €** |\n\n"
    "核对：{drinking} × {both} € + {dry} × {food} € = {sum} €，账单是 {total} €。"
    "每一步都由 `calculator` 工具算出，点开上方的卡片即可查看。\n\n",
}
THINK_PAGE: Texts = {
    "en": "I am asked about a page: {page}. I read it first and then say how it begins.",
    "zh": "问题涉及一个网页：{page}。我先阅读它，再说明它的开头。",
}
ANSWER_PAGE: Texts = {
    "en": "The page {page} begins so:\n\n> {start}\n\n",
    "zh": "网页 {page} 的开头是：\n\n> {start}\n\n",
}
ANSWER_SEARCH: Texts = {
    "en": "## What the web says about “{search}”\n\n{hits}\n\n",
    "zh": "## 关于“{search}”的搜索结果\n\n{hits}\n\n",
}
ANSWER_PLAN: Texts = {
    "en": "## The plan\n\n{steps}\n\n> The list above is the tool `todo_write`: {result}\n\n",
    "zh": "## 计划\n\n{steps}\n\n> 答案上方的清单来自 `todo_write` 工具：{result}\n\n",
}
ANSWER_CALLS: Texts = {
    "en": "## {count} calls in one step\n\n| call | result |\n| --- | --- |\n{rows}\n\n",
    "zh": "## 一步中的 {count} 次调用\n\n| 调用 | 结果 |\n| --- | --- |\n{rows}\n\n",
}
FAILED_TOOL: Texts = {
    "en": "The tool `{tool}` could not do it:\n\n> {reason}\n\nSo I have no result that I could "
    "vouch for.\n\n",
    "zh": "工具 `{tool}` 没有成功：\n\n> {reason}\n\n所以我没有可靠的结果。\n\n",
}
NO_TOOL: Texts = {
    "en": "I would use the tool `{tool}` here, but it is not available to this agent. It can be "
    "switched on in the settings of the tools.\n\n",
    "zh": "这里本应使用工具 `{tool}`，但当前助手没有启用它。可以在工具设置中打开。\n\n",
}
SIGNED: Texts = {
    "en": "*From the demo model – no key, no network, the same answer every time.*\n",
    "zh": "*来自演示模型：不需要密钥，不联网，同样的问题总得到同样的回答。*\n",
}
PLAIN: Texts = {
    "en": "I am the **demo model** that ships with this chat: I follow fixed rules and know "
    "nothing of the world, so I cannot really answer that. Connect a provider for real answers. "
    "Until then I can calculate, search the web, read a page, plan, and show code, tables and "
    "formulas.\n\n",
    "zh": "我是随附的**演示模型**：只按固定规则回答，并不了解世界，所以无法真正回答这个问题。"
    "接入一个模型服务即可得到真实的回答。在此之前，我会计算、搜索和阅读网页、制定计划，"
    "也能展示代码、表格和公式。\n\n",
}
LIMITS: Texts = {
    "en": "To try the limits, begin with `/long 500`, `/slow 100 /long 50`, `/think 80`, "
    "`/tools 3` or `/fail rate_limited`; `/cards` shows what tools look like.\n\n",
    "zh": "测试极限可以用 `/long 500`、`/slow 100 /long 50`、`/think 80`、`/tools 3` 或 "
    "`/fail rate_limited` 开头；`/cards` 展示各种工具卡片。\n\n",
}
CARDS: Texts = {
    "en": "What tools look like in this chat. These are examples: nothing was run, and no file was "
    "changed.",
    "zh": "这个聊天里工具的样子。以下只是示例：没有运行任何命令，也没有更改任何文件。",
}
CARDS_END: Texts = {
    "en": "Open a card to see what is in it.\n",
    "zh": "点开卡片可以查看其中的内容。\n",
}
NEXT: Texts = {"en": "\n**Ask next:** ", "zh": "\n**接着问：** "}
# What an answer offers to ask next: each shows something else.
PROMPTS: dict[Language, tuple[str, ...]] = {
    "en": (
        "What is (17.5% of 2,340) + 12?",
        "Plan a weekend in Lisbon",
        "Show me some code",
        "Compare SQLite, PostgreSQL and DuckDB for one user",
        "Show a formula and a table",
        "Rename photos by the date they were taken",
        "Search for Django Channels",
    ),
    "zh": (
        "2,340 的 17.5% 加 12 是多少？",
        "制定一个周末计划",
        "写一段代码",
        "为单个用户比较 SQLite、PostgreSQL 和 DuckDB",
        "展示一个公式和表格",
        "按拍摄日期重命名照片",
        "搜索 Django Channels",
    ),
}
FILES: Texts = {
    "en": "I see {count} attached file(s), but the demo model cannot read files.\n\n",
    "zh": "收到 {count} 个附件，但演示模型无法读取文件。\n\n",
}
BEFORE_FAILURE: Texts = {
    "en": "This answer begins well, and then the provider fails, as you asked",
    "zh": "这个回答开头正常，然后模型服务按您的要求出错",
}

_CODE = (
    "```python\ndef fibonacci(n: int) -> int:\n    a, b = 0, 1\n    for _ in range(n):\n"
    "        a, b = b, a + b\n    return a\n```\n\n"
)
_TABLE: Texts = {
    "en": "| planet | moons | day |\n| --- | ---: | ---: |\n| Earth | 1 | 24 h |\n"
    "| Mars | 2 | 24.6 h |\n| Jupiter | 95 | 9.9 h |\n\n",
    "zh": "| 行星 | 卫星 | 一天 |\n| --- | ---: | ---: |\n| 地球 | 1 | 24 小时 |\n"
    "| 火星 | 2 | 24.6 小时 |\n| 木星 | 95 | 9.9 小时 |\n\n",
}
_FORMULA = "$$\nx = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n$$\n\n"

# A word in the question → a sample in the answer.
SAMPLES: tuple[tuple[str, Texts], ...] = (
    (r"\bcode\b|\bpython\b|\bfunction\b|代码|函数", {"en": _CODE, "zh": _CODE}),
    (r"\btable\b|\bcompare\b|表格|比较", _TABLE),
    (r"\bformula\b|\bequation\b|\bmath\b|公式|方程", {"en": _FORMULA, "zh": _FORMULA}),
)
SAMPLE_INTRO: Texts = {"en": "## A sample\n\n", "zh": "## 示例\n\n"}

STEPS: dict[Language, tuple[str, ...]] = {
    "en": ("Say what done looks like", "Collect what is needed", "Do the first small step"),
    "zh": ("说清楚怎样算完成", "收集所需的资料", "先做一小步"),
}

_LONG: dict[Language, tuple[str, ...]] = {
    "en": (
        (
            "## Section {n}\n\nA stream is a promise kept *piece by piece*: paragraph {n} arrives "
            "before paragraph {m} exists, and **nothing that was finished moves**.\n\n"
        ),
        "1. first of {n}\n2. second, with `code`\n   - nested\n   - again\n3. third\n\n",
        "| row | square |\n| ---: | ---: |\n| {n} | {sq} |\n| {m} | {msq} |\n\n",
        "```python\nfor i in range({n}):\n    print(i, i ** 2)\n```\n\n",
        "> Quote {n}: what is shown must equal what is stored.\n\n",
        "The sum of the first {n} numbers is $\\frac{{{n} \\cdot {m}}}{{2}}$.\n\n",
    ),
    "zh": (
        (
            "## 第 {n} 节\n\n流式输出是*逐步*兑现的承诺：第 {n} 段先到，第 {m} 段还不存在，"
            "**已经完成的内容不会移动**。\n\n"
        ),
        "1. 第 {n} 项\n2. 带有 `code`\n   - 嵌套\n3. 第三项\n\n",
        "| 行 | 平方 |\n| ---: | ---: |\n| {n} | {sq} |\n| {m} | {msq} |\n\n",
        "```python\nfor i in range({n}):\n    print(i, i ** 2)\n```\n\n",
        "> 引用 {n}：显示的必须等于保存的。\n\n",
        "前 {n} 个数之和是 $\\frac{{{n} \\cdot {m}}}{{2}}$。\n\n",
    ),
}
_MUSING: Texts = {
    "en": "Thought {n}: look at the question again, weigh one more way to say it, and keep the "
    "simplest. ",
    "zh": "思考 {n}：再看一遍问题，换一种说法，留下最简单的。",
}


def endless(language: Language) -> Iterator[str]:
    """Markdown of every kind, without end; never the same twice."""
    blocks = _LONG[language]
    for n in count(1):
        block = blocks[(n - 1) % len(blocks)]
        yield block.format(n=n, m=n + 1, sq=n * n, msq=(n + 1) ** 2)


def musing(language: Language) -> Iterator[str]:
    for n in count(1):
        yield _MUSING[language].format(n=n)
