"""A scorer for a job, from what the config and the check of the model say of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prasanga.documents import read_document
from prasanga.models.options import ModelOptions

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Scorer


def open_scorer(
    which: Mapping[str, Any], report: str | Path, *, threads: int, cards: int = 1, attentions: bool = False
) -> Scorer:
    """Load the model of a job; of one of the hub the commit that was looked at, wherever its branch has moved since.

    Args:
        which: plain values `model`, `revision`, `dtype`, and `options` (`prasanga.models.ModelOptions`).
        report: the report on the model (`prasanga.models.check_model`), a JSON file.
        threads: of this process.
        cards: that the model is spread over; 0 for the processor.
        attentions: whether attention weights will be asked for.

    Raises:
        InputError: the files of a model on this machine are others than those that were looked at; as `load_scorer`.
    """
    from prasanga.likelihoods.engine import load_scorer
    from prasanga.models.unchanged import require_unchanged

    known = read_document(report)
    options = ModelOptions(**{**which["options"], "cards": cards})
    require_unchanged(which["model"], known["identity"], options)
    return load_scorer(
        which["model"],
        revision=known["identity"].get("commit", which["revision"]),
        dtype=which["dtype"],
        threads=threads,
        attentions=attentions,
        options=options,
    )
