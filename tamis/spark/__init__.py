"""Tamis on Spark. Importing this imports no pyspark; the functions do when they are called."""

from tamis.spark.session import session

__all__ = ["session"]
