"""Sections on words: which of them carry an effect, the word sets, and what stands behind each number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.methods import CEAT, SEAT, method_named
from prasanga.report.figures import name_of
from prasanga.report.grid import (
    METHODS,
    Estimate,
    Grid,
    address_of_number,
    anchor_of,
    is_number,
    names_of_sets,
    natural_order,
)
from prasanga.report.section import (
    Section,
    and_more,
    count,
    fold,
    hides_texts,
    inline_data,
    language_of,
    prose,
    render,
    utf16_length,
)
from prasanga.report.sections.ceat import Look, looks_of, told_of_ceat
from prasanga.report.sections.estimates import told_of
from prasanga.report.sheet import Cell, Row, Sheet, html, numbers, row_of, two
from prasanga.report.study import EmbeddingFiles, Results, family_of
from prasanga.report.words import (
    NEEDED,
    SENTENCES_SCHEMA,
    TEMPLATES,
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

_MARGIN = 7.0
"""What a strip leaves free on each side, so that no mark is cut."""

_ROLES = {"x": "first target set", "y": "second target set", "a": "first attribute set", "b": "second attribute set"}
_DECIMALS = 2
_WITHOUT = "Effect without the word"


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
    names = ("Gloss", "Suffix group", "Forms") if has_forms else ("Gloss",)
    rows = []
    for word in word_set.words:
        forms = and_more(", ".join(word.forms), word.n_forms - len(word.forms))
        cells = (word.gloss, html("<code>{}</code>", word.groups), forms)
        rows.append(row_of(word.stimulus, *cells[: len(names)]))
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
    told = ["the pieces of the word that its model reads"] if pieces else []
    shown = ""
    if effects:
        told.append("what CEAT's effect size is without it")
        shown = f"Without any single word it keeps its sign and stays within {NOTABLE}."
        if table.is_notable:
            shown = f"Where it has another sign, or differs by more than {NOTABLE}, it stands in the last column."
    where = prose("words_where", measured=measured, a=a, b=b, told=" and ".join(told), shown=shown)
    ends = html("<span>← {}</span> <span>{} →</span>", b, a)
    return fold(
        name,
        more,
        text=[where, prose("words", figure=name_of("words_{category}", category=name))],
        sheets=[table.sheet(f"Standardized associations of the target words of {name} by model", ends)],
        notes=[prose("words_means", has_effects=bool(effects)), *notes],
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
        texts = [self._strip(values) if strip else "", *(two(values.get(look.model)) for look in self._looks)]
        cells = tuple(map(Cell, [*texts, *([""] if self.is_notable else [])]))
        return Row((name,), cells, block=block, look="of-set")

    def _strip(self, values: Mapping[str, float]) -> Markup:
        """Return a strip with a mark for each model that has a value, and a line at 0."""
        marks = [(self.at(values[look.model]), look) for look in self._looks if look.model in values]
        places = [x for x, _ in marks]
        span = html('<path class="span" d="M{} 8H{}"/>', min(places), max(places)) if places else ""
        line = html('<path class="zero-line" d="M{} 0V16"/>', self.at(0.0))
        drawn = Markup("").join([line, span, *(look.at(x, 8) for x, look in marks)])
        return html('<svg class="strip" viewBox="0 0 {} 16" aria-hidden="true">{}</svg>', STRIP_WIDTH, drawn)

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


# --------------------
# What stands behind a number: the words that it rests on, and the sentences that these were measured in.
#
# Every estimate on the page is a link. A script opens it as a panel over the view, from data that stand in the page
# once, as JSON. Without a script the link leads to a list of the estimates of its category, which names the files.
#
# Words, and the effects without each of them, are those of the tables of words, from the highest association down.
# Sentences are those of `prasanga.report.words.choose_sentences`. A context of 9 words is mostly a part of that of 25,
# so of each occurrence only the longest text is kept, and from where to where a shorter one goes.


_DECIMALS_OF_PANEL = 4
"""Of associations; effects have one less."""

_KEY = ("category", "model", "segment_length", "sample_mode")
MOST_CHARACTERS = 2_000_000
"""Of the sentences together, about 1 MB of the page; of a study with more the last of each word are left out."""

_NEEDED_OF_PANEL = ("category", "model", "role", "stimulus", "association", "effect_without")
_HIDDEN = "Sentences of the corpus are left out of this page (report.texts: hidden)."
_STATIC = "No sentence stands behind a static vector: it is one for all sentences that the word was seen in."
_NOT_THERE = (
    "The sentences are not among the results that this page was drawn from. `snakemake` chooses them where the segments"
    " are there (results/samples)."
)


def panel(config: Mapping[str, Any], results: Results, grid: Grid | None) -> Markup:
    """Return the panel with its data, to stand once in the page; empty where no method of words was measured."""
    data = panel_data(config, results, grid)
    if not data["estimates"]:
        return Markup("")
    kind, payload = inline_data(data)
    return render("behind", kind=kind, payload=payload, language=language_of(config))


def panel_data(config: Mapping[str, Any], results: Results, grid: Grid | None) -> dict[str, Any]:
    """Return what the script of the panel shows, as plain values.

    Returns:
        `words` with their `glosses`, and by model their `pieces`; `estimates` by their addresses, with their words from
        the highest association to the lowest, targets before attributes; `sentences` by what they were measured for,
        and word: how many there were, and of the first [text, from, to, start, end, source] in UTF-16 units; `why` a
        method has no sentences.
    """
    found, is_hidden = _Words(results), hides_texts(config)
    estimates = {
        address_of_number(method, row): found.of(method, row)
        for method, row in estimates_of(results, grid)
        if is_number(row["effect_size"])
    }
    chosen = None if is_hidden else results.sentences
    return {
        "decimals": _DECIMALS_OF_PANEL,
        "words": list(found.numbers),
        "glosses": [gloss_of(word, glosses_of(results.categories)) for word in found.numbers],
        "pieces": found.pieces(results),
        "estimates": estimates,
        **_sentences(chosen, {each["sentences"] for each in estimates.values()}, found.numbers),
        "why": {
            name: _STATIC if method_named(name).unit == "vectors" else _HIDDEN if is_hidden else _NOT_THERE
            for name in METHODS
        },
    }


def index(category: str, anchor: str, rows: Iterable[tuple[str, Estimate]], results: Results) -> Section:
    """Return the section with a link to what stands behind each number of a category."""
    places: dict[str, list[Markup]] = {}
    for method, row in rows:
        if not is_number(row["effect_size"]):
            continue
        mode = f", {row['sample_mode']} draws" if "sample_mode" in row else ""
        what = f"{row['segment_length']} words" if "segment_length" in row else "its number"
        address = Markup.escape(address_of_number(method, row))
        link = html('<a id="{0}" href="#{0}">{1}</a>', address, what)
        places.setdefault(f"{METHODS[method]}, {row['model']}{mode}", []).append(link)
    listed = (f"data/{name}" for name in (*(f"{method}_words.parquet" for method in METHODS), "measured_sentences.tsv"))
    files = ", ".join(file for file in listed if file in results.files)
    unscripted = f" It takes a script. Without one, words and sentences are in {files}." if files else ""
    text = html(
        "A number of {} opens the words that it rests on, the effect without each of them, the pieces that the model"
        " read, and sentences that were measured.{}",
        category,
        html("<noscript>{}</noscript>", unscripted) if unscripted else "",
    )
    items = [html("{}: {}", name, Markup(", ").join(links)) for name, links in places.items()]
    return Section("Words and sentences behind each number", f"{anchor}-behind", text=[text], items=items)


def estimates_of(results: Results, grid: Grid | None) -> Iterator[tuple[str, Estimate]]:
    """Yield method and estimate of all methods of words; those of CEAT from short to long, by sample mode."""
    if grid is not None:
        lengths, modes = grid.lengths.index, grid.modes.index
        for _, row in sorted(grid.estimates.items(), key=lambda each: (modes(each[0][3]), lengths(each[0][2]))):
            yield CEAT.name, row
    for name, table in results.methods:
        for row in table.iter_rows(named=True):
            yield name, row


class _Words:
    """The words of all estimates, each with a number of its own from when it is first asked for."""

    def __init__(self, results: Results) -> None:
        self.numbers: dict[str, int] = {}
        self._tables: dict[tuple[str | None, ...], pl.DataFrame] = {}
        tables = {CEAT.name: results.ceat_words, **results.words}
        for method, table in tables.items():
            if table is None:
                continue
            require_columns(
                f"associations of words, {METHODS[method]}", table, _NEEDED_OF_PANEL, remade_by("associations")
            )
            keys = [name for name in _KEY if name in table.columns]
            for rows in table.partition_by(keys, maintain_order=True):
                first = rows.row(0, named=True)
                self._tables[method, *(first.get(name) for name in _KEY)] = rows

    def of(self, method: str, row: Estimate) -> dict[str, Any]:
        """Return an estimate with its words."""
        x, y, a, b = names_of_sets(row)
        length = row.get("segment_length")
        where = f"{row['model']}, {length} words, {row.get('sample_mode')} draws"
        key = (method, *(row.get(name) for name in _KEY))
        words = self._tables.get(key, pl.DataFrame(schema=dict.fromkeys(_NEEDED_OF_PANEL)))
        order = (pl.col("role").is_in(["a", "b"]), "association", "stimulus")
        words = words.sort(*order, descending=[False, True, False], nulls_last=True)
        # the sentences of CEAT and SEAT are those of all categories
        lengths = {CEAT.name: length, SEAT.name: TEMPLATES}
        kept_for = (method, "" if method in lengths else row["category"], str(lengths.get(method, "")))
        return {
            "title": f"{row['category']}, {METHODS[method]}",
            "category": row["category"],
            "view": anchor_of(row["category"]),
            "method": method,
            "model": row["model"],
            "sets": [x, y, a, b],
            "effect": row["effect_size"],
            "told": told_of_ceat(row, where) if method == CEAT.name else told_of(row),
            "sentences": "\t".join(kept_for),
            "roles": "".join(words["role"].to_list()),
            "words": [self.numbers.setdefault(word, len(self.numbers)) for word in words["stimulus"].to_list()],
            "associations": [_rounded(value, _DECIMALS_OF_PANEL) for value in words["association"].to_list()],
            "without": [_rounded(value, _DECIMALS_OF_PANEL - 1) for value in words["effect_without"].to_list()],
        }

    def pieces(self, results: Results) -> dict[str, list[str]]:
        """Return the pieces of each word by the model that reads them; "" where they are not known."""
        known = pieces_by_word(results.embeddings)
        models = dict.fromkeys(model for model, _ in known)
        return {model: [known.get((model, word), "") for word in self.numbers] for model in models}


_REMADE = "Run `snakemake` where the segments are, or delete results/samples/measured_sentences.parquet."


def _sentences(chosen: pl.DataFrame | None, keys: Collection[str], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return texts, sources, and the places of the sentences by key, of those that are asked for, and word."""
    found: dict[str, dict[int, list[Any]]] = {}
    texts: dict[str, int] = {}
    sources: dict[str, int] = {}
    if chosen is not None:
        require_columns("measured sentences", chosen, SENTENCES_SCHEMA, _REMADE)
        longest: dict[str, tuple[str, int]] = {}
        of = pl.concat_str("method", "category", "segment_length", separator="\t")
        asked = chosen.with_columns(key=of).filter(pl.col("stimulus").is_in([*numbers]) & pl.col("key").is_in([*keys]))
        rows = asked.rows(named=True)
        for most in range(max((row["rank"] for row in rows), default=0), 1, -1):
            if sum(len(row["text"]) for row in rows) > MOST_CHARACTERS:
                rows = [row for row in rows if row["rank"] < most]
        for row in rows:
            text, start = longest.get(row["occurrence_id"], ("", 0))
            if row["occurrence_id"] and len(row["text"]) > len(text):
                longest[row["occurrence_id"]] = row["text"], row["start"]
        for row in rows:
            whole, start = longest.get(row["occurrence_id"], (row["text"], row["start"]))
            text, own = row["text"], row["start"]
            begin = 0 if own is None else start - own
            if begin < 0 or whole[begin : begin + len(text)] != text:
                whole, begin = text, 0
            marked = (0, 0) if own is None else (begin + own, begin + row["end"])
            units = [utf16_length(whole[:at]) for at in (begin, begin + len(text), *marked)]
            place = [texts.setdefault(whole, len(texts)), *units, sources.setdefault(row["source"], len(sources))]
            of_word = found.setdefault(row["key"], {}).setdefault(numbers[row["stimulus"]], [row["n_measured"]])
            of_word.append(place)
    return {"texts": list(texts), "sources": list(sources), "sentences": found}


def _rounded(value: float | None, decimals: int) -> float | None:
    return round(value, decimals) if is_number(value) else None
