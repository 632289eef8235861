"""Which static vectors a study has and where each comes from, known before any job runs. Light to import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.errors import InputError

# Files beside `<name>.parquet`: the whole vocabulary of a training, the table of words of an association.
_TAKEN = (".vectors", ".words")

EPOCHS: Mapping[str, int] = {"word2vec": 5, "glove": 25}
"""Passes of a training that does not say how many: gensim's number; half of the least that GloVe's authors took."""


class VectorsPlan(NamedTuple):
    """Static vectors by where they come from.

    Attributes:
        trained: those trained on the corpus, sorted.
        files: those read from a file that is there, with its path.
        kept: those of which, with cached vectors, only earlier results are there: their file is not on this machine.
    """

    trained: list[str]
    files: dict[str, str]
    kept: list[str]


def plan_vectors(
    vectors: Mapping[str, Mapping[str, Any]], results: str | Path = "results/static", *, cached: bool = False
) -> VectorsPlan:
    """Sort out `static.vectors` of the config, whose entries have either `path` or `train`.

    Args:
        vectors: the entries, by name.
        results: the folder of earlier results.
        cached: whether these may stand for a file that is absent, if they were made from a file of that path.

    Raises:
        InputError: a file that is absent, or a name that would be that of another entry's file.
    """
    trained, files, kept = [], {}, []
    for name, settings in sorted(vectors.items()):
        for ending in _TAKEN:
            if name.endswith(ending) and name.removesuffix(ending) in vectors:
                raise InputError(
                    f"`static.vectors.{name}` has the name of a file that is written of"
                    f" `static.vectors.{name.removesuffix(ending)}`. Rename it, for example to"
                    f" `{name.replace('.', '-')}`."
                )
        if "train" in settings:
            trained.append(name)
        elif Path(settings["path"]).is_file():
            files[name] = str(settings["path"])
        elif cached and settings["path"] in _read_from(Path(results, f"{name}.parquet")):
            kept.append(name)
        else:
            raise InputError(
                f"`static.vectors.{name}.path` is {settings['path']!r}, but there is no such file. Write the path of a"
                " file of vectors (word2vec, GloVe, fastText), or put the file there."
            )
    return VectorsPlan(trained, files, kept)


def training_options(train: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a training (`static.vectors.<name>.train`), sorted, with the passes that suit its method.

    Args:
        train: complete with the schema's defaults; `epochs` may be None.
    """
    epochs = EPOCHS[train["method"]] if train["epochs"] is None else train["epochs"]
    return dict(sorted({**train, "epochs": epochs}.items()))


def training_resources(input_megabytes: float) -> dict[str, int]:
    """What a training is given on a cluster: `mem_mb`, and `runtime` in minutes; on the safe side.

    Args:
        input_megabytes: size of the corpus, not compressed. A megabyte of Bangla has some 60 000 words, which take 2 to
            4 s in either method with the default options, on one core of an ordinary server. Memory holds the different
            words, whose number grows with the power 0.58 of the text; twice what was measured for them is given
            (docs/scaling.md).
    """
    return {"mem_mb": round(1000 + 65 * input_megabytes**0.6), "runtime": 60 + round(input_megabytes / 10)}


def _read_from(table: Path) -> list[str]:
    """The files that a table of vectors was made from; none if there is no such table."""
    if not table.is_file():
        return []
    # here, since few plans come to it
    from prasanga.parquet import made_from

    return list(json.loads(made_from(table).get("inputs", "{}")))
