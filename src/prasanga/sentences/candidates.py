"""Candidate words ranked by how often they stand in a corpus, and the first k of each set as a word set of their own.

IndiBias chose its names so: of many first names, the fourteen that occur most often in the texts that models are
trained on (Sahoo et al. 2024, section 5.1). A rare name says little about a model, and a name chosen by hand says
something about who chose it. The result is a file in the layout of the word sets, which a user copies to the stimuli;
a study never changes its words by itself.
"""

from __future__ import annotations

import csv
import io
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import yaml

from prasanga.base.errors import InputError
from prasanga.base.parquet import read_table
from prasanga.base.yaml import Entry
from prasanga.lexicon.loading import CATEGORIES_FILE
from prasanga.lexicon.model import read_yaml, table_schema

logger = logging.getLogger(__name__)

COUNT_SCHEMA = table_schema({"stimulus": pa.string(), "occurrences": pa.int64(), "sentences": pa.int64()})
"""One row per stimulus that was found, sorted: its occurrences in all its forms, and the sentences that hold them."""

RANKING_COLUMNS = ("set", "rank", "stimulus", "gloss", "occurrences", "sentences", "chosen")


class Candidates(NamedTuple):
    """A set of candidate words: its name and gloss, and the entry of each word as it stands in the file."""

    name: str
    gloss: str
    words: dict[str, Entry]


class Count(NamedTuple):
    """How often a word was found, and in how many sentences."""

    occurrences: int = 0
    sentences: int = 0


class Ranked(NamedTuple):
    """A candidate with its place (from 1), how often it was found, and whether it is one of those taken."""

    rank: int
    stimulus: str
    found: Count
    chosen: bool


def read_candidates(folder: str | Path, normalization: str | None = None) -> list[Candidates]:
    """Read the candidate sets of a folder, sorted by file name.

    The layout is that of `resources/stimuli/<language>`, with a `categories.yaml` that names the language and no
    category. `prasanga.lexicon.load_lexicon` reads the same folder for the words' forms, and refuses what is wrong.

    Args:
        folder: the candidate sets.
        normalization: the corpus's, if not the language's own; as in `load_lexicon`.

    Raises:
        InputError: no such folder, no set in it, two sets of one name, or a file that cannot be read.
    """
    folder = Path(folder)
    paths = [path for path in sorted(folder.glob("*.yaml")) if path.name != CATEGORIES_FILE]
    if not paths:
        raise InputError(
            f"{folder}: no folder with candidate word sets (*.yaml). Write one under `lexicon.candidates`, such as"
            " resources/candidates/bn, or null."
        )
    language = read_yaml(folder / CATEGORIES_FILE).text("language")
    found: dict[str, Candidates] = {}
    for path in paths:
        content = read_yaml(path, language, normalization)
        content.require("a word set", required=["set", "words"], optional=["gloss"])
        name = content.text("set")
        if not name.replace("_", "").replace("-", "").isalnum():
            raise InputError(
                f"{path}: the set's name {name!r} becomes a file name; allowed are letters, digits, - and _. Write e.g."
                f" `set: {path.stem}`."
            )
        if name in found:
            raise InputError(f"{path}: there is another file with `set: {name}`. Rename one of the sets.")
        words = {entry.text("stimulus"): entry for entry in content.entries_of("words")}
        found[name] = Candidates(name, content.text("gloss", name), words)
    return list(found.values())


