"""The summary of a study has the numbers of the tables and fits its schema; cards and last lines are made of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from doc_pages import generated
from jsonschema import Draft202012Validator
from made_up_studies import draw_study
from tables import read_data

from prasanga.report.study import Results
from prasanga.report.summary import (
    NOT_STATED,
    choices,
    data_card,
    last_words,
    methods_card,
    print_last_words,
    study_summary,
    to_json,
)

ROOT = Path(__file__).parents[3]
LAYOUT = json.loads((ROOT / "workflow/schemas/summary.schema.json").read_text(encoding="utf-8"))
CONFIG: dict[str, Any] = read_data(__file__, "config_of_summary")


@pytest.fixture
def summarized() -> Callable[..., dict[str, Any]]:
    """The summary of these results, read back from its text, after a look at its layout."""

    def summarize(config: Mapping[str, Any] = CONFIG, records: Any = (), **results: Any) -> dict[str, Any]:
        made = {"stage": "report", "versions": '{"polars": "2.1.0"}'}
        text = to_json(study_summary(config=config, results=Results(**results), made_from=made, records=records))
        summary: dict[str, Any] = json.loads(text)
        require_layout(summary)
        return summary

    return summarize


def require_layout(summary: dict[str, Any]) -> None:
    problems = [f"{list(error.path)}: {error.message}" for error in Draft202012Validator(LAYOUT).iter_errors(summary)]
    assert problems == []


def objects(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield place, value
        for key, part in value.items():
            yield from objects(part, f"{place}/{key}")
    if isinstance(value, list):
        for n, part in enumerate(value):
            yield from objects(part, f"{place}/{n}")


def test_numbers_are_those_of_the_table(small: pl.DataFrame, summarized: Callable[..., dict[str, Any]]) -> None:
    ceat = summarized(ceat=small)["methods"]["ceat"]

    primary = small.filter(segment_length="mean")
    effects = primary["effect_size"].drop_nulls().to_list()
    assert ceat["n_estimates"] == len(primary) == 6
    assert len(ceat["estimates"]) == len(small) == 18
    assert ceat["n_computed"] == len(effects) == 5
    assert ceat["not_computed"] == [{"reason": "weapons has 1 of 4 stimuli left, and a target set needs 2", "n": 1}]
    assert ceat["n_significant"] == sum(p <= 0.05 for p in primary["p_association"] if p is not None)
    assert ceat["n_significant_holm"] == sum(p <= 0.05 for p in primary["p_association_holm"] if p is not None)
    assert ceat["largest"]["effect_size"] == max(effects, key=abs) == pytest.approx(0.9)
    assert ceat["largest"]["segment_length"] == "mean"
    assert ceat["largest"]["ci_low"] == pytest.approx(0.9 - 0.54)
    few = summarized(ceat=small.with_columns(n_x=pl.lit(7)))["methods"]["ceat"]
    assert few["largest"] is None
    assert ceat["categories"] == ["C1", "C4", "C10"]
    assert ceat["segment_lengths"] == ["9", ">75"]
    assert ceat["conventions"]["std"] == ["union_ddof1"]
    assert ceat["n_tests"] is None  # this table does not have it


def test_a_control_or_interval_that_is_not_finite(
    table: Callable[..., pl.DataFrame], summarized: Callable[..., dict[str, Any]]
) -> None:
    changes = {"ci_low": float("-inf"), "ci_high": float("nan"), "twin_effect_size": float("nan")}

    ceat = summarized(ceat=table(("C1", "a", "9", "fixed", 0.5, changes)))["methods"]["ceat"]

    assert [ceat["largest"][name] for name in changes] == [None] * 3


def test_every_key_stands_in_the_documentation() -> None:
    page = generated()["docs/columns.md"]
    keys = {key for _, found in objects(LAYOUT) for key in found.get("properties", {})}

    assert len(keys) > 100
    assert sorted(key for key in keys if f"`{key}`" not in page) == []


@pytest.mark.parametrize("seed", [None, 0, 3, 11, 12, 28, 36, 86])
def test_every_study_fits_the_layout(seed: int | None) -> None:
    results = Results() if seed is None else draw_study(seed)
    text = to_json(study_summary(config=CONFIG, results=results, made_from={}))
    require_layout(json.loads(text))


# ---- cards

TEXT = {"files": "corpus/*.txt", "title": None, "licence": None}
CARD_CONFIG: dict[str, Any] = read_data(__file__, "config_of_cards")


def cells_of(card: str, beginning: str) -> list[str]:
    (line,) = (line for line in card.splitlines() if line.startswith(f"| {beginning} |"))
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_values_of_the_config_are_plain_texts() -> None:
    config = {
        "corpus": {"texts": [{"files": "a", "columns": {"x": 1, "y": 2}}, {"files": "b", "columns": {}}]},
        "log_probability": {"exchanged": [], "traits": ["a", "b"]},
        "replacements": {"urls": None, "emoji": ""},
        "construction": {"votes": 2},
        "report": {"texts": "shown"},
    }

    assert [(key, value) for key, value, _ in choices(config)] == [
        ("corpus.texts", "files: a, columns: (x: 1, y: 2); files: b, columns: (none)"),
        ("log_probability.exchanged", "none"),
        ("log_probability.traits", "a, b"),
        ("replacements.urls", "none"),
        ("replacements.emoji", "none"),
    ]


def test_sources_and_licences_of_words_and_pairs() -> None:
    statistics = pl.DataFrame(
        [("demo", "hi", "all", "mean_words", "all", 9.0, 1052), ("demo", "en", "all", "mean_words", "all", 8.0, 3)],
        schema=["set", "language", "subset", "statistic", "category", "value", "n_pairs"],
        orient="row",
    )
    oddities = pl.DataFrame({"kind": ["identical", "identical", "newline"], "found": ["a secret text"] * 3})
    results = Results(pair_statistics=statistics, pair_oddities=oddities.with_columns(set=pl.lit("demo")))
    summary = study_summary(config=CARD_CONFIG, results=Results(), made_from={})
    summary["sources"] = {"pairs.csv": "ab12", "resources/stimuli/hi/arts.yaml": "cd34"}

    card = data_card(config=CARD_CONFIG, summary=summary, results=results)

    assert cells_of(card, "demo") == ["demo", "pairs.csv", NOT_STATED, "CC0", "Hindi 1,052, English 3", "ab12"]
    assert cells_of(card, "mine")[2].startswith("written for this project, Apache-2.0")
    assert "- demo, identical: 2\n- demo, newline: 1\n" in card
    assert "- Word sets and categories: resources/stimuli/hi. Source and license: written for this project" in card
    assert "  - resources/stimuli/hi/arts.yaml, SHA-256 cd34\n" in card
    assert f"- Sentences of SEAT: mine/seat.yaml. Source and license: {NOT_STATED}.\n" in card
    assert "secret" not in card


def test_names_make_no_markup_in_cards() -> None:
    evil = "# a|b\n<script>alert(1)</script> [x](javascript:y) `c` \u202e"
    config = {**CARD_CONFIG, "title": evil, "note": evil, "models": {evil: {"path": evil, "train": {}}}}
    results = Results(missing=[evil], categories={evil: {"targets": [], "attributes": []}})
    summary = study_summary(config=config, results=results, made_from={})
    for card in (
        methods_card(config=config, summary=summary, inputs={evil: evil}),
        data_card(config=config, summary=summary, results=results, corpus=[(evil, evil)]),
    ):
        bare = card
        for escaped in ("\\\\", "\\<", "\\|", "\\[", "\\`"):
            bare = bare.replace(escaped, "")
        assert "alert(1)" in bare
        assert not [sign for sign in ("<", "[", "`", "\u202e", "\n# a", "- # a") if sign in bare]


# ---- the end of a run

METHOD = {"models": ["a", "b"], "n_computed": 144, "n_not_computed": 0, "n_significant_holm": 3, "n_found": 2}
PAIRS = {"n_computed": 60, "n_not_computed": 0, "n_found": 1, "left_out": [], "overall": []}
SUMMARY: dict[str, Any] = {
    "missing": [],
    "coverage": {"n_without_contexts": 0, "n_stimuli": 100},
    "methods": {
        "ceat": METHOD,
        "seat": {**METHOD, "models": ["b", "c"], "n_computed": 1, "n_significant_holm": None},
        **dict.fromkeys(("weat", "log_probability", "structures", "pairs")),
    },
}


def test_much_that_is_left_out_is_told_before_the_three_lines_with_the_file_to_read() -> None:
    summary = copy.deepcopy(SUMMARY)
    summary["coverage"] = {"n_without_contexts": 21, "n_stimuli": 100}
    row = {"set": "mine", "language": "bn", "model": "bert", "n_pairs": 100, "n_left_out": 20}
    most = {**row, "model": "xlmr", "n_pairs": 1200, "n_left_out": 1200}
    summary["methods"]["pairs"] = {**PAIRS, "overall": [row, most, {**most, "language": "hi"}]}
    *warnings, results, left_out, page = last_words(summary, Path("p.html"))
    assert warnings == [
        "Warning: 21 of 100 stimuli lack contexts. See the page's section on texts.",
        "Warning: 1,200 of 1,200 pairs of mine in Bangla have no score by xlmr:"
        " results/likelihoods/bias_percentages.csv.",
        "Warning: 1,200 of 1,200 pairs of mine in Hindi have no score by xlmr:"
        " results/likelihoods/bias_percentages.csv.",
    ]
    assert [line.partition(":")[0] for line in (results, left_out, page)] == ["Results", "Left out", "Page"]


def test_printed_once_with_the_page_or_else_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    summary, page = tmp_path / "summary.json", tmp_path / "report.html"
    summary.write_text(json.dumps(SUMMARY), encoding="utf-8")
    print_last_words(summary, page)
    assert capsys.readouterr().err.splitlines()[2] == "Summary: summary.json"
    page.write_text("<p>")
    print_last_words(summary, page)
    assert capsys.readouterr().err.splitlines()[2:] == ["Page: report.html"]
