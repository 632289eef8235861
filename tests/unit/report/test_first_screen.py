"""The first screen: the title, its number, the figure and the four answers, for every kind of study."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from loss_columns import losses
from markupsafe import Markup
from planted_pairs import planted_scores
from report_tables import fill_columns

from prasanga.base.io import write_table
from prasanga.likelihoods.bias import bias_percentage
from prasanga.report.findings import list_changes
from prasanga.report.first_screen import Part, Screen, fill_first_screen
from prasanga.report.grid import grid_of
from prasanga.report.page import overview, write_front_page
from prasanga.report.study import Results, describe_categories

Table = Callable[..., pl.DataFrame]

FOUND = {"p_association": 0.0004, "p_twins": 0.01}
"""What makes an effect of more than .54 a finding."""


def set_named(name: str, gloss: str = "") -> dict[str, Any]:
    return {"name": name, "gloss": gloss or name, "stimuli": ["w"]}


CATEGORIES = {
    "C1": {
        "title": "C1",
        "sanity_check": True,
        "targets": [set_named("flowers"), set_named("insects")],
        "attributes": [set_named("pleasant", "pleasant words (a source)"), set_named("unpleasant")],
    },
    "glosses": {},
}


def screen_of(results: Results, language: str = "bn") -> Screen:
    return Screen([Part(language, results, describe_categories(CATEGORIES))])


def text_of(html: str) -> str:
    return " ".join(Markup(html.replace("<", " <")).striptags().split())


def answers(screen: Screen) -> dict[str, str]:
    return {question: text_of(" ".join(sentences)) for question, sentences in screen.list_answers()}


def pairs_of(*types: tuple[str, float, int]) -> Results:
    """Results of a study of pairs: of each type how many pairs, and in which share the stereotype scores higher."""
    scores = [planted_scores("m", "en", share, n=n, types=(name,)) for name, share, n in types]
    return Results(bias_percentages=bias_percentage(pl.concat(scores), n_resamples=0))


def test_the_largest_found_effect_about_people_comes_before_a_sanity_check(table: Table) -> None:
    ceat = table(
        ("C1", "m", "9", "fixed", 1.5, FOUND),
        ("C4", "m", "9", "fixed", -0.9, FOUND),
        ("C10", "m", "9", "fixed", 0.8, FOUND),
    )
    screen = screen_of(Results(ceat=ceat))
    assert screen.title == "In Bangla, m associates male names more with family and female names more with career."
    assert screen.number == [
        "Effect size \N{MINUS SIGN}0.90 · 95% interval \N{MINUS SIGN}1.44 to \N{MINUS SIGN}0.36 · p (Holm) .002,"
        " tests in Bangla: 3 · random-weight copies +0.11\xa0±\xa00.20.",
        "The largest of 2 found effects about people is usually overestimated.",
    ]
    checks = screen_of(Results(ceat=ceat.filter(category="C1")))
    assert len(checks.number) == 1
    assert checks.title == "In Bangla, m associates flowers more with pleasant words and insects more with unpleasant."
    said = answers(screen)
    assert said["How sure is it?"].startswith("Associations found: 3 of 3 (")
    assert "more than the copies show" in said["How sure is it?"]
    assert "Sanity checks passed: 1 of 1 (CEAT: C1 +1.50)." in said["How sure is it?"]
    assert "prasanga measure MODEL --language bn --corpus 'texts/*.txt'" in said["What next?"]


@pytest.mark.parametrize(
    "changes", [{"p_twins": 0.55}, {"n_x": 7}, {"ci_low": None}, {"ci_low": -0.1}, {"p_association": 0.03}]
)
def test_what_copies_or_few_words_or_chance_show_is_no_title(table: Table, changes: dict[str, Any]) -> None:
    screen = screen_of(Results(ceat=table(("C1", "m", "9", "fixed", 0.9, {**FOUND, **changes}))))
    assert screen.title == (
        "Too few words for a finding." if "n_x" in changes else "No association was found with these words."
    )
    assert screen.number[0].startswith("Largest effect: Flowers with pleasant, insects with unpleasant (CEAT) · ")
    assert ("No finding: no difference from copies with random weights." in screen.number) == ("p_twins" in changes)
    (forest,) = screen.draw_effects()
    assert not forest.groups[0][1][0][1][0].is_found


def test_where_nothing_was_found_the_screen_says_what_could_have_been(table: Table) -> None:
    rows = table(("C1", "m", "9", "fixed", 0.3), ("C4", "m", "9", "fixed", 0.2)).filter(segment_length="mean")
    shifts = {"shifts": [0.0, 1.0], "shares_found": [0.0, 0.9], "strength_note": None, "model": "m"}
    strength = pl.DataFrame(
        [{"category": "C1", "shift_80": 0.5, **shifts}, {"category": "C4", "shift_80": 0.8, **shifts}]
    )
    said = answers(screen_of(Results(seat=rows.drop("segment_length"), seat_strength=strength)))
    assert (
        "a shift of 0.80 standard deviations (0.50 to 0.80) would be found in 80% of studies" in said["How sure is it?"]
    )
    assert "Not passed: SEAT: C1 +0.30. Draw no conclusions about people there." in said["How sure is it?"]
    assert "prasanga config 'categories.<name>.targets'" in said["What next?"]
    opposite = answers(screen_of(Results(ceat=table(("C1", "m", "9", "fixed", -1.5, FOUND)))))
    assert "Not passed: CEAT: C1 \N{MINUS SIGN}1.50." in opposite["How sure is it?"]


def test_a_figure_has_a_line_per_category_and_a_column_per_method_language_and_model(table: Table) -> None:
    effects = (("C4", 0.2), ("C1", 0.9), ("C10", 0.6))
    ceat = table(*((name, model, "9", "fixed", effect, FOUND) for name, effect in effects for model in "abcde"))
    forests = screen_of(Results(ceat=ceat)).draw_effects()
    assert [forest.heads for forest in forests] == [["a", "b", "c"], ["d", "e"]]
    assert forests[0].groups[0][1][0][1][0].copies == pytest.approx((-0.09, 0.31))
    drawn = [(group, [line.label for line, _ in lines]) for group, lines in forests[0].groups]
    assert drawn == [
        ("Sanity checks: associations that nobody disputes", ["Flowers with pleasant, insects with unpleasant"]),
        (
            "People",
            ["Weapons with pleasant, tools with unpleasant", "Male names with career, female names with family"],
        ),
    ]
    ((_, points), *_) = forests[0].groups[1][1]
    # from -0.34 - 5% of the range to 1.44 + 5% of it
    assert forests[0].middle == pytest.approx(100 * (0.34 + 0.089) / (1.1 * 1.78), abs=0.01)
    assert points[0][3:5] == (True, "#behind-ceat.C10.a.mean")
    low, high = points[0].interval
    assert (round(low, 2), round(high, 2)) == (0.06, 1.14)


def sloped(table: Table, *slopes: tuple[str, float, float, float]) -> pl.DataFrame:
    """Estimates of model m at 9, 75 and >75 words and over lengths; slopes are category, p, and the interval's ends."""
    found = table(*((name, "m", length, "fixed", 0.5) for name, *_ in slopes for length in ("9", "75", ">75")))
    numbers = {name: {"p_slope_holm": p, "slope_low": low, "slope_high": high} for name, p, low, high in slopes}
    columns = {
        column: pl.when(segment_length="mean").then(
            pl.col("category").replace_strict(
                {name: of[column] for name, of in numbers.items()}, return_dtype=pl.Float64
            )
        )
        for column in ("p_slope_holm", "slope_low", "slope_high")
    }
    return found.with_columns(**columns).with_columns(slope=(pl.col("slope_low") + pl.col("slope_high")) / 2)


