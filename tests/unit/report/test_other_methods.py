"""SEAT, WEAT and where effects settle: the numbers of their tables, and their sections on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from loss_columns import losses
from page_parts import lines_of, names_of, numbers_of, plain, said_in, sheet_of, sheets_of
from report_tables import RULE

from prasanga import methods as registry
from prasanga.base.errors import InputError
from prasanga.report.findings import P, findings_of_differences, other_method
from prasanga.report.section import Section
from prasanga.report.sections.ceat import settling_of
from prasanga.report.sections.estimates import other_methods
from prasanga.report.sheet import Sheet
from prasanga.report.study import Results

Table = Callable[..., pl.DataFrame]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0"/></svg>'
SETS = ("upper_caste_male_terms", "lower_caste_female_terms", "pleasant", "unpleasant")
NO_TWINS = (
    *("n_twins", "twin_effect_size", "twin_sd", "twin_difference", "twin_difference_low", "twin_difference_high"),
    "p_twins",
)
NOTHING = (
    *("effect_size", "ci_low", "ci_high", "p_association", "p_association_holm", "twin_effect_size", "smallest_effect"),
    *("twin_sd", "twin_difference", "twin_difference_low", "twin_difference_high", "p_twins"),
    *("shuffled_low", "shuffled_high", "leave_out_low", "leave_out_high", "p_sentences"),
)


def row(category: str = "GC2", model: str = "bert", effect: float | None = -0.678, **changes: Any) -> dict[str, Any]:
    numbers: dict[str, Any] = {
        "category": category,
        "category_title": "Caste and pleasantness",
        **dict(zip(("target_x", "target_y", "attribute_a", "attribute_b"), SETS, strict=True)),
        "model": model,
        "effect_size": effect,
        "ci_low": -1.258,
        "ci_high": 0.564,
        "p_association": 0.0878,
        "p_association_holm": 0.5268,
        "n_twins": 8,
        "twin_effect_size": -0.0417,
        "twin_sd": 0.21,
        "twin_difference": -0.6363,
        "twin_difference_low": -1.42,
        "twin_difference_high": 0.147,
        "p_twins": 0.11,
        "shuffled_low": -0.677,
        "shuffled_high": 0.838,
        "leave_out_low": -0.835,
        "leave_out_high": -0.547,
        "smallest_effect": 1.0106,
        "p_sentences": None,
        **dict.fromkeys(("n_x", "n_y", "n_a", "n_b"), 8),
        **dict.fromkeys(("listed_x", "listed_y", "listed_a", "listed_b"), 8),
        "lost": [],
        "std": "union_ddof1",
        "seed": 47,
    }
    return {**numbers, **(dict.fromkeys(NOTHING) if effect is None else {}), **changes}


def estimates(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema_overrides=dict.fromkeys(NOTHING, pl.Float64), infer_schema_length=None)


def section_of(method: str, table: pl.DataFrame) -> Section:
    (section,) = other_methods(Results(**{method: table}))
    return section


def all_numbers(table: pl.DataFrame, method: str = "seat") -> Sheet:
    """The table of all numbers of the only family of categories."""
    _, sheet = sheets_of(section_of(method, table))
    return sheet


@pytest.fixture
def differences() -> pl.DataFrame:
    rows = [("length", 0.1, 0.3), ("length", -0.2, 0.3), ("length", None, None), ("model", -0.4, -0.1)]
    table = pl.DataFrame(rows, schema=["kind", "ci_low", "ci_high"], orient="row")
    place = {"category": "C1", "model": "wide_1", "sample_mode": "fixed", "first": "9", "second": "75"}
    return table.with_columns(**{name: pl.lit(value) for name, value in place.items()}, difference=pl.lit(0.2))


@pytest.fixture
def settling() -> pl.DataFrame:
    rows = [
        ("C10", "a", "fixed", 0.1, "25", "75", 0.0021, True),
        ("C2", "a", "fixed", 0.1, None, "75", 0.3, None),
        ("C2", "b", "fixed", 0.1, "9", "75", 0.25, False),
        ("C10", "b", "fixed", 0.1, None, None, None, None),
    ]
    names = ["category", "model", "sample_mode", "band", "settled_length", "longest", "largest_distance", "sure"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_row_has_its_numbers_the_most_important_first() -> None:
    sheet = all_numbers(estimates(row(p_association_holm=0.04, p_sentences=0.0001)))
    (found,) = sheet.rows
    assert plain(found.labels[0]) == ("GC2 upper caste male/lower caste female terms; pleasant/unpleasant")
    assert (found.cells[1].shade, found.cells[1].mark, found.cells[1].bold) == ("minus-3", "*", True)
    assert list(numbers_of(sheet).items()) == [
        ("Model", "bert"),
        ("effect size", "−0.678"),
        ("95 % interval over words", "−1.258 to +0.564"),
        ("Holm", ".040"),
        ("difference from twins", "−0.636"),
        ("p_association", ".088"),
        ("attributes dealt anew", "−0.677 to +0.838"),
        ("without one word", "−0.835 to −0.547"),
        ("random twins", "−0.042 (sd 0.210, 8)"),
        ("its 95 % interval", "−1.420 to +0.147"),
        ("p_twins", ".110"),
        ("smallest effect to be found", "1.01"),
        ("targets used", "8 + 8"),
        ("attributes used", "8 + 8"),
        ("p_sentences", "< .001"),
        ("left out", ""),
    ]


def test_why_an_effect_is_outside_its_interval_is_told() -> None:
    table = estimates(row(interval_note="the effect is outside: it is so"), row(model="other", interval_note=None))
    sheet = all_numbers(table)
    place = [name for _, name in sheet.columns].index("about the interval")
    assert [found.cells[place].text for found in sheet.rows] == ["the effect is outside: it is so", "–"]
    overview, _ = sheets_of(section_of("seat", table))
    said, other = (cell.hover.split("\n") for cell in overview.rows[0].cells)
    assert said[2:4] == [
        "95 % interval over words −1.258 to +0.564",
        "about the interval: the effect is outside: it is so",
    ]
    assert other[3].startswith("p_association")


def test_a_repeated_word_is_among_those_left_out() -> None:
    lost = {"lost": losses("rose: listed twice, counted once; lily: no vector"), "n_x": 6}
    (found,) = all_numbers(estimates(row(**lost))).rows
    assert plain(found.cells[-1].text) == "1 of 32 words left outlisted twice, counted once: roseno vector: lily"


def test_rows_stand_by_category_and_models_as_in_the_table() -> None:
    sheet = all_numbers(estimates(row("C10", "z"), row("C2", "z"), row("C10", "a"), row("C2", "a")))
    assert [(line[0].split()[0], line[1]) for line in lines_of(sheet)] == [
        ("C2", "z"), ("C2", "a"), ("C10", "z"), ("C10", "a"),
    ]  # fmt: skip


def test_nulls_are_dashes_and_mark_nothing() -> None:
    nulls = dict.fromkeys(set(NOTHING) - {"effect_size"})
    whole = row("GC3")
    sheet = all_numbers(estimates(row(effect=1.3, **nulls), whole | {"p_sentences": 0.5}))
    found = lines_of(sheet)[0][2:]
    assert found == ["+1.300", *["–"] * 10, "8 + 8", "8 + 8", "–", ""]
    nan = numbers_of(all_numbers(estimates(row(effect=float("nan")))))
    assert nan["left out"] == "Not computed: the estimate is not a finite number (nan)."


def test_an_estimate_that_is_missing_says_why_and_what_was_left_out() -> None:
    lost = losses("গোলাপ: no vector; মশা: no vector; নদী: cut: twice; not computed: flowers has 1 of 8; and needs 2")
    sheet = all_numbers(estimates(row(effect=None, n_x=1, lost=lost)))
    found = numbers_of(sheet)
    assert found == {
        "Model": "bert",
        "effect size": "–",
        "targets used": "1 of 8 + 8",
        "attributes used": "8 + 8",
        "left out": "Not computed: flowers has 1 of 8; and needs 2. 3 of 32 words left out"
        "no vector: গোলাপ, মশাcut: twice: নদী",
    }
    assert sheet.rows[0].cells[1].shade == "missing"


def test_categories_are_grouped_by_the_letters_of_their_names() -> None:
    table = estimates(row("GC2"), row("GC10"), row("C1"), row("GC2", "gpt"))
    section = section_of("seat", table)
    assert [plain(part.title) for part in section.parts] == [
        "C1 pleasant/unpleasant: all numbers",
        "GC2 to GC10 gender and caste: all numbers",
    ]
    overview = sheet_of(section, "Effect size by category and model")
    assert names_of(overview) == ["bert", "gpt"]
    assert [(line[0].split()[0], *line[1:]) for line in lines_of(overview)] == [
        ("C1", "−0.68", "–"), ("GC2", "−0.68", "−0.68"), ("GC10", "−0.68", "–"),
    ]  # fmt: skip
    assert overview.rows[2].cells[1].hover == "gpt: not in the table"
    # a block for each family
    assert [line.block for line in overview.rows] == ["", "", None]
    assert "Conventions: std union_ddof1, seed 47." in said_in(section)


def test_columns_without_a_number_are_not_shown() -> None:
    shown = names_of(all_numbers(estimates(row(**dict.fromkeys(NO_TWINS))), "weat"))
    assert not {"random twins", "difference from twins", "its 95 % interval", "p_twins"} & set(shown)
    assert "p_sentences" not in shown
    assert shown[:4] == ["Vectors", "effect size", "95 % interval over words", "Holm"]


def test_a_table_of_an_older_version_is_refused(differences: pl.DataFrame, settling: pl.DataFrame) -> None:
    with pytest.raises(InputError, match=r"WEAT: the table has no column ci_low, twin_effect_size; .*Make it again"):
        section_of("weat", estimates(row()).drop("ci_low", "twin_effect_size"))
    with pytest.raises(InputError, match="settling: the table has no column sure"):
        settling_of({"associations": {"band": 0.1}}, Results(settling=settling.drop("sure"), differences=differences))
    with pytest.raises(InputError, match="differences: the table has no column kind"):
        list(findings_of_differences(differences.drop("kind"), settling))


def test_settling_rows(differences: pl.DataFrame, settling: pl.DataFrame) -> None:
    section = settling_of({"associations": {"band": 0.1}}, Results(settling=settling, differences=differences))
    assert lines_of(sheet_of(section, "From which length on")) == [
        ["C2", "a", "fixed", "not before the longest", "0.30", "no"],
        ["C2", "b", "fixed", "9 words", "0.25", "no"],
        ["C10", "a", "fixed", "25 words", "0.00", "yes"],
        ["C10", "b", "fixed", "not computed", "–", "–"],
    ]


def test_findings_of_differences(differences: pl.DataFrame, settling: pl.DataFrame) -> None:
    assert list(findings_of_differences(differences, settling)) == [
        "Of 2 differences between two lengths of a model, 1 has a paired 95 % interval that excludes zero; fewer than"
        " one would without any difference.",
        "Of 1 difference between two models at a length, 1 has a paired 95 % interval that excludes zero; fewer than"
        " one would without any difference.",
        "In 2 of 3 rows of category, model and draws (1 not computed) the effect settles before the longest length:"
        " from there on it stays within 0.1 of the last one. In 1 of them the intervals of the differences lie within"
        " that band as well, so that it is more than luck.",
    ]
    assert list(findings_of_differences(differences.clear(), settling.clear())) == []


@pytest.mark.parametrize(
    ("sure", "expected"),
    [
        ([False, False], "In none of them the intervals of the differences lie within that band, so it may be luck."),
        ([True, True], "In all of them the intervals of the differences lie within that band as well, so that it is"),
        ([False], "There the intervals of the differences do not lie within that band, so it may be luck."),
        ([True], "There the intervals of the differences lie within that band as well, so that it is more than luck."),
    ],
)
def test_how_sure_it_is_that_effects_settle(
    differences: pl.DataFrame, settling: pl.DataFrame, sure: list[bool], expected: str
) -> None:
    rows = settling.filter(pl.col("settled_length").is_not_null())[: len(sure)].with_columns(sure=pl.Series(sure))
    (sentence,) = findings_of_differences(differences.clear(), rows)
    assert sentence.startswith(f"In {len(sure)} of {len(sure)} rows of category, model and draws the effect settles")
    assert expected in sentence


def test_rows_that_cannot_settle_do_not_count(differences: pl.DataFrame, settling: pl.DataFrame) -> None:
    alone = pl.DataFrame([{"category": "C3", "model": "a", "sample_mode": "fixed", "band": 0.1, "longest": "9"}])
    (sentence,) = findings_of_differences(differences.clear(), pl.concat([settling[1:], alone], how="diagonal"))
    assert sentence.startswith("In 1 of 2 rows of category, model and draws (1 not computed, 1 at one length only) the")
    (nothing,) = findings_of_differences(differences.clear(), settling[1:2])
    assert nothing.endswith("it stays within 0.1 of the last one.")
    assert list(findings_of_differences(differences.clear(), settling[3:])) == []


def test_rows_without_numbers_have_no_conventions() -> None:
    interval = {"interval": "bca"}
    table = estimates(row(**interval), row("GC3", effect=None, interval=None))
    assert "Conventions: std union_ddof1, interval bca, seed 47." in said_in(section_of("seat", table))
    assert "Conventions: std union_ddof1, seed 47." in said_in(section_of("seat", table[1:]))


def test_effects_as_draws_are_added_are_drawn_where_there_are_enough(
    render_beside: Callable[..., str],
    small: pl.DataFrame,
    differences: pl.DataFrame,
    settling: pl.DataFrame,
) -> None:
    beside = {"differences": differences, "settling": settling, "figures": {"settling": SVG, "convergence": SVG}}
    assert set(small["n_samples"]) == {100}
    assert "Effect against the number of draws" not in render_beside(**beside)
    small.replace_column(small.columns.index("n_samples"), pl.Series("n_samples", [101] * len(small)))
    page = render_beside(**beside)
    assert 'aria-label="Effect against the number of draws at the longest segment length' in page
    assert "The effect of the first draws against their number" in page


FOUND = {"p_association_holm": 0.01, "ci_high": -0.1, "p_twins": 0.02}


def test_a_finding_for_each_other_method() -> None:
    starred = row("GC5", p_association_holm=0.01)
    without_interval = row("GC7", p_association_holm=0.01, ci_low=None, ci_high=None)
    table = estimates(
        row(**FOUND), row("GC3", effect=0.2), starred, without_interval, row("GC4", effect=None), row("GC6", n_x=3)
    )
    assert other_method("SEAT", table) == (
        f"SEAT: an association was found in 1 of 4 rows (1 more of few words, 1 more not computed), that is {RULE}; the"
        " largest is −0.68 (GC2, bert; 95 % interval over words −1.26 to −0.10; difference from 8 twins with random"
        " weights −0.64, −1.42 to +0.15): upper caste male terms, more than lower caste female terms, are"
        " associated with unpleasant rather than pleasant. In the others none was found; with these words the"
        " permutation test of words finds an effect of 1.01 in 80% of studies, at .05. 2 have"
        f" {P} < .05 after Holm's correction, but an interval that includes zero."
    )
    static = estimates(row(model="glove", ci_low=None, twin_effect_size=None, p_association_holm=None))
    assert other_method("WEAT", static) == (
        "WEAT: no association was found in 1 row; with these words the permutation test of words finds an effect of"
        " 1.01 in 80% of studies, at .05."
    )
    assert other_method("WEAT", estimates(row(n_x=3))) == ("WEAT: none of 1 rows has enough words for a finding.")
    assert other_method("WEAT", estimates(row(effect=None))) == "WEAT: none of 1 rows could be computed."
    assert other_method("WEAT", static.clear()) is None


def test_sections_are_shown_for_the_tables_that_are_there(
    render_beside: Callable[..., str], differences: pl.DataFrame, settling: pl.DataFrame
) -> None:
    for nothing in (render_beside(), render_beside(ceat=None)):
        assert not [
            name for name in ("lengths", "seat", "weat") if f'id="{name}"' in nothing or f'"#{name}"' in nothing
        ]
        corrected_together = "(CEAT, SEAT, WEAT, log-probability bias)"
        assert "SEAT: words in bleached sentences" not in nothing.replace(corrected_together, "")
        assert "figures/settling" not in nothing
    beside = {
        **{"differences": differences, "settling": settling, "figures": {"settling": SVG, "convergence": SVG}},
        **{"seat": estimates(row()), "weat": estimates(row("C1", "glove"))},
        "files": ["figures/convergence.pdf"],
    }
    page = render_beside(**beside)
    for name in ("seat", "weat"):
        assert f'<section id="{name}"' in page
        assert f'<li><a href="#method-{name}"' in page
    assert '<details class="section" id="lengths">' in page
    lead = " ".join(page.partition('<p class="lead">')[2].partition("</p>")[0].split())
    assert lead == (
        "What 4 models associate with people and things: 3 categories in contexts of 9, &gt;75 words (CEAT);"
        " one category by SEAT; one category by WEAT."
    )
    assert "<li>SEAT: no association was found in 1 row;" in page
    assert "figures/convergence.pdf" in page
    only = render_beside(weat=estimates(row()))
    assert 'id="seat"' not in only
    assert 'id="lengths"' not in only


def test_words_left_out_are_folded(render_beside: Callable[..., str]) -> None:
    lost = losses("; ".join(f"গোলাপ{n}: out of vocabulary" for n in range(20)))
    page = render_beside(weat=estimates(row(lost=lost)))
    _, fold, rest = page.partition('<details class="fold"><summary>20 of 32 words left out</summary>')
    assert fold
    assert '<li>out of vocabulary: <span lang="bn">গোলাপ</span>0' in rest.partition("</details>")[0]


def test_hostile_text_is_escaped(render_beside: Callable[..., str]) -> None:
    hostile = '</td><script>alert("x")</script>'
    bad = {
        name: f"{name}: {hostile}" for name in ("category", "category_title", "target_x", "attribute_b", "model", "std")
    } | {"lost": losses(f"{hostile}: {hostile}")}
    page = render_beside(seat=estimates(row(**bad)), weat=estimates(row(**bad, effect=None)), files=(hostile,))
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_estimates_of_a_further_method_stand_beside_those_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method whose record is all that there is of it: its table has no field among the results."""
    seat = pl.DataFrame({"effect_size": [0.5]})
    further = replace(registry.SEAT, name="further")
    monkeypatch.setattr(registry, "FAMILY", (*registry.FAMILY, further))
    results = Results(seat=seat, others={"further": seat})
    assert [name for name, _ in results.methods] == ["seat", "further"]


