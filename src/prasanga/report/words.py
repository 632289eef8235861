"""Which words carry an effect: the association of every target word of a category, by set and model.

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

from prasanga.columns import remade_by, require_columns
from prasanga.errors import InputError
from prasanga.report.figures.names import words_figure
from prasanga.report.figures.palette import MARKERS, MODELS
from prasanga.report.grid import is_number, natural_order, sort_lengths
from prasanga.report.sheet import MINUS, signed
from prasanga.report.word_sets import glosses_of

NEEDED = ("category", "model", "segment_length", "sample_mode", "role", "stimulus", "association")
"""The columns of a table of words from which associations are standardized."""

NOTABLE = 0.2
"""An effect that moves by more than this without a word is shown beside the word."""

STRIP_WIDTH = 160
"""Width of a strip of dots, in the units of its marks."""

SHAPES: Mapping[str, str] = {
    "o": "M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z",
    "s": "M-4.1 -4.1H4.1V4.1H-4.1z",
    "^": "M0 -5.2L5 4.1H-5z",
    "D": "M0 -5.6L5.6 0L0 5.6L-5.6 0z",
    "v": "M0 5.2L5 -4.1H-5z",
    "P": "M-1.8 -5.2H1.8V-1.8H5.2V1.8H1.8V5.2H-1.8V1.8H-5.2V-1.8H-1.8z",
    "X": "M-5 -2.5L-2.5 -5L0 -2.5L2.5 -5L5 -2.5L2.5 0L5 2.5L2.5 5L0 2.5L-2.5 5L-5 2.5L-2.5 0z",
    "<": "M-5.2 0L4.1 -5V5z",
    ">": "M5.2 0L-4.1 -5V5z",
    "h": "M0 -5.2L4.5 -2.6V2.6L0 5.2L-4.5 2.6V-2.6z",
}
"""Each marker of the figures as an SVG path around 0, 0."""

_MARGIN = 7.0
"""What a strip leaves free on each side, so that no mark is cut."""

_ROLES = {"x": "first target set", "y": "second target set", "a": "first attribute set", "b": "second attribute set"}
_DECIMALS = 2


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


class Look(NamedTuple):
    """Colour and shape of a model, the same in all categories: n of `--model-n`, and an SVG path."""

    model: str
    colour: int
    shape: str


class Mark(NamedTuple):
    """A dot of a strip: where it stands, from 0 to `STRIP_WIDTH`, and the model's look."""

    x: float
    look: Look


class Cell(NamedTuple):
    """A standardized association as it is written, and what the effect is without the word."""

    text: str
    title: str


class WordRow(NamedTuple):
    """A word, its gloss, a mark for each model that has a value, a cell for each, and notable effects without it."""

    word: str
    gloss: str
    marks: list[Mark]
    cells: list[Cell]
    without: list[str]


class SetRows(NamedTuple):
    """A target set on the page: the mean of its words by model, and these."""

    title: str
    marks: list[Mark]
    means: list[str]
    rows: list[WordRow]


class WordsOfCategory(NamedTuple):
    """A category on the page. Texts by model are in the order of `looks`; `sets` is empty where nothing was measured.

    `a` and `b` are the attribute sets, `zero` is where 0 is in the strips, `differences` are those of the means of the
    two sets, `effects` CEAT's effect sizes (empty where these are not known), `lost` the words without an association,
    `figure` the name of the figure for a paper.
    """

    name: str
    title: str
    language: str
    figure: str
    length: str
    mode: str
    a: str
    b: str
    looks: list[Look]
    zero: float
    sets: list[SetRows]
    differences: list[str]
    effects: list[str]
    lost: list[str]

    @property
    def n_words(self) -> int:
        """How many words have an association."""
        return sum(len(found.rows) for found in self.sets)

    @property
    def is_notable(self) -> bool:
        """Whether the effect is notably another without one of the words."""
        return any(row.without for found in self.sets for row in found.rows)


