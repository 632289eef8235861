"""Compute which sentence of a pair a model prefers, and describe a set of pairs; define names for scoring and page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.io import read_frame, read_rows, require_columns
from prasanga.schema import TABLES

# --------------------
# Names that reading, scoring and the page share.


LANGUAGES = ("bn", "hi", "en")
"""Languages of the papers, in the order of tables; others follow."""


def sort_languages(languages: Iterable[str]) -> list[str]:
    """Return distinct languages in the order of tables."""
    return sorted(set(languages), key=lambda language: ([*LANGUAGES, language].index(language), language))


#: Labels of a pair: the first sentence is the stereotypical one, or the second is.
LABELS = ("stereo", "antistereo")

#: The sentences of a pair.
SIDES = ("first", "second")

#: Stands for all pairs in place of a bias type or an origin; reserved.
OVERALL = "all"

#: Below this many pairs the bootstrap interval of a percentage covers far less than its level, in the worst case half.
FEWEST_PAIRS = 20

#: Untied pairs with each label that a bias type needs for a test of its labels.
FEWEST_OF_A_LABEL = 10


SCORES = pl.Schema([*TABLES["kept_pair_scores"].polars.items()][1:])
"""Columns that `prasanga.likelihoods.score_pairs` adds to pairs."""

SPANS = pl.Schema({"text": pl.String(), "target": pl.List(pl.Int64), "attribute": pl.List(pl.Int64)})
"""Columns of a sentence: its text, normalized like the study's texts, and the character spans [start, end) of its
target and attribute."""

SENTENCE_SCORES = pl.Schema([*TABLES["kept_sentence_scores"].polars.items()][1:])
"""Columns of the score of a word in a sentence (`prasanga.likelihoods.scoring`).

`n_pieces` counts the pieces of the target; the measure `first` scores one of them.

`left_out` is the reason for a missing score: `dropped-word`, the tokenizer drops the target or the attribute;
`unknown-piece`, one of them has a piece that the tokenizer does not know; `shared-piece`, one piece belongs to both;
`too-long`, the sentence is too long for the model. `left_out_role` is `target` or `attribute` where one of them is the
cause."""


# --------------------
# Why a pair has no scores: one table, for the scores, the page and the documentation.


REASONS = {row["reason"]: row["meaning"] for row in read_rows(Path(__file__).with_name("left_out.tsv"))}
"""Sentences by the codes of the column `left_out`. `not-finite` and `no-score` occur only in scores from elsewhere:
the engine stops at a number that is not finite."""


# --------------------
# Which sentence of a pair a model prefers, and by how much (Sahoo et al. 2024, equation 4, appendix C): the score of
# the stereotypical sentence minus the score of the other one. A positive difference means that the model prefers the
# stereotype, whatever the pair's label.


PREFERENCES = ("stereotypical", "other", "tie")

TIE = 1e-9
"""Scores that differ by at most this share of the larger one (at least 1) are tied: the difference is rounding."""

_NEEDED = ("pair_id", "language", "bias_type", "label", "score_first", "score_second")


def add_differences(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with the model's preference in each pair.

    Args:
        scores: the columns pair_id, language, bias_type, label, score_first and score_second, and `left_out` if pairs
            were left out. Other columns are kept.

    Returns:
        `scores` in the same order, with `difference` (score of the stereotypical sentence minus score of the other) and
        `preference` (one of `PREFERENCES`), both null where the pair is left out, and `left_out`, the reason. A pair
        without a score is left out as `no-score`, one with an infinite score or NaN as `not-finite`.

    Raises:
        InputError: a column is missing, or a label is neither stereo nor antistereo.
    """
    require_columns("scores", scores, _NEEDED, "Give the table that score_pairs returns.")
    wrong = [(row, label) for row, label in enumerate(scores["label"].to_list()) if label not in LABELS]
    if wrong:
        row, label = wrong[0]
        raise InputError(f"scores: label of row {row} is {label!r}; allowed: {', '.join(LABELS)}. Write one of these.")
    if "left_out" not in scores.columns:
        scores = scores.with_columns(left_out=pl.lit(None, pl.String))
    first, second = (pl.col(name).cast(pl.Float64) for name in ("score_first", "score_second"))
    missing = first.is_null() | second.is_null()
    finite = first.is_finite() & second.is_finite()
    reason = pl.coalesce(
        pl.col("left_out").cast(pl.String),
        pl.when(missing).then(pl.lit("no-score")),
        pl.when(~finite).then(pl.lit("not-finite")),
    )
    towards_first = pl.when(pl.col("label") == LABELS[0]).then(1.0).otherwise(-1.0)
    scores = scores.with_columns(left_out=reason)
    scores = scores.with_columns(
        difference=pl.when(pl.col("left_out").is_null()).then((first - second) * towards_first)
    )
    difference = pl.col("difference")
    same = difference.abs() <= TIE * pl.max_horizontal(first.abs(), second.abs(), pl.lit(1.0))
    preference = pl.coalesce(
        pl.when(same).then(pl.lit("tie")),
        pl.when(difference > 0).then(pl.lit("stereotypical")),
        pl.when(difference < 0).then(pl.lit("other")),
    )
    return scores.with_columns(preference=preference)


