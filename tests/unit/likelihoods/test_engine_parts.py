"""Queries in parts: each is answered, in order, and what is known is not asked for again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_scorer import PlantedScorer

from prasanga.base.errors import InputError
from prasanga.likelihoods import engine
from prasanga.likelihoods.engine import Query, in_parts
from prasanga.likelihoods.log_probability import LogProbabilityItem, score_items, score_log_probability

TEXT = "বাবা লাল গোলাপ"
ITEM = LogProbabilityItem(TEXT, (0, 4), (9, 14))


class Telling:
    """Answers a query by a sum over it, and notes what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[Query]] = []

    def __call__(self, queries: Sequence[Query]) -> list[NDArray[np.float64]]:
        self.calls.append(list(queries))
        return [answer(query) for query in queries]


def answer(query: Query) -> NDArray[np.float64]:
    whole = sum(n * piece for n, piece in enumerate(query.ids, 1)) + 1000 * sum(query.decoder_ids)
    return np.array(
        [-float(whole + place + target / 7) for place, target in zip(query.positions, query.targets, strict=True)]
    )


def some_queries(count: int, different: int) -> list[Query]:
    rng = np.random.default_rng(2)
    made = [
        Query(tuple(rng.integers(5, 90, size=6).tolist()), (1, 3), (int(n), 7), (2,) * int(n % 2))
        for n in range(different)
    ]
    return [made[int(place)] for place in rng.integers(different, size=count)]


@pytest.mark.parametrize("waiting", [1, 20, 10_000])
@pytest.mark.parametrize("remembered", [0, 8, 10_000])
def test_every_query_gets_its_answer(monkeypatch: pytest.MonkeyPatch, waiting: int, remembered: int) -> None:
    monkeypatch.setattr(engine, "WAITING", waiting)
    monkeypatch.setattr(engine, "REMEMBERED", remembered)
    queries = some_queries(100, 12)
    found = list(in_parts(Telling(), iter(queries)))
    assert [values.tolist() for values in found] == [answer(query).tolist() for query in queries]


def test_a_pass_is_asked_for_in_one_part_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WAITING", 20)  # about three queries
    queries, model = some_queries(100, 12), Telling()
    list(in_parts(model, queries))
    assert len(model.calls) > 3
    times = [sum(query in call for call in model.calls) for query in set(queries)]
    assert times == [1] * 12


def test_a_pass_that_something_else_is_read_from_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WAITING", 1)
    one, other, both = (Query((5, 6, 7), (1,) * len(targets), targets) for targets in ((8,), (9,), (9, 8)))
    written = Query((5, 6, 7), (1,), (8,), (5,))
    model = Telling()
    list(in_parts(model, [one, one, other, both, written, one]))
    assert model.calls == [[one], [other], [written]]  # what is read of the third is known from the first two


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WAITING", 1)
    monkeypatch.setattr(engine, "REMEMBERED", 4)
    a, b, c = (Query((n,), (0, 0), (1, 2)) for n in (5, 6, 7))  # two log-probabilities each
    model = Telling()
    list(in_parts(model, [a, b, b, a, c, b, a, c, b]))
    # of c there is room for after a has gone, of a after b, of b after c: each leaves room for one, no more and no less
    assert model.calls == [[a], [b], [c], [a], [b]]


def planted() -> PlantedScorer:
    return PlantedScorer(["বাবা", "মা", "লাল", "গোলাপ"], lambda target, seen: -1.0 - len(target) - len(seen) / 8)


def test_items_go_through_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [LogProbabilityItem(f"{who} লাল গোলাপ", (0, len(who)), (len(who) + 5, len(who) + 10)) for who in ("বাবা", "মা")]
    whole = score_items(planted(), [*items, *items[::-1]])
    monkeypatch.setattr(engine, "WAITING", 1)
    asked: list[int] = []
    scorer = planted()
    real = scorer.log_probabilities
    monkeypatch.setattr(scorer, "log_probabilities", lambda queries, **_: asked.append(len(queries)) or real(queries))
    assert score_items(scorer, [*items, *items[::-1]]) == whole
    assert asked == [1] * 4
    assert whole[0].fill != whole[0].prior
    assert whole[0] == whole[3] != whole[1]


@pytest.mark.parametrize(
    "item",
    [
        (TEXT, [0, 4], [9, 14]),
        [TEXT, (0, 4), (9, 14)],
        (TEXT, np.array([0, 4]), (np.int64(9), np.int32(14))),
    ],
)
def test_spans_may_be_lists(item: Any) -> None:
    assert score_log_probability(planted(), [item]).equals(score_log_probability(planted(), [ITEM]))


@pytest.mark.parametrize(
    "item",
    [
        (TEXT, (0, 4)),
        (TEXT, (0.0, 4.0), (9, 14)),
        (TEXT, (0, 4, 5), (9, 14)),
        (TEXT, (False, True), (9, 14)),
        (TEXT, (0, None), (9, 14)),
        (TEXT, 4, (9, 14)),
        (None, (0, 4), (9, 14)),
        7,
    ],
)
def test_what_is_no_item_is_refused(item: Any) -> None:
    with pytest.raises(InputError, match=r"item 1: .* is no sentence with two words"):
        score_log_probability(planted(), [ITEM, item])
