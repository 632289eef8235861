"""Files of others that go into the page or a figure, each with its package, version, licence and checksum.

`vendor.json` lists them. They are the files of the npm packages that it names, unchanged; but matplotlib reads no
WOFF2, so each font lies here unpacked as well, and its entry says from which file and how. Nothing is fetched when a
page is made or opened.
"""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple


class Vendored(NamedTuple):
    """A file, and where it comes from: `path` is its name in version `version` of the npm package `package`.

    A file that is not as published has in `derived_from` the name of the one here that it was made from, and in
    `derived_by` how.
    """

    package: str
    version: str
    path: str
    licence: str
    licence_file: str
    sha256: str
    derived_from: str = ""
    derived_by: str = ""


def vendored() -> dict[str, Vendored]:
    """Return what is shipped, by the name of the file below this folder."""
    listed = json.loads(place_of("vendor.json").read_text(encoding="utf-8"))
    return {name: Vendored(**entry) for name, entry in listed.items()}


def place_of(name: str) -> Traversable:
    """Return where a file is."""
    return files(__name__) / name


def text_of(name: str) -> str:
    """Return a script or a style sheet, as it is to stand in a page."""
    return place_of(name).read_text(encoding="utf-8")
