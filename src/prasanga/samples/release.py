"""The contexts that a study sampled, as a data set that others can use: a CSV in the layout of the authors' release.

The first two columns, `word` and `sentence`, are what `format: extracted` reads; the others say where in the sentence
the word stands and where the sentence comes from. Only texts with a licence are released: who runs a study knows under
which terms its texts may be passed on, and the program does not. What is left out is counted, and the pages beside the
CSV name it.
"""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from prasanga.base.documents import escape_markdown
from prasanga.base.errors import InputError
from prasanga.base.parquet import open_parquet, read_batches, replacing
from prasanga.base.progress import progress

RELEASE_COLUMNS = {
    "word": "the stimulus: the word of the study, in its dictionary form",
    "sentence": "the context: the sentence with the word and its neighbours, normalized",
    "form": "the word as it is written there, with its endings",
    "start": "number of the character of `sentence` at which the form begins, counted from 0",
    "end": "number of the character after its last",
    "language": "bn (Bangla), hi (Hindi) or en (English)",
    "title": "the text that the sentence comes from",
    "licence": "the terms of that text, which are the terms of the row",
    "source": "its file",
    "offset": "where in the file: the byte at which the line begins, or the number of the record",
    "context_id": "name of the context",
    "occurrence_id": "name of the word's place in it",
}
"""The columns of the release, and what they hold."""

logger = logging.getLogger(__name__)

_ROWS_AT_A_TIME = 8_192
_READ = ("occurrence_id", "context_id", "stimulus", "form", "language", "text", "start", "end", "source", "offset")


class Text(NamedTuple):
    """A text of the study, as the config names it.

    Attributes:
        files: the pattern of its files.
        title: what it is called in the release.
        licence: under which it may be passed on; None if the config does not say, and then it is not released.
        supplement: whether it was read only for words of which the other texts have too few contexts.
    """

    files: str
    title: str
    licence: str | None
    supplement: bool = False


@dataclass
class Tally:
    """What was sampled from a text: pairs of word and context, and the words."""

    contexts: int = 0
    stimuli: set[str] = field(default_factory=set)


def texts_of(corpus: Mapping[str, Any]) -> list[Text]:
    """Return the texts of a study, those of the supplement last; a text without a title is called by its pattern.

    Args:
        corpus: the section `corpus` of the config, with its defaults.
    """
    return [
        Text(entry["files"], entry["title"] or entry["files"], entry["licence"], key == "supplement")
        for key in ("texts", "supplement")
        for entry in corpus[key]
    ]


def sampled_occurrences(paths: Iterable[str | Path]) -> set[str]:
    """Return the `occurrence_id` of every segment in the tables of the samples stage.

    Memory: some 150 bytes each, and there are at most `contexts_per_stimulus` per stimulus and length.
    """
    found: set[str] = set()
    for path in paths:
        for batch in read_batches(path, ["occurrence_id"]):
            found.update(batch["occurrence_id"].to_pylist())
    return found


def release_rows(
    tables: Iterable[tuple[str | Path, Text]],
    occurrences: set[str],
    tallies: dict[Text, Tally],
    read: Callable[[int], object] | None = None,
) -> Iterator[tuple[str | int, ...]]:
    """Yield the rows of the release (`RELEASE_COLUMNS`), in the order of the tables.

    Memory holds a few thousand at a time.

    One row per stimulus and context: where two lengths took different places of one context, the first of them in the
    text stands. Rows of a text without a licence are counted and not yielded.

    Args:
        tables: the sentence tables that the samples were drawn from, each with its text.
        occurrences: from `sampled_occurrences`; those found are taken out of the set.
        tallies: the counts, by text, to add to.
        read: told how many rows have been read, whenever some have.

    Raises:
        InputError: if a table is absent or damaged, or, at the end, if a sampled occurrence is in none of them.
    """
    for path, text in tables:
        tally = tallies.setdefault(text, Tally())
        context, stimuli = "", set[str]()  # rows of one context stand together
        for row in _sampled_rows(path, occurrences, read):
            if row["context_id"] != context:
                context, stimuli = row["context_id"], set()
            if row["stimulus"] in stimuli:
                continue
            stimuli.add(row["stimulus"])
            tally.contexts += 1
            tally.stimuli.add(row["stimulus"])
            if text.licence is not None:
                row |= {"word": row["stimulus"], "sentence": row["text"], "title": text.title, "licence": text.licence}
                yield tuple(row[name] for name in RELEASE_COLUMNS)
    if occurrences:
        raise InputError(
            f"{len(occurrences)} sampled occurrence(s), {min(occurrences)} among them, stand in no table of sentences:"
            " these and the samples were made in different runs. Delete results/samples and run the workflow again."
        )


