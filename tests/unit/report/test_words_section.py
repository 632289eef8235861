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
from page_parts import cells_of

from prasanga.errors import InputError
from prasanga.report.figures.palette import MARKERS, MODELS
from prasanga.report.figures.words import plot_words
from prasanga.report.words import SHAPES, STRIP_WIDTH, WordsOfCategory, measured_sets, measured_words, words_section

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


def section(rows: list[Any] | pl.DataFrame, **changes: Any) -> list[WordsOfCategory]:
    table = rows if isinstance(rows, pl.DataFrame) else table_of(rows)
    return words_section(table, **{"categories": lexicon(), "language": "bn", **changes})


def ceat_of(*effects: tuple[str, float | None], length: str = "9", mode: str = "fixed") -> pl.DataFrame:
    cells = [("C1", model, length, mode, effect) for model, effect in effects]
    names = ["category", "model", "segment_length", "sample_mode", "effect_size"]
    return pl.DataFrame(cells, schema={n: pl.Float64 if n == "effect_size" else pl.String for n in names}, orient="row")


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def unpacked(html: str) -> list[str]:
    """What stands in the packed parts of the section on words."""
    part = html[html.index('<section id="words"') :]
    part = part[: part.index("</section>")]
    return [gzip.decompress(base64.b64decode(found)).decode() for found in re.findall('data-packed="([^"]+)"', part)]


def test_numbers_are_those_of_a_slow_oracle() -> None:
    models = {"a": 1.0, "b": 3.0}
    (category,) = section([row for model, power in models.items() for row in rows_of(model, power=power)])
    expected: dict[str, dict[str, float]] = {}
    for model, power in models.items():
        raw = {w: math.copysign(abs(v) ** power, v) for w, v in {**FLOWERS, **INSECTS}.items()}
        for word, value in raw.items():
            expected.setdefault(word, {})[model] = (value - fmean(raw.values())) / stdev(raw.values())
    assert [look.model for look in category.looks] == ["a", "b"]
    for found, words in zip(category.sets, (FLOWERS, INSECTS), strict=True):
        order = sorted(words, key=lambda word: -fmean(expected[word].values()))
        assert [row.word for row in found.rows] == order
        for row in found.rows:
            assert [cell.text for cell in row.cells] == [
                f"{expected[row.word][model]:+.2f}".replace("-", "\N{MINUS SIGN}") for model in models
            ]
        means = [fmean(expected[word][model] for word in words) for model in models]
        assert [number(text) for text in found.means] == [round(mean, 2) for mean in means]
    differences = [
        fmean(expected[word][model] for word in FLOWERS) - fmean(expected[word][model] for word in INSECTS)
        for model in models
    ]
    assert [number(text) for text in category.differences] == [round(value, 2) for value in differences]
    assert (category.n_words, category.lost, category.effects) == (6, [], [])


def test_marks_stand_where_the_numbers_say_in_colour_and_shape() -> None:
    rows = [*rows_of("a"), *rows_of("b", power=3.0)]
    (category,) = section(rows)
    sets = measured_sets(measured_words(table_of(rows), "C1"), lexicon()["C1"]["targets"])
    places, values = [category.zero], [0.0]
    for found, shown in zip(sets, category.sets, strict=True):
        for word, row in zip(found.words, shown.rows, strict=True):
            assert [mark.look.model for mark in row.marks] == ["a", "b"]
            places += [mark.x for mark in row.marks]
            values += [word.values[mark.look.model] for mark in row.marks]
    assert 0 < min(places) < category.zero < max(places) < STRIP_WIDTH
    step = (max(places) - min(places)) / (max(values) - min(values))
    for place, value in zip(places, values, strict=True):
        assert place - min(places) == pytest.approx((value - min(values)) * step, abs=0.11)
    assert [(look.colour, look.shape) for look in category.looks] == [(1, SHAPES["o"]), (2, SHAPES["s"])]


