"""Which files a corpus consists of, and how each is cut into parts."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import json
import logging
import os
import posixpath
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from prasanga.base.errors import InputError, open_whole, reason
from prasanga.base.parquet import made_from
from prasanga.base.places import require_no_braces
from prasanga.sentences.corpus import COMPRESSED, INFLATION, Points, json_in_text
from prasanga.sentences.manifest import Cut, chosen, cuts_of, points_of, remote_files
from prasanga.sentences.remote import RemoteFile, is_remote

logger = logging.getLogger(__name__)

Format = Literal["text", "jsonl", "parquet", "dataset", "extracted", "pickle", "word"]

SENTENCES_VERSION = 1
"""Raise this number when the code finds other sentences or draws other segments: the corpus is then read again."""
MANIFEST = "corpus.json"
"""Digests of the corpus files, remembered beside the results (`prasanga.sentences.manifest`)."""
MOST_NAMES = 500_000
"""Names that are looked at for one pattern; a job reads a file, and a plan of so many jobs never ends."""
_LONGEST_NAME = 120  # the name of a file may have 255 bytes, with its ending and what a temporary name adds
_FORMATS: Mapping[str, Format] = {
    **dict.fromkeys([".txt", ".text", ".bn", ".hi", ".en"], "text"),
    **dict.fromkeys([".jsonl", ".ndjson"], "jsonl"),
    **dict.fromkeys([".csv", ".tsv"], "extracted"),
    **dict.fromkeys([".pkl", ".pickle"], "pickle"),
    ".parquet": "parquet",
    ".arrow": "dataset",
}


class Shard(NamedTuple):
    """A corpus file or a part of one: what one job reads.

    Attributes:
        path: the file, relative to the working directory; or its URL.
        source: the file, relative to the root of the corpus; what the results call it, whatever the part.
        documents: what ends a document of plain text (blank-line, line, file).
        format: how the file is read.
        field: field or column with the text, in jsonl, parquet and dataset.
        columns: columns with the stimulus and the sentence, in an extracted table.
        start: first byte of the part, in the decompressed text. The part has the lines that begin in it, from `start`
            to before `end`. In parquet, these are numbers of row groups, in a dataset, of batches.
        end: the byte after its last; None for the end of the file.
        text: number of the entry that names it, from 0.
        inflation: how many times its size on the disk the file may come to, if it is compressed.
        first: how many records of the file come before the part.
        lines: how many lines, of JSON lines.
        points: members of a compressed file (`open_decompressed`): one or two before the part, and the one after it.
        size: about how many bytes of the file the part has; None of a whole file on this machine.
    """

    path: str
    source: str
    documents: str
    format: Format = "text"
    field: str = "text"
    columns: tuple[str, str] = ("word", "sentence")
    start: int = 0
    end: int | None = None
    text: int = 0
    inflation: int = INFLATION
    first: int = 0
    lines: int = 0
    points: Points = ()
    size: int | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether this is no part of a file."""
        return self.start == 0 and self.end is None

    @property
    def bytes_on_disk(self) -> int:
        """Return about how many bytes of the file are read; 0 where there is no such file, which reading will tell."""
        if self.size is not None:
            return self.size
        try:
            return (os.stat(self.path).st_size if self.end is None else self.end) - self.start  # noqa: PTH116
        except OSError:
            return 0

    def whole(self) -> Shard:
        """Return the file that this is a part of."""
        return self if self.is_whole else self._replace(start=0, end=None, first=0, lines=0, points=(), size=None)


