"""Tables of cases, in files beside their tests: tab-separated text with a head, or JSON with one case per line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_table(test: str, name: str) -> list[tuple[str, ...]]:
    r"""Return the cases of `tables/<name>.tsv`, which lies beside the test module `test`; `\n` is a line break."""
    path = Path(test).with_name("tables") / f"{name}.tsv"
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(cell.replace("\\n", "\n") for cell in line.split("\t")) for line in lines]


def read_cases(test: str, name: str) -> list[tuple[Any, ...]]:
    """Return the cases of `tables/<name>.json`, a list of lists, which lies beside the test module `test`."""
    return [tuple(case) for case in read_data(test, name)]


def read_text(test: str, name: str) -> str:
    """Return the text of the file `tables/<name>`, which lies beside the test module `test`."""
    return Path(test).with_name("tables").joinpath(name).read_text(encoding="utf-8")


def read_data(test: str, name: str) -> Any:
    """Return what `tables/<name>.json` holds, which lies beside the test module `test`."""
    return json.loads(Path(test).with_name("tables").joinpath(f"{name}.json").read_text(encoding="utf-8"))
