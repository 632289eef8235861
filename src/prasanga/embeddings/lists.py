"""A list of shards and the files that it names: are they there, are they those, do they belong together. Without torch.

A list file beside a folder of shards names each with its size and digest. Statistics take the list as their input, so
equal shards rerun nothing; the price is that nobody else notices a shard that was deleted by hand. So this does.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prasanga.documents import read_document
from prasanga.errors import InputError
from prasanga.parquet import DamagedFileError, made_from, open_parquet, reading
from prasanga.provenance import sha256_of_file

RUN_KEYS = ("stage", "settings", "sampling", "key")
"""What shards of one list have in common, of all that their metadata say of their making."""

_READ = ("occurrence_id", "stimulus", "segment_length", "embedding")

_SETTLED_LATER = (("dtype", "auto"), ("sentence_vector", "auto"))
_REMEDY = (
    "Restore the shard; or delete both, the shard and the list, and run the workflow again with embeddings: {source:"
    " computed}: what the store has is not embedded again."
)


class _BadListError(InputError):
    """What is wrong with a list (`what`) and, apart from that, what to do about this list alone."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} {remedy}")
        self.what = what


@contextmanager
def reading_shards() -> Iterator[None]:
    """Say of a damaged shard that its list is to be made again as well.

    Raises:
        InputError: in place of the one that speaks of the shard alone.
    """
    try:
        yield
    except DamagedFileError as error:
        raise InputError(f"{error.what} {_REMEDY}") from error


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
            raise _BadListError(f"{path}: no such file, but {list_path} lists it.", _REMEDY)
        size, expected = path.stat().st_size, listed["sizes"][name]
        if size != expected:
            raise _BadListError(f"{path}: has {size} bytes, but {list_path} lists it with {expected}.", _REMEDY)
        if verify and sha256_of_file(path) != sha256:
            raise _BadListError(f"{path}: its content is not what {list_path} lists (sha256 {sha256}).", _REMEDY)
        paths.append(path)
    return paths


def fitting_shards(list_path: str | Path, *, verify: bool = False) -> list[Path]:
    """The shards that a list names, as `shard_paths`, if all are of one model, one length and one run.

    Raises:
        InputError: a shard with vectors of another model, layer, precision, pooling or sampling than the list says (or,
            where it says nothing, than the first shard), of another width, or with segments of another length. The
            message names the file and the setting.
    """
    listed = _read_list(Path(list_path))
    paths = shard_paths(list_path, verify=verify)
    expected: dict[str, str] = {}
    length: str | None = listed.get("segment_length")
    width: int | None = listed.get("dimension")
    for path in paths:
        with reading_shards():
            schema, said = open_parquet(path).schema_arrow, made_from(path)
        if absent := [name for name in _READ if name not in schema.names]:
            raise _misfit(path, list_path, f"has no column {absent[0]!r} and is no shard of vectors")
        expected = expected or {key: listed.get("made_from", {}).get(key, said.get(key, "")) for key in RUN_KEYS}
        for key, value in expected.items():
            if said.get(key, "") != value:
                raise _misfit(path, list_path, _difference(key, said.get(key, ""), value))
        found = int(schema.field("embedding").type.list_size)
        width = found if width is None else width
        if found != width:
            raise _misfit(path, list_path, f"has vectors of {found} numbers, not {width}")
        for other in segment_lengths(path):
            length = other if length is None else length
            if other != length:
                raise _misfit(path, list_path, f"has segments of length {other}, not {length}")
    return paths


def segment_lengths(path: str | Path) -> list[str]:
    """The segment lengths in a shard, told from its footer where that is enough; none in one without rows."""
    file = open_parquet(path)
    place = file.schema_arrow.names.index("segment_length")
    chunks = [file.metadata.row_group(group).column(place).statistics for group in range(file.num_row_groups)]
    if all(chunk is not None and chunk.has_min_max and chunk.min == chunk.max for chunk in chunks):
        return sorted({chunk.min for chunk in chunks})
    with reading(path):
        return sorted(set(file.read(columns=["segment_length"]).column(0).to_pylist()))


def _misfit(path: Path, list_path: str | Path, how: str) -> InputError:
    return InputError(
        f"{path}: {how}, but {list_path} lists it. Vectors of different models, settings or lengths are never mixed:"
        " delete the shard and the list, and run the workflow again."
    )


def _difference(key: str, found: str, expected: str) -> str:
    """What differs, named by the first setting that does where both sides are settings."""
    try:
        one, other = json.loads(found), json.loads(expected)
        name = min(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        return f"was made with {name} {one.get(name)!r}, not {other.get(name)!r}"
    except (ValueError, AttributeError):
        return f"was made with {key} {found!r}, not {expected!r}"


def require_shards(
    list_paths: Mapping[str, Mapping[str, Any]], without: Mapping[str, Collection[str]] | None = None
) -> None:
    """Refuse to begin if vectors from the cache are missing, or are others than the config asks for.

    Said while planning, before any job runs.

    Args:
        list_paths: the lists of the study, each with what the config says of its vectors: settings of the model (path,
            revision, layer, dtype), of the sampling and of the sentences. A setting of which a list says nothing, and
            one that is `auto`, are not compared.
        without: lists that a study can go without, by a sentence that says whose they are and what to write then.

    Raises:
        InputError: with the number of lists that are missing or do not fit, the first of them, and what to do.
    """
    problems: dict[str, str] = {}
    for list_path, expected in list_paths.items():
        try:
            shard_paths(list_path)
        except _BadListError as error:
            problems[list_path] = error.what
        else:
            if misfits := _misfits(Path(list_path), expected):
                problems[list_path] = misfits[0]
    if not problems:
        return
    more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
    optional = {text: sum(path in paths for path in problems) for text, paths in (without or {}).items()}
    raise InputError(
        " ".join(
            [
                f"embeddings.source is 'cached', but vectors are missing or do not fit{more}:",
                next(iter(problems.values())),
                "Copy the right ones under results/embeddings, or let the models compute them: write `embeddings:"
                " {source: computed}`.",
                *(f"{_of_them(count, len(problems))} {text}" for text, count in optional.items() if count),
            ]
        )
    )


def _of_them(count: int, total: int) -> str:
    if total == 1:
        return "This one is"
    return f"{'All' if count == total else count} of these {total} {'is' if count == 1 else 'are'}"


def _misfits(list_path: Path, expected: Mapping[str, Any]) -> list[str]:
    made_from = _read_list(list_path).get("made_from", {})
    recorded = {**json.loads(made_from.get("settings", "{}")), **json.loads(made_from.get("sampling", "{}"))}
    return [
        f"{list_path}: its vectors were made with {key} {recorded[key]!r}, but the config says {value!r}."
        for key, value in expected.items()
        if key in recorded and recorded[key] != value and (key, value) not in _SETTLED_LATER
    ]


def _read_list(path: Path) -> dict[str, Any]:
    try:
        listed = read_document(path)
        if listed["shards"].keys() == listed["sizes"].keys():
            return listed
    except (InputError, KeyError, AttributeError):
        if not path.exists():
            remedy = "Restore it, or let the workflow make it."
            raise _BadListError(f"{path}: no such list of shards.", remedy) from None
    raise _BadListError(f"{path}: not a list of shards.", "Delete it and run the workflow again.")
