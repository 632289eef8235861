"""Small tables of estimates, hits and vectors, as the stages before write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from loss_columns import losses
from report_tables import SCHEMA, arrange_ceat, estimate

from prasanga.report.study import EmbeddingFiles


@pytest.fixture
def table() -> Callable[..., pl.DataFrame]:
    """Makes a table from (category, model, length, mode, effect[, changes]) rows."""

    def make(*rows: tuple[Any, ...]) -> pl.DataFrame:
        cells = [estimate(*row[:5], **(row[5] if len(row) > 5 else {})) for row in rows]
        return arrange_ceat(pl.DataFrame(cells, schema=SCHEMA))

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


MADE = json.loads(Path(__file__).with_name("files_of_models.json").read_text(encoding="utf-8"))
"""An encoder that cut contexts, a decoder at two layers whose tokenizer does not know some targets; and audits."""


@pytest.fixture
def audit() -> dict[str, pl.DataFrame]:
    """Hits of two stimuli of the page's categories and of one of none, in the tables of the sentences stage."""
    return {name: pl.DataFrame(table) for name, table in MADE["tables"].items() if name != "tokenizer"}


@pytest.fixture
def tokenizer() -> pl.DataFrame:
    """The pieces of two stimuli by an encoder."""
    return pl.DataFrame(MADE["tables"]["tokenizer"])


@pytest.fixture
def embedding_files() -> EmbeddingFiles:
    """What the embeddings stage says of an encoder and of a decoder."""
    lists = {(model, length): listed for model, length, listed in MADE["lists"]}
    return EmbeddingFiles(MADE["studied"], lists, MADE["reports"], MADE["audits"], MADE["precisions"])
