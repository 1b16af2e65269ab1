"""The product's settings, in a folder of their own and a little faster."""

import atexit
import os
import shutil
import tempfile

# One folder for each test process, so that parallel ones never meet.
_data = tempfile.mkdtemp(prefix="parley-test-")
atexit.register(shutil.rmtree, _data, ignore_errors=True)

# The developer's own environment decides no test; DATABASE_URL is `make test`'s choice.
for _name in (
    "PARLEY_ENV",
    "ALLOWED_HOSTS",
    "ORIGINS",
    "REDIS_URL",
    "DEBUG",
    "PARLEY_LANGUAGE",
    "PARLEY_MODEL",
    "PARLEY_PRIVATE_HOSTS",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OLLAMA_HOST",
):
    os.environ.pop(_name, None)
os.environ["PARLEY_DATA"] = _data

from chatsite.settings import *  # noqa: E402, F403
from chatsite.settings import DATA_DIR, DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: WAL and several threads behave as in the product.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
    DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"

# A request for a title would come between those that a test has scripted.
PARLEY_TITLES = "first"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Straight from the sources: no collectstatic before a test.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
# Looked up when asked for: listing them all would cost every test client 50 ms.
WHITENOISE_AUTOREFRESH = True
STATIC_ROOT.mkdir()