def find_shards(
    root: str | Path,
    texts: Iterable[Mapping[str, Any]],
    shard_bytes: int,
    key: str = "corpus.texts",
    tell: Callable[[str], object] | None = None,
    manifest: str | Path | None = None,
    *,
    look: bool = True,
) -> dict[str, Shard]:
    """Return the files that the entries of `corpus.texts` name, and their parts, by the name of their results.

    Args:
        root: `corpus.root`, the folder that paths and patterns start from.
        texts: entries with `files` (a path, pattern or folder), and the other keys of the schema; what is left out has
            the schema's default.
        shard_bytes: size of a part, on the disk. Those of plain text are `[0, shard_bytes)`, `[shard_bytes, 2 *
            shard_bytes)` and so on; the last one has half as much to one and a half times as much. Other files are cut
            at the first place after these where they can be (`prasanga.sentences.manifest`).
        key: where in the config the entries stand, for messages.
        tell: gets a sentence about files that are left out, since a link is another name of a file that is read, and
            about large ones that cannot be cut; None for the log.
        manifest: where it is remembered at which places large files can be cut (`cuts_of`), and which files a URL
            names; None for nowhere.
        look: whether to ask the servers which files a URL names, or to take what is remembered.

    Raises:
        InputError: if an entry names no file, or leads out of the root; a folder has no text in it or may not be
            searched, a file is named twice, or two files would get the same name.
    """
    try:
        texts = list(texts)

        def say(sentence: str) -> None:
            (tell or logger.warning)(f"{key}: {sentence}")

        def remote(pattern: str) -> list[RemoteFile]:
            return remote_files(manifest, pattern, look=look)

        return _cut(_find_files(root, texts, say, remote), texts, shard_bytes, manifest, say)
    except OSError as error:
        raise InputError(
            f"{key}: {str(error.filename or root)[:200]!r} is out of reach ({error.strerror}). Let yourself search the"
            " folders on the way (`chmod u+x`), or name files elsewhere."
        ) from None
    except InputError as error:
        if not os.path.isdir(root):  # noqa: PTH112 - Path's raises where it may not look
            raise InputError(
                f"corpus.root is {str(root)!r}, which is no folder. Write the folder that `{key}` starts from."
            ) from None
        raise InputError(str(error).replace("corpus.texts", key)) from None


def _find_files(
    root: str | Path,
    texts: Sequence[Mapping[str, Any]],
    tell: Callable[[str], object],
    remote: Callable[[str], list[RemoteFile]],
) -> dict[str, Shard]:
    """Return the files, whole, by name."""
    shards: dict[str, Shard] = {}
    real: dict[str, str] = {}  # what a file is called of which links make others
    for number, text in enumerate(texts):
        columns = text.get("columns", {})
        like = Shard(
            path="",
            source="",
            documents=text.get("documents", "blank-line"),
            field=text.get("field", "text"),
            columns=(columns.get("stimulus", "word"), columns.get("sentence", "sentence")),
            text=number,
            inflation=text.get("inflation", INFLATION),
        )
        if is_remote(text["files"]):
            files = remote(text["files"])
            found = [like._replace(path=url, source=url, format="parquet", size=size) for url, size, _ in files]
        else:
            found = _local_files(Path(root), text, tell, real, like)
        for whole in found:
            name = _name(whole.source)
            if name in shards:
                raise _named_twice(whole, shards[name], texts)
            shards[name] = whole
    return shards


def _local_files(
    root: Path,
    text: Mapping[str, Any],
    tell: Callable[[str], object],
    real: dict[str, str],
    like: Shard,
) -> list[Shard]:
    """Return the files of an entry, `like` it but for path, source and format; `real` gets where each lies."""
    pattern = text["files"]
    if ".." in PurePosixPath(pattern).parts:
        raise InputError(
            f"corpus.texts: the pattern {pattern!r} leads out of corpus.root. Write the folder that it starts from as"
            " `corpus.root`, and a pattern below that."
        )
    found = _files(root, pattern, text.get("format", "auto"))
    places = _places(root, [source for source, _ in found])
    kept = _once(root, places, tell)
    for source in (source for source, _ in found if source in kept):
        if (other := real.setdefault(places[source], source)) != source:
            raise InputError(
                f"corpus.texts: the files {other!r} and {source!r} are one and the same, by a link. Change the"
                f" pattern {text['files']!r}, so that it counts once."
            )
    its_path = {source: _below(root, source) for source in kept}
    is_auto = text.get("format", "auto") == "auto"
    return [
        like._replace(
            path=its_path[source],
            source=source,
            format=_by_content(its_path[source], source, like.inflation) if is_auto and its == "text" else its,
        )
        for source, its in found
        if source in kept
    ]


