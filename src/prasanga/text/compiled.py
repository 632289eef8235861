"""Functions compiled to machine code, for what is done to every byte of a corpus.

Compiled code is kept on disk, so that only the first run on a machine waits for the compiler: beside this module, or in
`NUMBA_CACHE_DIR`. The compiler's own cache knows an edit of the file that a function stands in, but not of one that the
function calls; so the folder is named by the sources of all modules with compiled functions. Such modules are imported
where they are called: whoever only draws figures does not load the compiler.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., object])


def _sources_digest() -> str:
    """A digest of the package's modules that have compiled functions: those that import this one."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].glob("*/*.py")):
        source = path.read_bytes()
        if b"prasanga.text.compiled import" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


_FOLDER = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).with_name("__pycache__")
numba.config.CACHE_DIR = os.fspath(  # type: ignore[attr-defined]  # made when numba is imported
    Path(_FOLDER, f"compiled-{_sources_digest()}")
)


def compiled(function: _Function) -> _Function:
    """Compile `function` at its first call; without the interpreter's lock, so that threads may share the work."""
    return cast(_Function, numba.njit(cache=True, nogil=True, boundscheck=False)(function))