def test_a_change_is_a_slope_that_is_significant_after_correction(table: Table) -> None:
    ceat = sloped(table, ("C1", 0.05, 0.1, 0.7), ("C4", 0.051, -0.2, 0.4))
    changes = list_changes(grid_of(ceat))
    assert (changes.shortest, changes.longest) == ("9", "75")
    assert [*changes.found] == [("C1", "m"), ("C4", "m")]
    assert [*changes.shown] == [("C1", "m")]
    assert changes.range_of_rest == (-0.2, 0.4)
    said = answers(screen_of(Results(ceat=ceat)))["What moves the number?"]
    assert (
        "Associations that change with context length: 1 of 2. Most: Flowers with pleasant, insects with unpleasant"
        " (+0.40 per doubling, +0.10 to +0.70)." in said
    )
    none = answers(screen_of(Results(ceat=sloped(table, ("C1", 0.3, -0.1, 0.7), ("C4", 1.0, -0.2, 0.4)))))
    assert "Context length (9 to 75 words) made no detectable difference." in none["What moves the number?"]


def test_contexts_that_would_be_enough_are_the_next_step(table: Table) -> None:
    enough = {**FOUND, "contexts_enough": 76, "contexts_min": 16, "band": 0.1}
    rows = table(("C1", "m", "9", "fixed", 0.9, FOUND)).with_columns(
        **{key: pl.lit(value) for key, value in enough.items()}
    )
    said = answers(screen_of(Results(ceat=rows)))
    assert "Contexts per word in CEAT: 16. With about 76, every effect" in said["What moves the number?"]
    assert "samples: {contexts_per_stimulus: 76}" in said["What next?"]
    steady = answers(screen_of(Results(ceat=rows.with_columns(contexts_enough=pl.lit(12)))))
    assert "contexts_per_stimulus" not in steady["What next?"]
    few = Results(ceat=rows.with_columns(language=pl.lit("hi"), contexts_enough=pl.lit(44)))
    parts = [Part(language, each, {}) for language, each in (("hi", few), ("bn", Results(ceat=rows)))]
    for screen in (Screen(parts), Screen(parts[1:], is_part=True)):
        assert "languages: {bn: {samples: {contexts_per_stimulus: 76}}} Your own" in answers(screen)["What next?"]