def test_every_model_has_a_look_of_its_own() -> None:
    assert list(SHAPES) == list(MARKERS)
    assert len(set(SHAPES.values())) == len(SHAPES)
    (category,) = section([row for n in range(12) for row in rows_of(f"m{n}")])
    assert len({(look.colour, look.shape) for look in category.looks}) == 12
    assert category.looks[7].colour == 1
    assert max(look.colour for look in category.looks) == len(MODELS)
    assert category.looks[10].shape == SHAPES["o"]


def test_page_and_figure_have_the_same_numbers() -> None:
    rows = [*rows_of("a"), *rows_of("b", power=3.0), *rows_of("a", ">75", "random", power=2.0)]
    (category,) = section(rows)
    figure = plot_words(table_of(rows), lexicon(), "C1")
    assert (category.length, category.mode) == ("9", "fixed")  # what is longer has other draws only
    drawn: list[list[tuple[float, float]]] = [
        sorted(zip(np.asarray(line.get_ydata()), np.asarray(line.get_xdata()), strict=True))
        for axes in figure.axes
        for line in axes.lines
        if line.get_color() == MODELS[0]
    ]
    for found, points in zip(category.sets, drawn, strict=True):
        shown = [found.means[0], *(row.cells[0].text for row in found.rows)]
        assert [number(text) for text in shown] == [round(x, 2) for _, x in points]


def test_the_longest_context_and_fixed_draws() -> None:
    rows = [*rows_of("m", "75"), *rows_of("m", ">75", scale=-1.0), *rows_of("m", ">75", "random"), *rows_of("m", "9")]
    (category,) = section(rows)
    assert (category.length, category.mode) == (">75", "fixed")
    assert [row.word for row in category.sets[0].rows] == ["শাপলা", "জুঁই", "গোলাপ"]


def test_glosses_and_names_of_sets() -> None:
    (category,) = section(rows_of("m"))
    assert [(row.word, row.gloss) for row in category.sets[0].rows] == [
        ("গোলাপ", "rose"),
        ("জুঁই", ""),
        ("শাপলা", "water lily"),
    ]
    assert (category.a, category.b, category.sets[1].title) == ("pleasant words", "un pleasant", "in sects")
    assert (category.title, category.figure, category.language) == ("Flowers and insects", "words_C1", "bn")


@pytest.mark.parametrize("none", [math.nan, math.inf, -math.inf, None])
def test_a_word_without_a_number_is_a_dash_or_is_named(none: float | None) -> None:
    rows = [
        (*row[:7], none if row[6] == "মশা" or (row[1] == "b" and row[6] == "জুঁই") else row[7], row[8])
        for row in [*rows_of("a"), *rows_of("b")]
    ]
    (category,) = section(rows)
    assert category.lost == ["মশা"]
    (row,) = [row for row in category.sets[0].rows if row.word == "জুঁই"]
    assert row.cells[1] == ("–", "")
    assert [mark.look.model for mark in row.marks] == ["a"]
    assert row.cells[0].text != "–"
    left = [0.30, 0.10, 0.05, -0.30]
    (rose,) = [row for row in category.sets[0].rows if row.word == "গোলাপ"]
    assert number(rose.cells[1].text) == round((0.30 - fmean(left)) / stdev(left), 2)


@pytest.mark.parametrize("none", [math.nan, math.inf, None])
def test_effects_that_are_no_numbers_are_not_compared(none: float | None) -> None:
    rows = [(*row[:8], none if row[1] == "a" else -0.1) for row in [*rows_of("a"), *rows_of("b"), *rows_of("c")]]
    (category,) = section(rows, ceat=ceat_of(("a", 0.5), ("b", none)))
    assert category.effects == ["+0.50", "–", "–"]
    cells = category.sets[0].rows[0].cells
    assert [cell.title for cell in cells] == ["", *["effect without this word: \N{MINUS SIGN}0.10"] * 2]
    assert not category.is_notable


