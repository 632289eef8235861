"""Find the files that a study names: in its own folder or, if it has none of that name, in the installation.

A study is a folder, and the working directory of every process that works on it. The installation is a checkout, or
what a wheel has put beside the package: Snakefile, rules, scripts, schemas, profiles and `resources/`. It has another
path on every machine, and results must not: so a study reaches it by a link in its own folder (`SHIPPED`), and what it
takes from there has a path that is the same everywhere and says that the file was shipped. A file of `resources/` in
the study's folder takes precedence.

Further down: the store of vectors and scores that studies share.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import Any, TypeVar

from prasanga.base.errors import InputError

SHIPPED = ".snakemake/prasanga/shipped"
"""The link by which a study reaches the installation."""
_MERGED = ".snakemake/prasanga/merged"
"""Folders of links: what is shipped, with the files of the study's own before it."""
_RESOURCES = "resources"
_ABSOLUTE = re.compile(r"""(?:^|(?<=["']))/[^"'\\\n]+""")
"""An absolute path, by itself or in quotation marks."""
T = TypeVar("T")
NAMED = re.compile(
    rf"""(?<=["'])(?<!'source': ')(?:(?:{re.escape(SHIPPED)}|{re.escape(_MERGED)})/)?{_RESOURCES}/[^"'\\]+"""
)
"""A path in quotation marks to what may be shipped; the `source` of a text is its name below the root of the corpus."""


@cache
def installation() -> Path:
    """Return the folder with Snakefile, rules and resources that belongs to this package."""
    packages = Path(__file__).resolve().parents[2]
    of_wheel = packages / "prasanga_workflow"
    return of_wheel if of_wheel.is_dir() else packages.parent


def user_cache(name: str) -> Path:
    """Return a folder of this user's cache (`XDG_CACHE_HOME`) by its name; it need not be there."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - fails for no user
    return Path(home, "prasanga", name)


def link_installation(root: Path) -> None:
    """Let the study in the working directory reach the installation; in a checkout, which is both, nothing is linked.

    Raises:
        InputError: the link cannot be made.
    """
    link, root = Path(SHIPPED), root.resolve()
    try:
        if link.is_dir() and not link.is_symlink():  # the study was copied by a program that follows links
            shutil.rmtree(link)
        if root == Path.cwd().resolve():
            link.unlink(missing_ok=True)
        else:
            _lead(link, root)
    except OSError as error:
        raise InputError(
            f"{Path.cwd()}: nothing can be written in the study's folder ({error.strerror}), and Snakemake keeps notes"
            " there. Let yourself write (`chmod u+rwx`), make room, or take another folder."
        ) from None


def place(path: str) -> str:
    """Return the path to read for one that a config, or a default, names.

    Args:
        path: of a file or folder, absolute or from the study's folder.

    Returns:
        The same path if the study has it itself, or nothing of that name is shipped; a path by way of the link to the
        installation if it is shipped; and of a folder that is in both a folder of links, in which the study's own
        files take precedence.
    """
    shipped = Path(SHIPPED, path)
    if not _is_resource(path) or not shipped.exists():
        return path
    if not os.path.lexists(path):
        return shipped.as_posix()
    if shipped.is_dir() and Path(path).is_dir() and not shipped.samefile(path):
        return _merge(path)
    return path


def exists(path: str) -> bool:
    """Return whether the study has a file or folder of this name, or it is shipped."""
    return Path(place(path)).exists()


def files_in(folder: str, endings: Iterable[str]) -> list[str]:
    """Return the files with these endings of a folder that `place` may have returned, each by where it comes from."""
    names = sorted(path.name for path in Path(folder).iterdir() if path.suffix in set(endings))
    if not folder.startswith(f"{_MERGED}/"):
        return require_no_braces(str(Path(folder, name)) for name in names)
    return require_no_braces(place(f"{folder.removeprefix(f'{_MERGED}/')}/{name}") for name in names)


def require_no_braces(paths: Iterable[str]) -> list[str]:
    """Return paths that were found in a folder; Snakemake would fill in the parts in braces.

    Raises:
        InputError: the name of a file with braces.
    """
    found = list(paths)
    for path in found:
        if "{" in path or "}" in path:
            raise InputError(
                f"{path!r}: a name with braces, which Snakemake fills in. Rename it without `{{` and `}}`."
            )
    return found


def place_of_corpus(root: str, patterns: Iterable[str]) -> str:
    """Return the folder that patterns of texts start from: the installation's if all of them name what is shipped."""
    shipped, patterns = PurePosixPath(SHIPPED, root), list(patterns)
    named = bool(patterns) and all(_is_resource(PurePosixPath(root, pattern).as_posix()) for pattern in patterns)
    is_shipped = named and not any(_any(Path(root), each) for each in patterns)
    return shipped.as_posix() if is_shipped and all(_any(Path(shipped), each) for each in patterns) else root


