"""Products of a study's corpus: candidate words by their frequency, and the sampled contexts as a data set.

Candidates become word sets as IndiBias chose its names: the most frequent of many first names (Sahoo et al. 2024,
section 5.1). The result has the layout of a word set. A user copies it to the stimuli; a study never changes its words
by itself.

The data set is a CSV in the layout of the authors' release: the first two columns, `word` and `sentence`, are read by
`format: extracted`. Only texts with a license in the config are released, because the program does not know their
terms. The pages with the CSV list the omitted texts.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import yaml

from prasanga.base.errors import InputError
from prasanga.base.io import read_batches, read_table, replacing
from prasanga.extras.dossier import render_template
from prasanga.lexicon.loading import CATEGORIES_FILE
from prasanga.lexicon.model import read_yaml
from prasanga.schema import COLUMNS, TABLES

COUNT_SCHEMA = TABLES["candidate_counts"].arrow(nullable=())
"""One row per stimulus in the corpus, sorted: its occurrences in all forms, and their sentences."""

RANKING_COLUMNS = TABLES["candidates"].names
RELEASE_COLUMNS = TABLES["released_sentences"].names

logger = logging.getLogger(__name__)

_READ = ("occurrence_id", "context_id", "stimulus", "form", "language", "text", "start", "end", "source", "offset")


# --------------------
# Candidates.


class Candidates(NamedTuple):
    """A set of candidate words: its name, its gloss, and the unchanged entry of each word."""

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
            f"{folder}: no candidate word sets (*.yaml). Write a folder with some under `lexicon.candidates`, such as"
            " resources/candidates/bn, or null."
        )
    language = read_yaml(folder / CATEGORIES_FILE).text("language")
    return [
        Candidates(
            content.text("set"),
            content.text("gloss", content.text("set")),
            {entry.text("stimulus"): _to_plain(entry) for entry in content.entries_of("words")},
        )
        for content in (read_yaml(path, language, normalization) for path in paths)
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
    counts = pl.concat(pl.DataFrame(read_table(path, COUNT_SCHEMA.names)) for path in paths)
    words = [
        (n, each.name, word, entry.get("gloss", ""))
        for n, each in enumerate(sets)
        for word, entry in each.words.items()
    ]
    ranking = (
        pl.DataFrame(words, schema=["number", "set", "stimulus", "gloss"], orient="row")
        .join(counts.group_by("stimulus").sum(), on="stimulus", how="left")
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
    chosen = ranking.filter(pl.col("chosen"), set=candidates.name)
    words = [candidates.words[stimulus] for stimulus in chosen["stimulus"]]
    content = {"set": candidates.name, "gloss": candidates.gloss, "words": words}
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


# --------------------
# The sampled contexts.


class Text(NamedTuple):
    """A text of the study, as the config names it.

    Attributes:
        files: the pattern of its files.
        title: its name in the release.
        licence: the terms for passing it on; a text without them is not released.
        supplement: whether it was read only for words with too few contexts in the other texts.
    """

    files: str
    title: str
    licence: str | None
    supplement: bool = False


class TextTally(NamedTuple):
    """The contexts sampled from a text (pairs of word and context), and their words."""

    contexts: int
    stimuli: set[str]


def sampled_occurrences(paths: Iterable[str | Path]) -> set[str]:
    """Return the `occurrence_id` of every segment in the tables of the samples stage (about 150 bytes each)."""
    return {name for path in paths for batch in read_batches(path, ["occurrence_id"]) for name in batch[0].to_pylist()}


def write_release(
    path: str | Path, tables: Sequence[tuple[str | Path, Text]], occurrences: set[str]
) -> dict[Text, TextTally]:
    """Write the CSV (`RELEASE_COLUMNS`) and return the sampled contexts and words of each text.

    One row per stimulus and context: if two lengths use different places of one context, the first place counts. The
    CSV is UTF-8, with a header, commas, line feeds, and every text in quotation marks.

    Args:
        path: of the CSV.
        tables: the sentence tables that the samples were drawn from, each with its text.
        occurrences: from `sampled_occurrences`.

    Raises:
        InputError: no text with a licence was sampled.
    """
    stimuli: dict[Text, list[str]] = {text: [] for _, text in tables}
    released = []
    for table, text in tables:
        rows = pl.scan_parquet(table, glob=False).select(_READ)
        rows = rows.filter(pl.col("occurrence_id").is_in(sorted(occurrences)))
        sampled = rows.unique(["context_id", "stimulus"], keep="first", maintain_order=True).collect()
        stimuli[text] += sampled["stimulus"].to_list()
        if text.licence is not None:
            about = {"title": pl.lit(text.title), "licence": pl.lit(text.licence)}
            released.append(sampled.select(pl.all(), word="stimulus", sentence="text", **about).select(RELEASE_COLUMNS))
    tallies = {text: TextTally(len(words), set(words)) for text, words in stimuli.items()}
    if not any(map(len, released)):
        names = "; ".join(f"{text.title!r} ({tally.contexts} sentences)" for text, tally in tallies.items())
        raise InputError(
            f"There is nothing to release: no sampled text has a license: {names}. If its terms allow it,"
            " write `licence: CC BY-SA 4.0` next to the `files` of a text in the config."
        )
    with replacing(path) as temporary:
        pl.concat(released).write_csv(temporary, quote_style="non_numeric")
    for text, tally in _split_by_licence(tallies)["left_out"]:
        logger.warning("%s: no license in the config; %d sentence(s) are left out.", text.title, tally.contexts)
    return tallies


def sources_page(tallies: Mapping[Text, TextTally], *, made: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """Return the page SOURCES.md: texts, licenses, omissions, and the making of the sentences.

    Args:
        tallies: from `write_release`.
        made: names of the release and its making (study, digests, versions), printed as a list.
        settings: the part of the config that the sentences depend on, printed as YAML.
    """
    written = yaml.safe_dump(dict(settings), allow_unicode=True, sort_keys=False).rstrip()
    fence = "`" * (max([2, *map(len, re.findall("`+", written))]) + 1)
    return render_template("sources.md.j2", **_split_by_licence(tallies), made=made, fence=fence, settings=written)


def datasheet(title: str, tallies: Mapping[Text, TextTally]) -> str:
    """Return the page README.md: the data set, its columns, purpose and limits."""
    meanings = {name: COLUMNS[name].meaning for name in RELEASE_COLUMNS}
    return render_template("datasheet.md.j2", **_split_by_licence(tallies), title=title, columns=meanings)


def _split_by_licence(tallies: Mapping[Text, TextTally]) -> dict[str, list[tuple[Text, TextTally]]]:
    return {
        "released": [(text, tally) for text, tally in tallies.items() if text.licence is not None],
        "left_out": [(text, tally) for text, tally in tallies.items() if text.licence is None],
    }
