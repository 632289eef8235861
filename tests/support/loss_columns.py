"""The column `lost` of tables of estimates in tests, from the sentence that readers see."""

from __future__ import annotations

from typing import Any

from prasanga.schema import COLUMNS, Loss, Reason

LOST = COLUMNS["lost"].dtype
_REASONS = {
    "no context that": Reason.NO_COMMON_CONTEXTS,
    "no context": Reason.NO_CONTEXTS,
    "listed": Reason.REPEATED,
    "": Reason.NO_VECTOR,
}


def losses(sentence: str) -> list[dict[str, Any]]:
    """Return the losses that are shown as "word: detail; word: detail; not computed: why"."""
    words, _, missing = sentence.partition("not computed: ")
    lost = [_loss(*part.split(": ", 1)) for part in words.rstrip("; ").split("; ") if part]
    return lost + [Loss(None, None, Reason.TOO_FEW_WORDS, missing).columns()] * bool(missing)


def _loss(word: str, detail: str = "") -> dict[str, Any]:
    reason = next(reason for start, reason in _REASONS.items() if detail.startswith(start))
    return Loss("a set", word, Reason.IN_PART if " of its " in detail else reason, detail).columns()
