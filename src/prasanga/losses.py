"""Why numbers are missing: words that an estimate does without, sets that are too small, effects that do not exist.

An estimate has two columns. `reason` is the code of why it has no effect size. `lost` lists each word that is left out
or counted in part, and, where there is no effect size, what is needed for one. The sentences of tables and of the page
are made here, from `lost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import polars as pl


class Reason(StrEnum):
    """Why a word, a set or an effect size is missing."""

    NO_CONTEXTS = "no_contexts"
    NO_COMMON_CONTEXTS = "no_common_contexts"
    NO_VECTOR = "no_vector"
    NO_SCORE = "no_score"
    IN_PART = "in_part"
    """The word counts, with a part of its sentences."""
    REPEATED = "repeated"
    """The word counts once, although a set lists it more often."""
    TOO_FEW_WORDS = "too_few_words"
    EQUAL_SCORES = "equal_scores"


COUNTED = {Reason.IN_PART, Reason.REPEATED}
"""Reasons of words that count nevertheless."""


class Loss(NamedTuple):
    """Something that an estimate lost.

    Attributes:
        set: name of the set; None of an effect size that does not exist.
        word: None where it is not about one word, but about why there is no effect size.
        reason: the code.
        detail: the reason in words, with its numbers.
    """

    set: str | None
    word: str | None
    reason: Reason
    detail: str

    def columns(self) -> dict[str, str | None]:
        """Return the loss as the tables have it."""
        return {"set": self.set, "word": self.word, "reason": self.reason.value, "detail": self.detail}


def loss_columns(losses: Iterable[Loss]) -> dict[str, Any]:
    """Return the columns `reason` and `lost`."""
    listed = list(losses)
    reason = next((loss.reason.value for loss in listed if loss.word is None), None)
    return {"reason": reason, "lost": [loss.columns() for loss in listed]}


def group_lost_words(
    lost: Iterable[Mapping[str, Any]] | None, *, without: Iterable[Reason] = ()
) -> dict[str, list[str]]:
    """Return the lost words by the detail of their reason; `without` has reasons that do not matter."""
    words: dict[str, list[str]] = {}
    for loss in lost or ():
        if loss["word"] is not None and loss["reason"] not in set(without):
            words.setdefault(loss["detail"], []).append(loss["word"])
    return words


def describe_missing_effect(lost: Iterable[Mapping[str, Any]] | None) -> str:
    """Return why there is no effect size; empty if nothing says it."""
    needed = [loss for loss in lost or () if loss["word"] is None]
    return "; ".join(" ".join(filter(None, (loss["set"], loss["detail"]))) for loss in needed)


def describe_losses(lost: Iterable[Mapping[str, Any]] | None) -> str:
    """Return all losses of an estimate in one line."""
    listed = list(lost or ())
    words = [f"{loss['word']}: {loss['detail']}" for loss in listed if loss["word"] is not None]
    missing = describe_missing_effect(listed)
    return "; ".join([*words, *([f"not computed: {missing}"] if missing else [])])


def join_losses(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of estimates with `lost` as one text, for CSV."""
    texts = [describe_losses(lost) for lost in table["lost"].to_list()]
    return table.with_columns(lost=pl.Series(texts, dtype=pl.String))