def _by_content(path: str, source: str, inflation: int) -> Format:
    """Return the format of a file that has the name of a text: JSON lines are read as such."""
    found = json_in_text(path, inflation)
    if found == "other":
        raise InputError(
            f"corpus.texts: the file {source!r} holds JSON, but not one object per line. Write one object per line (`jq"
            " -c '.[]'` for an array, `jq -c .` for objects) and `format: jsonl, field: text`; to read the JSON itself"
            " as text, write `format: text`."
        )
    return "jsonl" if found == "lines" else "text"


def _named_twice(one: Shard, other: Shard, texts: Sequence[Mapping[str, Any]]) -> InputError:
    named = "named by two patterns" if other.source == one.source else f"named like {other.source!r}"
    return InputError(
        f"corpus.texts: the file {one.source!r} is {named}; each file needs a name of its own, once."
        f" Change the pattern {texts[one.text]['files']!r} or rename the file."
    )


def require_apart(shards: Mapping[str, Shard], supplement: Mapping[str, Shard]) -> None:
    """Refuse a file that stands in both: its sentences would count twice.

    Raises:
        InputError: with the file.
    """
    real = {Path(shard.path).resolve() for shard in shards.values()} if supplement else set()
    both = {shard.source for shard in supplement.values() if Path(shard.path).resolve() in real}
    if both:
        raise InputError(
            f"corpus.supplement: the file {min(both)!r} is in `corpus.texts` as well, so that its sentences would count"
            " twice. Take it out of one of them."
        )


def _places(root: Path, sources: Sequence[str]) -> dict[str, str]:
    """Return the real path of each file, whatever links lead to it."""
    places: dict[str, str] = {}
    for source in sources:
        path = _below(root, source)
        if not stat.S_ISREG(os.lstat(path).st_mode):
            _require_file(path)
        places[source] = os.path.realpath(path)
    return places


def _cut(
    files: Mapping[str, Shard],
    texts: Sequence[Mapping[str, Any]],
    shard_bytes: int,
    manifest: str | Path | None,
    say: Callable[[str], object],
) -> dict[str, Shard]:
    """Return the parts of files; a file that is not large, or cannot be cut, is one."""
    sizes = {name: whole.bytes_on_disk for name, whole in files.items()}
    large = {name for name, size in sizes.items() if 2 * size >= 3 * shard_bytes}
    cuts = cuts_of(manifest, [files[name] for name in files if name in large])
    shards: dict[str, Shard] = {}
    for name, whole in files.items():
        parts = {name: whole}
        if name in large:
            found = cuts.get(whole.path) or _cuts_of_plain(whole, sizes[name], shard_bytes)
            parts = dict(_parts(name, whole, sizes[name], found, shard_bytes))
        for part in parts:
            if part in shards or (part != name and part in files):
                raise _named_twice(whole, shards.get(part) or files[part], texts)
        shards |= parts
    uncut = [name for name in files if name in large and name in shards]
    if uncut:
        name = max(uncut, key=sizes.__getitem__)
        more = f" (and {len(uncut) - 1} more)" if len(uncut) > 1 else ""
        say(
            f"the file {files[name].source!r} of {sizes[name] / 1e6:,.0f} MB{more} is read by one job, since it cannot"
            " be cut: a compressed file needs several members (bgzip) or frames (zstd), Parquet several row groups"
            " (docs/my_text.md)."
        )
    return shards


def parts_of(whole: Shard, part_bytes: int) -> list[Shard]:
    """Return a file of plain text in parts of about so many bytes; any other file whole."""
    size = whole.bytes_on_disk
    return [part for _, part in _parts("", whole, size, _cuts_of_plain(whole, size, part_bytes), part_bytes)]


def _cuts_of_plain(whole: Shard, size: int, shard_bytes: int) -> list[Cut]:
    if whole.format != "text" or PurePosixPath(whole.path).suffix.lower() in COMPRESSED:
        return []
    return [Cut(place, place) for place in range(0, size, shard_bytes)]


