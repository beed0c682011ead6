"""Tamis on Spark. Importing this imports no pyspark; the functions do when they are called."""

from tamis.spark.backtest import Backtest, backtest
from tamis.spark.compile import change, compile
from tamis.spark.making import Compiled
from tamis.spark.match import match
from tamis.spark.sequences import sequences
from tamis.spark.session import session
from tamis.spark.versions import drop, versions

__all__ = [
    "Backtest",
    "Compiled",
    "backtest",
    "change",
    "compile",
    "drop",
    "match",
    "sequences",
    "session",
    "versions",
]
