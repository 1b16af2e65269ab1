"""Mail: sent by a thread of its own, so that nobody waits for it, or sees whether there was one."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.core.mail import EmailMessage
from django.db import connections

log = logging.getLogger(__name__)

_sender = ThreadPoolExecutor(1, thread_name_prefix="parley-mail")


def send_later(write: Callable[[], list[EmailMessage]]) -> None:
    """Write some mails and send them; what cannot be sent is logged, without to whom."""
    _sender.submit(_send, write)


def _send(write: Callable[[], list[EmailMessage]]) -> None:
    try:
        for message in write():
            message.send()
    except Exception:  # whatever a mail server refuses or the network loses
        log.exception("a mail could not be sent")
    finally:
        connections.close_all()
