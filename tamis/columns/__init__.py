"""Events as columns: one Arrow array per attribute and type."""

from tamis.columns.column import ARROW, Column, Columns, array_of, values_of

__all__ = ["ARROW", "Column", "Columns", "array_of", "values_of"]
