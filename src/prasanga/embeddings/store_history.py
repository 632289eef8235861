"""What a vector store says of its own making: a record beside each shard, and the table of all of them.

A record is a small JSON file under the shard's name. When a shard replaces others, it takes over their records, each
under the name that it had: nothing is counted twice, also if a process is killed in between. A record without a shard
is what a killed process left, and says nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prasanga.parquet import write_text

if TYPE_CHECKING:
    import polars as pl

_LOG = logging.getLogger(__name__)

Leaf = dict[str, Any]
"""What is known of rows that were written at once: written (UTC, ISO 8601), rows, record (what the writer said)."""


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def record_path(shard: Path) -> Path:
    """The record's file beside a shard."""
    return shard.with_suffix(".json")


def write_record(shard: Path, rows: int, record: Mapping[str, Any], replaced: Mapping[str, Leaf] | None = None) -> None:
    """Write the record of a shard, before the shard itself is there.

    Args:
        shard: the shard's path.
        rows: its rows.
        record: what is to be known of its making, plain values; numbers are amounts, which add up.
        replaced: records of shards that this one replaces, by their names.
    """
    leaf = {"written": now(), "rows": rows, "record": dict(record)}
    write_text(record_path(shard), json.dumps({**leaf, "replaced": dict(replaced or {})}, sort_keys=True) + "\n")


def take_over(shard: Path, others: Iterable[Path]) -> None:
    """Let the record of `shard` say what those of `others` say, before these are removed."""
    mine = read_record(shard)
    if mine is None:
        return
    replaced = {**mine["replaced"], **records_of(others)}
    replaced.pop(shard.stem, None)
    write_text(record_path(shard), json.dumps({**mine, "replaced": replaced}, sort_keys=True) + "\n")


def records_of(shards: Iterable[Path]) -> dict[str, Leaf]:
    """The records of shards and of what these replaced, by name; shards without one are left out."""
    leaves: dict[str, Leaf] = {}
    for shard in shards:
        found = read_record(shard)
        if found is not None:
            leaves.update(found.pop("replaced"))
            leaves[shard.stem] = found
    return leaves


def read_record(shard: Path) -> Leaf | None:
    """The record of a shard, with what it replaced; None if there is none that can be read."""
    path = record_path(shard)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            "written": str(found["written"]),
            "rows": int(found["rows"]),
            "record": dict(found["record"]),
            "replaced": dict(found["replaced"]),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        _LOG.debug("%s says nothing: %s", path, error)
        return None


def history(shards: Mapping[Path, int]) -> pl.DataFrame:
    """The table of the shards of a store (path: rows), the earliest first.

    Returns:
        One row a shard: written (UTC, ISO 8601), since (when the first of its rows were), rows, bytes, linked (whether
        it is an output of the workflow as well), shard (its name), and what the records say: numbers added up over
        those of the shards it replaced, texts that differ listed.
    """
    import polars as pl

    rows = [row for path, n in shards.items() if (row := _describe(path, n)) is not None]
    own = {"written": pl.String, "since": pl.String, "rows": pl.Int64, "bytes": pl.Int64, "linked": pl.Boolean}
    schema: dict[str, Any] = {**own, "shard": pl.String}
    for row in rows:
        for name, value in row.items():
            schema[name] = _wider(schema.get(name), value)
    return pl.DataFrame(rows, schema=schema, strict=False).sort("written", "shard")


def _describe(path: Path, rows: int) -> dict[str, Any] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    found = read_record(path) or {"written": modified, "record": {}, "replaced": {}}
    leaves = [*found["replaced"].values(), found]
    return {
        **_together([leaf["record"] for leaf in leaves]),
        "written": found["written"],
        "since": min(leaf["written"] for leaf in leaves),
        "rows": rows,
        "bytes": status.st_size,
        "linked": status.st_nlink > 1,
        "shard": path.stem,
    }


def _together(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: _sum_or_list(several) for name, several in sorted(values.items())}


def _sum_or_list(values: Sequence[Any]) -> Any:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return sum(values)
    texts = {value if isinstance(value, str) else json.dumps(value, sort_keys=True) for value in values}
    return ", ".join(sorted(texts))


def _wider(known: Any, value: Any) -> Any:
    """The type of a column that has held values of `known` and now has `value`."""
    import polars as pl

    if isinstance(value, bool):
        mine: Any = pl.Boolean
    elif isinstance(value, int):
        mine = pl.Int64
    elif isinstance(value, float):
        mine = pl.Float64
    else:
        mine = pl.String
    if known is None or known == mine:
        return mine
    return pl.Float64 if {known, mine} == {pl.Int64, pl.Float64} else pl.String
