"""One pass over the sentence tables: what there is of each stimulus, and the pool that each segment length is cut from.

With `pool: shared`, all fixed lengths are cut from the same occurrences, those whose context allows the longest of
them: a difference between lengths is then one of length, and not one of who writes long sentences. With `pool:
per_length` each length takes every context that allows it, as the Bangla paper does. A length such as `>75` always has
a pool of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from prasanga.errors import InputError
from prasanga.parquet import open_parquet, read_batches
from prasanga.samples.cutting import SegmentLength
from prasanga.samples.pool import Occurrence, Pool
from prasanga.text import count_words

PoolKind = Literal["shared", "per_length"]

_ROWS_AT_A_TIME = 8_192
_COLUMNS = ("occurrence_id", "context_id", "stimulus", "form", "text", "start", "end", "n_words")


@dataclass(frozen=True)
class Requirement:
    """What a context must have for a pool: at least `words` words, and a target of at most `target_words`."""

    words: int
    target_words: int | None  # None: any

    def met_by(self, n_words: pl.Expr, form_words: pl.Expr) -> pl.Expr:
        """The same as a condition on columns."""
        enough = n_words >= self.words
        return enough if self.target_words is None else enough & (form_words <= self.target_words)


@dataclass
class Counts:
    """Of one stimulus: located occurrences, distinct contexts, and contexts that meet each requirement."""

    occurrences: int = 0
    contexts: int = 0
    eligible: Counter[Requirement] = field(default_factory=Counter)


@dataclass(frozen=True)
class Draw:
    """What was drawn: `requirements` and the pools that they lead to, by length; and what there was, by stimulus.

    Lengths with the same requirement share one pool. `own` are the requirements of each length by itself.
    """

    lengths: tuple[SegmentLength, ...]
    kind: PoolKind
    requirements: dict[SegmentLength, Requirement]
    own: dict[SegmentLength, Requirement]
    pools: dict[Requirement, Pool]
    counts: dict[str, Counts]

    def drawn(self, length: SegmentLength) -> Iterator[tuple[int, Occurrence]]:
        """The occurrences that segments of this length are cut from, with priority, sorted by stimulus and priority."""
        return self.pools[self.requirements[length]].drawn()


def draw(
    paths: Iterable[str | Path],
    *,
    lengths: Sequence[SegmentLength],
    pool: PoolKind,
    contexts_per_stimulus: int,
    seed: int,
    stimuli: Collection[str] | None = None,
) -> Draw:
    """Draw contexts from sentence tables.

    Args:
        paths: Parquet files with the columns of the sentence contract, in any order; a context lies within one file.
        lengths: from `parse_length`.
        pool: `shared` or `per_length`.
        contexts_per_stimulus: greatest number of contexts per stimulus and length.
        seed: of the study; another seed draws other contexts.
        stimuli: draw for these alone; None for all that occur.

    Returns:
        The draw, the same whatever the order of the files and the division of the contexts among them.

    Raises:
        InputError: if a file is absent, damaged, or lacks a column.
    """
    own = {length: _requirement([length]) for length in lengths}
    fixed = [length for length in lengths if not length.over]
    requirements = dict(own)
    if pool == "shared" and fixed:
        requirements |= dict.fromkeys(fixed, _requirement(fixed))
    pools = {requirement: Pool(contexts_per_stimulus, seed) for requirement in requirements.values()}
    counts: defaultdict[str, Counts] = defaultdict(Counts)
    asked = set(own.values()) | set(requirements.values())
    for path in paths:
        for table in _contexts(path, stimuli):
            _count(table, asked, counts)
            for requirement, its_pool in pools.items():
                its_pool.add(_occurrences(table.filter(requirement.met_by(pl.col("n_words"), pl.col("form_words")))))
    return Draw(tuple(lengths), pool, requirements, own, pools, dict(counts))


def sampling_settings(drawn: Draw, length: SegmentLength, seed: int) -> dict[str, Any]:
    """What the segments of one length depend on beside the sentences, as plain values.

    `context_words` is what a context must have to be in the pool: in a shared pool, the longest fixed length.
    """
    requirement = drawn.requirements[length]
    return {
        "segment_length": length.label,
        "pool": drawn.kind,
        "context_words": requirement.words,
        "contexts_per_stimulus": drawn.pools[requirement].k,
        "seed": seed,
    }


def _requirement(lengths: Sequence[SegmentLength]) -> Requirement:
    """What a context must have to serve all of these lengths."""
    if lengths[0].over:
        return Requirement(lengths[0].words + 1, None)
    return Requirement(max(length.words for length in lengths), min(length.words for length in lengths))


def _contexts(path: str | Path, stimuli: Collection[str] | None) -> Iterator[pl.DataFrame]:
    """The rows of a sentence table in parts, no context in two of them; with `form_words`, the words of each form."""
    file = open_parquet(path)
    if missing := sorted(set(_COLUMNS) - set(file.schema_arrow.names)):
        raise InputError(
            f"{path}: lacks the columns {', '.join(missing)}, so it is no table of sentences. Delete it and run the"
            " workflow again."
        )
    held: pl.DataFrame | None = None
    for batch in read_batches(path, _COLUMNS, rows=_ROWS_AT_A_TIME):
        part = pl.DataFrame(batch)
        table = part if held is None else pl.concat([held, part])
        if table.is_empty():
            continue
        # The last context may go on in the next batch.
        last = pl.col("context_id") == table["context_id"][-1]
        held = table.filter(last)
        yield from _prepared(table.filter(~last), stimuli)
    if held is not None:
        yield from _prepared(held, stimuli)


def _prepared(table: pl.DataFrame, stimuli: Collection[str] | None) -> Iterator[pl.DataFrame]:
    if stimuli is not None:
        table = table.filter(pl.col("stimulus").is_in(list(stimuli)))
    if table.height:
        forms = table["form"].unique().to_list()
        n_words = pl.DataFrame({"form": forms, "form_words": [count_words(form) for form in forms]})
        yield table.join(n_words, on="form", how="left", maintain_order="left")


def _count(table: pl.DataFrame, requirements: Iterable[Requirement], counts: defaultdict[str, Counts]) -> None:
    requirements = list(requirements)
    columns = (pl.col("n_words"), pl.col("form_words"))
    eligible = [
        pl.col("context_id").filter(r.met_by(*columns)).n_unique().alias(f"{i}") for i, r in enumerate(requirements)
    ]
    totals = table.group_by("stimulus").agg(pl.len(), pl.col("context_id").n_unique(), *eligible)
    for stimulus, occurrences, contexts, *numbers in totals.iter_rows():
        count = counts[stimulus]
        count.occurrences += occurrences
        count.contexts += contexts
        count.eligible.update(dict(zip(requirements, numbers, strict=True)))


def _occurrences(table: pl.DataFrame) -> Iterator[Occurrence]:
    return map(Occurrence._make, table.select(Occurrence._fields).iter_rows())