DIFFERENCES_SCHEMA = TABLES["pair_differences"].polars
"""Columns of the table of differences, one row per pair, model and twin."""


def read_scores(paths: Iterable[str | Path]) -> pl.DataFrame:
    """Read tables of scores as one; the column `set` is the name of a file's folder.

    Raises:
        InputError: a file is missing or damaged.
    """
    tables = [read_frame(path).with_columns(set=pl.lit(Path(path).parent.name)) for path in paths]
    # a column with only nulls has no type of its own
    return pl.concat(tables, how="diagonal_relaxed")


def pair_differences(scores: pl.DataFrame, twins: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """Return the differences of a study in one table, for its figures.

    Args:
        scores: as for `add_differences`, with the columns set and model where there are several.
        twins: by model, the scores of its twin with random weights.

    Returns:
        Columns `DIFFERENCES_SCHEMA`: the rows of models, then the rows of twins under the name of their model.

    Raises:
        InputError: as `add_differences`.
    """
    named = ((table.with_columns(model=pl.lit(model)), True) for model, table in (twins or {}).items())
    parts = []
    for table, is_twin in ((scores, False), *named):
        added = add_differences(table)
        nothing = [pl.lit(None, pl.String).alias(name) for name in ("set", "model") if name not in added.columns]
        parts.append(added.with_columns(*nothing, random_twin=pl.lit(is_twin)).select(*DIFFERENCES_SCHEMA))
    return pl.concat([part.cast(pl.Schema(DIFFERENCES_SCHEMA)) for part in parts])


# --------------------
# Clusters: pairs made from one tuple or template are not independent. Labels vary either between clusters or within
# them; a test permutes accordingly.


def check_clusters(source: object, pairs: pl.DataFrame) -> None:
    """Refuse a bias type in which some clusters have pairs with both labels, and others with one label.

    Args:
        source: the file, for the message.
        pairs: columns pair_id, language, bias_type, label and `cluster`; a pair without a cluster is its own cluster.

    Raises:
        InputError: a bias type mixes clusters of both kinds.
    """
    if pairs["cluster"].is_null().all():
        return
    name = pl.coalesce("cluster", pl.concat_str(pl.lit("of pair "), "pair_id"))
    clusters = pairs.group_by("language", "bias_type", name.alias("cluster"), maintain_order=True)
    labels = clusters.agg(pl.col("label").unique(maintain_order=True))
    for (language, bias_type), kind in labels.group_by("language", "bias_type", maintain_order=True):
        both, one = kind.filter(pl.col("label").list.len() > 1), kind.filter(pl.col("label").list.len() == 1)
        if len(both) and len(one):
            raise InputError(
                f"{source}: of the bias type {bias_type} ({language}), cluster {both['cluster'][0]} has pairs of both"
                f" labels, but cluster {one['cluster'][0]} only {one['label'][0][0]}. Write clusters of one kind within"
                " a bias type: add a pair with the other label, or name another bias type."
            )


# --------------------
# The numbers of the paper's Table 6 (Sahoo et al. 2024, Appendix E), for any set of pairs.


SCHEMA = pl.Schema([*TABLES["pair_statistics"].polars.items()][:-1])


def statistics(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the lengths and shares of a set of pairs.

    Args:
        pairs: as `prasanga.pairs.read_pairs` gives them.

    Returns:
        A frame with the columns of `SCHEMA`: rows for each language and subset, which is `all` or an origin such as
        inherited or tuples. `mean_words` counts words per sentence by blanks, like the paper. `label_percentage` and
        `bias_type_percentage` are percentages of pairs, the most frequent bias type first, and null for a type that
        a subset lacks, where the paper prints a dash. `n_pairs` is the number of pairs behind the value.
    """
    n_words = pl.col("first", "second").str.count_matches(r"\S+")
    rows: list[tuple[str, str, str, str, float | None, int]] = []
    for language in sort_languages(pairs["language"]):
        spoken = pairs.filter(language=language)
        types = spoken["bias_type"].value_counts().sort("count", "bias_type", descending=[True, False])["bias_type"]
        origins = spoken["origin"].drop_nulls().unique().sort()
        for subset, part in ((OVERALL, spoken), *((origin, spoken.filter(origin=origin)) for origin in origins)):
            if part.height:
                mean = part.select(pl.mean_horizontal(n_words).mean()).item()
                rows.append((language, subset, "mean_words", OVERALL, mean, part.height))
            for column, names in (("label", LABELS), ("bias_type", types)):
                for name in names if part.height else ():
                    n = part.filter(pl.col(column) == name).height
                    share = 100 * n / part.height if n or column == "label" else None
                    rows.append((language, subset, f"{column}_percentage", name, share, n))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