def words_section(
    words: pl.DataFrame | None,
    categories: Mapping[str, Any],
    *,
    language: str,
    ceat: pl.DataFrame | None = None,
) -> list[WordsOfCategory]:
    """The section of the page; empty where no words were measured.

    Args:
        words: the table of words of CEAT; every model has the look of its place in it.
        categories: what the lexicon stage writes: sets with their words by category, and English glosses. Of a category
            that is not among them the names of the sets are those of the table.
        language: code of the language of the words.
        ceat: the estimates of CEAT, which the effect without a word is held against.

    Raises:
        InputError: a column is missing.
    """
    if words is None:
        return []
    require_columns("associations of words", words, (*NEEDED, "set", "effect_without"), remade_by("associations"))
    names = set(words["category"]) | (set() if ceat is None else set(ceat["category"]))
    looks = [_look(model, number) for number, model in enumerate(words["model"].unique(maintain_order=True))]
    return [_category(words, categories, name, looks, language, ceat) for name in sorted(names, key=natural_order)]


def measured_words(
    words: pl.DataFrame, category: str, *, segment_length: str | None = None, sample_mode: str | None = None
) -> Measured:
    """The standardized associations of the target words of a category, each word of a set once.

    Models whose words all have the same association are left out, as are associations that are not finite.

    Args:
        words: with the columns `NEEDED`.
        category: one of the study's.
        segment_length: None for the longest at which a word of the category was measured in that mode.
        sample_mode: None for fixed draws, or random where there are no others.

    Raises:
        InputError: a column is missing, or the length or mode is not in the table.
    """
    require_columns("associations of words", words, NEEDED, remade_by("associations"))
    there = words.filter(pl.col("role").is_in(["x", "y"]), pl.col("association").is_finite(), category=category)
    if segment_length is not None:
        there = there.filter(segment_length=_known("segment_length", segment_length, words))
    mode = min(there["sample_mode"], default="") if sample_mode is None else _known("sample_mode", sample_mode, words)
    there = there.filter(sample_mode=mode)
    length = segment_length or next(reversed(sort_lengths(there["segment_length"])), "")
    return Measured(length, mode, _standardized(there.filter(segment_length=length)))


def measured_sets(measured: Measured, word_sets: Iterable[Mapping[str, Any]]) -> list[MeasuredSet]:
    """The two target sets, the words of each sorted by the mean over models, those nearest to A first."""
    return [
        _measured_set(measured.table.filter(role=role), word_set)
        for role, word_set in zip("xy", word_sets, strict=True)
    ]


def title_of_set(word_set: Mapping[str, Any]) -> str:
    """The name of a word set as a reader sees it."""
    return str(word_set.get("gloss") or word_set["name"]).replace("_", " ")


def gloss_of(stimulus: str, glosses: Mapping[str, str]) -> str:
    """The gloss on one line; empty where there is none, or where it is the word itself."""
    gloss = " ".join((glosses.get(stimulus) or "").split())
    return "" if gloss == stimulus else gloss


def _known(name: str, value: str, words: pl.DataFrame) -> str:
    there = words[name].unique(maintain_order=True).to_list()
    if value not in there:
        raise InputError(f"{name}: {value!r} is not in the associations of words. Write {' or '.join(there)}.")
    return value


def _standardized(associations: pl.DataFrame) -> pl.DataFrame:
    """Each word of a set once, with `value` for the association; without models whose words are all the same."""
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


def _look(model: str, number: int) -> Look:
    return Look(model, number % len(MODELS) + 1, SHAPES[MARKERS[number % len(MARKERS)]])


