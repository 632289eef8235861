"""Every file beside the page is offered once, under a name that says what it shows."""

from __future__ import annotations

import pytest

from prasanga.report.figures import shown_in
from prasanga.report.sections.papers import Download, DownloadGroup, downloads_of


def test_the_formats_of_a_figure_stand_together_the_wide_one_first() -> None:
    files = [
        *(f"figures/{width}settling.{ending}" for width in ("", "column/") for ending in ("svg", "png", "pdf")),
        *("comparison.md", "comparison.csv", "tables/sahoo_table9.tex", "tables/sahoo_table9.csv"),
        *("tables/sadhu_table10.md", "tables/sadhu_table4.md", "data/ceat_words.parquet", "methods_card.md"),
    ]
    assert downloads_of(files) == [
        DownloadGroup(
            "Figures",
            [
                Download(
                    "where effects settle",
                    [
                        ("PDF", "figures/settling.pdf"),
                        ("SVG", "figures/settling.svg"),
                        ("PNG", "figures/settling.png"),
                        ("PDF, one column wide", "figures/column/settling.pdf"),
                        ("SVG, one column wide", "figures/column/settling.svg"),
                        ("PNG, one column wide", "figures/column/settling.png"),
                    ],
                )
            ],
        ),
        DownloadGroup(
            "Tables",
            [
                Download("in the layout of Table 4 of Sadhu et al.", [("Markdown", "tables/sadhu_table4.md")]),
                Download("in the layout of Table 10 of Sadhu et al.", [("Markdown", "tables/sadhu_table10.md")]),
                Download(
                    "in the layout of Table 9 of Sahoo et al.",
                    [("CSV", "tables/sahoo_table9.csv"), ("LaTeX", "tables/sahoo_table9.tex")],
                ),
            ],
        ),
        DownloadGroup("Data", [Download("CEAT, associations of each word", [("Parquet", "data/ceat_words.parquet")])]),
        DownloadGroup(
            "About the study",
            [
                Download(
                    "this study beside a paper's numbers", [("CSV", "comparison.csv"), ("Markdown", "comparison.md")]
                ),
                Download("methods card: what was measured and how", [("Markdown", "methods_card.md")]),
            ],
        ),
    ]
    assert downloads_of([]) == []


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
