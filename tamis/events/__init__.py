"""Conversion of events (dicts, JSON, CSV, Parquet, Arrow) to columns, the input of engines."""
