"""Fills a database as if Parley had been used for years: `python -m tests.support.fill 10000`.

So many conversations, each with twenty parts; with the settings of the server that will show them.
"""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")

import django

django.setup()

from chat.models import Conversation, Part  # noqa: E402
from tests.support.many import many_conversations  # noqa: E402

if __name__ == "__main__":
    many_conversations(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    print(f"conversations: {Conversation.objects.count()}, parts: {Part.objects.count()}")
