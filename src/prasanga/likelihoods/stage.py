"""The table of scored rows: known scores of pairs and sentences are read, and only other rows load the model.

Different rows of a set are scored in blocks of a fixed size. So memory does not grow with the set's masked copies, and
a killed job goes on with its last block.

Snakemake deletes an output before its job runs, so scores have separate stores, a folder per key. The key includes the
model, its loading options, the kind of query, the precision, and `SCORES_VERSION`. Versions of torch, transformers and
tokenizers, the device and the batch size are not in it: they change only the last digits.
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
"""Raise this number when the code changes scores, or the twins that score a row: all scores are then computed again."""

_OF_STUDY = ("name", "model", "revision", "files")
_PAIR_CHOICES = ("reduction", "pieces", "punctuation", "unknown", "normalization", "language_codes")
_LOG = logging.getLogger(__name__)


class Job(NamedTuple):
    """The model and machine of a job.

    Attributes:
        model: the report on the model (`prasanga.models.check_model`), a JSON file.
        kept: folder of all stores of scores.
        threads: of the model on a CPU.
        cards: GPUs of the model; 0 for the CPU.
    """

    model: str | Path
    kept: str | Path
    threads: int
    cards: int = 1


class _Kind(NamedTuple):
    """Pairs or sentences: what determines their scores, and how many are scored together."""

    what: str
    row: tuple[str | pl.Expr, ...]
    settings: tuple[str, ...]
    columns: pa.Schema
    block: int


_ENDS = [pl.col(role).list.get(place).alias(f"{role}_{place}") for role in ("target", "attribute") for place in (0, 1)]
_PAIR_COLUMNS = TABLES["kept_pair_scores"].arrow(PAIR_SCORES)
_SENTENCE_COLUMNS = TABLES["kept_sentence_scores"].arrow(SENTENCE_SCORES)
# Published sets, and the lists of this project, fit into one block.
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
    """Deal sentences to the twins of a model in turn, by trait or template; each twin scores all pairs.

    Args:
        rows: pairs or sentences, all of a set.
        which: the model, plain values; of twins with their seeds (`twins`).

    Returns:
        The rows; for twins with the column `twin`, the number of the twin that scores the row. Every twin has rows.
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
        categories: as from `prasanga.lexicon.model.chosen_categories`.

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
# Scores are computed once: one more pair in a file needs one more score.


def cached(
    kind: _Kind, store: Store, rows: pl.DataFrame, compute: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """Return the scores of the different rows of a set, computing only scores that the store lacks.

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
    """Open the store of one kind of rows, one model and one kind of query.

    Args:
        kind: `PAIRS` or `SENTENCES`.
        root: folder of all stores of scores.
        settings: how the model is loaded and queried, plain values.
        identity: of the model (`prasanga.models.model_identity`).
        dtype: the precision: scores of two precisions are never mixed.
    """
    program = _find_program(settings)
    settings = {name: value for name, value in settings.items() if name in kind.settings} | program
    described = {"settings": settings, "identity": dict(identity), "dtype": dtype, "version": SCORES_VERSION}
    # a model's name and place in a study do not matter, because the identity names the model
    which = {name: value for name, value in settings.get("which", {}).items() if name not in _OF_STUDY}
    key = digest_of([{**described, "settings": {**settings, "which": which}}, kind.columns.names])
    return Store(Path(root, key), key, kind.columns.names, described)


def score_rows(rows: pl.DataFrame, name: str, settings: Mapping[str, Any], job: Job) -> pl.DataFrame:
    """Return the scores of different rows by one model, or by each row's twin.

    The model is loaded at the first missing score.

    Args:
        rows: pairs (`prasanga.pairs.read_pairs`) or sentences (`load_sentences`), all of the set; of twins with `twin`.
        name: of the set, for the log.
        settings: plain values: `which` model and how it is loaded, how it is queried, and its `name` in tables.
        job: the model, and where it runs.

    Returns:
        As `cached`, for twins with the column `twin`; `add_scores` joins them with the rows.

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
    """Return rows, in their order, with their scores (`score_rows`) in place of earlier ones."""
    kind = _kind_of(rows)
    rows = _with_ids(kind, rows.drop(kind.columns.names, strict=False))
    keys = ["id", "twin"] if "twin" in scores.columns else ["id"]
    return rows.join(scores, on=keys, how="left", maintain_order="left", validate="m:1").drop("id")


def _kind_of(rows: pl.DataFrame) -> _Kind:
    return PAIRS if "first" in rows.columns else SENTENCES


def _with_ids(kind: _Kind, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with their `id`, a digest of what determines their scores."""
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
    """Return the arguments of `score_sentences` that follow the authors' program instead of the defaults."""
    asked = {"prior_mask": settings.get("prior_mask") == "authors" and "authors"}
    asked |= {"raw_logits": settings.get("aggregation") == "raw_logits"}
    return {name: value for name, value in asked.items() if value}


def _load(which: Mapping[str, Any], job: Job, identity: dict[str, str]) -> Scorer:
    """Load the model; from the hub, load the checked commit, even if its branch has moved."""
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
    """Return the precision of scores; the device decides if the study does not, or asks for one that the CPU lacks."""
    if which["dtype"] == "float32":
        return "float32"
    from prasanga.models.devices import dtype_of_study

    return dtype_of_study(which["dtype"], ModelOptions(cards=job.cards).device)