def test_the_screen_claims_no_more_than_was_measured(table: Table) -> None:
    copies = {"twin_effect_size": None, "twin_sd": None, "n_x": 7, "listed_x": 7}
    rows = (("C1", "m", "9", "fixed", 0.9, copies), ("C4", "m", "9", "fixed", 0.3, {**copies, "n_x": 8}))
    said = answers(screen_of(Results(ceat=table(*rows)), "ta"))
    assert said["How sure is it?"].startswith(
        "Associations found: 0 of 1 (significant after Holm's correction, interval without 0). Too few words for a"
        " verdict: CEAT: C1 +0.90. A finding needs"
    )
    assert "prasanga measure" not in said["What next?"]
    known = describe_categories(CATEGORIES)
    for is_check in (True, False):
        seat = Results(seat=table(rows[1]).filter(segment_length="mean").drop("segment_length"))
        said = answers(Screen([Part("bn", seat, {"C1": {**known["C1"], "sanity_check": is_check}})]))
        assert ("No sanity check was measured" in said["How sure is it?"]) == is_check
        assert ("seat: {categories: [C1, C2, C4]}" in said["What next?"]) == is_check


def test_types_of_few_pairs_are_not_ranked() -> None:
    results = pairs_of(("disability", 5 / 7, 7), ("religion", 3 / 8, 8), ("age", 0.5, 36))
    screen = screen_of(results)
    assert (
        screen.title == "Over all 51 sentence pairs, m scores the stereotype higher in 51.0%; no preference was found."
    )
    assert screen.number[0].startswith(
        "51.0% (pairs: 51) · 95% interval 36.6 to 65.2 · with both labels weighted alike "
    )
    (forest,) = screen.draw_percentages()
    assert [line.label for line, _ in forest.groups[0][1]] == ["All pairs", "Age"]
    assert [text for _, text in forest.ticks] == ["40", "50", "60"]
    shown = text_of(str(fill_first_screen(screen, "s", []).widget))
    assert "Bias types with too few pairs to rank: 2 (at most 8 pairs each)." in shown
    assert "· tests: 4 ·" in shown
    assert "Religion demo en m 37.5" in shown.partition("All bias percentages")[2]
    assert screen_of(pairs_of(("age", 1.0, 12))).title == "Too few sentence pairs for a finding: 12."
    nothing = Results(bias_percentages=bias_percentage(planted_scores("m", "en", 0.5, left_out=range(30))))
    assert screen_of(nothing).title == "Nothing has been measured yet."


def beside_twins(n: int, share: float, *shares: float) -> Results:
    """Results of one type of pairs, and of random copies with these shares."""
    twins = [
        planted_scores("m", "en", each, n=n, types=("age",)).with_columns(twin=pl.lit(twin, pl.Int64))
        for twin, each in enumerate(shares)
    ]
    scores = planted_scores("m", "en", share, n=n, types=("age",))
    return Results(bias_percentages=bias_percentage(scores, twins={"m": pl.concat(twins)}, n_resamples=0))


