"""Reads the vectors that an embedding run left, without torch: all that statistics and figures need of that stage."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.embeddings.lists import fitting_shards, reading_shards
from prasanga.embeddings.store import arrow_to_vectors
from prasanga.errors import InputError
from prasanga.parquet import read_table, read_where


def read_embeddings(
    list_path: str | Path, *, stimuli: Collection[str] | None = None, verify: bool = False
) -> dict[str, tuple[list[str], NDArray[np.float32]]]:
    """The vectors of each stimulus, from the shards that a list names, all in memory at once.

    Args:
        list_path: written by `prasanga.embeddings.list_shards`.
        stimuli: read only these, and of the files only their part; those without a vector are absent from the result.
        verify: see `prasanga.embeddings.lists.shard_paths`.

    Returns:
        {stimulus: (occurrence ids, (n, d) float32)}, n rows in the order of the shards. Float16 shards are widened.

    Raises:
        InputError: a shard is missing or does not belong to the list (`prasanga.embeddings.lists.fitting_shards`).
    """
    columns = ["occurrence_id", "stimulus", "embedding"]
    paths = fitting_shards(list_path, verify=verify)
    with reading_shards():
        tables = [
            read_table(path, columns) if stimuli is None else read_where(path, columns, "stimulus", stimuli)
            for path in paths
        ]
    if not tables:
        return {}
    table = pa.concat_tables(tables)
    ids = table.column("occurrence_id").to_pylist()
    vectors = arrow_to_vectors(table.column("embedding")).astype(np.float32, copy=False)
    rows: dict[str, list[int]] = {}
    for row, stimulus in enumerate(table.column("stimulus").to_pylist()):
        rows.setdefault(stimulus, []).append(row)
    return {stimulus: ([ids[row] for row in mine], vectors[mine]) for stimulus, mine in sorted(rows.items())}


class StoredEmbeddings(Mapping[str, tuple[list[str], NDArray[np.float32]]]):
    """The vectors of each stimulus as `read_embeddings` gives them, read from the disk when they are asked for.

    A study larger than the memory is measured word by word. What was used last stays in memory, up to a bound; names of
    stimuli and of their occurrences are there from the start, and cost no vector. Vectors cannot be written to.
    """

    def __init__(
        self,
        list_path: str | Path,
        stimuli: Collection[str] | None = None,
        verify: bool = True,
        cache_bytes: int = 2 * 2**30,
    ) -> None:
        """Look at the shards that a list names.

        Args:
            list_path: written by `prasanga.embeddings.list_shards`.
            stimuli: offer only these; those without a vector are absent.
            verify: compare each shard's sha256 now, which reads every byte once.
            cache_bytes: most bytes of vectors to keep.

        Raises:
            InputError: as `read_embeddings`.
        """
        wanted = None if stimuli is None else set(stimuli)
        found: dict[str, tuple[list[str], list[Path]]] = {}
        for path in fitting_shards(list_path, verify=verify):
            for stimulus, ids in _occurrences(path).items():
                if wanted is None or stimulus in wanted:
                    all_ids, paths = found.setdefault(stimulus, ([], []))
                    all_ids += ids
                    paths.append(path)
        self._found = dict(sorted(found.items()))
        self._cache_bytes = cache_bytes
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def __getitem__(self, stimulus: str) -> tuple[list[str], NDArray[np.float32]]:
        """Occurrence ids and (n, d) float32 vectors of a stimulus, n rows in the order of the shards.

        Raises:
            KeyError: the stimulus has no vector.
            InputError: a shard is damaged, or was replaced since.
        """
        ids, paths = self._found[stimulus]
        if stimulus in self._kept:
            self._kept.move_to_end(stimulus)
            return list(ids), self._kept[stimulus]
        with reading_shards():
            tables = [read_where(path, ["occurrence_id", "embedding"], "stimulus", [stimulus]) for path in paths]
        if [each for table in tables for each in table.column("occurrence_id").to_pylist()] != ids:
            raise InputError(f"{paths[0]}: its rows of {stimulus!r} have changed since they were counted. Run again.")
        parts = [arrow_to_vectors(table.column("embedding")) for table in tables]
        vectors = np.concatenate(parts, dtype=np.float32) if len(parts) > 1 else parts[0].astype(np.float32)
        vectors.flags.writeable = False  # the next one to ask gets the same array
        self._keep(stimulus, vectors)
        return list(ids), vectors

    def __iter__(self) -> Iterator[str]:
        """The stimuli that have a vector, sorted."""
        return iter(self._found)

    def __len__(self) -> int:
        """How many stimuli have a vector."""
        return len(self._found)

    def __contains__(self, stimulus: object) -> bool:
        """Whether a stimulus has a vector; none is read."""
        return stimulus in self._found

    def ids(self, stimulus: str) -> list[str]:
        """The occurrence ids of a stimulus, in the order of its vectors; no vector is read. KeyError if it has none."""
        return list(self._found[stimulus][0])

    @property
    def kept_bytes(self) -> int:
        """Bytes of the vectors in memory."""
        return sum(vectors.nbytes for vectors in self._kept.values())

    def _keep(self, stimulus: str, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors of a stimulus, and let go of those not used for longest."""
        if vectors.nbytes > self._cache_bytes:
            return
        while self._kept and self.kept_bytes + vectors.nbytes > self._cache_bytes:
            self._kept.popitem(last=False)
        self._kept[stimulus] = vectors


def read_common_occurrences(list_paths: Sequence[str | Path]) -> dict[str, set[str]]:
    """The occurrences of each stimulus that all of these lists have: what draws in the mode `fixed` may index.

    Args:
        list_paths: lists of the models of a study at one segment length.

    Returns:
        {stimulus: occurrence ids}; a stimulus that one of the models lacks has an empty set.

    Raises:
        InputError: as `read_embeddings`.
    """
    of_models = []
    for list_path in list_paths:
        mine: dict[str, set[str]] = {}
        for path in fitting_shards(list_path):
            for stimulus, ids in _occurrences(path).items():
                mine.setdefault(stimulus, set()).update(ids)
        of_models.append(mine)
    stimuli = set().union(*of_models)
    return {stimulus: set.intersection(*(mine.get(stimulus, set()) for mine in of_models)) for stimulus in stimuli}


def _occurrences(path: Path) -> dict[str, list[str]]:
    """The occurrence ids of each stimulus in one shard, in its order."""
    with reading_shards():
        table = read_table(path, ["occurrence_id", "stimulus"])
    mine: dict[str, list[str]] = {}
    for stimulus, occurrence in zip(
        *(table.column(name).to_pylist() for name in ("stimulus", "occurrence_id")), strict=True
    ):
        mine.setdefault(stimulus, []).append(occurrence)
    return mine
