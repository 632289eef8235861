"""A word listed twice in a set counts once, and the result says so; with given draws, or as the papers do, twice."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from prasanga.associations import CeatSettings, TestSettings, ceat, measure_ceat, seat, weat
from prasanga.base.errors import InputError
from prasanga.extras.multiverse import ModelVectors, measure_multiverse, variants_of_contexts
from prasanga.report.grid import few_words
from prasanga.schema import group_lost_words

SIDES = {side: [f"{side}{i}" for i in range(9)] for side in "xyab"}
ONCE = {**SIDES, "a": ["a3", *(word for word in SIDES["a"] if word != "a3")]}  # the first place of a word counts
TWICE = {**SIDES, "x": [*SIDES["x"], "x0"], "a": ["a3", *SIDES["a"], "a3"]}
LOST = "x0: listed twice, counted once; a3: listed 3 times, counted once"
TEST = TestSettings(n_resamples=50, n_shuffles=20)


def contexts(n: int = 20, d: int = 12) -> dict[str, np.ndarray]:
    """Vectors of all words; those of X and A share a direction, as do those of Y and B."""
    rng = np.random.default_rng(5)
    made = {}
    for side, words in SIDES.items():
        for word in words:
            of_word = rng.normal(size=(n, d)) + rng.normal(size=d)
            of_word[:, 0 if side in "xa" else 1] += 1.0
            made[word] = of_word
    return made


EMBEDDINGS = contexts()


def sets(words: dict[str, list[str]]) -> tuple[Any, Any]:
    return (words["x"], words["y"]), (words["a"], words["b"])


def category(words: dict[str, list[str]]) -> dict[str, Any]:
    x, y, a, b = ({"name": side, "stimuli": listed} for side, listed in words.items())
    return {"C1": {"title": "t", "targets": [x, y], "attributes": [a, b]}}


def measured_ceat(words: dict[str, list[str]], **settings: Any) -> dict[str, list[dict[str, Any]]]:
    given = {word: ([f"{word}-{i:03d}" for i in range(len(array))], array) for word, array in EMBEDDINGS.items()}
    asked = CeatSettings(n_samples=40, test=TEST, **settings)
    tables = measure_ceat(category(words), {"9": given}, model="m", settings=asked)
    return {name: table.to_pylist() for name, table in tables._asdict().items()}


def test_ceat_is_that_of_the_list_without_the_word_to_the_last_bit() -> None:
    twice, once = (ceat(EMBEDDINGS, *sets(words), n_samples=60, rng=3) for words in (TWICE, ONCE))
    assert twice.effect_sizes.tolist() == once.effect_sizes.tolist()
    assert (twice.combined, twice.p_association) == (once.combined, once.p_association)
    assert twice.interval == once.interval
    assert twice.interval.low is not None
    assert (twice.lost, once.lost) == (LOST, "")
    table, expected = (each.to_frame().to_dicts()[0] for each in (twice, once))
    assert table == {**expected, "lost": LOST}
    assert (table["n_x"], table["n_a"]) == (9, 9)
    assert repr(twice) == f"{once!r} ({LOST})"


@pytest.mark.parametrize("method", [weat, seat])
def test_weat_and_seat_take_words_as_ceat_does(method: Any) -> None:
    vectors: dict[str, Any] = {word: each[0] if method is weat else each[:3] for word, each in EMBEDDINGS.items()}
    arrays = method(*([vectors[word] for word in ONCE[side]] for side in "xyab"), rng=1)
    named = dict(zip(("targets", "attributes"), sets(TWICE), strict=True))
    for words in (method(vectors, **named, rng=1), method(vectors, *sets(TWICE), rng=1)):
        assert (words.effect_size, words.p_association) == (arrays.effect_size, arrays.p_association)
        assert (words.interval, words.lost, arrays.lost) == (arrays.interval, LOST, "")
    with pytest.raises(InputError, match=r"embeddings: no vectors of 'rose', 'lily' \(2 of 38 words\)"):
        method(vectors, *sets({**ONCE, "x": ["rose", *ONCE["x"], "lily"]}))
    with pytest.raises(InputError, match=r"Give four arrays \(X, Y, A, B\), or vectors by word"):
        method(vectors, *sets(TWICE), **named)
    with pytest.raises(InputError, match=r"embeddings: of type list\. Give a dict such as"):
        method([[1.0]], **named)
    if method is weat:
        with pytest.raises(
            InputError, match=r"\['x0'\]: an array of shape \(20, 12\), but WEAT has one vector per word"
        ):
            weat(EMBEDDINGS, *sets(ONCE))


@pytest.mark.parametrize(
    ("word", "again"),
    [
        ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("উদ্যোগ", "উদ্\N{ZERO WIDTH NON-JOINER}যোগ"),
    ],
)
def test_other_spellings_of_a_word_are_the_same_word(word: str, again: str) -> None:
    given = EMBEDDINGS | {word: EMBEDDINGS["x0"], again: EMBEDDINGS["x0"]}
    x = [word, *SIDES["x"][1:]]
    once, twice = (ceat(given, *sets({**ONCE, "x": each}), n_samples=20, rng=1) for each in (x, [*x, again]))
    assert twice.effect_sizes.tolist() == once.effect_sizes.tolist()
    assert twice.lost == f"{word}: listed twice, counted once"
    assert twice.cosines.n_x == 9


@pytest.mark.parametrize(("how", "n_a"), [("once", 9), ("as-listed", 11)])
def test_other_choices_count_words_as_ceat_does(how: str, n_a: int) -> None:
    given = {word: ([f"{word}-{i}" for i in range(len(array))], array) for word, array in EMBEDDINGS.items()}

    def effects(words: dict[str, list[str]]) -> list[dict[str, Any]]:
        source = ModelVectors("ceat", "m", {"segment_length": "9"}, partial(variants_of_contexts, given, seed=1))
        return measure_multiverse({"ceat": category(words)}, [source], seed=1, repeated_words=how).to_pylist()

    assert {(row["n_a"], row["listed_a"]) for row in effects(TWICE)} == {(n_a, n_a)}
    same = [row["effect_size"] for row in effects(TWICE)] == [row["effect_size"] for row in effects(ONCE)]
    assert same == (how == "once")


def test_a_repetition_is_told_and_is_not_a_loss() -> None:
    words = {**TWICE, "b": [*SIDES["b"], "b0", "gone", "gone"]}
    row, _ = measured_ceat(words, sample_modes=["random"])["estimates"]
    assert group_lost_words(row["lost"]) == {
        "listed twice, counted once": ["x0", "b0"],
        "listed 3 times, counted once": ["a3", "a3"],
        "listed twice": ["gone"],
        "no contexts": ["gone"],
    }
    assert sum(row[f"listed_{side}"] - row[f"n_{side}"] for side in "xyab") == 1  # a repetition is not a loss
    assert few_words(row) == ""


def test_given_draws_have_a_column_for_each_word_as_listed() -> None:
    draws = np.random.default_rng(1).integers(20, size=(30, 39))
    twice = ceat(EMBEDDINGS, *sets(TWICE), draws=draws)
    assert twice.lost == ""
    assert twice.to_frame()["n_a"].to_list() == [11]
    other = draws.copy()
    other[:, 9] = (draws[:, 9] + 1) % 20  # the second column of x0
    assert ceat(EMBEDDINGS, *sets(TWICE), draws=other).combined.effect != twice.combined.effect
    with pytest.raises(InputError, match=r"Give integers, \(n_samples, 39\)"):
        ceat(EMBEDDINGS, *sets(TWICE), draws=draws[:, :36])
