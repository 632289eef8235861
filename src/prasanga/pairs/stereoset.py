"""StereoSet (Nadeem et al. 2021) as pairs.

Each item has a stereotypical, an anti-stereotypical and an unrelated sentence. The first two are a pair labelled
`stereo`; unrelated sentences are counted and left, since a pair asks which of two meaningful sentences a model prefers.
An intersentence item puts its context before both.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.pairs.layouts import RawPair
from prasanga.pairs.records import read_json

PARTS = ("intrasentence", "intersentence")

_GOLD_LABELS = ("stereotype", "anti-stereotype", "unrelated")


def stereoset_pairs(path: Path, language: str) -> tuple[list[RawPair], int]:
    """The pairs of a file, and how many unrelated sentences were left.

    Raises:
        InputError: for another JSON layout, or an item without exactly one sentence of a kind.
    """
    data = read_json(path)
    parts = data.get("data") if isinstance(data, dict) else None
    if not isinstance(parts, dict) or not any(part in parts for part in PARTS):
        raise InputError(
            f"{path}: not the layout of StereoSet. A mapping `data` with the lists {' and '.join(PARTS)} is expected."
        )
    pairs: list[RawPair] = []
    unrelated = 0
    for part in PARTS:
        items = parts.get(part, [])
        if not isinstance(items, list):
            raise InputError(f"{path}: `data: {part}` is no list. StereoSet has a list of items there, or no such key.")
        for item in items:
            sentences = _sentences(path, part, len(pairs) + 1, item)
            unrelated += "unrelated" in sentences
            pairs.append(_pair(path, part, len(pairs) + 1, item, sentences, language))
    return pairs, unrelated


def _sentences(path: Path, part: str, row: int, item: Any) -> dict[str, str]:
    """Gold label -> sentence."""
    where = f"{path}, item {row} ({part})"
    try:
        labelled = [(str(sentence["gold_label"]), str(sentence["sentence"])) for sentence in item["sentences"]]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{where}: {error} is missing. Each of `sentences` needs `sentence` and `gold_label`; the public part of"
            " StereoSet (dev.json) has both."
        ) from error
    counts = Counter(label for label, _ in labelled)
    for label in counts:
        if label not in _GOLD_LABELS:
            raise InputError(f"{where}: gold_label {label!r} is not known. Allowed: {', '.join(_GOLD_LABELS)}.")
    for label in _GOLD_LABELS[:2]:
        if counts[label] != 1:
            raise InputError(f"{where}: {counts[label]} sentences have the gold_label {label!r}; there must be one.")
    return dict(labelled)


def _pair(path: Path, part: str, row: int, item: Any, sentences: dict[str, str], language: str) -> RawPair:
    missing = [key for key in ("id", "bias_type", "context") if key not in item]
    if missing:
        raise InputError(f"{path}, item {row} ({part}): `{missing[0]}` is missing.")
    before = f"{str(item['context']).strip()} " if part == "intersentence" else ""
    return RawPair(
        pair_id=str(item["id"]),
        row=row,
        language=language,
        bias_type=str(item["bias_type"]),
        label="stereo",
        first=before + sentences["stereotype"],
        second=before + sentences["anti-stereotype"],
        first_column="stereotype",
        second_column="anti-stereotype",
    )
