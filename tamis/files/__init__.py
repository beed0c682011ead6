"""Events and subscriptions in files, line by line, with what is wrong in them."""

from tamis.files.events import read_events
from tamis.files.records import BadLine
from tamis.files.subscriptions import read_subscriptions

__all__ = ["BadLine", "read_events", "read_subscriptions"]
