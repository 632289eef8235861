"""List the files of a corpus, and cut each into parts.

Planning reads names, sizes, the first bytes of each file and, for a large Parquet file, its footer. Plain text is cut
at line ends, Parquet between row groups; any other file is one part.
"""

from __future__ import annotations

import glob
import hashlib
import json
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from pathlib import Path, PurePosixPath
from typing import Any, cast

import pyarrow.parquet as pq

from prasanga.base.errors import InputError, reason
from prasanga.base.formats import COMPRESSED, find_compression, recognize_file, refuse
from prasanga.base.io import made_from, read_document, write_document
from prasanga.base.places import require_no_braces
from prasanga.sentences.corpus import (
    Errors,
    Format,
    RemoteFile,
    Shard,
    explaining,
    find_remote,
    is_remote,
    open_columns,
)
from prasanga.sentences.records import FORMATS, read_records

logger = logging.getLogger(__name__)

SENTENCES_VERSION = 1
"""Raise this number when a change finds other sentences or draws other segments: the corpus is then read again."""
_LONGEST_NAME = 120  # a file name may have 255 bytes, with its ending and the addition of a temporary name
_MOST_FAULTS = 10  # files that a message names


def find_shards(
    root: str | Path,
    texts: Iterable[Mapping[str, Any]],
    shard_bytes: int,
    key: str = "corpus.texts",
    tell: Callable[[str], object] | None = None,
    remembered: str | Path | None = None,
    *,
    look: bool = True,
) -> dict[str, Shard]:
    """Return the parts of the files that the entries of `corpus.texts` name, by the name of their results.

    Args:
        root: `corpus.root`, the folder that paths and patterns start from.
        texts: entries with `files` (a path, pattern or folder), and optionally the other keys of the config.
        shard_bytes: size of a part, on disk. Parts of plain text are `[0, shard_bytes)`, `[shard_bytes, 2 *
            shard_bytes)` and so on; the last has half to one and a half times as much.
        key: the config key of the entries, for messages.
        tell: called with a sentence about files that are left out because they are links to others, and about large
            files that cannot be cut; None for the log.
        remembered: a JSON file that keeps the servers' answers for the jobs of the run; None without one.
        look: whether to ask the servers; otherwise the remembered answers count.

    Raises:
        InputError: an entry names no file; a folder has no text or cannot be searched; a file is named twice, or two
            files would get the same name; files are empty, or of a format that is refused.
    """
    texts = list(texts)

    def say(sentence: str) -> None:
        (tell or logger.warning)(f"{key}: {sentence}")

    try:
        servers = _Servers(remembered, look)
        return _cut(_find_files(Path(root), texts, say, servers), shard_bytes, say, servers)
    except OSError as error:
        raise InputError(
            f"{key}: {str(error.filename or root)[:200]!r} is unreachable ({error.strerror}). Let yourself search the"
            " folders on the way (`chmod u+x`), or name files elsewhere."
        ) from None
    except UnicodeEncodeError as error:
        raise InputError(
            f"{key}: the name of the file {error.object!r} is not UTF-8, so results cannot use it. Rename it."
        ) from None
    except InputError as error:
        if not os.path.isdir(root):  # noqa: PTH112 - Path's raises for unreadable folders
            raise InputError(
                f"corpus.root is {str(root)!r}, which is not a folder. Write the folder that `{key}` starts from."
            ) from None
        raise InputError(str(error).replace("corpus.texts", key)) from None


def require_apart(shards: Mapping[str, Shard], supplement: Mapping[str, Shard]) -> None:
    """Refuse a file in both corpus and supplement: its sentences would count twice.

    Raises:
        InputError: a file is in both.
    """
    real = {os.path.realpath(shard.path) for shard in shards.values()} if supplement else set()
    both = {shard.source for shard in supplement.values() if os.path.realpath(shard.path) in real}
    if both:
        raise InputError(
            f"corpus.supplement: the file {min(both)!r} is also in `corpus.texts`, so its sentences would count twice."
            " Take it out of one of them."
        )