def _category(
    words: pl.DataFrame,
    categories: Mapping[str, Any],
    name: str,
    looks: list[Look],
    language: str,
    ceat: pl.DataFrame | None,
) -> WordsOfCategory:
    about = categories.get(name) or _sets_of_table(words.filter(category=name))
    measured = measured_words(words, name)
    sets = measured_sets(measured, about["targets"])
    numbers = [value for found in sets for word in found.words for value in word.values.values()]
    scale = _Scale(min(numbers, default=0.0), max(numbers, default=0.0))
    effects = _effects(ceat, name, measured)
    without = {
        (role, stimulus, model): effect
        for role, stimulus, model, effect in measured.table.select(
            "role", "stimulus", "model", "effect_without"
        ).iter_rows()
        if is_number(effect)
    }

    def row(role: str, word: MeasuredWord) -> WordRow:
        of_models = [without.get((role, word.stimulus, look.model)) for look in looks]
        pairs = list(zip(looks, of_models, strict=True))
        return WordRow(
            word.stimulus,
            gloss_of(word.stimulus, glosses_of(categories)),
            scale.marks(word.values, looks),
            [
                Cell(_written(word.values.get(look.model)), _title(effect, effects.get(look.model)))
                for look, effect in pairs
            ],
            [
                f"{look.model}: {_written(effect)}"
                for look, effect in pairs
                if _is_notable(effect, effects.get(look.model))
            ],
        )

    x, y = (found.means for found in sets)
    return WordsOfCategory(
        name=name,
        title=str(about.get("title") or ""),
        language=language,
        figure=words_figure(name),
        length=measured.length,
        mode=measured.mode,
        a=title_of_set(about["attributes"][0]),
        b=title_of_set(about["attributes"][1]),
        looks=looks,
        zero=scale.at(0.0),
        sets=[
            SetRows(
                found.title,
                scale.marks(found.means, looks),
                [_written(found.means.get(look.model)) for look in looks],
                [row(role, word) for word in found.words],
            )
            for role, found in zip("xy", sets, strict=True)
        ]
        if numbers
        else [],
        differences=[
            _written(x[look.model] - y[look.model] if look.model in x and look.model in y else None) for look in looks
        ],
        effects=[_written(effects.get(look.model)) for look in looks] if effects else [],
        lost=[
            stimulus
            for found in sets
            for stimulus in found.listed
            if stimulus not in {word.stimulus for word in found.words}
        ],
    )


def _sets_of_table(words: pl.DataFrame) -> dict[str, Any]:
    """What the table itself says of the sets of a category: their names."""
    names = _ROLES | {role: name for role, name in words.select("role", "set").iter_rows() if name}
    sets = {role: {"name": names[role], "stimuli": []} for role in _ROLES}
    return {"targets": [sets["x"], sets["y"]], "attributes": [sets["a"], sets["b"]]}


def _effects(ceat: pl.DataFrame | None, category: str, measured: Measured) -> dict[str, float]:
    """CEAT's effect size by model, of those that have one."""
    if ceat is None:
        return {}
    rows = ceat.filter(category=category, segment_length=measured.length, sample_mode=measured.mode)
    return {model: effect for model, effect in rows.select("model", "effect_size").iter_rows() if is_number(effect)}


class _Scale:
    """From standardized associations to places in a strip; 0 is always within it."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = min(low, 0.0), max(high, 0.0)

    def at(self, value: float) -> float:
        """The place of a value, to a tenth."""
        share = (value - self._low) / ((self._high - self._low) or 1.0)
        return round(_MARGIN + share * (STRIP_WIDTH - 2 * _MARGIN), 1)

    def marks(self, values: Mapping[str, float], looks: Iterable[Look]) -> list[Mark]:
        """A mark for each model that has a value."""
        return [Mark(self.at(values[look.model]), look) for look in looks if look.model in values]


def _written(value: float | None) -> str:
    return signed(value, _DECIMALS, minus=MINUS)


def _title(without: float | None, effect: float | None) -> str:
    if without is None:
        return ""
    return f"effect without this word: {_written(without)}" + (
        f", with it {_written(effect)}" if effect is not None else ""
    )


def _is_notable(without: float | None, effect: float | None) -> bool:
    """Whether the effect is another without a word: by more than `NOTABLE`, or of another sign as they are written."""
    if without is None or effect is None:
        return False
    other_sign = round(without, _DECIMALS) * round(effect, _DECIMALS) < 0
    return other_sign or abs(without - effect) > NOTABLE