def _parts(name: str, whole: Shard, size: int, cuts: Sequence[Cut], shard_bytes: int) -> Iterator[tuple[str, Shard]]:
    borders = [None, *chosen(cuts, size, shard_bytes), None]
    if len(borders) == 2:
        yield name, whole
        return
    for number, (begin, end) in enumerate(pairwise(borders)):
        around = points_of(cuts, begin, end) if PurePosixPath(whole.path).suffix.lower() in COMPRESSED else ()
        start, first, lines = (begin.start, begin.first, begin.lines) if begin else (0, 0, 0)
        of_part = (end.place if end else size) - (begin.place if begin else 0)
        yield (
            f"{name}.part{number:04d}",
            whole._replace(start=start, end=end and end.start, first=first, lines=lines, points=around, size=of_part),
        )


def _require_file(path: str) -> None:
    """Refuse a link that leads nowhere, and a pipe or device with the name of a text."""
    problem: str | None = "it is a pipe or a device"
    try:
        if stat.S_ISREG(Path(path).stat().st_mode):
            return
    except OSError as error:
        problem = error.strerror
    raise InputError(
        f"corpus.texts: the file {path!r} cannot be read ({problem}). Put a file there, or take it out of the pattern."
    )


# ---- files


def _files(root: Path, pattern: str, wanted: Format | Literal["auto"]) -> list[tuple[str, Format]]:
    """Return the files of one entry, relative to `root`, each with its format; in order, each once."""
    if Path(root, pattern).is_dir():
        by_ending = "text" if wanted == "word" else wanted
        found = [
            (file, its_format if wanted == "auto" else wanted)
            for file, its_format in _in_folder(root, PurePosixPath(pattern))
            # a pickle in a folder is more often a program's than a text
            if (its_format != "pickle" if wanted == "auto" else its_format == by_ending)
        ]
        if not found:
            kind = "text" if wanted == "auto" else f"file of the format {wanted}"
            known = [ending for ending, its in _FORMATS.items() if by_ending in ("auto", its)]
            raise InputError(
                f"corpus.texts: there is no {kind} in the folder {pattern!r} under corpus.root {str(root)!r}. Read are"
                f" files that end in {', '.join(known)} (plain or with {', '.join(COMPRESSED)}) and are not hidden."
                " Name another folder, or write a pattern such as `folder/**/*.dat` for files of other endings."
            )
    else:
        found = []
        one = [PurePosixPath(pattern).as_posix()] if Path(root, pattern).is_file() else None
        for path in one or _walk(root, PurePosixPath(pattern)):
            if os.path.isfile(_below(root, path)):  # noqa: PTH113 - as in _names
                found.append((path, (_known_format(path) or "text") if wanted == "auto" else wanted))
            elif wanted == "dataset" and _is_dataset(Path(root, path)):
                found += _in_folder(root, PurePosixPath(path))
        if not found:
            raise InputError(
                f"corpus.texts: no file fits {pattern!r} under corpus.root {str(root)!r}, which is {root.absolute()}."
                " Allowed is a path, a folder or a pattern such as `texts/*.txt`, relative to corpus.root. Write one"
                " that names your files."
            )
    require_no_braces(source for source, _ in found)
    for source, _ in found:
        try:
            source.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"corpus.texts: the name of the file {source!r} is not UTF-8, so that no result can name it. Rename it."
            ) from None
    return found


def _in_folder(root: Path, folder: PurePosixPath) -> list[tuple[str, Format]]:
    """Return the files of a folder and its subfolders that are known by their ending, and those of data sets in it."""
    found: list[tuple[str, Format]] = []
    alone = _is_dataset(Path(root, folder))
    for path in [str(folder)] if alone else _walk(root, PurePosixPath("**"), folder, whole=_is_dataset):
        its_format = _known_format(path)
        if os.path.isdir(_below(root, path)):  # noqa: PTH112 - as in _names
            if _is_dataset(Path(root, path)):
                found += [(posixpath.join(path, name), "dataset") for name in _files_of_dataset(Path(root, path))]
        elif its_format is not None:
            found.append((path, its_format))
    return found


