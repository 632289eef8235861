"""The figures of words: which word stands where, how far from the mean, and what it is called."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from prasanga.associations import effect_size
from prasanga.base.errors import InputError
from prasanga.report.figures import INK, MODELS, MUTED, fonts, name_of
from prasanga.report.figures.canvas import WIDTHS, save_figure
from prasanga.report.figures.effects import MOST, plot_words

FLOWERS = {"গোলাপ": 0.30, "শাপলা": 0.10, "জুঁই": 0.20}
INSECTS = {"মশা": -0.10, "মাছি": 0.05, "উকুন": -0.30}
GLOSSES = {"গোলাপ": "rose", "শাপলা": "water lily", "মশা": "mosquito", "মাছি": "fly", "উকুন": "louse"}


def lexicon(x: list[str], y: list[str], **changes: Any) -> dict[str, Any]:
    sets = {name: {"name": name, "stimuli": stimuli} for name, stimuli in (("flowers", x), ("insects", y))}
    attributes = [{"name": "pleasant", "gloss": "pleasant words"}, {"name": "un_pleasant", "stimuli": []}]
    category = {"title": "Flowers and insects", "targets": list(sets.values()), "attributes": attributes, **changes}
    return {"C1": category, "glosses": GLOSSES}


def rows_of(
    model: str, length: str = "9", mode: str = "fixed", *, scale: float = 1.0, offset: float = 0.0
) -> list[Any]:
    return [
        ("C1", model, length, mode, role, stimulus, value * scale + offset)
        for role, values in (("x", FLOWERS), ("y", INSECTS))
        for stimulus, value in values.items()
    ]


def table_of(rows: list[Any]) -> pl.DataFrame:
    columns = ["category", "model", "segment_length", "sample_mode", "role", "stimulus", "association"]
    schema = {name: pl.Float64 if name == "association" else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


LEXICON = lexicon(list(FLOWERS), list(INSECTS))


def panels_of(figure: Figure) -> list[Any]:
    return [axes for axes in figure.axes if axes.get_visible()]


def dots(panel: Any, model: int = 0) -> list[tuple[float, float]]:
    """(row, value) of the dots of a model, from the top down."""
    (line,) = [line for line in panel.lines if line.get_color() == MODELS[model]]
    return sorted((float(y), float(x)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))


def labels(figure: Figure) -> dict[float, list[Any]]:
    """Words, and glosses, which are small: a column each, by the place where it begins, panel by panel."""
    font = max(text.get_fontsize() for text in figure.texts if text.get_fontweight() != "bold")
    columns: dict[float, list[Any]] = {}
    for text in sorted(figure.texts, key=lambda text: (text.get_position()[0], -text.get_position()[1])):
        is_label = text.get_color() == INK or text.get_fontsize() < font
        beside = text.get_ha() == "left" and text.get_va() == "baseline" and text.get_fontweight() != "bold"
        if text.get_text() and is_label and beside:
            columns.setdefault(round(text.get_position()[0], 6), []).append(text)
    return columns


def written(figure: Figure) -> list[str]:
    """Words and glosses, panel by panel."""
    return [text.get_text() for column in labels(figure).values() for text in column]


def texts(figure: Figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def test_words_are_sorted_within_their_set_with_their_glosses() -> None:
    figure = plot_words(table_of(rows_of("m")), LEXICON, "C1")
    # জুঁই has no gloss
    of_flowers = ["গোলাপ", "জুঁই", "শাপলা", "rose", "water lily"]
    assert written(figure) == [*of_flowers, "মাছি", "মশা", "উকুন", "fly", "mosquito", "louse"]


def test_values_are_standardized_and_means_differ_by_the_effect_size() -> None:
    figure = plot_words(table_of(rows_of("m")), LEXICON, "C1")
    values = np.array([*FLOWERS.values(), *INSECTS.values()])
    left, right = (dots(panel) for panel in panels_of(figure))
    for found, associations in ((left, FLOWERS), (right, INSECTS)):
        (mean_row, mean), *of_words = found
        expected = sorted(((v - values.mean()) / values.std(ddof=1) for v in associations.values()), reverse=True)
        assert [value for _, value in of_words] == pytest.approx(expected)
        assert [row for row, _ in of_words] == [2, 3, 4]
        assert mean_row == 1
        assert mean == pytest.approx(np.mean(expected))
    # vectors whose association with a = (1, 0) minus that with b = (0, 1) is the one asked for
    angles = {word: math.pi / 4 - math.asin(v / math.sqrt(2)) for word, v in {**FLOWERS, **INSECTS}.items()}
    vectors = {word: np.array([math.cos(angle), math.sin(angle)]) for word, angle in angles.items()}
    x, y = (np.stack([vectors[word] for word in side]) for side in (FLOWERS, INSECTS))
    d = effect_size(x, y, np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert left[0][1] - right[0][1] == pytest.approx(d)


def test_models_of_other_scales_fall_on_each_other_and_keep_their_colours() -> None:
    table = table_of([*rows_of("a"), *rows_of("b", scale=0.01, offset=5.0)])
    panel = panels_of(plot_words(table, LEXICON, "C1"))[0]
    assert [value for _, value in dots(panel, 0)] == pytest.approx([value for _, value in dots(panel, 1)])
    # a model that has nothing to show in a category does not hand its colour on
    flat = table_of([*rows_of("a", scale=0.0), *rows_of("b")])
    figure = plot_words(flat, LEXICON, "C1")
    assert len(dots(panels_of(figure)[0], 1)) == 4
    assert [text.get_text() for legend in figure.legends for text in legend.get_texts()] == ["b"]


def test_the_longest_context_and_fixed_draws() -> None:
    table = table_of(
        [*rows_of("m", "75"), *rows_of("m", ">75"), *rows_of("m", "9", "random", scale=-1), *rows_of("m", "9")]
    )
    assert "Contexts of >75 words, fixed draws." in texts(plot_words(table, LEXICON, "C1"))
    figure = plot_words(table.filter(sample_mode="random"), LEXICON, "C1")
    assert "Contexts of 9 words, random draws." in texts(figure)
    assert written(figure)[:3] == ["শাপলা", "জুঁই", "গোলাপ"]
    # the longest at which this category has numbers
    short = table.with_columns(association=pl.when(segment_length=">75").then(None).otherwise("association"))
    assert "Contexts of 75 words" in texts(plot_words(short, LEXICON, "C1"))


def test_words_without_a_number_are_left_out_and_counted() -> None:
    table = table_of(rows_of("m")).with_columns(
        association=pl.when(stimulus="মশা").then(math.nan).when(stimulus="জুঁই").then(math.inf).otherwise("association")
    )
    figure = plot_words(table, lexicon([*FLOWERS, "টগর"], list(INSECTS)), "C1")
    assert written(figure) == ["গোলাপ", "শাপলা", "rose", "water lily", "মাছি", "উকুন", "fly", "louse"]
    assert "Without an association: 3 of 7 words." in texts(figure)
    assert "mean of 2" in texts(figure)


@pytest.mark.parametrize("change", [{"association": None}, {"category": "C2"}])
def test_a_category_without_any_number_is_a_sentence(change: dict[str, Any]) -> None:
    table = table_of(rows_of("m")).with_columns(**{k: pl.lit(v, table_of([]).schema[k]) for k, v in change.items()})
    for width in WIDTHS:
        figure = plot_words(table, LEXICON, "C1", width=width)  # type: ignore[arg-type]
        assert panels_of(figure) == []
        assert "Not drawn: no target word has an association." in texts(figure)


def test_one_set_may_be_empty() -> None:
    table = table_of(rows_of("m")).filter(pl.col("role") == "x")
    for width in WIDTHS:
        figure = plot_words(table, LEXICON, "C1", width=width)  # type: ignore[arg-type]
        assert "mean of 0" in texts(figure)
        assert len(written(figure)) == 5


def test_a_large_set_shows_both_ends() -> None:
    x = [f"w{n:03}" for n in range(100)]
    table = table_of([("C1", "m", "9", "fixed", "x", word, n / 100) for n, word in enumerate(x)] + rows_of("m")[3:])
    for width, most in MOST.items():
        figure = plot_words(table, lexicon(x, list(INSECTS)), "C1", width=width)
        shown = [word for word in written(figure) if word.startswith("w") and word != "water lily"]
        assert shown == [*x[::-1][: most // 2], *x[::-1][-(most // 2) :]]
        assert f"Left out for want of room: {100 - most} in the middle of their set." in texts(figure)
        assert "mean of 100" in texts(figure)
        assert figure.get_figheight() < 11


def test_without_a_font_glosses_stand_for_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "font_families", lambda: (fonts.LATIN,))
    figure = plot_words(table_of(rows_of("m")), LEXICON, "C1")
    assert written(figure) == ["rose", "word 2", "water lily", "fly", "mosquito", "louse"]
    assert "No font with Bengali letters was found" in texts(figure)


def test_with_a_font_nothing_is_said_about_it() -> None:
    assert "No font" not in texts(plot_words(table_of(rows_of("m")), LEXICON, "C1"))


def test_an_english_word_needs_no_gloss() -> None:
    names = dict(zip([*FLOWERS, *INSECTS], "abcdef", strict=True))
    table = table_of(rows_of("m")).with_columns(pl.col("stimulus").replace(names))
    figure = plot_words(table, {**lexicon(list("abc"), list("def")), "glosses": {"a": "a"}}, "C1")
    assert sorted(written(figure)) == list("abcdef")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_or_covered_whatever_the_names(width: Any) -> None:
    long = "ক্ষমাস্ত্রী" * 12
    rows = [(*row[:5], row[5].replace("মশা", long), row[6]) for row in rows_of("m" * 200)]
    table = table_of(rows + [(*row[:1], "<script>$x$", *row[2:]) for row in rows])
    about = lexicon(list(FLOWERS), [long, "মাছি", "উকুন"], title="very long title " * 40)
    about["C1"]["attributes"][0]["gloss"] = "attribute " * 30
    about["C1"]["targets"][0]["gloss"] = "target " * 60
    about["glosses"] = dict.fromkeys((*FLOWERS, *INSECTS, long), "gloss " * 40)
    figure = plot_words(table, about, "C1", width=width)
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    seen = [text for text in figure.texts if text.get_text()]
    seen += [text for legend in figure.legends for text in legend.get_texts()]
    for text in seen:
        box = text.get_window_extent(renderer)
        assert box.x0 > whole.x0 - 1
        assert box.x1 < whole.x1 + 1
        assert box.y0 > whole.y0 - 1
        assert box.y1 < whole.y1 + 1
    for panel in panels_of(figure):
        left = panel.get_position().x0 * WIDTHS[width] * 72
        right = panel.get_position().x1 * WIDTHS[width] * 72
        assert right - left > 0.3 * (right if width == "column" else right / 2)
    # words end before their glosses, and these before the dots
    first, second = list(labels(figure).values())[:2]
    panel = panels_of(figure)[0].get_position().x0 * whole.width
    for text in first:
        assert text.get_window_extent(renderer).x1 < second[0].get_window_extent(renderer).x0
    for text in second:
        assert text.get_window_extent(renderer).x1 < panel
        assert text.get_fontsize() >= 5.5


def test_the_rows_of_a_table_may_be_in_any_order(tmp_path: Path) -> None:
    table = table_of([*rows_of("a"), *rows_of("b", scale=-0.5), *rows_of("a", ">75"), *rows_of("b", ">75")])
    shuffled = pl.concat([table.head(1), table.tail(-1).sample(fraction=1.0, shuffle=True, seed=3)])
    for number, given in enumerate((table, shuffled)):
        models = given.filter(model="a").head(1).vstack(given)  # the first model stays the first
        for ending in ("svg", "pdf", "png"):
            save_figure(plot_words(models, LEXICON, "C1"), tmp_path / f"{number}.{ending}", made_from="f")
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / f"0.{ending}").read_bytes() == (tmp_path / f"1.{ending}").read_bytes()


def test_the_mean_is_told_from_the_words() -> None:
    figure = plot_words(table_of(rows_of("m")), LEXICON, "C1", width="column")
    (panel,) = panels_of(figure)
    separators = [float(line.get_ydata()[0]) for line in panel.lines if list(line.get_xdata()) == [0, 1]]
    assert separators == [1.5, 7.5]
    assert [row for row, _ in dots(panel)] == [1, 2, 3, 4, 7, 8, 9, 10]
    assert [text.get_color() for text in figure.texts if text.get_text() == "mean of 3"] == [MUTED, MUTED]


def test_the_ends_of_the_axis_are_named() -> None:
    assert "← nearer to un pleasant      nearer to pleasant words →" in texts(
        plot_words(table_of(rows_of("m")), LEXICON, "C1")
    )


def test_names_of_files_hold_what_a_file_name_may() -> None:
    assert name_of("words_{category}", category="C1") == "words_C1"
    assert name_of("words_{category}", category="GR1.a-b_c") == "words_GR1.a-b_c"
    assert re.fullmatch(r"words_\.\._a_b____-[0-9a-f]{16}", name_of("words_{category}", category="../a b/ফুল"))


def test_what_is_not_there_is_named() -> None:
    table = table_of(rows_of("m"))
    with pytest.raises(InputError, match=r"category: 'C2' is not in the lexicon\. Write C1\."):
        plot_words(table, LEXICON, "C2")
    with pytest.raises(InputError, match=r"width: 'wide'\. Write column or page"):
        plot_words(table, LEXICON, "C1", width="wide")  # type: ignore[arg-type]
