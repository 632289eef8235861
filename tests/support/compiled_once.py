"""Where copies of the tree find what was compiled to machine code: in the tree that they are copies of.

The compiler keeps code under the path of its source, so that each copy would wait for it anew. The folder above has a
digest of the sources in its name (`prasanga.text.lines`): a copy whose code was edited has another.
"""

from __future__ import annotations

import os
from pathlib import Path

from numba import config
from numba.core.caching import UserProvidedCacheLocator

_PACKAGE = Path(__file__).parents[2] / "src/prasanga"


class CompiledOnce(UserProvidedCacheLocator):
    """Numba looks here for functions of all copies (`NUMBA_CACHE_LOCATOR_CLASSES`)."""

    def __init__(self, py_func: object, py_file: str) -> None:
        super().__init__(py_func, py_file)
        path = Path(py_file)
        of_sources = _PACKAGE / "text/__pycache__" / Path(config.CACHE_DIR).name
        self._shared = of_sources / self.get_suitable_cache_subpath(_PACKAGE / path.parent.name / path.name)

    def get_cache_path(self) -> str:
        """Return the folder that this function has in the tree itself."""
        return os.fspath(self._shared)
