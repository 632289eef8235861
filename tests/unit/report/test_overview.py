"""The first screen: what it says of the tables, how sure, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import polars as pl
from loss_columns import losses
from markupsafe import Markup
from planted_pairs import planted_scores

from prasanga.likelihoods.bias import bias_percentage
from prasanga.report.findings import OPEN, SHOWN, compare_lengths
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


def differences(*rows: tuple[str, str, str, float, float, float]) -> pl.DataFrame:
    """Differences between two lengths of model m: category, first, second, difference, interval."""
    names = ("category", "first", "second", "difference", "ci_low", "ci_high")
    table = pl.DataFrame(rows, schema=names, orient="row")
    return table.with_columns(kind=pl.lit("length"), model=pl.lit("m"))


def effects(table: Table, *lengths: str) -> pl.DataFrame:
    rows = [(name, "m", length, "fixed", 0.5) for name in ("C1", "C4") for length in lengths]
    return table(*rows)


def test_changes_are_between_the_ends_that_have_the_same_texts(table: Table) -> None:
    found = differences(
        ("C1", "9", "75", 0.4, 0.1, 0.7), ("C1", "9", ">75", 9.0, 8.0, 10.0), ("C4", "9", "75", 0.1, -0.2, 0.4)
    )
    changes = compare_lengths(grid_of(effects(table, "9", "75", ">75")), found)
    assert (changes.shortest, changes.longest) == ("9", "75")
    assert {key: row["difference"] for key, row in changes.found.items()} == {("C1", "m"): 0.4, ("C4", "m"): 0.1}
    two = compare_lengths(grid_of(effects(table, "9", ">75")), found)
    assert (two.longest, two.found["C1", "m"]["difference"]) == (">75", 9.0)


def test_a_study_of_few_words_says_which_numbers_there_are_and_which_words_it_lost(table: Table) -> None:
    lost = {"n_x": 7, "lost": losses("ঋণ: listed twice, counted once; ধনী: no context; গরিব: no context")}
    ceat = table(("C1", "m", "9", "fixed", 0.91, lost), ("C1", "n", "9", "fixed", 0.97, lost))
    first = found_in(Results(ceat=ceat.with_columns(p_twins=None)))[0]
    assert first.sure == OPEN
    assert first.text == (
        "Effects computed: 2 of 2, from +0.91 to +0.97 standard deviations. None has enough words for a finding."
    )
    assert first.grounds == (
        "A finding needs 8 words in each set, and two thirds of its list. Words lost: ধনী, গরিব (C1)."
    )
    none = found_in(Results(ceat=table(("C1", "m", "9", "fixed", None, lost))))
    assert none[0].text == "Effects computed: none of 1."
    in_part = lost | {"lost": losses("ধনী: no context; rich: 3 of its 4 sentences (no mask)")}
    both = table(("C1", "m", "9", "fixed", 0.9, lost), ("C4", "m", "9", "fixed", 0.9, in_part))
    (few, *_) = found_in(Results(ceat=both.with_columns(p_twins=None)))
    assert few.grounds.endswith("Words lost: ধনী, গরিব (C1); ধনী (C4).")
    widget = overview({"models": {}}, Results(ceat=ceat)).widget
    assert "There is nothing to report yet." not in widget


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
    assert finding.grounds.startswith("Exact 95 % interval 36.6 to 65.2 %; 50 is no preference. With both labels ")
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


def test_what_differs_from_half_is_told_before_what_is_farther_by_chance() -> None:
    """As in the public sample of IndiBias: all pairs differ from 50, one type is farther away and does not."""
    counts = [("gender", "stereo", 240, 400), ("gender", "antistereo", 60, 100)]
    counts += [("religion", "stereo", 11, 16), ("religion", "antistereo", 2, 4)]
    rows = [
        {"pair_id": f"{name}-{label}-{i}", "language": "en", "model": "m", "bias_type": name, "label": label}
        | {"score_first": 1.0 if i < wins else -1.0, "score_second": 0.0}
        for name, label, wins, n in counts
        for i in range(n)
    ]
    first = pl.DataFrame(rows)
    (finding,) = found_in(Results(bias_percentages=bias_percentage(first, n_resamples=0)))
    assert finding.sure == OPEN
    assert finding.text == (
        "m scores the stereotype higher in 56.3 % of 520 sentence pairs (all pairs, English). This is no finding: the"
        " labels do not differ after correction, so it may be a preference for the first sentence."
    )


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
