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
    "PARLEY_SIGN_UP",
    "PARLEY_EMAIL_URL",
    "PARLEY_OIDC_ISSUER",
    "PARLEY_OIDC_CLIENT_ID",
    "PARLEY_OIDC_CLIENT_SECRET",
    "PARLEY_SECOND_FACTOR",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OLLAMA_HOST",
):
    os.environ.pop(_name, None)
os.environ["PARLEY_DATA"] = _data

from chatsite.settings import *  # noqa: E402, F403
from chatsite.settings import (  # noqa: E402
    DATA_DIR,
    DATABASES,
    PARLEY_LIMITS,
    STATIC_ROOT,
    STORAGES,
)

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: WAL and several threads behave as in the product.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
    DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
elif "PARLEY_TEST_TEMPLATE" in os.environ:
    # With all tables in it: scripts/with_postgres has made it once for all test processes.
    DATABASES["default"]["TEST"] = {"TEMPLATE": os.environ["PARLEY_TEST_TEMPLATE"]}

# A request for a title would come between those that a test has scripted.
PARLEY_TITLES = "first"
# On a quick machine a test asks for more in a second than a person may.
PARLEY_LIMITS["frames_per_second"] = 10_000
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Straight from the sources: no collectstatic before a test.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
# Looked up when asked for: listing them all would cost every test client 50 ms.
WHITENOISE_AUTOREFRESH = True
STATIC_ROOT.mkdir()
