"""The first screen: what it says of the tables, how sure, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl
import pytest

from prasanga.report.grid import grid_of
from prasanga.report.section import said
from prasanga.report.sections.ceat import Change, changes_of
from prasanga.report.sections.overview import LIKELY, OPEN, SHOWN, overview, three_findings
from prasanga.report.study import Results

SAY = partial(said, language="en")
Table = Callable[..., pl.DataFrame]


def differences(*rows: tuple[str, str, str, float, float, float]) -> pl.DataFrame:
    """Differences between two lengths of model m by fixed draws: category, first, second, difference, interval."""
    names = ("category", "first", "second", "difference", "ci_low", "ci_high")
    table = pl.DataFrame(rows, schema=names, orient="row")
    return table.with_columns(kind=pl.lit("length"), model=pl.lit("m"), sample_mode=pl.lit("fixed"))


def effects(table: Table, *lengths: str) -> pl.DataFrame:
    rows = [(name, "m", length, "fixed", 0.5) for name in ("C1", "C4") for length in lengths]
    return table(*rows)


def test_changes_are_between_the_ends_that_have_the_same_texts(table: Table) -> None:
    found = differences(
        ("C1", "9", "75", 0.4, 0.1, 0.7), ("C1", "9", ">75", 9.0, 8.0, 10.0), ("C4", "9", "75", 0.1, -0.2, 0.4)
    )
    changes = changes_of(grid_of(effects(table, "9", "75", ">75")), Results(differences=found))
    assert (changes.shortest, changes.longest) == ("9", "75")
    assert changes.of == {("C1", "m"): Change(0.4, 0.1, 0.7), ("C4", "m"): Change(0.1, -0.2, 0.4)}
    assert [change.is_shown for change in changes.of.values()] == [True, False]
    two = changes_of(grid_of(effects(table, "9", ">75")), Results(differences=found))
    assert (two.longest, two.of) == (">75", {("C1", "m"): Change(9.0, 8.0, 10.0)})


def test_a_change_is_told_with_where_it_is_largest_and_what_chance_gives(table: Table) -> None:
    rows = [("C1", "9", "75", 0.4, 0.1, 0.7), ("C4", "9", "75", -0.8, -1.0, -0.6)]
    ceat = effects(table, "9", "75").with_columns(p_twins=None)
    (finding, *_) = [
        f for f in three_findings(Results(ceat=ceat, differences=differences(*rows)), SAY) if "context" in f.text
    ]
    assert finding.sure == LIKELY
    assert finding.text == (
        "The association changes with context in 2 of 2 cases, most in C4 by m: from +0.50 at 9 words to +0.50 at 75."
    )
    assert finding.grounds.endswith("by chance it would in about 0.1.")
    none = differences(("C1", "9", "75", 0.1, -0.2, 0.66))
    (finding, *_) = [f for f in three_findings(Results(ceat=ceat, differences=none), SAY) if "context" in f.text]
    assert finding.sure == OPEN
    assert "changes of up to 0.7 standard deviations remain possible" in finding.grounds


def test_what_is_well_supported_comes_first_and_names_its_direction(table: Table) -> None:
    sure = {"p_association_holm": 0.01, "ci_low": -1.5, "ci_high": -0.5}
    ceat = table(("C1", "m", "9", "fixed", 0.1, {"p_association_holm": 0.9}), ("C4", "m", "9", "fixed", -1.0, sure))
    first, *others = three_findings(Results(ceat=ceat), SAY)
    assert first.sure == SHOWN
    assert first.text.endswith("(C4, CEAT, m): −1.00 standard deviations.")
    assert first.grounds.startswith("95 % interval −1.50 to −0.50, ")
    assert "So are 1 of 2 estimates" in first.grounds
    assert all(each.sure != SHOWN for each in others)


@pytest.mark.parametrize(
    ("models", "named"),
    [
        (["b"], "What b associates"),
        (["b", "a"], "What a and b associate"),
        (["b", "a", "c"], "What 3 models associate"),
    ],
)
def test_the_models_are_named_where_there_are_few(table: Table, models: list[str], named: str) -> None:
    ceat = table(*((name, model, "9", "fixed", 0.5) for name in ("C1", "C4") for model in models))
    assert f"{named} with people and things: 2 categories" in overview({"models": {}}, Results(ceat=ceat)).widget
    alone = Results(structures=pl.DataFrame({"model": models}))
    assert f"{named} with people and things: traits in sentence structures." in overview({"models": {}}, alone).widget


def test_nothing_is_found_in_nothing_and_caution_is_always_said() -> None:
    assert three_findings(Results(), SAY) == []
    config = {"note": "", "models": {}}
    assert "Nothing has been measured yet." in overview(config, Results()).widget
    assert "not about the people whom the words name" in overview(config, Results()).widget
    unfinished = overview({**config, "note": "A note."}, Results(missing=["x is not there."])).widget
    assert unfinished.index("This study is not finished.") < unfinished.index("x is not") < unfinished.index("A note.")
