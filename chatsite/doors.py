"""Where people come in: pages that anybody may ask for, and of which few are made at once."""

from typing import Final

# Most of them wait for a password to be hashed.
DOORS: Final = ("/accounts/", "/admin/login/", "/enter/")
# Here it is another server that is waited for, or somebody leaves.
NO_DOORS: Final = ("/accounts/oidc/", "/accounts/logout/")


def is_door(path: str) -> bool:
    return path.startswith(DOORS) and not path.startswith(NO_DOORS)
