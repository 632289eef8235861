"""The fingerprint of the code that a script reaches.

Snakemake looks at a script's modification time and not at all at the modules that the script imports, so a clone would
rerun everything and an edit of the library nothing. Here the script and every module of this package that it imports,
directly or not, gets a digest of its syntax tree. Passed to the rules as parameters, a changed digest is a changed
parameter, and exactly the jobs that use the module rerun; comments, docstrings and layout do not count.

The tree is written out by `_canonical` and not by `ast.dump`, whose output differs between Python versions: an upgrade
of Python must not recompute a night of embeddings.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "prasanga"

# What an output says of its making does not change the output.
_LEFT_OUT = f"{PACKAGE}.provenance"


class _Import(NamedTuple):
    module: str
    name: str | None  # None for `import module`
    bound_as: str


def fingerprint(script: str | Path, source: str | Path) -> dict[str, str]:
    """Digests of a script and of the modules of this package that it reaches.

    Args:
        script: a Python file outside the package.
        source: the folder that holds the package (`src`).

    Returns:
        {name: 12 hexadecimal digits}, sorted by name: the script by its file name, modules by their dotted name, and
        the data files of a package (templates, styles) as `<package> data`.

    Raises:
        ImportError: if the script or a module it reaches imports a module of the package that does not exist.
    """
    script, source = Path(script), Path(source)
    reached = _reach([(i.module, i.name) for i in _imports(script, "__main__")], source)
    digests = {script.name: _digest(script)}
    for module in reached:
        path = _locate(module, source)
        digests[module] = _digest(path)
        if path.name == "__init__.py" and (data := _data_files(path.parent)):
            digests[f"{module} data"] = _digest_of_data(data)
    return dict(sorted(digests.items()))


def fingerprint_of_module(module: str, source: str | Path, *, without: Collection[str] = ()) -> dict[str, str]:
    """The same for a module of this package and everything that it reaches (itself included), but for `without`."""
    source = Path(source)
    reached = _reach([(module, None)], source) - set(without)
    return {name: _digest(_locate(name, source)) for name in sorted(reached)}


def _reach(todo: list[tuple[str, str | None]], source: Path) -> set[str]:
    """The modules of the package that the imports (module, name) lead to, and the packages that hold them."""
    seen: set[tuple[str, str | None]] = set()
    reached: set[str] = set()
    while todo:
        module, name = item = todo.pop()
        if item in seen or module.split(".")[0] != PACKAGE or module.startswith(_LEFT_OUT):
            continue
        seen.add(item)
        if name and _find(f"{module}.{name}", source):
            todo.append((f"{module}.{name}", None))
            continue
        path = _locate(module, source)
        parts = module.split(".")
        reached.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
        imports = _imports(path, module)
        if path.name == "__init__.py" and name and name != "*":
            # A name taken from a package is followed to the module that defines it, not to all that the package offers.
            imports = tuple(i for i in imports if i.bound_as == name) or imports
        todo.extend((i.module, i.name) for i in imports)
    return reached


def _find(module: str, source: Path) -> Path | None:
    base = source.joinpath(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _locate(module: str, source: Path) -> Path:
    path = _find(module, source)
    if path is None:
        raise ImportError(f"there is no module {module} under {source}")
    return path


def _data_files(folder: Path) -> list[Path]:
    """Files of a package that are not Python, nor left by an editor, in folders that are no packages themselves."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name == "__pycache__" or path.name.startswith((".", "#")) or path.name.endswith("~"):
            continue
        if path.is_dir() and not (path / "__init__.py").exists():
            found += _data_files(path)
        elif path.is_file() and path.suffix != ".py":
            found.append(path)
    return found


def _digest_of_data(paths: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()[:12]


def _digest(path: Path) -> str:
    return _digest_of_source(path.read_bytes(), is_package=path.name == "__init__.py")


@functools.cache
def _digest_of_source(source: bytes, *, is_package: bool) -> str:
    tree = ast.parse(source)
    if is_package:  # what a package offers is followed name by name, so its list of imports is no code of its own
        tree = ast.Module([node for node in tree.body if not _only_offers(node)], [])
    return hashlib.sha256(repr(_canonical(tree)).encode()).hexdigest()[:12]


def _only_offers(node: ast.stmt) -> bool:
    """Whether a statement of a package's `__init__` only says what the package offers, or its version."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in {"__all__", "__version__"} for target in node.targets)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return node.name == "__getattr__"
    return isinstance(node, ast.Import | ast.ImportFrom)


def _canonical(node: object) -> Any:
    """Nested tuples of a syntax tree without positions, docstrings, empty fields: equal under every Python version."""
    if isinstance(node, list):
        return tuple(_canonical(item) for item in node if not _is_documentation(item))
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, _canonical(value)) for name, value in sorted(ast.iter_fields(node)) if value is not None)
    return (type(node).__name__, *((name, value) for name, value in fields if value != ()))


def _is_documentation(node: object) -> bool:
    """Whether a node is a string that stands by itself: a docstring, also one below an attribute."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _imports(path: Path, module: str) -> tuple[_Import, ...]:
    return _imports_of_source(path.read_bytes(), module if path.name == "__init__.py" else module.rpartition(".")[0])


@functools.cache
def _imports_of_source(source: bytes, package: str) -> tuple[_Import, ...]:
    return tuple(_walk_imports(ast.parse(source), package))


def _walk_imports(tree: ast.Module, package: str) -> Iterator[_Import]:
    """Every import statement in the file, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (_Import(a.name, None, a.asname or a.name) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join(filter(None, [*parts[: len(parts) - node.level + 1], base]))
            yield from (_Import(base, a.name, a.asname or a.name) for a in node.names)
