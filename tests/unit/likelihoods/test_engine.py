"""The engine: what is asked twice runs once, batches keep their bounds, and memory that runs out halves them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scoring_models import build

from prasanga.base.errors import InputError
from prasanga.likelihoods import engine, load_scorer
from prasanga.likelihoods.engine import Query, Scorer, answer_texts
from prasanga.models import heads


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("bert", tmp_path_factory.mktemp("bert"), positions=4096)


def random_queries(seed: int, count: int, vocabulary: int, longest: int = 40) -> list[Query]:
    """Queries of random pieces; every third is that of an earlier pass, read elsewhere."""
    rng = np.random.default_rng(seed)
    queries: list[Query] = []
    for number in range(count):
        if number % 3 == 2:
            ids = queries[int(rng.integers(len(queries)))].ids
        else:
            ids = tuple(rng.integers(5, vocabulary, size=int(rng.integers(3, longest))).tolist())
        places = rng.choice(len(ids), size=int(rng.integers(1, 4)), replace=len(ids) < 3)
        targets = rng.integers(0, vocabulary, size=len(places))
        queries.append(Query(ids, tuple(places.tolist()), tuple(targets.tolist())))
    return queries


def plainly(scorer: Scorer, queries: list[Query]) -> list[list[float]]:
    """Each query by itself: the whole head on the whole text."""
    found = []
    for query in queries:
        with torch.inference_mode():
            states = scorer.model.states([query.ids])[0]
            table = torch.log_softmax(scorer.model.logits(states).double(), dim=-1)
        found.append(
            [table[place, target].item() for place, target in zip(query.positions, query.targets, strict=True)]
        )
    return found


@pytest.mark.parametrize("budget", [1, 64, 4096])
@pytest.mark.parametrize("head_rows", [1, 7, 10_000])
def test_whatever_the_batches_every_query_gets_its_own_numbers(folder: Path, budget: int, head_rows: int) -> None:
    scorer = load_scorer(folder, pieces_per_batch=budget)
    scorer._head_rows = head_rows
    queries = random_queries(3, 60, scorer.model.vocabulary)
    found = scorer.log_probabilities(queries)
    for values, wanted in zip(found, plainly(scorer, queries), strict=True):
        assert values.tolist() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("waiting", [1, 100])
def test_the_queries_of_texts_are_run_as_they_are_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    monkeypatch.setattr(engine, "WAITING", waiting)
    scorer = load_scorer(folder)
    queries = random_queries(9, 34, scorer.model.vocabulary)
    made = 0

    def stream() -> Iterator[list[Query]]:
        """Two queries per text; every seventh text has none."""
        nonlocal made
        for number in range(20):
            more = [] if number % 7 == 0 else queries[made : made + 2]
            made += len(more)
            yield more

    answers = answer_texts(scorer.log_probabilities, stream(), 20, "asking")
    first = next(answers)
    assert made < 16  # and not all 40 of them
    found = [first, *answers]
    assert [number for number, _ in found] == [number for number in range(20) if number % 7]
    wanted = scorer.log_probabilities(queries)
    both = zip((values for _, each in found for values in each), wanted, strict=True)
    assert all(np.allclose(one, other, atol=1e-5) for one, other in both)


class _SmallDevice:
    """A model that has room for so many pieces, padding included, and notes every batch that it ran."""

    def __init__(self, model: Any, room: int) -> None:
        self._states, self._room = model.states, room
        self.ran: list[int] = []

    def __call__(self, ids: list[tuple[int, ...]], decoder_ids: Any = None) -> torch.Tensor:
        pieces = len(ids) * max(map(len, ids))
        if pieces > self._room:
            raise torch.OutOfMemoryError
        self.ran.append(pieces)
        return self._states(ids, decoder_ids)  # type: ignore[no-any-return]


def test_a_batch_that_does_not_fit_is_halved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = load_scorer(folder, pieces_per_batch=2000)
    queries = random_queries(11, 90, scorer.model.vocabulary)
    wanted = scorer.log_probabilities(queries)
    device = _SmallDevice(scorer.model, 150)
    # the model is frozen: what it is asked goes through its class
    monkeypatch.setattr(type(scorer.model), "states", lambda _, ids, decoder_ids=None: device(ids, decoder_ids))
    found = scorer.log_probabilities(queries)
    assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(found, wanted, strict=True))
    assert max(device.ran) <= 150
    assert len(device.ran) > 10


@pytest.mark.parametrize("budget", [None, 64])
def test_attention_runs_in_batches_of_bounded_area(
    folder: Path, monkeypatch: pytest.MonkeyPatch, budget: int | None
) -> None:
    scorer = load_scorer(folder, pieces_per_batch=budget)
    texts = [list(query.ids) for query in random_queries(13, 30, scorer.model.vocabulary)]
    texts += [[5, 6, 7, 8], [9, 10, 11]] * 5
    wanted = scorer.attention(texts)
    assert [len(weights) for weights in wanted] == [len(text) for text in texts]
    assert all(weights.sum() == pytest.approx(1, abs=1e-5) for weights in wanted)
    ran: list[tuple[int, int]] = []
    real = type(scorer.model).attention
    monkeypatch.setattr(
        type(scorer.model), "attention", lambda self, ids: ran.append((len(ids), max(map(len, ids)))) or real(self, ids)
    )
    monkeypatch.setattr(engine, "_ATTENTION_NUMBERS", 900 * scorer.model.weights_kept)
    found = scorer.attention(texts)
    assert all(np.allclose(one, other, atol=1e-6) for one, other in zip(found, wanted, strict=True))
    assert sum(rows for rows, _ in ran) == 40
    assert all(rows * length**2 <= 900 or rows == 1 for rows, length in ran)
    assert any(rows > 1 for rows, _ in ran)
    assert any(length**2 > 900 for _, length in ran)


def test_a_model_that_runs_whole_has_small_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece of a batch has a row of logits, so that 50 pieces are as many as the bound allows."""
    queries = random_queries(15, 40, 190)
    wanted = load_scorer(folder).log_probabilities(queries)
    monkeypatch.setattr(heads, "_runs_in_halves", lambda *_: False)
    monkeypatch.setitem(engine._HEAD_NUMBERS, "cpu", 190 * 50)
    scorer = load_scorer(folder)
    assert scorer.model.whole
    device = _SmallDevice(scorer.model, 50)
    monkeypatch.setattr(type(scorer.model), "states", lambda _, ids, decoder_ids=None: device(ids, decoder_ids))
    found = scorer.log_probabilities(queries)
    assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(found, wanted, strict=True))
    assert scorer._halving.too_many == float("inf")  # planned so, and not halved


def test_weights_that_are_no_numbers_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = load_scorer(folder)
    monkeypatch.setattr(type(scorer.model), "logits", lambda _, states: torch.full((len(states), 190), torch.nan))
    with pytest.raises(InputError, match=r"are not finite in float32\. .* the weights are damaged"):
        scorer.log_probabilities([Query((5, 6), (0,), (0,))])
