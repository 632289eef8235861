"""What is easily given by mistake in a notebook is refused by name: with what was found, and what to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from prasanga.associations import (
    ceat,
    combine,
    contexts_enough,
    draw_contexts,
    effect_size,
    permutation_test,
    seat,
    weat,
)
from prasanga.base.errors import InputError
from prasanga.stats import benjamini_hochberg, holm
from prasanga.stats.effects import effect_size_of_scores

RNG = np.random.default_rng(1)
X, Y, A, B = ["x1", "x2", "x3"], ["y1", "y2", "y3"], ["a1", "a2"], ["b1", "b2"]
CONTEXTS = {word: RNG.normal(size=(6, 4)) for word in [*X, *Y, *A, *B, *"abcdef"]}
SETS = [RNG.normal(size=(3, 4)) for _ in "XYAB"]
SENTENCES = [[RNG.normal(size=(2, 4)) for _ in range(3)] for _ in "XYAB"]
RAGGED = [[1.0, 2, 3, 4], [1.0, 2]]
NO_ARRAY = "no array can be made of it"
WHOLE = "Write a whole number of at least 1."


def measure(embeddings: Any = CONTEXTS, **options: Any) -> Any:
    return ceat(embeddings, **{"targets": (X, Y), "attributes": (A, B), "n_samples": 3, "rng": 1, **options})


TABLE: dict[str, Callable[[], object]] = {
    f"X: {NO_ARRAY} (list). Give (n, d) numbers: one vector per row": lambda: effect_size(RAGGED, *SETS[1:]),
    f"A: {NO_ARRAY}": lambda: weat(*SETS[:2], RAGGED, SETS[3]),
    f"B: {NO_ARRAY}": lambda: permutation_test(*SETS[:3], RAGGED),
    f"X, word 0: {NO_ARRAY}": lambda: seat([RAGGED], *SENTENCES[1:]),
    "X: of type object. Give (n, d) numbers": lambda: effect_size(None, *SETS[1:]),
    "Y: of type <U3. Give (n, d) numbers": lambda: weat(SETS[0], "abc", *SETS[2:]),
    "embeddings['x1']: no array": lambda: measure({**CONTEXTS, "x1": RAGGED}),
    "embeddings['x1']: of type object": lambda: measure({**CONTEXTS, "x1": None}),
    "embeddings: of type list. Give a dict such as": lambda: measure(list(CONTEXTS.values())),
    "draws: no array": lambda: measure(draws=[[1, 2], [3]]),
    "targets: 3 sets. Give (X, Y), two lists of words such as": lambda: measure(targets=(X, Y, A)),
    "targets: 'ab'. Give (X, Y), two lists of words": lambda: measure(targets="ab"),
    "targets: None. Give (X, Y)": lambda: measure(targets=None),
    "targets, X: 'abc'. Give a list of words, such as ['rose', 'lily'].": lambda: measure(targets=("abc", "def")),
    "targets, Y: 3. Give a list of words": lambda: measure(targets=(X, 3)),
    "targets, Y: ['y1', 2]. Give at least one word": lambda: measure(targets=(X, ["y1", 2])),
    "X, Y: 'x2' is in both sets": lambda: measure(targets=(X, ["y1", "x2"])),
    "A, B: 'a1' is in both sets": lambda: measure(attributes=(A, ["b1", "a1"])),
    "attributes, B: 'b'. Give a list of words": lambda: measure(attributes=(A, "b")),
    "X: None. Give a list with one (n_items, d) array": lambda: seat(None, *SENTENCES[1:]),
    "X: an empty set": lambda: seat([], *SENTENCES[1:]),
    "X, word 0: an array of shape (). Give (n, d)": lambda: seat([1.0, 2.0], *SENTENCES[1:]),
    "X: an array of shape (0, 4)": lambda: effect_size(SETS[0][:0], *SETS[1:]),
    "Y: an array of shape (4,)": lambda: effect_size(SETS[0], SETS[1][0], *SETS[2:]),
    "A: row 1 has NaN or infinity": lambda: effect_size(*SETS[:2], SETS[2] * [[1], [np.inf], [1]], SETS[3]),
    "B: row 2 is a zero vector": lambda: effect_size(*SETS[:3], SETS[3] * [[1], [1], [0]]),
    "B: vectors of 3 dimensions, but X has 4": lambda: effect_size(*SETS[:3], SETS[3][:, :3]),
    "std: 'ddof1' is not known. Write 'union_ddof1' or 'union_ddof0'": lambda: effect_size(*SETS, std="ddof1"),
    "'pooled' needs three words": lambda: effect_size(SETS[0][:1], SETS[1][:1], *SETS[2:], std="pooled"),
    "x: number 1 is nan": lambda: effect_size_of_scores([1.0, np.nan], [1.0]),
    "Y, word 1: vectors of 3 dimensions": lambda: seat(SENTENCES[0], [SENTENCES[1][0], np.eye(3)], *SENTENCES[2:]),
    "A, word 0: row 0 has NaN": lambda: seat(*SENTENCES[:2], [np.full((1, 4), np.nan)], SENTENCES[3]),
    "B, word 0: row 1 is a zero vector": lambda: seat(*SENTENCES[:3], [np.eye(4)[:2] * [[1], [0]]], average="vectors"),
    "B, word 0: row 0 is a zero vector": lambda: seat(
        *SENTENCES[:3], [np.outer([1, -1], np.ones(4))], average="vectors"
    ),
    "embeddings: no vectors of 'z'": lambda: measure(targets=(X, ["z"])),
    "embeddings['x1']: an array of shape (0, 4)": lambda: measure({**CONTEXTS, "x1": np.ones((0, 4))}),
    "embeddings['y1']: vectors of 3 dimensions, but": lambda: measure({**CONTEXTS, "y1": np.ones((2, 3))}),
    "embeddings['y1']: row 0 has NaN": lambda: measure({**CONTEXTS, "y1": np.full((2, 4), np.nan)}),
    "targets, Y: []. Give at least one word": lambda: measure(targets=(X, [])),
    "X, A: 'x1' is in both sets": lambda: measure(attributes=([*A, "x1"], B)),
    "variance: 'Hedges' is not known. Write 'association' or 'hedges'": lambda: measure(variance="Hedges"),
    "replacement: 'no'": lambda: measure(replacement="no"),
    "shape (4, 9). Give integers, (n_samples, 10)": lambda: measure(draws=np.zeros((4, 9), int)),
    "draws: an array of float64": lambda: measure(draws=np.zeros((4, 10))),
    "draws: column 0 ('x1') has numbers beyond its contexts, 0 to 5": lambda: measure(draws=np.full((4, 10), 6)),
    "draws: column 0 ('x1') has": lambda: measure(draws=np.full((4, 10), -1)),
    "in draw 0": lambda: measure(
        {**CONTEXTS, "a": CONTEXTS["b"]}, attributes=(["a"], ["b"]), draws=np.zeros((3, 8), int)
    ),
    "unit: 'token' is not known. Write 'word' or 'sentence'": lambda: seat(*SENTENCES, unit="token"),
    "average: 'both' is not known": lambda: seat(*SENTENCES, average="both"),
    "std: ['pooled'] is not known": lambda: effect_size(*SETS, std=["pooled"]),
    "tau2: 'x' is not known. Write 'dl' or 'pm' or 'reml'": lambda: combine([1, 2], [1, 1], tau2="x"),
    "effects: no array": lambda: combine([1, [2]], [1, 1]),
    "associations.band: 'x'. Write a number greater than 0": lambda: contexts_enough([1, 2], "x"),
    "replacement: None is not known": lambda: draw_contexts([3], 5, 1, None),
}


@pytest.mark.parametrize("message", TABLE)
def test_bad_input(message: str) -> None:
    with pytest.raises(InputError) as caught:
        TABLE[message]()
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [2.5, "5", None, True, float("nan"), 0])
def test_counts_are_whole_numbers(value: Any) -> None:
    """Also where nothing is drawn, because the test is exact."""
    calls: list[Callable[[], object]] = [
        lambda: measure(n_samples=value),
        lambda: permutation_test(*SETS, n_resamples=value),
        lambda: weat(*SETS, n_resamples=value),
        lambda: seat(*SENTENCES, n_resamples=value),
    ]
    for call in calls:
        with pytest.raises(InputError, match=WHOLE):
            call()


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    assert measure(n_samples=np.int64(4), threads=np.int32(1)).effect_sizes.shape == (4,)
    assert weat(*SETS, n_resamples=np.int16(9)).test.exact


@pytest.mark.parametrize("value", [-1, "seed", 2.5, True])
def test_seeds(value: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: measure(rng=value),
        lambda: weat(*SETS, rng=value),
        lambda: seat(*SENTENCES, rng=value),
    ]
    for call in calls:
        with pytest.raises(InputError, match="Give a seed, a whole number of at least 0"):
            call()


def test_a_word_twice_in_one_set_counts_twice_with_given_draws() -> None:
    twice = measure(attributes=(["a1", "a1", "a2"], B), draws=np.zeros((1, 11), dtype=int))
    vectors = [[CONTEXTS[word][0] for word in words] for words in (X, Y, ["a1", "a1", "a2"], B)]
    assert twice.effect_sizes[0] == pytest.approx(effect_size(*vectors), rel=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize(
    "p", [[0.5, -0.01], [0.5, 1.01], [0.5, np.inf], ["a"], [None, "a"], {"a": 0.1}, None, 0.1, [[0.1]]]
)
def test_p_values(adjust: Callable[[Any], object], p: Any) -> None:
    with pytest.raises(InputError, match=r"p: .* Give \(n,\) p-values.*, NaN for those that are missing"):
        adjust(p)


def test_none_is_a_missing_p() -> None:
    assert np.isnan(holm([0.02, None, 0.5])).tolist() == [False, True, False]
    assert holm([]).shape == (0,)


def test_tensors_that_numpy_cannot_read() -> None:
    import torch  # here, since no other test of associations waits for it

    plain = torch.from_numpy(SETS[0])
    for tensor in (plain.clone().requires_grad_(), plain.bfloat16()):
        with pytest.raises(InputError, match=r"X: no array can be made of it \(Tensor\)"):
            effect_size(tensor, *SETS[1:])
    assert effect_size(plain, *SETS[1:]) == effect_size(*SETS)
