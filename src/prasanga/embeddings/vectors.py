"""Reads the vectors that an embedding run left, without torch: all that statistics and figures need of that stage.

A list file beside a folder of shards names each with its size and digest. Statistics take the list as their input, so
equal shards rerun nothing; the price is that nobody else notices a shard that was deleted by hand. So this does.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.embeddings.columns import arrow_to_vectors
from prasanga.errors import InputError
from prasanga.parquet import read_table, read_where
from prasanga.provenance import sha256_of_file

_REMEDY = (
    "Restore the shard; or delete both, the shard and the list, and run the workflow again with embeddings: {source:"
    " computed}: what the store has is not embedded again."
)


def shard_paths(list_path: str | Path, *, verify: bool = False) -> list[Path]:
    """The shards that a list names, checked for being there and having the size listed.

    Args:
        list_path: written by `prasanga.embeddings.list_shards`; shards are named relative to its folder.
        verify: compare the content's sha256 as well, which reads every byte.

    Raises:
        InputError: no list, or a shard that is missing or another file than the one listed.
    """
    listed = _read_list(Path(list_path))
    paths = []
    for name, sha256 in listed["shards"].items():
        path = Path(list_path).parent / name
        if not path.is_file():
            raise InputError(f"{path}: no such file, but {list_path} lists it. {_REMEDY}")
        size, expected = path.stat().st_size, listed["sizes"][name]
        if size != expected:
            raise InputError(f"{path}: has {size} bytes, but {list_path} lists it with {expected}. {_REMEDY}")
        if verify and sha256_of_file(path) != sha256:
            raise InputError(f"{path}: its content is not what {list_path} lists (sha256 {sha256}). {_REMEDY}")
        paths.append(path)
    return paths


def read_embeddings(
    list_path: str | Path, *, stimuli: Collection[str] | None = None, verify: bool = False
) -> dict[str, tuple[list[str], NDArray[np.float32]]]:
    """The vectors of each stimulus, from the shards that a list names.

    Args:
        list_path: written by `prasanga.embeddings.list_shards`.
        stimuli: read only these, and of the files only their part; those without a vector are absent from the result.
        verify: see `shard_paths`.

    Returns:
        {stimulus: (segment ids, (n, d) float32)}, n rows in the order of the shards. Float16 shards are widened.
    """
    columns = ["segment_id", "stimulus", "embedding"]
    tables = [
        read_table(path, columns) if stimuli is None else read_where(path, columns, "stimulus", stimuli)
        for path in shard_paths(list_path, verify=verify)
    ]
    if not tables:
        return {}
    table = pa.concat_tables(tables)
    ids = table.column("segment_id").to_pylist()
    vectors = arrow_to_vectors(table.column("embedding")).astype(np.float32, copy=False)
    rows: dict[str, list[int]] = {}
    for row, stimulus in enumerate(table.column("stimulus").to_pylist()):
        rows.setdefault(stimulus, []).append(row)
    return {stimulus: ([ids[row] for row in mine], vectors[mine]) for stimulus, mine in sorted(rows.items())}


def _read_list(path: Path) -> dict[str, Any]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(listed, dict) and listed["shards"].keys() == listed["sizes"].keys():
            return listed
    except FileNotFoundError:
        raise InputError(f"{path}: no such list of shards. Restore it, or let the workflow make it.") from None
    except (ValueError, KeyError, AttributeError):
        pass
    raise InputError(f"{path}: not a list of shards. Delete it and run the workflow again.")


def read_common_segments(list_paths: Sequence[str | Path]) -> dict[str, set[str]]:
    """The segments of each stimulus that all of these lists have: what draws in the mode `fixed` may index.

    Args:
        list_paths: lists of the models of a study at one segment length.

    Returns:
        {stimulus: segment ids}; a stimulus that one of the models lacks has an empty set.
    """
    of_models = []
    for list_path in list_paths:
        tables = [read_table(path, ["segment_id", "stimulus"]) for path in shard_paths(list_path)]
        mine: dict[str, set[str]] = {}
        for table in tables:
            for stimulus, segment in zip(
                *(table.column(n).to_pylist() for n in ("stimulus", "segment_id")), strict=True
            ):
                mine.setdefault(stimulus, set()).add(segment)
        of_models.append(mine)
    stimuli = set().union(*of_models)
    return {stimulus: set.intersection(*(mine.get(stimulus, set()) for mine in of_models)) for stimulus in stimuli}


def require_shards(list_paths: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to begin if vectors from the cache are missing, or are others than the config asks for.

    Said while planning, before any job runs.

    Args:
        list_paths: the lists of the study, each with what the config says of its vectors: settings of the model (path,
            revision, layer, dtype), of the sampling and of the sentences. A setting of which a list says nothing, and a
            dtype `auto`, are not compared.

    Raises:
        InputError: with the number of files that are missing or do not fit, the first of them, and what to do.
    """
    problems = []
    for list_path, expected in list_paths.items():
        try:
            shard_paths(list_path)
        except InputError as error:
            problems.append(str(error))
        else:
            problems += _misfits(Path(list_path), expected)
    if problems:
        more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
        raise InputError(
            f"embeddings.source is 'cached', but vectors are missing or do not fit{more}: {problems[0]} Copy the right"
            " ones under results/embeddings, or let the models compute them: write `embeddings: {source: computed}`."
        )


def _misfits(list_path: Path, expected: Mapping[str, Any]) -> list[str]:
    made_from = _read_list(list_path).get("made_from", {})
    recorded = {**json.loads(made_from.get("settings", "{}")), **json.loads(made_from.get("sampling", "{}"))}
    return [
        f"{list_path}: its vectors were made with {key} {recorded[key]!r}, but the config says {value!r}."
        for key, value in expected.items()
        if key in recorded and recorded[key] != value and (key, value) != ("dtype", "auto")
    ]