def count_stimuli(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Count the rows of `prasanga.sentences.extract_shard` by stimulus (`COUNT_SCHEMA`); memory holds one batch.

    A sentence in which a word stands twice counts once under `sentences`. Copies of a sentence count each: what is
    measured is how often the text shows the word. Counts of the parts of a corpus add up.
    """
    occurrences: Counter[str] = Counter()
    sentences: Counter[str] = Counter()
    keys = ["stimulus", "context_id"]
    begun = pl.DataFrame(schema=dict.fromkeys(keys, pl.String))  # the last context may go on in the next batch
    for batch in batches:
        table = pl.DataFrame(batch.select(keys))
        if not table.is_empty():
            pairs = table.unique()
            occurrences.update(dict(table["stimulus"].value_counts().iter_rows()))
            sentences.update(dict(pairs.join(begun, keys, "anti")["stimulus"].value_counts().iter_rows()))
            begun = pl.concat([begun, pairs]).filter(pl.col("context_id") == table["context_id"][-1])
    rows = [{"stimulus": s, "occurrences": occurrences[s], "sentences": sentences[s]} for s in sorted(occurrences)]
    return pa.Table.from_pylist(rows, COUNT_SCHEMA)


def add_counts(paths: Iterable[str | Path]) -> dict[str, Count]:
    """Add up the tables of `count_stimuli` (Parquet files), stimulus by stimulus.

    Raises:
        InputError: if a file is absent or damaged.
    """
    tables = [COUNT_SCHEMA.empty_table(), *(read_table(path, COUNT_SCHEMA.names) for path in paths)]
    total = pl.concat(map(pl.DataFrame, tables)).group_by("stimulus").sum()
    return {stimulus: Count(*counts) for stimulus, *counts in total.iter_rows()}


def rank(candidates: Candidates, counts: Mapping[str, Count], top: int) -> list[Ranked]:
    """Order the words of a set by their occurrences, and take the first `top` of those that occur.

    Words that occur equally often stand in the order of their code points. Where fewer than `top` occur, all that occur
    are taken, and the log says so.
    """
    found = {stimulus: counts.get(stimulus, Count()) for stimulus in candidates.words}
    order = sorted(found, key=lambda stimulus: (-found[stimulus].occurrences, stimulus))
    ranked = [
        Ranked(place, stimulus, found[stimulus], chosen=place <= top and found[stimulus].occurrences > 0)
        for place, stimulus in enumerate(order, start=1)
    ]
    taken = sum(word.chosen for word in ranked)
    if taken < top:
        logger.warning(
            "%s: only %d of its %d candidates occur(s) in the corpus; taken: %d, not %d (lexicon.top). Give it more"
            " candidates or more text.",
            candidates.name,
            taken,
            len(ranked),
            taken,
            top,
        )
    return ranked


def ranking_csv(rankings: Sequence[tuple[Candidates, Sequence[Ranked]]]) -> str:
    """Return all candidates of all sets, with their places, as CSV (`RANKING_COLUMNS`)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(RANKING_COLUMNS)
    for candidates, ranked in rankings:
        for word in ranked:
            gloss = candidates.words[word.stimulus].text("gloss")
            chosen = "true" if word.chosen else "false"
            writer.writerow([candidates.name, word.rank, word.stimulus, gloss, *word.found, chosen])
    return text.getvalue()


def word_set_yaml(candidates: Candidates, ranked: Sequence[Ranked]) -> str:
    """Return the words taken, in the order of their places, as a word set.

    Each entry is as it stands in the candidates' file.
    """
    taken = [word for word in ranked if word.chosen]
    lines = [
        f"# The {len(taken)} most frequent of {len(ranked)} candidates in the study's corpus, the most frequent first.",
        "# Occurrences: " + (", ".join(f"{word.found.occurrences}" for word in taken) or "none") + ".",
        f"set: {_flow(candidates.name)}",
        f"gloss: {_flow(candidates.gloss)}",
        "words:" if taken else "words: []",
    ]
    lines += [f"  - {_flow(_plain(candidates.words[word.stimulus]))}" for word in taken]
    return "\n".join(lines) + "\n"


def _flow(value: object) -> str:
    """Return a value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=float("inf"))
    return text.removesuffix("...\n").strip()


def _plain(value: Any) -> Any:
    """Return mappings and lists without their line numbers, which YAML cannot write."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
