"""Events in any form (dicts, JSON, CSV, Parquet, Arrow) to columns, which every engine takes."""
