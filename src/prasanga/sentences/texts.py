"""The texts of a corpus and nothing else, for who trains on them."""

from __future__ import annotations

from collections.abc import Iterator

from prasanga.sentences.corpus import Errors, read_lines
from prasanga.sentences.records import read_records
from prasanga.sentences.shards import Shard


def read_texts(shard: Shard, errors: Errors = "stop") -> Iterator[str]:
    """The lines of a file, or the texts of its records; the whole file, also where the shard is a part of it.

    Raises:
        InputError: if the file cannot be read.
    """
    if shard.format == "text":
        return (line.text for line in read_lines(shard.path, errors=errors))
    records = read_records(shard.path, shard.format, field=shard.field, columns=shard.columns, errors=errors)
    return (record.text for record in records)
