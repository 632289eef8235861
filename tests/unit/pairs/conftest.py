"""Files of pairs to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

OWN = ("pair_id", "language", "bias_type", "label", "first", "second")

WriteCsv = Callable[..., Path]


@pytest.fixture
def write_csv(tmp_path: Path) -> WriteCsv:
    """Write records under columns as a CSV file, cells quoted where they must be."""

    def write(records: Sequence[Sequence[str]], columns: Sequence[str] = OWN, name: str = "pairs.csv") -> Path:
        path = tmp_path / name
        pl.DataFrame(list(records), schema=dict.fromkeys(columns, pl.String), orient="row").write_csv(path)
        return path

    return write
