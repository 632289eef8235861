"""The texts of a corpus and nothing else, for who trains on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from prasanga.errors import InputError
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


def read_texts(shard: Shard, errors: Errors = "stop") -> Iterator[str]:
    """The lines of a file, or the texts of its records; the whole file, also where the shard is a part of it.

    Raises:
        InputError: if the file cannot be read.
    """
    if shard.format == "text":
        return (line.text for line in read_lines(shard.path, errors=errors))
    records = read_records(shard.path, shard.format, field=shard.field, columns=shard.columns, errors=errors)
    return (record.text for record in records)
