"""The table of strength: what it takes from vectors and other tests, and why a category has no number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from prasanga.associations import TestSettings
from prasanga.associations.strength import (
    CosineStudies,
    build_cosine_studies,
    measure_strengths,
    summarize_models,
    summarize_vectors,
)
from prasanga.schema import TABLES
from prasanga.stats.strength import Rule

SIDES = ("x", "y", "a", "b")
WORDS = {side: [f"{side}{'o' * (n % 3)}{n}" for n in range(10)] for side in SIDES}
ALL = [word for words in WORDS.values() for word in words]
LAYOUT = {
    "title": "X and Y",
    "targets": [{"name": side, "stimuli": WORDS[side]} for side in "xy"],
    "attributes": [{"name": side, "stimuli": WORDS[side]} for side in "ab"],
}
SIZES = {f"{name}_{side}": 10 for name in ("n", "listed") for side in SIDES}
ROW: dict[str, Any] = {
    "lost": [],
    "n_twins": 3,
    "twin_sd": 0.5,
    "ci_low": -1.0,
    "category": "C1",
    "model": "m",
    "p_association": 0.3,
    "smallest_p": 1e-5,
    "n_tests": 3,
    **SIZES,
}


def draw_vectors(seed: int, n: int, spread: float = 0.3, d: int = 20) -> dict[str, tuple[list[str], Any]]:
    rng = np.random.default_rng(seed)
    return {
        word: ([f"{word}-{i}" for i in range(n)], (rng.normal(size=d) + 1 + spread * rng.normal(size=(n, d))) * 3)
        for word in ALL
    }


def list_sentences(n: int) -> pa.Table:
    return pa.table(
        {"stimulus": [w for w in ALL for _ in range(n)], "occurrence_id": [f"{w}-{i}" for w in ALL for i in range(n)]}
    )


def measure(
    vectors: list[Any],
    copies: list[list[Any]],
    row: dict[str, Any] = ROW,
    layout: dict[str, Any] = LAYOUT,
    others: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The row of a category; the study has two more tests, of another method."""
    elsewhere = [{"p_association": p, "n_tests": 3} for p in (0.001, 0.9)]
    tables = {"ceat": [row, *(others or [])], "seat": elsewhere}
    how: dict[str, Any] = {"settings": TestSettings(), "repetitions": 60, "shifts": [1.0, 3.0], "seed": 5}

    def build(row: Any, rule: Rule, rng: np.random.Generator) -> CosineStudies:
        return build_cosine_studies({"C1": layout}, row, vectors, copies, rule, rng)

    table = measure_strengths(tables, "ceat", build, **how)
    assert table.schema == TABLES["ceat_strength"].arrow()
    (found,) = table.to_pylist()
    return dict(found)


def test_contexts_and_sentences_become_mean_directions_and_items() -> None:
    vectors = draw_vectors(1, 5)
    units = {word: array / np.linalg.norm(array, axis=1, keepdims=True) for word, (_, array) in vectors.items()}
    contexts = summarize_vectors(vectors, ALL[1:])
    assert [*contexts.words] == sorted(ALL[1:])
    first, second = sorted(ALL[1:])[:2]
    wanted = units[first].mean(axis=0) @ units[second].mean(axis=0)
    assert contexts.products[0, 1] == pytest.approx(wanted)
    assert len(contexts.without) == 0
    assert len({each.tobytes() for each in contexts.items[0]}) == 5  # of 16: no context is left out

    backwards = {word: (ids[::-1], array[::-1]) for word, (ids, array) in vectors.items()}
    for given in (vectors, backwards):
        sentences = summarize_vectors(given, ALL[1:], sentences=list_sentences(5))
        np.testing.assert_allclose(sentences.products, contexts.products)
        left = units[first][[0, 1, 3, 4]].mean(axis=0) @ units[second][[0, 1, 3, 4]].mean(axis=0)
        assert sentences.without[2][0, 1] == pytest.approx(left)
        assert len(sentences.items[0]) == 5
    assert len(summarize_vectors(draw_vectors(1, 3), ALL, sentences=list_sentences(3)).without) == 0

    averaged = summarize_vectors(vectors, ALL[1:], sentences=list_sentences(5), average="vectors")
    means = [vectors[word][1].mean(axis=0) for word in (first, second)]
    cosine = means[0] @ means[1] / np.linalg.norm(means[0]) / np.linalg.norm(means[1])
    assert averaged.products[0, 1] == pytest.approx(cosine)
    assert averaged.items[0].shape == (1, 20)


