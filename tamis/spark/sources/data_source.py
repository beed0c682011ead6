"""The data source `tamis`: a broker's events or deliveries, and the events of workloads.

spark.dataSource.register(TamisSource)
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
    """The data source `tamis`: a broker with the option `url`, a workload with `workload`.

    Options of a broker:
        url: The URL of its NATS server; separate several with commas.
        prefix: The prefix of its names; default `tamis`.
        timeout: The number of seconds that NATS may be unreachable before an error; default 30.
        token; user, password; credentials, nkey, tlsCa, tlsCert, tlsKey (files): the login.

    Options for reading:
        what: `events`, or `deliveries`, with `subscriber`; default `events`.
        start: `earliest`, `latest`, a sequence or a time; default `earliest`.
        end: The same, for tables, exclusive; by default everything that exists.
        rowsPerBatch: The maximum number of rows of a micro-batch; default 100,000.
        partitions: The maximum number of tasks that read it; default 4.
        failOnDataLoss: Whether messages that are gone before they were read are an error; default
            `true`.

    Options for writing:
        writer: A name, for tables: rows that the same writer writes again are published once.

    Options of a workload:
        workload: One of `tamis_lab.workloads.workload_catalogue.NAMES`.
        rows: The number of events; by default all, which works for `flights` only, or for a
            stream, which is then endless.
        seed: The seed, instead of the workload's own.
        partitions: The number of parts of a table, or of a batch of a stream; default 4.
        rowsPerBatch: The maximum number of rows of a batch of a stream; default 10,000.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return "tamis"

    def schema(self) -> StructType:
        """Return the columns."""
        found: StructType = self._reader_module.schema(self.options)
        return found

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader for `spark.read`."""
        found: DataSourceReader = self._reader_module.reader(self.options, schema)
        return found

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader for `spark.readStream`."""
        found: DataSourceStreamReader = self._reader_module.stream_reader(self.options, schema)
        return found

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer for `df.write`."""
        found: DataSourceWriter = self._broker_module("broker_sink").writer(
            self.options, schema, overwrite
        )
        return found

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Return the writer for `df.writeStream`."""
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
        """Import a module for brokers, which needs the optional package of NATS."""
        if not self._has_option("url"):
            raise InputError(
                "is missing: set option('url', 'nats://127.0.0.1:4222'), or 'workload'",
                "url",
            )
        try:
            return import_module(f"tamis.spark.sources.{module}")
        except ModuleNotFoundError as error:
            raise InputError(f"{error}; pip install 'tamis[broker]'", "url") from None

    def _has_option(self, name: str) -> bool:
        return name in {option.lower() for option in self.options}