@pytest.mark.parametrize(
    ("found", "n", "shares"),
    [(True, 60, (0.5, 0.48, 0.52, 0.5)), (False, 60, (0.9, 0.2, 0.9, 0.5)), (False, 12, (0.5, 0.48, 0.52, 0.5))],
)
def test_a_percentage_that_copies_or_few_pairs_show_is_not_found(found: bool, n: int, shares: Sequence[float]) -> None:
    screen = screen_of(beside_twins(n, 11 / 12, *shares))
    wanted = "In English, m scores the stereotype higher in 91.7% of sentence pairs, with both labels weighted alike ("
    assert screen.title.startswith(wanted) == found
    assert [point.is_found for _, (point,) in screen.draw_percentages()[0].groups[0][1]] == [found] * (1 + (n > 20))
    labels = beside_twins(n, 11 / 12, *shares)["bias_percentages"].with_columns(p_label_holm=pl.lit(0.02))
    number = screen_of(Results(bias_percentages=labels)).number[0]
    assert ("p (Holm) .020, tests in English: 2" in number) == found  # of a finding, p is of the labels


def test_traits_nothing_and_an_unfinished_study_have_screens_of_their_own(table: Table) -> None:
    traits = pl.DataFrame({"model": ["m"] * 2, "structure": ["S1", "S4"], "n": [12, 11]})
    assert screen_of(Results(structures=fill_columns("structures", traits))).title == (
        "Traits scored: 12. Sentence structures: 2."
    )
    nothing = Results(missing=["The table is not there. `snakemake x` makes it."])
    assert screen_of(nothing).title == "Nothing has been measured yet."
    text = text_of(str(overview({"models": {}, "language": "bn", "study": "s"}, nothing).widget))
    assert "This study is not finished. The table is not there. snakemake x makes it." in text
    assert "Finish the study: prasanga run" in text
    lost = {"lost": losses("a: no vector; not computed: too few")}
    assert screen_of(Results(ceat=table(("C4", "m", "9", "fixed", None, lost)))).title == "No effect could be computed."
    infinite = screen_of(Results(ceat=table(("C4", "m", "9", "fixed", math.inf, {"p_association_holm": math.nan}))))
    assert (infinite.title, infinite.list_effects()) == ("No effect could be computed.", None)


def test_lost_words_are_named_with_what_went_with_them(table: Table) -> None:
    few = {"lost": losses("পুকুর: no contexts"), "n_x": 7, "ci_low": None, "ci_high": None}
    rows = [("C1", model, "9", "fixed", 0.9, few) for model in "mn"]
    rows += [("C4", "m", "9", "fixed", None, {"lost": losses("a: no vector; not computed: too few")})]
    rows += [
        ("C4", "n", "9", "fixed", 0.2, {"lost": losses("b: no vector")}),
        ("C10", "m", "9", "fixed", 0.2, {**few, "listed_x": 7}),
    ]
    assert (
        "Words lost: পুকুর (C1); a, b (C4); পুকুর (C10). So there is no effect size for C4 (1/2). So there is no interval"
        " for C1." in answers(screen_of(Results(ceat=table(*rows))))["How sure is it?"]
    )


def test_the_page_over_several_languages_leads_to_the_numbers_of_each(table: Table, tmp_path: Path) -> None:
    rows = table(("C1", "m", "9", "fixed", 1.5, FOUND), ("C4", "m", "9", "fixed", 0.9, FOUND))
    seat = rows.filter(segment_length="mean").drop("segment_length")
    joined = pl.concat([seat.with_columns(language=pl.lit(language)) for language in ("bn", "en")])
    write_table(tmp_path / "seat.parquet", joined.to_arrow(), {})
    for language in ("bn", "en"):
        (tmp_path / language).mkdir()
        summary = {"categories": describe_categories(CATEGORIES), "missing": []}
        (tmp_path / language / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    output = {"summary": str(tmp_path / "summary.json"), "page": str(tmp_path / "report/index.html")}
    config = {"study": "s", "title": "T", "note": "", "report": {"language": "en"}}
    write_front_page(config, ["bn", "en"], {"seat": str(tmp_path / "seat.parquet")}, [], output)
    page = (tmp_path / "report/index.html").read_text("utf-8")
    assert 'href="../en/report/index.html#behind-seat.C4.m"' in page
    assert re.findall(r'<th scope="col"><a href="\.\./(\w+)/report/index.html">(\w+)</a></th>', page) == [
        ("en", "English"),
        ("bn", "Bangla"),
    ]
    (title, *_) = json.loads((tmp_path / "summary.json").read_text("utf-8"))["findings"]
    assert title["text"].startswith("In Bangla, m associates male names more with career")
    assert f">{title['text']}</h2>" in page
