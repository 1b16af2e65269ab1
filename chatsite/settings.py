"""Settings. Every value that differs between installations comes from the environment.

PARLEY_ENV=local (the default) serves this machine only, over plain HTTP, with secrets of its own.
PARLEY_ENV=production takes nothing for granted: chat/checks.py refuses to start without them.
"""

from pathlib import Path

from csp.constants import NONCE, NONE, SELF
from django.utils.translation import gettext_lazy as _

from chatsite import environment as env
from chatsite.logs import logging_config
from chatsite.version import read_version

BASE_DIR = Path(__file__).resolve().parent.parent
# In a clone templates, static files and texts lie beside the packages, in a wheel inside this one.
_INSTALLED = (BASE_DIR / "chatsite" / "templates").is_dir()
_RESOURCES = BASE_DIR / "chatsite" if _INSTALLED else BASE_DIR

PARLEY_ENV = env.choice("PARLEY_ENV", ("local", "production"))
PRODUCTION = PARLEY_ENV == "production"
DATA_DIR = env.folder("PARLEY_DATA", env.data_home() if _INSTALLED else BASE_DIR / "var")
VERSION = read_version(BASE_DIR)

# --- Address -----------------------------------------------------------------------------------

HOST = env.text("HOST", "127.0.0.1")
PORT = env.number("PORT", 8000)
# What `serve` runs, either on uvloop where that is installed; uvicorn costs less.
PARLEY_SERVER = env.choice("PARLEY_SERVER", ("daphne", "uvicorn"))
# How many servers `serve` starts at that address.
PARLEY_PROCESSES = env.number("PARLEY_PROCESSES", 1)
_LOCAL_HOSTS = [] if PRODUCTION else ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS") + _LOCAL_HOSTS
# Full origins (scheme, host, port) that may post forms and open sockets.
ORIGINS = env.words("ORIGINS") + [f"http://{host}:{PORT}" for host in _LOCAL_HOSTS]
CSRF_TRUSTED_ORIGINS = [origin for origin in ORIGINS if "://" in origin]

# --- Secrets -----------------------------------------------------------------------------------

SECRET_KEY = env.text("SECRET_KEY") or (
    env.INSECURE + env.new_secret_key()
    if PRODUCTION
    else env.kept_secret(DATA_DIR / "secret_key", env.new_secret_key)
)
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
# Fernet keys for provider keys at rest; the first encrypts, all decrypt. Not in the database, so
# that a dump of it is useless, and not derived from SECRET_KEY, so that both rotate on their own.
PARLEY_KEYS = env.words("PARLEY_KEYS") or [
    env.kept_secret(DATA_DIR / "provider_keys", env.new_fernet_key)
]

DEBUG = env.switch("DEBUG")
# What it shows of a fault has no keys in it.
DEFAULT_EXCEPTION_REPORTER = "chatsite.faults.ScrubbingReporter"

# --- Applications ------------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",
    "modeltranslation",
    "chatsite.administration.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "csp",
    # What they keep of a person must go with the person, also where they are switched off.
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "chat",
]

