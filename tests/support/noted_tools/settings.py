"""Parley's own settings, and this app."""

from chatsite.settings import *  # noqa: F403 - whatever there is
from chatsite.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.support.noted_tools"]
