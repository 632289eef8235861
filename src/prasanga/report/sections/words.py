"""Sections on words: which of them carry an effect, and the word sets for a reader to judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.report.figures import MARKERS, MODELS, name_of
from prasanga.report.grid import is_number, natural_order
from prasanga.report.section import Section, and_more, count, fold, prose
from prasanga.report.sheet import Cell, Row, Sheet, html, numbers, row_of, two
from prasanga.report.study import EmbeddingFiles, Results, family_of
from prasanga.report.words import (
    NEEDED,
    Measured,
    MeasuredSet,
    WordSet,
    gloss_of,
    glosses_of,
    measured_sets,
    measured_words,
    pieces_as_text,
    title_of_set,
    word_sets,
)

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
_WITHOUT = "Effect without the word"


class Look(NamedTuple):
    """Colour and shape of a model, the same in all categories: n of `--model-n`, and an SVG path."""

    model: str
    colour: int
    shape: str

    def at(self, x: float, y: float, *, is_open: bool = False) -> Markup:
        """Return the mark of the model, at this place, filled or as an outline."""
        look = "fill:var(--surface);stroke" if is_open else "fill"
        mark = '<path transform="translate({} {})" style="{}:var(--model-{})" d="{}"/>'
        return html(mark, x, y, look, self.colour, Markup(self.shape))

    @property
    def head(self) -> Markup:
        """Return its mark and its name."""
        mark = html('<svg class="mark" viewBox="-7 -7 14 14" aria-hidden="true">{}</svg>', self.at(0, 0))
        return html("{} {}", mark, self.model)


def looks_of(models: Iterable[str]) -> list[Look]:
    """Return a look for each model, by its place among them."""
    return [
        Look(model, number % len(MODELS) + 1, SHAPES[MARKERS[number % len(MARKERS)]])
        for number, model in enumerate(models)
    ]


def words_of_categories(results: Results) -> dict[str, Section]:
    """Return the packed section on the single words of each category, by its name.

    Every model has the look of its place in the table of words. Of a category that the lexicon stage does not name the
    names of the sets are those of the table.

    Raises:
        InputError: a column is missing.
    """
    words, ceat = results.ceat_words, results.ceat
    if words is None:
        return {}
    require_columns("associations of words", words, (*NEEDED, "set", "effect_without"), remade_by("associations"))
    names = sorted(set(words["category"]) | (set() if ceat is None else set(ceat["category"])), key=natural_order)
    looks = looks_of(words["model"].unique(maintain_order=True))
    file = "data/ceat_words.parquet"
    pieces = pieces_by_word(results.embeddings)
    unpacked = Markup("A script unpacks these words{}.").format(
        html('; without one they are in the <a href="{}">table of words</a>', file) if file in results.files else ""
    )
    return {name: _category(words, results.categories, name, looks, ceat, pieces, unpacked) for name in names}


def lexicon(results: Results) -> Section | None:
    """Return the section of the word sets; where words were measured, it says also that they are not there."""
    sets = word_sets(results.categories, results.forms)
    measured = results.ceat is not None and not results.ceat.is_empty()
    if not sets and not measured and not results.methods:
        return None
    if not sets:
        return Section("Lexicon", "lexicon", text=["The word sets are not there, so that this page cannot show them."])
    text = [
        f"{len(sets)} word sets. A word is found in the corpus in its inflected forms; some are shown, one for each"
        " number and case."
    ]
    if results.forms is None:
        text.append("The table of forms is not there, so the words stand without their forms.")
    parts = [_word_set(word_set, has_forms=results.forms is not None) for word_set in sets]
    return Section("Lexicon", "lexicon", text=text, parts=parts)


def _word_set(word_set: WordSet, *, has_forms: bool) -> Section:
    rows = []
    for word in word_set.words:
        forms = and_more(", ".join(word.forms), word.n_forms - len(word.forms))
        of_forms = (Cell(html("<code>{}</code>", word.groups)), Cell(forms)) if has_forms else ()
        rows.append(row_of(word.stimulus, word.gloss, *of_forms))
    names = ("Gloss", "Suffix group", "Forms") if has_forms else ("Gloss",)
    sheet = Sheet(("Stimulus",), numbers(*names), rows, word_set.name, "words", dict.fromkeys(names, "text"))
    return fold(word_set.name, f"{count(len(word_set.words), 'word')} · {word_set.used_in}", sheets=[sheet])


def _category(
    words: pl.DataFrame,
    categories: Mapping[str, Any],
    name: str,
    looks: Sequence[Look],
    ceat: pl.DataFrame | None,
    pieces: Mapping[tuple[str, str], str],
    unpacked: str,
) -> Section:
    """Return the words of a category, and what its effect is without each of them."""
    about = categories.get(name) or _sets_of_table(words.filter(category=name))
    measured = measured_words(words, name)
    sets = measured_sets(measured, about["targets"])
    a, b = (title_of_set(word_set) for word_set in about["attributes"])
    n_words = sum(len(found.words) for found in sets)
    more = " · ".join(filter(None, [about.get("title"), count(n_words, "word")]))
    lost = [each for found in sets for each in found.listed if each not in {word.stimulus for word in found.words}]
    notes = [f"Without an association: {', '.join(lost)}."] if lost else []
    if not n_words:
        text = [f"No target word of {name} has an association."]
        return fold(name, more, text=text, notes=notes, packed=unpacked, look="of-words")
    effects = _effects(ceat, name, measured)
    table = _CategoryTable(measured, sets, looks, effects, glosses_of(categories), pieces)
    where = (
        f"Contexts of {measured.length} words, {measured.mode} draws. Marks to the right are nearer to {a} than the"
        f" mean of all words is, those to the left nearer to {b}."
    )
    told = ["the pieces of the word that its model reads"] if pieces else []
    told += ["what CEAT's effect size is without it"] if effects else []
    if told:
        where += f" A number tells {' and '.join(told)} when pointed at, tapped or reached by the keyboard."
    if effects:
        where += (
            f" Where it has another sign, or differs by more than {NOTABLE}, it stands in the last column."
            if table.is_notable
            else f" Without any single word it keeps its sign and stays within {NOTABLE}."
        )
    means = "The difference of the means is the effect size on these associations, each a mean over contexts."
    if effects:
        means += " CEAT's is taken draw by draw over single contexts; these scatter more, so it is mostly nearer to 0."
    ends = html("<span>← {}</span> <span>{} →</span>", b, a)
    return fold(
        name,
        more,
        text=[where, prose("words", figure=name_of("words_{category}", category=name))],
        sheets=[table.sheet(f"Standardized associations of the target words of {name} by model", ends)],
        notes=[means, *notes],
        packed=unpacked,
        look="of-words",
    )


class _CategoryTable:
    """The table of a category's words: a strip of dots and a number for each model, by target set."""

    def __init__(
        self,
        measured: Measured,
        sets: Sequence[MeasuredSet],
        looks: Sequence[Look],
        effects: Mapping[str, float],
        glosses: Mapping[str, str],
        pieces: Mapping[tuple[str, str], str],
    ) -> None:
        self._sets, self._looks, self._effects, self._glosses = sets, looks, effects, glosses
        self._pieces = pieces
        values = [value for found in sets for word in found.words for value in word.values.values()]
        self._low, self._high = min(*values, 0.0), max(*values, 0.0)
        without = measured.table.select("role", "stimulus", "model", "effect_without")
        self._without = {tuple(key): effect for *key, effect in without.iter_rows() if is_number(effect)}
        self.is_notable = any(_is_notable(effect, effects.get(key[2])) for key, effect in self._without.items())

    def sheet(self, caption: str, ends: Markup) -> Sheet:
        """Return the table; `ends` says what the ends of the strips are."""
        heads = [look.head for look in self._looks]
        rows = [row for role, found in zip("xy", self._sets, strict=True) for row in self._rows_of_set(role, found)]
        x, y = (found.means for found in self._sets)
        differences = {model: x[model] - y[model] for model in x if model in y}
        rows.append(self._row_of_means("difference of the means", differences, block="Both sets", strip=False))
        if self._effects:
            rows.append(self._row_of_means("CEAT's effect size", self._effects, strip=False))
        columns = numbers(ends, *heads, *([_WITHOUT] if self.is_notable else []))
        return Sheet(("Word",), columns, rows, caption, "blocks associations", {ends: "ends", _WITHOUT: "without"})

    def _rows_of_set(self, role: str, found: MeasuredSet) -> Iterable[Row]:
        yield self._row_of_means(f"mean of {len(found.words)}", found.means, block=found.title)
        for word in found.words:
            cells, notable = [], []
            for model in (look.model for look in self._looks):
                without, effect = self._without.get((role, word.stimulus, model)), self._effects.get(model)
                told = _title(self._pieces.get((model, word.stimulus), ""), without, effect)
                cells.append(Cell(two(word.values.get(model)), hover=told))
                notable += [f"{model}: {two(without)}"] if _is_notable(without, effect) else []
            cells += [Cell("; ".join(notable))] if self.is_notable else []
            label = html("{}{}", word.stimulus, gloss_after(word.stimulus, self._glosses))
            yield row_of(label, self._strip(word.values), *cells)

    def _row_of_means(
        self, name: str, values: Mapping[str, float], *, block: str | None = None, strip: bool = True
    ) -> Row:
        cells = [Cell(self._strip(values) if strip else "")]
        cells += [Cell(two(values.get(look.model))) for look in self._looks]
        cells += [Cell("")] if self.is_notable else []
        return Row((name,), tuple(cells), block=block, look="of-set")

    def _strip(self, values: Mapping[str, float]) -> Markup:
        """Return a strip with a mark for each model that has a value, and a line at 0."""
        marks = [(self.at(values[look.model]), look) for look in self._looks if look.model in values]
        places = [x for x, _ in marks]
        span = html('<path class="span" d="M{} 8H{}"/>', min(places), max(places)) if places else ""
        return html(
            '<svg class="strip" viewBox="0 0 {} 16" aria-hidden="true"><path class="zero-line" d="M{}'
            ' 0V16"/>{}{}</svg>',
            STRIP_WIDTH,
            self.at(0.0),
            span,
            Markup("").join(look.at(x, 8) for x, look in marks),
        )

    def at(self, value: float) -> float:
        """Return the place of a value in a strip, to a tenth; 0 is always within it."""
        share = (value - self._low) / ((self._high - self._low) or 1.0)
        return round(_MARGIN + share * (STRIP_WIDTH - 2 * _MARGIN), 1)