def named(path: str) -> str:
    """Return what a config calls a path that `place` has returned."""
    return "." if path == SHIPPED else path.removeprefix(f"{SHIPPED}/").removeprefix(f"{_MERGED}/")


def said(path: str) -> str:
    """Return a path as a person knows it: what the config calls it and, if it is not the study's own, whose it is."""
    origins = {SHIPPED: "shipped with prasanga", _MERGED: "shipped with prasanga, but for files of the study's own"}
    whose = next((said for folder, said in origins.items() if path.startswith(f"{folder}/")), "")
    return f"{named(path)} ({whose})" if whose else path


def shareable(value: T, config: Mapping[str, Any]) -> T:
    """Return plain values without the folders of this machine, for what is sent to others; all if the config says so.

    Args:
        value: texts, lists and mappings; also JSON within a text.
        config: the study's. An absolute path of it is shown by its last name, and one below it from there on; any
            other one below the study's folder from there, and else by its last name. With `report: {paths: whole}`
            nothing is changed.
    """
    if config.get("report", {}).get("paths") == "whole":
        return value
    roots = sorted((text for text in _texts(config) if text.startswith("/")), key=len, reverse=True)
    here = Path.cwd().as_posix()

    def shown(found: re.Match[str]) -> str:
        path = PurePosixPath(found[0])
        root = next((root for root in roots if path.is_relative_to(root)), None)
        if path.is_relative_to(here):
            return path.relative_to(here).as_posix()
        return path.name if root is None else PurePosixPath(PurePosixPath(root).name, path.relative_to(root)).as_posix()

    def inside(value: Any) -> Any:
        if isinstance(value, str):
            return _ABSOLUTE.sub(shown, value)
        if isinstance(value, Mapping):
            return {inside(key): inside(each) for key, each in value.items()}
        return type(value)(map(inside, value)) if type(value) in (list, tuple) else value

    changed: T = inside(value)
    return changed


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _is_resource(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return parts[:1] == (_RESOURCES,) and ".." not in parts


def _any(root: Path, pattern: str) -> bool:
    return any(True for _ in root.glob(pattern))


def _merge(path: str) -> str:
    """Make, or bring up to date, the folder of links for a folder that study and installation both have."""
    folder = Path(_MERGED, path)
    wanted = {each.name: Path(SHIPPED, path, each.name) for each in Path(SHIPPED, path).iterdir()}
    wanted |= {each.name: Path(path, each.name) for each in Path(path).iterdir()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in wanted.items():
        _lead(folder / name, Path(os.path.relpath(target, folder)))
    for link in folder.iterdir():
        if link.name not in wanted:
            link.unlink()
    return folder.as_posix()


def _lead(link: Path, target: Path) -> None:
    """Let a link lead somewhere, perhaps to nothing yet; it is made in one step, in place of what is there."""
    if link.is_symlink() and link.readlink() == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    new = link.with_name(f".{link.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        new.unlink()
    new.symlink_to(target)
    new.replace(link)


# --------------------
# Where vectors and scores are kept that studies share.
#
# A study reaches the store by links in its own folder. Unless another is named it lies beside the studies, under a
# hidden name: patterns such as `studies/*` pass it over. It has a folder for vectors and one for scores, and in each a
# folder for every key (`prasanga.base.io`).


BESIDE = ".prasanga-store"
"""The store of studies that lie beside each other."""
_PARTS = {"results/store": "vectors", "results/likelihoods/kept": "scores"}
"""What a study keeps for later runs, and its name in a store that studies share."""
_TOLD = (
    *("layer", "pooling", "pieces", "sentence_vector"),
    *("dtype", "stored_dtype", "quantization", "random_weights"),
)
"""What tells one key of a model from another, where a person is told of it."""
_SHARDS = "[!.]*.parquet"
_WRITTEN = (".snakemake", "results", "logs", "benchmarks")
_DAY = 24 * 60 * 60
_PROBE = 1 << 20  # bytes: more than a full disk, or a quota, has left


def store_beside(study: Path) -> Path | None:
    """Return the store that a study shares with those beside it unless another is named.

    None where it has used a store before, or has kept both vectors and scores in its own folder; where it is the
    checkout itself, whose results are its own; and where nothing can be written beside it.
    """
    study = study.resolve()
    before = [study / name for name in _PARTS]
    if any(path.is_symlink() for path in before) or all(path.exists() for path in before):
        return None
    if study == installation().resolve():
        return None
    store = study.parent / BESIDE
    return store if os.access(store if store.exists() else store.parent, os.W_OK | os.X_OK) else None


def link_store(store: str) -> None:
    """Keep vectors and scores of the study in the working directory in a folder that studies share.

    Args:
        store: the folder; nothing is linked if it is empty, nor where a study has kept vectors of its own before.

    Raises:
        InputError: the folder cannot be used, or its path is relative; there is a file, or a link to nowhere, where the
            study keeps something.
    """
    if store and not Path(store).is_absolute():
        raise InputError(
            f"PRASANGA_STORE is {store!r}, a relative path, and Snakemake may be in another folder by now than the one"
            " that it was typed in. Write the whole path, or take `prasanga run --store`."
        )
    _require_folders(_WRITTEN)
    for name, inside in _PARTS.items() if store else ():
        link, folder = Path(name), Path(store, inside)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if link.is_symlink() or not link.is_dir():
                _lead(link, folder)
        except OSError as error:
            raise InputError(
                f"{folder}: this store cannot be used ({error.strerror}). Name another folder: `--store`, or the"
                " variable PRASANGA_STORE."
            ) from None
    _require_folders(_PARTS)


def _require_folders(names: Iterable[str]) -> None:
    """Refuse files and links to nowhere in place of the folders that a run writes in."""
    for path in map(Path, names):
        if path.is_symlink() and not path.exists():
            raise InputError(
                f"{path} leads to {str(path.readlink())!r}, which is not there: it was moved, deleted or is on a disk"
                f" that is not mounted. Bring it back, or delete the link (`rm {path}`); what is not found is computed"
                " again."
            )
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, and a study keeps a folder of that name. Move it, or rename it.")


def require_store() -> None:
    """Refuse to start models whose vectors and scores the study in the working directory could not keep.

    Raises:
        InputError: the store is read-only or full.
    """
    for name in _PARTS:
        folder = Path(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder) as file:
                file.write(bytes(_PROBE))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"{folder.resolve()}: nothing can be kept there ({error.strerror}), and vectors and scores are to be."
                " Make room, let yourself write, or name another store: `--store`."
            ) from None


@dataclass(frozen=True)
class Kept:
    """What is kept of one key: vectors of a model, or its scores.

    Attributes:
        folder: of the key.
        what: vectors or scores.
        model: its path or name on the hub; "" where the folder does not say it.
        details: what else tells it from others of the model, in words.
        shards: its files.
        n_bytes: of these.
        changed: when the newest of them was written, in seconds.
    """

    folder: Path
    what: str
    model: str
    details: str
    shards: tuple[Path, ...]
    n_bytes: int
    changed: float

    def is_unused(self, days: float) -> bool:
        """Return whether these are vectors to which nothing was added for so many days. Scores are small, and stay."""
        return self.what == "vectors" and self.changed < time.time() - days * _DAY


def parts_of(folder: Path) -> dict[str, Path]:
    """Return where vectors and scores are of a study, or of a store, or of the store beside the folders in it.

    Raises:
        InputError: the folder is none of these.
    """
    found = {what: folder / name for name, what in _PARTS.items() if (folder / name).exists()}
    for store in (folder, folder / BESIDE, folder.parent / BESIDE):
        found = found or {what: store / what for what in _PARTS.values() if (store / what).is_dir()}
    if not found:
        raise InputError(
            f"{folder}: no store there, and no study that has kept vectors or scores. Name one, or a store:"
            " `--directory FOLDER`."
        )
    return {what: place.resolve() for what, place in found.items()}


def list_store(folder: Path) -> list[Kept]:
    """Return what a store keeps, by model.

    Raises:
        InputError: as `parts_of`.
    """
    keys = [(key, what) for what, part in parts_of(folder).items() for key in part.iterdir() if key.is_dir()]
    found = [_kept(key, what) for key, what in keys if any(key.glob(_SHARDS))]
    return sorted(found, key=lambda kept: (kept.what, kept.model, kept.details, kept.folder))


def prune(kept: Iterable[Kept]) -> int:
    """Delete what is kept of these keys, and return how many bytes that frees; who asks for it computes it again."""
    freed = 0
    for each in kept:
        shutil.rmtree(each.folder, ignore_errors=True)
        freed += 0 if each.folder.exists() else each.n_bytes
    return freed


def _kept(folder: Path, what: str) -> Kept:
    shards, statuses = tuple(sorted(folder.glob(_SHARDS))), list[os.stat_result]()
    for shard in shards:
        with suppress(FileNotFoundError):  # merged into another meanwhile
            statuses.append(shard.stat())
    model, details = _described(folder)
    return Kept(
        folder=folder,
        what=what,
        model=model,
        details=details,
        shards=shards,
        n_bytes=sum(status.st_size for status in statuses),
        changed=max((status.st_mtime for status in statuses), default=0.0),
    )


def _described(folder: Path) -> tuple[str, str]:
    """Return the model and, in words, the settings that a key's folder tells of itself."""
    from prasanga.base.io import KEY

    try:
        said: dict[str, Any] = json.loads((folder / KEY).read_text(encoding="utf-8"))
        which = {**said, **((said.get("settings") or {}).get("which") or {})}  # a key of scores tells it there
        words = [f"{name} {which[name]}" for name in _TOLD if which.get(name) not in (None, "", "none", False)]
        return str(which.get("model") or which.get("path") or ""), ", ".join(words)
    except (OSError, ValueError, AttributeError, TypeError):
        return "", "its key.json cannot be read"
