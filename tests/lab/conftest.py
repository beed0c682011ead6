from tests.spark.fixtures import spark

__all__ = ["spark"]
