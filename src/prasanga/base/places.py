"""Find the files that a study names: in its own folder or, if it lacks them, in the installation.

A study is a folder, and the working directory of every process that works on it. The installation is a checkout, or
the files that a wheel installs with the package: Snakefile, rules, scripts, profiles and `resources/`. Its path differs
between machines, and results must not depend on it. So a study reaches the installation by a link in its own folder
(`SHIPPED`): a shipped file has the same path everywhere, which shows that it was shipped. A file or folder of
`resources/` in the study's folder replaces the shipped one of the same name.

The second part is about the store of vectors and scores that studies share.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import Any, NamedTuple, TypeVar

from prasanga.base.errors import InputError

LANGUAGE_TAG = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
"""A BCP 47 language tag, in configs, pairs and paths: bn, ta, pt-BR."""

PAGE, SUMMARY = Path("results/report/index.html"), Path("results/summary.json")
SHIPPED = ".snakemake/prasanga/shipped"
"""The link from a study to the installation."""
_RESOURCES = "resources"
_ABSOLUTE = re.compile(r"""(?<=["'])/[^"'\\\n]+""")
"""An absolute path in quotation marks."""
T = TypeVar("T")
NAMED = re.compile(rf"""(?<=["'])(?<!'source': ')(?:{re.escape(SHIPPED)}/)?{_RESOURCES}/[^"'\\]+""")
"""A path in quotation marks that may be shipped; the `source` of a text is its name below the corpus root."""


@cache
def installation() -> Path:
    """Return the folder with this package's Snakefile, rules and resources."""
    packages = Path(__file__).resolve().parents[2]
    of_wheel = packages / "prasanga_workflow"
    return of_wheel if of_wheel.is_dir() else packages.parent


def user_cache(name: str) -> Path:
    """Return a named folder of this user's cache (`XDG_CACHE_HOME`); it may not exist."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - fails for no user
    return Path(home, "prasanga", name)


def link_installation(root: Path) -> None:
    """Link the study in the working directory to the installation; a checkout is both, and gets no link.

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
            f"{Path.cwd()}: the study's folder cannot be written ({error.strerror}), but Snakemake keeps notes there."
            " Let yourself write (`chmod u+rwx`), make room, or use another folder."
        ) from None


def place(path: str) -> str:
    """Return the path to read for a path in a config or a default.

    Args:
        path: of a file or folder, absolute or from the study's folder.

    Returns:
        The same path if the study has it or nothing of that name is shipped, otherwise a path through the link to the
        installation.
    """
    shipped = Path(SHIPPED, path)
    return shipped.as_posix() if _is_resource(path) and shipped.exists() and not os.path.lexists(path) else path


def exists(path: str) -> bool:
    """Return whether the study has a file or folder of this name, or one is shipped."""
    return Path(place(path)).exists()


def files_in(folder: str, endings: Iterable[str]) -> list[str]:
    """Return the files with these endings in a folder, sorted."""
    return require_no_braces(sorted(str(path) for path in Path(folder).iterdir() if path.suffix in set(endings)))


def require_no_braces(paths: Iterable[str]) -> list[str]:
    """Return paths found in a folder; refuse braces, which Snakemake would fill in.

    Raises:
        InputError: a file's name has braces.
    """
    found = list(paths)
    for path in found:
        if "{" in path or "}" in path:
            raise InputError(
                f"{path!r}: its name has braces, which Snakemake fills in. Rename it without `{{` and `}}`."
            )
    return found


def place_of_corpus(root: str, patterns: Iterable[str]) -> str:
    """Return the folder that text patterns start from: the installation's if all of them name shipped texts."""
    shipped, patterns = PurePosixPath(SHIPPED, root), list(patterns)
    named = bool(patterns) and all(_is_resource(PurePosixPath(root, pattern).as_posix()) for pattern in patterns)
    if not named or any(any(Path(root).glob(pattern)) for pattern in patterns):
        return root
    return shipped.as_posix() if all(any(Path(shipped).glob(pattern)) for pattern in patterns) else root


def named(path: str) -> str:
    """Return the config's name for a path from `place`."""
    return "." if path == SHIPPED else path.removeprefix(f"{SHIPPED}/")


def said(path: str) -> str:
    """Return a path for people: the config's name and, if it is not the study's own, its origin."""
    return f"{named(path)} (shipped with prasanga)" if path.startswith(f"{SHIPPED}/") else path


def shareable(value: T, config: Mapping[str, Any]) -> T:
    """Return plain values without this machine's folders, for files that are sent to others.

    Args:
        value: JSON values; also JSON within a text.
        config: the study's. Its absolute paths are shown by their last name, and paths below them from there; other
            paths below the study's folder from there, and all others by their last name. With `report: {paths: whole}`
            nothing changes.
    """
    if config.get("report", {}).get("paths") == "whole":
        return value
    roots = sorted(_ABSOLUTE.findall(json.dumps(config, ensure_ascii=False)), key=len, reverse=True)
    here = Path.cwd()

    def show(found: re.Match[str]) -> str:
        path = PurePosixPath(found[0])
        root = here if path.is_relative_to(here) else next(filter(path.is_relative_to, roots), path.as_posix())
        below = path.relative_to(root).as_posix()
        return below if root is here else PurePosixPath(PurePosixPath(root).name, below).as_posix()

    changed: T = json.loads(_ABSOLUTE.sub(show, json.dumps(value, ensure_ascii=False)))
    return changed


def _is_resource(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return parts[:1] == (_RESOURCES,) and ".." not in parts


def _lead(link: Path, target: Path) -> None:
    """Make or replace a link in one step; its target may not exist yet."""
    if link.is_symlink() and link.readlink() == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    new = link.with_name(f".{link.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        new.unlink()
    new.symlink_to(target)
    new.replace(link)


# --------------------
# The store of vectors and scores that studies share.
#
# A study reaches the store by links in its own folder. By default the store is next to the studies, under a hidden
# name, which patterns such as `studies/*` skip. It has a folder for vectors and one for scores, each with one folder
# per key (`prasanga.base.io`).


BESIDE = ".prasanga-store"
"""The store that studies in one folder share."""
_PARTS = {"results/store": "vectors", "results/likelihoods/kept": "scores"}
"""What a study keeps for later runs, by its path, with its name in a shared store."""
_WRITTEN = (".snakemake", "results", "logs", "benchmarks")
_MARK = ".prasanga-results"
"""A file by which a user allows runs to write to its folder through links."""
_CODE = {
    ".snakemake/pip-deployments": "Snakemake imports code from there, and it is not needed. Delete it: `rm -r {}`",
    ".numba_config.yaml": "numba takes settings from there, which change last digits. Move it to another folder",
}
"""Files that other programs read in their working directory, with what to do."""
_PROBE = 1 << 20  # bytes; more than a full disk or quota has left


def list_links(folder: Path) -> Iterator[Path]:
    """Yield the symbolic links in a folder and below, or the folder itself if it is one.

    Raises:
        InputError: files of a folder can be opened but not listed.
    """
    folders = [folder]
    while folders:
        path = folders.pop()
        if path.is_symlink():
            yield path
        elif path.is_dir() and os.access(path, os.X_OK):
            try:
                with os.scandir(path) as entries:
                    folders += [Path(entry.path) for entry in entries if entry.is_symlink() or entry.is_dir()]
            except OSError as error:
                raise InputError(
                    f"{path}: cannot be read ({error.strerror}), and links in it may lead anywhere. Let yourself read"
                    f" it (`chmod u+r {shlex.quote(str(path))}`), or delete it."
                ) from None


def require_own_folders(study: Path) -> None:
    """Refuse links by which a run would write or delete outside a study's folder, except to its stores.

    Raises:
        InputError: a link to a folder without a file `.prasanga-results`; Python code that Snakemake would import.
    """
    for code, use in [(folder / name, use) for folder in (study, Path.cwd()) for name, use in _CODE.items()]:
        if os.path.lexists(code):
            raise InputError(f"{code}: {use.format(shlex.quote(str(code)))}.")
    ours = [study / name for name in (SHIPPED, *_PARTS)]
    links = [link for name in _WRITTEN for link in list_links(study / name)]
    for link in links:
        if (link / _MARK).is_file():
            links += [inner for path in link.iterdir() for inner in list_links(path)]
        elif link not in ours:
            remedy = f"rm {shlex.quote(str(link))}"
            mark = f", or, if you made it, type `touch {shlex.quote(str(link / _MARK))}` once" if link.is_dir() else ""
            raise InputError(
                f"{link} is a link to {os.path.realpath(link)}, where a run would write and delete. Delete the link:"
                f" `{remedy}`{mark}."
            )


def require_cache() -> None:
    """Refuse to start Snakemake if it cannot keep its cache.

    Raises:
        InputError: the user's cache folder cannot be written.
    """
    folder = user_cache("")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder.parent}: the cache folder cannot be written ({error.strerror}). Name another one:"
            " `export XDG_CACHE_HOME=/tmp/cache`."
        ) from None


def require_utf8() -> None:
    """Refuse a Python that reads file names in another encoding than UTF-8.

    Raises:
        InputError: it is not in UTF-8 mode.
    """
    if (encoding := sys.getfilesystemencoding()) != "utf-8":
        raise InputError(
            f"Python reads file names as {encoding}, so names in Bangla or Hindi are not found. Type"
            " `export PYTHONUTF8=1`, then the command again."
        )


def store_beside(study: Path) -> Path | None:
    """Return the store next to a study, which it uses unless another is named.

    None if the study already uses another store that still exists, or keeps both vectors and scores in its own folder;
    if it is the checkout itself, which keeps its own results; and if its parent folder cannot be written.
    """
    study = study.resolve()
    before = [study / name for name in _PARTS]
    if any(path.is_symlink() and path.exists() for path in before) or all(path.exists() for path in before):
        return None
    if study == installation().resolve():
        return None
    store = study.parent / BESIDE
    return store if os.access(store if store.exists() else store.parent, os.W_OK | os.X_OK) else None


def link_store(store: str) -> list[str]:
    """Keep vectors and scores of the study in the working directory in a folder that studies share.

    Args:
        store: the folder; nothing is linked if it is empty, or if the study already has vectors of its own.

    Returns:
        A sentence for each link to a missing store (as after a move), which is replaced or deleted.

    Raises:
        InputError: the folder cannot be used, or its path is relative; a file is in the way.
    """
    lost = {name: Path(name).readlink() for name in _PARTS if Path(name).is_symlink() and not Path(name).exists()}
    for name in lost if os.access("results", os.W_OK) else ():  # a plan may be for a read-only study
        Path(name).unlink()
    if store and not Path(store).is_absolute():
        raise InputError(
            f"PRASANGA_STORE is {store!r}, a relative path, but Snakemake may run in another folder than the one where"
            " you typed it. Write the whole path, or use `prasanga run --store`."
        )
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
    for path in map(Path, (*_WRITTEN, *_PARTS)):
        if str(path) not in lost and os.path.lexists(path) and not path.is_dir():
            raise InputError(
                f"{path} is not a folder, but a study keeps files in a folder of that name. Restore the folder, or"
                f" delete the file (`rm {shlex.quote(str(path.absolute()))}`); missing results are computed again."
            )
    return [
        f"{name} led to {target}, which is missing. It is now {os.path.realpath(name)}; missing vectors and scores"
        " are computed again. To use the earlier store, bring it back and name it with `--store`."
        for name, target in lost.items()
    ]


def require_store() -> None:
    """Refuse to start models if the study in the working directory could not keep their vectors and scores.

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
                f"{folder.resolve()}: the store for vectors and scores cannot be written ({error.strerror})."
                " Make room, let yourself write, or name another store: `--store`."
            ) from None


class Kept(NamedTuple):
    """The files of one key in a store: vectors of a model, or its scores.

    Attributes:
        what: vectors or scores.
        model: its path or hub id; "" if unknown.
        folder: the key's folder.
        n_bytes: size of its files.
        changed: time of its newest file, in seconds.
    """

    what: str
    model: str
    folder: Path
    n_bytes: int
    changed: float


def _parts_of(folder: Path) -> dict[str, Path]:
    """Return the folders of vectors and scores of a study or store, or of the store next to or in a folder."""
    found = {what: folder / name for name, what in _PARTS.items() if (folder / name).exists()}
    for store in (folder, folder / BESIDE, folder.parent / BESIDE):
        found = found or {what: store / what for what in _PARTS.values() if (store / what).is_dir()}
    if not found:
        raise InputError(
            f"{folder}: not a store, nor a study that has kept vectors or scores. Name one, or a store:"
            " `--directory FOLDER`."
        )
    return {what: place.resolve() for what, place in found.items()}


def list_store(folder: Path) -> list[Kept]:
    """Return the content of a store, by model.

    Raises:
        InputError: the folder is neither a study nor a store, and has none next to it.
    """
    kept = list[Kept]()
    for what, part in _parts_of(folder.absolute()).items():
        for key in part.glob("*/"):
            if (states := [shard.stat() for shard in key.glob("[!.]*.parquet")]) and (key / "key.json").is_file():
                n_bytes, changed = sum(state.st_size for state in states), max(state.st_mtime for state in states)
                kept.append(Kept(what, _read_model(key), key, n_bytes, changed))
    return sorted(kept)


def _read_model(folder: Path) -> str:
    """Return the model of a key's folder; "" if unknown."""
    with suppress(OSError, ValueError):
        said = json.loads((folder / "key.json").read_text(encoding="utf-8"))
        which = {**said, **said.get("settings", {}).get("which", {})}  # nested for scores
        return str(which.get("model") or which.get("path") or "")
    return ""


def count_gpus(proc: Path = Path("/proc")) -> int:
    """Return the number of this machine's NVIDIA GPUs that CUDA_VISIBLE_DEVICES allows."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip() not in ("", "-1")])
    return len(list(proc.glob("driver/nvidia/gpus/*/information")))