# --------------------
# Files.


def _find_files(
    root: Path,
    texts: Iterable[Mapping[str, Any]],
    say: Callable[[str], object],
    servers: _Servers,
) -> dict[str, Shard]:
    """Return the files, whole, by name."""
    found, faults = list[Shard](), dict[str, str]()
    for number, text in enumerate(texts):
        columns = text.get("columns", {})
        like = Shard(
            path="",
            source="",
            documents=text.get("documents", "blank-line"),
            field=text.get("field", "text"),
            columns=(columns.get("stimulus", "word"), columns.get("sentence", "sentence")),
            text=number,
        )
        if is_remote(text["files"]):
            found += [
                like._replace(path=url, source=url, format="parquet", size=size, state=state)
                for url, size, state in servers.find(text["files"])
            ]
        else:
            found += _find_local(root, text, like, faults)
    shards: dict[str, Shard] = {}
    real = {whole.path: whole.path if is_remote(whole.path) else os.path.realpath(whole.path) for whole in found}
    own: dict[str, Shard] = {}  # of several names of a file, the one without links
    for whole in sorted(found, key=lambda whole: real[whole.path] not in (whole.path, os.path.abspath(whole.path))):  # noqa: PTH100
        own.setdefault(real[whole.path], whole)
    links = [whole for whole in found if own[real[whole.path]].path != whole.path]
    if links:
        more = f" (and {len(links) - 1} more)" if len(links) > 1 else ""
        say(f"the file {links[0].source!r} is {own[real[links[0].path]].source!r} by a link{more}, and counts once.")
    for whole in (whole for whole in found if own[real[whole.path]].path == whole.path):
        name = _name(whole.source)
        if name in shards:
            same = shards[name].source == whole.source
            named = "named by two patterns" if same else f"named like {shards[name].source!r}"
            raise InputError(
                f"corpus.texts: the file {whole.source!r} is {named}; each file needs a name of its own, once. Change"
                " the pattern or rename the file."
            )
        shards[name] = whole
    if said := [faults[whole.path] for whole in shards.values() if whole.path in faults]:
        rest = [f"and {len(said) - _MOST_FAULTS} more."] if len(said) > _MOST_FAULTS else []
        raise InputError("corpus.texts: " + "\n  ".join([*said[:_MOST_FAULTS], *rest]))
    return shards


def _find_local(root: Path, text: Mapping[str, Any], like: Shard, faults: dict[str, str]) -> list[Shard]:
    """Return the local files of an entry; add a file's fault to `faults`, by path."""
    named, shards = _list_files(root, text["files"], text.get("format", "auto")), list[Shard]()
    require_no_braces(named)
    for source, by_name in named.items():
        path = (root / source).as_posix()
        status = os.stat(path)  # noqa: PTH116
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"corpus.texts: {source!r} is a pipe or a device. Put a file there, or leave it out.")
        chosen, fault = _choose_format(path, text, by_name)
        if fault:
            faults[path] = f"the file {source!r} {fault}"
        shards.append(like._replace(path=path, source=source, format=chosen, size=status.st_size))
    return shards


