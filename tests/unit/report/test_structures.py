"""Log-probability bias on the page: categories beside SEAT, traits in sentence structures, and their figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PatchCollection
from page_parts import names_of, numbers_of, part_of, plain, said_in, sheet_of, sheets_of

from prasanga.base.errors import InputError
from prasanga.likelihoods.structures import TRAITS_SCHEMA, compare_structures, spread_by_structure
from prasanga.report.figures.canvas import save_figure
from prasanga.report.figures.likelihoods import plot_structures
from prasanga.report.findings import DIFFERENCE_COLUMNS, QUANTITIES, SPREAD_COLUMNS, findings_of_structures
from prasanga.report.section import Section
from prasanga.report.sections.estimates import other_methods
from prasanga.report.sections.likelihoods import structures
from prasanga.report.sheet import with_sign
from prasanga.report.study import Results

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0"/></svg>'


@pytest.fixture(scope="module")
def traits() -> pl.DataFrame:
    """Two models, two polarities, three structures; what the trait adds shrinks from S1 to S5, which lacks one."""
    rng = np.random.default_rng(3)
    rows = []
    for model in ("bert", "<albert>"):
        for polarity, n in (("positive", 12), ("negative", 10)):
            base = rng.normal(size=n)
            for structure, width in (("S1", 2.0), ("S4", 1.0), ("S5", 0.25)):
                for number in range(n):
                    prior, corrected = 0.5 + rng.normal() / 10, width * base[number]
                    known = (structure, number) != ("S5", 0)
                    rows.append(
                        {
                            **{"model": model, "polarity": polarity, "trait": f"t{number}", "structure": structure},
                            **{"prior": prior, "corrected": corrected, "fill": prior + corrected, "n_words": 4},
                            **({} if known else dict.fromkeys(QUANTITIES)),
                            **{"pieces": "all", "terms": "log-sum-exp"},
                        }
                    )
    return pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA))


@pytest.fixture(scope="module")
def spread(traits: pl.DataFrame) -> pl.DataFrame:
    twins = traits.with_columns(pl.col(*QUANTITIES) / 10)
    return spread_by_structure(traits, twins, n_resamples=200)


@pytest.fixture(scope="module")
def pairs(traits: pl.DataFrame) -> pl.DataFrame:
    return compare_structures(traits, n_resamples=200)


def estimates(**changes: Any) -> pl.DataFrame:
    names = ("effect_size", "ci_low", "ci_high", "p_association", "p_association", "p_association_holm",
             "twin_effect_size", "twin_difference", "twin_difference_low", "twin_difference_high", "smallest_effect",
             "shuffled_low", "shuffled_high", "leave_out_low", "leave_out_high", "p_sentences")  # fmt: skip
    row: dict[str, Any] = {
        **{"category": "C6", "category_title": "Math and arts", "model": "bert", "lost": [], "std": "union_ddof1"},
        **{"target_x": "male_terms", "target_y": "female_terms", "attribute_a": "math", "attribute_b": "arts"},
        **dict.fromkeys(names, 0.5),
        **dict.fromkeys([f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab"], 8),
        **{"pieces": "all", "terms": "log-sum-exp", "exchanged": True},
    }
    return pl.DataFrame([{**row, **changes}])


def section_of(spread: pl.DataFrame, pairs: pl.DataFrame) -> Section:
    section = structures(Results(structures=spread, structure_differences=pairs))
    assert section is not None
    return section


def test_behind_a_structure_stand_its_traits_with_scores_and_sentences(
    traits: pl.DataFrame, spread: pl.DataFrame, pairs: pl.DataFrame
) -> None:
    texts = [("S4", "t3", 1, "he is <b>t3</b>"), ("S4", "t3", 2, "she is t3"), ("S1", "t3", 1, "short t3")]
    sentences = pl.DataFrame(
        [
            {"method": "structures", "category": structure, "stimulus": trait, "rank": rank, "text": text}
            for structure, trait, rank, text in texts
        ]
    )
    results = Results(structures=spread, structure_differences=pairs, traits=traits)
    with_texts, without = structures(replace(results, sentences=sentences)), structures(results)
    assert with_texts is not None
    assert without is not None
    sheet = sheet_of(with_texts, "Traits in S4: corrected association")
    of_s4 = traits.filter(structure="S4")
    assert len(sheet.rows) == 22  # each trait of each polarity once, for both models
    highest = of_s4.sort("corrected", descending=True).row(0, named=True)
    assert sheet.rows[0].labels == (highest["trait"],)
    row = next(row for row in sheet.rows if row.labels == ("t3",) and row.cells[1].text == "negative")
    scores = of_s4.filter(trait="t3", polarity="negative")["corrected"].to_list()
    assert [cell.text for cell in row.cells[2:4]] == [with_sign(score) for score in scores]
    assert row.cells[4].text == "he is &lt;b&gt;t3&lt;/b&gt;<br>she is t3"
    assert [name for _, name in sheet_of(without, "Traits in S4: corrected association").columns][-1] == "<albert>"
    # one without a number is not among those of S5
    assert len(sheet_of(without, "Traits in S5: corrected association").rows) == 20
    label = sheet_of(without, "Associations over traits by structure").rows[4].labels[0]
    assert label == '<a href="#structure-S4">S4</a>'


def test_the_package_names_the_columns_that_the_page_needs(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    assert set(SPREAD_COLUMNS) <= set(spread.columns)
    assert set(DIFFERENCE_COLUMNS) <= set(pairs.columns)


def test_each_structure_has_its_numbers(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    section = section_of(spread, pairs)
    assert "more and more context, S1, S4, S5 (Sadhu" in said_in(section)
    sheet = sheet_of(section, "Associations over traits by structure")
    assert [plain(row.block) for row in sheet.rows if row.block][:4] == [
        "bert prior, positive traits",
        "bert corrected, positive traits",
        "bert fill, positive traits",
        "bert prior, negative traits",
    ]
    assert plain(next(row.block for row in sheet.rows[27:] if row.block)) == "<albert> prior, positive traits"
    row = spread.filter(model="bert", polarity="positive", quantity="corrected", structure="S4").row(0, named=True)
    assert sheet.rows[4].labels == ("S4",)
    cells = numbers_of(sheet, sheet.rows[4])
    assert cells["traits"] == "12"
    assert cells["words"] == "4.0"
    assert cells["standard deviation"] == f"{row['sd']:.2f}"
    assert cells["random twins, deviation"] == f"{row['sd'] / 10:.2f}"
    assert part_of(section, "Traits without a score").items == [
        f"{model}, S5, {polarity}: 1 of {n} traits without a score"
        for model in ("bert", "<albert>")
        for polarity, n in (("positive", 12), ("negative", 10))
    ]
    (note,) = section.notes
    assert plain(note).startswith("Conventions: pieces all, terms log-sum-exp. The random twins are the same model")


def test_the_section_says_of_how_many_traits_it_is(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    section = structures(Results(structures=spread, structure_differences=pairs, figures={"structures": SVG}))
    assert section is not None
    assert section.text[0].startswith("The same 22 traits in sentences")


def test_structures_that_differ_by_more_than_chance_are_marked(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    sheet = sheet_of(section_of(spread, pairs), "Structures compared")
    rows = {(row.labels[0], row.cells[0].text, row.cells[1].text): row for row in reversed(sheet.rows)}
    corrected = rows["bert", "all", "corrected"]
    assert [cell.text for cell in corrected.cells[2:4]] == ["S4 / S1", "22"]
    ratio = corrected.cells[4]
    # every trait adds half as much
    assert (ratio.text, ratio.mark, ratio.bold) == ("0.50 (0.50 to 0.50)", "*", True)
    assert rows["bert", "all", "prior"].cells[4].mark == ""
    assert {quantity for _, _, quantity in rows} == {"prior", "corrected"}


def test_findings_say_where_associations_spread(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    first, second = findings_of_structures(spread, pairs)
    assert first.startswith("Log-probability bias of traits, bert: prior associations spread least in S")
    assert "corrected associations spread least in S5" in first
    assert "and most in S1" in first
    assert "Of 6 comparisons of two structures, the spreads differ by more than chance in" in first
    assert second.startswith("Log-probability bias of traits, <albert>")


def test_a_table_of_an_older_version_is_refused(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="spread by structure: the table has no column twin_sd"):
        section_of(spread.drop("twin_sd"), pairs)
    with pytest.raises(InputError, match="structures compared: the table has no column note"):
        section_of(spread, pairs.drop("note"))


def test_categories_stand_beside_those_of_seat() -> None:
    (section,) = other_methods(Results(log_probability=estimates()))
    assert section.id == "log_probability"
    assert "Targets and attributes change places in C6." in plain(section.text[0])
    _, sheet = sheets_of(section)
    assert "targets dealt anew" in names_of(sheet)
    assert "Conventions: std union_ddof1, pieces all, terms log-sum-exp." in said_in(section)
    (other,) = other_methods(Results(log_probability=estimates(exchanged=False)))
    assert "change places" not in plain(other.text[0])


@pytest.mark.parametrize("width", ["page", "column"])
def test_the_figure_is_the_same_from_the_same_table(width: Any, spread: pl.DataFrame, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save_figure(plot_structures(spread, width=width), tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    figure = plot_structures(spread, width=width)
    visible = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.texts[-1].get_text() for axis in visible] == ["bert", "<albert>"]
    boxes = [each for each in visible[0].collections if isinstance(each, PatchCollection)]
    assert [len(each.get_paths()) for each in boxes] == [3] * 4  # structures, by quantities and polarities
    row = spread.filter(model="bert", structure="S4", quantity="corrected", polarity="negative").row(0, named=True)
    ends = boxes[3].get_paths()[1].get_extents()
    assert (ends.y0, ends.y1) == pytest.approx((row["q25"], row["q75"]))


def test_a_figure_of_nothing_says_so(spread: pl.DataFrame) -> None:
    figure = plot_structures(spread.with_columns(median=pl.lit(None, pl.Float64)))
    assert [text.get_text() for text in figure.texts] == ["Not drawn: no structure has a number."]


def test_the_page_has_the_sections_that_a_study_has(
    render_beside: Callable[..., str], spread: pl.DataFrame, pairs: pl.DataFrame
) -> None:
    page = render_beside(
        log_probability=estimates(),
        structures=spread,
        structure_differences=pairs,
        figures={"structures": SVG, "hexbins_bert": SVG, "hexbins_gpt": SVG},
        files=["figures/structures.pdf", "figures/hexbins_bert.svg"],
    )
    for name in ("log_probability", "structures"):
        assert f'<section id="{name}"' in page
        assert f'<li><a href="#method-{name}"' in page
    assert "one category by Log-probability bias; traits in sentence structures." in page
    assert "<li>Log-probability bias: no association was found in 1 row;" in page
    assert "&lt;albert&gt;" in page
    assert "<albert>" not in page
    assert "Kurita" in page.partition('id="references"')[2]
    assert "figures/structures.pdf" in page
    for said in (
        '<a href="figures/hexbins_bert.svg">figures/hexbins_bert.svg</a>',
        "<code>figures/hexbins_gpt.svg</code>",
    ):
        assert f"<noscript><p>A script unpacks this figure; without one it is in the file {said}." in " ".join(
            page.split()
        )
    without = render_beside()
    assert 'id="structures"' not in without
    assert "Kurita" not in without.partition('id="references"')[2]
