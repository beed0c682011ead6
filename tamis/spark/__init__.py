"""Tamis on Spark. Importing this does not import pyspark; calling its functions does."""

from tamis.spark.backtest import Backtest, backtest
from tamis.spark.index.compile import change, compile
from tamis.spark.index.compile_job import Compiled
from tamis.spark.index.versions import drop, versions
from tamis.spark.match.match import match
from tamis.spark.sequences.sequences import sequences
from tamis.spark.session import session

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
