"""The overview counts what the tables hold; of each figure the page has what a paper says of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from prasanga.report.figures import all_figures, figure_files, name_of
from prasanga.report.page import list_figures
from prasanga.report.section import Section
from prasanga.report.study import Results

CONFIG: dict[str, Any] = {
    "samples": {"lengths": [9, 25, ">75"], "contexts_per_stimulus": 1200},
    "associations": {"n_samples": 5000, "n_resamples": 2000, "band": 0.1},
    "log_probability": {"pieces": "all", "aggregation": "log-sum-exp", "prior_mask": "target"},
    "pairs": {"encoder": "aul", "encoder_decoder": "infill", "reduction": "mean"},
}


def gallery(*names: str, formats: tuple[str, ...] = ("svg", "pdf"), **results: Any) -> Section:
    """The figures of a study with these files, as the page has them."""
    written = figure_files(names, {"formats": formats, "widths": ["page", "column"]})
    files = [path.removeprefix("results/report/") for path in written]
    section = list_figures(CONFIG, Results(files=files, **results))
    assert section is not None
    return section


def test_a_figure_has_its_caption_its_method_with_numbers_and_latex() -> None:
    (part,) = gallery("effect_by_length").parts
    caption, method = part.text
    assert part.title == "effect size against context length"
    assert caption.startswith("<strong>Caption.</strong> CEAT effect size against segment length in words")
    assert method == (
        "<strong>Methods.</strong> We measured CEAT (Guo and Caliskan 2021) in segments of 9, 25, &gt;75 words, with"
        " 5000 draws per estimate and at most 1200 contexts per word. Intervals leave out one word with its contexts"
        " at a time (jackknife)."
    )
    lines = unescape(part.widget).splitlines()
    assert lines[0].endswith("In one column: figure, and figures/column/effect_by_length.pdf.")
    assert lines[1:3] == [r"\begin{figure*}\centering", r"\includegraphics{figures/effect_by_length.pdf}"]
    assert r"Bars: 95\% interval over words" in lines[3]
    assert lines[3].endswith(r"\label{fig:effect_by_length}")
    assert [path for path, _ in part.files] == [
        f"figures/{name}" for name in ("effect_by_length.pdf", "effect_by_length.svg", "column/effect_by_length.pdf")
    ]


def test_a_figure_that_latex_cannot_read_has_none_and_one_column_is_no_wide_figure() -> None:
    (part,) = gallery("settling", formats=("svg",)).parts
    assert part.widget == ""
    files = ["figures/settling.svg", "figures/column/settling.png"]
    section = list_figures(CONFIG, Results(files=files))
    assert section is not None
    assert (
        r"\begin{figure}\centering" + "\n" + r"\includegraphics{figures/column/settling.png}" in section.parts[0].widget
    )
    assert list_figures(CONFIG, Results(files=["methods_card.md"])) is None


def test_every_method_names_keys_of_the_config_alone() -> None:
    names = {name_of(figure.file, category="C1", model="bert") for figure in all_figures()}
    known = {"pair_differences": pl.DataFrame({key: ["1"] for key in ("set", "language", "pair_id", "difference")})}
    known["traits"] = pl.DataFrame({key: ["1"] for key in ("polarity", "trait", "corrected", "aggregation")})
    parts = gallery(*names, **known).parts
    assert len(parts) == len(all_figures())
    assert [part.title for part in parts if "not stated" in part.text[1] or "{" in "".join(part.text)] == []


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_pdflatex_sets_all_figures_and_tables(tmp_path: Path) -> None:
    names = [name_of(figure.file, category="লিঙ্গ", model="gpt_2%") for figure in all_figures()]
    shown = "\n".join(unescape(re.sub("</?pre.*?>", "", part.widget)) for part in gallery(*names).parts)
    golden = Path(__file__).parent / "golden"
    tables = "\n".join(path.read_text(encoding="utf-8") for path in sorted(golden.glob("*.paper.tex")))
    page = r"\documentclass[11pt,twocolumn]{article}\usepackage[demo]{graphicx}\usepackage{booktabs,colortbl}"
    (tmp_path / "t.tex").write_text(f"{page}\\begin{{document}}{shown}{tables}\\end{{document}}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "t.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False).stdout
    assert "Output written on" in said, said[-2000:]
    assert not re.findall(r"^! .*|multiply defined", said, flags=re.MULTILINE)
