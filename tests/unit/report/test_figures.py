"""All figures: their texts fit at both widths, the same table gives the same bytes, bad arguments are refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from drawn_studies import Study, drawn_study
from matplotlib.figure import Figure
from matplotlib.style import context as style_context
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox
from PIL import Image

from prasanga.report.figures.canvas import (
    ELLIPSIS,
    STYLE,
    WIDTHS,
    draw_figure,
    house_style,
    panels_across,
    save_figure,
    shortened,
    width_of,
)
from prasanga.report.figures.effects import (
    plot_convergence,
    plot_effect_by_length,
    plot_sample_modes,
    plot_scales,
    plot_settling,
    plot_words,
)
from prasanga.report.figures.likelihoods import plot_differences, plot_hexbins, plot_structures

NAME = "a-model-whose-name-was-given-by-a-committee-of-many-people-in-2024-layer{}"
SETS = (
    "words for people of one kind who live far away",
    "words for people of another kind who live near",
    "pleasant things that anybody would like to have",
    "unpleasant",
)
STUDIES: dict[str, dict[str, Any]] = {
    "long names": {
        "categories": [
            f"Category {n} whose name goes on for more than sixty letters $a_b and $ stops" for n in range(4)
        ],
        "models": [NAME.format(layer) for layer in (1, 6, 12)],
        "sets": [SETS],
        "lengths": ("9", "12", "15", "20", "25", "50", ">75"),
        "bias_types": ["a-type-of-bias-whose-name-has-more-than-sixty-letters-that-nobody-reads", "gender"],
        "n_traits": 45,
    },
    "numbers missing": {
        "categories": ["C1", "C2", "C3", "C4"],
        "models": ["muril-large", "xlm-roberta-large"],
        "lengths": ("9", "25", "75", ">75"),
        "n_traits": 50,
        "n_pairs": 6,
        "missing": True,
    },
}
PLOTS: dict[str, Callable[[Study, Any], Figure]] = {
    "effect_by_length": lambda study, width: plot_effect_by_length(study.ceat, width=width),
    "settling": lambda study, width: plot_settling(
        study.ceat, study.differences, study.settling, band=0.1, width=width
    ),
    "convergence": lambda study, width: plot_convergence(study.ceat, study.convergence, band=0.1, width=width),
    "structures": lambda study, width: plot_structures(study.spread, width=width),
    "hexbins": lambda study, width: plot_hexbins(study.traits, model=study.traits["model"][0], width=width),
    "score_differences": lambda study, width: plot_differences(study.pair_differences, width=width),
    "score_differences_by_type": lambda study, width: plot_differences(
        study.pair_differences, lines="bias_type", width=width
    ),
    "sample_modes": lambda study, width: plot_sample_modes(study.ceat, width=width),
    "words": lambda study, width: plot_words(*words_of(study), "C1", width=width),
}
_DOTS = 300
"""Dots an inch, as in PNG: where there are few, letters are moved by as much as their own width."""

_SLACK = 0.6
"""Points by which boxes may touch: a box is as high as the tallest letter of the font, which few texts have."""


@cache
def study_of(name: str) -> Study:
    return drawn_study(**STUDIES[name])


def words_of(study: Study) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Words with the names of a study's models and sets: one is as long as none is, and glosses are longer."""
    words = {"x": ["গোলাপ", "শাপলা", "rose"], "y": ["ক্ষমাস্ত্রী" * 12, "মাছি", "উকুন"]}
    rows = [
        ("C1", model, "mean", role, word, float(n + place))
        for n, model in enumerate(study.ceat["model"].unique(maintain_order=True))
        for role, of_role in words.items()
        for place, word in enumerate(of_role)
    ]
    columns = ["category", "model", "segment_length", "role", "stimulus", "association"]
    sets = [{"name": name, "stimuli": found} for name, found in zip(SETS, [*words.values(), [], []], strict=True)]
    about = {"title": "very long title " * 40, "targets": sets[:2], "attributes": sets[2:]}
    glosses = dict.fromkeys(("গোলাপ", "মাছি"), "gloss " * 40)
    return pl.DataFrame(rows, schema=columns, orient="row"), {"C1": about, "glosses": glosses}


def drawn_texts(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Text, Bbox]]:
    """Every text that is drawn and its box in points, from the lower left corner of the figure."""
    found: list[Text] = []
    draw = Text.draw

    def record(text: Text, renderer: Any) -> None:
        draw(text, renderer)
        if text.get_visible() and text.get_text().strip():
            found.append(text)

    with monkeypatch.context() as patch, style_context(["default", STYLE]):  # as it is saved
        patch.setattr(Text, "draw", record)
        figure.set_dpi(_DOTS)
        figure.draw_without_rendering()  # places are those of a drawn figure, and no dot is set
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        to_points = Affine2D().scale(72 / _DOTS)
        return [(text, text.get_window_extent(renderer).transformed(to_points)) for text in found]


