"""The stage's work on one set of pairs: what was scored before is used again, and only the rest loads the model."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from prasanga.base.documents import digest_of, read_document
from prasanga.base.store import Store
from prasanga.likelihoods.measures import SCORES, WEIGHTED
from prasanga.models.options import ModelOptions
from prasanga.provenance.code import fingerprint_of

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Scorer


# --------------------
# A scorer for a job, from what the config and the check of the model say of it.


def open_scorer(
    which: Mapping[str, Any],
    report: str | Path,
    *,
    threads: int,
    cards: int = 1,
    attentions: bool = False,
    twin: int | None = None,
) -> Scorer:
    """Load the model of a job; of one of the hub the commit that was looked at, wherever its branch has moved since.

    Args:
        which: plain values `model`, `revision`, `dtype`, and `options` (`prasanga.models.ModelOptions`); of the twins
            of a model also `twins`, the seeds of their weights.
        report: the report on the model (`prasanga.models.check_model`), a JSON file.
        threads: of this process.
        cards: that the model is spread over; 0 for the processor.
        attentions: whether attention weights will be asked for.
        twin: the number of the twin, where it is one.

    Raises:
        InputError: the files of a model on this machine are others than those that were looked at; as `load_scorer`.
    """
    from prasanga.likelihoods.engine import load_scorer
    from prasanga.models.devices import dtype_of_study
    from prasanga.models.identity import require_unchanged

    known, which = read_document(report), of_twin(which, twin)
    options = ModelOptions(**{**which["options"], "cards": cards})
    require_unchanged(which["model"], known["identity"], options)
    return load_scorer(
        which["model"],
        revision=known["identity"].get("commit", which["revision"]),
        dtype=dtype_of_study(which["dtype"], options.device),
        threads=threads,
        attentions=attentions,
        options=options,
    )


def twins_of(which: Mapping[str, Any], most: int) -> int | None:
    """Return how many twins a job measures: no more than there are shares, `most`; None of a model."""
    return min(len(which["twins"]), most) if "twins" in which else None


def of_twin(which: Mapping[str, Any], twin: int | None) -> Mapping[str, Any]:
    """Return which model one twin is, of those of all twins; of a model what is given."""
    if twin is None:
        return which
    plain = {key: value for key, value in which.items() if key != "twins"}
    return {**plain, "options": {**which["options"], "random_weights": which["twins"][twin]}}


# --------------------
# Scores that were computed once, used again: a pair more in a file does not score the others anew.
#
# Snakemake deletes an output before its job runs, so scores are kept in stores of their own, a folder for each key.
# The key holds the model, how it is loaded, what is asked of it, the precision, and this project's code that
# computes scores. Versions of torch, transformers and tokenizers, the device and the size of batches are not in it:
# they change the last digits, and nobody wants all scores anew for that. The versions that computed scores stand in
# the store's records.


_COMPUTING = "prasanga.likelihoods.pair_scores.score_pairs"
_OF_STUDY = ("name", "model", "revision", "files")
PAIR = ("language", "first", "second")
"""The columns of a pair that its scores depend on."""
_KINDS = {**dict.fromkeys(SCORES[:2], pa.float64()), **dict.fromkeys(SCORES[2:4], pa.int64())}
_COLUMNS = pa.schema(
    [pa.field("id", pa.string(), nullable=False), *((name, _KINDS.get(name, pa.string())) for name in SCORES)]
)


def open_scores(root: str | Path, settings: Mapping[str, Any], identity: Mapping[str, Any], dtype: str) -> Store:
    """Open the store of what is asked, of which model, and of the code that answers.

    Args:
        root: folder of all scores that are kept.
        settings: how the model is loaded and asked, plain values.
        identity: which model it is (`prasanga.models.model_identity`).
        dtype: the precision that it runs in.
    """
    code = fingerprint_of(_COMPUTING).fingerprint
    described = {"settings": dict(settings), "identity": dict(identity), "dtype": dtype, "code": code}
    # what a study calls a model and where it lies is its own affair: the identity says which model it is
    which = {name: value for name, value in settings.get("which", {}).items() if name not in _OF_STUDY}
    asked = {name: value for name, value in settings.items() if name not in _OF_STUDY} | {"which": which}
    key = digest_of([{**described, "settings": asked}, _COLUMNS.names])
    return Store(Path(root, key), key, _COLUMNS, described)


def score_missing(pairs: pl.DataFrame, store: Store, score: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Return the scores of `pairs`; those that the store has are not computed again.

    Args:
        pairs: columns `PAIR` and others.
        store: of one key.
        score: adds the columns `SCORES` to pairs.

    Returns:
        `pairs` with the columns `SCORES`, in the order given; scores that it had are replaced.
    """
    ids = pl.Series("id", [_id(*pair) for pair in pairs.select(PAIR).iter_rows()], dtype=pl.String)
    pairs = pairs.drop(SCORES, strict=False).with_columns(ids)
    different = pairs.unique("id", keep="first", maintain_order=True)
    known = store.read_table(different["id"].to_list())
    scores = pl.DataFrame(_COLUMNS.empty_table() if known is None else known)
    missing = different.join(scores, on="id", how="anti", maintain_order="left")
    if len(missing):
        computed = score(missing).select(scores.columns).cast(scores.schema)
        store.add_table(computed.to_arrow().cast(_COLUMNS), _versions())
        scores = pl.concat([scores, computed])
    return pairs.join(scores, on="id", how="left", maintain_order="left", validate="m:1").drop("id")


