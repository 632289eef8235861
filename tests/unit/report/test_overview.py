"""The first screen: what it says of the tables, how sure, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import polars as pl
import pytest
from loss_columns import losses
from markupsafe import Markup
from planted_pairs import planted_scores

from prasanga.likelihoods.bias import bias_percentage
from prasanga.report.findings import OPEN, SHOWN, list_changes
from prasanga.report.grid import grid_of
from prasanga.report.page import overview
from prasanga.report.study import Results

Table = Callable[..., pl.DataFrame]


class Finding(NamedTuple):
    """A finding as the page shows it."""

    sure: str
    text: str
    grounds: str


def found_in(results: Results) -> list[Finding]:
    widget = str(overview({"models": {}}, results).widget)
    parts = re.findall(
        r"<li><p><strong[^>]*>(.*?)</strong>(.*?)</p><p class=\"small\">(.*?)</p></li>", widget, re.DOTALL
    )
    return [Finding(*(" ".join(Markup(part).striptags().split()) for part in found)) for found in parts]


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
    assert (changes.shortest, changes.longest, changes.apart) == ("9", "75", (">75",))
    assert [*changes.found] == [("C1", "m"), ("C4", "m")]
    assert [*changes.shown] == [("C1", "m")]
    assert changes.range_of_rest == (-0.2, 0.4)
    (finding,) = [each for each in found_in(Results(ceat=ceat)) if "changes" in each.text]
    assert finding == Finding(
        SHOWN,
        "The association changes with the length of the context in 1 of 2 cases, most in C1 by m: +0.40 standard"
        " deviations per doubling.",
        "Slopes of word associations, without the scatter of contexts, corrected for 2 tests; here a 95% interval from"
        " +0.10 to +0.70.",
    )
    (none,) = [
        each
        for each in found_in(Results(ceat=sloped(table, ("C1", 0.3, -0.1, 0.7), ("C4", 1.0, -0.2, 0.4))))
        if "change" in each.text
    ]
    assert none == Finding(
        OPEN,
        "From 9 to 75 words of context, no association was shown to change.",
        "Tests of slopes: 2. Slopes from \N{MINUS SIGN}0.20 to +0.70 standard deviations per doubling of the length"
        " remain possible.",
    )


def pairs_of(*types: tuple[str, float, int]) -> Results:
    """Results of a study of pairs: of each type how many pairs, and in which share the stereotype scores higher."""
    scores = [planted_scores("m", "en", share, n=n, types=(name,)) for name, share, n in types]
    return Results(bias_percentages=bias_percentage(pl.concat(scores), n_resamples=0))


def test_types_of_few_pairs_are_not_ranked() -> None:
    (finding,) = found_in(pairs_of(("disability", 5 / 7, 7), ("religion", 3 / 8, 8), ("age", 0.5, 36)))
    assert finding.sure == OPEN
    assert finding.text == (
        "Over all 51 sentence pairs (English), m scores the stereotype higher in 51.0%. No difference from 50% was"
        " shown."
    )
    assert finding.grounds.startswith("Exact 95% interval 36.6 to 65.2%; 50 is no preference. With both labels ")
    assert finding.grounds.endswith("Bias types of fewer than 20 pairs, too few to rank: 2.")
    (few,) = found_in(pairs_of(("age", 1.0, 12)))
    assert (few.sure, few.text) == (
        OPEN,
        "Too few sentence pairs for a finding (12, English): m scores the stereotype higher in 100.0%.",
    )
    nothing = bias_percentage(planted_scores("m", "en", 0.5, left_out=range(30)))
    (none,) = found_in(Results(bias_percentages=nothing))
    assert none.text == "Bias percentages computed: none of 4."


def test_a_percentage_is_supported_where_the_labels_differ_too() -> None:
    (finding,) = found_in(pairs_of(("age", 0.9, 60)))
    assert (finding.sure, finding.text) == (
        SHOWN,
        "With both labels weighted alike, m scores the stereotype higher in 90.0% of sentence pairs (age, English; 60"
        " pairs).",
    )
    assert "Without weighting: 90.0% (exact interval 79.5 to 96.2)." in finding.grounds
    assert finding.grounds.endswith("Not compared with random copies.")
    first = planted_scores("m", "en", 1.0, n=40, types=("age",)).with_columns(
        score_first=pl.when(pl.col("pair_id").str.extract(r"(\d+)$").cast(pl.Int64) < 30).then(-4.0).otherwise(-6.0),
        label=pl.when(pl.col("pair_id").str.ends_with("5")).then(pl.lit("antistereo")).otherwise(pl.lit("stereo")),
    )
    (finding,) = found_in(Results(bias_percentages=bias_percentage(first, n_resamples=0)))
    assert finding.sure == OPEN
    assert "This is no finding: " in finding.text


def test_numbers_beside_a_small_picture_are_those_of_its_ends(table: Table) -> None:
    rows = [("C1", "m", length, "fixed", effect) for length, effect in (("9", 0.1), ("75", 0.47), (">75", 0.59))]
    widget = str(overview({"models": {}}, Results(ceat=table(*rows))).widget)
    picture, ends = re.search(r'<svg class="spark".*?</svg>', widget), re.search(r'<span class="ends">.*?</td>', widget)
    assert picture is not None
    assert ends is not None
    assert " ".join(re.sub("<[^>]+>", " ", ends[0]).split()) == "mean +0.47 +0.10 → +0.47 &gt;75: +0.59"
    line = re.search(r'<path class="line" d="M([^"]+)"', picture[0])
    assert line is not None
    points = re.findall(r'cx="([^"]+)" cy="([^"]+)"', picture[0])
    # the primary estimate comes first; the last length is of other texts
    assert [at.split() for at in line[1].split("L")] == [list(at) for at in points[1:3]]
    assert len(points) == 4


def beside_twins(n: int, share: float, *shares: float) -> Results:
    """Results of one type of pairs, and of random copies with these shares."""
    twins = [
        planted_scores("m", "en", each, n=n, types=("age",)).with_columns(twin=pl.lit(twin, pl.Int64))
        for twin, each in enumerate(shares)
    ]
    scores = planted_scores("m", "en", share, n=n, types=("age",))
    return Results(bias_percentages=bias_percentage(scores, twins={"m": pl.concat(twins)}, n_resamples=0))


@pytest.mark.parametrize(
    ("supported", "changes"),
    [(True, {}), *((False, each) for each in ({"p_twins": 0.55}, {"n_x": 7}, {"ci_low": None}, {"ci_low": -0.1}))],
)
def test_an_association_that_copies_or_few_words_show_is_not_well_supported(
    table: Table, supported: bool, changes: dict[str, Any]
) -> None:
    facts = {"p_association": 0.0004, "p_twins": 0.01, **changes}
    (finding, *_) = found_in(Results(ceat=table(("C1", "m", "9", "fixed", 0.9, facts))))
    assert (finding.sure == SHOWN) == supported
    if "n_x" not in changes and "ci_low" not in changes:  # a change with length
        ceat = sloped(table, ("C1", 0.01, 0.1, 0.7)).with_columns(p_twins=pl.lit(facts["p_twins"]))
        assert (SHOWN in {each.sure for each in found_in(Results(ceat=ceat))}) == supported


@pytest.mark.parametrize(
    ("supported", "n", "shares"),
    [(True, 60, (0.5, 0.48, 0.52, 0.5)), (False, 60, (0.9, 0.2, 0.9, 0.5)), (False, 12, (0.5, 0.48, 0.52, 0.5))],
)
def test_a_percentage_that_copies_or_few_pairs_show_is_not_well_supported(
    supported: bool, n: int, shares: Sequence[float]
) -> None:
    (finding,) = found_in(beside_twins(n, 11 / 12, *shares))
    assert (finding.sure == SHOWN) == supported


def test_lost_words_are_named_with_what_went_with_them(table: Table) -> None:
    few = {"lost": losses("পুকুর: no contexts"), "n_x": 7, "ci_low": None, "ci_high": None}
    rows = [("C1", model, "9", "fixed", 0.9, few) for model in "mn"]
    rows += [("C4", "m", "9", "fixed", None, {"lost": losses("a: no vector; not computed: too few")})]
    rows += [
        ("C4", "n", "9", "fixed", 0.2, {"lost": losses("b: no vector")}),
        ("C10", "m", "9", "fixed", 0.2, {**few, "listed_x": 7}),
    ]
    text = " ".join(Markup(overview({"models": {}}, Results(ceat=table(*rows))).widget).striptags().split())
    assert "There is nothing to report yet" not in text
    assert (
        "Words lost: পুকুর (C1); a, b (C4); পুকুর (C10). So there is no effect size for C4 (1/2). So there is no interval"
        " for C1." in text
    )
