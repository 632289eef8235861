"""Small tables of estimates, hits and vectors, as the stages before write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from loss_columns import losses
from report_tables import SCHEMA, estimate

from prasanga.report.study import EmbeddingFiles


@pytest.fixture
def table() -> Callable[..., pl.DataFrame]:
    """Makes a table from (category, model, length, mode, effect[, changes]) rows."""

    def make(*rows: tuple[Any, ...]) -> pl.DataFrame:
        cells = [estimate(*row[:5], **(row[5] if len(row) > 5 else {})) for row in rows]
        return pl.DataFrame(cells, schema=SCHEMA)

    return make


@pytest.fixture
def small(table: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    """Three categories and two lengths, out of order; two models, both modes; one cell has no number."""
    missing = "গোলাপ: no contexts; not computed: weapons has 1 of 4 stimuli left, and a target set needs 2"
    rows: list[tuple[Any, ...]] = []
    for category, base in (("C10", -0.3), ("C1", 0.9), ("C4", 0.1)):
        for model, factor in (("wide_1", 1.0), ("narrow", -0.5)):
            for length, step in ((">75", 0.1), ("9", 0.0)):
                for mode, noise in (("random", 0.004), ("fixed", 0.0)):
                    effect = base * factor + step + noise
                    changes: dict[str, Any] = {"p_association": 0.01 if abs(effect) > 0.8 else 0.4}
                    if (category, model, length) == ("C10", "narrow", "9"):
                        effect_or_none, changes = None, {"lost": losses(missing), "n_x": 1}
                    else:
                        effect_or_none = effect
                    rows.append((category, model, length, mode, effect_or_none, changes))
    return table(*rows)


@pytest.fixture
def audit() -> dict[str, pl.DataFrame]:
    """Hits of two stimuli of the page's categories and of one of none, in the tables of the sentences stage."""
    hit = ("rank", "left", "form", "right", "source", "offset", "occurrence_id")
    suffix = ("group", "number", "case", "suffix", "kind", "stimuli", "forms", "occurrences", "examples")
    return {
        "audit_forms": pl.DataFrame(
            [
                ("গোলাপ", "গোলাপ", "a.txt", 10),
                ("গোলাপ", "গোলাপের", "a.txt", 20),
                ("গোলাপ", "গোলাপের", "b.txt", 1500),
                ("গোলাপ", "গোলাপই", "b.txt", 3),
                ("গোলাপ", "গোলাপে", "c.txt", 7),
                ("মশা", "মশা", "a.txt", 60),
                ("নদী", "নদী", "a.txt", 400),
            ],
            schema=["stimulus", "form", "source", "occurrences"],
            orient="row",
        ),
        "concordance": pl.DataFrame(
            [
                ("গোলাপ", 2, "সে ‘", "গোলাপ", "’ বলল", "a.txt", 7, "o2"),
                ("গোলাপ", 1, "লাল ", "গোলাপের", " গন্ধ <b>", "b.txt", 3, "o1"),
                ("নদী", 1, "", "নদী", " বয়", "a.txt", 9, "o3"),
                ("মশা", 1, "একটা ", "মশা", "", "a.txt", 8, "o4"),
            ],
            schema=["stimulus", *hit],
            orient="row",
        ),
        "suffixes": pl.DataFrame(
            [
                ("thing_a", "singular", "nominative", "", "stem", 1, 1, 60, "মশা 60"),
                ("thing_consonant", "singular", "genitive", "ের", "suffix", 1, 1, 1520, "গোলাপের 1520"),
                ("thing_consonant", "singular", "nominative", "", "stem", 1, 1, 10, "গোলাপ 10"),
                ("thing_consonant", "singular", "genitive", "রঙের", "altered stem", 1, 1, 4, "রঙের 4"),
                ("thing_consonant", "plural", "nominative", "গুলো", "suffix", 0, 0, 0, ""),
                ("unused", "plural", "nominative", "গুলো", "suffix", 0, 0, 0, ""),
            ],
            schema=suffix,
            orient="row",
        ),
        "context_lengths": pl.DataFrame(
            {"at_least": [1, 9, 75], "at_most": [8, 74, None], "contexts": [100, 300, 0]},
            schema={"at_least": pl.Int32, "at_most": pl.Int32, "contexts": pl.Int64},
        ),
    }


