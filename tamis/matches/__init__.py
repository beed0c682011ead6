"""Matches: which events matched which subscriptions."""

from tamis.matches.code_names import Id, ids_array
from tamis.matches.matches import Matches
from tamis.matches.tiles import Tiles

__all__ = ["Id", "Matches", "Tiles", "ids_array"]