def _list_files(root: Path, pattern: str, wanted: Any) -> dict[str, Format]:
    """Return the files of one entry, relative to `root`, sorted, each with its format."""
    if ".." in PurePosixPath(pattern).parts:
        raise InputError(
            f"corpus.texts: the pattern {pattern!r} leads out of corpus.root. Write the folder that it starts from as"
            " `corpus.root`, and a pattern below that."
        )
    is_folder, is_file = (root / pattern).is_dir(), (root / pattern).is_file()
    found: dict[str, Format] = {}
    names = (
        [PurePosixPath(pattern).as_posix()] if is_folder or is_file else sorted(set(_find(root, pattern)), key=_order)
    )
    for name in names:
        if not (root / name).is_dir():
            found[name] = _format_by_name(name) or "text" if wanted == "auto" else wanted
        elif is_folder or wanted == "dataset":
            found |= _list_folder(root, name, wanted)
    if not found and is_folder:
        kind = "text" if wanted == "auto" else f"file of the format {wanted}"
        raise InputError(
            f"corpus.texts: there is no {kind} in the folder {pattern!r} under corpus.root {str(root)!r}. A folder"
            f" counts for its visible files that end in {', '.join(FORMATS)} (plain or with {', '.join(COMPRESSED)})."
            " Name another folder, or write a pattern such as `folder/**/*.dat`."
        )
    if not found:
        raise InputError(
            f"corpus.texts: no file fits {pattern!r} under corpus.root {str(root)!r}, which is {root.absolute()}."
            " Write a path, a folder or a pattern such as `texts/*.txt`, relative to corpus.root."
        )
    return found


def _order(name: str) -> tuple[tuple[str, ...], str]:
    """Return a sort key that puts the files of a folder before its subfolders."""
    return PurePosixPath(name).parent.parts, PurePosixPath(name).name


def _find(root: Path, pattern: str) -> Iterator[str]:
    """Yield the files and folders that fit a pattern with `**` for any number of folders, as `glob` does.

    `glob` itself would never end with a circle of links.
    """
    before, stars, after = re.sub(r"(\*\*/)+", "**/", pattern).partition("**")
    if not stars:
        yield from glob.iglob(pattern, root_dir=root)  # noqa: PTH207
        return
    for base in glob.iglob(before or "./", root_dir=root):  # noqa: PTH207
        for folder in _walk(root / base):
            for name in _find(folder, after.removeprefix("/") or "*"):
                found = folder / name
                yield (found if pattern.startswith("/") else found.relative_to(root)).as_posix()


def _walk(base: Path) -> Iterator[Path]:
    """Yield a folder and its subfolders, each once; those reached without a link come first."""
    folders, links, seen = [base], list[Path](), set[tuple[int, int]]()
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        yield folder
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_dir() and not entry.name.startswith("."):
                (links if entry.is_symlink() else folders).append(Path(entry.path))


def _list_folder(root: Path, folder: str, wanted: Any) -> dict[str, Format]:
    """Return the files with known endings in a folder and its subfolders."""
    by_ending = {"word": "text", "extracted": "table", "json": "jsonl"}.get(wanted, wanted)
    prefix = "" if folder in (".", "") else PurePosixPath(folder).as_posix() + "/"
    found: dict[str, Format] = {}
    for name in sorted(_find(root / folder, "**"), key=_order):
        known, path = _format_by_name(name), root / folder / name
        if not known or path.is_dir() or (known == "dataset" and not _is_data(path)):
            continue
        # a pickle in a folder is more likely a program's than a text
        if known != "pickle" if wanted == "auto" else known == by_ending:
            found[prefix + name] = known if wanted == "auto" else wanted
    return found


def _is_data(file: Path) -> bool:
    """Return whether an Arrow file has texts; the datasets library saves other files in the same folder.

    Raises:
        InputError: the data set is a selection from its files, or its list of files cannot be read.
    """
    state_file = file.with_name("state.json")
    if not state_file.is_file():
        return file.name.startswith("data") or not file.with_name("dataset_info.json").is_file()
    problem, names = "", list[str]()
    try:
        state = json.loads(state_file.read_text(encoding="utf-8"))
        names = [each["filename"] for each in state["_data_files"]]
        missing = [name for name in names if not file.with_name(name).is_file()]
        if state.get("_indices_data_files"):
            problem = "is a selection from its files"
        elif missing:
            problem = f"lacks the file {missing[0]!r}, which is one of its parts"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"cannot be read in the format of the datasets library ({reason(error)})"
    if problem:
        raise InputError(
            f"{state_file}: the data set {problem}. Save it again with `dataset.flatten_indices().save_to_disk(...)`,"
            " or name its files by a pattern such as `folder/*.arrow`."
        )
    return file.name in names


