"""What was left out: every count that of a slow count over the same tables, each with its reason and place."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from loss_columns import losses
from planted_pairs import planted_scores

from prasanga.likelihoods.bias import bias_percentage
from prasanga.pairs.preferences import REASONS
from prasanga.report.study import EmbeddingFiles, Results, list_losses

CORPUS = [
    {"lines": 100, "skipped_lines": 3, "sentences": 70, "cut_sentences": 1, "shorter_matches": 2, "occurrences": 40},
    {"lines": 50, "skipped_lines": 0, "sentences": 30, "cut_sentences": 0, "shorter_matches": 0, "occurrences": 10},
]


def coverage() -> pl.DataFrame:
    """Two stimuli at two lengths; the counts of each row add up to its contexts."""
    columns = ("stimulus", "segment_length", "contexts", "copies", "too_short", "target_too_long", "outside_pool")
    rows = [
        ("গোলাপ", "9", 20, 2, 1, 0, 4, 3, 10, "no-context-long-enough"),
        ("গোলাপ", "75", 20, 2, 5, 0, 0, 3, 10, ""),
        ("মশা", "9", 7, 0, 0, 7, 0, 0, 0, "target-too-long"),
        ("মশা", "75", 7, 0, 7, 0, 0, 0, 0, "no-context-long-enough"),
    ]
    return pl.DataFrame(rows, schema=[*columns, "over_cap", "sampled", "reason"], orient="row")


def estimates(**changes: Any) -> pl.DataFrame:
    row = {
        "category": "C1", "model": "m", "effect_size": 0.5, "lost": [], "ci_low": 0.1, "interval_note": "",
        **{f"n_{side}": 4 for side in "xyab"}, **{f"listed_{side}": 4 for side in "xyab"},
    }  # fmt: skip
    few = "sets of fewer than 8 words have no interval"
    return pl.DataFrame(
        [
            row,
            row | {"n_x": 2, "lost": losses("গোলাপ: no vector; মশা: no contexts"), "ci_low": None, "interval_note": few},
            row | {"n_y": 3, "lost": losses("মশা: no contexts"), "ci_low": float("nan"), "interval_note": few},
            row
            | {
                "effect_size": None,
                "n_x": 1,
                "lost": losses("a: no vector; b: no vector; c: <b>?; not computed: flowers has 1 of 4 stimuli left"),
                "ci_low": None,
            },
            row | {"effect_size": float("inf")} | changes,
        ],
        infer_schema_length=None,
    )


def found(**tables: Any) -> dict[tuple[str, str, str, str], tuple[int, int]]:
    rows = list_losses(Results(**tables))
    return {(row.stage, row.what, row.lost, row.why): (row.n, row.of) for row in rows}


def test_corpus() -> None:
    assert found(corpus=CORPUS) == {
        ("Corpus", "lines or records", "left out", "they are not UTF-8, or have no text where it should be"): (3, 150),
        ("Corpus", "sentences", "divided", "they are extremely long; no text is lost"): (1, 100),
        ("Corpus", "matches", "left out", "a longer form of the same stimulus begins at the same place"): (2, 52),
    }
    assert found(corpus=[{"lines": 1_200, "skipped_lines": 0}]) == {}


def test_samples_add_up() -> None:
    table = coverage()
    lost = found(coverage=table)
    contexts = {key[3]: value for key, value in lost.items() if key[2] == "left out"}
    # a slow count: by reason, over rows
    slow = {name: sum(row[name] for row in table.iter_rows(named=True)) for name in table.columns[3:8]}
    sampled_away = slow.pop("over_cap")  # as the study asked: no loss
    assert sorted(n for n, _ in contexts.values()) == sorted(n for n in slow.values() if n)
    assert contexts["they have fewer words than the segment"] == (13, 54)
    assert sum(slow.values()) + sampled_away + table["sampled"].sum() == table["contexts"].sum() == 54
    without = {key[3]: value for key, value in lost.items() if key[2] == "without contexts"}
    assert without == {
        "occurs, but in no context long enough": (1, 4),
        "occurs, but its forms have more words than the segment": (1, 4),
    }


def test_embeddings_by_model_and_reason() -> None:
    lists = {
        ("a", "9"): {"n_segments": 10, "left_out": {"x": {"unknown": 2}, "y": {"unknown": 1}}, "cut": {"x": 4}},
        ("a", "75"): {"n_segments": 5, "left_out": {"x": {"unknown": 1, "odd": 5}}, "cut": {}},
        ("b", "9"): {"n_segments": 15, "left_out": {}, "cut": {}},
    }
    files = EmbeddingFiles({name: {"layer": -1} for name in "ab"}, lists)
    rows = list_losses(Results(embeddings=files))
    assert [(row.what, row.lost, row.n, row.of, row.why) for row in rows] == [
        ("targets of a", "left out", 5, 24, "odd"),
        ("targets of a", "left out", 4, 24, "the tokenizer does not know a piece of it"),
        ("contexts of a", "cut", 4, 15, "more pieces than the model reads; the vector is of a part of the context"),
    ]


def test_estimates_words_and_intervals() -> None:
    table = estimates()
    lost = {key[1:]: value for key, value in found(ceat=table).items()}
    few = "sets of fewer than 8 words have no interval"
    assert lost == {
        ("words, each counted for every estimate", "left out", "no vector"): (3, 80),
        ("words, each counted for every estimate", "left out", "no contexts"): (2, 80),
        ("words, each counted for every estimate", "left out", "<b>?"): (1, 80),
        ("estimates", "not computed", "flowers has 1 of 4 stimuli left"): (1, 5),
        ("estimates", "not computed", "the estimate is not a finite number (inf)"): (1, 5),
        ("computed estimates", "without an interval", few): (2, 3),
    }


def test_traits() -> None:
    rows = [(0.1, None), (None, "unknown-piece ভালো; too-long"), (None, "unknown-piece মন্দ"), (float("nan"), None)]
    traits = pl.DataFrame(rows, schema={"fill": pl.Float64, "left_out": pl.String}, orient="row")
    what = ("Sentence structures", "traits, each counted for every model and structure", "without a score")
    unknown = "the trait or a term has a piece that the tokenizer does not know"
    assert found(traits=traits) == {
        (*what, unknown): (1, 4),
        (*what, f"{unknown}; the sentence is longer than the model reads"): (1, 4),
        (*what, "no reason is given"): (1, 4),
    }


def test_pairs_by_model_and_reason() -> None:
    scores = pl.concat(
        [
            planted_scores("bert", "hi", 0.9, left_out=[0, 1], tied=[3]),
            planted_scores("bert", "en", 0.5, left_out=[0]),
            planted_scores("gpt", "hi", 0.5),
        ]
    )
    bias = bias_percentage(scores, n_resamples=0)
    slow = scores.filter(pl.col("model") == "bert")
    lost = found(bias_percentages=bias)
    assert lost == {
        ("Sentence pairs", "pairs of bert", "left out", REASONS["identical"]): (slow["left_out"].count(), len(slow)),
        (
            "Sentence pairs",
            "pairs of bert",
            "not in the test against 50",
            "both sentences have the same score: no preference",
        ): (slow.filter(pl.col("score_first") == pl.col("score_second")).height, len(slow)),
    }
    assert lost["Sentence pairs", "pairs of bert", "left out", REASONS["identical"]] == (9, 180)
    overall = bias.filter(bias_type="all", model="bert")
    listed = [json.loads(text) for text in overall["left_out"]]
    assert sum(len(pairs) for reasons in listed for pairs in reasons.values()) == 9