def _sets_of_table(words: pl.DataFrame) -> dict[str, Any]:
    """Return what the table itself says of the sets of a category: their names."""
    names = _ROLES | {role: name for role, name in words.select("role", "set").iter_rows() if name}
    sets = {role: {"name": names[role], "stimuli": []} for role in _ROLES}
    return {"targets": [sets["x"], sets["y"]], "attributes": [sets["a"], sets["b"]]}


def pieces_by_word(files: EmbeddingFiles | None) -> dict[tuple[str, str], str]:
    """Return the pieces of every stimulus by the model's name in the results and the stimulus."""
    if files is None:
        return {}
    # models that were only scored are called as in the config
    families = {name: name for name in files.audit_tables}
    families |= {name: family_of(settings, name) for name, settings in files.studied.items()}
    return {
        (name, row["stimulus"]): pieces
        for name, family in families.items()
        if (table := files.audit_tables.get(family)) is not None
        for row in table.iter_rows(named=True)
        if (pieces := pieces_as_text(row))
    }


def _effects(ceat: pl.DataFrame | None, category: str, measured: Measured) -> dict[str, float]:
    """Return CEAT's effect size by model, of those that have one."""
    if ceat is None:
        return {}
    rows = ceat.filter(category=category, segment_length=measured.length, sample_mode=measured.mode)
    return {model: effect for model, effect in rows.select("model", "effect_size").iter_rows() if is_number(effect)}


def gloss_after(stimulus: str, glosses: Mapping[str, str]) -> Markup:
    """Return the gloss as it stands after a word; nothing where there is none."""
    gloss = gloss_of(stimulus, glosses)
    return html(' <span class="more">{}</span>', gloss) if gloss else Markup("")


def _title(pieces: str, without: float | None, effect: float | None) -> str:
    read = [f"the model reads {pieces}"] if pieces else []
    if without is None:
        return "; ".join(read)
    with_it = f", with it {two(effect)}" if effect is not None else ""
    return "; ".join([*read, f"effect without this word: {two(without)}{with_it}"])


def _is_notable(without: float | None, effect: float | None) -> bool:
    """Return whether the effect is another without a word: by more than `NOTABLE`, or of another sign as written."""
    if without is None or effect is None:
        return False
    other_sign = round(without, _DECIMALS) * round(effect, _DECIMALS) < 0
    return other_sign or abs(without - effect) > NOTABLE
