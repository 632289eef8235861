"""Tables of cases, which lie beside their tests as tab-separated files: a head, then a case a line."""

from __future__ import annotations

from pathlib import Path


def read_table(test: str, name: str) -> list[tuple[str, ...]]:
    r"""Return the cases of `tables/<name>.tsv`, which lies beside the test module `test`; `\n` is a line break."""
    path = Path(test).with_name("tables") / f"{name}.tsv"
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(cell.replace("\\n", "\n") for cell in line.split("\t")) for line in lines]
