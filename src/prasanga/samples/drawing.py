"""Pass over the sentence tables once: draw the pools that segments are cut from, and count what there was.

Only small columns are read, never the text: a context's priority follows from the identifier of its text. Draws are
stored as file and row; `prasanga.samples.segments` reads the texts of these.

A stimulus below a minimum is also looked for in a second set of tables, the supplement. Its contexts are then drawn
from both alike; other stimuli use nothing of the supplement.
"""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from prasanga.base.io import explaining_full_disk, made_from
from prasanga.base.logs import progress
from prasanga.samples.pool import (
    CANDIDATE_SCHEMA,
    LONGEST,
    Pool,
    PoolKind,
    Requirement,
    SegmentLength,
    StimulusNames,
    Tally,
    Window,
    count_rows,
    priorities,
    read_rows,
    requirements_by_length,
    requirements_of_pools,
    stimulus_keys,
)
from prasanga.schema import TABLES
from prasanga.text import count_words

_OCCURRENCE = ["stimulus", "form", "source", "file", "row"]


@dataclass(frozen=True)
class Draw:
    """A draw, with counts of what there was.

    Attributes:
        files: the sentence tables, the supplement's last.
        lengths: the segment lengths, in the given order.
        kind: `shared` or `per_length`.
        window: `exact` or `paper`.
        longest: words of the longest segment of a length such as `>75`.
        minimum: contexts that a stimulus should have at each length.
        k: most contexts per stimulus and length.
        seed: of the study.
        stimuli: names of the stimuli, sorted: the given ones, or all that occur.
        own: the requirement on a context for each length by itself.
        requirements: the requirement for the pool of each length.
        pools: by requirement: stimulus (number in `stimuli`), rank (from 0), file (number in `files`), row,
            supplement; sorted by stimulus and rank.
        counts: for each stimulus that occurs (number in `stimuli`), by requirement; see `Tally.counts`.
        forms: stimulus, form, source, occurrences, sampled; sorted.
        supplemented: the stimuli for which the supplement was read.
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
    counts: pl.DataFrame
    forms: pl.DataFrame
    supplemented: frozenset[str]


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
        paths: Parquet files with the columns of the sentence contract, in any order; a context is within one file.
        lengths: from `parse_length`.
        pool: `shared` or `per_length`.
        contexts_per_stimulus: most contexts per stimulus and length.
        seed: of the study; another seed draws other contexts.
        stimuli: draw only for these; None for all that occur.
        supplement: tables that are read only for stimuli with fewer than `minimum` contexts in `paths`.
        minimum: contexts (copies of one text count once) that a stimulus should have at every length.
        window: `exact` or `paper`, see `Context.segment`.
        longest: words of the longest segment of a length such as `>75`.
        scratch: folder for temporary data (28 bytes per occurrence); None for the system's.

    Returns:
        The draw, which does not depend on the order of files or the division of contexts among them.

    Raises:
        InputError: a file is missing, damaged, or not a sentence table, or `longest` does not fit a length.
    """
    primary, more = [Path(path) for path in paths], [Path(path) for path in supplement]
    own = requirements_by_length(lengths, window, longest)
    requirements = requirements_of_pools(own, pool)
    pools = {requirement: Pool(contexts_per_stimulus) for requirement in requirements.values()}
    vocabulary = StimulusNames(stimuli)
    room = explaining_full_disk(scratch or tempfile.gettempdir())
    n_primary, n_more = count_rows(primary), count_rows(more)
    with room, Tally([*own.values(), *requirements.values()], n_primary + n_more, scratch) as tally:

        def offer(rows: pl.DataFrame) -> None:
            tally.add(rows)
            candidates = _with_priority(rows, vocabulary, seed)
            for requirement, its_pool in pools.items():
                its_pool.add(candidates.filter(requirement.met))

        for rows in _read("drawing samples", primary, n_primary, vocabulary):
            offer(rows)
        supplemented = bool(more) and minimum > 0
        enough: list[int] = []
        if supplemented:
            enough = _with_enough(tally.counts(), requirements.values(), minimum)
            what = "drawing samples from the supplement"
            for rows in _read(what, more, n_more, vocabulary, first=len(primary)):
                offer(rows.filter(~pl.col("stimulus").is_in(enough)))
        counts, forms = tally.counts(), tally.forms()
    names = vocabulary.stimuli.names
    order = sorted(range(len(names)), key=names.__getitem__)
    new_number = pl.col("stimulus").replace_strict(order, list(range(len(order))), return_dtype=pl.UInt32)
    places: dict[Requirement, pl.DataFrame] = {}
    chosen = pl.DataFrame(schema={key: CANDIDATE_SCHEMA[key] for key in _OCCURRENCE})
    for requirement in list(pools):  # one by one, so that memory does not hold them twice
        contexts = pools.pop(requirement).drawn()
        places[requirement] = _places(contexts.with_columns(new_number))
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
        counts=counts.with_columns(new_number),
        forms=_forms(forms, chosen, vocabulary),
        supplemented=frozenset(name for i, name in enumerate(names) if supplemented and i not in enough),
    )


