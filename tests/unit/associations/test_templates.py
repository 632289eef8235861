"""Templates as a sample: effects by template and without one, words and templates counted anew, and the interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from prasanga.associations.effects import SeatTables, measure_seat, seat
from prasanga.associations.estimates import TestSettings
from prasanga.likelihoods.categories import TermScores
from prasanga.schema import TABLES


@pytest.mark.parametrize("terms", ["log-sum-exp", "mean"])
def test_sentences_of_log_probability_are_left_out_with_words_that_have_no_other(terms: str) -> None:
    """A word weighs the same in as many sentences as it has; words without any do not count."""
    rng = np.random.default_rng(4)
    words = np.repeat(np.arange(7), 4)
    fill, prior = rng.normal(size=(2, words.size, 5))
    scores = TermScores(fill, prior, words, 2, 4, 3, terms)
    kept = np.ones(words.size, dtype=bool)
    kept[[2, 9, 16, 17, 18, 19]] = False  # the fifth word has no sentence left
    left = [words[kept] == word for word in (0, 1, 2, 3, 5, 6)]
    values = scores.sentence_scores[kept]
    means = np.array([values[of_word].mean() for of_word in left])
    middle = np.mean(means)
    square = np.mean([np.mean((values[of_word] - middle) ** 2) for of_word in left])
    expected = (means[:4].mean() - means[4:].mean()) / np.sqrt(square * kept.sum() / (kept.sum() - 1))
    part = scores.select_sentences(kept)
    assert part is not None
    assert part.effects()[0] == pytest.approx(expected)
    assert scores.select_sentences(words < 4) is None


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


@pytest.mark.parametrize("average", ["associations", "vectors"])
def test_a_row_per_template_with_the_effect_in_it_and_without_it(average: str) -> None:
    categories, listed, vectors = study()
    lacking = {"x1": 2, "y0": 0, "a2": 3}  # words without a sentence in one template
    have = {word: [place for place in range(6) if lacking.get(word) != place] for word in vectors}
    given = {word: ([ids[place] for place in have[word]], rows[have[word]]) for word, (ids, rows) in vectors.items()}
    tables = measured(categories, listed, given, average=average)
    assert tables.templates.schema == TABLES["seat_templates"].arrow()
    rows = tables.templates.to_pylist()
    assert [row["place"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[1]["template"] == "is1, of1"
    for row in rows:
        kept = np.arange(6) == row["place"] - 1
        for which, name in ((kept, "effect_size"), (~kept, "effect_without")):
            sets = [[given[f"{side}{i}"][1][which[have[f"{side}{i}"]]] for i in range(8)] for side in "xyab"]
            sets = [[word for word in side if len(word)] for side in sets]
            assert row[name] == pytest.approx(seat(*sets, average=average, n_resamples=1).effect_size, rel=1e-9)
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
