"""A model in this process: it shows the whole product without a key or a network.

The same question always gets the same answer. Commands at the start of a message try the
limits: `/long N` `/slow MS` `/think N` `/tools N` `/fail KEY`, and combinations of them.
"""

from chat.providers.demo.provider import DemoProvider

__all__ = ["DemoProvider"]
