"""One pass over the sentence tables: what there is of each stimulus, and the pools that segments are cut from.

Only small columns are read, never the text: a context's priority follows from the identifier of its text. What is drawn
is remembered as file and row; `prasanga.samples.segments` goes back for the text of these.

A stimulus that falls short of a minimum is looked for in a second set of tables, the supplement. Its contexts are then
drawn from both alike; other stimuli have nothing of the supplement.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.parquet import explaining_full_disk
from prasanga.progress import progress
from prasanga.samples.lengths import (
    LONGEST,
    PoolKind,
    Requirement,
    SegmentLength,
    Window,
    requirements_by_length,
    requirements_of_pools,
)
from prasanga.samples.pool import CANDIDATE_SCHEMA, Pool
from prasanga.samples.priority import priorities, stimulus_keys
from prasanga.samples.rows import Vocabulary, count_rows, read_rows
from prasanga.samples.tally import Counts, Tally
from prasanga.text import count_words

_OCCURRENCE = ["stimulus", "form", "source", "file", "row"]


@dataclass(frozen=True)
class Draw:
    """What was drawn, and what there was.

    Attributes:
        files: the sentence tables, those of the supplement last.
        lengths: the segment lengths, in the order asked for.
        kind: `shared` or `per_length`.
        window: `exact` or `paper`.
        longest: words of the longest segment of a length such as `>75`.
        minimum: contexts that a stimulus should have at each length.
        k: greatest number of contexts per stimulus and length.
        seed: of the study.
        stimuli: names of the stimuli, sorted: those asked for, or all that occur.
        own: what a context must have for each length by itself.
        requirements: what it must have for the pool that the length is cut from.
        pools: by requirement: stimulus (number in `stimuli`), rank (from 0), file (number in `files`), row,
            supplement; sorted by stimulus and rank.
        counts: by stimulus; none for one that does not occur.
        forms: stimulus, form, source, occurrences, sampled; sorted.
        supplemented: the stimuli that the supplement was read for.
    """

    files: tuple[Path, ...]
    lengths: tuple[SegmentLength, ...]
    kind: PoolKind
    window: Window
    longest: int
    minimum: int
    k: int
    seed: int
    stimuli: tuple[str, ...]
    own: dict[SegmentLength, Requirement]
    requirements: dict[SegmentLength, Requirement]
    pools: dict[Requirement, pl.DataFrame]
    counts: dict[str, Counts]
    forms: pl.DataFrame
    supplemented: frozenset[str]

    def length_of_file(self, name: str) -> SegmentLength:
        """The length whose `file_name` is `name`."""
        return next(length for length in self.lengths if length.file_name == name)


def draw(
    paths: Iterable[str | Path],
    *,
    lengths: Sequence[SegmentLength],
    pool: PoolKind,
    contexts_per_stimulus: int,
    seed: int,
    stimuli: Collection[str] | None = None,
    supplement: Iterable[str | Path] = (),
    minimum: int = 0,
    window: Window = "exact",
    longest: int = LONGEST,
    scratch: str | Path | None = None,
) -> Draw:
    """Draw contexts from sentence tables.

    Args:
        paths: Parquet files with the columns of the sentence contract, in any order; a context lies within one file.
        lengths: from `parse_length`.
        pool: `shared` or `per_length`.
        contexts_per_stimulus: greatest number of contexts per stimulus and length.
        seed: of the study; another seed draws other contexts.
        stimuli: draw for these alone; None for all that occur.
        supplement: tables that are read only for stimuli that have fewer than `minimum` contexts in `paths`.
        minimum: contexts (copies of one text count once) that a stimulus should have at every length.
        window: `exact` or `paper`, see `segment`.
        longest: words of the longest segment of a length such as `>75`.
        scratch: folder for temporary data (28 bytes an occurrence); None for the system's.

    Returns:
        The draw, the same whatever the order of the files and the division of the contexts among them.

    Raises:
        InputError: if a file is absent, damaged, or no table of sentences, or `longest` does not fit a length.
    """
    primary, more = [Path(path) for path in paths], [Path(path) for path in supplement]
    own = requirements_by_length(lengths, window, longest)
    requirements = requirements_of_pools(own, pool)
    pools = {requirement: Pool(contexts_per_stimulus) for requirement in requirements.values()}
    vocabulary = Vocabulary(stimuli)
    room = explaining_full_disk(scratch or tempfile.gettempdir())
    n_primary, n_more = count_rows(primary), count_rows(more)
    with room, _tally([*own.values(), *requirements.values()], n_primary + n_more, scratch) as tally:

        def read(files: Sequence[Path], first: int, without: Collection[int] = ()) -> None:
            what, total = ("drawing samples", n_primary)
            if first:
                what, total = ("drawing samples from the supplement", n_more)
            with progress(what, total, "occurrences") as done:
                for number, path in enumerate(files, first):
                    for rows in read_rows(path, vocabulary, file=number, supplement=bool(first), read=done.advance):
                        wanted = rows.filter(~pl.col("stimulus").is_in(list(without)))
                        tally.add(wanted)
                        candidates = _with_priority(wanted, vocabulary, seed)
                        for requirement, its_pool in pools.items():
                            its_pool.add(candidates.filter(requirement.met))

        read(primary, 0)
        supplemented = bool(more) and minimum > 0
        enough: set[int] = set()
        if supplemented:
            enough = _with_enough(tally.counts(), requirements.values(), minimum)
            read(more, len(primary), enough)
        counts, forms = tally.counts(), tally.forms()
    names = vocabulary.stimuli.names
    order = sorted(range(len(names)), key=names.__getitem__)
    new_numbers = dict(zip(order, range(len(order)), strict=True))
    places: dict[Requirement, pl.DataFrame] = {}
    chosen = pl.DataFrame(schema={key: CANDIDATE_SCHEMA[key] for key in _OCCURRENCE})
    for requirement in list(pools):  # one by one, so that memory need not hold them twice
        contexts = pools.pop(requirement).drawn()
        places[requirement] = _places(contexts, new_numbers)
        chosen = pl.concat([chosen, contexts.select(_OCCURRENCE)]).unique()
    return Draw(
        files=(*primary, *more),
        lengths=tuple(lengths),
        kind=pool,
        window=window,
        longest=longest,
        minimum=minimum,
        k=contexts_per_stimulus,
        seed=seed,
        stimuli=tuple(names[i] for i in order),
        own=own,
        requirements=requirements,
        pools=places,
        counts={names[number]: its_counts for number, its_counts in counts.items()},
        forms=_forms(forms, chosen, vocabulary),
        supplemented=frozenset(name for i, name in enumerate(names) if supplemented and i not in enough),
    )


def short_stimuli(
    paths: Iterable[str | Path],
    *,
    lengths: Sequence[SegmentLength],
    pool: PoolKind,
    minimum: int,
    stimuli: Collection[str] | None = None,
    window: Window = "exact",
    longest: int = LONGEST,
    scratch: str | Path | None = None,
) -> list[str]:
    """The stimuli with fewer than `minimum` contexts (copies of one text count once) at some length, sorted.

    They are those that `draw` takes contexts of the supplement for. Arguments and errors are those of `draw`; a
    stimulus of `stimuli` that does not occur at all is short of any minimum.
    """
    if minimum <= 0:
        return []
    files = [Path(path) for path in paths]
    requirements = requirements_of_pools(requirements_by_length(lengths, window, longest), pool).values()
    vocabulary = Vocabulary(stimuli)
    room = explaining_full_disk(scratch or tempfile.gettempdir())
    n_rows = count_rows(files)
    with (
        room,
        _tally(requirements, n_rows, scratch) as tally,
        progress("counting contexts", n_rows, "occurrences") as done,
    ):
        for number, path in enumerate(files):
            for rows in read_rows(path, vocabulary, file=number, read=done.advance):
                tally.add(rows)
        enough = _with_enough(tally.counts(), requirements, minimum)
    return sorted(name for i, name in enumerate(vocabulary.stimuli.names) if i not in enough)


def sampling_settings(drawn: Draw, length: SegmentLength, stimuli: Collection[str]) -> dict[str, Any]:
    """What the segments of one length and of some stimuli depend on beside the sentences, as plain values.

    `context_words` is what a context must have to be in the pool: in a shared pool, the longest fixed length.
    `target_words` (words of the longest target that the pool takes) and `supplemented` (stimuli with occurrences of
    the supplement) are left out where they make no difference to these stimuli.
    """
    requirement = drawn.requirements[length]
    settings: dict[str, Any] = {
        "segment_length": length.label,
        "pool": drawn.kind,
        "context_words": requirement.words,
        "contexts_per_stimulus": drawn.k,
        "seed": drawn.seed,
    }
    settings |= {"longest": drawn.longest} if length.over else {"window": drawn.window}
    forms = drawn.forms.filter(pl.col("stimulus").is_in(list(stimuli)))["form"].unique()
    if any(count_words(form) > requirement.target_words for form in forms):
        settings["target_words"] = requirement.target_words
    if supplemented := sorted(drawn.supplemented.intersection(stimuli)):
        settings["supplemented"] = supplemented
    return settings


def _tally(requirements: Iterable[Requirement], n_rows: int, scratch: str | Path | None) -> Tally:
    return Tally(sorted(set(requirements)), n_rows, scratch)


def _with_enough(counts: Mapping[int, Counts], requirements: Iterable[Requirement], minimum: int) -> set[int]:
    """The stimuli (numbers) with at least `minimum` texts for each requirement."""
    asked = set(requirements)
    return {number for number, its in counts.items() if all(its.eligible[r] >= minimum for r in asked)}


def _with_priority(rows: pl.DataFrame, vocabulary: Vocabulary, seed: int) -> pl.DataFrame:
    keys = stimulus_keys(seed, vocabulary.stimuli.names)
    high, low = priorities(rows["text_high"].to_numpy(), rows["text_low"].to_numpy(), keys[rows["stimulus"].to_numpy()])
    return rows.with_columns(high=pl.Series(high), low=pl.Series(low))


def _places(pool: pl.DataFrame, numbers: Mapping[int, int]) -> pl.DataFrame:
    """Where the contexts of a pool stand, and their ranks; with the stimuli's new numbers, and sorted by them."""
    return (
        pool.select(
            pl.col("stimulus").replace_strict(numbers, return_dtype=pl.UInt32),
            pl.int_range(pl.len(), dtype=pl.Int32).over("stimulus").alias("rank"),
            "file",
            "row",
            "supplement",
        )
        .sort("stimulus", "rank")
        .rechunk()
    )


def _forms(occurrences: pl.DataFrame, chosen: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """The occurrences of each form by file, and how many of them were drawn at any length, with names for numbers."""
    keys = _OCCURRENCE[:3]
    sampled = chosen.group_by(keys).agg(pl.len().cast(pl.Int64).alias("sampled"))
    table = occurrences.join(sampled, on=keys, how="left").with_columns(pl.col("sampled").fill_null(0))
    names = (vocabulary.stimuli.names, vocabulary.forms.names, vocabulary.sources.names)
    for key, its in zip(keys, names, strict=True):
        table = table.with_columns(pl.Series(key, [its[number] for number in table[key]], pl.String))
    return table.sort(keys)
