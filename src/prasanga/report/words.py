"""The words of a study: its word sets with glosses and forms, and which words carry an effect.

s(w, A, B) is the mean cosine of a word with the attributes A minus that with B. Its size differs much between models,
so it is standardized for each: minus the mean over the words of both target sets, by their standard deviation (ddof 1).
The distance between the means of the two sets is then the effect size of Caliskan et al. (2017) on these associations.

The page and the figure of a category show the same numbers: both take them from here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import polars as pl
import regex

from prasanga.base.parquet import read_frame, read_where
from prasanga.report.grid import sort_lengths
from prasanga.schema import TABLES

_SHOWN = 8
"""So many forms of a word are shown."""


class MeasuredWord(NamedTuple):
    """A target word, and its standardized association by model."""

    stimulus: str
    values: Mapping[str, float]


class MeasuredSet(NamedTuple):
    """A target set: its words from those nearest to A down, their mean by model, and which words it is to have."""

    title: str
    words: list[MeasuredWord]
    means: Mapping[str, float]
    listed: list[str]


class Measured(NamedTuple):
    """The words of a category at one segment length in one sample mode.

    `table` has a row for each model and word that has an association: the columns of the table of words, and `value`,
    the standardized association.
    """

    length: str
    mode: str
    table: pl.DataFrame


def glosses_of(categories: Mapping[str, Any]) -> Mapping[str, str]:
    """Return English glosses by stimulus."""
    glosses: Mapping[str, str] = categories.get("glosses", {})
    return glosses


def list_words(categories: Mapping[str, Any], forms: pl.DataFrame | None) -> list[dict[str, Any]]:
    """Return the words of all sets: set, used_in, stimulus, gloss, group, forms and n_forms.

    Sets have the order of the categories. `forms` are a few of the `n_forms`, one for each number and case.
    """
    glosses = glosses_of(categories)
    inflected = {} if forms is None else forms.rows_by_key("stimulus", named=True)
    sets: dict[str, Mapping[str, Any]] = {}
    used: dict[str, list[str]] = {}
    for name, category in categories.items():
        for role in ("targets", "attributes") if name != "glosses" else ():
            for word_set in category[role]:
                sets.setdefault(word_set["name"], word_set)
                used.setdefault(word_set["name"], []).append(f"{role} of {name}")
    return [
        {
            **{"set": str(word_set.get("gloss") or name), "used_in": ", ".join(dict.fromkeys(used[name]))},
            **{"stimulus": stimulus, "gloss": glosses.get(stimulus, "")},
            **_describe_forms(inflected.get(stimulus, [])),
        }
        for name, word_set in sets.items()
        for stimulus in word_set["stimuli"]
    ]


def _describe_forms(rows: list[dict[str, Any]]) -> dict[str, Any]:
    paradigm: dict[tuple[str, str], str] = {}
    for row in rows:
        if not row["emphatic"] and "-" not in row["form"]:
            paradigm.setdefault((row["number"], row["case"]), row["form"])
    return {
        "group": ", ".join(dict.fromkeys(row["group"] for row in rows if row["group"])),
        "forms": list(dict.fromkeys(paradigm.values()))[:_SHOWN],
        "n_forms": len({row["form"] for row in rows}),
    }


def measured_words(words: pl.DataFrame, category: str) -> Measured:
    """Return the standardized associations of the target words of a category, each word of a set once.

    They are those of fixed draws, or random where there are no others, at the longest length at which a word of the
    category was measured so. Models whose words all have the same association are left out, as are associations that
    are not finite.

    Args:
        words: associations of single words.
        category: one of the study's.
    """
    there = words.filter(pl.col("role").is_in(["x", "y"]), pl.col("association").is_finite(), category=category)
    mode = min(there["sample_mode"], default="")
    there = there.filter(sample_mode=mode)
    length = next(reversed(sort_lengths(there["segment_length"])), "")
    return Measured(length, mode, _standardized(there.filter(segment_length=length)))


def measured_sets(measured: Measured, word_sets: Iterable[Mapping[str, Any]]) -> list[MeasuredSet]:
    """Return the two target sets, the words of each sorted by the mean over models, those nearest to A first."""
    return [
        _measured_set(measured.table.filter(role=role), word_set)
        for role, word_set in zip("xy", word_sets, strict=True)
    ]


def title_of_set(word_set: Mapping[str, Any]) -> str:
    """Return the name of a word set as a reader sees it."""
    return str(word_set.get("gloss") or word_set["name"]).replace("_", " ")


def gloss_of(stimulus: str, glosses: Mapping[str, str]) -> str:
    """Return the gloss on one line; empty where there is none, or where it is the word itself."""
    gloss = " ".join((glosses.get(stimulus) or "").split())
    return "" if gloss == stimulus else gloss


def pieces_as_text(row: Mapping[str, Any]) -> str:
    """Return the pieces of a stimulus, of a row of a tokenizer's audit; empty in audits from before they were kept.

    A vowel sign that begins a piece stands on a dotted circle; without a letter, fonts show a box or nothing.
    """
    return " + ".join(_SIGN_WITHOUT_LETTER.sub("◌", piece) for piece in row.get("pieces") or ())


_SIGN_WITHOUT_LETTER = regex.compile(r"(?<![\p{L}\p{M}\u200c\u200d])(?=\p{M})")


def _standardized(associations: pl.DataFrame) -> pl.DataFrame:
    """Return each word of a set once, with `value` for the association; without models whose words are all the same."""
    word = ["model", "role", "stimulus"]
    once = associations.sort(*word, "association").unique(word, keep="first", maintain_order=True)
    value = pl.col("association")
    return once.with_columns(
        value=(value - value.mean().over("model")) / value.std(ddof=1).over("model").replace(0.0, None)
    ).filter(pl.col("value").is_finite())


def _measured_set(table: pl.DataFrame, word_set: Mapping[str, Any]) -> MeasuredSet:
    by_word: dict[str, dict[str, float]] = {}
    for stimulus, model, value in table.select("stimulus", "model", "value").iter_rows():
        by_word.setdefault(stimulus, {})[model] = value
    means = {str(model): fmean(rows["value"].sort()) for (model,), rows in table.group_by("model")}
    ranked = sorted(by_word, key=lambda stimulus: (-fmean(by_word[stimulus].values()), stimulus))
    return MeasuredSet(
        title_of_set(word_set),
        [MeasuredWord(stimulus, by_word[stimulus]) for stimulus in ranked],
        means,
        list(dict.fromkeys(word_set["stimuli"])),
    )


# --------------------
# The sentences behind the numbers: of each word the first of those that were measured.


TEMPLATES = "templates"
"""Name of SEAT's file, and what stands under `segment_length` there."""

