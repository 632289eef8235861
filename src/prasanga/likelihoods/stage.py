"""The stage's work on one set of pairs: what was scored before is used again, and only the rest loads the model."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.documents import read_document
from prasanga.likelihoods.kept import open_scores, score_missing
from prasanga.likelihoods.opening import open_scorer
from prasanga.models.options import ModelOptions

_LOG = logging.getLogger(__name__)


def score_set(
    pairs: pl.DataFrame,
    name: str,
    *,
    settings: Mapping[str, Any],
    model: str | Path,
    kept: str | Path,
    threads: int,
    cards: int = 1,
) -> pl.DataFrame:
    """Return the scores of a set of pairs by one model.

    Args:
        pairs: the set (`prasanga.pairs.read_pairs`).
        name: of the set.
        settings: plain values: `which` model and how it is loaded (`open_scorer`), `measures` by kind of model,
            `reduction`, `pieces`, `punctuation`, `unknown`, `normalization` and `language_codes` by language, and
            `name`, what tables call the model.
        model: the report on the model (`prasanga.models.check_model`).
        kept: folder of all scores that are kept.
        threads: of the model on a CPU.
        cards: that the model is spread over; 0 for the processor.

    Returns:
        As `prasanga.likelihoods.score_pairs`, with the column `set`.

    Raises:
        InputError: as `score_pairs`.
    """
    asked: list[int] = []

    def score(missing: pl.DataFrame) -> pl.DataFrame:
        from prasanga.likelihoods.pair_scores import score_pairs

        asked.append(len(missing))
        _LOG.info("%s, %s: %d of %d pairs are to be scored", name, settings["name"], len(missing), len(pairs))
        measures = settings["measures"]
        aula = measures.get("encoder") == "aula"
        scorer = open_scorer(settings["which"], model, threads=threads, cards=cards, attentions=aula)
        return score_pairs(
            scorer,
            missing,
            measure=measures.get(scorer.kind, "causal"),
            **{key: settings[key] for key in ("reduction", "pieces", "punctuation", "unknown")},
            normalization=settings["normalization"],
            language_codes=settings["language_codes"],
            name=settings["name"],
        )

    # Where the study leaves the precision open, the device decides; kept scores of two precisions are never mixed.
    dtype = settings["which"]["dtype"]
    if dtype == "auto":
        from prasanga.models.devices import resolve_dtype

        dtype = resolve_dtype(dtype, ModelOptions(cards=cards).device)
    identity = read_document(model)["identity"]
    scores = score_missing(pairs, open_scores(kept, settings, identity, dtype), score)
    counts = scores["left_out"].drop_nulls().value_counts(sort=True).rows()
    left_out = ", ".join(f"{reason} {count}" for reason, count in counts) or "none"
    kept_before = len(pairs) - sum(asked)
    _LOG.info(
        "%s, %s: %d pairs; %d known before; left out: %s", name, settings["name"], len(pairs), kept_before, left_out
    )
    return scores.with_columns(set=pl.lit(name))