def short_stimuli(paths: Iterable[str | Path], *, minimum: int, **choices: Any) -> list[str]:
    """Return the stimuli with fewer than `minimum` contexts (copies of one text count once) at some length, sorted.

    For these `draw` uses the supplement. Arguments and errors as in `draw`; a stimulus of `stimuli` that does not occur
    at all is below any minimum.
    """
    drawn = draw(paths, minimum=minimum, contexts_per_stimulus=1, seed=0, **choices)
    enough = _with_enough(drawn.counts, drawn.requirements.values(), minimum)
    return [name for number, name in enumerate(drawn.stimuli) if minimum and number not in enough]


def sampling_settings(drawn: Draw, length: SegmentLength, stimuli: Collection[str]) -> dict[str, Any]:
    """Return the settings, besides the sentences, that the segments of one length and some stimuli depend on.

    `context_words` is the least length of a context in the pool: in a shared pool, the longest fixed length.
    `target_words` (words of the longest target that the pool takes) and `supplemented` (stimuli with occurrences of the
    supplement) are left out if they make no difference to these stimuli.
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


class SamplePart(NamedTuple):
    """The segments of one length in one bucket.

    Attributes:
        length: the length.
        stimuli: the stimuli of the bucket.
        settings: from `sampling_settings`; other categories or lengths do not change them.
    """

    length: SegmentLength
    stimuli: frozenset[str]
    settings: dict[str, Any]


def choose_part(drawn: Draw, length: str, bucket: str, buckets: int) -> SamplePart:
    """Return a file's part of a draw, by the length's file name and the name of the bucket."""
    found = next(each for each in drawn.lengths if each.file_name == length)
    stimuli = frozenset(stimulus for stimulus in drawn.stimuli if bucket_of(stimulus, buckets) == bucket)
    return SamplePart(found, stimuli, sampling_settings(drawn, found, stimuli))


def _read(
    what: str, files: Sequence[Path], n_rows: int, vocabulary: StimulusNames, *, first: int = 0
) -> Iterator[pl.DataFrame]:
    """Yield the rows of tables and advance the progress; the supplement's are numbered from a `first` above 0."""
    with progress(what, n_rows, "occurrences") as done:
        for number, path in enumerate(files, first):
            yield from read_rows(path, vocabulary, file=number, supplement=bool(first), read=done.advance)


def _with_enough(counts: pl.DataFrame, requirements: Iterable[Requirement], minimum: int) -> list[int]:
    """Return the stimuli (numbers) with at least `minimum` texts for each requirement."""
    asked = counts.filter(pl.col("requirement").is_in([str(requirement) for requirement in requirements]))
    fewest = asked.group_by("stimulus").agg(pl.col("eligible").min())
    return fewest.filter(pl.col("eligible") >= minimum)["stimulus"].to_list()


def _with_priority(rows: pl.DataFrame, vocabulary: StimulusNames, seed: int) -> pl.DataFrame:
    keys = stimulus_keys(seed, vocabulary.stimuli.names)
    high, low = priorities(rows["text_high"].to_numpy(), rows["text_low"].to_numpy(), keys[rows["stimulus"].to_numpy()])
    return rows.with_columns(high=pl.Series(high), low=pl.Series(low))


def _places(pool: pl.DataFrame) -> pl.DataFrame:
    """Return the places of a pool's contexts, and their ranks, sorted by stimulus."""
    rank = pl.int_range(pl.len(), dtype=pl.Int32).over("stimulus").alias("rank")
    return pool.select("stimulus", rank, "file", "row", "supplement").sort("stimulus", "rank").rechunk()


def _forms(occurrences: pl.DataFrame, chosen: pl.DataFrame, vocabulary: StimulusNames) -> pl.DataFrame:
    """Return the occurrences of each form by file, and how many were drawn at any length, with names for numbers."""
    keys = _OCCURRENCE[:3]
    sampled = chosen.group_by(keys).agg(pl.len().cast(pl.Int64).alias("sampled"))
    table = occurrences.join(sampled, on=keys, how="left").with_columns(pl.col("sampled").fill_null(0))
    for key, its in zip(keys, (vocabulary.stimuli, vocabulary.forms, vocabulary.sources), strict=True):
        names = its.names
        table = table.with_columns(pl.Series(key, [names[number] for number in table[key]], pl.String))
    return table.sort(keys)


# --------------------
# The tables of counts of the samples stage, and the buckets of segments.
#
# A stimulus's bucket depends only on its name, so adding stimuli moves no other.


logger = logging.getLogger(__name__)

COVERAGE_SCHEMA = TABLES["coverage"].arrow(nullable=())
"""One row per stimulus and segment length: located occurrences; their contexts; and what became of these:

    contexts    = copies + too_short + target_too_long + long_enough
    long_enough = outside_pool + eligible
    eligible    = over_cap + sampled

`copies` have the text of another context, and every later column counts texts. `too_short` have too few words for this
length, in `target_too_long` the target has more words than the segment; `long_enough` allow this length. `outside_pool`
do too, but not the other lengths that share its pool. `over_cap` were not drawn, `sampled` were. `from_supplement` are
those of the sampled that occur only in the supplement, `short` is true if fewer than the minimum are eligible, and
`reason` is why there is no sample (else empty)."""

