"""The command line: `manage.py` in a clone, `parley` where it was installed."""

import os
import sys


def main() -> None:
    """Django's commands and ours, with configuration mistakes told in one line."""
    # What is made from here on is the server's alone, also in a folder that others may enter.
    os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from chatsite import daphne_writes

    # Before Django loads its applications: Daphne, one of them, takes the reactor that it finds.
    daphne_writes.install()
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Parley cannot start: {error}")
