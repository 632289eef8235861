"""Where vectors and scores are kept that studies share: which folder it is, what is in it, what nobody needs any more.

A store has a folder for vectors and one for scores, and in each a folder for every key (`prasanga.base.store`). A study
reaches it by links in its own folder. Unless another is named it lies beside the studies, under a hidden name: patterns
such as `studies/*` pass it over, and it is on the file system of the results, whose files are shards of the store under
a second name.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.places import installation, replace_link

BESIDE = ".prasanga-store"
"""The store of studies that lie beside each other."""
_PARTS = {"results/store": "vectors", "results/likelihoods/kept": "scores"}
"""What a study keeps for later runs, and its name in a store that studies share."""
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
            if link.is_symlink() and Path(os.readlink(link)) == folder and folder.is_dir():  # noqa: PTH115
                continue
            folder.mkdir(parents=True, exist_ok=True)
            if link.is_dir() and not link.is_symlink():
                continue
            link.parent.mkdir(parents=True, exist_ok=True)
            replace_link(link, folder)
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
        in_results: how many of them are results of a study as well, which have them under a second name.
        changed: when the newest of them was written, in seconds.
    """

    folder: Path
    what: str
    model: str
    details: str
    shards: tuple[Path, ...]
    n_bytes: int
    in_results: int
    changed: float

    def is_unused(self, days: float) -> bool:
        """Return whether these are vectors of no results, to which nothing was added for so many days.

        Of scores, which are small, files do not tell whether results have them.
        """
        return self.what == "vectors" and not self.in_results and self.changed < time.time() - days * _DAY


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
    found = [
        _kept(key, what) for what, part in parts_of(folder).items() for key in sorted(part.iterdir()) if _is_key(key)
    ]
    return sorted(found, key=lambda kept: (kept.what, kept.model, kept.details, kept.folder))


def prune(kept: Iterable[Kept]) -> int:
    """Delete what is kept of these keys, and return how many bytes that frees; who asks for it computes it again."""
    freed = 0
    for each in kept:
        shutil.rmtree(each.folder, ignore_errors=True)
        freed += 0 if each.folder.exists() else each.n_bytes
    return freed


def damaged(kept: Iterable[Kept]) -> Iterator[tuple[Path, str]]:
    """Read every byte that is kept, and yield files that are not as they were written, with what is wrong."""
    from prasanga.base.parquet import require_every_page
    from prasanga.base.store import name_of_content

    for each in kept:
        for shard in each.shards:
            try:
                if name_of_content(shard) != shard.stem:
                    yield shard, "its bytes are not those that it is named by"
                else:
                    require_every_page(shard)
            except FileNotFoundError:  # merged into another meanwhile
                continue
            except (InputError, OSError) as error:
                yield shard, str(error)


def _is_key(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob("[!.]*.parquet"))


def _kept(folder: Path, what: str) -> Kept:
    shards = tuple(sorted(folder.glob("[!.]*.parquet")))
    statuses = [status for shard in shards if (status := _status(shard)) is not None]
    model, details = _described(folder)
    return Kept(
        folder=folder,
        what=what,
        model=model,
        details=details,
        shards=shards,
        n_bytes=sum(status.st_size for status in statuses),
        in_results=sum(status.st_nlink > 1 for status in statuses),
        changed=max((status.st_mtime for status in statuses), default=0.0),
    )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _described(folder: Path) -> tuple[str, str]:
    """Return the model and, in words, the settings that a key's folder tells of itself."""
    from prasanga.base.store import KEY

    try:
        said: dict[str, Any] = json.loads((folder / KEY).read_text(encoding="utf-8"))
        of_scores = said.get("settings") or {}
        which = {**said, **(of_scores.get("which") or {})}
        model = str(which.get("model") or which.get("path") or "")
        names = (
            "layer",
            "pooling",
            "pieces",
            "sentence_vector",
            "dtype",
            "stored_dtype",
            "quantization",
            "random_weights",
        )
        words = [f"{name} {which[name]}" for name in names if which.get(name) not in (None, "", "none", False)]
        return model, ", ".join(words)
    except (OSError, ValueError, AttributeError, TypeError):
        return "", "its key.json cannot be read"