# Why contexts were lost, by the first of these counts that is not 0.
_REASONS = {
    "sampled": "",
    "outside_pool": "no-context-for-all-lengths",
    "target_too_long": "target-too-long",
    "occurrences": "no-context-long-enough",
}

FORMS_SCHEMA = TABLES["sampled_forms"].arrow(nullable=())
"""One row per stimulus, form and corpus file: occurrences, and how many of them were drawn, at any length."""


def bucket_of(stimulus: str, buckets: int) -> str:
    """Return the bucket of a stimulus, `00`, `01`, ...: a stable hash of its name modulo the number of buckets."""
    digest = hashlib.blake2b(stimulus.encode(), digest_size=8).digest()
    return bucket_names(buckets)[int.from_bytes(digest, "big") % buckets]


# A job with so many segments takes a GPU a few minutes, and a quarter of a minute to start.
_MOST_BUCKETS = 100


def buckets_for(amount: int, a_bucket: int) -> int:
    """Return the number of buckets for an amount of work, with `a_bucket` of it in each."""
    return min(-(-amount // a_bucket) or 1, _MOST_BUCKETS)


def bucket_names(buckets: int) -> list[str]:
    """Return the names of all buckets, in order."""
    return [f"{number:02d}" for number in range(buckets)]


def tell_of_missing(coverage: pa.Table) -> None:
    """Log how many stimuli have no sample at any length, if any."""
    sampled = pl.DataFrame(coverage).group_by("stimulus").agg(pl.col("sampled").sum())
    missing = sorted(sampled.filter(pl.col("sampled") == 0)["stimulus"])
    if missing:
        logger.warning(
            "%d of %d stimuli have no sample at any length (%s); see the table of coverage for reasons.%s",
            len(missing),
            sampled.height,
            ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else ""),
            " Check that `language` and `lexicon` fit the corpus." if len(missing) == sampled.height else "",
        )


def counts_of(coverage: str | Path) -> list[str]:
    """List the existing records of the corpus files behind a coverage table.

    A folder of sentence tables may also have records of files that are no longer in the corpus.
    """
    if not Path(coverage).exists():
        return []
    tables = json.loads(made_from(coverage).get("inputs", "{}"))
    counts = [Path(table).with_suffix(".json") for table in sorted(tables) if "supplement" not in Path(table).parts]
    return [path.as_posix() for path in counts if path.exists()]


def coverage_table(drawn: Draw) -> pa.Table:
    """Return the counts of each stimulus at each length, in `COVERAGE_SCHEMA`, including stimuli that do not occur."""
    lengths = [(length.label, str(drawn.own[length]), str(drawn.requirements[length])) for length in drawn.lengths]
    sampled = pl.concat(
        pool.select("stimulus", pl.lit(str(requirement)).alias("pool"), "supplement")
        .group_by("stimulus", "pool")
        .agg(pl.len().cast(pl.Int64).alias("sampled"), pl.col("supplement").sum().alias("from_supplement"))
        for requirement, pool in drawn.pools.items()
    )
    own = drawn.counts.rename({"eligible": "long_enough"})
    pools = drawn.counts.select("stimulus", pl.col("requirement").alias("pool"), "eligible")
    counted = (
        pl.DataFrame({"name": drawn.stimuli}, schema={"name": pl.String})
        .with_row_index("stimulus")
        .join(pl.DataFrame(lengths, schema=["segment_length", "requirement", "pool"], orient="row"), how="cross")
        .join(own, on=["stimulus", "requirement"], how="left", maintain_order="left")
        .join(pools, on=["stimulus", "pool"], how="left", maintain_order="left")
        .join(sampled, on=["stimulus", "pool"], how="left", maintain_order="left")
        .fill_null(0)
    )
    table = counted.with_columns(
        pl.col("name").alias("stimulus"),
        copies=pl.col("contexts") - pl.col("texts"),
        too_short=pl.col("texts") - pl.col("enough_words"),
        target_too_long=pl.col("enough_words") - pl.col("long_enough"),
        outside_pool=pl.col("long_enough") - pl.col("eligible"),
        over_cap=pl.col("eligible") - pl.col("sampled"),
        short=pl.col("eligible") < drawn.minimum,
    )
    kept_out = [pl.when(pl.col(name) > 0).then(pl.lit(reason)) for name, reason in _REASONS.items()]
    table = table.with_columns(reason=pl.coalesce(*kept_out, pl.lit("no-occurrence")))
    return table.select(COVERAGE_SCHEMA.names).to_arrow().cast(COVERAGE_SCHEMA)


def drawn_forms(drawn: Draw) -> pa.Table:
    """Return the forms and corpus files of the samples, in `FORMS_SCHEMA`; sorted."""
    return drawn.forms.select(FORMS_SCHEMA.names).to_arrow().cast(FORMS_SCHEMA)