BERT = {
    "family": "bert",
    "path": "hub/bert",
    "revision": "main",
    "layer": -1,
    "kind": "auto",
    "dtype": "auto",
    "pieces": "all",
    "tokenizer": {"strip_accents": False},
    "quantization": "none",
}
GPT = {**BERT, "family": "gpt", "path": "models/gpt", "tokenizer": {}, "quantization": "int8", "pieces": "last"}
STUDIED = {"bert": BERT, "gpt-layer6": {**GPT, "layer": 6}, "gpt-layer12": {**GPT, "layer": 12}}
REPORTS = {
    "bert": {
        "kind": "encoder",
        "parameters": 334_100_000,
        "identity": {"id": "hub/bert", "commit": "c0ffee"},
        "pinned": False,
        "blocks": 24,
        "max_pieces": 512,
        "hidden_size": 1024,
    },
    "gpt": {
        "kind": "decoder",
        "parameters": 1_500_000,
        "identity": {"sha256": "ab" * 32},
        "blocks": 12,
        "max_pieces": None,
    },
}
AUDIT = {
    "n_forms": 1000,
    "n_unseen": 850,
    "n_occurrences": 4000,
    "n_stimuli": 2,
    "pieces_per_form": 1.75,
    "unknown": 0.0125,
    "marks_lost": 0.0,
    "identical": 0.5,
    "examples": {"unknown": ["মশার -> [UNK]"], "marks_lost": [], "identical": ["ফুল (ফুল) and ফল (ফল)"]},
}
AUDIT_TABLE = pl.DataFrame(
    {
        "model": "bert",
        "stimulus": ["গোলাপ", "মশা"],
        "pieces": [["গোলাপ"], ["ম", "শা"]],
        "forms": [600, 400],
        "occurrences": [3950, 50],
        "pieces_per_form": [1.5, 2.125],
        "most_pieces": [3, 5],
        "one_piece": [300, 0],
        "unknown_forms": [0, 12],
        "marks_lost_forms": [0, 0],
        "unknown_occurrences": [0, 50],
        "marks_lost_occurrences": [0, 0],
        "identical_occurrences": [0, 50],
        "identical_to": [[], ["মাছি"]],
        "unknown_example": [None, "মশার -> [UNK]"],
        "marks_lost_example": pl.Series([None, None], dtype=pl.String),
        "identical_example": [None, "মশা (মশা) and মাছি (মাছি)"],
    }
)


def listed(n: int, **more: Any) -> dict[str, Any]:
    settings = json.dumps({"dtype": "bfloat16", "commit": "older"})
    return {
        "n_segments": n,
        "dimension": 1024,
        "sizes": {"a": 1_500_000, "b": 700_000},
        "stored_dtype": "float16",
        "made_from": {"settings": settings},
        "left_out": {},
        "cut": {},
        **more,
    }


@pytest.fixture
def tokenizer() -> pl.DataFrame:
    """The pieces of two stimuli by an encoder."""
    return AUDIT_TABLE


@pytest.fixture
def embedding_files() -> EmbeddingFiles:
    """An encoder that cut contexts, and a decoder at two layers whose tokenizer does not know some targets."""
    lost = {"মশা": {"unknown": 4}, "গোলাপ": {"unknown": 1}}
    lists = {
        ("bert", "9"): listed(100),
        ("bert", ">75"): listed(60, cut={"মশা": 7}),
        **{
            (f"gpt-layer{layer}", length): listed(n, left_out=gone)
            for layer in (6, 12)
            for length, n, gone in (("9", 95, lost), (">75", 59, {"গোলাপ": {"unknown": 1}}))
        },
    }
    precisions = {
        "bert": {
            "dtype": "bfloat16",
            "stored_dtype": "float16",
            "compared": 1024,
            "cosine_mean": 0.99987,
            "cosine_min": 0.9971234,
            "float16_cosine_min": 0.99999988,
            "reason": None,
        },
        **{
            name: {
                "dtype": "float32",
                "stored_dtype": "float32",
                "compared": 0,
                "cosine_mean": None,
                "cosine_min": None,
                "float16_cosine_min": None,
                "reason": "the model ran in float32",
            }
            for name in ("gpt-layer6", "gpt-layer12")
        },
    }
    audits = {"bert": AUDIT, "gpt": AUDIT}
    return EmbeddingFiles(STUDIED, lists, REPORTS, audits, precisions)
