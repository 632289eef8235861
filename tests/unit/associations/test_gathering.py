"""The tables of a study from those of its jobs: twins beside their models, one family of tests."""

from typing import Any

import pyarrow as pa
import pytest

from prasanga.associations import benjamini_hochberg, holm
from prasanga.associations.corrections import gather
from prasanga.associations.seat import SEAT_SCHEMA
from prasanga.associations.study import CEAT_SCHEMA


def ceat(model: str, length: str, *rows: tuple[str, str, float | None, float | None]) -> pa.Table:
    """Rows of (category, sample mode, effect, p)."""
    made: list[dict[str, Any]] = [
        {
            "category": category,
            "sample_mode": mode,
            "model": model,
            "segment_length": length,
            "effect_size": effect,
            "p_association": p,
        }
        for category, mode, effect, p in rows
    ]
    return pa.Table.from_pylist(made, schema=CEAT_SCHEMA)


TABLES = [
    ceat("a", "9", ("C1", "fixed", 1.0, 0.001), ("C2", "fixed", 0.2, 0.4)),
    ceat("a", "75", ("C1", "fixed", 1.1, 0.002), ("C2", "fixed", None, None)),
]


def test_a_twin_stands_beside_its_model_and_is_no_row() -> None:
    twin = [ceat("a-random", "9", ("C2", "fixed", 0.3, 0.6), ("C1", "fixed", -0.1, 0.8))]
    table = gather(TABLES, {"a": twin})
    assert table.schema == CEAT_SCHEMA
    assert table["model"].to_pylist() == ["a"] * 4
    assert table["twin_effect_size"].to_pylist() == [-0.1, 0.3, None, None]
    assert table["twin_p_association"].to_pylist() == [0.8, 0.6, None, None]


def test_the_family_is_that_of_the_study() -> None:
    seat = pa.Table.from_pylist(
        [{"category": "C1", "model": "a", "p_association": p} for p in (0.01, None)], SEAT_SCHEMA
    )
    table = gather(TABLES, {}, [seat])
    every = [0.001, 0.4, 0.002, 0.01]
    assert table["n_tests"].to_pylist() == [4, 4, 4, None]
    assert table["p_association_holm"].to_pylist()[:3] == pytest.approx(holm(every)[:3].tolist())
    assert table["p_association_bh"].to_pylist()[:3] == pytest.approx(benjamini_hochberg(every)[:3].tolist())
    assert table["p_association_holm"].to_pylist()[3] is None
    assert table["p_association_holm"].to_pylist()[:3] == pytest.approx([0.004, 0.4, 0.006])
    # the other table, with this one as its family, is corrected for as many
    assert gather([seat], {}, TABLES)["p_association_holm"].to_pylist() == [pytest.approx(0.02), None]


def test_sample_modes_are_two_estimates_with_one_test() -> None:
    both = [(c, mode, 0.1, p) for c, p in (("C1", 0.01), ("C2", 0.04)) for mode in ("fixed", "random")]
    table = gather([ceat("a", "9", *both, ("C3", "fixed", None, None), ("C3", "random", 0.2, 0.5))], {})
    assert table["n_tests"].to_pylist() == [3, 3, 3, 3, None, 3]
    assert table["p_association_holm"].to_pylist() == [0.03, 0.03, 0.08, 0.08, None, 0.5]
    other_words = gather([ceat("a", "9", ("C1", "fixed", 0.1, 0.01), ("C1", "random", 0.2, 0.03))], {})
    assert other_words["p_association_holm"].to_pylist() == [0.02, 0.03]
    alone = gather([ceat("a", "9", ("C1", "fixed", 0.1, 0.01)), ceat("b", "9", ("C1", "random", 0.1, 0.01))], {})
    assert alone["n_tests"].to_pylist() == [2, 2]


def test_tables_without_rows() -> None:
    empty = CEAT_SCHEMA.empty_table()
    assert gather([empty], {"a": [empty]}).num_rows == 0
