"""The table of scored rows: pairs and sentences that were scored before are read, and only the rest loads the model.

Different rows of a set are scored in blocks of a fixed size. So memory does not grow with the set's masked copies, and
a job that was killed goes on with the block that it was at.

Snakemake deletes an output before its job runs, so scores are kept in stores of their own, a folder for each key. The
key holds the model, how it is loaded, how it is asked, the precision, and `SCORES_VERSION`. Versions of torch,
transformers and tokenizers, the device and the size of batches are not in it: they change the last digits, and nobody
wants to score everything again for that.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pyarrow as pa

from prasanga.base.io import Store, digest_of, read_document
from prasanga.models.hub import require_unchanged
from prasanga.models.packaged import ModelOptions
from prasanga.pairs.preferences import SCORES as PAIR_SCORES
from prasanga.pairs.preferences import SENTENCE_SCORES
from prasanga.schema import TABLES

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Scorer

SCORES_VERSION = 2
"""Raise this number when the code gives a pair or sentence another score, or gives it to other twins: all scores are
then computed again."""

_OF_STUDY = ("name", "model", "revision", "files")
_PAIR_CHOICES = ("reduction", "pieces", "punctuation", "unknown", "normalization", "language_codes")
_LOG = logging.getLogger(__name__)


class Job(NamedTuple):
    """What a job works with.

    Attributes:
        model: the report on the model (`prasanga.models.check_model`), a JSON file.
        kept: folder of all scores that are kept.
        threads: of the model on a CPU.
        cards: GPUs that the model is spread over; 0 for the CPU.
    """

    model: str | Path
    kept: str | Path
    threads: int
    cards: int = 1


class _Kind(NamedTuple):
    """Pairs or sentences: what their scores depend on, and how many are scored together."""

    what: str
    row: tuple[str | pl.Expr, ...]
    settings: tuple[str, ...]
    columns: pa.Schema
    block: int


_ENDS = [pl.col(role).list.get(place).alias(f"{role}_{place}") for role in ("target", "attribute") for place in (0, 1)]
_PAIR_COLUMNS = TABLES["kept_pair_scores"].arrow(PAIR_SCORES)
_SENTENCE_COLUMNS = TABLES["kept_sentence_scores"].arrow(SENTENCE_SCORES)
# The sets that are published, and the lists of this project, are one block.
PAIRS = _Kind("pairs", ("language", "first", "second"), ("which", "measures", *_PAIR_CHOICES), _PAIR_COLUMNS, 2048)
SENTENCES = _Kind("sentences", ("text", *_ENDS), ("which", "pieces"), _SENTENCE_COLUMNS, 1 << 15)


# --------------------
# Rows to be scored by a model's twins.


_TURNS = {
    "trait": pl.struct("polarity", "trait").rle_id(),
    # sentences of a category are by attribute word, then template
    "template": pl.struct("attribute_word", "template").rle_id().over("category")
    % pl.col("template").n_unique().over("category"),
}


def deal_rows(rows: pl.DataFrame, which: Mapping[str, Any]) -> pl.DataFrame:
    """Deal sentences to the twins of a model in turn, by trait or template; of pairs each twin scores all.

    Args:
        rows: pairs or sentences, all of a set.
        which: the model, plain values; of twins with their seeds (`twins`).

    Returns:
        The rows; of twins with the column `twin`, the number of the twin that scores each. No twin is without rows.
        Each pair is there once for each twin.
    """
    if "twins" not in which:
        return rows
    if _kind_of(rows) is PAIRS:
        return rows.join(pl.DataFrame({"twin": range(len(which["twins"]))}, {"twin": pl.Int32}), how="cross")
    turn = next(turn for column, turn in _TURNS.items() if column in rows.columns)
    rows = rows.with_columns(twin=turn.cast(pl.Int32))
    return rows.with_columns(pl.col("twin") % max(1, min(len(which["twins"]), rows["twin"].n_unique())))


def load_sentences(settings: Mapping[str, Any], categories: Mapping[str, Any]) -> pl.DataFrame:
    """Return the sentences of a study's structures or categories; of twins with the column `twin`, sorted by it.

    Args:
        settings: plain values: `which` model and `lexicon`; for structures, the files `structures` and `traits`; for
            categories, the file `templates` and which are `exchanged`.
        categories: those that are asked for, as of `prasanga.lexicon.model.chosen_categories`.

    Returns:
        `structures.TRAIT_SENTENCES`, or `categories.CATEGORY_SENTENCES`.

    Raises:
        InputError: as `read_trait_sentences` or `read_category_sentences`.
    """
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.likelihoods.categories import read_category_sentences
    from prasanga.likelihoods.structures import read_trait_sentences

    lexicon = lexicon_of(settings["lexicon"])
    if "structures" in settings:
        rows = read_trait_sentences(settings, lexicon)
    else:
        rows = read_category_sentences(settings, categories, lexicon)
    rows = deal_rows(rows, settings["which"])
    return rows.sort("twin", maintain_order=True) if "twin" in rows.columns else rows


# --------------------
# Scores are computed once and used again: one more pair in a file does not score the others again.


def cached(
    kind: _Kind, store: Store, rows: pl.DataFrame, compute: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """Return the scores of the different rows of a set; those that the store has are not computed again.

    Args:
        kind: `PAIRS` or `SENTENCES`.
        store: of one key.
        rows: of the set.
        compute: gives rows their scores.

    Returns:
        Columns `kind.columns`, the first of which is the row's `id`.
    """
    different = _with_ids(kind, rows).unique("id", keep="first", maintain_order=True)
    known = store.read_rows(different["id"].to_list())
    scores = [pl.DataFrame(kind.columns.empty_table() if known is None else known)]
    for block in different.iter_slices(kind.block):
        missing = block.join(scores[0], on="id", how="anti", maintain_order="left")
        if len(missing):
            computed = compute(missing).select(scores[0].columns).cast(scores[0].schema)
            store.add_rows(computed.to_arrow().cast(kind.columns))
            scores.append(computed)
    return pl.concat(scores)


def open_store(
    kind: _Kind, root: str | Path, settings: Mapping[str, Any], identity: Mapping[str, Any], dtype: str
) -> Store:
    """Open the store of one kind of rows, asked of one model in one way.

    Args:
        kind: `PAIRS` or `SENTENCES`.
        root: folder of all scores that are kept.
        settings: how the model is loaded and asked, plain values.
        identity: which model it is (`prasanga.models.model_identity`).
        dtype: the precision that it runs in: scores of two precisions are never mixed.
    """
    program = _find_program(settings)
    settings = {name: value for name, value in settings.items() if name in kind.settings} | program
    described = {"settings": settings, "identity": dict(identity), "dtype": dtype, "version": SCORES_VERSION}
    # what a study calls a model and where it is does not matter: the identity says which model it is
    which = {name: value for name, value in settings.get("which", {}).items() if name not in _OF_STUDY}
    key = digest_of([{**described, "settings": {**settings, "which": which}}, kind.columns.names])
    return Store(Path(root, key), key, kind.columns.names, described)


def score_rows(rows: pl.DataFrame, name: str, settings: Mapping[str, Any], job: Job) -> pl.DataFrame:
    """Return the scores of different rows by one model, or by the twin that each row is dealt to.

    The model is loaded when the first score is missing.

    Args:
        rows: pairs (`prasanga.pairs.read_pairs`) or sentences (`load_sentences`), all of the set; of twins with `twin`.
        name: of the set, for the log.
        settings: plain values: `which` model and how it is loaded, how it is asked, and `name`, what tables call it.
        job: the model, and where it runs.

    Returns:
        As `cached`, of twins with the column `twin`; `add_scores` joins them with the rows.

    Raises:
        InputError: as `score_pairs` or `score_log_probability`; the files of a model on this machine have changed.
    """
    if "twin" in rows.columns:
        which, found = dict(settings["which"]), []
        seeds = which.pop("twins")
        for twin in rows["twin"].unique().sort():
            options = {**which["options"], "random_weights": seeds[twin]}
            own = {**settings, "which": {**which, "options": options}}
            scores = score_rows(rows.filter(twin=twin).drop("twin"), name, own, job)
            found.append(scores.with_columns(twin=pl.lit(twin, pl.Int32)))
        return pl.concat(found)
    kind, which = _kind_of(rows), settings["which"]
    identity: dict[str, str] = read_document(job.model)["identity"]
    scorer = functools.cache(lambda: _load(which, job, identity))
    n_scored = 0

    def compute(missing: pl.DataFrame) -> pl.DataFrame:
        nonlocal n_scored
        n_scored += len(missing)
        _LOG.info("%s, %s: %d of %d %s to be scored", name, settings["name"], len(missing), len(rows), kind.what)
        return _ask(kind, scorer(), missing, settings)

    store = open_store(kind, job.kept, settings, identity, _find_dtype(which, job))
    scores = cached(kind, store, rows, compute)
    counts = scores["left_out"].drop_nulls().value_counts(sort=True).rows()
    left_out = ", ".join(f"{reason} {count}" for reason, count in counts) or "none"
    said = "%s, %s: %d %s; %d known before; left out: %s"
    _LOG.info(said, name, settings["name"], len(scores), kind.what, len(scores) - n_scored, left_out)
    return scores


def score_study_sentences(
    name: str, settings: Mapping[str, Any], categories: Mapping[str, Any], job: Job
) -> pl.DataFrame:
    """Return the sentences of a study (`load_sentences`) with their scores.

    Args:
        name: of the sentences, for the log.
        settings: as for `load_sentences` and `score_rows`.
        categories: as for `load_sentences`.
        job: the model, and where it runs.
    """
    rows = load_sentences(settings, categories)
    return add_scores(rows, score_rows(rows, name, settings, job))


def add_scores(rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Return rows, in their order, with their scores (`score_rows`); scores that they had are replaced."""
    kind = _kind_of(rows)
    rows = _with_ids(kind, rows.drop(kind.columns.names, strict=False))
    keys = ["id", "twin"] if "twin" in scores.columns else ["id"]
    return rows.join(scores, on=keys, how="left", maintain_order="left", validate="m:1").drop("id")


