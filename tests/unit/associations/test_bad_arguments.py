"""What is easily given by mistake in a notebook is refused by name: with what was found, and what to give."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from prasanga.associations import (
    Cosines,
    TestSettings,
    association_scores,
    benjamini_hochberg,
    ceat,
    combine,
    contexts_enough,
    convergence,
    difference_interval,
    draw_contexts,
    draw_resampling,
    effect_size,
    effect_size_of_scores,
    holm,
    interval,
    named_draws,
    permutation_test,
    permutation_test_of_scores,
    sc_weat,
    seat,
    shuffled_effects,
    smallest_effect_of_sizes,
    weat,
)
from prasanga.base.errors import InputError

RNG = np.random.default_rng(1)
X, Y, A, B = ["x1", "x2", "x3"], ["y1", "y2", "y3"], ["a1", "a2"], ["b1", "b2"]
TARGETS, ATTRIBUTES = (X, Y), (A, B)
CONTEXTS = {word: RNG.normal(size=(6, 4)) for word in [*X, *Y, *A, *B, *"abcdef"]}
SETS = [RNG.normal(size=(3, 4)) for _ in "XYAB"]
SENTENCES = [[RNG.normal(size=(2, 4)) for _ in range(3)] for _ in "XYAB"]
COSINES = Cosines.of_contexts(CONTEXTS, TARGETS, ATTRIBUTES, n_draws=8, rng=1)
RESAMPLING = draw_resampling((X, Y, A, B), 8, n_resamples=2, seed=1, category="c")
RAGGED = [[1.0, 2, 3, 4], [1.0, 2]]
UNEQUAL = "row 0 is 4 long, row 1 is 2 long"
MIXED = [1, [2]]
ONE_AND_MANY = "row 0 is a single number, row 1 is 1 long"


def measure(targets: Any = TARGETS, attributes: Any = ATTRIBUTES, embeddings: Any = CONTEXTS, **options: Any) -> Any:
    return ceat(embeddings, targets, attributes, **{"n_samples": 3, "rng": 1, **options})


def refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: effect_size(RAGGED, *SETS[1:]), f"X: {UNEQUAL}. Give (n, d) numbers"),
        (lambda: weat(*SETS[:2], RAGGED, SETS[3]), f"A: {UNEQUAL}"),
        (lambda: permutation_test(*SETS[:3], RAGGED), f"B: {UNEQUAL}"),
        (lambda: association_scores(RAGGED, *SETS[:2]), f"W: {UNEQUAL}"),
        (lambda: sc_weat(SETS[0], RAGGED, SETS[1]), f"A: {UNEQUAL}"),
        (lambda: seat([RAGGED], *SENTENCES[1:]), f"X, word 0: {UNEQUAL}"),
        (lambda: Cosines.of_vectors(SENTENCES[0], [RAGGED], *SENTENCES[2:]), f"Y, word 0: {UNEQUAL}"),
        (lambda: measure(embeddings={**CONTEXTS, "x1": RAGGED}), f"embeddings['x1']: {UNEQUAL}"),
        (lambda: measure(draws=[[1, 2], [3]]), "draws: row 0 is 2 long, row 1 is 1 long. Give (n_samples, 10)"),
        (lambda: effect_size_of_scores(MIXED, [1, 2]), f"x: {ONE_AND_MANY}. Give (n,) numbers"),
        (lambda: permutation_test_of_scores([1, 2], MIXED), f"y: {ONE_AND_MANY}"),
        (lambda: combine(MIXED, [1, 1]), f"effects: {ONE_AND_MANY}"),
        (lambda: convergence([1, 1], MIXED), f"variances: {ONE_AND_MANY}"),
        (lambda: contexts_enough(MIXED, 0.1), f"effects: {ONE_AND_MANY}"),
        (lambda: holm(MIXED), f"p: {ONE_AND_MANY}"),
        (lambda: benjamini_hochberg(MIXED), f"p: {ONE_AND_MANY}"),
        (lambda: COSINES.effects(RAGGED), f"target_counts: {UNEQUAL}. Give (n_replicates, 6) numbers"),
        (lambda: interval(COSINES, RESAMPLING, MIXED), f"replicates: {ONE_AND_MANY}"),
        (lambda: difference_interval(MIXED, [1, 2], 0, 0), f"replicates_1: {ONE_AND_MANY}"),
        (lambda: Cosines(RAGGED, [0, 1], [0, 1], 1, 1, 1, 1), f"values: {UNEQUAL}"),
    ],
)
def test_unequal_rows(call: Callable[[], object], message: str) -> None:
    refused(call, message)


@pytest.mark.parametrize("value", [2.5, "5", None, True, float("nan"), 0])
def test_counts_are_whole_numbers(value: Any) -> None:
    """Also where nothing is drawn, because the test is exact."""
    say = f"{value!r}. Write a whole number of at least 1."
    refused(lambda: measure(n_samples=value), f"n_samples: {say}")
    refused(lambda: draw_contexts([3], value), f"n_samples: {say}")
    refused(lambda: permutation_test(*SETS, n_resamples=value), f"n_resamples: {say}")
    refused(lambda: weat(*SETS, n_resamples=value), f"n_resamples: {say}")
    refused(lambda: seat(*SENTENCES, n_resamples=value), f"n_resamples: {say}")
    refused(lambda: measure().test_stimuli(n_resamples=value), f"n_resamples: {say}")
    refused(lambda: shuffled_effects(COSINES, value), f"n_shuffles: {say}")
    refused(lambda: Cosines.of_contexts(CONTEXTS, TARGETS, ATTRIBUTES, n_draws=value), f"n_draws: {say}")
    refused(lambda: draw_resampling((X, Y, A, B), 3, n_resamples=value, seed=1, category="c"), f"n_resamples: {say}")
    if value is not None:  # as many as there are cores
        refused(lambda: measure(threads=value), f"threads: {say}")


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    assert measure(n_samples=np.int64(4), threads=np.int32(1)).effect_sizes.shape == (4,)
    assert draw_contexts(np.array([3, 4]), np.uint8(5), 1).shape == (5, 2)
    assert weat(*SETS, n_resamples=np.int16(9)).test.exact


@pytest.mark.parametrize("value", [-1, "seed", 2.5, True])
def test_seeds(value: Any) -> None:
    say = f"rng: {value!r}. Give a seed, a whole number of at least 0, or a numpy.random.Generator."
    refused(lambda: measure(rng=value), say)
    refused(lambda: measure().test_stimuli(rng=value), say)
    refused(lambda: weat(*SETS, rng=value), say)
    refused(lambda: seat(*SENTENCES, rng=value), say)
    refused(lambda: sc_weat(*SETS[:3], rng=value), say)
    refused(lambda: draw_contexts([3], 5, value), say)
    refused(lambda: shuffled_effects(COSINES, 5, value), say)
    refused(lambda: Cosines.of_contexts(CONTEXTS, TARGETS, ATTRIBUTES, rng=value), say)


@pytest.mark.parametrize(
    ("side", "sets", "message"),
    [
        ("targets", list("abc"), "targets: 3 sets. Give (X, Y), two lists of words."),
        ("targets", (X, Y, A), "targets: 3 sets. Give (X, Y)"),
        ("targets", "ab", "targets: 'ab'. Give (X, Y), two lists of words."),
        ("targets", None, "targets: None. Give (X, Y)"),
        ("targets", {"x": X, "y": Y}, "targets: a dict. Give (X, Y)"),
        ("targets", ("abc", "def"), "targets, X: 'abc'. Give a list of words, such as ['rose', 'lily']."),
        ("targets", (X, 3), "targets, Y: 3. Give a list of words"),
        ("targets", (X, ["y1", 2]), "targets, Y: a word is 2. Give a list of words"),
        ("targets", (X, ["y1", "x2"]), "targets: 'x2' is in X and in Y"),
        ("attributes", "ab", "attributes: 'ab'. Give (A, B), two lists of words."),
        ("attributes", (A, "b"), "attributes, B: 'b'. Give a list of words"),
        ("attributes", (A, ["b1", "a1"]), "attributes: 'a1' is in A and in B"),
        ("embeddings", list(CONTEXTS.values()), "embeddings: of type list. Give a mapping word -> vectors"),
        ("embeddings", {**CONTEXTS, "x1": None}, "embeddings['x1']: None. Give (n, d) numbers"),
    ],
)
def test_sets_of_words(side: str, sets: Any, message: str) -> None:
    refused(lambda: measure(**{side: sets}), message)
    arguments: dict[str, Any] = {"embeddings": CONTEXTS, "targets": TARGETS, "attributes": ATTRIBUTES, side: sets}
    refused(lambda: Cosines.of_contexts(**arguments), message)


def test_a_word_twice_in_one_set_counts_twice_with_given_draws_and_else_once() -> None:
    twice = measure(attributes=(["a1", "a1", "a2"], B), draws=np.zeros((1, 11), dtype=int))
    vectors = [[CONTEXTS[word][0] for word in words] for words in (X, Y, ["a1", "a1", "a2"], B)]
    assert twice.effect_sizes[0] == pytest.approx(effect_size(*vectors), rel=1e-12)
    listed = CONTEXTS, (["x1", "x1"], Y), ATTRIBUTES
    assert [Cosines.of_contexts(*listed, as_listed=as_listed).n_x for as_listed in (True, False)] == [2, 1]


@pytest.mark.parametrize(
    ("vectors", "found"),
    [
        (None, "None"),
        ({"rose": [1, 2]}, "a dict"),
        ((row for row in SETS[0]), "a generator"),
        ("abc", "'abc'"),
        ({1, 2}, "a set"),
    ],
)
def test_what_is_no_array_of_vectors(vectors: Any, found: str) -> None:
    refused(lambda: effect_size(vectors, *SETS[1:]), f"X: {found}. Give (n, d) numbers: one vector a row")
    refused(lambda: sc_weat(SETS[0], SETS[1], vectors), f"B: {found}. Give (n, d) numbers")
    refused(lambda: Cosines.of_vectors([vectors], *SENTENCES[1:]), f"X, word 0: {found}. Give (n, d) numbers")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (None, "X: None. Give a list with one (n_items, d) array"),
        (3, "X: 3. Give a list"),
        ("ab", "X: 'ab'. Give a list"),
        ({"rose": SETS[0]}, "X: a dict. Give a list"),
        ([], "X: a set without words"),
        ([None], "X, word 0: None. Give (n, d) numbers"),
        ([1.0, 2.0], "X, word 0: an array of shape (). Give (n, d)"),
    ],
)
def test_sets_of_arrays(words: Any, message: str) -> None:
    refused(lambda: seat(words, *SENTENCES[1:]), message)
    refused(lambda: Cosines.of_vectors(words, *SENTENCES[1:]), message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"values": np.zeros((3, 2))},
            "values: float64, shape (3, 2). Give (n_draws, n_target_items,",
        ),
        ({"values": np.zeros((3, 2))}, "`Cosines.of_vectors` and `Cosines.of_contexts` make them"),
        ({"values": [[[0.1, np.nan]] * 3]}, "values: nan at (0, 0, 1), and a cosine is a number from -1 to 1"),
        ({"values": [[[0.1, 0.2]] * 2 + [[1.5, 0]]]}, "values: 1.5 at (0, 2, 0)"),
        ({"values": [[[0.1, -1.01]] * 3]}, "values: -1.01 at (0, 0, 1)"),
        ({"values": None}, "values: None. Give (n_draws"),
        ({"targets": None}, "targets: None. Give (n_items,) numbers of words"),
        ({"targets": ["a", "b", "c"]}, "targets: the words of 3 items are ['a', 'b', 'c']"),
        ({"targets": [0.0, 1.0, 2.0]}, "targets: the words of 3 items are [0.0, 1.0, 2.0]"),
        ({"n_x": 2.0}, "n_x: 2.0. Write a whole number of at least 1"),
        ({"n_b": 0}, "n_b: 0. Write a whole number of at least 1"),
    ],
)
def test_cosines(changed: dict[str, Any], message: str) -> None:
    good = {"values": np.zeros((1, 3, 2)), "targets": [0, 1, 2], "attributes": [0, 1]}
    sizes = {"n_x": 2, "n_y": 1, "n_a": 1, "n_b": 1}
    refused(lambda: Cosines(**{**good, **sizes, **changed}), message)


def test_cosines_may_be_lists_and_beyond_1_by_rounding() -> None:
    cosines = Cosines([[[1 + 1e-7, 0.5], [0.25, 0.125], [0, -1]]], [0, 1, 2], [0, 1], 2, 1, 1, 1)
    assert cosines.word_scores() == pytest.approx([0.5, 0.125, 1], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_contexts("abc", 5), "n_contexts: 'abc'. Give a list, the number of contexts of each word"),
        (lambda: draw_contexts(3, 5), "n_contexts: 3. Give a list"),
        (lambda: draw_contexts([3.5], 5), "n_contexts: word 0 has 3.5 contexts. Give whole numbers"),
        (lambda: draw_contexts([3], 5, 1, None), "replacement: None is not known"),
        (
            lambda: named_draws(["a", "b", "c"], [3, 3], 5, seed=1, names=()),
            "n_contexts: 2 numbers for 3 words. Give one for each word.",
        ),
        (lambda: named_draws("ab", [3, 3], 5, seed=1, names=()), "words: 'ab'. Give a list of words"),
        (lambda: named_draws(["a"], [3], 5, seed="x", names=()), "seed: 'x'. Write a whole number of at least 0."),
    ],
)
def test_draws(call: Callable[[], object], message: str) -> None:
    refused(call, message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"words": "abcd"}, "words: 'abcd'. Give the lists of words of X, Y, A and B."),
        ({"words": (X, Y, A, "b")}, "words: 'b'. Give a list of words"),
        ({"seed": "x"}, "seed: 'x'. Write a whole number of at least 0."),
        ({"resample_attributes": "no"}, "resample_attributes: 'no'. Write true or false"),
    ],
)
def test_resampling(changed: dict[str, Any], message: str) -> None:
    good = {"words": (X, Y, A, B), "n_draws": 3, "n_resamples": 2, "seed": 1, "category": "c"}
    refused(lambda: draw_resampling(**{**good, **changed}), message)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize(
    ("p", "message"),
    [
        (["a"], "p: 'a' is no p-value. Give (n,) p-values from 0 to 1"),
        (["0.5"], "p: '0.5' is no p-value"),
        ([None, "a"], "p: 'a' is no p-value"),
        ({"a": 0.1}, "p: a dict. Give (n,) p-values"),
        ({0.1}, "p: a set"),
        (None, "p: None"),
    ],
)
def test_p_values(adjust: Callable[[Any], object], p: Any, message: str) -> None:
    refused(lambda: adjust(p), message)


def test_none_is_a_missing_p() -> None:
    assert np.isnan(holm([0.02, None, 0.5])).tolist() == [False, True, False]
    assert holm([]).shape == (0,)


@pytest.mark.parametrize("tau2", ["dl", "pm", "reml"])
def test_effects_too_large_to_combine(tau2: str) -> None:
    refused(lambda: combine([1e200, -1e200], [1, 1], tau2=tau2), "effects: number 0 is 1e+200, more than 1e+50 times")
    refused(lambda: combine([1, -1e300], [1e-300, 1e-300], tau2=tau2), "effects: number 1 is -1e+300")
    refused(lambda: combine([0, 1], [1, 1e-101], tau2=tau2), "variances: the smallest is less than 1e-100")
    assert np.isfinite(combine([1e49, -1e49], [1, 1e-99], tau2=tau2).tau2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_x": "a"}, "n_x: 'a'. Write a whole number of at least 1."),
        ({"n_x": 2.5}, "n_x: 2.5. Write a whole number"),
        ({"n_y": True}, "n_y: True. Write a whole number"),
        ({"n_x": 1, "n_y": 1}, "n_x, n_y: 1 and 1 words"),
        ({"spread_ratio": "x"}, "spread_ratio: 'x'. Write a number greater than 0."),
        ({"alpha": "x"}, "alpha: 'x'. Write a number between 0 and 1."),
        ({"power": None}, "power: None. Write a number between 0 and 1."),
    ],
)
def test_sizes_of_a_planned_study(changed: dict[str, Any], message: str) -> None:
    refused(lambda: smallest_effect_of_sizes(**{"n_x": 8, "n_y": 8, **changed}), message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"resample_attributes": "yes"}, "associations.resample_attributes: 'yes'. Write true or false"),
        ({"n_resamples": 1}, "associations.n_resamples: 1. Write 0 for no interval, or at least 2"),
        ({"std": ["pooled"]}, "associations.std: ['pooled'] is not allowed. Write union_ddof1"),
    ],
)
def test_settings(changed: dict[str, Any], message: str) -> None:
    refused(lambda: TestSettings(**changed), message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: contexts_enough([1, 2], "x"), "associations.band: 'x'. Write a number greater than 0"),
        (lambda: convergence([1, 2], [1, 1], sizes=["a"]), "sizes: ['a', 2]. Give whole numbers that rise"),
        (lambda: interval(COSINES, RESAMPLING, [1, 2], level="x"), "level: 'x'. Write a number between 0 and 1"),
        (lambda: COSINES.effects([["a"]]), "target_counts: of type <U1. Give (n_replicates, 6) numbers"),
        (lambda: COSINES.effects(std=None), "std: None is not known"),
        (lambda: effect_size(*SETS, std=["pooled"]), "std: ['pooled'] is no convention"),
    ],
)
def test_other_options(call: Callable[[], object], message: str) -> None:
    refused(call, message)


def test_tensors_that_numpy_cannot_read() -> None:
    import torch  # here, since no other test of associations waits for it

    plain = torch.from_numpy(SETS[0])
    grad, half = plain.clone().requires_grad_(), plain.bfloat16()

    def each_refuses(tensor: Any, kind: str) -> None:
        say = f"a torch tensor ({kind}) that numpy cannot read. Write .detach().float() behind it"
        refused(lambda: effect_size(tensor, *SETS[1:]), f"X: {say}")
        refused(lambda: effect_size(list(tensor), *SETS[1:]), f"X: {say}")
        refused(lambda: seat([tensor], *SENTENCES[1:]), f"X, word 0: {say}")
        refused(lambda: measure(embeddings={**CONTEXTS, "x1": tensor}), f"['x1']: {say}")
        refused(lambda: effect_size_of_scores(tensor[0], [1, 2]), f"x: {say}")

    each_refuses(grad, "torch.float64, on cpu, with gradients")
    each_refuses(half, "torch.bfloat16, on cpu")
    assert effect_size(grad.detach(), *SETS[1:]) == effect_size(*SETS)
    assert effect_size(half.detach().float(), *SETS[1:]) == pytest.approx(effect_size(*SETS), abs=0.1)


def test_torch_is_not_imported_for_it() -> None:
    code = (
        "import sys; from prasanga.associations import effect_size; from prasanga.base.errors import InputError\n"
        "try: effect_size([[1.0], [2.0, 3.0]], [[1.0]], [[1.0]], [[1.0]])\n"
        "except InputError: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
