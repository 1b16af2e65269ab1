"""Settings of the HTTP client for tests in which a provider fails: they do not wait for long."""

import ssl

from chat.providers.http import HttpSettings

TRUST = ssl.create_default_context()  # reading the certificates takes longer than most tests
IMPATIENT = HttpSettings(
    connect=30, first_byte=5, idle=2, max_answer=12_000_000, trust_env=False, verify=TRUST
)
