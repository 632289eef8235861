"""Reference tables of three studies: a change of the code that promises the same numbers is compared with them.

    python tests/support/golden.py compare STUDY RESULTS [--tolerance 1e-9]
    python tests/support/golden.py write STUDY RESULTS

`STUDY` is a folder in `tests/golden` with `study.yaml` and tables; `RESULTS` is the folder `results` of
a run of it.
From the same vectors and scores numbers are equal to 1e-9; where batches or libraries change, to 2e-4.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from prasanga.methods import TABLES
from prasanga.schema import join_losses

HERE = Path(__file__).parents[1] / "golden"
NOT_KEPT = ("multiverse", "pair_statistics")
"""Tables that follow from the others, and texts."""


NAMING = (
    *("language", "method", "set", "category", "model", "vectors", "segment_length", "sample_mode", "kind"),
    *("first", "second", "bias_type", "pair_id", "label", "random_twin", "template", "structure", "structure_1"),
    *("structure_2", "polarity", "quantity", "trait", "role", "stimulus", "n"),
)
"""Columns that together name a row."""


def tables_of(results: Path) -> dict[str, Path]:
    """Return the tables of results that a run has, by their names."""
    paths = {name: results / f"{table.path}.parquet" for name, table in TABLES.items() if name not in NOT_KEPT}
    return {name: path for name, path in paths.items() if path.is_file()}


def read(path: Path) -> pl.DataFrame:
    """Read a table, without columns of nested values.

    The tables that are kept have the losses as one text, `dropped`; it is made from the column `lost`.
    """
    table = pl.read_parquet(path)
    if "lost" in table.columns:
        table = join_losses(table).rename({"lost": "dropped"})
    return table.select(name for name, kind in table.schema.items() if not kind.is_nested())


def differences(expected: pl.DataFrame, found: pl.DataFrame, tolerance: float) -> Iterator[str]:
    """Yield in what two tables differ: rows, columns, texts, and numbers by more than the tolerance.

    Rows are in the order of what names them, so that a table may be written in another order.
    """
    if len(expected) != len(found):
        yield f"{len(found)} rows, not {len(expected)}"
        return
    names = [name for name in NAMING if name in expected.columns and name in found.columns]
    expected, found = expected.sort(names, maintain_order=True), found.sort(names, maintain_order=True)
    for name in sorted(set(expected.columns) - set(found.columns)):
        yield f"no column {name}"
    for name in (name for name in expected.columns if name in found.columns):
        one, other = expected[name], found[name]
        if one.dtype.is_float():
            one, other = one.cast(pl.Float64), other.cast(pl.Float64)
            missing = one.is_finite().fill_null(False) != other.is_finite().fill_null(False)
            if missing.any():
                yield f"{name}: row {missing.arg_max()} is {other[missing.arg_max()]}, not {one[missing.arg_max()]}"
                continue
            apart = ((one - other).abs() / one.abs().clip(lower_bound=1.0)).fill_nan(0).fill_null(0).to_numpy()
            if apart.max(initial=0.0) > tolerance:
                yield f"{name}: row {apart.argmax()} differs by {apart.max():.1e}"
        elif not (same := one.cast(pl.String).eq_missing(other.cast(pl.String))).all():
            row = (~same).arg_max()
            yield f"{name}: row {row} is {other[row]!r}, not {one[row]!r}"


def compare(study: str, results: Path, tolerance: float) -> list[str]:
    """Return in what the tables of a run differ from those that are kept."""
    found, said = tables_of(results), []
    for path in sorted((HERE / study).glob("*.parquet")):
        if path.stem not in found:
            said.append(f"{path.stem}: not there")
            continue
        said += [
            f"{path.stem}: {each}" for each in differences(pl.read_parquet(path), read(found[path.stem]), tolerance)
        ]
    return said


def write(study: str, results: Path) -> None:
    """Keep the tables of a run, but for simulated strength: another processor may decide a study that is close."""
    (HERE / study).mkdir(exist_ok=True)
    for name, path in ((name, path) for name, path in tables_of(results).items() if not name.endswith("strength")):
        read(path).write_parquet(HERE / study / f"{name}.parquet", compression="zstd", compression_level=19)


def main() -> None:
    """Compare or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "write"])
    parser.add_argument("study", help="a folder in tests/golden")
    parser.add_argument("results", type=Path)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    asked = parser.parse_args()
    if asked.what == "write":
        write(asked.study, asked.results)
        return
    said = compare(asked.study, asked.results, asked.tolerance)
    print(*said or ["The same."], sep="\n")
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
