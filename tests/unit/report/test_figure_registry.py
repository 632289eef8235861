"""The registry of figures: which figures a study has, how their files are called, and that each entry can be drawn."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from prasanga.report.figures import VARIANTS, all_figures, drawings_of, figure_files, name_of, shown_in

RESULTS = (
    *("ceat", "ceat_words", "categories", "differences", "settling", "convergence"),
    *("pair_differences", "structures", "traits", "comparison", "methods", "multiverse"),
)
PATHS = {name: f"results/{name}.parquet" for name in RESULTS}
CONFIG: dict[str, Any] = {
    "categories": ["C1", "a/b"],
    "associations": {"band": 0.1, "sample_modes": ["fixed", "random"]},
}


def test_a_study_has_the_figures_of_its_results() -> None:
    drawings = drawings_of(CONFIG, PATHS, ["bert", "gpt 2"])
    assert list(drawings) == [
        *("effect_by_length", "effect_by_length_significant", "sample_modes", "scales", "words_C1", "words_a_b"),
        *("settling", "convergence"),
        *("score_differences", "score_differences_by_type", "score_differences_by_model", "structures"),
        *("hexbins_bert", "hexbins_gpt_2", "methods", "published"),
    ]
    on_request = [name for name, drawing in drawings.items() if not drawing.figure.on_page]
    assert on_request == ["effect_by_length_significant"]
    assert drawings["effect_by_length_significant"].options == {"alpha": 0.005}
    assert drawings["words_a_b"].options == {"category": "a/b"}
    assert drawings["settling"].options == {"band": 0.1}
    assert drawings["settling"].tables == {name: PATHS[name] for name in ("ceat", "differences", "settling")}
    one_mode = {**CONFIG, "associations": {"band": 0.1, "sample_modes": ["random"]}}
    assert list(drawings_of(one_mode, {"ceat": "a", "traits": "b"})) == [
        *("effect_by_length", "effect_by_length_significant", "scales")
    ]
    assert drawings_of(CONFIG, {}) == {}


def test_files_follow_formats_and_widths() -> None:
    folder = "results/report/figures"
    assert figure_files(["a", "b"], {"formats": ["svg", "pdf"], "widths": ["page", "column"]}) == [
        *(f"{folder}/{name}.{ending}" for name in "ab" for ending in ("svg", "pdf")),
        *(f"{folder}/column/{name}.pdf" for name in "ab"),
    ]
    # the page needs the SVG whatever is asked for
    assert figure_files(["a"], {"formats": ["png"], "widths": ["column"]}) == [
        f"{folder}/a.svg",
        f"{folder}/column/a.png",
    ]


@pytest.mark.parametrize("figure", all_figures(), ids=lambda figure: figure.file)
def test_an_entry_fits_its_function(figure: Any) -> None:
    module, _, function = figure.plot.rpartition(".")
    parameters = inspect.signature(getattr(import_module(f"prasanga.report.figures.{module}"), function)).parameters
    for options in VARIANTS[figure.variants](CONFIG, ["bert"]):
        given = dict.fromkeys([*list(parameters)[: len(figure.tables)], *figure.options, *options, "width"])
        needed = {name for name, each in parameters.items() if each.default is inspect.Parameter.empty}
        assert needed <= given.keys() <= parameters.keys()
    assert figure.caption.endswith(".")


def test_the_rules_read_the_registry_without_waiting_for_a_drawing_library() -> None:
    code = "import sys, prasanga.report.figures; print({'matplotlib'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_names_of_categories_become_names_of_files() -> None:
    names = ["C1", "C 1", "লিঙ্গ", "ধর্ম!", "x" * 500, "x" * 501, "../a", "a\nb"]
    written = [name_of("words_{category}", category=name) for name in names]
    assert written[:2] == ["words_C1", "words_C_1"]
    assert len(set(written)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", name) for name in written)


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("words_C1", "associations of single words, C1"),
        ("hexbins_tiny-wide", "prior and corrected scores by sentence structure, tiny-wide"),
        ("demo.oddities", "oddities of the pairs of demo"),
        ("something_new", "something new"),
    ],
)
def test_a_family_of_files_is_named_by_its_member(stem: str, name: str) -> None:
    assert shown_in(stem) == name