def test_an_effect_that_a_word_turns_or_moves_is_shown() -> None:
    without = dict(zip([*FLOWERS, *INSECTS], [0.31, 0.09, -0.01, 0.10, -0.10, -0.004], strict=True))
    rows = [(*row[:8], without[row[6]]) for row in rows_of("m")]
    (category,) = section(rows, ceat=ceat_of(("m", 0.1), ("other", 0.3)))
    minus = "\N{MINUS SIGN}"
    assert {row.word: row.without for found in category.sets for row in found.rows if row.without} == {
        "গোলাপ": ["m: +0.31"],
        "জুঁই": [f"m: {minus}0.01"],
        "মাছি": [f"m: {minus}0.10"],
    }
    assert category.is_notable
    (rose,) = [row for row in category.sets[0].rows if row.word == "গোলাপ"]
    assert rose.cells[0].title == "effect without this word: +0.31, with it +0.10"
    # against the estimate of the same length and mode, and against none where there is none
    for other in (ceat_of(("m", 0.1), length="75"), ceat_of(("m", 0.1), mode="random"), None):
        assert not section(rows, ceat=other)[0].is_notable


def test_one_model_whose_words_are_all_the_same_has_dashes() -> None:
    (category,) = section([*rows_of("flat", scale=0.0), *rows_of("m")])
    assert {row.cells[0].text for found in category.sets for row in found.rows} == {"–"}
    assert (category.sets[0].means[0], category.differences[0]) == ("–", "–")
    (alone,) = section(rows_of("flat", scale=0.0))
    assert (alone.sets, alone.n_words) == ([], 0)


def test_categories_in_reading_order_with_those_without_words(small: pl.DataFrame) -> None:
    found = section([*rows_of("m", category="C10"), *rows_of("m")], ceat=small)
    assert [(category.name, category.n_words) for category in found] == [("C1", 6), ("C4", 0), ("C10", 6)]
    # what is not in the lexicon has the names of the table
    assert (found[2].title, found[2].sets[1].title, found[2].a) == ("", "in sects", "first attribute set")
    assert found[1].lost == []


def test_no_table_no_section_and_a_table_without_a_column_is_refused() -> None:
    assert words_section(None, {}, language="bn") == []
    assert section([]) == []
    with pytest.raises(InputError, match="no column effect_without"):
        section(table_of(rows_of("m")).drop("effect_without"))


def test_one_set_alone_has_no_difference() -> None:
    (category,) = section(table_of(rows_of("m")).filter(pl.col("role") == "x"))
    assert category.differences == ["–"]
    assert [len(found.rows) for found in category.sets] == [3, 0]
    assert category.lost == list(INSECTS)


def test_rows_in_any_order_give_the_same() -> None:
    table = table_of([*rows_of("a"), *rows_of("b", power=2.0), *rows_of("a")])
    shuffled = pl.concat([table.head(1), table.tail(-1).sample(fraction=1.0, shuffle=True, seed=5)])
    assert section(shuffled) == section(table)


def test_the_page_has_words_as_text(render_beside: Callable[..., str]) -> None:
    html = render_beside(ceat_words=table_of([*rows_of("wide_1"), *rows_of("narrow")]), categories=lexicon())
    assert "<code>snakemake results/report/figures/words_C1.pdf</code>" in html
    assert 'href="#words">Single words</a>' in html
    of_c1, of_c4, of_c10 = unpacked(html)
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
    assert 'id="words"' not in html
    assert 'href="#words"' not in html


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
    section_of_page = html[html.index('<section id="words"') :].partition("</section>")[0]
    for text in (section_of_page, *unpacked(html)):
        assert "<script" not in text
        assert "<b>" not in text
        assert 'm" onload' not in text
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;") in unpacked(html)[0]
    assert long in unpacked(html)[0]


def test_words_need_no_matplotlib() -> None:
    code = "import sys, prasanga.report.words; print([name for name in sys.modules if name.startswith('matplotlib')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