def _walk(
    root: Path,
    pattern: PurePosixPath,
    start: PurePosixPath | None = None,
    whole: Callable[[Path], bool] = lambda _: False,
) -> list[str]:
    """Return the files and folders that fit a pattern, sorted.

    Links to folders are followed, since a corpus often lies behind one; but a folder is looked at once for each part of
    the pattern, however many links lead to it, so that neither a circle of them nor many `**` take for ever. Of the
    ways to a folder, one without links counts.

    Args:
        root: where paths start.
        pattern: as `glob` has it: `**` is any number of folders, and only a part with a dot fits hidden names.
        start: a folder below the root, which the pattern starts from; None for the root, or that of an absolute one.
        whole: says which folders `**` does not take apart.

    Raises:
        InputError: a folder on the way may not be read; more than `MOST_NAMES` names on the way.
    """
    parts = pattern.parts
    if pattern.is_absolute():
        start, parts = PurePosixPath(parts[0]), parts[1:]
    start = start or PurePosixPath()
    found: set[tuple[tuple[str, ...], str, str]] = set()  # in their order, and as a path
    seen: set[tuple[int, int, int]] = set()
    looked_at = 0
    ways = (deque([(start, 0)] if Path(root, start).is_dir() else []), deque[tuple[PurePosixPath, int]]())
    while any(ways):
        by_link = not ways[0]
        folder, number = ways[by_link].popleft()
        status = Path(root, folder).stat()
        if (place := (status.st_dev, status.st_ino, number)) in seen:
            continue
        seen.add(place)
        part, is_last = parts[number], number + 1 == len(parts)
        if part == "**" and not is_last:
            ways[by_link].append((folder, number + 1))
        names = _names(Path(root, folder), part)
        looked_at += len(names)
        if looked_at > MOST_NAMES:
            raise InputError(
                f"corpus.texts: below {str(Path(root, start))!r} are more than {MOST_NAMES} files and folders on the"
                f" way to what fits {str(pattern)!r}. Write a folder or a pattern that has fewer."
            )
        prefix, parts_of_folder = "" if folder == PurePosixPath() else f"{folder}/".replace("//", "/"), folder.parts
        for name in names:
            path = _below(root, prefix + name)
            if is_last:
                found.add((parts_of_folder, name, prefix + name))
            if os.path.isdir(path) and not (whole(Path(path)) if part == "**" else is_last):  # noqa: PTH112
                ways[by_link or Path(path).is_symlink()].append((folder / name, number + (part != "**")))
    return [path for _, _, path in sorted(found)]


def _below(root: Path, source: str) -> str:
    """Return a path, as `Path(root, source)` would, in less time."""
    return source if source.startswith("/") or root == Path() else f"{root.as_posix().rstrip('/')}/{source}"


def _names(folder: Path, part: str) -> list[str]:
    """Return the names in a folder that fit a part of a pattern, sorted."""
    if not glob.has_magic(part):
        return [part] if os.path.lexists(folder / part) else []  # false where it may not be looked at
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError as error:
        raise InputError(
            f"corpus.texts: the folder {str(folder)!r} cannot be read ({error.strerror}). Let yourself read it, or"
            " write a pattern that leaves it out."
        ) from None
    shown = [name for name in names if part.startswith(".") or not name.startswith(".")]
    return shown if part == "**" else fnmatch.filter(shown, part)


def _once(root: Path, places: Mapping[str, str], tell: Callable[[str], object]) -> set[str]:
    """Return those files of an entry that are not another by a link; `tell` gets the rest."""
    base, kept = root.resolve().as_posix(), dict[str, str]()
    for source in sorted(places, key=lambda source: places[source] != posixpath.join(base, source)):
        kept.setdefault(places[source], source)
    others = [source for source in places if kept[places[source]] != source]
    if others:
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        first, same = others[0], kept[places[others[0]]]
        tell(f"the file {first!r} is {same!r} by a link{more}, and counts once.")
    return set(kept.values())


# ---- data sets of Hugging Face


def _is_dataset(folder: Path) -> bool:
    """Return whether `datasets` saved a data set, or several splits of one, as this folder."""
    if (folder / "dataset_dict.json").is_file():
        return True
    marked = any((folder / name).is_file() for name in ("state.json", "dataset_info.json"))
    return marked and any(folder.glob("data*.arrow"))


