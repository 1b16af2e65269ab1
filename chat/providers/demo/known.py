"""Questions that the demo model knows by heart: its thoughts and its answer to each."""

import re
from dataclasses import dataclass

from chat.providers.demo.questions import Language

Texts = dict[Language, str]


@dataclass(frozen=True, slots=True)
class Known:
    """A question, by the words it is recognised by."""

    words: str
    thoughts: Texts
    answer: Texts


def known_question(text: str) -> Known | None:
    return next((each for each in KNOWN if re.search(each.words, text, re.IGNORECASE)), None)


# It runs without anything else installed: in a JPEG the date stands as plain text.
_SCRIPT = '''```python
"""Rename photos by the date they were taken: python rename_photos.py FOLDER [--really]"""

import re
import sys
from datetime import datetime
from pathlib import Path

# Cameras write it into the first kilobytes of the file, as 2026:11:18 07:30:00.
TAKEN = re.compile(rb"(\\d{4}):(\\d\\d):(\\d\\d) (\\d\\d):(\\d\\d):(\\d\\d)")


def taken(photo: Path) -> datetime:
    with photo.open("rb") as file:
        found = TAKEN.search(file.read(65_536))
    if found:
        return datetime(*map(int, found.groups()))
    return datetime.fromtimestamp(photo.stat().st_mtime)


def free_name(photo: Path) -> Path:
    name = f"{taken(photo):%Y-%m-%d %H.%M.%S}"
    new = photo.with_name(name + photo.suffix.lower())
    number = 2
    while new.exists() and new != photo:
        new = photo.with_name(f"{name} ({number}){photo.suffix.lower()}")
        number += 1
    return new


folder = Path(sys.argv[1])
for photo in sorted(folder.iterdir()):
    if photo.suffix.lower() in {".jpg", ".jpeg", ".heic"}:
        new = free_name(photo)
        print(photo.name, "->", new.name)
        if "--really" in sys.argv:
            photo.rename(new)
```'''

_SCRIPT_CALLS = """```sh
python rename_photos.py ~/Pictures/Lisbon            # {look}
python rename_photos.py ~/Pictures/Lisbon --really   # {do}
```"""

BOXES = Known(
    words=r"\bboxes\b.*\blabel|盒子.*标签|标签.*盒子",
    thoughts={
        "en": "Three boxes: apples, oranges, both. Every label is wrong – that is the strongest "
        "thing I know, so I should lean on it.\n\n"
        "Suppose I look into the box labelled “apples”. An orange comes out: it is oranges or "
        "both. I cannot tell. So that box is a bad choice, and “oranges” is bad for the same "
        "reason.\n\n"
        "What about the box labelled “both”? It cannot be both, because its label is wrong. So "
        "all its fruit is of one kind, and one fruit tells me which. Say it is an apple: this box "
        "is the apples.\n\n"
        "Then two boxes are left, oranges and both, labelled “oranges” and “apples”. The one "
        "labelled “oranges” is not the oranges, so it is both, and the other one is the oranges. "
        "If it is an orange, everything is mirrored. One fruit is enough.",
        "zh": "三个盒子：苹果、橙子、两种都有。所有标签都是错的，这是最有力的条件，"
        "应当从它入手。\n\n"
        "假设我打开标着“苹果”的盒子，拿到一个橙子：它可能是橙子，也可能是混装，无法判断。"
        "所以这个盒子不好，标着“橙子”的同理。\n\n"
        "标着“混装”的呢？标签是错的，所以它一定不是混装，里面只有一种水果，取一个就知道是哪种。"
        "比如是苹果：这个盒子就是苹果。\n\n"
        "剩下橙子和混装两个盒子，标签是“橙子”和“苹果”。标着“橙子”的不是橙子，所以是混装，"
        "另一个就是橙子。如果取到的是橙子，一切对调即可。一个水果就够了。",
    },
    answer={
        "en": "## Take one fruit from the box labelled “both”\n\n"
        "Its label is wrong, so this box holds **one kind only**, and one fruit says which. "
        "The other two follow, because their labels are wrong as well:\n\n"
        "| the label says | if you drew an apple | if you drew an orange |\n"
        "| --- | --- | --- |\n"
        "| both | **apples** | **oranges** |\n"
        "| apples | oranges | both |\n"
        "| oranges | both | apples |\n\n"
        "From any other box it fails: an orange out of “apples” could mean oranges *or* both.\n\n"
        "> The steps are above, under *Thought*: open it to read how I got there.\n\n",
        "zh": "## 从标着“混装”的盒子里取一个水果\n\n"
        "它的标签是错的，所以这个盒子里**只有一种水果**，取一个就知道是哪种。"
        "另外两个盒子的标签也是错的，于是都能推出来：\n\n"
        "| 标签写着 | 取到苹果时 | 取到橙子时 |\n"
        "| --- | --- | --- |\n"
        "| 混装 | **苹果** | **橙子** |\n"
        "| 苹果 | 橙子 | 混装 |\n"
        "| 橙子 | 混装 | 苹果 |\n\n"
        "换成别的盒子就不行：从“苹果”里取出橙子，可能是橙子，*也*可能是混装。\n\n"
        "> 推理过程在上方的*思考*里，点开即可阅读。\n\n",
    },
)

