"""Functions compiled to machine code, for what is done to every byte of a corpus.

Compiled code is kept on disk, so that only the first run on a machine waits for the compiler: in `NUMBA_CACHE_DIR`,
beside this module, or in the user's cache folder, whichever can be written. The compiler's own cache knows an edit of
the file that a function stands in, but not of the functions and constants that it takes from others; so the folder is
named by the sources of all modules that may be involved. Such modules are imported where they are called: whoever only
draws figures does not load the compiler.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import numba

from prasanga.base.places import user_cache

_Function = TypeVar("_Function", bound=Callable[..., object])


def _sources_digest() -> str:
    """Return a digest of the modules with compiled functions, and of those that these take from.

    Modules with compiled functions import this one.
    """
    here = Path(__file__)
    digest = hashlib.sha256()
    for path in sorted(here.parents[1].glob("*/*.py")):
        source = path.read_bytes()
        if path.parent == here.parent or b"prasanga.text.compiled import" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


def _folders() -> Iterator[Path]:
    if asked := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(asked)
    yield Path(__file__).with_name("__pycache__")
    yield user_cache("compiled")


def _cache_folder() -> Path | None:
    """Return the first folder that can be written; None if there is none, and every process compiles for itself."""
    name = f"compiled-{_sources_digest()}"
    for folder in _folders():
        try:
            (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder / name, os.W_OK):
            return folder / name
    return None


_CACHE = _cache_folder()
if _CACHE is not None:
    numba.config.CACHE_DIR = os.fspath(_CACHE)  # type: ignore[attr-defined]  # made when numba is imported


def compiled(function: _Function) -> _Function:
    """Compile `function` at its first call. Nothing checks the bounds of its arrays."""
    return cast(_Function, numba.njit(cache=_CACHE is not None, boundscheck=False)(function))


def compiled_sums(function: _Function) -> _Function:
    """Return the same for sums of many numbers, which may be added up in another order than is written.

    The order is chosen when it is compiled, so that every run on a machine has the same; other processors may differ in
    the last digit, as they do in a product of matrices. Other threads run meanwhile.
    """
    fast = {"reassoc", "contract", "nsz"}
    return cast(_Function, numba.njit(cache=_CACHE is not None, boundscheck=False, fastmath=fast, nogil=True)(function))
