"""Which scores of a sentence there are, and which of them a kind of model can give."""

from __future__ import annotations

from prasanga.errors import InputError

MEASURES = {
    "encoder": ("p_unmodified", "p_modified", "aul", "aula"),
    "decoder": ("causal",),
    "encoder-decoder": ("infill", "causal"),
}
"""Scores by kind of model, the usual one first."""

OF_WORDS = ("p_unmodified", "p_modified", "infill")
"""Measures that score some words of a sentence and need the pair's alignment."""

REDUCTIONS = ("mean", "sum")

SCORES = (
    *("score_first", "score_second", "n_first", "n_second", "left_out"),
    *("kind", "measure", "reduction", "pieces", "punctuation", "unknown", "model"),
)
"""Columns that `score_pairs` adds to pairs."""


def resolve_measure(kind: str, measure: str, name: str) -> str:
    """The score that a model of this kind gives when asked for `measure`.

    `p_unmodified` means the probability of what both sentences have, given what they have not. An encoder-decoder gives
    that by `infill`. A decoder, which never sees what comes after, has the probability of the whole sentence only,
    `causal` (Sahoo et al. 2024, section 6.1).

    Args:
        kind: `encoder`, `decoder`, `encoder-decoder`.
        measure: one of `MEASURES`.
        name: the model's, for messages.

    Raises:
        InputError: no such measure, or not of such a model.
    """
    allowed = MEASURES[kind]
    if measure == "p_unmodified" or measure in allowed:
        return measure if measure in allowed else allowed[0]
    known = list(dict.fromkeys(one for measures in MEASURES.values() for one in measures))
    if measure not in known:
        raise InputError(f"measure is {measure!r}. Allowed: {', '.join(known)}.")
    others = [other for other, measures in MEASURES.items() if measure in measures]
    raise InputError(
        f"model {name} is of the kind {kind}, and {measure} is a measure of the kind {' or '.join(others)}. Write"
        f" measure: {' or '.join(allowed)}, or use another model."
    )
