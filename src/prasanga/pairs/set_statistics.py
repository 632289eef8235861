"""What a set of pairs consists of: the numbers of the paper's Table 6 (Sahoo et al. 2024, Appendix E), for any set."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from prasanga.pairs.names import LABELS, LANGUAGES, OVERALL
from prasanga.pairs.words import words_of

SCHEMA = pl.Schema(
    {
        "language": pl.String,
        "subset": pl.String,
        "statistic": pl.String,
        "category": pl.String,
        "value": pl.Float64,
        "n_pairs": pl.Int64,
    }
)


def statistics(pairs: pl.DataFrame) -> pl.DataFrame:
    """Lengths and shares of a set of pairs.

    Args:
        pairs: as `prasanga.pairs.read_pairs` gives them.

    Returns:
        Columns `SCHEMA`, for each language and subset (`all`, then each origin: inherited, tuples, ...):

        - `mean_words`, category `all`: words a sentence, over both sentences of every pair. Words are counted as the
          paper counts them, by blanks.
        - `label_percentage`: of the pairs, for each label.
        - `bias_type_percentage`: of the pairs, for each bias type of the language; the commonest first. A type that a
          subset does not have is null there, where the paper prints a dash.

        `n_pairs` is how many pairs the value is about: the subset's for a mean, the category's for a share.
    """
    rows = [
        (language, subset, *row)
        for language in LANGUAGES
        if (spoken := pairs.filter(pl.col("language") == language)).height
        for subset, part in _subsets(spoken)
        for row in _of_subset(part, _by_count(spoken, "bias_type"))
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _subsets(pairs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    yield OVERALL, pairs
    for origin in pairs.get_column("origin").drop_nulls().unique().sort():
        yield origin, pairs.filter(pl.col("origin") == origin)


def _of_subset(part: pl.DataFrame, bias_types: list[str]) -> Iterator[tuple[str, str, float | None, int]]:
    sentences = [*part.get_column("first"), *part.get_column("second")]
    n_words = sum(len(words_of(sentence, "with-word")) for sentence in sentences)
    yield "mean_words", OVERALL, n_words / len(sentences), part.height
    for label in LABELS:
        n = part.filter(pl.col("label") == label).height
        yield "label_percentage", label, 100 * n / part.height, n
    for bias_type in bias_types:
        n = part.filter(pl.col("bias_type") == bias_type).height
        yield "bias_type_percentage", bias_type, 100 * n / part.height if n else None, n


def _by_count(pairs: pl.DataFrame, column: str) -> list[str]:
    counts = pairs.group_by(column).len().sort(["len", column], descending=[True, False])
    return counts.get_column(column).to_list()