def _kind_of(rows: pl.DataFrame) -> _Kind:
    return PAIRS if "first" in rows.columns else SENTENCES


def _with_ids(kind: _Kind, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with what they are found by, whatever they are called: a digest of what their scores depend on."""
    ids = (
        hashlib.blake2b(json.dumps(row).encode(), digest_size=16).hexdigest()
        for row in rows.select(kind.row).iter_rows()
    )
    return rows.with_columns(pl.Series("id", ids, dtype=pl.String))


def _ask(kind: _Kind, scorer: Scorer, rows: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    from prasanga.likelihoods.scoring import score_pairs, score_sentences

    if kind is SENTENCES:
        return score_sentences(scorer, rows, pieces=settings["pieces"], **_find_program(settings))
    choices = {key: settings[key] for key in _PAIR_CHOICES}
    measure = settings["measures"].get(scorer.kind, "causal")
    return score_pairs(scorer, rows, measure=measure, name=settings["name"], **choices)


def _find_program(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `score_sentences` is asked where the authors' program does not do what it does by default."""
    asked = {"prior_mask": settings.get("prior_mask") == "authors" and "authors"}
    asked |= {"raw_logits": settings.get("aggregation") == "raw_logits"}
    return {name: value for name, value in asked.items() if value}


def _load(which: Mapping[str, Any], job: Job, identity: dict[str, str]) -> Scorer:
    """Load the model; of one of the hub the commit that was checked, wherever its branch has moved since."""
    from prasanga.likelihoods.engine import load_scorer

    options = ModelOptions(**{**which["options"], "cards": job.cards})
    require_unchanged(which["model"], identity, options, job.kept)
    return load_scorer(
        which["model"],
        revision=identity.get("commit", which["revision"]),
        dtype=_find_dtype(which, job),
        threads=job.threads,
        options=options,
    )


def _find_dtype(which: Mapping[str, Any], job: Job) -> str:
    """Return the precision of scores: what the study leaves open or the CPU lacks, the device decides."""
    if which["dtype"] == "float32":
        return "float32"
    from prasanga.models.devices import dtype_of_study

    return dtype_of_study(which["dtype"], ModelOptions(cards=job.cards).device)
