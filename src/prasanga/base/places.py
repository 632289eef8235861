"""Where the files lie that a study names: in its own folder or, if it has none of that name, in the installation.

A study is a folder, and the working directory of every process that works on it. The installation is a checkout, or
what a wheel has put beside the package: Snakefile, rules, scripts, schemas, profiles and `resources/`. It has another
path on every machine, and results must not: so a study reaches it by a link in its own folder (`SHIPPED`), and what it
takes from there has a path that is the same everywhere and says that the file was shipped. A path of `resources/` that
the study's folder has itself stands before it, file by file.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
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
        if link.is_dir() and not link.is_symlink():  # the folder was copied by a program that follows links
            shutil.rmtree(link)
        if root == Path.cwd().resolve():
            link.unlink(missing_ok=True)
            return
        if not (link.is_symlink() and Path(os.readlink(link)) == root):  # noqa: PTH115 - a link may lead nowhere
            link.parent.mkdir(parents=True, exist_ok=True)
            replace_link(link, root)
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
        files stand before those that are shipped.
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
    """Return paths that were found in a folder; Snakemake, which gets them, would fill in what stands in braces.

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
    if not named or any(_any(Path(root), pattern) for pattern in patterns):
        return root
    return shipped.as_posix() if all(_any(Path(shipped), pattern) for pattern in patterns) else root


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
        return (
            type(value)(map(inside, value))
            if isinstance(value, list | tuple) and type(value) in (list, tuple)
            else value
        )

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, target in wanted.items():
            relative = Path(os.path.relpath(target, folder))
            if not (folder / name).is_symlink() or (folder / name).readlink() != relative:
                replace_link(folder / name, relative)
        for link in folder.iterdir():
            if link.name not in wanted:
                link.unlink()
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror}). Make room, or take the folder away."
        ) from None
    return folder.as_posix()


def replace_link(link: Path, target: Path) -> None:
    """Make a link in one step, in place of what is there."""
    new = link.with_name(f".{link.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        new.unlink()
    new.symlink_to(target)
    new.replace(link)


# --------------------
# Paths in a config: where they may lead.
#
# A study is a folder. A relative path that climbs out of it by `..` is easily overlooked in somebody else's config,
# so the folder that it leads to must be named under `outside`; an absolute path is plain to see, and needs no more.
# Patterns of corpus files stay below `corpus.root`. Which keys hold paths, the schema says (`format`).


# In bytes: what Linux and the file systems of clusters take, for one name and for a whole path.
_LONGEST_NAME, _LONGEST_PATH = 255, 4095


def path_problems(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the paths of a config that fits its schema, one sentence each."""
    outside = config.get("outside", [])
    for folder in outside:
        if _without_parents(folder):
            yield (
                f"`outside` has {folder!r}, which does not lead out of the study's folder. Take it out; it is for"
                " folders such as `../shared` and `/data/corpora`."
            )
    for place, kind, path in _paths(config, schema):
        if _is_too_long(path):
            yield (
                f"`{place}` is {path[:40]!r} and so on, which no file can be called: a name has at most {_LONGEST_NAME}"
                f" bytes, a path {_LONGEST_PATH}. Write the path of one file or folder."
            )
        elif "{" in path or "}" in path:
            yield (
                f"`{place}` is {path!r}, and Snakemake would take what stands in braces for a part that it fills in."
                " Rename the file or folder without `{` and `}`, and write the new name."
            )
        elif kind == "pattern":
            if ".." in PurePosixPath(path).parts:
                yield (
                    f"`{place}` is {path!r}, which leads out of `corpus.root`. Write the folder as `corpus.root`, and a"
                    " pattern below it here."
                )
        elif not below_any(path, outside):
            yield (
                f"`{place}` is {path!r}, which leads out of the study's folder. If that is meant, write at the top of"
                f" the config `outside: [{_first_outside(path)}]`; or write an absolute path, or one below the study's"
                " folder."
            )
    for name, model in config.get("models", {}).items():
        revision = model.get("revision") or ""
        if ".." in revision or revision.startswith("/"):
            yield (
                f"`models.{name}.revision` is {revision!r}, which is no commit, tag or branch. Write e.g. a commit: 40"
                " hexadecimal digits."
            )


def below_any(path: str, outside: Sequence[str]) -> bool:
    """Return whether a path is absolute, stays below the folder that it starts from, or leads into one of `outside`."""
    if path.startswith("/") or _without_parents(path):
        return True
    return any(PurePosixPath(posixpath.normpath(path)).is_relative_to(posixpath.normpath(folder)) for folder in outside)


def _without_parents(path: str) -> bool:
    """Return whether a relative path stays below where it starts."""
    return not path.startswith("/") and posixpath.normpath(path).split("/", 1)[0] != ".."


def _is_too_long(path: str) -> bool:
    written = path.encode("utf-8", "replace")
    return len(written) > _LONGEST_PATH or any(len(name) > _LONGEST_NAME for name in written.split(b"/"))


def _first_outside(path: str) -> str:
    """Return the first folder on the way that is neither the study's nor above it.

    Of `../shared/corpora/bn` that is `../shared`.
    """
    parts = PurePosixPath(posixpath.normpath(path)).parts
    climbed = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    return "/".join(parts[: climbed + 1])


def _paths(value: Any, schema: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every path or pattern with its place; `format` says in the schema which texts are one."""
    if isinstance(value, str):
        if schema.get("format") in ("path", "pattern"):
            yield place, schema["format"], value
    elif isinstance(value, Mapping):
        other = schema.get("additionalProperties")
        for key, inner in value.items():
            part = schema.get("properties", {}).get(key, other)
            if isinstance(part, Mapping):
                yield from _paths(inner, part, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, inner in enumerate(value):
            yield from _paths(inner, schema["items"], f"{place}.{number}")
