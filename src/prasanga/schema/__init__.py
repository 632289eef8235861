"""The registry of columns and tables: Parquet schemas, the check on reading, headings and docs/columns.md use it."""

from prasanga.schema.columns import COLUMNS, Column
from prasanga.schema.tables import TABLES, TableSchema, find_table, read_table

__all__ = ["COLUMNS", "TABLES", "Column", "TableSchema", "find_table", "read_table"]