def in_templates(low: float, high: float, both_low: float, category: str) -> dict[str, Any]:
    """An estimate of .5 in four templates, with an interval from .2 on over words and another over templates too."""
    ends = {"ci_low": 0.2, "ci_high": 0.8, "ci_templates_low": both_low, "ci_templates_high": 0.9}
    return row(
        category,
        effect=0.5,
        **{"n_templates": 4, "by_template_low": low, "by_template_high": high, **ends},
        **{"without_template_low": 0.3, "without_template_high": 0.7},
    )


def test_templates_are_shown_as_the_sample_that_they_are() -> None:
    table = estimates(in_templates(-0.2, 1.1, -0.1, "GC2"), in_templates(0.1, 1.1, 0.05, "GC3"))
    section = section_of("seat", table)
    _, finding = section.findings
    assert plain(str(finding)) == (
        "Templates are a sample: in 1 of 2 estimates the effect has one sign in some templates and the other in others;"
        " in 0 leaving out one template is enough to change it. With words resampled 2 of 2 intervals exclude zero,"
        " with words and templates 1."
    )
    sheet = all_numbers(table)
    shown = dict(zip(names_of(sheet), [cell.text for cell in sheet.rows[0].cells], strict=False))
    assert shown["over words and templates"] == "−0.100 to +0.900"
    assert shown["in one template"] == "−0.200 to +1.100"
    assert shown["without one template"] == "+0.300 to +0.700"
    assert len(section_of("weat", estimates(row())).findings) == 1
