"""Single words on the page: the numbers of the figures, as text, with marks that stand where the numbers say."""

from __future__ import annotations

import base64
import gzip
import math
import re
import subprocess
import sys
from collections.abc import Callable
from statistics import fmean, stdev
from typing import Any

import numpy as np
import polars as pl
import pytest
from page_parts import cells_of, lines_of, names_of, plain, said_in

from prasanga.base.errors import InputError
from prasanga.report.figures import MARKERS, MODELS
from prasanga.report.figures.effects import plot_words
from prasanga.report.section import Section
from prasanga.report.sections.ceat import SHAPES
from prasanga.report.sections.words import STRIP_WIDTH, words_of_categories
from prasanga.report.sheet import Row, Sheet
from prasanga.report.study import EmbeddingFiles, Results
from prasanga.report.words import measured_sets, measured_words

FLOWERS = {"গোলাপ": 0.30, "শাপলা": 0.10, "জুঁই": 0.20}
INSECTS = {"মশা": -0.10, "মাছি": 0.05, "উকুন": -0.30}
GLOSSES = {"গোলাপ": "rose", "শাপলা": "water  lily", "মশা": "mosquito"}
HOSTILE = "<script>alert('x')</script>"
COLUMNS = {
    **dict.fromkeys(("category", "model", "segment_length", "sample_mode", "role", "set", "stimulus"), pl.String),
    **dict.fromkeys(("association", "effect_without"), pl.Float64),
}


def lexicon(**changes: Any) -> dict[str, Any]:
    targets = [{"name": "flowers", "stimuli": list(FLOWERS)}, {"name": "in_sects", "stimuli": list(INSECTS)}]
    attributes = [
        {"name": "pleasant", "gloss": "pleasant words", "stimuli": []},
        {"name": "un_pleasant", "stimuli": []},
    ]
    category = {"title": "Flowers and insects", "targets": targets, "attributes": attributes, **changes}
    return {"C1": category, "glosses": GLOSSES}


def rows_of(
    model: str, length: str = "9", mode: str = "fixed", *, category: str = "C1", power: float = 1.0, scale: float = 1.0
) -> list[Any]:
    """Associations of all words, curved by `power`; the effect without each word is its place in its set."""
    return [
        (category, model, length, mode, role, name, stimulus, math.copysign(abs(value) ** power, value) * scale, place)
        for role, name, values in (("x", "flowers", FLOWERS), ("y", "in_sects", INSECTS))
        for place, (stimulus, value) in enumerate(values.items())
    ]


