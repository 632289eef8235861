"""Summarize the hits for a reader who knows the language: forms and suffixes with counts, lengths, a concordance.

A suffix group or a spelling may catch words that it does not mean. Counts show which ending brings many hits, and a
random sample of every stimulus's hits, shown with their surroundings, shows whether they are the word. Sentence tables
may be larger than memory: only their small columns are read, in batches, and only the sampled hits' texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from prasanga.base.io import read_batches, take_rows
from prasanga.base.seeds import mix, seed_of
from prasanga.schema import TABLES
from prasanga.sentences.matcher import fold_column
from prasanga.text import WORD, fold, words

# --------------------
# Hits by suffix: one that brings many, or all hits of a word, may make another word.


SUFFIX_SCHEMA = TABLES["suffixes"].arrow(nullable=())
"""One row per suffix of a group and its reading, sorted by group and, the most frequent first, occurrences.

`kind` is `stem` (no suffix), `suffix`, `altered stem` (the form does not begin with the stem, and stands whole in the
place of the suffix), `irregular` (the same, for a form listed by itself), or `not in the lexicon`. `stimuli` and
`forms` count those that occur; `examples` are the three forms that occur most often, each with its number. A suffix
of the lexicon that does not occur in the text has 0 occurrences."""

_IRREGULAR = "irregular"


def count_suffixes(form_counts: pa.Table, lexicon_forms: pa.Table) -> pa.Table:
    """Count what each suffix of each group brought (`SUFFIX_SCHEMA`); the occurrences add up to the forms' numbers.

    Args:
        form_counts: from `count_forms`.
        lexicon_forms: the table of surface forms of the lexicon stage.
    """
    found = pl.DataFrame(form_counts).group_by("stimulus", "form").agg(pl.col("occurrences").sum())
    listed = pl.DataFrame(lexicon_forms).with_columns(form=fold_column("form"))
    listed = listed.unique(["stimulus", "form"], keep="first", maintain_order=True)
    bare = pl.col("number").eq("singular") & pl.col("case").eq("nominative") & pl.col("emphatic").eq("")
    stems = listed.filter(bare & ~pl.col("hyphenated") & pl.col("group").ne(_IRREGULAR))
    rows = found.join(
        listed.filter("counted").select("stimulus", "form", "group", "number", "case", known=True),
        on=["stimulus", "form"],
        how="full",
        coalesce=True,
    ).with_columns(pl.col("occurrences").fill_null(0), pl.col("group", "number", "case").fill_null(""))
    rows = rows.with_columns(_suffixes(rows, stems)).with_columns(
        suffix=pl.coalesce("suffix", "form"),
        kind=pl.when(pl.col("known").is_null())
        .then(pl.lit("not in the lexicon"))
        .when(pl.col("suffix") == "")
        .then(pl.lit("stem"))
        .when(pl.col("suffix").is_not_null())
        .then(pl.lit("suffix"))
        .when(pl.col("group") == _IRREGULAR)
        .then(pl.lit("irregular"))
        .otherwise(pl.lit("altered stem")),
    )
    occurs = pl.col("occurrences") > 0
    example = pl.format("{} {}", "form", "occurrences").filter(occurs).head(3).str.join(", ")
    suffixes = (
        rows.sort("occurrences", "form", "stimulus", descending=[True, False, False])
        .group_by("group", "number", "case", "suffix", "kind", maintain_order=True)
        .agg(
            stimuli=pl.col("stimulus").filter(occurs).n_unique(),
            forms=pl.col("form").filter(occurs).n_unique(),
            occurrences=pl.col("occurrences").sum(),
            examples=example,
        )
    )
    order = ["group", "occurrences", "suffix", "number", "case", "kind"]
    suffixes = suffixes.sort(order, descending=[name == "occurrences" for name in order])
    return suffixes.select(SUFFIX_SCHEMA.names).to_arrow().cast(SUFFIX_SCHEMA)


def _suffixes(rows: pl.DataFrame, stems: pl.DataFrame) -> pl.Series:
    """Cut the longest spelling of its stimulus off the start of each form; null where it begins with none."""
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for stimulus, form in stems.select("stimulus", "form").iter_rows():
        spellings[stimulus].add(form)
    suffixes: list[str | None] = []
    for stimulus, form in rows.select("stimulus", "form").iter_rows():
        begun = [stem for stem in (fold(stimulus), *spellings[stimulus]) if form.startswith(stem)]
        suffixes.append(form.removeprefix(max(begun, key=len)) if begun else None)
    return pl.Series("suffix", suffixes, pl.String)


# --------------------
# Forms with their hits, lengths, and a concordance.


FORM_SCHEMA = TABLES["audit_forms"].arrow(nullable=())
"""One row per stimulus, form (folded: no U+200C, a plain hyphen) and corpus file, sorted by these."""

CONCORDANCE_SCHEMA = TABLES["concordance"].arrow(nullable=())
"""One row per sampled hit, sorted by stimulus and rank (from 1). `left + form + right` is a stretch of the text."""

LENGTH_SCHEMA = TABLES["context_lengths"].arrow(nullable=["at_most"])
"""One row per bin of context lengths in words, bounds included, shortest first; the last bin has no upper bound."""

LENGTH_BINS = (1, 9, 15, 25, 40, 60, 75, 100, 125, 150, 200, 250)
"""The least length of each bin; the segment lengths of the Bangla paper's figures are among them."""

CONTEXT_CHARACTERS = 60
"""The most characters of surroundings on either side of a hit; words are not cut."""

_ROWS_AT_A_TIME = 1 << 17


