"""Where the static files are gathered: under hashed names, compressed."""

from typing import Any

from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    def stored_name(self, name: str) -> str:
        try:
            return str(super().stored_name(name))
        except ValueError:
            # A file that is missing costs its picture, not the page.
            return name

    def create_compressor(self, **options: Any) -> Compressor:
        # Brotli at its highest level takes 8 s for what gzip does in one, at every changed file.
        return Compressor(**{**options, "use_brotli": False})
