"""Templates as a sample: effects by template and without one, words and templates counted anew, and the interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from prasanga.associations.effects import seat
from prasanga.associations.estimates import Effects, TestSettings, count_mean_vectors, count_sentences
from prasanga.associations.study import SeatTables, measure_seat
from prasanga.associations.vectors import compute_cosines
from prasanga.likelihoods.categories import TermScores
from prasanga.schema import TABLES
from prasanga.stats.crossed import effects_of_items, item_counts

Array = npt.NDArray[np.float64]
SIZES = {"x": 5, "y": 4, "a": 3, "b": 4}
T = 4


def sentences_of(rng: np.random.Generator, lacking: bool) -> dict[str, list[dict[int, Array]]]:
    """Of each word of each set its vectors by the place of the template; some words lack one."""
    found = {
        side: [{place: rng.normal(size=6) + rng.normal() for place in range(T)} for _ in range(n)]
        for side, n in SIZES.items()
    }
    if lacking:
        del found["x"][1][2], found["y"][0][0], found["a"][2][3]
    return found


def effects_of(words: dict[str, list[dict[int, Array]]], average: str, std: str) -> Effects:
    """What counts templates."""
    arrays = [[np.array(list(word.values())) for word in words[side]] for side in "xyab"]
    places = [np.array(list(word)) for side in "xyab" for word in words[side]]
    if average == "vectors":
        return count_mean_vectors([array for side in arrays for array in side], places, T, list(SIZES.values()), std)
    return count_sentences(compute_cosines(*arrays), places, std)


def counted(words: list[dict[int, Array]], templates: Array) -> list[Array]:
    """The slow way: a sentence of a template that counts twice stands there twice."""
    rows = [[vector for place, vector in word.items() for _ in range(int(templates[place]))] for word in words]
    return [np.array(of_word) for of_word in rows if of_word]


@pytest.mark.parametrize("std", ["union_ddof1", "union_ddof0", "pooled"])
@pytest.mark.parametrize("average", ["associations", "vectors"])
@pytest.mark.parametrize("lacking", [False, True])
def test_counting_is_writing_sentences_down_as_often(average: str, std: str, lacking: bool) -> None:
    rng = np.random.default_rng(3)
    words = sentences_of(rng, lacking)
    templates = np.concatenate([np.ones((1, T)), rng.multinomial(T, [1 / T] * T, size=20)]).astype(float)
    found = effects_of(words, average, std)(templates)
    for row, counts in enumerate(templates):
        sets = [counted(words[side], counts) for side in "xyab"]
        expected = seat(*sets, average=average, std=std, n_resamples=1).effect_size
        assert found[row] == pytest.approx(expected, rel=1e-9), row


def test_sentences_of_log_probability_are_counted_likewise() -> None:
    rng = np.random.default_rng(4)
    words, places = np.repeat(np.arange(7), T), np.tile(np.arange(T), 7)
    kept = np.ones(len(words), dtype=bool)
    kept[[2, 9]] = False  # two sentences are too long
    words, places = words[kept], places[kept]
    fill, prior = rng.normal(size=(2, len(words), 5))
    terms = TermScores(fill, prior, words, 2, 4, 3)
    of_words = rng.integers(1, 3, size=(20, 7)).astype(float)
    of_templates = 1.0 + rng.integers(0, 3, size=(20, T))
    found = terms.effects(of_words, None, of_templates, places=places)
    for row in range(20):
        rows, numbers, n_first = [], [], 0
        for word in range(7):
            for _ in range(int(of_words[row, word])):
                more = [i for i in np.flatnonzero(words == word) for _ in range(int(of_templates[row, places[i]]))]
                rows += more
                numbers += [len(set(numbers))] * len(more)
                n_first += word < 4
        n = len(set(numbers))
        again = TermScores(fill[rows], prior[rows], np.array(numbers), 2, n_first, n - n_first)
        assert found[row] == pytest.approx(again.effects()[0], rel=1e-9)


def test_a_case_worked_by_hand() -> None:
    """Word 0 of X scores 1 and 3 in two templates, words 1 and 2 of Y score 0 in both.

    With the second template counted three times word 0 weighs as before, 4 items of 12, and its mean is 2.5. The mean
    of all is 2.5 / 3; the squares about it are 1 (1 - 5/6)^2 + 3 (3 - 5/6)^2 + 8 (5/6)^2 = 59 / 3.
    """
    words, places = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1] * 3)
    weights = item_counts(words, places, np.ones((1, 3)), np.array([[1.0, 3.0]]))
    assert weights.tolist() == [[1, 3, 1, 3, 1, 3]]
    scores = np.array([[1.0, 3, 0, 0, 0, 0]])
    assert effects_of_items(scores, weights, words == 0, "union_ddof0") == pytest.approx([2.5 / np.sqrt(59 / 36)])


# Of a study.


def study(seed: int = 5, templates: int = 6, n: int = 8, of_template: float = 1.0) -> tuple[Any, pa.Table, Any]:
    """A category of n words a set; what a template adds to a word of X and of Y differs."""
    rng = np.random.default_rng(seed)
    names = {side: [f"{side}{i}" for i in range(n)] for side in "xyab"}
    axis, turned = np.eye(8)[0], {"x": 1, "y": -1, "a": 1, "b": -1}
    moved = rng.normal(size=templates) * of_template
    vectors = {}
    for side, words in names.items():
        for word in words:
            base = rng.normal(size=8)
            shift = 0.4 + (moved if side in "xy" else 0 * moved)
            rows = base + turned[side] * shift[:, None] * axis + 0.2 * rng.normal(size=(templates, 8))
            vectors[word] = [f"{word}-{i}" for i in range(templates)], rows
    sets = [{"name": side, "stimuli": words} for side, words in names.items()]
    categories = {"T": {"title": "T", "targets": sets[:2], "attributes": sets[2:]}}
    listed = [
        {"stimulus": word, "occurrence_id": f"{word}-{i}", "template": f"{'is' if word[0] in 'xy' else 'of'}{i}"}
        for word in vectors
        for i in range(templates)
    ]
    return categories, pa.Table.from_pylist(listed), vectors


def measured(*of_study: Any, **options: Any) -> SeatTables:
    settings = TestSettings(n_resamples=options.pop("n_resamples", 400), n_shuffles=0, n_permutations=10)
    return measure_seat(*of_study, model="m", settings=settings, **options)


def test_a_row_a_template_with_the_effect_in_it_and_without_it() -> None:
    categories, listed, vectors = study()
    tables = measured(categories, listed, vectors)
    assert tables.templates.schema == TABLES["seat_templates"].arrow()
    rows = tables.templates.to_pylist()
    assert [row["place"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[1]["template"] == "is1, of1"
    for row in rows:
        kept = np.arange(6) == row["place"] - 1
        for which, name in ((kept, "effect_size"), (~kept, "effect_without")):
            sets = [[vectors[f"{side}{i}"][1][which] for i in range(8)] for side in "xyab"]
            assert row[name] == pytest.approx(seat(*sets, n_resamples=1).effect_size, rel=1e-9)
    (estimate,) = tables.estimates.to_pylist()
    assert estimate["n_templates"] == 6
    for name, columns in (("effect_size", "by_template"), ("effect_without", "without_template")):
        values = [row[name] for row in rows]
        assert (estimate[f"{columns}_low"], estimate[f"{columns}_high"]) == (min(values), max(values))


def test_templates_that_differ_make_the_interval_wider_and_others_hardly() -> None:
    def widths(of_template: float) -> tuple[float, float]:
        (row,) = measured(*study(n=12, of_template=of_template)).estimates.to_pylist()
        assert row["ci_templates_low"] < row["effect_size"] < row["ci_templates_high"]
        return row["ci_high"] - row["ci_low"], row["ci_templates_high"] - row["ci_templates_low"]

    words, both = widths(0)
    assert both == pytest.approx(words, rel=0.1)
    words, both = widths(1.5)
    assert both > 1.4 * words


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"templates": 3}, "no interval: 3 templates, and an interval over templates needs 4"),
        ({"templates": 1}, "no interval: 1 template, and"),
        ({"n": 7}, "no interval: set X has 7 words"),
    ],
)
def test_without_an_interval_the_table_says_why(options: dict[str, int], expected: str) -> None:
    (row,) = measured(*study(**options)).estimates.to_pylist()
    assert row["ci_templates_low"] is None
    assert row["ci_templates_high"] is None
    assert expected in row["templates_note"]
    assert row["by_template_low"] <= row["by_template_high"]