def count_forms(paths: Iterable[str | Path]) -> pa.Table:
    """Count the occurrences of every form in every corpus file (`FORM_SCHEMA`).

    Args:
        paths: sentence tables, in any order.
    """
    keys = ["stimulus", "form", "source"]
    found = pl.scan_parquet([str(path) for path in paths]).select(pl.col(keys).cast(pl.String))
    counts = found.group_by("stimulus", fold_column("form"), "source").agg(occurrences=pl.len().cast(pl.Int64))
    return counts.collect(engine="streaming").sort(keys).to_arrow().cast(FORM_SCHEMA)


def length_histogram(paths: Iterable[str | Path]) -> pa.Table:
    """Count the contexts by their number of words (`LENGTH_SCHEMA`), each once whatever its number of stimuli.

    Args:
        paths: sentence tables, in any order; the rows of a context follow each other in one of them.

    Raises:
        InputError: a file is missing or damaged, or lacks a column.
    """
    counts = np.zeros(len(LENGTH_BINS), np.int64)
    for path in paths:
        last: str | None = None
        for table in map(pl.DataFrame, read_batches(path, ("context_id", "n_words"), rows=_ROWS_AT_A_TIME)):
            new = table.filter(pl.col("context_id").ne_missing(pl.col("context_id").shift(1, fill_value=last)))
            bins = np.searchsorted(LENGTH_BINS, new["n_words"].to_numpy(), side="right") - 1
            counts += np.bincount(np.maximum(bins, 0), minlength=len(LENGTH_BINS))
            last = table["context_id"][-1] if table.height else last
    at_most = [*(start - 1 for start in LENGTH_BINS[1:]), None]
    return pa.Table.from_pydict({"at_least": LENGTH_BINS, "at_most": at_most, "contexts": counts}, LENGTH_SCHEMA)


def concordance(paths: Sequence[str | Path], n: int, seed: int) -> pa.Table:
    """Draw `n` hits of every stimulus at random, each with its surroundings (`CONCORDANCE_SCHEMA`).

    The hits with the smallest hashes of seed, stimulus and text are drawn: the same whatever the order of the files and
    the division of the corpus among them. If a text occurs more than once, or has the stimulus more than once, its
    first hit is drawn (among copies, the one with the smallest `occurrence_id`).

    Args:
        paths: sentence tables.
        n: hits per stimulus, or fewer if there are fewer.
        seed: of the study; another seed draws other hits.

    Raises:
        InputError: a file is missing or damaged, or lacks a column.
    """
    keys: dict[str, int] = {}
    lowest: pl.DataFrame | None = None
    order = ("stimulus", "priority", "text_id", "start", "occurrence_id")
    for number, path in enumerate(paths if n else ()):
        row = 0
        for batch in read_batches(path, ("stimulus", "text_id", "start", "occurrence_id"), rows=_ROWS_AT_A_TIME):
            table = pl.DataFrame(batch).with_columns(file=pl.lit(number, pl.Int64), row=pl.int_range(pl.len()) + row)
            row += table.height
            for name in set(table["stimulus"].unique()) - keys.keys():
                keys[name] = seed_of(seed, "concordance", name)
            key = table["stimulus"].replace_strict(keys, return_dtype=pl.UInt64).to_numpy()
            half = table["text_id"].str.slice(0, 16).str.to_integer(base=16, dtype=pl.UInt64).to_numpy()
            table = table.with_columns(priority=mix(half ^ key))
            once = pl.concat([table] if lowest is None else [lowest, table]).sort(order)
            once = once.unique(["stimulus", "text_id"], keep="first", maintain_order=True)
            lowest = once.group_by("stimulus", maintain_order=True).head(n)
    if lowest is None or lowest.is_empty():
        return CONCORDANCE_SCHEMA.empty_table()
    drawn = lowest.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("stimulus"))
    parts = [_with_texts(paths[number], hits) for (number,), hits in drawn.group_by("file", maintain_order=True)]
    shown = pl.concat(parts).select(CONCORDANCE_SCHEMA.names).sort("stimulus", "rank")
    return shown.to_arrow().cast(CONCORDANCE_SCHEMA)


def _with_texts(path: str | Path, hits: pl.DataFrame) -> pl.DataFrame:
    """Return the hits of one file with form, source, offset and surroundings."""
    rows, columns = hits["row"].sort().to_numpy(), ("occurrence_id", "form", "source", "offset")
    shown: list[dict[str, object]] = []
    for part in take_rows(path, rows, [*columns, "text", "start", "end"]):
        for hit in part.to_pylist():
            left, right = surroundings(hit["text"], hit["start"], hit["end"])
            shown.append({**{name: hit[name] for name in columns}, "left": left, "right": right})
    return hits.select("stimulus", "rank", "occurrence_id").join(pl.DataFrame(shown), on="occurrence_id")


def surroundings(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the text before and after a word: at most `CONTEXT_CHARACTERS` on either side, in whole words.

    Args:
        text: the context.
        start: where the word begins in it.
        end: where it ends.

    Returns:
        The texts before and after; white space is dropped at their outer ends, and kept next to the word.
    """
    first, last = max(start - CONTEXT_CHARACTERS, 0), min(end + CONTEXT_CHARACTERS, len(text))
    if _inside_a_word(text, first):
        first = min(WORD.match(text, first).end(), start)
    if _inside_a_word(text, last):
        last = end + words(text[end:last])[-1][1]
    return text[first:start].lstrip(), text[end:last].rstrip()


def _inside_a_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and WORD.fullmatch(text, place - 1, place + 1) is not None
