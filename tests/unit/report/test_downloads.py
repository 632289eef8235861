"""Every file beside the page is offered once, under a name that says what it shows."""

from __future__ import annotations

import pytest

from prasanga.report.figures import shown_in
from prasanga.report.sections.papers import downloads_of


def test_the_formats_of_a_figure_stand_together_the_wide_one_first() -> None:
    files = [
        *(f"figures/{width}settling.{ending}" for width in ("", "column/") for ending in ("svg", "png", "pdf")),
        *("comparison.md", "comparison.csv", "tables/sahoo_table9.tex", "tables/sahoo_table9.csv"),
        *("tables/sadhu_table10.md", "tables/sadhu_table4.md", "data/ceat_words.parquet", "methods_card.md"),
    ]
    assert downloads_of(files) == {
        "Figures": [
            (
                "where effects settle",
                [
                    ("figures/settling.pdf", "PDF"),
                    ("figures/settling.svg", "SVG"),
                    ("figures/settling.png", "PNG"),
                    ("figures/column/settling.pdf", "PDF, one column wide"),
                    ("figures/column/settling.svg", "SVG, one column wide"),
                    ("figures/column/settling.png", "PNG, one column wide"),
                ],
            )
        ],
        "Tables": [
            ("in the layout of Table 4 of Sadhu et al.", [("tables/sadhu_table4.md", "Markdown")]),
            ("in the layout of Table 10 of Sadhu et al.", [("tables/sadhu_table10.md", "Markdown")]),
            (
                "in the layout of Table 9 of Sahoo et al.",
                [("tables/sahoo_table9.csv", "CSV"), ("tables/sahoo_table9.tex", "LaTeX")],
            ),
        ],
        "Data": [("CEAT, associations of each word", [("data/ceat_words.parquet", "Parquet")])],
        "About the study": [
            ("this study beside a paper's numbers", [("comparison.csv", "CSV"), ("comparison.md", "Markdown")]),
            ("methods card: what was measured and how", [("methods_card.md", "Markdown")]),
        ],
    }
    assert list(downloads_of(files)) == ["Figures", "Tables", "Data", "About the study"]
    assert downloads_of([]) == {}


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