def _files_of_dataset(folder: Path, *, is_split: bool = False) -> list[str]:
    """List the Arrow files of a data set, relative to the folder, in the order in which they follow each other."""
    if (folder / "dataset_dict.json").is_file() and not is_split:
        splits = _names_in(folder / "dataset_dict.json", "splits")
        return [f"{name}/{file}" for name in splits for file in _files_of_dataset(folder / name, is_split=True)]
    state = folder / "state.json"
    if not state.is_file():
        names = sorted(path.name for path in folder.glob("data*.arrow"))
    else:
        if _names_in(state, "_indices_data_files", required=False):
            raise InputError(
                f"{state}: this data set is a selection from its files (`_indices_data_files`). Save it with"
                " `dataset.flatten_indices().save_to_disk(...)`, so that the files hold what it consists of."
            )
        names = _names_in(state, "_data_files")
    missing = [name for name in names if not (folder / name).is_file()]
    if missing or not names:
        raise InputError(
            f"{folder}: the data set has no file {missing[0] if missing else 'data-*.arrow'!r}, which it should consist"
            " of. Fetch it or save it again, or take it out of `corpus.texts`."
        )
    return names


def _names_in(path: Path, key: str, *, required: bool = True) -> list[str]:
    """Return the names under a key, texts or mappings with a `filename`: of files and folders beside the file."""
    try:
        with open_whole(path) as file:
            value = json.load(file)
        named = (value[key] if required else value.get(key)) or []
        names = [each["filename"] if isinstance(each, dict) else each for each in named]
        if not isinstance(named, list) or any(
            not isinstance(name, str) or "/" in name or name in ("", ".", "..") for name in names
        ):
            raise ValueError(f"{key} holds something else than names of files and folders beside it")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: cannot be read as what the library datasets writes ({type(error).__name__}: {reason(error)})."
            " Save the data set again, or name its files by a pattern such as `folder/*.arrow`."
        ) from None
    return names


# ---- names


def _endings(source: str) -> tuple[str, str]:
    """Return what kind of file the name speaks of, and how it is compressed: `('.txt', '.gz')`; either may be empty."""
    name = source.rpartition("/")[2]
    last = _suffix(name)
    compression = last if last.lower() in COMPRESSED else ""
    return _suffix(name.removesuffix(compression)) if compression else last, compression


def _suffix(name: str) -> str:
    """Return the ending of a name, as `PurePath.suffix` does, in less time."""
    at = name.rfind(".")
    return name[at:] if 0 < at < len(name) - 1 else ""


def _known_format(source: str) -> Format | None:
    """Return the format by the ending; None for an unknown one."""
    kind, compression = _endings(source)
    if not kind and compression:
        return "text"
    return _FORMATS.get(kind.lower())


def _name(source: str) -> str:
    """Make a name for the results: the path without its ending.

    It has nothing in it but letters, digits, - _ and dots.
    """
    kind, compression = _endings(source)
    stem = source.removesuffix(compression).removesuffix(kind if kind.lower() in _FORMATS else "")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.")
    if stem.isascii() and name and len(name) <= _LONGEST_NAME:
        return name
    name = name[:_LONGEST_NAME].rstrip("-.")
    # A path in Bangla would lose all of its letters, and be named like any other.
    digest = hashlib.blake2b(stem.encode(), digest_size=4).hexdigest()
    return f"{name}-{digest}".strip("-")


# --------------------
# What all sentence files of a study have in common, for the files that are made from them.


_COMMON = ("language", "normalization", "replacements", "match", "neighbours", "before", "after")


def common_settings(paths: Sequence[str | Path]) -> dict[str, Any]:
    """Return the settings that the sentences of `paths` were found with.

    These are language, normalization, replacements, match, neighbours, before and after.

    Raises:
        InputError: if two files were made with different ones; the message names the file and the setting.
    """
    common: dict[str, Any] = {}
    for path in paths:
        settings = json.loads(made_from(path).get("settings", "{}"))
        its = {key: settings[key] for key in _COMMON if key in settings}
        common = common or its
        for key, value in its.items():
            if value != common[key]:
                raise InputError(
                    f"{path}: found with {key} {value!r}, but {paths[0]} with {common[key]!r}. These files do not"
                    " belong to one run: delete the one that does not fit and run the workflow again."
                )
    return common