def test_a_category_has_its_level_its_curve_and_its_false_alarms() -> None:
    twins = [[summarize_vectors(draw_vectors(seed, 4), ALL)] for seed in (2, 3, 4)]
    found = measure([summarize_vectors(draw_vectors(1, 4), ALL)], twins)
    assert found["level"] == pytest.approx(0.05 / 2)  # one of the others is significant
    assert found["shifts"] == [0, 1, 3]
    assert len(found["shares_found"]) == 3
    assert found["shares_found"][0] <= 0.07 < found["shares_found"][-1]
    assert max(found["false_attributes"], found["false_spelling"], found["false_scatter"]) <= 0.1
    assert found["false_templates"] is None
    assert found["strength_note"] is None
    assert found == measure([summarize_vectors(draw_vectors(1, 4), ALL)], twins)


def test_templates_and_lengths_have_a_part_in_it() -> None:
    vectors = draw_vectors(1, 4, spread=0.5)
    one = measure([summarize_vectors(vectors, ALL)], [])
    templates = measure([summarize_vectors(vectors, ALL, sentences=list_sentences(4))], [])
    lengths = measure([summarize_vectors(vectors, ALL), summarize_vectors(draw_vectors(2, 4), ALL)], [])
    assert templates["false_templates"] is not None
    assert templates["shares_found"] != one["shares_found"]
    assert lengths["shares_found"] != one["shares_found"]


def test_words_that_the_estimate_lost_have_no_part_in_it() -> None:
    vectors = draw_vectors(1, 4)
    lost = [{"word": "x0", "reason": "no_common_contexts"}, {"word": "y0", "reason": "repeated"}]
    with_lost = measure([summarize_vectors(vectors, ALL)], [], {**ROW, "lost": lost})
    layout = {**LAYOUT, "targets": [{"name": "x", "stimuli": WORDS["x"][1:]}, LAYOUT["targets"][1]]}
    assert with_lost["shares_found"] == measure([summarize_vectors(vectors, ALL)], [], layout=layout)["shares_found"]


def test_a_copy_without_a_word_of_the_category_is_left_out() -> None:
    space = [summarize_vectors(draw_vectors(1, 4), ALL)]
    twins = [[summarize_vectors(draw_vectors(seed, 4), ALL)] for seed in (2, 3)]
    lacking = [[summarize_vectors(draw_vectors(4, 4), ALL[1:])]]
    assert measure(space, twins + lacking) == measure(space, twins)


def test_copies_of_other_estimates_say_how_much_effects_vary() -> None:
    """A standard deviation of two copies is hardly known; with those of others, more is told from the copies."""
    space = [summarize_vectors(draw_vectors(1, 4), ALL)]
    twins = [[summarize_vectors(draw_vectors(seed, 4), ALL)] for seed in (2, 3)]
    others = [{**ROW, "category": f"C{n}", "n_tests": None, "n_twins": 2, "twin_sd": 0.05 + n / 100} for n in range(12)]
    alone, together = measure(space, twins), measure(space, twins, others=others)
    assert together["shares_found"][-1] > alone["shares_found"][-1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"smallest_p": 0.0078 * 5}, "the smallest possible p is 0.039, and only 0.025 or less is significant"),
        ({"n_b": 7}, "too few words"),
        ({"listed_a": 16}, "too few words"),
    ],
)
def test_a_category_in_which_nothing_can_be_found_says_why(changes: dict[str, Any], said: str) -> None:
    found = measure([summarize_vectors(draw_vectors(1, 4), ALL)], [], {**ROW, **changes})
    assert found["strength_note"] == said
    assert found["shares_found"] is found["shift_80"] is None


def test_a_copy_without_any_word_has_no_vectors_to_summarize() -> None:
    nothing = summarize_vectors({}, ALL)
    assert nothing.words == {}
    assert nothing.products.shape == (0, 0)


def test_a_model_and_its_copies_are_read_once_while_it_is_asked_for() -> None:
    asked: list[tuple[str, int | None]] = []

    def read(path: str, twin: int | None) -> Any:
        asked.append((path, twin))
        return draw_vectors(len(asked), 4)

    summarize = summarize_models({"m": [["m9", "m25"], ["r9", "r25"]], "n": [["n9"]]}, read, ALL, {"m": 2}, seed=5)
    own, *copies = summarize("m")
    assert summarize("m")[0] is own
    assert asked == [("m9", None), ("m25", None), ("r9", 0), ("r25", 0), ("r9", 1), ("r25", 1)]
    assert [len(own), *map(len, copies)] == [2, 2, 2]
    assert len(summarize("n")) == 1
