"""Scores of sentence pairs by a model whose preferences are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

TYPES = ("gender", "caste", "physical-appearance")


def planted_scores(
    model: str,
    language: str,
    share: float,
    *,
    n: int = 30,
    types: Sequence[str] = TYPES,
    scale: float = 0.5,
    name: str = "demo",
    left_out: Sequence[int] = (),
    tied: Sequence[int] = (),
) -> pl.DataFrame:
    """`n` pairs of each type, of which the model prefers the stereotypical sentence in the first `share`.

    Args:
        model: its name.
        language: of the pairs.
        share: of the pairs of each type.
        n: pairs of a type; every other one is antistereo.
        types: bias types.
        scale: of the differences, which are evenly spread up to it.
        name: of the set of pairs.
        left_out: numbers of pairs within each type that have no score, as identical.
        tied: numbers of pairs within each type whose scores are equal.
    """
    rows: list[dict[str, Any]] = []
    for bias_type in types:
        for i in range(n):
            stereotypical, label = i < share * n, ("stereo", "antistereo")[i % 2]
            size = 0.0 if i in tied else scale * (i % 10 + 1) / 10
            first = size if stereotypical == (label == "stereo") else -size
            gone = i in left_out
            rows.append(
                {
                    "set": name,
                    "model": model,
                    "pair_id": f"{bias_type}-{i}",
                    "language": language,
                    "bias_type": bias_type,
                    "label": label,
                    "score_first": None if gone else -5 + first,
                    "score_second": None if gone else -5.0,
                    "left_out": "identical" if gone else None,
                    "kind": "encoder",
                    "measure": "p_unmodified",
                    "reduction": "mean",
                }
            )
    return pl.DataFrame(rows, schema_overrides={"left_out": pl.String}, infer_schema_length=None)
