"""The methods card and the data card of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from prasanga.report.cards import (
    NOT_STATED,
    choices,
    data_card,
    methods_card,
)
from prasanga.report.study import Results
from prasanga.report.summary import study_summary

TEXT = {"files": "corpus/*.txt", "title": None, "licence": None}
CONFIG: dict[str, Any] = {
    "study": "small",
    "title": "A small study",
    "note": "",
    "language": "hi",
    "preset": "paper",
    "seed": 47,
    "corpus": {"texts": [{**TEXT, "title": "News", "licence": "CC BY 4.0"}], "supplement": [TEXT]},
    "lexicon": {"stimuli": "resources/stimuli/hi", "suffix_groups": None},
    "seat": {"categories": ["C1"], "templates": "mine/seat.yaml"},
    "log_probability": {"categories": [], "traits": ["resources/traits/hi/x.yaml"], "structures": "s.yaml"},
    "pairs": {"sets": {"demo": {"path": "pairs.csv", "licence": "CC0"}, "mine": {"path": "resources/demo/pairs.csv"}}},
    "models": {"bert": {"path": "hub/bert", "revision": "c0ffee"}, "tiny": {"train": {"seed": 1}}},
}
EVIL = "# a|b\n<script>alert(1)</script> [x](javascript:y) ![z](w) `c` **d** &lt; \u202e"


def summary_of(config: Mapping[str, Any] = CONFIG, results: Results | None = None, **changes: Any) -> dict[str, Any]:
    return study_summary(config=config, results=results or Results(), made_from={}) | changes


def lines_of(card: str, beginning: str) -> list[str]:
    return [line for line in card.splitlines() if line.startswith(beginning)]


def cells_of(card: str, beginning: str) -> list[str]:
    (line,) = lines_of(card, f"| {beginning} |")
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
    summary = summary_of(sources={"pairs.csv": "ab12", "resources/stimuli/hi/arts.yaml": "cd34"})

    card = data_card(config=CONFIG, summary=summary, results=results)

    assert cells_of(card, "demo") == ["demo", "pairs.csv", NOT_STATED, "CC0", "Hindi 1,052, English 3", "ab12"]
    assert cells_of(card, "mine")[2].startswith("written for this project, Apache-2.0")
    assert "- demo, identical: 2\n- demo, newline: 1\n" in card
    assert "- Word sets and categories: resources/stimuli/hi. Source and licence: written for this project" in card
    assert "  - resources/stimuli/hi/arts.yaml, SHA-256 cd34\n" in card
    assert f"- Sentences of SEAT: mine/seat.yaml. Source and licence: {NOT_STATED}.\n" in card
    assert "secret" not in card


def test_names_make_no_markup() -> None:
    config = {
        **CONFIG,
        "title": EVIL,
        "note": EVIL,
        "models": {EVIL: {"path": EVIL, "train": {}}},
        "corpus": {"texts": [{"files": EVIL, "title": EVIL, "licence": EVIL}]},
        "pairs": {"sets": {EVIL: {"path": EVIL}}},
    }
    targets = [{"name": EVIL, "gloss": EVIL, "stimuli": []}]
    results = Results(missing=[EVIL], categories={EVIL: {"targets": targets, "attributes": []}})
    summary = summary_of(config, results)

    for card in (
        methods_card(config=config, summary=summary, inputs={EVIL: EVIL}),
        data_card(config=config, summary=summary, results=results, corpus=[(EVIL, EVIL)]),
    ):
        bare = card.replace("\\\\", "").replace("\\<", "").replace("\\|", "").replace("\\[", "").replace("\\`", "")
        assert "alert(1)" in bare
        assert not [sign for sign in "<[`\u202e" if sign in bare]
        tables = [line for line in bare.splitlines() if line.startswith("|")]
        assert {line[-1] for line in tables} == {"|"}
        assert "\n# a" not in card
        assert "- # a" not in card
