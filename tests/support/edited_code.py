"""Edits of a copy of the package, by the name of what is edited: a function may stand in whatever module."""

from __future__ import annotations

import ast
from pathlib import Path

_Definition = ast.FunctionDef | ast.ClassDef


def edit_definition(root: Path, name: str) -> None:
    """Let a function or class do one thing more, which changes nothing of what it gives."""
    path, definition = _find(root, name)
    first = definition.body[1 if ast.get_docstring(definition) else 0]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(first.lineno - 1, f"{' ' * first.col_offset}_added_by_a_test = 1\n")
    path.write_text("".join(lines), encoding="utf-8")


def _find(root: Path, name: str) -> tuple[Path, _Definition]:
    for path in sorted((root / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if f"def {name}(" in text or f"class {name}" in text:
            for node in ast.parse(text).body:
                if isinstance(node, _Definition) and node.name == name:
                    return path, node
    raise LookupError(f"no module defines {name}")
