"""Rows that survive: kept beside the workflow's outputs, found again by what they were computed from.

Snakemake removes the outputs of a rule before it reruns it. So what was costly to compute is also in a store, one
folder for each key, and only what the store lacks is computed: after a kill, for a larger sample, for a new category.

A folder holds shards, Parquet files named by a digest of their bytes. A shard is there whole or not at all, and never
changed. A finished output of the workflow becomes a shard by a second name for the same file (a hard link), and the
shards that it covers go. What a shard says of its making stands in a JSON file beside it. Several processes may use a
folder at once, without locks: a shard is removed only if others have its rows, and where two have the same rows, all
processes agree on the one that stays. At worst rows are computed twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.parquet import (
    DamagedFileError,
    is_gone,
    made_from,
    open_parquet,
    reading,
    require_every_page,
    temporary_beside,
    write_row_groups,
    write_text,
)

_LOG = logging.getLogger(__name__)
KEY = "key.json"
"""The file that says which key a folder is of."""
_ATTEMPTS = 20
_DAY = 24 * 60 * 60
_BYTES_PER_ROW_GROUP = 12 << 20  # little enough to read a few rows, enough to read all of them fast
_HISTORY = {
    "written": pl.String,
    "since": pl.String,
    "rows": pl.Int64,
    "bytes": pl.Int64,
    "linked": pl.Boolean,
    "shard": pl.String,
}


class Store:
    """The rows of one key: the shards of one folder."""

    def __init__(
        self, folder: str | Path, key: str, columns: pa.Schema, describes: Mapping[str, Any] | None = None
    ) -> None:
        """Use `folder`, which need not exist.

        Args:
            folder: the folder of this key alone.
            key: digest of all that rows depend on, apart from what their ids are digests of. Shards of another key, or
                with other columns, count as absent.
            columns: of a shard, the id (32 hexadecimal digits) first. A list stands for vectors: fixed-size lists of
                one width, whichever it is.
            describes: what the key is a digest of, for readers: written to key.json beside the key.

        Raises:
            InputError: if the folder's key.json is of another key.
        """
        self.folder, self.key = Path(folder), key
        self._columns = columns
        self._describes = dict(describes or {})
        self._shards: dict[str, _Shard] = {}
        self._unusable: dict[str, _Mark] = {}
        self._width = 0
        self._says_its_key()

    def find(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of n ids the store has: (n,). That a shard is damaged inside is seen only when it is read."""
        return self._locate(ids)["file"].is_not_null().to_numpy()

    def read_table(self, ids: Sequence[str]) -> pa.Table | None:
        """Return the rows of `ids`, in their order, without those that the store lacks; None if it has none.

        A shard that turns out to be damaged counts as absent from then on, with a warning that names it.
        """
        for _ in range(_ATTEMPTS):  # again where a shard was merged into another, or found damaged, meanwhile
            parts, places = [], []
            try:
                where = self._locate(ids).drop_nulls("file").partition_by("file")
                shards = list(self._shards.values())
                for group in where:
                    shard = shards[group["file"][0]]
                    parts.append(self._rows(shard, group["row"].cast(pl.Int64).to_numpy()))
                    places.append(group["place"].to_numpy())
            except FileNotFoundError:
                continue
            except InputError as error:
                self._set_aside(shard.path.name, shard.mark, error)
                continue
            return pa.concat_tables(parts).take(np.argsort(np.concatenate(places))) if parts else None
        return None

    def add_table(self, table: pa.Table, record: Mapping[str, Any]) -> Path:
        """Keep rows as a shard of their own: after this returns, they survive a kill.

        Args:
            table: with the columns of this store.
            record: what `history` is to say of their making: plain values; numbers are amounts, which add up.

        Returns:
            The shard that they are in.

        Raises:
            InputError: vectors of another width, ids that are none; a folder that cannot be written to.
        """
        fields = [pa.field(one.name, table.schema.field(one.name).type, one.nullable) for one in self._columns]
        table = pa.Table.from_arrays([table.column(one.name) for one in fields], schema=pa.schema(fields))
        _require_ids(pl.Series(table.column(0)), self.folder)
        self._require_width(_width_of(table.schema), self.folder)
        size = max(_BYTES_PER_ROW_GROUP * table.num_rows // max(table.nbytes, 1), 1)
        groups = (table.slice(start, size) for start in range(0, table.num_rows, size))
        said = {"key": self.key, "rows": str(table.num_rows)}
        self._prepare()
        return self._keep(lambda staged: write_row_groups(staged, table.schema, groups, said), table.num_rows, record)

    def adopt(self, path: str | Path, record: Mapping[str, Any]) -> None:
        """Make a finished output of the workflow a shard, as a second name of the same file.

        Shards whose rows are all in it are removed; what their records say is added to its own. Where the file system
        does not allow a second name, or the folder cannot be written to, everything stays as it is.

        Args:
            path: Parquet file with the columns of a shard, others beside them, and this store's key in its metadata.
            record: as in `add_table`.

        Raises:
            InputError: if the file is not of this store, which is a mistake in the program.
        """
        path = Path(path)
        output = self._look(path)
        self._require_width(output.width, path)
        try:
            self._prepare()
            kept = self._keep(lambda staged: os.link(path, staged), len(output.ids), record)
        except (OSError, InputError) as error:
            _LOG.info("%s is not linked into the store, whose parts stay instead: %s", path, error)
            return
        try:
            self._remove_covered(kept)
        except (OSError, InputError) as error:  # at worst some rows are there twice
            _LOG.debug("what %s covers stays beside it: %s", kept, error)

    def compact(self, max_bytes: int = 256 << 20) -> int:
        """Put small shards together that are nobody else's, and remove what lies on the disk twice.

        A shard whose rows outputs of the workflow have too, one or several together, keeps only what these lack. What
        killed processes left is removed as well.

        Args:
            max_bytes: of a new shard, about; shards of more than half of it are left alone, unless outputs have rows of
                theirs. Takes about three times as much memory, and room for the largest of those.

        Returns:
            How many shards were put into others, or had all their rows in outputs.

        Raises:
            InputError: a folder that cannot be written to.
        """
        shards = self._refresh().values()
        if not shards:
            return 0
        self._prepare()
        own = [shard for shard in shards if not _is_linked(shard.path)]
        held = self._held([shard for shard in shards if shard not in own], own)
        in_outputs = _ids_of(held)
        lacking = {shard: int((~shard.ids.is_in(in_outputs)).sum()) for shard in own}
        sizes = {shard: shard.mark.size * n // max(len(shard.ids), 1) for shard, n in lacking.items()}
        together: dict[int, list[_Shard]] = {}
        total = 0
        for shard in sorted(own, key=lambda shard: (sizes[shard], shard.path)):
            if shard.mark.size <= max_bytes // 2 or lacking[shard] < len(shard.ids):
                together.setdefault(total // max_bytes, []).append(shard)
                total += sizes[shard]
        return sum(
            self._merge(sorted(group, key=lambda shard: shard.path), held, lacking)
            for group in together.values()
            if len(group) > 1 or lacking[group[0]] < len(group[0].ids)
        )

    def history(self) -> pl.DataFrame:
        """Return what was computed, when, and with what: a row for each shard, the earliest first.

        Returns:
            written (UTC, ISO 8601), since (when the first of its rows were), rows, bytes, linked (whether it is an
            output of the workflow as well), shard (its name), and what the records say: numbers added up over those of
            the shards it replaced, texts that differ listed.
        """
        rows = [row for shard in self._refresh().values() if (row := _describe(shard)) is not None]
        if not rows:
            return pl.DataFrame(schema=_HISTORY)
        table = pl.DataFrame(rows, schema_overrides=_HISTORY, infer_schema_length=None, strict=False)
        return table.sort("written", "shard")

    def _locate(self, ids: Sequence[str]) -> pl.DataFrame:
        """Return the place of each id, and the row and file (by number) that have it first; null where none has."""
        asked = pl.DataFrame({"id": ids}, schema={"id": pl.String}).with_row_index("place")
        shards = self._refresh()
        known = pl.concat(
            [
                pl.DataFrame(schema={"row": pl.UInt32, "id": pl.String, "file": pl.UInt32}),
                *(
                    shard.ids.alias("id").to_frame().with_row_index("row").with_columns(file=pl.lit(number, pl.UInt32))
                    for number, shard in enumerate(shards.values())
                ),
            ]
        )
        found = known.lazy().join(asked.lazy(), on="id", how="semi", maintain_order="left")
        found = found.unique("id", keep="first", maintain_order=True)
        return asked.lazy().join(found, on="id", how="left", maintain_order="left").collect()

    def _refresh(self) -> dict[str, _Shard]:
        """Return the shards that the folder has now, by name; those that cannot be used are named in a warning."""
        shards = {}
        for name, mark in _list_files(self.folder).items():
            if self._unusable.get(name) == mark:
                continue
            try:
                known = self._shards.get(name)
                shards[name] = known if known and known.mark == mark else self._look(self.folder / name)
            except FileNotFoundError:  # merged since it was listed: the next listing has its rows elsewhere
                continue
            except InputError as error:
                self._set_aside(name, mark, error)
        rows: Counter[int] = Counter()
        for shard in shards.values():
            rows[shard.width] += len(shard.ids)
        self._width = max(sorted(rows), key=rows.__getitem__, default=self._width)
        for name in [name for name, shard in shards.items() if shard.width != self._width]:
            shard = shards.pop(name)
            why = f"{shard.path}: has vectors of {shard.width} numbers, most others of {self._width}."
            self._set_aside(name, shard.mark, InputError(why))
        self._shards = shards
        return shards

    def _look(self, path: Path) -> _Shard:
        """Read the ids of a file, and nothing else.

        Raises:
            InputError: it is damaged, or not of this store.
            FileNotFoundError: another process has removed it.
        """
        with _opened(path) as file:
            mark = _mark(path)
            self._require_form(path, file.schema_arrow)
            ids = pl.Series(file.read(columns=[self._columns.names[0]]).column(0))
        _require_ids(ids, path)
        return _Shard(path, mark, ids, _width_of(file.schema_arrow))

    def _require_form(self, path: Path, schema: pa.Schema) -> None:
        if (key := made_from(path).get("key")) != self.key:
            raise InputError(f"{path}: has rows of the key {key!r}, not {self.key!r}.")
        for field in self._columns:
            found = schema.field(field.name).type if schema.names.count(field.name) == 1 else None
            if pa.types.is_list(field.type) and found is not None and pa.types.is_fixed_size_list(found):
                if found.value_type != field.type.value_type:
                    wanted = np.dtype(field.type.value_type.to_pandas_dtype())
                    raise InputError(f"{path}: has vectors of {found.value_type}, not {wanted}.")
            elif found != field.type:
                raise InputError(f"{path}: has no column {field.name} of {field.type}.")

    def _rows(self, shard: _Shard, rows: NDArray[np.int64]) -> pa.Table:
        """Read some rows of a shard; row groups that have none of them are not read."""
        with _opened(shard.path) as file:
            lengths = np.array([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)], np.int64)
            ends = np.cumsum(lengths)
            groups, group = np.unique(np.searchsorted(ends, rows, side="right"), return_inverse=True)
            table = file.read_row_groups(groups.tolist(), columns=self._columns.names)
        columns = {field.name: table.column(field.name) for field in self._columns}
        if empty := [field.name for field in self._columns if not field.nullable and columns[field.name].null_count]:
            raise InputError(f"{shard.path}: has a row without {empty[0]}.")
        left_out = ends[groups] - np.cumsum(lengths[groups])
        return pa.table(columns).take(rows - left_out[group])

    def _set_aside(self, name: str, mark: _Mark, error: InputError) -> None:
        """Let a shard count as absent, for this process, until another file has its name."""
        self._unusable[name] = mark
        what = error.what if isinstance(error, DamagedFileError) else error
        _LOG.warning("%s It counts as absent, and its rows are computed again.", what)

    def _require_width(self, width: int, named: Path) -> None:
        if not self._width:
            self._refresh()
        if self._width not in (0, width):
            raise InputError(
                f"{named}: vectors of {width} numbers, but those in {self.folder} have {self._width}. They are not of"
                " one model: delete the folder that is wrong, and run again."
            )
        self._width = width

    def _keep(self, make: Callable[[Path], object], rows: int, record: Mapping[str, Any]) -> Path:
        """Put the file that `make` makes into the folder, under the name of its content, after its record."""
        staged = temporary_beside(self.folder / "shard")
        try:
            make(staged)
            kept = self.folder / f"{name_of_content(staged)}.parquet"
            if not (kept.exists() and _record_path(kept).exists()):  # else the first record counts
                leaf = {"written": _iso(time.time()), "rows": rows, "record": dict(record), "replaced": {}}
                write_text(_record_path(kept), json.dumps(leaf, sort_keys=True) + "\n")
            staged.replace(kept)
        finally:
            with suppress(OSError):
                staged.unlink(missing_ok=True)
        return kept

    def _remove_covered(self, kept: Path) -> None:
        """Remove the shards whose rows are all in `kept`, a new output, once that has been read back whole."""
        require_every_page(kept)
        heir = self._look(kept)
        shards = dict(self._refresh())
        for name in self._unusable:  # what damaged ones held is no reason to warn of them for ever
            with suppress(FileNotFoundError, InputError):
                shards[name] = self._look(kept.with_name(name))
        covered = [
            shard
            for shard in shards.values()
            if shard.width == heir.width and shard.rank < heir.rank and shard.ids.is_in(_ids_of([heir])).all()
        ]
        _remove(covered, heir.path)

    def _held(self, outputs: Iterable[_Shard], own: Iterable[_Shard]) -> list[_Shard]:
        """Return the outputs that have rows which own shards have as well, and that can be read back whole."""
        mine, held = _ids_of(own), []
        for shard in outputs:
            if shard.ids.is_in(mine).any():
                try:
                    require_every_page(shard.path)
                    held.append(shard)
                except InputError as error:
                    _LOG.debug("rows of %s stay where else they are: %s", shard.path, error)
        return held

    def _merge(self, group: Sequence[_Shard], held: Sequence[_Shard], lacking: Mapping[_Shard, int]) -> int:
        """Put what outputs lack of the rows of a group into one shard; return how many shards were put into it."""
        merged, tables = [], []
        for shard in group:
            try:
                if lacking[shard] or not held:
                    tables.append(self._rows(shard, np.arange(len(shard.ids))))
                merged.append(shard)
            except FileNotFoundError:
                continue
            except InputError as error:
                self._set_aside(shard.path.name, shard.mark, error)
        if tables:
            table = pa.concat_tables(tables)
            rows = pl.DataFrame({"id": pl.Series(table.column(0))}).with_row_index("row")
            rows = rows.filter(~pl.col("id").is_in(_ids_of(held))).unique("id", keep="first").sort("id")
            heir = self.add_table(table.take(rows["row"].cast(pl.Int64).to_numpy()), {})
            require_every_page(heir)
        else:
            heir = max(held, key=lambda shard: len(shard.ids)).path
        if not all(shard.is_there() for shard in held):
            return 0
        return _remove([shard for shard in merged if not _is_linked(shard.path)], heir)

    def _prepare(self) -> None:
        """Make the folder, and the file that says what it is of."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: this folder cannot be made ({error.strerror}). Make it.") from error
        if not self._says_its_key():
            content = {**self._describes, "key": self.key}
            write_text(self.folder / KEY, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
        _remove_leftovers(self.folder)

    def _says_its_key(self) -> bool:
        """Return whether the folder says which key it is of; an InputError if it is another one."""
        path = self.folder / KEY
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["key"]
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s cannot be read, and is written again: %s", path, error)
            return False
        if found != self.key:
            raise InputError(
                f"{path}: this folder has the rows of the key {found!r}, not of {self.key!r}. Use another folder, or"
                " delete this one."
            )
        return True


class _Mark(NamedTuple):
    """What tells whether a file is still the one that was looked at."""

    size: int
    modified: int
    inode: int


@dataclass(frozen=True, eq=False)
class _Shard:
    """A file whose ids are known; `width` is that of its vectors, 0 where it has none."""

    path: Path
    mark: _Mark
    ids: pl.Series
    width: int

    @property
    def rank(self) -> tuple[int, int, str]:
        """What decides which of two shards stays: more rows, later, name. All processes see the same."""
        return self.ids.n_unique(), self.mark.modified, self.path.name

    def is_there(self) -> bool:
        """Return whether the file is still the one that was looked at."""
        try:
            return _mark(self.path) == self.mark
        except FileNotFoundError:
            return False


def _mark(path: Path) -> _Mark:
    status = path.stat()
    return _Mark(status.st_size, status.st_mtime_ns, status.st_ino)


def _list_files(folder: Path) -> dict[str, _Mark]:
    """Return the shard files of a folder, by name; none if there is no folder.

    A file may be missed that is removed while the folder is read, and with it the new one that has its rows. So the
    folder is read until nothing has gone between two readings.
    """
    before = None
    while True:
        try:
            files = {path.name: _mark(path) for path in sorted(folder.glob("[!.]*.parquet"))}
        except FileNotFoundError:
            continue
        if before is not None and before <= files.keys():
            return files
        before = files.keys()


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a shard. An InputError says that it is damaged, a FileNotFoundError that another process has removed it."""
    try:
        with reading(path), open_parquet(path) as file:
            yield file
    except InputError as error:
        if not path.exists():
            raise FileNotFoundError(path) from error
        raise


def _width_of(schema: pa.Schema) -> int:
    """Return the width of the vectors in a table, 0 if it has none."""
    return next((kind.list_size for kind in schema.types if pa.types.is_fixed_size_list(kind)), 0)


def _require_ids(ids: pl.Series, where: Path) -> None:
    wrong = ids.filter(~ids.str.contains("^[0-9a-f]{32}$").fill_null(value=False))
    if len(wrong):
        name = wrong[0] or ""
        raise InputError(f"{where}: the id {name!r} has {len(name)} characters, not 32 hexadecimal digits.")


def _ids_of(shards: Iterable[_Shard]) -> pl.Series:
    """Return the ids of several shards, as what `is_in` takes."""
    return pl.concat([pl.Series([], dtype=pl.String), *(shard.ids for shard in shards)]).implode()


def name_of_content(path: Path) -> str:
    """Return the digest of a file's bytes that a shard is named by."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def _is_linked(path: Path) -> bool:
    """Return whether a shard is an output of the workflow as well. One that is gone counts as such."""
    try:
        return path.stat().st_nlink > 1
    except FileNotFoundError:
        return True


def _remove(doomed: Sequence[_Shard], heir: Path) -> int:
    """Remove shards whose rows others have, and let the record of `heir` say what theirs say; return how many."""
    doomed = [shard for shard in doomed if shard.path != heir and shard.is_there()]
    if not doomed or not heir.exists():
        return 0
    if (leaf := _read_record(heir)) is not None:
        for shard in doomed:
            if (said := _read_record(shard.path)) is not None:
                leaf["replaced"] |= {**said.pop("replaced"), shard.path.stem: said}
        leaf["replaced"].pop(heir.stem, None)
        write_text(_record_path(heir), json.dumps(leaf, sort_keys=True) + "\n")
    for shard in doomed:
        shard.path.unlink(missing_ok=True)
        _record_path(shard.path).unlink(missing_ok=True)
    return len(doomed)


def _record_path(shard: Path) -> Path:
    return shard.with_suffix(".json")


def _read_record(shard: Path) -> dict[str, Any] | None:
    """Return the record of a shard, with those of the shards that it replaced; None if none can be read.

    A record says when rows were written (`written`), how many (`rows`), what their writer said (`record`), and the same
    of shards that it replaced, by their names (`replaced`): nothing is counted twice, also after a kill in between.
    """
    try:
        found = json.loads(_record_path(shard).read_text(encoding="utf-8"))
        return {
            "written": str(found["written"]),
            "rows": int(found["rows"]),
            "record": dict(found["record"]),
            "replaced": dict(found["replaced"]),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        _LOG.debug("%s says nothing: %s", _record_path(shard), error)
        return None


def _describe(shard: _Shard) -> dict[str, Any] | None:
    """Return the row of a shard in the history, None if it has gone."""
    try:
        status = shard.path.stat()
    except FileNotFoundError:
        return None
    own = _read_record(shard.path) or {"written": _iso(status.st_mtime), "record": {}, "replaced": {}}
    leaves = [*own["replaced"].values(), own]
    names = sorted({name for leaf in leaves for name in leaf["record"]})
    return {
        "written": own["written"],
        "since": min(leaf["written"] for leaf in leaves),
        "rows": len(shard.ids),
        "bytes": status.st_size,
        "linked": status.st_nlink > 1,
        "shard": shard.path.stem,
        **{name: _sum_or_list([leaf["record"].get(name) for leaf in leaves]) for name in names},
    }


def _sum_or_list(values: Sequence[Any]) -> Any:
    values = [value for value in values if value is not None]
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return sum(values)
    texts = {value if isinstance(value, str) else json.dumps(value, sort_keys=True) for value in values}
    return ", ".join(sorted(texts)) or None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left: half-written files of this host, and any leftover of more than a day ago.

    Leftovers are hidden files, records without a shard, and the index that earlier versions kept.
    """
    orphans = [path for path in folder.glob("*.json") if len(path.stem) == 32]
    orphans = [path for path in orphans if not path.with_suffix(".parquet").exists()]
    for path in [*folder.glob(".*"), *folder.glob("index.arrow"), *orphans]:
        process = path.name.split(".")[-3:][0]
        with suppress(OSError):
            is_dead = f".{socket.gethostname()}.{process}." in path.name and is_gone(process)
            if is_dead or path.stat().st_mtime < time.time() - _DAY:
                path.unlink()
