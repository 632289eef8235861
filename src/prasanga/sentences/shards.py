"""Which files a corpus consists of, and the name that each one's results get."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from prasanga.errors import InputError

_ENDINGS = re.compile(r"(\.txt|\.bn|\.hi|\.en)?(\.gz|\.zst)?$")


class Shard(NamedTuple):
    """One corpus file.

    Attributes:
        path: the file, relative to the working directory.
        source: the file, relative to the root of the corpus; what the results call it.
        documents: what ends a document in it (blank-line, line, file).
    """

    path: str
    source: str
    documents: str


def find_shards(root: str | Path, texts: Iterable[Mapping[str, str]]) -> dict[str, Shard]:
    """The files that the patterns of `corpus.texts` name, by the name of their results.

    Args:
        root: `corpus.root`, the folder that the patterns start from.
        texts: mappings with `files` (a path or pattern) and `documents`.

    Raises:
        InputError: if a pattern names no file, a file is named twice, or two files would get the same name.
    """
    shards: dict[str, Shard] = {}
    for text in texts:
        pattern = text["files"]
        # glob.glob, not Path.glob: it follows links to folders, which is where a corpus often lies
        found = glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207
        sources = sorted(PurePosixPath(path).as_posix() for path in found if Path(root, path).is_file())
        if not sources:
            raise InputError(
                f"corpus.texts: no file fits {pattern!r} under corpus.root {str(root)!r}. Allowed is a path or a"
                " pattern such as `texts/*.txt`, relative to corpus.root. Write one that names your files."
            )
        for source in sources:
            name = _name(source)
            if (other := shards.get(name)) is not None:
                reason = "named by two patterns" if other.source == source else f"named like {other.source!r}"
                raise InputError(
                    f"corpus.texts: the file {source!r} is {reason}; each file needs a name of its own, once."
                    f" Change the pattern {pattern!r} or rename the file."
                )
            shards[name] = Shard(Path(root, source).as_posix(), source, text["documents"])
    return shards


def _name(source: str) -> str:
    """A name for the results: the path without its ending, with nothing in it but letters, digits, - _ and dots."""
    stem = _ENDINGS.sub("", source)
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem.replace("../", "")).strip("-.")
