"""Whether this process can still open files and connections. Nobody else says so: where there are
no more, the event loop drops whoever connects, without a word."""

import errno
import logging
import os

log = logging.getLogger(__name__)

_are_out = False


def look_for_descriptors() -> None:
    """Tell the log once when there are no more, and once when there are some again."""
    global _are_out
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        if not _are_out:
            log.error(
                "no more files and connections can be opened (%s): raise the limit, "
                "LimitNOFILE of the service or ulimit -n", error.strerror,
            )  # fmt: skip
        _are_out = True
    else:
        if _are_out:
            log.warning("files and connections can be opened again")
        _are_out = False