MIDDLEWARE = [
    "chatsite.requests.name_requests",
    "chatsite.headers.say_what_is_needed",
    "chatsite.health.answer_probes",
    "chatsite.crowd.let_go",
    "django.middleware.security.SecurityMiddleware",
    "chatsite.static.StaticFilesMiddleware",
    # Pages only: static files are compressed beforehand, and secrets in pages are masked.
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "chatsite.visits.note_visits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    # The rows of allauth are not loaded without it.
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "chatsite.urls"
ASGI_APPLICATION = "chatsite.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_RESOURCES / "templates"],
        "OPTIONS": {
            # Ours are compiled without the line breaks that they are written with.
            "loaders": [
                (
                    "chat.rendering.template_loader.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

# --- Stores ------------------------------------------------------------------------------------

DATABASES = {"default": env.database(env.text("DATABASE_URL"), DATA_DIR)}
REDIS_URL = env.text("REDIS_URL")

LOCAL_LAYER = "chat.services.layer.InProcessChannelLayer"
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "chat.services.redis_layer.RedisLayer",
        "CONFIG": {"url": REDIS_URL},
    }
    if REDIS_URL
    else {"BACKEND": LOCAL_LAYER}
}
# The cache stays Django's default, in memory: pages must work while Redis is away.

# --- Languages ---------------------------------------------------------------------------------

LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
# Not LANGUAGE: desktops set that one for gettext.
LANGUAGE_CODE = env.choice("PARLEY_LANGUAGE", ("en", "zh-hans"))
LOCALE_PATHS = [_RESOURCES / "locale"]
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = env.text("TIME_ZONE", "UTC")
MODELTRANSLATION_DEFAULT_LANGUAGE = "en"
MODELTRANSLATION_LANGUAGES = ("en", "zh-hans")
MODELTRANSLATION_FALLBACK_LANGUAGES = ("en", "zh-hans")

# --- Files -------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [_RESOURCES / "static"]
MEDIA_ROOT = DATA_DIR / "media"
# Where each conversation that Claude Code answers has a folder of its own.
PARLEY_CLAUDE_CODE = DATA_DIR / "claude_code"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "chatsite.storage.HashedFilesStorage"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False
FILE_UPLOAD_PERMISSIONS = 0o600

# --- People ------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "sesame.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
# The account that `prepare` makes when there is no administrator.
PARLEY_OWNER = env.text("PARLEY_OWNER", "owner")
# The link that `serve` and `login_link` print: works once, for ten minutes.
SESAME_MAX_AGE = 600
SESAME_ONE_TIME = True
SESAME_TOKENS = ["sesame.tokens_v2"]

# The link by which a forgotten password is replaced, sent by mail or handed over.
PASSWORD_RESET_TIMEOUT = 60 * 60 * 24
# Whether anybody may make themselves an account.
PARLEY_SIGN_UP = env.switch("PARLEY_SIGN_UP")

# A server that says who somebody is, by OpenID Connect; without an issuer nothing offers it.
PARLEY_OIDC_ISSUER = env.text("PARLEY_OIDC_ISSUER")
PARLEY_OIDC_CLIENT_ID = env.text("PARLEY_OIDC_CLIENT_ID")
PARLEY_OIDC_CLIENT_SECRET = env.text("PARLEY_OIDC_CLIENT_SECRET")
# What its button says.
PARLEY_OIDC_NAME = env.text("PARLEY_OIDC_NAME")
# Whether whoever it knows is given an account here.
PARLEY_OIDC_SIGN_UP = env.switch("PARLEY_OIDC_SIGN_UP")
# Whether people may have a second factor, and whether the administration takes one.
PARLEY_SECOND_FACTOR = env.choice("PARLEY_SECOND_FACTOR", ("off", "optional", "administration"))
MFA_ADAPTER = "chat.services.people.authenticators.EncryptedAuthenticators"
# A code of the half minute before or after is good too: clocks of telephones differ.
MFA_TOTP_TOLERANCE = 1
SOCIALACCOUNT_ADAPTER = "chat.services.people.issuer.CarefulRequests"

# Without an address no mail is sent, and nothing offers to.
PARLEY_EMAIL = env.text("PARLEY_EMAIL_URL")
globals().update(env.mail(PARLEY_EMAIL))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("PARLEY_EMAIL_FROM", "Parley <parley@localhost>")
EMAIL_TIMEOUT = 20

SESSION_ENGINE = "chatsite.sessions"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = PRODUCTION
# A __Host- cookie cannot be set by a neighbouring sub-domain; browsers want it Secure.
SESSION_COOKIE_NAME = "__Host-sessionid" if PRODUCTION else "parley_sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if PRODUCTION else "parley_csrftoken"

# --- Headers -----------------------------------------------------------------------------------

SECURE_SSL_REDIRECT = PRODUCTION
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
# Only a proxy that overwrites this header may be believed.
TRUST_PROXY = env.switch("TRUST_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUST_PROXY else None
# Not no-referrer: browsers then send "Origin: null" with forms, which Django's CSRF check refuses.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Older Safari does not count sockets as 'self'; a policy cannot name an IPv6 address.
_SOCKETS = [
    f"ws{origin.removeprefix('http')}" for origin in CSRF_TRUSTED_ORIGINS if "[" not in origin
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF, *_SOCKETS],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# --- Limits (each can be set as PARLEY_LIMIT_<NAME>) --------------------------------------------

PARLEY_LIMITS = {
    name: env.number(f"PARLEY_LIMIT_{name.upper()}", default)
    for name, default in {
        "message_chars": 200_000,
        # The longest message, in any script and escaped, and the command around it.
        "frame_bytes": 1_700_000,
        "frames_per_second": 10,
        "sockets_per_user": 50,
        "generations_per_user": 10,
        "generations_per_process": 400,
        # To PostgreSQL, of one process; it has a hundred for all of them.
        "connections": 20,
        "queued_messages": 10,
        "output_chars": 200_000,
        "calls_per_step": 64,
        "upload_bytes": 10_000_000,
        "upload_text_bytes": 5_000_000,
        "uploads_per_message": 10,
        # All files of one import together.
        "import_bytes": 50_000_000,
        # How long the body of a request may take; large ones have more (`chatsite/bodies.py`).
        "body_seconds": 30,
        "first_byte_seconds": 300,
        "idle_seconds": 90,
        "run_seconds": 3600,
        "grace_seconds": 15,
        "lost_seconds": 600,
        "lease_seconds": 20,
        "renew_seconds": 5,
        # How long what was deleted can be brought back; 0 keeps it for ever.
        "deleted_days": 30,
        # How long what was sent to providers is kept; 0 keeps nothing of it.
        "request_days": 7,
    }.items()
}
# Who gives a conversation its title: the model after its first answer, or the first words alone.
PARLEY_TITLES = env.choice("PARLEY_TITLES", ("model", "first"))
# Another address that speaks DuckDuckGo's HTML: a proxy of one's own, or a test.
PARLEY_SEARCH_URL = env.text("PARLEY_SEARCH_URL")
# Hosts and networks that are not public and may be read all the same, such as an intranet's.
PARLEY_PRIVATE_HOSTS = env.words("PARLEY_PRIVATE_HOSTS")
FILE_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
# Django counts fields and not files here; files are checked against upload_bytes.
# A form without scripts may write nine signs for each character of a message.
DATA_UPLOAD_MAX_MEMORY_SIZE = 9 * PARLEY_LIMITS["message_chars"] + 100_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1_000
DATA_UPLOAD_MAX_NUMBER_FILES = 20

# --- What operators see --------------------------------------------------------------------------

# Lines for people, or one JSON object in each line.
PARLEY_LOG = env.choice("PARLEY_LOG", ("text", "json"))
LOGGING = logging_config(env.text("LOG_LEVEL", "WARNING").upper(), PARLEY_LOG)
# Whoever sends this as a bearer token is given `/metrics`; without it there is no such page.
PARLEY_METRICS_TOKEN = env.text("PARLEY_METRICS_TOKEN")
# Spans of OpenTelemetry (an extra), and whether what people and models say is in them.
PARLEY_TRACES = env.switch("PARLEY_TRACES")
PARLEY_TRACE_CONTENT = env.switch("PARLEY_TRACE_CONTENT")
