"""`python -m tests.benchmark`; see `command.py`."""

import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    django.setup()
    from tests.benchmark.command import main

    sys.exit(main())
