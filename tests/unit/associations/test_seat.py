"""SEAT: cases worked by hand, the two units and averages, the table of a study, and calibration."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from prasanga.associations.effects import effect_size, permutation_test, seat
from prasanga.associations.estimates import TestSettings
from prasanga.associations.study import SeatTables, measure_seat
from prasanga.base.errors import InputError
from prasanga.losses import describe_losses
from prasanga.schema import TABLES
from prasanga.stats.effects import ConstantScoresError, effect_size_of_scores

Array = npt.NDArray[np.float64]
FAST = TestSettings(n_resamples=0, n_shuffles=0)


def unit(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


def random_words(rng: np.random.Generator, n: int, sentences: int, d: int = 6, spread: float = 0.2) -> list[Array]:
    """Words whose sentences are nearly the same: a direction each, and a little noise."""
    return [rng.normal(size=d) + spread * rng.normal(size=(sentences, d)) for _ in range(n)]


def test_a_case_worked_by_hand() -> None:
    """A at 0 and B at 90 degrees, so that s = cos - sin; four sentences of X and three of Y, two words each.

    X: s of 0, 90 degrees (1, -1) and twice 0 (1, 1): words 0 and 1, mean 1/2. Y: 90, 90 (-1, -1) and 180 (-1): words
    -1 and -1. Every word weighs the same: the mean of all is -1/4, and the mean squares about it over the sentences of
    each word are 17/16, 25/16, 9/16, 9/16, on average 15/16; with 7 sentences the variance is 15/16 * 7/6 = 35/32.
    """
    X = [[unit(0), unit(90)], [unit(0), [3.0, 0.0]]]
    Y = [[unit(90), [0.0, 0.5]], [unit(180)]]
    result = seat(X, Y, [[unit(0)]], [[unit(90)]])
    assert result.effect_size == pytest.approx(1.5 / np.sqrt(35 / 32), rel=1e-12)
    assert result.word_scores == pytest.approx([0, 1, -1, -1], abs=1e-12)
    assert result.test.statistic == pytest.approx(1.5)
    # of the six ways to choose X from (0, 1, -1, -1), the observed one and its mirror image are as extreme
    assert (result.test.p_value, result.test.n_partitions, result.test.exact) == (pytest.approx(2 / 6), 6, True)
    greater = seat(X, Y, [[unit(0)]], [[unit(90)]], alternative="greater")
    assert greater.test.p_value == pytest.approx(1 / 6)


def test_the_unit_sentence_permutes_single_sentences() -> None:
    X = [[unit(0), unit(90)], [unit(0), [3.0, 0.0]]]
    Y = [[unit(90), [0.0, 0.5]], [unit(180)]]
    scores, n_x = np.array([1, -1, 1, 1, -1, -1, -1]), 4
    observed = scores[:n_x].mean() - scores[n_x:].mean()
    statistics = []
    for chosen in combinations(range(7), n_x):
        inside = np.isin(np.arange(7), chosen)
        statistics.append(scores[inside].mean() - scores[~inside].mean())
    expected = np.mean(np.abs(statistics) >= abs(observed) - 1e-9)
    result = seat(X, Y, [[unit(0)]], [[unit(90)]], unit="sentence")
    assert result.test.p_value == pytest.approx(expected)
    assert result.test.n_partitions == 35
    assert result.effect_size == seat(X, Y, [[unit(0)]], [[unit(90)]]).effect_size


def test_targets_that_are_attributes_are_refused() -> None:
    x, y = (random_words(np.random.default_rng(seed), 4, 3) for seed in (1, 2))
    with pytest.raises(InputError, match="A: word 0 has the vector of word 0 of X, one of 4 that both have"):
        seat(x, y, x, y)


def test_one_sentence_a_word_is_weat() -> None:
    rng = np.random.default_rng(1)
    x, y, a, b = (rng.normal(size=(n, 5)) for n in (5, 4, 6, 3))
    sets = [[row[None] for row in words] for words in (x, y, a, b)]
    for which in ("word", "sentence"):
        result = seat(*sets, unit=which)
        assert result.effect_size == pytest.approx(effect_size(x, y, a, b), rel=1e-12)
        # sentences are compared by the difference, as in the papers
        compared = "studentized" if which == "word" else "difference"
        assert result.test.p_value == permutation_test(x, y, a, b, statistic=compared).p_value
        assert result.test_attributes.p_value == permutation_test(a, b, x, y).p_value
        assert result.p_association == max(result.test.p_value, result.test_attributes.p_value)
    assert seat(*sets, std="pooled").effect_size == pytest.approx(effect_size(x, y, a, b, std="pooled"), rel=1e-12)


def test_an_average_of_vectors_takes_them_as_they_are() -> None:
    """The program of Sadhu et al.: one mean vector a word, in which a longer vector weighs more."""
    rng = np.random.default_rng(2)
    sets = [random_words(rng, n, 3) for n in (4, 4, 3, 3)]
    sets[0][0][0] *= 100
    means = [np.stack([word.mean(axis=0) for word in words]) for words in sets]
    result = seat(*sets, average="vectors")
    assert result.effect_size == pytest.approx(effect_size(*means), rel=1e-12)
    assert result.test.p_value == permutation_test(*means).p_value
    assert seat(*sets, average="vectors", unit="sentence").test.p_value == result.test.p_value
    assert seat(*sets).effect_size != pytest.approx(result.effect_size, abs=0.01)


def test_scores_are_means_over_sentences() -> None:
    rng = np.random.default_rng(3)
    x, y, a, b = (random_words(rng, n, 4) for n in (3, 3, 2, 2))

    def unit_rows(words: list[Array]) -> Array:
        rows = np.concatenate(words)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    axis = unit_rows(a).mean(axis=0) - unit_rows(b).mean(axis=0)
    of_sentences = unit_rows([*x, *y]) @ axis
    result = seat(x, y, a, b)
    assert result.word_scores == pytest.approx(of_sentences.reshape(6, 4).mean(axis=1), rel=1e-12)
    assert result.effect_size == pytest.approx(effect_size_of_scores(of_sentences[:12], of_sentences[12:]), rel=1e-12)


def test_targets_that_change_sides_change_the_sign_and_lengths_change_nothing() -> None:
    rng = np.random.default_rng(4)
    x, y, a, b = (random_words(rng, n, 3) for n in (4, 5, 3, 2))
    result, turned = seat(x, y, a, b), seat(y, x, a, b)
    assert turned.effect_size == pytest.approx(-result.effect_size)
    assert turned.test.p_value == pytest.approx(result.test.p_value)
    scaled = seat([7 * word for word in x], y, a, [0.1 * word for word in b])
    assert scaled.effect_size == pytest.approx(result.effect_size)


def test_under_no_effect_words_keep_the_level_and_sentences_do_not() -> None:
    """8 and 8 words in 5 templates, 200 runs: p of words is below .05 in about 5 %, p of sentences far more often."""
    rng = np.random.default_rng(5)
    below = {"word": 0, "sentence": 0}
    for _ in range(200):
        sets = [random_words(rng, n, 5) for n in (8, 8, 4, 4)]
        for which in below:
            p = seat(*sets, unit=which, n_resamples=400, rng=rng).test.p_value
            below[which] += p < 0.05
    assert 2 <= below["word"] <= 20
    assert below["sentence"] >= 60


def test_sentences_that_are_one_make_the_p_of_sentences_small() -> None:
    rng = np.random.default_rng(6)
    sets = [random_words(rng, n, 10, spread=0.01) for n in (6, 6, 4, 4)]
    words, sentences = (seat(*sets, unit=which, rng=1).test for which in ("word", "sentence"))
    assert words.exact
    assert not sentences.exact
    assert sentences.p_value < words.p_value


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"unit": "words"}, r"unit: 'words' is not known\. Write 'word' or 'sentence'"),
        ({"average": "mean"}, r"average: 'mean' is not known"),
        ({"std": "ddof1"}, r"std: 'ddof1' is not known"),
        ({"X": []}, r"X: a set without words"),
        ({"Y": [[[1.0, 2.0, 3.0]]]}, r"3 dimensions"),
        ({"A": [[[np.nan, 1.0]]]}, r"A, word 0: row 0 holds NaN"),
        ({"B": [[[1.0, 1.0], [0.0, 0.0]]], "average": "vectors"}, r"B, word 0: row 1 is a zero vector"),
        ({"B": [[[1.0, 1.0], [-1.0, -1.0]]], "average": "vectors"}, r"B, word 0: row 0 is a zero vector"),
    ],
)
def test_bad_input(change: dict[str, Any], expected: str) -> None:
    good = {"X": [[unit(0)], [unit(9)]], "Y": [[unit(80)], [unit(70)]], "A": [[unit(0)]], "B": [[unit(90)]]}
    with pytest.raises(InputError, match=expected):
        seat(**{**good, **change})


def test_sentences_that_are_all_alike_have_no_effect_size() -> None:
    with pytest.raises(ConstantScoresError):
        seat([[unit(0)]], [[unit(0)]], [[unit(0)]], [[unit(90)]])


# Of a study.

SETS = {"x": ["rose", "lotus"], "y": ["wasp", "flea"], "a": ["love", "joy"], "b": ["filth"]}
CATEGORY = {
    "title": "Flowers and insects",
    "targets": [{"name": "flowers", "stimuli": SETS["x"]}, {"name": "insects", "stimuli": SETS["y"]}],
    "attributes": [{"name": "pleasant", "stimuli": SETS["a"]}, {"name": "unpleasant", "stimuli": SETS["b"]}],
}
WORDS = [word for words in SETS.values() for word in words]


def sentences(n: int = 3) -> pa.Table:
    rows = [
        {"stimulus": word, "occurrence_id": f"{word}-{i}", "template": f"t{i}"}
        for word in sorted(WORDS)
        for i in range(n)
    ]
    return pa.Table.from_pylist(rows)


def embedded(n: int = 3, seed: int = 7) -> dict[str, tuple[list[str], Array]]:
    rng = np.random.default_rng(seed)
    return {word: ([f"{word}-{i}" for i in range(n)], rng.normal(size=(n, 4))) for word in WORDS}


def measure(vectors: Any, **options: Any) -> SeatTables:
    return measure_seat(
        options.pop("categories", {"C1": CATEGORY}),
        options.pop("sentences", sentences()),
        vectors,
        model="tiny",
        settings=options.pop("settings", FAST),
        **options,
    )


def test_a_row_of_the_table() -> None:
    vectors = embedded()
    tables = measure(vectors, sentence_vector="cls", seed=3)
    assert tables.estimates.schema == TABLES["seat"].arrow()
    (row,) = tables.estimates.to_pylist()
    result = seat(*([vectors[word][1] for word in words] for words in SETS.values()))
    assert row["effect_size"] == pytest.approx(result.effect_size, rel=1e-12)
    assert row["p_stimuli"] == pytest.approx(result.test.p_value)
    expected = {
        "category": "C1",
        "category_title": "Flowers and insects",
        "target_x": "flowers",
        "target_y": "insects",
        "attribute_a": "pleasant",
        "attribute_b": "unpleasant",
        "model": "tiny",
        "p_stimuli_exact": True,
        "n_partitions": 6,
        "n_x": 2,
        "n_b": 1,
        "listed_b": 1,
        "reason": None,
        "lost": [],
        "n_sentences_x": 6,
        "n_sentences_b": 3,
        "sentence_vector": "cls",
        "unit": "word",
        "average": "associations",
        "p_sentences": None,
        "std": "union_ddof1",
        "alternative": "two-sided",
        "seed": 3,
    }
    assert {key: row[key] for key in expected} == expected


def test_rows_of_words() -> None:
    vectors = embedded()
    table = measure(vectors).words
    assert table.schema == TABLES["seat_words"].arrow()
    rows = table.to_pylist()
    assert [(row["role"], row["set"], row["stimulus"]) for row in rows[:3]] == [
        ("x", "flowers", "rose"),
        ("x", "flowers", "lotus"),
        ("y", "insects", "wasp"),
    ]
    result = seat(*([vectors[word][1] for word in words] for words in SETS.values()))
    assert [row["association"] for row in rows[:4]] == pytest.approx(list(result.word_scores), rel=1e-12)
    assert {row["n_items"] for row in rows} == {3}
    without = seat(*([vectors[word][1] for word in words if word != "love"] for words in SETS.values()))
    love = next(row for row in rows if row["stimulus"] == "love")
    assert love["effect_without"] == pytest.approx(without.effect_size, rel=1e-9)


def test_an_interval_and_a_null_control_stand_beside_the_effect() -> None:
    sets = [[f"{side}{i}" for i in range(8)] for side in "xyab"]
    category = {
        "title": "T",
        "targets": [{"name": side, "stimuli": words} for side, words in zip("xy", sets[:2], strict=True)],
        "attributes": [{"name": side, "stimuli": words} for side, words in zip("ab", sets[2:], strict=True)],
    }
    rng = np.random.default_rng(8)
    vectors = {
        word: ([f"{word}-0", f"{word}-1"], rng.normal(size=(2, 5)) + 2 * np.eye(5)[k % 2])
        for k, words in enumerate(sets)
        for word in words
    }
    listed = pa.table(
        {
            "stimulus": [w for w in vectors for _ in "01"],
            "occurrence_id": [f"{w}-{i}" for w in vectors for i in "01"],
            "template": ["first", "second"] * len(vectors),
        }
    )
    settings = TestSettings(n_resamples=300, n_shuffles=200)
    (row,) = measure(vectors, categories={"T": category}, sentences=listed, settings=settings).estimates.to_pylist()
    assert row["ci_low"] < row["effect_size"] < row["ci_high"]
    assert row["ci_low"] > 0.5
    assert row["shuffled_low"] < 0 < row["shuffled_high"] < row["effect_size"] + 1
    assert 0 < row["p_shuffled"] < 0.2
    assert row["n_resamples"] == 300


def test_the_unit_sentence_adds_a_p_and_leaves_that_of_words() -> None:
    vectors = embedded()
    (of_words,) = measure(vectors).estimates.to_pylist()
    (row,) = measure(vectors, unit="sentence").estimates.to_pylist()
    expected = seat(*([vectors[word][1] for word in words] for words in SETS.values()), unit="sentence").test.p_value
    assert row["p_sentences"] == pytest.approx(expected)
    differing = {key for key in row if row[key] != of_words[key]}
    assert differing == {"unit", "p_sentences"}


def test_averaged_vectors_count_sentences_too() -> None:
    vectors = embedded()
    tables = measure(vectors, average="vectors")
    (row,) = tables.estimates.to_pylist()
    means = [np.stack([vectors[word][1].mean(axis=0) for word in words]) for words in SETS.values()]
    assert row["effect_size"] == pytest.approx(effect_size(*means), rel=1e-12)
    assert (row["average"], row["n_sentences_x"]) == ("vectors", 6)
    assert {word["n_items"] for word in tables.words.to_pylist()} == {3}


def test_neither_the_order_of_vectors_nor_that_of_files_matters() -> None:
    vectors = embedded()
    turned = {word: (ids[::-1], array[::-1]) for word, (ids, array) in reversed(vectors.items())}
    settings = TestSettings(n_resamples=50, n_shuffles=50)
    one, other = (measure(given, settings=settings) for given in (vectors, turned))
    assert one.estimates.equals(other.estimates)
    assert one.words.equals(other.words)


def test_lost_words_and_sentences_are_named() -> None:
    vectors = embedded()
    vectors["joy"] = ([], np.empty((0, 4)))
    vectors["lotus"] = (vectors["lotus"][0][:1], vectors["lotus"][1][:1])
    category = {
        **CATEGORY,
        "attributes": [{"name": "p", "stimuli": ["love", "joy", "hope"]}, CATEGORY["attributes"][1]],
    }
    (row,) = measure(vectors, categories={"C1": category}).estimates.to_pylist()
    assert describe_losses(row["lost"]) == (
        "lotus: vectors of 1 of its 3 sentences; joy: no vector of its 3 sentences; hope: in no template"
    )
    assert (row["n_a"], row["listed_a"], row["n_sentences_x"]) == (1, 3, 4)
    assert row["effect_size"] is not None


def test_too_few_words_are_a_row_that_says_so() -> None:
    vectors = embedded()
    del vectors["lotus"]
    tables = measure(vectors, categories={"C1": CATEGORY, "C2": {**CATEGORY, "targets": CATEGORY["targets"][::-1]}})
    assert [row["effect_size"] for row in tables.estimates.to_pylist()] == [None, None]
    reason = "not computed: flowers has 1 of 2 stimuli left, and a target set needs 2"
    assert describe_losses(tables.estimates["lost"][0].as_py()) == f"lotus: no vector of its 3 sentences; {reason}"
    assert tables.words.num_rows == 0


def test_constant_scores_are_a_row_that_says_so() -> None:
    vectors = {word: (ids, np.ones((3, 4))) for word, (ids, _) in embedded().items()}
    (row,) = measure(vectors).estimates.to_pylist()
    assert row["effect_size"] is None
    assert describe_losses(row["lost"]).startswith("not computed: All words have the same association")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ((["rose-0"], np.ones((2, 4))), r"tiny, rose: 1 ids of sentences for 2 vectors\. Embed its sentences again"),
        ((["rose-0", "rose-0"], np.ones((2, 4))), r"tiny, rose: 2 vectors of 1 sentences\. Embed its sentences again"),
        ((["rose-0", "wasp-1"], np.ones((2, 4))), r"the vector of sentence wasp-1 belongs to none of the templates'"),
        ((["rose-0"], np.ones((1, 5))), r"tiny, rose: vectors of 5 dimensions, but tiny, .* has 4"),
        (
            (["rose-0"], np.full((1, 4), np.nan)),
            r"rose: row 0, the vector of rose-0, holds NaN .* results/embeddings/tiny,",
        ),
        ((["rose-0"], np.zeros((1, 4))), r"tiny, rose: row 0, the vector of rose-0, is a zero vector"),
    ],
)
def test_vectors_that_cannot_be_right(changed: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        measure({**embedded(), "rose": changed})
