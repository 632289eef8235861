"""Text in every figure at both widths: all of it on the canvas, none over another, none too small to read."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl
import pytest
from drawn_studies import Study, drawn_study
from matplotlib.figure import Figure
from matplotlib.style import context as style_context
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox

from prasanga.report.figures.agreement import plot_sample_modes
from prasanga.report.figures.canvas import STYLE, WIDTHS
from prasanga.report.figures.effects import plot_convergence, plot_effect_by_length, plot_settling
from prasanga.report.figures.likelihoods import plot_differences, plot_hexbins, plot_structures

NAME = "a-model-whose-name-was-given-by-a-committee-of-many-people-in-2024-layer{}"
SETS = (
    "words for people of one kind who live far away",
    "words for people of another kind who live near",
    "pleasant things that anybody would like to have",
    "unpleasant",
)
STUDIES: dict[str, dict[str, Any]] = {
    "ten models": {
        "categories": [f"C{number}" for number in range(8, 12)],
        "models": [f"model-{number}-large" for number in range(10)],
        "n_traits": 45,
        "n_pairs": 8,
    },
    "long names": {
        "categories": [
            f"Category {n} whose name goes on for more than sixty letters $a_b and $ stops" for n in range(4)
        ],
        "models": [NAME.format(layer) for layer in (1, 6, 12)],
        "sets": [SETS],
        "lengths": ("9", "25", ">75"),
        "bias_types": ["a-type-of-bias-whose-name-has-more-than-sixty-letters-that-nobody-reads", "gender"],
        "n_traits": 45,
    },
    "one of each": {
        "categories": ["C1"],
        "models": ["m"],
        "lengths": ("9",),
        "n_traits": 12,
        "n_pairs": 9,
        "bias_types": ["gender"],
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
}
_DOTS = 300
"""Dots an inch, as in PNG: where there are few, letters are moved by as much as their own width."""

_SLACK = 0.6
"""Points by which boxes may touch: a box is as high as the tallest letter of the font, which few texts have."""


@cache
def study_of(name: str) -> Study:
    return drawn_study(**STUDIES[name])


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


# On a page there is more room: one study tells whether that width is kept.
@pytest.mark.parametrize(
    ("study", "width"),
    [
        pytest.param(study, width, marks=[] if width == "column" or study == "long names" else [pytest.mark.long])
        for study, width in itertools.product(STUDIES, WIDTHS)
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


def test_a_text_over_another_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = plot_sample_modes(drawn_study(categories=["C1"], models=["m"], n_traits=1).ceat, width="column")
    figure.text(0.5, 0.004, "another", va="bottom", ha="center")
    boxes = [(text.get_text(), box) for text, box in drawn_texts(figure, monkeypatch)]
    note = next(box for text, box in boxes if text.startswith("Each point"))
    assert next(box for text, box in boxes if text == "another").overlaps(note)


def test_long_names_keep_their_ends() -> None:
    study = drawn_study(**STUDIES["long names"])
    figure = PLOTS["effect_by_length"](study, "column")
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    models = [name for name in names if name.startswith("a-model-whose")]
    assert len(set(models)) == 3
    assert [name.rpartition("-")[2] for name in models] == ["layer1", "layer6", "layer12"]
    assert all("\N{HORIZONTAL ELLIPSIS}" in name for name in models)


def test_a_name_with_dollars_is_no_formula() -> None:
    study = drawn_study(categories=["C1"], models=["$\\frac{$"], n_traits=4, n_pairs=6)
    for plot in PLOTS.values():
        figure = plot(study, "column")
        figure.draw_without_rendering()
        assert isinstance(figure, Figure)


def test_the_made_up_study_has_gaps() -> None:
    study = drawn_study(**STUDIES["numbers missing"])
    effects = study.ceat["effect_size"]
    assert effects.is_null().any()
    assert effects.is_nan().any()
    assert effects.is_infinite().any()
    assert study.traits.filter(pl.col("prior").is_finite()).height < study.traits.height
