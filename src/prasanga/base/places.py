"""Find the files that a study names: in its own folder or, if it lacks them, in the installation.

A study is a folder, and the working directory of every process that works on it. The installation is a checkout, or
the files that a wheel installs with the package: Snakefile, rules, scripts, profiles and `resources/`. It has another
path on every machine, and results must not depend on it. So a study reaches the installation by a link in its own
folder (`SHIPPED`): a shipped file has the same path everywhere, which says that it was shipped. A file of `resources/`
in the study's folder takes precedence.

Further down: the store of vectors and scores that studies share.
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
"""A language as BCP 47 writes it, in configs, pairs and paths: bn, ta, pt-BR."""

PAGE, SUMMARY = Path("results/report/index.html"), Path("results/summary.json")
SHIPPED = ".snakemake/prasanga/shipped"
"""The link by which a study reaches the installation."""
_MERGED = ".snakemake/prasanga/merged"
"""Folders of links: what is shipped, with the files of the study's own before it."""
_RESOURCES = "resources"
_ABSOLUTE = re.compile(r"""(?<=["'])/[^"'\\\n]+""")
"""An absolute path in quotation marks."""
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
    if not named or any(any(Path(root).glob(pattern)) for pattern in patterns):
        return root
    return shipped.as_posix() if all(any(Path(shipped).glob(pattern)) for pattern in patterns) else root


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
        value: what JSON can write; also JSON within a text.
        config: the study's. An absolute path of it is shown by its last name, and one below it from there on; any
            other one below the study's folder from there, and else by its last name. With `report: {paths: whole}`
            nothing is changed.
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


def _merge(path: str) -> str:
    """Make, or bring up to date, the folder of links for a folder that study and installation both have."""
    folder = Path(_MERGED, path)
    wanted = {each.name: Path(SHIPPED, path, each.name) for each in Path(SHIPPED, path).iterdir()}
    wanted |= {each.name: Path(path, each.name) for each in Path(path).iterdir()}
    for each in (folder, *folder.parents):
        if each.is_relative_to(_MERGED) and each.is_symlink():  # what is deleted below must be the study's
            each.unlink()
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
# A study reaches the store by links in its own folder. By default it is in the same folder as the studies, under a
# hidden name: patterns such as `studies/*` pass it over. It has a folder for vectors and one for scores, and in each a
# folder for every key (`prasanga.base.io`).


BESIDE = ".prasanga-store"
"""The store of the studies in one folder."""
_PARTS = {"results/store": "vectors", "results/likelihoods/kept": "scores"}
"""What a study keeps for later runs, and its name in a store that studies share."""
_WRITTEN = (".snakemake", "results", "logs", "benchmarks")
_MARK = ".prasanga-results"
"""A file by which a user allows runs to write, through links, to the folder that it is in."""
_CODE = {
    ".snakemake/pip-deployments": "Snakemake imports code from there, and it is not needed. Delete it: `rm -r {}`",
    ".numba_config.yaml": "numba takes settings from there, which change last digits. Move it to another folder",
}
"""What others read in the folder that they are started in."""
_PROBE = 1 << 20  # bytes: more than a full disk, or a quota, has left


