"""Candidate words ranked by their frequency in a corpus, and the first k of each set as a word set.

IndiBias chose its names in this way: the fourteen most frequent of many first names (Sahoo et al. 2024, section 5.1).
The result has the layout of a word set. A user copies it to the stimuli; a study never changes its words by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import yaml

from prasanga.base.errors import InputError
from prasanga.base.io import read_table
from prasanga.lexicon.loading import CATEGORIES_FILE
from prasanga.lexicon.model import read_yaml
from prasanga.schema import TABLES

logger = logging.getLogger(__name__)

COUNT_SCHEMA = TABLES["candidate_counts"].arrow(nullable=())
"""One row per stimulus found, sorted: its occurrences in all forms, and the sentences that contain them."""

RANKING_COLUMNS = TABLES["candidates"].names


class Candidates(NamedTuple):
    """A set of candidate words: its name, its gloss, and the entry of each word as its file has it."""

    name: str
    gloss: str
    words: dict[str, dict[str, Any]]


def read_candidates(folder: str | Path, normalization: str | None = None) -> list[Candidates]:
    """Read the candidate sets of a folder, sorted by file name.

    The layout follows `resources/stimuli/<language>`, with a `categories.yaml` that names only the language.
    `prasanga.lexicon.load_lexicon` reads the same folder for the words' forms and checks the entries.

    Args:
        folder: the candidate sets.
        normalization: the corpus's, if it is not the language's default; as in `load_lexicon`.

    Raises:
        InputError: no such folder, no set in it, or a file that cannot be read.
    """
    folder = Path(folder)
    paths = [path for path in sorted(folder.glob("*.yaml")) if path.name != CATEGORIES_FILE]
    if not paths:
        raise InputError(
            f"{folder}: no folder with candidate word sets (*.yaml). Write one under `lexicon.candidates`, such as"
            " resources/candidates/bn, or null."
        )
    language = read_yaml(folder / CATEGORIES_FILE).text("language")
    contents = [read_yaml(path, language, normalization) for path in paths]
    return [
        Candidates(
            content.text("set"),
            content.text("gloss", content.text("set")),
            {entry.text("stimulus"): _to_plain(entry) for entry in content.entries_of("words")},
        )
        for content in contents
    ]


def count_stimuli(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Count the rows of `prasanga.sentences.extract_shard` by stimulus (`COUNT_SCHEMA`).

    A sentence with a word twice counts once under `sentences`; every copy of a sentence counts.
    """
    empty = pl.DataFrame(schema={"stimulus": pl.String, "context_id": pl.String})
    rows = pl.concat([empty, *(pl.DataFrame(batch.select(empty.columns)) for batch in batches)])
    counts = rows.group_by("stimulus").agg(occurrences=pl.len(), sentences=pl.col("context_id").n_unique())
    return counts.sort("stimulus").to_arrow().cast(COUNT_SCHEMA)


def rank_candidates(sets: Iterable[Candidates], paths: Iterable[str | Path], top: int) -> pl.DataFrame:
    """Order the words of each set by their occurrences in a corpus and choose the first `top` of those that occur.

    Words with equal counts are in the order of their code points. A set with fewer than `top` words that occur is
    reported in the log.

    Args:
        sets: from `read_candidates`.
        paths: the tables of `count_stimuli` of all parts of the corpus.
        top: words to choose per set.

    Returns:
        One row per candidate (`RANKING_COLUMNS`), with ranks from 1.
    """
    tables = [pl.DataFrame(read_table(path, COUNT_SCHEMA.names)) for path in paths]
    counts = pl.concat(tables).group_by("stimulus").sum()
    words = [
        (n, each.name, word, entry.get("gloss", ""))
        for n, each in enumerate(sets)
        for word, entry in each.words.items()
    ]
    ranking = (
        pl.DataFrame(words, schema=["number", "set", "stimulus", "gloss"], orient="row")
        .join(counts, on="stimulus", how="left")
        .with_columns(pl.col("occurrences", "sentences").fill_null(0))
        .sort("number", "occurrences", "stimulus", descending=[False, True, False])
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over("set"))
        .with_columns(chosen=(pl.col("rank") <= top) & (pl.col("occurrences") > 0))
    )
    for name, chosen in ranking.group_by("set", maintain_order=True).agg(pl.col("chosen").sum()).iter_rows():
        if chosen < top:
            logger.warning(
                "%s: only %d candidates occur in the corpus, fewer than lexicon.top (%d). Add candidates or text.",
                *(name, chosen, top),
            )
    return ranking.select(RANKING_COLUMNS)


def word_set_yaml(candidates: Candidates, ranking: pl.DataFrame) -> str:
    """Return the chosen words of a set as a word set, most frequent first, with their entries unchanged."""
    chosen = ranking.filter(pl.col("chosen") & (pl.col("set") == candidates.name))
    content = {
        "set": candidates.name,
        "gloss": candidates.gloss,
        "words": [candidates.words[stimulus] for stimulus in chosen["stimulus"]],
    }
    return (
        f"# The {chosen.height} most frequent of {len(candidates.words)} candidates in the study's corpus.\n"
        f"# Occurrences: {', '.join(map(str, chosen['occurrences'])) or 'none'}.\n"
        + yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=float("inf"))
    )


def _to_plain(value: Any) -> Any:
    """Return mappings and lists without their line numbers, which YAML cannot write."""
    if isinstance(value, dict):
        return {key: _to_plain(item) for key, item in value.items()}
    return [_to_plain(item) for item in value] if isinstance(value, list) else value
