"""The registry of columns and tables: Parquet schemas, the check on reading, headings and docs/columns.md use it."""

from prasanga.schema.registry import (
    COLUMNS,
    CONVENTIONS,
    HEADINGS,
    TABLES,
    Column,
    TableSchema,
    find_table,
    read_table,
)
