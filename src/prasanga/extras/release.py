"""The contexts that a study sampled, as a data set for others: a CSV in the layout of the authors' release.

The first two columns, `word` and `sentence`, are read by `format: extracted`. Only texts with a licence are released:
the user knows the terms of a text, the program does not. The pages written with the CSV name what was left out.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

from prasanga.base.errors import InputError
from prasanga.base.io import read_batches, replacing
from prasanga.extras.dossier import render_template
from prasanga.schema import COLUMNS, TABLES

RELEASE_COLUMNS = TABLES["released_sentences"].names

logger = logging.getLogger(__name__)

_READ = ("occurrence_id", "context_id", "stimulus", "form", "language", "text", "start", "end", "source", "offset")


class Text(NamedTuple):
    """A text of the study, as the config names it.

    Attributes:
        files: the pattern of its files.
        title: its name in the release.
        licence: the terms under which it may be passed on; a text without them is not released.
        supplement: whether it was read only for words with too few contexts in the other texts.
    """

    files: str
    title: str
    licence: str | None
    supplement: bool = False


class Tally(NamedTuple):
    """The contexts sampled from a text (pairs of word and context), and their words."""

    contexts: int
    stimuli: set[str]


def sampled_occurrences(paths: Iterable[str | Path]) -> set[str]:
    """Return the `occurrence_id` of every segment in the tables of the samples stage (about 150 bytes each)."""
    return {name for path in paths for batch in read_batches(path, ["occurrence_id"]) for name in batch[0].to_pylist()}


def write_release(
    path: str | Path, tables: Sequence[tuple[str | Path, Text]], occurrences: set[str]
) -> dict[Text, Tally]:
    """Write the CSV (`RELEASE_COLUMNS`) and return what was sampled from each text.

    One row per stimulus and context: if two lengths use different places of one context, the first place counts. The
    CSV is UTF-8, with a header, commas, line feeds, and every text in quotation marks.

    Args:
        path: of the CSV.
        tables: the sentence tables that the samples were drawn from, each with its text.
        occurrences: from `sampled_occurrences`.

    Raises:
        InputError: a sampled occurrence is in no table, or no text with a licence was sampled.
    """
    stimuli: dict[Text, list[str]] = {text: [] for _, text in tables}
    released, n_found = [], 0
    for table, text in tables:
        occurrence = pl.col("occurrence_id").is_in(sorted(occurrences))
        rows = pl.scan_parquet(table, glob=False).select(_READ).filter(occurrence).collect()
        n_found += rows.height
        sampled = rows.unique(["context_id", "stimulus"], keep="first", maintain_order=True)
        stimuli[text] += sampled["stimulus"].to_list()
        if text.licence is not None:
            about = {"title": pl.lit(text.title), "licence": pl.lit(text.licence)}
            released.append(sampled.select(pl.all(), word="stimulus", sentence="text", **about).select(RELEASE_COLUMNS))
    tallies = {text: Tally(len(words), set(words)) for text, words in stimuli.items()}
    if n_found < len(occurrences):
        raise InputError(
            f"{len(occurrences) - n_found} sampled occurrence(s) are in no table of sentences. Delete results/samples"
            " and run the workflow again."
        )
    if not any(map(len, released)):
        names = "; ".join(f"{text.title!r} ({tally.contexts} sentences)" for text, tally in tallies.items())
        raise InputError(
            f"There is nothing to release, as no sentence of a text with a licence was sampled: {names}. Where terms"
            " allow it, write them into the config beside the `files` of a text: `licence: CC BY-SA 4.0`."
        )
    with replacing(path) as temporary:
        pl.concat(released).write_csv(temporary, quote_style="non_numeric")
    for text, tally in _by_licence(tallies)[1]:
        logger.warning("%s: no licence in the config; %d sentence(s) are left out.", text.title, tally.contexts)
    return tallies


def sources_page(tallies: Mapping[Text, Tally], *, made: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """Return the page SOURCES.md: texts, licences, what was left out, and how the sentences were made.

    Args:
        tallies: from `write_release`.
        made: names of the release and its making (study, digests, versions), printed as a list.
        settings: the part of the config that the sentences depend on, printed as YAML.
    """
    written = yaml.safe_dump(dict(settings), allow_unicode=True, sort_keys=False).rstrip()
    fence = "`" * (max([2, *map(len, re.findall("`+", written))]) + 1)
    released, left_out = _by_licence(tallies)
    context = {"released": released, "left_out": left_out, "made": made, "fence": fence, "settings": written}
    return render_template("sources.md.j2", **context)


def datasheet(title: str, tallies: Mapping[Text, Tally]) -> str:
    """Return the page README.md: what the data set is, its columns, its purpose and its limits."""
    released, left_out = _by_licence(tallies)
    context = {
        "title": title,
        "rows": sum(tally.contexts for _, tally in released),
        "words": len(set[str]().union(*(tally.stimuli for _, tally in released))),
        "texts": len(released),
        "missing": sum(tally.contexts for _, tally in left_out),
        "columns": {name: COLUMNS[name].meaning for name in RELEASE_COLUMNS},
    }
    return render_template("datasheet.md.j2", **context)


def _by_licence(tallies: Mapping[Text, Tally]) -> tuple[list[tuple[Text, Tally]], list[tuple[Text, Tally]]]:
    released = [(text, tally) for text, tally in tallies.items() if text.licence is not None]
    return released, [(text, tally) for text, tally in tallies.items() if text.licence is None]