def _choose_format(path: str, text: Mapping[str, Any], by_name: Format) -> tuple[Format, str]:
    """Return the format for reading a file, and its fault if it cannot be read; the config takes precedence."""
    try:
        content = recognize_file(path, text.get("field", "text"))
    except InputError as error:
        return by_name, str(error).removeprefix(path).lstrip(": ")
    stated, kind, refusal = text.get("format", "auto"), content.kind, refuse(content)
    chosen = by_name if stated != "auto" or refusal or kind == "text" else cast(Format, kind)
    if chosen == "table" and stated == "auto":
        columns = {*text.get("columns", {"stimulus": "word", "sentence": "sentence"}).values()}
        chosen = "extracted" if columns <= {*content.columns} else "table"
    if content.compression and chosen in ("parquet", "dataset"):
        return chosen, "is compressed as a whole. Decompress it, and name the new file."
    is_text = content.is_text and not (refusal and stated == "auto") and chosen not in ("parquet", "dataset")
    if kind == chosen or is_text or (kind == "binary" and chosen == "pickle"):
        return chosen, ""
    if refusal:
        return chosen, refusal + " To read it unchanged, write `format: text` in its entry." * content.is_text
    return chosen, f"is {kind}, not {chosen}. Write `format: {kind}` in its entry, or rename it."


def find_faults(files: Iterable[Shard], errors: Errors = "stop") -> list[str]:
    """Return the faults of files that a plan can see, by reading the first record of each.

    These are wrong or missing columns and fields, files without text, and bytes that are not UTF-8. `find_shards` has
    checked the format of every file, so a few dozen files are enough here.

    Args:
        files: whole files, such as `TextsPlan.sampled_files()`; remote ones are skipped.
        errors: as in `read_records`.
    """
    faults = list[str]()
    for shard in files:
        try:
            if not is_remote(shard.path):
                next(read_records(shard.whole(), errors), None)
        except InputError as error:
            faults.append(str(error))
    return faults


class _Servers:
    """The servers' descriptions of their files, kept for the jobs of a run."""

    def __init__(self, remembered: str | Path | None, look: bool) -> None:
        self._place, self._look = remembered, look
        self._known = read_document(remembered) if remembered and Path(remembered).exists() else {}

    def find(self, pattern: str) -> list[RemoteFile]:
        """Return the files that a URL names (`find_remote`)."""
        if self._look or pattern not in self._known:
            self._remember(pattern, find_remote(pattern))
        return [RemoteFile(*file) for file in self._known[pattern]]

    def row_groups(self, whole: Shard) -> list[int]:
        """Return about how many bytes of a Parquet file precede each of its row groups."""
        key = f"{whole.path} {whole.state}"
        if not is_remote(whole.path):
            return _row_groups(whole)
        if key not in self._known:
            self._remember(key, _row_groups(whole))
        return list(self._known[key])

    def _remember(self, key: str, value: Any) -> None:
        self._known[key] = value
        if self._place:
            write_document(self._place, self._known)


# --------------------
# Parts of large files.


def _cut(
    files: Mapping[str, Shard], shard_bytes: int, say: Callable[[str], object], servers: _Servers
) -> dict[str, Shard]:
    """Return the parts of files; a file that is small or cannot be cut is one part."""
    shards: dict[str, Shard] = {}
    uncut: list[Shard] = []
    for name, whole in files.items():
        parts = {name: whole}
        if 2 * whole.bytes_on_disk >= 3 * shard_bytes:
            found = cut_file(whole, shard_bytes, servers.row_groups)
            if len(found) > 1:
                parts = {f"{name}.part{number:04d}": part for number, part in enumerate(found)}
            else:
                uncut.append(whole)
        shards |= parts
    if uncut:
        largest = max(uncut, key=lambda whole: whole.bytes_on_disk)
        more = f" (and {len(uncut) - 1} more)" if len(uncut) > 1 else ""
        say(
            f"the file {largest.source!r} of {largest.bytes_on_disk / 1e6:,.0f} MB{more} is read by one job: only"
            " plain text and Parquet with several row groups are cut (docs/my_text.md)."
        )
    return shards


