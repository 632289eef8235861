"""Whole tables of WEAT, SEAT and CEAT on a small study, compared with those kept in `golden`.

`python tests/unit/associations/test_study_tables.py` writes them again, after a change that changes numbers on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from prasanga.associations import (
    CeatSettings,
    TestSettings,
    differences,
    measure_ceat,
    measure_seat,
    measure_weat,
    settling,
)
from prasanga.base.errors import InputError
from prasanga.schema import TABLES

FOLDER = Path(__file__).parent / "golden"
WORDS = [f"w{i}" for i in range(48)]
SIZES = {"whole": (9, 8, 8, 8), "few": (4, 3, 2, 3), "small": (2, 2, 1, 1), "constant": (3, 3, 2, 2)}
LOST = ("w17", "w34")
RECOMMENDED = TestSettings(n_resamples=20, n_shuffles=9)
PAPER = TestSettings("union_ddof0", "greater", "difference", 50, 20, False, 0, 0.4)


def lay_out() -> dict[str, Any]:
    """Categories with many words and with few, one whose words are lost, and one whose words are all the same."""
    categories = {}
    for number, (name, sizes) in enumerate(SIZES.items()):
        words = iter(np.random.default_rng(number).permutation(WORDS).tolist())
        x, y, a, b = ([next(words) for _ in range(n)] for n in sizes)
        sides = [{"name": side, "stimuli": of} for side, of in zip("XYAB", (x, [*y, y[0]], a, b), strict=True)]
        categories[name] = {"title": name.title(), "targets": sides[:2], "attributes": sides[2:]}
    lost = categories["small"]["targets"][0]
    lost["stimuli"] = [*LOST, lost["stimuli"][0]]
    return categories


CATEGORIES = lay_out()
CONSTANT = {word for side in CATEGORIES["constant"]["targets"] for word in side["stimuli"]}


def embed(sizes: Mapping[str, int], seed: int) -> dict[str, tuple[list[str], np.ndarray]]:
    """Vectors of so many items of each word, in an order of their own."""
    rng, number = np.random.default_rng(seed), count()
    found = {}
    for word, n in sizes.items():
        items = rng.normal(size=6) + 0.5 * rng.normal(size=(n, 6))
        ids = [f"{word}-{next(number):04d}" for _ in range(n)]
        found[word] = ids, np.ones((n, 6)) if word in CONSTANT and seed > 9 else items.astype(np.float32)
    return found


def weat_tables(**changed: Any) -> dict[str, pa.Table]:
    vectors = {word: array[0] for word, (_, array) in embed(dict.fromkeys(WORDS, 1), 10).items() if word not in LOST}
    vectors[WORDS[5]] = np.zeros(6)
    about = {"name": "v", "seed": 3, "source": "v.txt", "method": "glove", "forms": "pooled"}
    missing = {LOST[0]: "out of vocabulary"}
    tables = measure_weat(CATEGORIES, vectors | changed, missing, settings=RECOMMENDED, **about)
    return dict(zip(("weat", "weat_words"), tables, strict=True))


def seat_tables(
    average: str = "associations", unit: str = "word", settings: TestSettings = RECOMMENDED, **changed: Any
) -> dict[str, pa.Table]:
    vectors = embed({word: 0 if word in LOST else 5 for word in WORDS}, 11)
    rows = [
        {"stimulus": word, "occurrence_id": each, "template": f"t{place}"}
        for word, (ids, _) in vectors.items()
        for place, each in enumerate(sorted(ids))
    ]
    vectors[WORDS[7]] = vectors[WORDS[7]][0][3:0:-1], vectors[WORDS[7]][1][3:0:-1]
    how = {"unit": unit, "average": average, "sentence_vector": "cls", "seed": 5, "settings": settings}
    tables = measure_seat(CATEGORIES, pa.Table.from_pylist(rows), vectors | changed, model="m", **how)
    return dict(zip(("seat", "seat_words", "seat_templates"), tables, strict=True))


def ceat_tables(settings: CeatSettings | None = None, **changed: Any) -> dict[str, pa.Table]:
    settings = settings or CeatSettings(25, test=RECOMMENDED)
    sizes = {word: 0 if word in LOST else (30, 9, 1, 25)[i % 4] for i, word in enumerate(WORDS)}
    vectors, common = {}, {}
    for length, seed in (("9", 12), ("25", 13)):
        vectors[length] = embed(sizes, seed) | changed
        common[length] = {
            word: sorted(ids)[1:] if len(ids) > 1 or word == WORDS[6] else ids
            for word, (ids, _) in vectors[length].items()
        }
    tables = measure_ceat(CATEGORIES, vectors, common=common, model="m", settings=settings)
    joined = dict(zip(("ceat", "ceat_words", "resamples", "convergence"), tables, strict=True))
    joined["differences"] = differences(joined["ceat"], joined["resamples"], joined["ceat_words"], CATEGORIES)
    joined["settling"] = settling(joined["ceat"], joined["differences"], band=0.2)
    return joined


LIKE_THE_PAPER = CeatSettings(
    [25, 10], ["fixed"], "hedges", "reml", "with-replacement", "per_length", test=PAPER, repeated_words="as-listed"
)
STUDIES = {
    "weat": weat_tables,
    "seat": seat_tables,
    "seat_paper": lambda: seat_tables("vectors", "sentence", PAPER),
    "ceat": ceat_tables,
    "ceat_paper": lambda: ceat_tables(LIKE_THE_PAPER),
    "ceat_twin": lambda: ceat_tables(CeatSettings(25, test=RECOMMENDED, effects_only=True)),
}


@pytest.mark.parametrize("name", STUDIES)
def test_tables_are_those_kept(name: str) -> None:
    kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    found = STUDIES[name]()
    assert found.keys() == kept.keys()
    for table, rows in kept.items():
        assert found[table].schema == TABLES[table].arrow()
        assert found[table].num_rows == len(rows)
        for number, (row, expected) in enumerate(zip(found[table].to_pylist(), rows, strict=True)):
            for column, value in row.items():
                wanted = expected.get(column)
                if isinstance(value, float) or column == "replicates":
                    wanted = pytest.approx(wanted, rel=1e-9, abs=1e-11, nan_ok=True)
                assert value == wanted, (table, number, column)


@pytest.mark.parametrize("name", ["seat", "ceat"])
def test_neither_the_order_of_words_nor_that_of_items_matters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = embed

    def turn(*given: Any) -> dict[str, tuple[list[str], np.ndarray]]:
        return {word: (ids[::-1], array[::-1]) for word, (ids, array) in reversed(original(*given).items())}

    monkeypatch.setitem(globals(), "embed", turn)
    test_tables_are_those_kept(name)


W = WORDS[0]
BAD: list[tuple[Callable[..., Any], Any, str]] = [
    (weat_tables, np.full(6, np.nan), "word .: row 0 has NaN"),
    (seat_tables, (["other"], np.ones((1, 6))), "sentence other has a vector, but is in no template"),
    (
        seat_tables,
        ([f"{W}-0000"], np.full((1, 6), np.nan)),
        f"the vector of {W}-0000, has NaN .* results/embeddings/m,",
    ),
    (seat_tables, ([f"{W}-0000"], np.zeros((1, 6))), f"{W}: row 0, the vector of {W}-0000, is a zero vector"),
    (ceat_tables, (["s1"], np.full((1, 6), np.nan)), f"9, {W}: row 0, the vector of s1, has NaN .*/embeddings/m,"),
    (ceat_tables, (["s0", "s1"], np.eye(6)[:2] * [[1], [0]]), "row 1, the vector of s1, is a zero vector"),
]


@pytest.mark.parametrize(("measure", "vectors", "message"), BAD)
def test_vectors_that_cannot_be_right_are_refused(measure: Callable[..., Any], vectors: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(**{W: vectors})


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for study, make in STUDIES.items():
        rows = {
            name: [{key: value for key, value in row.items() if value is not None} for row in table.to_pylist()]
            for name, table in make().items()
        }
        (FOLDER / f"{study}.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
