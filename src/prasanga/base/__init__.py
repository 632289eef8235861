"""Provide errors, files, seeds and logs, on which every stage builds."""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def offered(package: str, name: str) -> Any:
    """Return what a package offers under a name, from the module that its `__init__` imports it from for type checkers.

    `__all__` gives all names that it offers.
    """
    places = _places(package)
    if name == "__all__":
        return sorted(places)
    if name not in places:
        raise AttributeError(f"module {package!r} lacks the attribute {name!r}")
    return getattr(import_module(places[name]), name)


@cache
def _places(package: str) -> dict[str, str]:
    """Return the module of each name that the `__init__` of a package imports from our packages."""
    tree = ast.parse(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {
        each.name: str(node.module)
        for node in imports
        if str(node.module).split(".")[0] == package.split(".")[0] and node.module != __name__
        for each in node.names
    }
