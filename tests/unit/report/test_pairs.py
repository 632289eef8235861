"""Bias percentages in the layout of the paper's Table 2, and on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from page_parts import cells_of, lines_of, names_of, numbers_of, part_of, plain, said_in, sheet_of
from planted_pairs import planted_scores

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import bias_percentage
from prasanga.pairs.preferences import REASONS
from prasanga.report.findings import (
    LIKE_COPIES,
    OPPOSITE,
    SAME_BY_LABEL,
    UNTOLD,
    doubt,
    findings_of_pairs,
    is_found_of_pairs,
)
from prasanga.report.grid import Group, groups_of, name_of_type, pair_grid_of, sort_types
from prasanga.report.paper_tables import Layout, render_layout
from prasanga.report.section import Section
from prasanga.report.sections.estimates import shade_of
from prasanga.report.sections.likelihoods import THRESHOLDS, pairs
from prasanga.report.study import Results

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0"/></svg>'


@pytest.fixture(scope="module")
def scores() -> pl.DataFrame:
    return pl.concat(
        [
            planted_scores("bert", "hi", 0.9),
            planted_scores("bert", "en", 0.5, left_out=[0], tied=[1, 2]),
            planted_scores("gpt", "hi", 0.4),
        ]
    )


@pytest.fixture(scope="module")
def bias(scores: pl.DataFrame) -> pl.DataFrame:
    return bias_percentage(scores, twins={"bert": planted_scores("x", "hi", 0.6)}, n_resamples=200)


def section_of(bias: pl.DataFrame) -> Section:
    section = pairs({}, Results(bias_percentages=bias))
    assert section is not None
    return section


def render(bias: pl.DataFrame, preset: str = "recommended") -> Layout:
    return render_layout("sahoo_table2", {"pairs": bias}, preset=preset)


def cells(table: str, name: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    (line,) = [line for line in table.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_types_and_groups_stand_in_the_order_of_the_paper() -> None:
    assert sort_types(["caste", "all", "race-color", "age", "age", "body"]) == ["age", "caste", "body", "race-color"]
    assert [name_of_type(name) for name in ("physical-appearance", "all")] == ["Physical appearance", "All pairs"]
    groups = groups_of([("b", "hi"), ("a", "bn"), ("b", "en"), ("a", "bn")])
    assert [group.title for group in groups] == ["English, b", "Hindi, b", "Bangla, a"]
    assert groups_of([("", "hi")]) == (Group("", "hi", "Hindi"),)


def test_the_layout_of_table_2(bias: pl.DataFrame) -> None:
    layout = render(bias)
    assert layout.csv.splitlines()[0] == "bias_type,English bert,Hindi bert,Hindi gpt,note"
    names = [line.partition(",")[0] for line in layout.csv.splitlines()[1:]]
    runs = ["mean of runs", "deviation over runs"]
    assert names == ["gender", "physical-appearance", "caste", "all", *runs]
    # 12 of 27 in English: 15 of 30 without one left out and two that tie; bold is the nearest to 50 of two models
    assert cells(layout.md, "Gender") == ["44.44", "90.00*", "**40.00**"]
    assert cells(layout.md, "All pairs") == ["44.44", "90.00*", "**40.00**"]
    assert layout.csv.splitlines()[1] == "gender,44.44,90.00*,40.00,"
    assert r"Hindi} \\" in layout.tex
    assert "$90.00^{*}$" in layout.tex
    assert layout.tex.isascii()
    for text in (
        "corrected for 12 tests",
        "5 random samples of 80 % of the pairs",
        "no standard error",
        "Pairs with equal scores: 6 of 90 (English bert). They are left out.",
        "Pairs left out: 3 of 90 (English bert).",
        "measure p\\_unmodified",
    ):
        assert text in layout.md


def test_the_paper_prints_means_of_runs(bias: pl.DataFrame) -> None:
    layout = render(bias, preset="paper")
    row = bias.filter(model="gpt", bias_type="gender").row(0, named=True)
    assert cells(layout.md, "Gender")[2] == f"**{row['runs_mean']:.2f}**"
    assert row["runs_mean"] != row["bias_percentage"]
    assert "All pairs" not in layout.md
    assert "differs from 50" not in layout.md
    assert "Each percentage is the mean over 5 random samples" in layout.md


def test_without_runs_there_are_no_rows_of_them(scores: pl.DataFrame) -> None:
    bias = bias_percentage(scores, n_runs=0, n_resamples=0, ties="against")
    for preset in ("paper", "recommended"):
        layout = render(bias, preset=preset)
        assert "runs |" not in layout.md
        assert cells(layout.md, "All pairs")[0].startswith("41.38")
    assert "They count as not stereotypical." in layout.md


def test_a_missing_cell_says_why(scores: pl.DataFrame) -> None:
    gone = planted_scores("gpt", "en", 0.5, types=("caste",), left_out=range(30))
    tied = planted_scores("gpt", "bn", 0.5, types=("gender",), tied=range(30))
    layout = render(bias_percentage(pl.concat([scores, gone, tied]), n_resamples=10))
    assert cells(layout.md, "Caste")[1] == "–"
    assert "English gpt: all pairs were left out" in layout.csv
    assert "Bangla gpt: all scored pairs tie" in layout.md
    assert "Bangla gpt: no pairs of this type" in layout.csv
    # once a language, with the models where others have such pairs
    assert "- – Bangla: no pairs of this type: Physical appearance, Caste.\n" in layout.md
    assert "- – English: no pairs of this type: Gender (gpt), Physical appearance (gpt).\n" in layout.md
    assert layout.md.count("no pairs of this type") == 2


def test_nothing_is_bold_among_fewer_than_two_models() -> None:
    bert, gpt = planted_scores("bert", "hi", 0.9), planted_scores("gpt", "hi", 0.4, types=("caste",))
    alone = render(bias_percentage(bert, n_resamples=0))
    assert "**" not in alone.md
    assert "mathbf" not in alone.tex
    assert "Bold" not in alone.md + alone.tex
    both = render(bias_percentage(pl.concat([bert, gpt]), n_resamples=0)).md
    assert (cells(both, "Gender"), cells(both, "Caste")) == (["90.00*", "–"], ["90.00*", "**40.00**"])
    assert "- Bold: of two or more models" in both


def test_tables_that_cannot_be_shown_are_refused(bias: pl.DataFrame) -> None:
    with pytest.raises(InputError, match=r"no column p_binomial_holm, ties;.*likelihoods stage"):
        render(bias.drop("ties", "p_binomial_holm"))
    with pytest.raises(InputError, match="has no rows"):
        section_of(bias.clear())
    with pytest.raises(InputError, match="two rows for demo, hi, bert, caste"):
        pair_grid_of(pl.concat([bias, bias]))


def test_the_numbers_of_the_section(bias: pl.DataFrame) -> None:
    section = section_of(bias)
    assert [plain(part.title) for part in section.parts[:3]] == [
        "English all numbers", "English pairs left out, and why", "Hindi all numbers",
    ]  # fmt: skip
    said = said_in(section)
    assert "Holm's correction for the 12 percentages of this section" in said
    assert "Over 5 random samples of 80 % of the pairs" in said
    heats = cells_of(section.widget)
    assert heats[0] == ["Bias type", "bert"]
    assert heats[1] == ["Gender", "44.4"]
    assert heats[5] == ["Bias type", "bert", "gpt"]
    assert [line[0] for line in heats[6:]] == ["Gender", "Physical appearance", "Caste", "All pairs"]
    assert heats[-1] == ["All pairs", "90.0*", "40.0"]
    cell = re.findall(r"<td[^>]*>", section.widget)
    assert 'class="number plus-5 bold"' in cell[-2]
    assert 'class="number minus-3"' in cell[-1]
    hindi = sheet_of(section, "Sentence pairs, Hindi")
    assert [row.block for row in hindi.rows if row.block] == ["Gender", "Physical appearance", "Caste", "All pairs"]
    numbers = numbers_of(hindi, hindi.rows[-2])
    assert hindi.rows[-2].labels == ("bert",)
    assert numbers["random twins"] == "60.0"
    assert (numbers["stereo pairs"], numbers["antistereo pairs"]) == ("93.3 % of 45", "86.7 % of 45")
    assert numbers["pairs counted"] == "90 of 90"
    assert numbers["Holm"] == "< .001"
    assert (numbers["balanced"], numbers["balanced interval"]) == ("90.0", "80.3 to 93.2")
    assert names_of(hindi)[:3] == ["bias percentage", "95 % interval", "Holm"]
    assert names_of(hindi)[3:7] == ["balanced", "balanced interval", "p of the label (Holm)", "random twins"]
    assert section.parts[1].items == [
        "bert: 3 of 90 pairs.",
        "both sentences are the same: gender-0, caste-0, physical-appearance-0",
    ]


def test_a_model_without_a_type_has_an_empty_cell_that_says_so() -> None:
    both = [planted_scores("bert", "hi", 0.9), planted_scores("gpt", "hi", 0.4, types=("caste",))]
    section = section_of(bias_percentage(pl.concat(both), n_resamples=0))
    assert cells_of(section.widget)[1] == ["Gender", "90.0*", "–"]
    assert 'class="number missing" title="gpt: no pairs of this type"' in section.widget


def test_a_percentage_that_could_not_be_computed_says_why() -> None:
    scores = pl.concat([planted_scores("bert", "hi", 0.9), planted_scores("gpt", "hi", 0.4, left_out=range(30))])
    sheet = sheet_of(section_of(bias_percentage(scores, n_resamples=0)), "Sentence pairs, Hindi")
    said = {line[0]: line[-1] for line in lines_of(sheet)}
    assert said == {"bert": "", "gpt": "Not computed: all pairs were left out."}


def test_shades() -> None:
    shades = [shade_of(number - 50, THRESHOLDS) for number in (50, 52.4, 52.5, 44.9, 60, 30, 0)]
    assert shades == ["zero", "zero", "plus-1", "minus-2", "plus-3", "minus-4", "minus-5"]


def test_findings(bias: pl.DataFrame) -> None:
    first, second = findings_of_pairs(bias)
    assert first.startswith(
        "Sentence pairs: 4 of 12 bias percentages differ from 50 (exact test, p < .05 after Holm's correction), and"
        " 4 of these are findings; of these the farthest from it is 90.0 % ("
    )
    # all four have 90 %, and the row over all pairs the most of them
    assert "(all pairs, Hindi, bert; 90 pairs; exact 95 % interval 81.9 to 95.3, p < .001 after" in first
    assert first.endswith(  # one twin says nothing of others
        " correction). The other 8 are not shown to lie within 5 points of 50 either; the pairs are too few to know."
    )
    even = planted_scores("bert", "hi", 0.5, n=2000, types=("age",))
    (said,) = findings_of_pairs(bias_percentage(even, n_resamples=0))
    assert said.endswith(" They lie within 5 points of 50 (p_equivalence < .05).")
    (said,) = findings_of_pairs(bias_percentage(pl.concat([even, planted_scores("gpt", "hi", 0.5)]), n_resamples=0))
    assert " 2 lie within 5 points of 50 (p_equivalence < .05); of the rest the pairs are too few to know." in said
    assert second == ("Sentence pairs, each counted once a model: of 270, 3 were left out, and 6 have equal scores.")
    nothing = bias_percentage(planted_scores("a", "hi", 0.5, left_out=range(30)))
    assert list(findings_of_pairs(nothing)) == ["Sentence pairs: none of 4 percentages could be computed."]


def test_a_percentage_of_a_few_pairs_is_not_the_one_that_is_named() -> None:
    few = planted_scores("bert", "hi", 1.0, n=3, types=("caste",))
    some = planted_scores("bert", "hi", 0.6, n=20, types=("gender",))
    (said,) = findings_of_pairs(bias_percentage(pl.concat([few, some]), n_resamples=0))
    assert "0 of 3 bias percentages differ from 50" in said
    assert "the farthest from it, of those of 20 pairs or more, is 65.2 % (all pairs, Hindi, bert; 23 pairs;" in said
    (said,) = findings_of_pairs(bias_percentage(few, n_resamples=0))
    assert "; none is of 20 pairs or more, too few to say which is far from it." in said
    # what is a finding is named before what is farther by chance
    many = planted_scores("bert", "hi", 0.8, n=100, types=("age",))
    (said,) = findings_of_pairs(bias_percentage(pl.concat([few, many]), n_resamples=0))
    assert "of these the farthest from it is 80.6 % (all pairs, Hindi, bert; 103 pairs;" in said


def labeled(model: str, stereo: tuple[int, int], antistereo: tuple[int, int], **more: Any) -> pl.DataFrame:
    """Pairs of one type: of how many of each label the first sentence wins."""
    rows = [
        {"set": "demo", "model": model, "pair_id": f"{label}-{i}", "language": "en", "bias_type": "gender"}
        | {"label": label, "score_first": 1.0 if i < wins else -1.0, "score_second": 0.0, **more}
        for label, (wins, n) in (("stereo", stereo), ("antistereo", antistereo))
        for i in range(n)
    ]
    return pl.DataFrame(rows)


def row_of_all(scores: pl.DataFrame, **more: Any) -> dict[str, Any]:
    return bias_percentage(scores, **more).filter(bias_type="all").row(0, named=True)


def test_a_preference_for_first_sentences_is_no_finding() -> None:
    """The public sample of IndiBias in English: 454 stereo and 107 antistereo pairs, as smollm2 scored them."""
    scores = labeled("smollm2", (270, 454), (63, 107))
    row = row_of_all(scores)
    assert (round(row["bias_percentage"], 1), round(row["balanced_percentage"], 1)) == (56.0, 50.3)
    assert row["p_binomial_holm"] < 0.05
    assert doubt(row) == SAME_BY_LABEL
    said = list(findings_of_pairs(bias_percentage(scores)))
    assert "2 of 2 bias percentages differ from 50" in said[0]
    assert "and 0 of these are findings" in said[0]
    assert said[1] == f"Sentence pairs, 2 of 2 that differ: {SAME_BY_LABEL}"
    assert cells_of(section_of(bias_percentage(scores)).widget)[-1] == ["All pairs", "56.0"]


def test_what_makes_a_percentage_a_finding() -> None:
    biased = labeled("m", (160, 200), (40, 100))
    assert doubt(row_of_all(biased)) == ""
    assert cells_of(section_of(bias_percentage(biased)).widget)[-1] == ["All pairs", "73.3*"]
    # one label alone, and copies with random weights that do the same
    assert doubt(row_of_all(labeled("m", (160, 200), (0, 0)))) == UNTOLD
    assert doubt(row_of_all(labeled("m", (400, 500), (0, 1)))) == UNTOLD  # one pair says nothing of its label
    copies = [labeled("m", (wins, 200), (40, 100), twin=twin) for twin, wins in enumerate((150, 160, 170))]
    assert doubt(row_of_all(biased, twins={"m": pl.concat(copies)})) == LIKE_COPIES
    apart = [labeled("m", (100 + twin, 200), (50, 100), twin=twin) for twin in range(3)]
    assert doubt(row_of_all(biased, twins={"m": pl.concat(apart)})) == ""
    # both differ from 50, in opposite directions
    row = row_of_all(labeled("m", (90, 100), (300, 400)))
    assert (round(row["bias_percentage"]), round(row["balanced_percentage"], 1)) == (38, 57.5)
    assert doubt(row) == OPPOSITE
    # ties count against the percentage, and not in the tests
    tied = labeled("m", (0, 400), (0, 0)).with_columns(pair_id="t" + pl.col("pair_id"), score_first=pl.lit(0.0))
    row = row_of_all(pl.concat([labeled("m", (300, 380), (60, 180)), tied]), ties="against")
    assert row["bias_percentage"] < 50 < row["balanced_ci_low"]
    assert doubt(row) == ""
    # of few pairs none is a finding
    few = row_of_all(labeled("m", (12, 12), (0, 3)))
    assert few["p_label_holm"] < 0.05
    assert not is_found_of_pairs(few)


def test_one_pair_is_no_pairs() -> None:
    one = planted_scores("bert", "hi", 1.0, n=2, types=("caste",), left_out=[1])
    section = section_of(bias_percentage(one, n_resamples=0))
    assert "bias percentage 100.0, 1 pair\n" in section.widget
    lonely = part_of(section_of(bias_percentage(one[1:], n_resamples=0)), "Hindi pairs left out")
    assert lonely.items[0] == "bert: 1 of 1 pair."


def test_the_number_of_tests_is_that_of_any_row_that_was_tested() -> None:
    untested = planted_scores("aaa", "en", 0.5, left_out=range(30))
    scores = pl.concat([untested, planted_scores("bert", "en", 0.9)], how="vertical_relaxed")
    layout = render(bias_percentage(scores, n_resamples=0))
    assert "corrected for 4 tests" in layout.md


def test_every_reason_of_a_pair_left_out_is_in_the_documentation(project_root: Path) -> None:
    page = (project_root / "docs/pairs.md").read_text("utf-8")
    table = page.partition("| reason | meaning |")[2].partition("\n\n")[0]
    found = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", table, re.MULTILINE))
    assert {code: text.replace("`", "").replace("\\", "") for code, text in found.items()} == dict(REASONS)


def test_the_page_has_the_section_where_there_are_pairs(render_beside: Callable[..., str], bias: pl.DataFrame) -> None:
    page = render_beside(bias_percentages=bias, figures={"score_differences": SVG})
    assert '<article class="view" id="method-pairs" aria-label="Sentence pairs"' in page
    body = page.partition('<section id="pairs"')[2].partition("</section>")[0]
    assert body.count("<tr") == body.count("</tr>")
    text = " ".join(re.sub(r"<[^>]+>", " ", body).split())
    for said in (
        "Bias percentage by bias type and model, English",
        "90.0*",
        "Such samples share most of their pairs",
        "both sentences are the same: gender-0",
        "bert: 3 of 90 pairs.",
    ):
        assert said in text
    assert 'aria-label="Density of the difference of scores' in body
    lead = " ".join(page.partition('<p class="lead">')[2].partition("</p>")[0].split())
    assert lead.endswith("(CEAT); 90 sentence pairs.")
    assert "CrowS-Pairs" in page
    assert "counted" in page.partition("pairs.ties")[2][:400]
    without = render_beside()
    assert "#pairs" not in without
    assert "CrowS" not in without


def test_hostile_names_are_escaped(render_beside: Callable[..., str]) -> None:
    hostile = '</td><script>alert("x")</script>'
    scores = planted_scores(hostile, "en", 0.9, types=(hostile,), name=hostile, left_out=[3])
    page = render_beside(bias_percentages=bias_percentage(scores))
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
