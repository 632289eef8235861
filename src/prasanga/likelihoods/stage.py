"""The stage's work on pairs and sentences: what was scored before is used again, and only the rest loads the model.

A job scores all rows of a set, or one bucket of them. Different rows are scored in blocks of a fixed size, counted over
the whole set, and a bucket is some of these blocks. So the number of buckets changes neither what a model runs together
nor the last digit of a score, memory does not grow with the set's masked copies, and a job that was killed goes on with
the block that it was at.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pyarrow as pa

from prasanga.base.documents import digest_of, read_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import read_frame, require_equal
from prasanga.base.store import Store
from prasanga.models.options import ModelOptions
from prasanga.pairs.preferences import SCORES

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Scorer
    from prasanga.likelihoods.log_probability import KnownScores
    from prasanga.likelihoods.templates import CategorySentence, FilledCategory
    from prasanga.likelihoods.traits import TraitSentence


# --------------------
# What a job works with: a model, from what the config and the check of the model say of it, or its twins.


class Job(NamedTuple):
    """What a job works with.

    Attributes:
        model: the report on the model (`prasanga.models.check_model`), a JSON file.
        kept: folder of all scores that are kept.
        threads: of the model on a processor.
        cards: that the model is spread over; 0 for the processor.
    """

    model: str | Path
    kept: str | Path
    threads: int
    cards: int = 1

    @property
    def identity(self) -> dict[str, Any]:
        """Which model it is (`prasanga.models.model_identity`), as it was looked at."""
        found: dict[str, Any] = read_document(self.model)["identity"]
        return found

    def open_scorer(self, which: Mapping[str, Any]) -> Scorer:
        """Load the model; of one of the hub the commit that was looked at, wherever its branch has moved since.

        Args:
            which: plain values `model`, `revision`, `dtype`, and `options` (`prasanga.models.ModelOptions`).

        Raises:
            InputError: the files of a model on this machine are others than those looked at; as `load_scorer`.
        """
        from prasanga.likelihoods.engine import load_scorer
        from prasanga.models.devices import dtype_of_study
        from prasanga.models.hub import require_unchanged

        options = ModelOptions(**{**which["options"], "cards": self.cards})
        require_unchanged(which["model"], self.identity, options)
        return load_scorer(
            which["model"],
            revision=self.identity.get("commit", which["revision"]),
            dtype=dtype_of_study(which["dtype"], options.device),
            threads=self.threads,
            options=options,
        )

    def dtype(self, which: Mapping[str, Any]) -> str:
        """Return the precision of its scores: what the study leaves open or the processor lacks, the device decides."""
        if which["dtype"] == "float32":
            return "float32"
        from prasanga.models.devices import dtype_of_study

        return dtype_of_study(which["dtype"], ModelOptions(cards=self.cards).device)


def number_of_twins(which: Mapping[str, Any], most: int) -> int | None:
    """Return how many twins a job measures: no more than there are shares, `most`; None of a model."""
    return min(len(which["twins"]), most) if "twins" in which else None


# --------------------
# Scores that were computed once, used again: a pair more in a file does not score the others anew.
#
# Snakemake deletes an output before its job runs, so scores are kept in stores of their own, a folder for each key.
# The key holds the model, how it is loaded, what is asked of it, the precision, and `SCORES_VERSION`. Versions of
# torch, transformers and tokenizers, the device and the size of batches are not in it: they change the last digits, and
# nobody wants all scores anew for that.


SCORES_VERSION = 1
"""Raise this number when the code gives a pair or sentence another score: all scores are then computed again."""

WHOLE = (0, 1)
"""The bucket of a job that scores all rows: its number from 0, and how many there are."""
_OF_STUDY = ("name", "model", "revision", "files")
_ID = pa.field("id", pa.string(), nullable=False)
_NUMBERS = {
    **dict.fromkeys(("score_first", "score_second", "fill", "prior"), pa.float64()),
    **dict.fromkeys(("n_first", "n_second", "n_pieces", "n_attribute_pieces"), pa.int64()),
}


class Asked(NamedTuple):
    """A kind of question to a model.

    Attributes:
        what: the rows, in one word, for the log.
        row: the columns that the scores of a row depend on.
        settings: keys of the settings that they depend on.
        columns: of what is kept, the id first.
        block: different rows that are scored together.
        score: gives the scores of some rows by a loaded model; of the settings it takes what it needs.
    """

    what: str
    row: tuple[str, ...]
    settings: tuple[str, ...]
    columns: pa.Schema
    block: int
    score: Callable[[Scorer, pl.DataFrame, Mapping[str, Any]], pl.DataFrame]


def _score_pairs(scorer: Scorer, pairs: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    from prasanga.likelihoods.pair_scores import score_pairs

    return score_pairs(
        scorer,
        pairs,
        measure=settings["measures"].get(scorer.kind, "causal"),
        **{key: settings[key] for key in _ASKED_OF_PAIRS},
        name=settings["name"],
    )


def _score_sentences(scorer: Scorer, sentences: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    from prasanga.likelihoods.log_probability import LogProbabilityItem, ask_items

    items = [LogProbabilityItem(text, (a, b), (c, d)) for text, a, b, c, d in sentences.select(_SPANS).iter_rows()]
    scores = ask_items(scorer, items, pieces=settings["pieces"])
    found = pl.DataFrame(scores, schema=list(_OF_SENTENCE), orient="row", infer_schema_length=None)
    return pl.concat([sentences, found], how="horizontal")


_ASKED_OF_PAIRS = ("reduction", "pieces", "punctuation", "unknown", "normalization", "language_codes")
PAIR_COLUMNS = pa.schema([_ID, *((name, _NUMBERS.get(name, pa.string())) for name in SCORES)])
_OF_SENTENCE = ("fill", "prior", "n_pieces", "n_attribute_pieces", "left_out", "left_out_role")
SENTENCE_COLUMNS = pa.schema([_ID, *((name, _NUMBERS.get(name, pa.string())) for name in _OF_SENTENCE)])
_SPANS = ("text", "target_start", "target_end", "attribute_start", "attribute_end")

# The sets that are published, and the lists of this project, are one block.
PAIRS = Asked(
    "pairs",
    ("language", "first", "second"),
    ("which", "measures", *_ASKED_OF_PAIRS),
    PAIR_COLUMNS,
    2048,
    _score_pairs,
)
SENTENCES = Asked(
    "sentences",
    _SPANS,
    ("which", "pieces"),
    SENTENCE_COLUMNS,
    1 << 15,
    _score_sentences,
)


def open_scores(
    asked: Asked, root: str | Path, settings: Mapping[str, Any], identity: Mapping[str, Any], dtype: str
) -> Store:
    """Open the store of what is asked, and of which model.

    Args:
        asked: pairs or sentences.
        root: folder of all scores that are kept.
        settings: how the model is loaded and asked, plain values.
        identity: which model it is (`prasanga.models.model_identity`).
        dtype: the precision that it runs in.
    """
    settings = {name: value for name, value in settings.items() if name in asked.settings}
    described = {"settings": settings, "identity": dict(identity), "dtype": dtype, "version": SCORES_VERSION}
    # what a study calls a model and where it lies is its own affair: the identity says which model it is
    which = {name: value for name, value in settings.get("which", {}).items() if name not in _OF_STUDY}
    key = digest_of([{**described, "settings": {**settings, "which": which}}, asked.columns.names])
    return Store(Path(root, key), key, asked.columns.names, described)


def score_missing(
    asked: Asked,
    rows: pl.DataFrame,
    store: Store,
    score: Callable[[pl.DataFrame], pl.DataFrame],
    bucket: tuple[int, int] = WHOLE,
) -> pl.DataFrame:
    """Return the scores of the different rows of a bucket; those that the store has are not computed again.

    Args:
        asked: pairs or sentences.
        rows: all of the set, whatever the bucket.
        store: of one key.
        score: gives rows their scores.
        bucket: which of how many.

    Returns:
        Columns `asked.columns`: `with_scores` finds the rows by their ids.
    """
    different = _with_ids(asked, rows).unique("id", keep="first", maintain_order=True)
    (number, of), n_blocks = bucket, -(-len(different) // asked.block)
    blocks = range(number * n_blocks // of, (number + 1) * n_blocks // of)
    different = different[blocks.start * asked.block : blocks.stop * asked.block]
    known = store.read_rows(different["id"].to_list())
    scores = [pl.DataFrame(asked.columns.empty_table() if known is None else known)]
    for block in different.iter_slices(asked.block):
        missing = block.join(scores[0], on="id", how="anti", maintain_order="left")
        if len(missing):
            computed = score(missing).select(scores[0].columns).cast(scores[0].schema)
            store.add_rows(computed.to_arrow().cast(asked.columns))
            scores.append(computed)
    return pl.concat(scores)


def with_scores(asked: Asked, rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Return rows with their scores, in the order given; scores that they had are replaced."""
    rows = _with_ids(asked, rows.drop(asked.columns.names, strict=False))
    return rows.join(scores, on=_keys(scores), how="left", maintain_order="left", validate="m:1").drop("id")


