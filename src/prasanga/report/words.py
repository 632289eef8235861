"""The words of a study: its word sets with glosses and forms, and which words carry an effect.

s(w, A, B) is the mean cosine of a word with the attributes A minus that with B. Its size differs much between models,
so it is standardized for each: minus the mean over the words of both target sets, by their standard deviation (ddof 1).
The distance between the means of the two sets is then the effect size of Caliskan et al. (2017) on these associations.

The page and the figure of a category show the same numbers: both take them from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any, NamedTuple

import polars as pl
import regex

from prasanga.report.grid import sort_lengths

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
    """Return the gloss on one line; empty if it is missing or equals the word."""
    gloss = " ".join((glosses.get(stimulus) or "").split())
    return "" if gloss == stimulus else gloss


def pieces_as_text(row: Mapping[str, Any]) -> str:
    """Return the pieces of a stimulus, of a row of a tokenizer's audit; empty in audits from before they were kept.

    A vowel sign that begins a piece gets a dotted circle; without a letter, fonts show a box or nothing.
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