def table_of(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def parts_of(rows: list[Any] | pl.DataFrame, **changes: Any) -> list[Section]:
    """The parts of the section, one for each category."""
    table = rows if isinstance(rows, pl.DataFrame) else table_of(rows)
    return list(words_of_categories(Results(**{"ceat_words": table, "categories": lexicon(), **changes})).values())


def sheet_of_words(rows: list[Any] | pl.DataFrame, **changes: Any) -> Sheet:
    """The table of the only category."""
    (part,) = parts_of(rows, **changes)
    (sheet,) = part.sheets
    return sheet


def words_in(sheet: Sheet) -> dict[str, Row]:
    """The rows of words, by the word."""
    return {plain(row.labels[0]).split()[0]: row for row in sheet.rows if not row.look}


def summaries_in(sheet: Sheet) -> dict[str, list[list[str]]]:
    """The numbers of the rows that are no words, by what they are."""
    found: dict[str, list[list[str]]] = {}
    for row in sheet.rows:
        if row.look:
            found.setdefault(plain(row.labels[0]), []).append([cell.text for cell in row.cells[1:]])
    return found


def marks_in(row: Row) -> list[tuple[float, int, str]]:
    """Place, colour and shape of each mark of a strip."""
    found = re.findall(r'translate\(([\d.]+) 8\)" style="fill:var\(--model-(\d+)\)" d="([^"]+)"', row.cells[0].text)
    return [(float(x), int(colour), shape) for x, colour, shape in found]


def zero_in(row: Row) -> float:
    """Place of the line at 0 of a strip."""
    (place,) = re.findall(r'class="zero-line" d="M([\d.]+) ', row.cells[0].text)
    return float(place)


def looks_in(sheet: Sheet) -> list[tuple[int, str]]:
    """Colour and shape of each model, as in the heads of the columns."""
    heads = "".join(name for _, name in sheet.columns)
    return [(int(n), shape) for n, shape in re.findall(r'--model-(\d+)\)" d="([^"]+)"', heads)]


def ceat_of(*effects: tuple[str, float | None], length: str = "9", mode: str = "fixed") -> pl.DataFrame:
    cells = [("C1", model, length, mode, effect) for model, effect in effects]
    names = ["category", "model", "segment_length", "sample_mode", "effect_size"]
    return pl.DataFrame(cells, schema={n: pl.Float64 if n == "effect_size" else pl.String for n in names}, orient="row")


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def unpacked(html: str) -> list[str]:
    """What stands packed on the words of each category."""
    found = re.findall('-carrying-title">.*?data-packed="([^"]+)"', html, flags=re.DOTALL)
    return [gzip.decompress(base64.b64decode(each)).decode() for each in found]


def test_numbers_are_those_of_a_slow_oracle() -> None:
    models = {"a": 1.0, "b": 3.0}
    rows = [row for model, power in models.items() for row in rows_of(model, power=power)]
    sheet = sheet_of_words(rows)
    expected: dict[str, dict[str, float]] = {}
    for model, power in models.items():
        raw = {w: math.copysign(abs(v) ** power, v) for w, v in {**FLOWERS, **INSECTS}.items()}
        for word, value in raw.items():
            expected.setdefault(word, {})[model] = (value - fmean(raw.values())) / stdev(raw.values())
    assert names_of(sheet)[1:] == ["a", "b"]
    ordered = [
        word for words in (FLOWERS, INSECTS) for word in sorted(words, key=lambda w: -fmean(expected[w].values()))
    ]
    assert list(words_in(sheet)) == ordered
    for word, row in words_in(sheet).items():
        assert [cell.text for cell in row.cells[1:]] == [
            f"{expected[word][model]:+.2f}".replace("-", "\N{MINUS SIGN}") for model in models
        ]
    summaries = summaries_in(sheet)
    for words, texts in zip((FLOWERS, INSECTS), summaries["mean of 3"], strict=True):
        means = [fmean(expected[word][model] for word in words) for model in models]
        assert [number(text) for text in texts] == [round(mean, 2) for mean in means]
    differences = [
        fmean(expected[word][model] for word in FLOWERS) - fmean(expected[word][model] for word in INSECTS)
        for model in models
    ]
    (texts,) = summaries["difference of the means"]
    assert [number(text) for text in texts] == [round(value, 2) for value in differences]
    assert "CEAT's effect size" not in summaries
    (part,) = parts_of(rows)
    assert plain(part.title) == "C1 Flowers and insects · 6 words"
    assert "Without an association" not in said_in(part)


def test_marks_stand_where_the_numbers_say_in_colour_and_shape() -> None:
    rows = [*rows_of("a"), *rows_of("b", power=3.0)]
    sheet = sheet_of_words(rows)
    sets = measured_sets(measured_words(table_of(rows), "C1"), lexicon()["C1"]["targets"])
    shown = words_in(sheet)
    zero = zero_in(sheet.rows[0])
    places, values = [zero], [0.0]
    for found in sets:
        for word in found.words:
            marks = marks_in(shown[word.stimulus])
            assert [mark[1:] for mark in marks] == [(1, SHAPES["o"]), (2, SHAPES["s"])]
            places += [x for x, _, _ in marks]
            values += [word.values[model] for model in ("a", "b")]
    assert 0 < min(places) < zero < max(places) < STRIP_WIDTH
    step = (max(places) - min(places)) / (max(values) - min(values))
    for place, value in zip(places, values, strict=True):
        assert place - min(places) == pytest.approx((value - min(values)) * step, abs=0.11)
    assert looks_in(sheet) == [(1, SHAPES["o"]), (2, SHAPES["s"])]


def test_every_model_has_a_look_of_its_own() -> None:
    assert list(SHAPES) == list(MARKERS)
    assert len(set(SHAPES.values())) == len(SHAPES)
    looks = looks_in(sheet_of_words([row for n in range(12) for row in rows_of(f"m{n}")]))
    assert len(set(looks)) == 12
    assert looks[7][0] == 1
    assert max(colour for colour, _ in looks) == len(MODELS)
    assert looks[10][1] == SHAPES["o"]


def test_page_and_figure_have_the_same_numbers() -> None:
    rows = [*rows_of("a"), *rows_of("b", power=3.0), *rows_of("a", ">75", "random", power=2.0)]
    sheet = sheet_of_words(rows)
    (part,) = parts_of(rows)
    assert plain(part.text[0]).startswith("Contexts of 9 words, fixed draws.")  # what is longer has other draws only
    figure = plot_words(table_of(rows), lexicon(), "C1")
    drawn: list[list[tuple[float, float]]] = [
        sorted(zip(np.asarray(line.get_ydata()), np.asarray(line.get_xdata()), strict=True))
        for axes in figure.axes
        for line in axes.lines
        if line.get_color() == MODELS[0]
    ]
    of_sets = [sheet.rows[:4], sheet.rows[4:8]]  # the mean of each, and its words
    for found, points in zip(of_sets, drawn, strict=True):
        assert [number(row.cells[1].text) for row in found] == [round(x, 2) for _, x in points]


def test_the_longest_context_and_fixed_draws() -> None:
    rows = [*rows_of("m", "75"), *rows_of("m", ">75", scale=-1.0), *rows_of("m", ">75", "random"), *rows_of("m", "9")]
    (part,) = parts_of(rows)
    assert plain(part.text[0]).startswith("Contexts of >75 words, fixed draws.")
    assert list(words_in(part.sheets[0]))[:3] == ["শাপলা", "জুঁই", "গোলাপ"]


def test_glosses_and_names_of_sets() -> None:
    sheet = sheet_of_words(rows_of("m"))
    assert [plain(row.labels[0]) for row in words_in(sheet).values()][:3] == ["গোলাপ rose", "জুঁই", "শাপলা water lily"]
    assert names_of(sheet)[0] == "← un pleasant pleasant words →"
    assert [row.block for row in sheet.rows if row.block] == ["flowers", "in sects", "Both sets"]


@pytest.mark.parametrize("none", [math.nan, math.inf, -math.inf, None])
def test_a_word_without_a_number_is_a_dash_or_is_named(none: float | None) -> None:
    rows = [
        (*row[:7], none if row[6] == "মশা" or (row[1] == "b" and row[6] == "জুঁই") else row[7], row[8])
        for row in [*rows_of("a"), *rows_of("b")]
    ]
    (part,) = parts_of(rows)
    assert part.notes[-1] == "Without an association: মশা."
    found = words_in(part.sheets[0])
    jasmine = found["জুঁই"]
    assert (jasmine.cells[2].text, jasmine.cells[2].hover) == ("–", "")
    assert [colour for _, colour, _ in marks_in(jasmine)] == [1]
    assert jasmine.cells[1].text != "–"
    left = [0.30, 0.10, 0.05, -0.30]
    assert number(found["গোলাপ"].cells[2].text) == round((0.30 - fmean(left)) / stdev(left), 2)


def test_a_number_tells_the_pieces_that_its_model_reads(embedding_files: EmbeddingFiles) -> None:
    rows = [*rows_of("gpt-layer6"), *rows_of("other")]
    audited = pl.DataFrame({"stimulus": ["গোলাপ", "মাছি"], "pieces": [["গো", "লাপ"], ["মাছি"]]})
    files = embedding_files._replace(audit_tables={"gpt": audited})
    (part,) = parts_of(rows, embeddings=files)
    found = words_in(part.sheets[0])
    without = "effect without this word: 0.00"
    assert [cell.hover for cell in found["গোলাপ"].cells[1:]] == [f"the model reads গো + লাপ; {without}", without]
    assert "A number tells the pieces of the word that its model reads when pointed at" in part.text[0]
    # an audit from before pieces were kept
    old = embedding_files._replace(audit_tables={"gpt": audited.drop("pieces")})
    assert parts_of(rows, embeddings=old) == parts_of(rows)


@pytest.mark.parametrize("none", [math.nan, math.inf, None])
def test_effects_that_are_no_numbers_are_not_compared(none: float | None) -> None:
    rows = [(*row[:8], none if row[1] == "a" else -0.1) for row in [*rows_of("a"), *rows_of("b"), *rows_of("c")]]
    sheet = sheet_of_words(rows, ceat=ceat_of(("a", 0.5), ("b", none)))
    assert summaries_in(sheet)["CEAT's effect size"] == [["+0.50", "–", "–"]]
    cells = next(iter(words_in(sheet).values())).cells[1:]
    assert [cell.hover for cell in cells] == ["", *["effect without this word: \N{MINUS SIGN}0.10"] * 2]
    assert "Effect without the word" not in names_of(sheet)


def test_an_effect_that_a_word_turns_or_moves_is_shown() -> None:
    without = dict(zip([*FLOWERS, *INSECTS], [0.31, 0.09, -0.01, 0.10, -0.10, -0.004], strict=True))
    rows = [(*row[:8], without[row[6]]) for row in rows_of("m")]
    sheet = sheet_of_words(rows, ceat=ceat_of(("m", 0.1), ("other", 0.3)))
    minus = "\N{MINUS SIGN}"
    assert names_of(sheet)[-1] == "Effect without the word"
    assert {word: row.cells[-1].text for word, row in words_in(sheet).items() if row.cells[-1].text} == {
        "গোলাপ": "m: +0.31",
        "জুঁই": f"m: {minus}0.01",
        "মাছি": f"m: {minus}0.10",
    }
    assert words_in(sheet)["গোলাপ"].cells[1].hover == "effect without this word: +0.31, with it +0.10"
    # against the estimate of the same length and mode, and against none where there is none
    for other in (ceat_of(("m", 0.1), length="75"), ceat_of(("m", 0.1), mode="random"), None):
        assert "Effect without the word" not in names_of(sheet_of_words(rows, ceat=other))


def test_one_model_whose_words_are_all_the_same_has_dashes() -> None:
    sheet = sheet_of_words([*rows_of("flat", scale=0.0), *rows_of("m")])
    assert {row.cells[1].text for row in words_in(sheet).values()} == {"–"}
    summaries = summaries_in(sheet)
    assert (summaries["mean of 3"][0][0], summaries["difference of the means"][0][0]) == ("–", "–")
    (alone,) = parts_of(rows_of("flat", scale=0.0))
    assert alone.sheets == ()
    assert "No target word of C1 has an association." in said_in(alone)


def test_categories_in_reading_order_with_those_without_words(small: pl.DataFrame) -> None:
    found = parts_of([*rows_of("m", category="C10"), *rows_of("m")], ceat=small)
    assert [plain(part.title) for part in found] == ["C1 Flowers and insects · 6 words", "C4 0 words", "C10 6 words"]
    # what is not in the lexicon has the names of the table
    (sheet,) = found[2].sheets
    assert [row.block for row in sheet.rows if row.block][1] == "in sects"
    assert names_of(sheet)[0] == "← second attribute set first attribute set →"
    assert found[1].notes == []


def test_no_table_no_section_and_a_table_without_a_column_is_refused() -> None:
    assert words_of_categories(Results()) == {}
    assert parts_of([]) == []
    with pytest.raises(InputError, match="no column effect_without"):
        parts_of(table_of(rows_of("m")).drop("effect_without"))


def test_one_set_alone_has_no_difference() -> None:
    (part,) = parts_of(table_of(rows_of("m")).filter(pl.col("role") == "x"))
    (sheet,) = part.sheets
    assert summaries_in(sheet)["difference of the means"] == [["–"]]
    assert list(words_in(sheet)) == ["গোলাপ", "জুঁই", "শাপলা"]
    assert part.notes[-1] == f"Without an association: {', '.join(INSECTS)}."


def test_rows_in_any_order_give_the_same() -> None:
    table = table_of([*rows_of("a"), *rows_of("b", power=2.0), *rows_of("a")])
    shuffled = pl.concat([table.head(1), table.tail(-1).sample(fraction=1.0, shuffle=True, seed=5)])
    assert lines_of(sheet_of_words(shuffled)) == lines_of(sheet_of_words(table))
    assert parts_of(shuffled) == parts_of(table)


def test_the_page_has_words_as_text(render_beside: Callable[..., str]) -> None:
    html = render_beside(ceat_words=table_of([*rows_of("wide_1"), *rows_of("narrow")]), categories=lexicon())
    assert html.count('-carrying-title">Which words carry the effect</h2>') == 3
    of_c1, of_c4, of_c10 = unpacked(html)
    assert "<code>snakemake results/report/figures/words_C1.pdf</code>" in of_c1
    cells = cells_of(of_c1)
    heads = [" ".join(cell.split()) for cell in cells[0]]
    assert heads == ["Word", "← un pleasant pleasant words →", "wide_1", "narrow", "Effect without the word"]
    assert cells[3][2:] == [cells[3][2], cells[3][2], "wide_1: 0.00; narrow: 0.00"]
    assert [row[0] for row in cells[1:5]] == ["flowers", "mean of 3", "গোলাপ rose", "জুঁই"]
    assert '<span lang="bn">গোলাপ</span>' in of_c1
    assert len({len(row) for row in cells if len(row) > 1}) == 1
    # a strip a row that has numbers, and none without a mark
    strips = re.findall(r'<svg class="strip".*?</svg>', of_c1, flags=re.DOTALL)
    assert len(strips) == 8
    assert all(strip.count("var(--model-1)") == strip.count("var(--model-2)") == 1 for strip in strips)
    assert all('aria-hidden="true"' in strip for strip in strips)
    for other, name in ((of_c4, "C4"), (of_c10, "C10")):
        assert f"No target word of {name} has an association." in other
        assert "<table" not in other


def test_a_study_without_words_has_no_section(render_beside: Callable[..., str]) -> None:
    html = render_beside()
    assert "-carrying" not in html


def test_markup_and_long_names_are_text(render_beside: Callable[..., str]) -> None:
    long = "ক্ষমাস্ত্রী" * 200
    rows = [
        (*row[:6], {"মশা": long, "জুঁই": f"<b>{HOSTILE}</b>"}.get(row[6], row[6]), *row[7:])
        for model in (HOSTILE, 'm" onload="x' * 50)
        for row in rows_of(model)
    ]
    about = lexicon(title=HOSTILE, attributes=[{"name": HOSTILE, "stimuli": []}] * 2)
    about["C1"]["targets"][0]["name"] = HOSTILE
    about["glosses"] = {long: HOSTILE}
    html = render_beside(ceat_words=table_of(rows), categories=about)
    # one category is in the page, and it is text there and in what is packed
    section_of_page = html[html.index('id="category-C1-carrying"') :].partition("</details>")[0]
    for text in (section_of_page, *unpacked(html)):
        assert "<script" not in text
        assert "<b>" not in text
        assert 'm" onload' not in text
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;") in unpacked(html)[0]
    assert long in unpacked(html)[0]


def test_the_page_needs_no_matplotlib() -> None:
    code = "import sys, prasanga.report.page; print([name for name in sys.modules if name.startswith('matplotlib')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