SENTENCES_SHOWN = 3
"""Contexts of a word at a length that the page shows."""

_FILLED_SHOWN = 6
"""Filled templates of a word that it shows."""

SENTENCES_SCHEMA = TABLES["measured_sentences"].polars
"""Columns of the table of measured sentences, one row a sentence of a word.

`category` is empty in CEAT and SEAT, where all categories share a word's sentences; of a trait it is the structure.
`n_measured` counts all sentences of the word there, of which the first by `rank` are listed.
`start` and `end` are null where the word does not stand in the sentence as it is listed."""


def choose_sentences(
    measured: Iterable[tuple[Iterable[str | Path], Mapping[str, Collection[str]]]],
    *,
    sources: Iterable[str | Path],
    scored: Iterable[str | Path],
    terms: Iterable[str | Path],
) -> pl.DataFrame:
    """Return the first sentences of each word that were measured, in `SENTENCES_SCHEMA`.

    Segments stand in the order of their priority, so that the first are the same whatever the order of the corpus.

    Args:
        measured: tables of segments of a length, or of filled templates, with the occurrences that all models measured.
        sources: tables of sentences, which say what file an occurrence is from.
        scored: tables of the sentences of log-probability bias, one a model.
        terms: tables of the terms of sentence structures, one a model.
    """
    tables = [pl.DataFrame(schema=dict(SENTENCES_SCHEMA))]
    for paths, occurrences in measured:
        ids = pl.Series(list(set().union(*occurrences.values())), dtype=pl.String).implode()
        for path in paths:
            table = read_frame(path, ["stimulus", "segment_length", "text", "start", "end", "occurrence_id"])
            table = table.filter(pl.col("occurrence_id").is_in(ids))
            filled = Path(path).stem == TEMPLATES
            tables.append(_first(table, "seat" if filled else "ceat", _FILLED_SHOWN if filled else SENTENCES_SHOWN))
    for method, paths, names in (
        ("log_probability", scored, {"attribute": "stimulus"}),
        ("structures", terms, {"trait": "stimulus", "structure": "category", "group": "template"}),
    ):
        # all models have the same sentences; what one left out another may have scored
        found = [read_frame(path).filter(pl.col("left_out").is_null()).rename(names) for path in paths]
        if found:
            once = pl.concat(found).unique(["category", "stimulus", "template"], keep="first", maintain_order=True)
            tables.append(_first(once, method, _FILLED_SHOWN))
    return _with_sources(pl.concat(tables), sources)


def _first(table: pl.DataFrame, method: str, most: int) -> pl.DataFrame:
    """Return the first rows of each word, in `SENTENCES_SCHEMA`; a word is looked for where its place is not known."""
    if "start" not in table.columns:
        places = [(text.find(word), len(word)) for text, word in table.select("text", "stimulus").iter_rows()]
        starts = pl.Series([start if start >= 0 else None for start, _ in places], dtype=pl.Int32)
        table = table.with_columns(start=starts, end=starts + pl.Series([n for _, n in places], dtype=pl.Int32))
    defaults = dict.fromkeys(SENTENCES_SCHEMA.keys() - table.columns, pl.lit(""))
    word = ("category", "stimulus")
    counts = {"rank": pl.int_range(1, pl.len() + 1).over(word), "n_measured": pl.len().over(word)}
    table = table.with_columns(**{**defaults, "method": pl.lit(method)}).with_columns(**counts)
    return table.filter(pl.col("rank") <= most).select(pl.col(name).cast(of) for name, of in SENTENCES_SCHEMA.items())


def _with_sources(chosen: pl.DataFrame, sources: Iterable[str | Path]) -> pl.DataFrame:
    """Return the sentences with the file of the corpus that each is from; "" for those of templates."""
    ids, columns = set(chosen.filter(method="ceat")["occurrence_id"]), ["occurrence_id", "source"]
    files: dict[str, str] = {}
    for path in sources:
        files |= dict(pl.DataFrame(read_where(path, columns, columns[0], ids)).iter_rows())
    return chosen.with_columns(source=pl.col("occurrence_id").replace_strict(files, default="", return_dtype=pl.String))