def _with_ids(asked: Asked, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with what they are found by, whatever they are called: a digest of what their scores depend on."""
    ids = (
        hashlib.blake2b(json.dumps(row).encode(), digest_size=16).hexdigest()
        for row in rows.select(asked.row).iter_rows()
    )
    return rows.with_columns(pl.Series("id", ids, dtype=pl.String))


# --------------------
# A job: rows scored by a model or by its twins, or put together from the buckets that other jobs scored.


_LOG = logging.getLogger(__name__)


def score_rows(
    asked: Asked,
    rows: pl.DataFrame,
    name: str,
    settings: Mapping[str, Any],
    job: Job,
    *,
    bucket: tuple[int, int] = WHOLE,
    buckets: Sequence[str | Path] = (),
) -> pl.DataFrame:
    """Return the scores of different rows by one model, or by the twin that each row is dealt to.

    The model is loaded when the first score is missing.

    Args:
        asked: pairs or sentences.
        rows: all of the set; of twins with a column `twin` (`deal_pairs`).
        name: of the set, for the log.
        settings: plain values: `which` model and how it is loaded (`Job.open_scorer`), how it is asked, and `name`,
            what tables call the model.
        job: what it is done with.
        bucket: which of how many.
        buckets: files with the scores of all buckets; with them nothing else is done than to put them together.

    Returns:
        As `score_missing`, of twins with the column `twin`.

    Raises:
        InputError: as `score_pairs` or `score_log_probability`; buckets that do not fit
            each other or the rows.
    """
    if buckets:
        return _put_together(asked, rows, buckets)
    which, called = settings["which"], settings["name"]
    if "twin" in rows.columns:
        found, plain = [], {key: value for key, value in which.items() if key != "twins"}
        for twin in rows["twin"].unique().sort():
            options = {**which["options"], "random_weights": which["twins"][twin]}
            own = {**settings, "which": {**plain, "options": options}}
            scores = score_rows(asked, rows.filter(twin=twin).drop("twin"), name, own, job, bucket=bucket)
            found.append(scores.with_columns(twin=pl.lit(twin, pl.Int32)))
        return pl.concat(found)
    n_scored = 0

    @functools.cache
    def scorer() -> Scorer:
        return job.open_scorer(which)

    def score(missing: pl.DataFrame) -> pl.DataFrame:
        nonlocal n_scored
        n_scored += len(missing)
        _LOG.info("%s, %s: %d of %d %s are to be scored", name, called, len(missing), len(rows), asked.what)
        return asked.score(scorer(), missing, settings)

    # scores of two precisions are never mixed
    store = open_scores(asked, job.kept, settings, job.identity, job.dtype(which))
    scores = score_missing(asked, rows, store, score, bucket)
    counts = scores["left_out"].drop_nulls().value_counts(sort=True).rows()
    left_out = ", ".join(f"{reason} {count}" for reason, count in counts) or "none"
    known = len(scores) - n_scored
    _LOG.info("%s, %s: %d %s; %d known before; left out: %s", name, called, len(scores), asked.what, known, left_out)
    return scores


def _put_together(asked: Asked, rows: pl.DataFrame, buckets: Sequence[str | Path]) -> pl.DataFrame:
    """Return the scores of all rows from their buckets; refuse those of an earlier number of buckets or other rows."""
    require_equal(buckets, ["stage", "version"])
    scores = pl.concat(map(read_frame, buckets))
    keys = _keys(rows)
    wanted, found = (table.select(keys).unique() for table in (_with_ids(asked, rows), scores))
    apart = len(wanted.join(found, on=keys, how="anti")), len(scores) - len(found.join(wanted, on=keys, how="semi"))
    if any(apart):
        raise InputError(
            f"{Path(buckets[0]).parent}: of {len(wanted)} {asked.what} {apart[0]} have no score in its {len(buckets)}"
            f" buckets, and {apart[1]} scores are of others or stand twice. Delete the folder and run again: what is"
            " kept is not scored again."
        )
    return scores


def _keys(rows: pl.DataFrame) -> list[str]:
    """Return the columns by which scores are found."""
    return ["id", *(["twin"] if "twin" in rows.columns else [])]


def deal_pairs(pairs: pl.DataFrame, which: Mapping[str, Any]) -> pl.DataFrame:
    """Return the pairs of a set; of twins with the column `twin`, the number of the one that scores each, in turn."""
    if (n_twins := number_of_twins(which, len(pairs))) is None:
        return pairs
    return pairs.with_columns(twin=(pl.int_range(pl.len()) % max(n_twins, 1)).cast(pl.Int32))


def set_table(pairs: pl.DataFrame, scores: pl.DataFrame, name: str, model: str) -> pl.DataFrame:
    """Return the scores of a set of pairs by one model, or by twins.

    Args:
        pairs: the set (`prasanga.pairs.read_pairs`), dealt to the twins if there are any (`deal_pairs`).
        scores: of all its different pairs (`score_rows`).
        name: of the set.
        model: what tables call the model.

    Returns:
        As `prasanga.likelihoods.score_pairs`, with the column `set`; of twins also `twin`, the number of the one that
        scored the pair.
    """
    table = with_scores(PAIRS, pairs, scores).with_columns(set=pl.lit(name), model=pl.lit(model))
    return table.select(pl.exclude("twin"), *(["twin"] if "twin" in table.columns else []))


# --------------------
# Sentences of structures and categories: which a job asks about, and their scores in the place of a model.


def trait_shares(settings: Mapping[str, Any]) -> list[list[TraitSentence]]:
    """Return the sentences of all traits, in the order of the tables: of twins a list for each, of a model one.

    Args:
        settings: plain values: `which` model, `lexicon`, and the files `structures` and `traits`.

    Raises:
        InputError: as `prasanga.likelihoods.traits.trait_sentences`.
    """
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.likelihoods.templates import shares_of
    from prasanga.likelihoods.traits import load_structures, load_traits, trait_sentences

    normalization = settings["lexicon"]["normalization"]
    structures = load_structures(settings["structures"], normalization)
    lists = [load_traits(path, normalization) for path in settings["traits"]]
    sentences = trait_sentences(structures, lists, lexicon_of(settings["lexicon"]))
    n_twins = number_of_twins(settings["which"], len({(row.polarity, row.trait) for row in sentences}))
    return shares_of(sentences, lambda row: (row.polarity, row.trait), n_twins)


def category_shares(settings: Mapping[str, Any], categories: Mapping[str, Any]) -> list[list[FilledCategory]]:
    """Return the categories that are asked for, with their sentences: of twins a list for each, of a model one.

    Args:
        settings: plain values: `which` model, `lexicon`, `exchanged`, and the file `templates`.
        categories: those that are asked for, as of `prasanga.lexicon.model.chosen_categories`.

    Raises:
        InputError: as `prasanga.likelihoods.templates.fill_categories`.
    """
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.likelihoods.templates import fill_categories, load_category_templates, shares_of

    templates = load_category_templates(settings["templates"], settings["lexicon"]["normalization"])
    filled = fill_categories(categories, templates, lexicon_of(settings["lexicon"]), settings["exchanged"])
    n_twins = number_of_twins(settings["which"], templates.most)
    dealt = [(category, shares_of(rows, lambda row: row.template, n_twins)) for category, rows in filled]
    return [[(category, shares[number]) for category, shares in dealt] for number in range(n_twins or 1)]


def flat(shares: Sequence[Sequence[FilledCategory]]) -> list[list[CategorySentence]]:
    """Return the sentences of all categories together, share by share."""
    return [[row for _, rows in share for row in rows] for share in shares]


def rows_of(shares: Sequence[Sequence[TraitSentence | CategorySentence]], which: Mapping[str, Any]) -> pl.DataFrame:
    """Return sentences as rows to be scored; of twins with the column `twin`, the number of the share."""
    schema = {name: pl.String if name == "text" else pl.Int64 for name in _SPANS}
    tables = [
        pl.DataFrame([(row.text, *row.target, *row.attribute) for row in share], schema=schema, orient="row")
        for share in shares
    ]
    if "twins" not in which:
        return tables[0]
    return pl.concat(table.with_columns(twin=pl.lit(twin, pl.Int32)) for twin, table in enumerate(tables))


def known_scores(
    shares: Sequence[Sequence[TraitSentence | CategorySentence]],
    name: str,
    settings: Mapping[str, Any],
    job: Job,
    buckets: Sequence[str | Path] = (),
) -> list[KnownScores]:
    """Return the scores of sentences, in the place of a model or, one by one, its twins.

    Args:
        shares: the sentences of the model, or of each twin.
        name: of them, for the log.
        settings: as for `score_rows`, as the rest.
        job: likewise.
        buckets: likewise.
    """
    from prasanga.likelihoods.log_probability import KnownScores, LogProbabilityItem, Score

    rows = rows_of(shares, settings["which"])
    table = with_scores(SENTENCES, rows, score_rows(SENTENCES, rows, name, settings, job, buckets=buckets))
    parts = table.partition_by("twin", maintain_order=True) if "twin" in table.columns else [table]
    return [
        KnownScores(
            settings["name"],
            {
                LogProbabilityItem(text, (a, b), (c, d)): Score(*score)
                for text, a, b, c, d, *score in part.select(*_SPANS, *_OF_SENTENCE).iter_rows()
            },
        )
        for part in parts
    ]
