"""Where the static files are gathered: under hashed names, compressed, without our comments."""

import re
from collections.abc import Callable
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Files of ours, in static/; those of Django and htmx are taken as they are.
OURS = ("css/", "js/")
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def for_browsers(name: str, source: str) -> str:
    """A script or style sheet without what is there for people: comments and indentation.

    It is a fifth of what a first visit loads. Line breaks stay, so that lines are found in the
    source by their text; a text that goes over several lines would lose its indentation.
    """
    if name.endswith(".css"):
        source = _STYLE_COMMENT.sub("", source)
    lines = [line.strip() for line in source.splitlines()]
    if name.endswith(".js"):
        lines = [line for line in lines if not line.startswith("//")]
    return "\n".join(filter(None, lines)) + "\n"


class _ForBrowsers:
    """A storage to read from, as far as gathering files needs one."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def open(self, name: str) -> "ContentFile[bytes]":
        with self.storage.open(name) as file:
            return ContentFile(for_browsers(name, file.read().decode()).encode())


class _BrotliForOurs(Compressor):  # type: ignore[misc]
    """Brotli makes what the chat loads a seventh smaller than gzip does, but takes eight seconds
    for the scripts of Django's administration, which few people load.
    """

    def __init__(self, folder: str, **options: Any) -> None:
        super().__init__(**{**options, "use_brotli": False})
        self._ours = tuple(f"{folder}/{name}" for name in (*OURS, "django_htmx/"))
        self._for_ours = Compressor(**options)

    def compress(self, path: str) -> list[str]:
        if path.startswith(self._ours):
            return list(self._for_ours.compress(path))
        return list(super().compress(path))


class HashedFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    # What a script imports is hashed too: an upgrade must not leave an old module behind.
    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Any:
        paths = {
            name: (_ForBrowsers(storage) if name.startswith(OURS) else storage, path)
            for name, (storage, path) in paths.items()
        }
        return super().post_process(paths, *args, **options)

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
        return _BrotliForOurs(self.location, **options)