def cut_file(whole: Shard, part_bytes: int, row_groups: Callable[[Shard], list[int]] | None = None) -> list[Shard]:
    """Return a file in parts of about `part_bytes` bytes: plain text by bytes, Parquet by row groups, others whole."""
    size = whole.bytes_on_disk
    n_parts = max(1, (size + part_bytes // 2) // part_bytes)
    if whole.format == "text" and not find_compression(whole.path):
        borders = [part * part_bytes for part in range(n_parts)]
        places = borders
    elif whole.format == "parquet" and n_parts > 1:
        groups = (row_groups or _row_groups)(whole)
        # the first row group that begins in each part, if any
        first = {min(place // part_bytes, n_parts - 1): number for number, place in reversed([*enumerate(groups)])}
        borders = sorted(first.values())
        places = [groups[number] for number in borders]
    else:
        return [whole]
    if len(borders) == 1:
        return [whole]
    ends = zip([*borders[1:], None], pairwise([*places, size]), borders, strict=True)
    return [whole._replace(start=start, end=end, share=until - place) for end, (place, until), start in ends]


def _row_groups(whole: Shard) -> list[int]:
    try:
        with explaining(whole.path), open_columns(whole.path) as source:
            metadata = pq.read_metadata(source)
    except InputError:
        return [0]  # the job that reads it reports the error
    sizes = [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]
    before = [0, *accumulate(sizes)]
    return [whole.bytes_on_disk * place // max(1, before[-1]) for place in before[:-1]] or [0]


# --------------------
# Names.


def _format_by_name(source: str) -> Format | None:
    """Return the format by the ending; None for an unknown one."""
    kind, compression = _endings(source)
    return "text" if compression and not kind else FORMATS.get(kind.lower())


def _endings(source: str) -> tuple[str, str]:
    """Return the endings of the format and the compression: `('.txt', '.gz')`; either may be empty."""
    path = PurePosixPath(source)
    if path.suffix.lower() in COMPRESSED:
        return PurePosixPath(path.stem).suffix, path.suffix
    return path.suffix, ""


def _name(source: str) -> str:
    """Return a name for the results: the path without its ending, with letters, digits, - _ and dots only."""
    kind, compression = _endings(source)
    stem = source.removesuffix(compression).removesuffix(kind if kind.lower() in FORMATS else "")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.")
    if stem.isascii() and name and len(name) <= _LONGEST_NAME:
        return name
    name = name[:_LONGEST_NAME].rstrip("-.")
    # a path in Bangla would lose all its letters, and collide with others
    digest = hashlib.blake2b(stem.encode(), digest_size=4).hexdigest()
    return f"{name}-{digest}".strip("-")


# --------------------
# Settings that all sentence files of a study share, for the files made from them.


_COMMON = ("language", "normalization", "replacements", "match", "neighbours", "before", "after")


def common_settings(paths: Iterable[str | Path]) -> dict[str, Any]:
    """Return the settings that the sentences of `paths` were found with (`_COMMON`).

    Raises:
        InputError: the settings of two files differ.
    """
    common: dict[str, Any] = {}
    for path in paths:
        settings = json.loads(made_from(path).get("settings", "{}"))
        its = {key: settings[key] for key in _COMMON if key in settings}
        if its != (common := common or its):
            raise InputError(
                f"{path}: found with the settings {its}, but the other files with {common}. These files do not belong"
                " to one run: delete the one that does not fit and run the workflow again."
            )
    return common