def _id(*pair: str) -> str:
    """Return what a pair is found by, whatever it is called and whatever set it is in: language and both sentences."""
    return hashlib.blake2b(json.dumps(pair).encode(), digest_size=16).hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("tokenizers", "torch", "transformers")}


# --------------------
# The stage's work on one set of pairs: what was scored before is used again, and only the rest loads the model.


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
        As `prasanga.likelihoods.score_pairs`, with the column `set`; of twins also `twin`, the number of the one that
        scored the pair: pairs are dealt to them in turn.

    Raises:
        InputError: as `score_pairs`.
    """
    which = settings["which"]
    if (n_twins := twins_of(which, len(pairs))) is not None:
        score_share = functools.partial(score_set, model=model, kept=kept, threads=threads, cards=cards)
        dealt = pairs.with_row_index("turn")
        scored = [
            score_share(dealt[twin::n_twins], name, settings={**settings, "which": of_twin(which, twin)})
            for twin in range(n_twins)
        ]
        numbered = (table.with_columns(twin=pl.lit(twin, pl.Int32)) for twin, table in enumerate(scored))
        return pl.concat(numbered, how="diagonal_relaxed").sort("turn").drop("turn")
    asked: list[int] = []

    def score(missing: pl.DataFrame) -> pl.DataFrame:
        from prasanga.likelihoods.pair_scores import score_pairs

        asked.append(len(missing))
        _LOG.info("%s, %s: %d of %d pairs are to be scored", name, settings["name"], len(missing), len(pairs))
        measures = settings["measures"]
        attentions = measures.get("encoder") in WEIGHTED
        scorer = open_scorer(settings["which"], model, threads=threads, cards=cards, attentions=attentions)
        return score_pairs(
            scorer,
            missing,
            measure=measures.get(scorer.kind, "causal"),
            **{key: settings[key] for key in ("reduction", "pieces", "punctuation", "unknown")},
            normalization=settings["normalization"],
            language_codes=settings["language_codes"],
            name=settings["name"],
        )

    # What the study leaves open or the processor lacks, the device decides; scores of two precisions are never mixed.
    dtype = settings["which"]["dtype"]
    if dtype != "float32":
        from prasanga.models.devices import dtype_of_study

        dtype = dtype_of_study(dtype, ModelOptions(cards=cards).device)
    identity = read_document(model)["identity"]
    scores = score_missing(pairs, open_scores(kept, settings, identity, dtype), score)
    counts = scores["left_out"].drop_nulls().value_counts(sort=True).rows()
    left_out = ", ".join(f"{reason} {count}" for reason, count in counts) or "none"
    kept_before = len(pairs) - sum(asked)
    _LOG.info(
        "%s, %s: %d pairs; %d known before; left out: %s", name, settings["name"], len(pairs), kept_before, left_out
    )
    return scores.with_columns(set=pl.lit(name), model=pl.lit(settings["name"]))
