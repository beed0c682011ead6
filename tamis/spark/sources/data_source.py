"""The data source `tamis`: a broker's events or deliveries, and the events of workloads.

spark.dataSource.register(TamisSource)     # `tamis.spark.session()` has done so
spark.readStream.format("tamis").option("url", "nats://127.0.0.1:4222").load()
spark.read.format("tamis").option("workload", "flights").load()
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from tamis.errors import InputError


class TamisSource(DataSource):
    """The data source `tamis`: of a broker with the option `url`, of a workload with `workload`.

    Options of a broker:
        url: Of its NATS server; several with commas between them.
        prefix: What its names begin with; `tamis`.
        timeout: How many seconds NATS may be away before that is an error; 30.
        token; user, password; credentials, nkey, tlsCa, tlsCert, tlsKey (files): who we are.

    To read:
        what: `events`, or `deliveries`, with `subscriber`.
        start: `earliest`, `latest`, a sequence or a time.
        end: The same, for tables, not included; all there is.
        rowsPerBatch: How many rows a micro-batch has at most; 100,000.
        partitions: By how many tasks it is read at most; 4.
        failOnDataLoss: Whether what is gone before it was read is an error; `true`.

    To write:
        writer: A name, for tables: what the same writer writes again is published once.

    Options of a workload:
        workload: One of `tamis_lab.workloads.workload_catalogue.NAMES`.
        rows: How many events; without it all that there are, which is for `flights` only, or a
            stream without end.
        seed: Instead of the workload's own.
        partitions: Into how many parts the rows of a table, or of a batch of a stream, are cut; 4.
        rowsPerBatch: How many rows a batch of a stream has at most; 10,000.
    """

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return "tamis"

    def schema(self) -> StructType:
        """The columns."""
        found: StructType = self._reader_module.schema(self.options)
        return found

    def reader(self, schema: StructType) -> DataSourceReader:
        """For `spark.read`."""
        found: DataSourceReader = self._reader_module.reader(self.options, schema)
        return found

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """For `spark.readStream`."""
        found: DataSourceStreamReader = self._reader_module.stream_reader(self.options, schema)
        return found

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """For `df.write`."""
        found: DataSourceWriter = self._broker_module("broker_sink").writer(
            self.options, schema, overwrite
        )
        return found

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """For `df.writeStream`."""
        found: DataSourceStreamWriter = self._broker_module("broker_sink").stream_writer(
            self.options, schema, overwrite
        )
        return found

    @property
    def _reader_module(self) -> Any:
        for source in entry_points(group="tamis.sources"):
            if self._has_option(source.name):
                return source.load()
        if self._has_option("workload"):
            raise InputError("workloads are part of tamis-lab: pip install tamis-lab", "workload")
        return self._broker_module("broker_source")

    def _broker_module(self, module: str) -> Any:
        """What is for brokers; it needs NATS, which not everybody has."""
        if not self._has_option("url"):
            raise InputError(
                "is missing: option('url', 'nats://127.0.0.1:4222') is a broker; or say a workload",
                "url",
            )
        try:
            return import_module(f"tamis.spark.sources.{module}")
        except ModuleNotFoundError as error:
            raise InputError(f"{error}; pip install 'tamis[broker]'", "url") from None

    def _has_option(self, name: str) -> bool:
        return name in {option.lower() for option in self.options}
