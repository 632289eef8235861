"""The multiverse: every estimate of it against the one that is measured alone, and p against the exact tests."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from prasanga.associations import ceat, effect_size, seat
from prasanga.extras.multiverse import (
    MULTIVERSE_SCHEMA,
    ModelVectors,
    measure_multiverse,
    variants_of_contexts,
    variants_of_sentences,
    variants_of_words,
)
from prasanga.stats.effects import STD_CONVENTIONS
from prasanga.stats.permutation import holm

SIZES = {"x": 5, "y": 4, "a": 4, "b": 4}
SETS = {side: [f"{side}{i}" for i in range(n)] for side, n in SIZES.items()}
WORDS = [word for words in SETS.values() for word in words]


def category(x: str = "x", y: str = "y") -> dict[str, Any]:
    targets = [{"name": side, "stimuli": SETS[side]} for side in (x, y)]
    return {"title": "t", "targets": targets, "attributes": [{"name": side, "stimuli": SETS[side]} for side in "ab"]}


CATEGORIES = {"C1": category(), "C2": category("y", "x")}


def vectors(n: int = 6, shift: float = 0.8, seed: int = 0) -> dict[str, tuple[list[str], npt.NDArray[np.float64]]]:
    rng = np.random.default_rng(seed)
    found = {}
    for word in WORDS:
        of_word = rng.normal(size=(n, 8)) + rng.normal(size=8)
        of_word[:, 0] += shift * (1 if word[0] in "xa" else -1)
        found[word] = ([f"{word}-{i}" for i in range(n)], of_word)
    return found


def test_static_vectors_have_a_row_a_denominator() -> None:
    first = {word: of[0] for word, (_, of) in vectors().items()}
    source = ModelVectors("weat", "v", {}, partial(variants_of_words, first))
    rows = measure_multiverse({"weat": CATEGORIES}, [source], seed=1).to_pylist()
    sets = [np.array([first[word] for word in SETS[side]]) for side in "xyab"]
    assert [(row["category"], row["std"]) for row in rows] == list(product(CATEGORIES, STD_CONVENTIONS))
    for row in rows[:3]:
        assert row["effect_size"] == pytest.approx(effect_size(*sets, std=row["std"]))
        assert (row["n_x"], row["listed_y"], row["layer"], row["templates"]) == (5, 4, None, None)
    assert [row["effect_size"] for row in rows[3:]] == pytest.approx([-row["effect_size"] for row in rows[:3]])


def test_contexts_are_those_of_ceat() -> None:
    given = vectors(n=64)
    source = ModelVectors(
        "ceat", "m", {"layer": "12", "segment_length": "9"}, partial(variants_of_contexts, given, seed=1)
    )
    rows = measure_multiverse({"ceat": CATEGORIES}, [source], seed=1).to_pylist()
    embeddings = {word: of for word, (_, of) in given.items()}
    whole = ceat(embeddings, (SETS["x"], SETS["y"]), (SETS["a"], SETS["b"]), n_samples=4000, rng=1, variance="hedges")
    assert rows[0]["effect_size"] == pytest.approx(whole.effect_sizes.mean(), abs=0.15)
    assert [row["p_association"] for row in rows[:3]] == pytest.approx([whole.p_association] * 3)
    assert {(row["layer"], row["segment_length"]) for row in rows} == {("12", "9")}
    # contexts in another order are the same study
    turned = {word: (ids[::-1], of[::-1]) for word, (ids, of) in given.items()}
    again = ModelVectors(
        "ceat", "m", {"layer": "12", "segment_length": "9"}, partial(variants_of_contexts, turned, seed=1)
    )
    other = measure_multiverse({"ceat": CATEGORIES}, [again], seed=1).to_pylist()
    assert [row["effect_size"] for row in other] == pytest.approx([row["effect_size"] for row in rows])


def measure_sentences(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of SEAT, each vector of a word in a template of its own."""
    templates = {word: {each: place for place, each in enumerate(ids)} for word, (ids, _) in given.items()}
    source = ModelVectors(
        "seat", "m", {"sentence_vector": "cls"}, partial(variants_of_sentences, given, templates=templates)
    )
    return measure_multiverse({"seat": {"C1": CATEGORIES["C1"]}}, [source], seed=1).to_pylist()


def test_sentences_have_every_set_of_templates_and_both_averages() -> None:
    given = vectors(n=4)
    rows = measure_sentences(given)
    averages = ("associations", "vectors")
    expected = [*product(("all", "1 to 2", "3 to 4"), averages), *product("1234", averages[:1])]
    assert list(dict.fromkeys((row["templates"], row["average"]) for row in rows)) == expected
    places = {"all": range(4), "1 to 2": range(2), "3 to 4": range(2, 4)} | {str(i + 1): [i] for i in range(4)}
    for row in rows:
        kept = [[given[word][1][list(places[row["templates"]])] for word in SETS[side]] for side in "xyab"]
        alone = seat(*kept, average=row["average"], std=row["std"])
        assert row["effect_size"] == pytest.approx(alone.effect_size)
        assert row["p_association"] == pytest.approx(alone.p_association)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_three_templates_are_no_two_halves_and_one_is_all(n: int) -> None:
    rows = measure_sentences(vectors(n=n))
    assert {row["templates"] for row in rows} == {"all", *("123"[:n] if n > 1 else "")}


def test_holm_is_over_the_estimates_of_one_specification() -> None:
    sources = [
        ModelVectors(
            "ceat", model, {"layer": layer}, partial(variants_of_contexts, vectors(seed=seed, shift=0.3 * seed), seed=1)
        )
        for seed, (model, layer) in enumerate(product("mn", ("1", "2")))
    ]
    table = measure_multiverse({"ceat": CATEGORIES}, sources, seed=1)
    assert table.schema == MULTIVERSE_SCHEMA
    for std, layer in product(STD_CONVENTIONS, "12"):
        of_one = [row for row in table.to_pylist() if (row["std"], row["layer"]) == (std, layer)]
        assert [(row["model"], row["category"]) for row in of_one] == list(product("mn", CATEGORIES))
        assert [row["p_association_holm"] for row in of_one] == pytest.approx(
            holm([r["p_association"] for r in of_one])
        )


def test_what_cannot_be_computed_has_no_row() -> None:
    first = {word: of[0] for word, (_, of) in vectors().items() if word not in SETS["y"][1:]}
    assert not measure_multiverse(
        {"weat": CATEGORIES}, [ModelVectors("weat", "v", {}, partial(variants_of_words, first))], seed=1
    )
    assert not measure_multiverse({}, [], seed=1)