def list_links(folder: Path) -> Iterator[Path]:
    """Yield the symbolic links in a folder and in those below it; the folder itself if it is one.

    Raises:
        InputError: a folder in which files can be reached but not listed.
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
    """Refuse links by which a run would write or delete outside a study's folder, but for those to its stores.

    Raises:
        InputError: such a link whose folder has no file `.prasanga-results`; Python code that Snakemake would import.
    """
    for code, use in [(folder / name, use) for folder in (study, Path.cwd()) for name, use in _CODE.items()]:
        if os.path.lexists(code):
            raise InputError(f"{code}: {use.format(shlex.quote(str(code)))}.")
    ours = [study / name for name in (SHIPPED, *_PARTS)]
    links = [link for name in _WRITTEN for link in list_links(study / name)]
    for link in links:
        if (link / _MARK).is_file():
            links += [inner for path in link.iterdir() for inner in list_links(path)]
        elif link not in ours and study / _MERGED not in link.parents:
            remedy = f"rm {shlex.quote(str(link))}"
            mark = f", or, if you made it, type `touch {shlex.quote(str(link / _MARK))}` once" if link.is_dir() else ""
            raise InputError(
                f"{link} is a link to {os.path.realpath(link)}, and a run writes and deletes there. Delete the link:"
                f" `{remedy}`{mark}."
            )


def require_cache() -> None:
    """Refuse to start Snakemake where it cannot keep its cache.

    Raises:
        InputError: the user's folder for caches cannot be written.
    """
    folder = user_cache("")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder.parent}: the folder for caches cannot be written ({error.strerror}). Name another one:"
            " `export XDG_CACHE_HOME=/tmp/cache`."
        ) from None


def require_utf8() -> None:
    """Refuse a Python that reads names of files in another encoding.

    Raises:
        InputError: it is not in UTF-8 mode.
    """
    if (encoding := sys.getfilesystemencoding()) != "utf-8":
        raise InputError(
            f"Python reads names of files as {encoding}, so that names in Bangla or Hindi are not found. Type"
            " `export PYTHONUTF8=1`, then the command again."
        )


def store_beside(study: Path) -> Path | None:
    """Return the store that a study shares with the other studies in its folder unless another is named.

    None where it has used another store that is still there, or has kept both vectors and scores in its own folder;
    where it is the checkout itself, whose results are its own; and where its parent cannot be written to.
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
        store: the folder; nothing is linked if it is empty, nor where a study has kept vectors of its own before.

    Returns:
        A sentence for each link to a store that is not there, as after a move: it is replaced, or deleted.

    Raises:
        InputError: the folder cannot be used, or its path is relative; there is a file where the study keeps something.
    """
    lost = {name: Path(name).readlink() for name in _PARTS if Path(name).is_symlink() and not Path(name).exists()}
    for name in lost if os.access("results", os.W_OK) else ():  # a plan may be of a study that cannot be written
        Path(name).unlink()
    if store and not Path(store).is_absolute():
        raise InputError(
            f"PRASANGA_STORE is {store!r}, a relative path, and Snakemake may be in another folder by now than the one"
            " that it was typed in. Write the whole path, or take `prasanga run --store`."
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
                f"{path} is not a folder, but a study keeps its files in a folder of that name. Restore the folder, or"
                f" delete the file (`rm {shlex.quote(str(path.absolute()))}`); missing results are computed again."
            )
    return [
        f"{name} led to {target}, which is not there. It is now {os.path.realpath(name)}, and what is not found is"
        " computed again. To use the earlier store, bring it back and name it with `--store`."
        for name, target in lost.items()
    ]


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


class Kept(NamedTuple):
    """What is kept of one key: vectors of a model, or its scores.

    Attributes:
        what: vectors or scores.
        model: its path or name on the hub; "" where it is not stated.
        folder: of the key.
        n_bytes: of its files.
        changed: when the newest of them was written, in seconds.
    """

    what: str
    model: str
    folder: Path
    n_bytes: int
    changed: float


def _parts_of(folder: Path) -> dict[str, Path]:
    """Return the folders of vectors and scores of a study, of a store, or of the store of the studies in a folder."""
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
        InputError: the folder is no study, no store, and in no folder that has a store.
    """
    kept = list[Kept]()
    for what, part in _parts_of(folder.absolute()).items():
        for key in part.glob("*/"):
            if (states := [shard.stat() for shard in key.glob("[!.]*.parquet")]) and (key / "key.json").is_file():
                n_bytes, changed = sum(state.st_size for state in states), max(state.st_mtime for state in states)
                kept.append(Kept(what, _read_model(key), key, n_bytes, changed))
    return sorted(kept)


def _read_model(folder: Path) -> str:
    """Return the model of a key's folder; "" where it is not stated."""
    with suppress(OSError, ValueError):
        said = json.loads((folder / "key.json").read_text(encoding="utf-8"))
        which = {**said, **said.get("settings", {}).get("which", {})}  # where a key of scores has it
        return str(which.get("model") or which.get("path") or "")
    return ""


def count_gpus(proc: Path = Path("/proc")) -> int:
    """Return the number of NVIDIA GPUs of this machine that CUDA_VISIBLE_DEVICES allows."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip() not in ("", "-1")])
    return len(list(proc.glob("driver/nvidia/gpus/*/information")))