@pytest.mark.parametrize(
    ("study", "width"),
    [
        ("long names", "column"),  # where there is least room
        pytest.param("numbers missing", "page", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("plot", PLOTS)
def test_texts_fit(study: str, plot: str, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = PLOTS[plot](study_of(study), width)
    across, high = figure.get_size_inches() * 72
    assert across == pytest.approx(WIDTHS[width] * 72)
    texts = drawn_texts(figure, monkeypatch)
    assert len(texts) >= 3
    outside = [
        text.get_text()
        for text, box in texts
        if box.x0 < -_SLACK or box.y0 < -_SLACK or box.x1 > across + _SLACK or box.y1 > high + _SLACK
    ]
    assert outside == []
    inner = [(text.get_text(), box.padded(-_SLACK)) for text, box in texts]
    assert [(one, two) for (one, a), (two, b) in itertools.combinations(inner, 2) if a.overlaps(b)] == []
    assert min(text.get_fontsize() for text, _ in texts) >= 5.5
    # a third of the figure's width is for the panels
    shown = [axes.get_position().width for axes in figure.axes if axes.get_visible()]
    assert min(shown) > 0.3 / max(1, round(1 / max(shown)))


@pytest.mark.parametrize(
    ("n", "most", "across"), [(1, 4, 1), (2, 4, 2), (4, 4, 4), (4, 3, 2), (5, 4, 3), (6, 4, 3), (9, 4, 3), (14, 4, 4)]
)
def test_rows_of_panels_are_full_where_they_can_be(n: int, most: int, across: int) -> None:
    assert panels_across(n, most) == across


def test_long_names_keep_their_ends() -> None:
    figure = PLOTS["effect_by_length"](study_of("long names"), "column")
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    models = [name for name in names if name.startswith("a-model-whose")]
    assert [name.rpartition("-")[2] for name in models] == ["layer1", "layer6", "layer12"]
    assert all(ELLIPSIS in name for name in models)


def test_a_name_with_dollars_is_no_formula() -> None:
    study = drawn_study(categories=["C1"], models=["$\\frac{$"], n_traits=4, n_pairs=6)
    PLOTS["effect_by_length"](study, "column").draw_without_rendering()


@pytest.mark.parametrize(("plot", "ending"), [("structures", "svg"), ("convergence", "pdf")])
def test_the_same_tables_give_the_same_bytes(plot: str, ending: str, tmp_path: Path) -> None:
    paths = [tmp_path / folder / f"{plot}.{ending}" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        save_figure(PLOTS[plot](study_of("numbers missing"), "column"), path, made_from="fingerprint-0123")
    content = paths[0].read_bytes()
    assert content == paths[1].read_bytes()
    assert b"fingerprint-0123" in content
    assert not re.search(rb"dc:date|CreationDate", content)
    title = {"structures": b"traits in sentence structures", "convergence": b"effects as draws are added"}[plot]
    assert title in content


STUDY = drawn_study(categories=["C1"], models=["m"], lengths=("9",), n_traits=3, n_pairs=3)


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (
            lambda: plot_convergence(STUDY.ceat, STUDY.convergence.filter(n=100).with_columns(n=40), band=0.1),
            "40 draws are one point. Points begin at 100 draws.",
        ),
        (
            lambda: plot_sample_modes(STUDY.ceat.with_columns(effect_size=pl.lit(None, pl.Float64))),
            "no estimate has a number by fixed and by random draws.",
        ),
        (
            lambda: plot_scales(STUDY.ceat.with_columns(pl.lit(None).alias(f"effect_{name}") for name in
                                                        ("size", "centered", "standardized"))),
            "there is no estimate with a number.",
        ),
        (
            lambda: plot_structures(STUDY.spread.with_columns(median=pl.lit(None, pl.Float64))),
            "no structure has a number.",
        ),
        (lambda: plot_hexbins(STUDY.traits, model="gpt"), "gpt has no trait with a prior and a corrected score."),
        (
            lambda: plot_hexbins(STUDY.traits.with_columns(prior=pl.lit(None, pl.Float64)), model="m"),
            "m has no trait with a prior and a corrected score.",
        ),
        (
            lambda: plot_differences(STUDY.pair_differences.filter("random_twin")),
            "no pair has a score for both of its sentences.",
        ),
        (
            lambda: plot_words(words_of(STUDY)[0].clear(), words_of(STUDY)[1], "C1"),
            "no target word has an association.",
        ),
    ],
)  # fmt: skip
def test_without_a_number_the_figure_says_so(plot: Callable[[], Figure], message: str) -> None:
    figure = plot()
    assert not figure.axes
    assert " ".join(figure.texts[0].get_text().split()) == f"Not drawn: {message}"


def test_each_width_goes_to_its_folder(tmp_path: Path) -> None:
    table = tmp_path / "spread.csv"
    STUDY.spread.write_csv(table)
    (tmp_path / "column").mkdir()
    paths = [folder / f"a.b.{end}" for folder in (tmp_path, tmp_path / "column") for end in ("svg", "pdf", "png")]
    draw_figure("likelihoods.plot_structures", [table], {}, paths, made_from="f00d")
    assert [Image.open(path).width for path in paths if path.suffix == ".png"] == [2040, 990]
    assert all(b"f00d" in path.read_bytes() for path in paths)


def test_a_text_that_is_too_wide_loses_its_middle_and_no_more() -> None:
    with house_style("column"):
        assert shortened(" two \n lines ", 6, 200) == "two lines"
        for text in ("abcdefghij" * 3, "ক্ষ্মী" * 30):  # three consonants and a vowel sign are one letter to a reader
            start, ellipsis, end = (short := shortened(text, 6, 60)).partition(ELLIPSIS)
            assert ellipsis
            assert text.startswith(start)
            assert text.endswith(end)
            assert start.replace("ক্ষ্মী", "") == end.replace("ক্ষ্মী", "") == "" or text.isascii()
            assert 45 < width_of(short, 6) <= 60
        assert shortened(text, 6, 0.1) == ELLIPSIS
