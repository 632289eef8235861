"""Edits of a copy of the package, by the name of what is edited: a function may stand in whatever module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_Definition = ast.FunctionDef | ast.ClassDef


def edit_definition(root: Path, name: str) -> None:
    """Let a function or class do one thing more, which changes nothing of what it gives."""
    path, definition = _find(root, name)
    first = definition.body[1 if ast.get_docstring(definition) else 0]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(first.lineno - 1, f"{' ' * first.col_offset}_added_by_a_test = 1\n")
    path.write_text("".join(lines), encoding="utf-8")


def move_definition(root: Path, name: str) -> None:
    """Put a function, which must stand on its own, into a new module beside the one that it is in."""
    path, definition = _find(root, name)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    tree = ast.parse("".join(lines))
    imports = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    own = [node.name for node in tree.body if isinstance(node, _Definition) and node is not definition]
    module = ".".join(path.relative_to(root / "src").with_suffix("").parts)
    used = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)} & set(own) - {name}
    imports += [f"from {module} import {', '.join(sorted(used))}"] if used else []
    moved = "".join(lines[definition.lineno - 1 : definition.end_lineno])
    path.with_name("moved_by_a_test.py").write_text("\n".join([*imports, "", moved]), encoding="utf-8")
    last = max(node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    lines[definition.lineno - 1 : definition.end_lineno] = []
    lines.insert(last, f"from {module.rpartition('.')[0]}.moved_by_a_test import {name}\n")
    path.write_text("".join(lines), encoding="utf-8")


def edit_messages(root: Path) -> int:
    """Let errors and log lines say something else, in all modules; returns how many do."""
    n_edited, begins = 0, re.compile(r"""((?:raise \w+|_LOG\.\w+|logger\.\w+)\(\s*f?")(?=\w)""")
    for path in (root / "src").rglob("*.py"):
        text, n = begins.subn(r"\1As edited: ", path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        n_edited += n
    return n_edited


def _find(root: Path, name: str) -> tuple[Path, _Definition]:
    for path in sorted((root / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if f"def {name}(" in text or f"class {name}" in text:
            for node in ast.parse(text).body:
                if isinstance(node, _Definition) and node.name == name:
                    return path, node
    raise LookupError(f"no module defines {name}")