def _sampled_rows(
    path: str | Path, occurrences: set[str], read: Callable[[int], object] | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table whose occurrence was sampled; each is taken out of `occurrences`."""
    for batch in read_batches(path, _READ, rows=_ROWS_AT_A_TIME):
        names = batch["occurrence_id"].to_pylist()
        if chosen := [i for i, name in enumerate(names) if name in occurrences]:
            occurrences.difference_update(names[i] for i in chosen)
            yield from batch.take(chosen).to_pylist()
        if read is not None:
            read(batch.num_rows)


def write_release(
    path: str | Path, tables: Sequence[tuple[str | Path, Text]], occurrences: set[str]
) -> dict[Text, Tally]:
    """Write the CSV, whole or not at all, and return what was sampled from each text.

    UTF-8, a header, commas, line feeds; every text stands in quotation marks, so that no reader needs to guess. What is
    left out for want of a licence is told in the log.

    Raises:
        InputError: see `release_rows`; or if nothing was sampled from a text with a licence.
    """
    tallies: dict[Text, Tally] = {}
    with replacing(path) as temporary:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow(RELEASE_COLUMNS)
            n_rows = sum(open_parquet(path).metadata.num_rows for path, _ in tables)
            with progress("exporting the sampled sentences", n_rows, "occurrences") as done:
                writer.writerows(release_rows(tables, occurrences, tallies, done.advance))
        if not sum(tally.contexts for text, tally in tallies.items() if text.licence is not None):
            raise InputError(_nothing_to_release(tallies))
    for text, tally in tallies.items():
        if text.licence is None:
            logger.warning("%s: no licence in the config; %d sentence(s) are left out.", text.title, tally.contexts)
    return tallies


def sources_page(tallies: Mapping[Text, Tally], *, made: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """Return the page SOURCES.md: texts, licences, what was left out, and how the sentences were made.

    Args:
        tallies: from `write_release`.
        made: what names the release and its making, in words (study, digests, versions), printed as a list.
        settings: what of the config the sentences depend on, printed as YAML.
    """
    released = {text: tally for text, tally in tallies.items() if text.licence is not None}
    left_out = {text: tally for text, tally in tallies.items() if text.licence is None}
    written = yaml.safe_dump(dict(settings), allow_unicode=True, sort_keys=False).rstrip()
    return _SOURCES.format(
        released=_table(released),
        left_out=_LEFT_OUT + _table(left_out) if left_out else "Nothing: every text that was sampled has a licence.",
        made="\n".join(f"- {name}: {escape_markdown(value)}" for name, value in made.items()),
        fence="`" * (max([2, *(len(run) for run in re.findall("`+", written))]) + 1),
        settings=written,
    )


def datasheet(title: str, tallies: Mapping[Text, Tally]) -> str:
    """Return the page README.md: what the data set is, what its columns hold, what it is for and what it is not."""
    released = {text: tally for text, tally in tallies.items() if text.licence is not None}
    left_out = sum(tally.contexts for text, tally in tallies.items() if text.licence is None)
    rows = sum(tally.contexts for tally in released.values())
    words = len(set().union(*(tally.stimuli for tally in released.values())))
    columns = "\n".join(f"| `{name}` | {what} |" for name, what in RELEASE_COLUMNS.items())
    missing = f" {left_out:,} more were measured but are not here: their texts name no licence." if left_out else ""
    return _DATASHEET.format(
        title=escape_markdown(title), rows=rows, words=words, texts=len(released), missing=missing, columns=columns
    )


def _table(tallies: Mapping[Text, Tally]) -> str:
    lines = ["| text | files | licence | sentences | words | read for |", "| --- | --- | --- | ---: | ---: | --- |"]
    for text, tally in tallies.items():
        cells = [
            escape_markdown(text.title),
            f"`{text.files}`" if re.fullmatch(r"[\w./* -]+", text.files) else escape_markdown(text.files),
            escape_markdown(text.licence or "none named"),
            f"{tally.contexts:,}",
            f"{len(tally.stimuli):,}",
            "rare words only" if text.supplement else "all words",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _nothing_to_release(tallies: Mapping[Text, Tally]) -> str:
    unlicensed = {text: tally for text, tally in tallies.items() if text.licence is None}
    if not any(tally.contexts for tally in unlicensed.values()):
        return (
            "No context was sampled, so there is nothing to release. results/samples/coverage.parquet says why; more"
            " text under `corpus.texts` or shorter `samples.lengths` give contexts."
        )
    names = "; ".join(f"{text.title!r} ({tally.contexts} sentences)" for text, tally in unlicensed.items())
    return (
        f"None of the sampled texts has a licence, so there is nothing to release: {names}. Where the terms of a text"
        " allow to pass it on, write them into the config beside its `files`, e.g. `licence: CC BY-SA 4.0`."
    )


_SOURCES = """\
# Sources

Every sentence stays under the terms of its text. Check them before you pass it on.

{released}

## Left out

{left_out}

## How the sentences were made

{made}

{fence}yaml
{settings}
{fence}
"""

_LEFT_OUT = """\
These texts were measured, but the config names no licence for them. None of their sentences is in `sentences.csv`:

"""

_DATASHEET = """\
# {title}: the sentences

{rows:,} sentences in which {words:,} words of a study on bias in language models stand, from {texts:,} text(s).
`SOURCES.md` names the texts, their licences and the settings.{missing}

**Read this first.** The words were chosen to *measure* models. Among them may be names of women and men and of
religious communities, pleasant and unpleasant words, words for work and family; and some sentences repeat stereotypes,
because the texts do. That they are here is no statement about anybody, and an association that a model has taken from
such sentences justifies nothing.

## Columns of `sentences.csv`

| column | what |
| --- | --- |
{columns}

One row is one word in one context; a context with two words of the study has two rows. The first two columns are the
layout in which Sadhu et al. (2024) pass on theirs: a word, and a sentence that it stands in.

## How the sentences were chosen

By a program, and by nothing but the words in them. Every sentence with a word of the study in one of its forms was
found, and at most a fixed number for each word and length was drawn, by a hash of the text. Nobody chose or read them
one by one: they hold errors, and other words that are only spelled like the word of the study. They are no fair sample
of a language, or of what is said about a group of people.

## What it is for

To repeat the measurement, to check the word lists, and to compare models on the same sentences. It was not made for
training models. A name that stands in a sentence is no evidence about those who bear it, and the texts may speak of
living people: if you find something that should not be passed on, tell whoever published this data set.

## Read it back

    corpus:
      texts:
        - {{files: sentences.csv, format: extracted, columns: {{stimulus: word, sentence: sentence}}}}

## Cite

The texts (`SOURCES.md`); and for the method, Sadhu, Khan, Bhattacharjee and Shahriyar (2024), *An Empirical Study on
the Characteristics of Bias upon Context Length Variation for Bangla*, Findings of ACL 2024.
"""
