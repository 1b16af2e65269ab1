"""Where the static files are gathered: under hashed names, compressed."""

import re
from collections.abc import Callable
from typing import Any

from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    # What a script imports is hashed too: an upgrade must not leave an old module behind.
    support_js_module_import_aggregation = True

    def stored_name(self, name: str) -> str:
        try:
            return str(super().stored_name(name))
        except ValueError:
            # A file that is missing costs its picture, not the page.
            return name

    def url_converter(self, name: str, *args: Any, **kwargs: Any) -> Callable[[re.Match[str]], str]:
        # Comments of htmx mention imports of files that are not there.
        if name.startswith("django_htmx/"):
            return lambda match: match[0]
        converter: Callable[[re.Match[str]], str] = super().url_converter(name, *args, **kwargs)
        return converter

    def create_compressor(self, **options: Any) -> Compressor:
        # Brotli at its highest level takes 8 s for what gzip does in one, at every changed file.
        return Compressor(**{**options, "use_brotli": False})
