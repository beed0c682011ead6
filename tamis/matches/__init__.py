"""The answer: which events matched which subscriptions."""

from tamis.matches.answer import Matches
from tamis.matches.subscriptions import Id, ids_array
from tamis.matches.tiles import Tiles

__all__ = ["Id", "Matches", "Tiles", "ids_array"]
