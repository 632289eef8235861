"""The texts of a corpus and nothing else, for who trains on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prasanga.errors import InputError
from prasanga.progress import BYTES, progress
from prasanga.sentences.corpus import Errors, read_lines
from prasanga.sentences.records import read_records
from prasanga.sentences.shards import Shard

MOST_BYTES = 10**9
"""What a tiny model may be trained on at most: its texts are held in memory, several times over."""


def require_small(shards: Iterable[Shard]) -> None:
    """Refuse to hold a large corpus in memory.

    Raises:
        InputError: with the size.
    """
    size = sum(Path(shard.path).stat().st_size for shard in shards)
    if size > MOST_BYTES:
        raise InputError(
            f"models: `train` makes a tiny model for a demonstration, from a corpus of at most {MOST_BYTES / 1e9:g} GB;"
            f" this one has {size / 1e9:.1f} GB. Write `path: <folder or name on the hub>` in place of `train`."
        )


def read_corpus(shards: Sequence[Shard], errors: Errors = "stop") -> Iterator[str]:
    """The texts of all `shards`, one file after the other; says how far it has come.

    Raises:
        InputError: if a file cannot be read.
    """
    size = sum(Path(shard.path).stat().st_size for shard in shards if Path(shard.path).is_file())
    with progress("reading the corpus", size, BYTES) as done:
        for shard in shards:
            yield from read_texts(shard, errors, done.advance)


def read_texts(shard: Shard, errors: Errors = "stop", read: Callable[[int], object] | None = None) -> Iterator[str]:
    """The lines of a file, or the texts of its records; the whole file, also where the shard is a part of it.

    Args:
        shard: the file.
        errors: what to do with a line or record that cannot be used (`read_lines`, `read_records`).
        read: told, whenever bytes have been read from the disk, how many.

    Raises:
        InputError: if the file cannot be read.
    """
    if shard.format == "text":
        lines = read_lines(shard.path, errors=errors, read=read, inflation=shard.inflation)
        return (line.text for line in lines)
    records = read_records(
        shard.path,
        shard.format,
        field=shard.field,
        columns=shard.columns,
        errors=errors,
        read=read,
        inflation=shard.inflation,
    )
    return (record.text for record in records)