PHOTOS = Known(
    words=r"\brename\b.*\bphotos?\b|\bphotos?\b.*\brename\b|重命名.*照片|照片.*重命名",
    thoughts={
        "en": "A script that renames files can do harm, so it should show first what it would do. "
        "The date is in the photo itself; where it is missing, the file's own date is better than "
        "nothing. Two photos of one second must not overwrite each other.",
        "zh": "重命名文件的脚本可能造成损失，所以应当先显示将要做什么。"
        "日期就在照片里；没有时，用文件自己的日期也好过没有。同一秒的两张照片不能互相覆盖。",
    },
    answer={
        "en": "This script needs nothing but Python. It **only shows** what it would do, until it "
        f"is told `--really`:\n\n{_SCRIPT}\n\n"
        + _SCRIPT_CALLS.format(look="look first", do="then do it")
        + "\n\n- The date is read from the photo (EXIF); without one, the file's own date is "
        "taken.\n- Two photos of the same second become `…` and `… (2)`: nothing is "
        "overwritten.\n\n",
        "zh": "这个脚本只需要 Python。在加上 `--really` 之前，它**只显示**将要做什么："
        f"\n\n{_SCRIPT}\n\n"
        + _SCRIPT_CALLS.format(look="先看一看", do="再执行")
        + "\n\n- 日期从照片（EXIF）中读取；没有时使用文件自己的日期。\n"
        "- 同一秒的两张照片会变成 `…` 和 `… (2)`：不会覆盖任何文件。\n\n",
    },
)

DATABASES = Known(
    words=r"\bSQLite\b.*\bDuckDB\b|\bDuckDB\b.*\bSQLite\b|SQLite.*DuckDB",
    thoughts={
        "en": "Three databases, one user. What matters then is what has to be run, what the data "
        "is for, and what happens when it grows. A table shows that at a glance; a "
        "recommendation should follow, or the table is only half an answer.",
        "zh": "三个数据库，一个用户。重要的是要运行什么、数据拿来做什么、变大以后怎么办。"
        "表格一目了然；后面还应当给出建议，否则只答了一半。",
    },
    answer={
        "en": "## For one user\n\n"
        "| | SQLite | PostgreSQL | DuckDB |\n"
        "| --- | --- | --- | --- |\n"
        "| **what runs** | nothing, a library | a server | nothing, a library |\n"
        "| **the data is** | one file | a folder of the server | one file, or Parquet and CSV |\n"
        "| **made for** | many small reads and writes | many writers at once | analysing whole "
        "columns |\n"
        "| **writers at once** | 1 | many | 1 process |\n"
        "| **a million rows summed up** | good | good | excellent |\n"
        "| **a backup is** | a copy by `VACUUM INTO` | `pg_dump` | a copy of the file |\n"
        "| **worth it when** | an app keeps its state | others will join you | questions about "
        "data |\n\n"
        "**Take SQLite** for an application of your own: nothing to run, nothing to look after. "
        "**Take DuckDB** beside it for questions about large files. **PostgreSQL** pays off when "
        "a second person writes.\n\n",
        "zh": "## 只有一个用户时\n\n"
        "| | SQLite | PostgreSQL | DuckDB |\n"
        "| --- | --- | --- | --- |\n"
        "| **要运行什么** | 不需要，只是一个库 | 一个服务器 | 不需要，只是一个库 |\n"
        "| **数据在哪里** | 一个文件 | 服务器的目录 | 一个文件，或 Parquet、CSV |\n"
        "| **擅长** | 大量小的读写 | 多人同时写入 | 分析整列数据 |\n"
        "| **同时写入者** | 1 | 很多 | 1 个进程 |\n"
        "| **汇总一百万行** | 好 | 好 | 极好 |\n"
        "| **备份** | 用 `VACUUM INTO` 复制 | `pg_dump` | 复制文件 |\n"
        "| **适合** | 应用保存自己的状态 | 会有别人加入 | 对数据提问 |\n\n"
        "自己的应用就**用 SQLite**：不用运行、不用照看。要分析大文件，再在旁边**用 DuckDB**。"
        "当有第二个人要写入时，**PostgreSQL** 才值得。\n\n",
    },
)

KNOWN = (BOXES, PHOTOS, DATABASES)
