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
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from prasanga.provenance.cache import read_cache, write_cache

PACKAGE = "prasanga"
# Packages that are followed, and where each lies from the folder `src`.
_PACKAGES = {PACKAGE: ".", "prasanga_construction": "../construction"}

# What an output says of its making does not change the output, and neither does what is shown while it is made: else an
# edit of how a bar looks would run every stage again.
_LEFT_OUT = (f"{PACKAGE}.provenance", f"{PACKAGE}.progress")

T = TypeVar("T")


class _Import(NamedTuple):
    module: str
    name: str | None  # None for `import module`
    bound_as: str


class _Known(NamedTuple):
    """What was learnt of a source file: the digests of its bytes and of its syntax tree, and what it imports."""

    sha256: str
    digest: str
    imports: tuple[_Import, ...]


# By the name of the file within the source folder; for a script, its file name.
_known: dict[str, _Known] = {}
# What the files are in a block of `remembered`, in which each is looked at once; None outside of one.
_seen: dict[tuple[str, Path], Any] | None = None


@contextmanager
def remembered(cache: str | Path) -> Iterator[None]:
    """What is learnt of source files in the block is kept in the file `cache`, and found there the next time.

    Parsing the package takes half a second, and a plan asks for the fingerprints of all rules. A file is known by the
    digest of its bytes, so an edit is seen whatever the times of files say. In the block each file is looked at once.
    Without a cache that can be read or written, the same comes out.
    """
    global _seen
    cache, key = Path(cache), _sha256(Path(__file__).read_bytes())
    kept = {name: _from_plain(entry) for name, entry in (read_cache(cache, key) or {}).items()}
    _known.update({name: entry for name, entry in kept.items() if name not in _known})
    outer, _seen = _seen, {}
    try:
        yield
    finally:
        _seen = outer
        if _known != kept:
            write_cache(cache, key, _known)


def _from_plain(entry: list[Any]) -> _Known:
    sha256, digest, imports = entry
    return _Known(sha256, digest, tuple(_Import(*each) for each in imports))


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
    whole = _learn(script, "__main__")
    reached = _reach([(i.module, i.name) for i in whole.imports], source)
    digests = {script.name: whole.digest}
    for module in reached:
        path = _locate(module, source)
        digests[module] = _learn(path, module).digest
        digest_of_data = functools.partial(_digest_of_data, path.parent)
        if path.name == "__init__.py" and (data := _once("data", path.parent, digest_of_data)):
            digests[f"{module} data"] = data
    return dict(sorted(digests.items()))


def fingerprint_of_module(module: str, source: str | Path, *, without: Collection[str] = ()) -> dict[str, str]:
    """The same for a module of this package and everything that it reaches (itself included), but for `without`."""
    source = Path(source)
    reached = _reach([(module, None)], source) - set(without)
    return {name: _learn(_locate(name, source), name).digest for name in sorted(reached)}


def _reach(todo: list[tuple[str, str | None]], source: Path) -> set[str]:
    """The modules of the package that the imports (module, name) lead to, and the packages that hold them."""
    seen: set[tuple[str, str | None]] = set()
    reached: set[str] = set()
    while todo:
        module, name = item = todo.pop()
        if item in seen or module.split(".")[0] not in _PACKAGES or _is_left_out(module):
            continue
        seen.add(item)
        if name and _find(f"{module}.{name}", source):
            todo.append((f"{module}.{name}", None))
            continue
        path = _locate(module, source)
        parts = module.split(".")
        reached.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
        imports = _learn(path, module).imports
        if path.name == "__init__.py" and name and name != "*":
            # A name taken from a package is followed to the module that defines it, not to all that the package offers.
            imports = tuple(i for i in imports if i.bound_as == name) or imports
        todo.extend((i.module, i.name) for i in imports)
    return reached


def _is_left_out(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _LEFT_OUT)


def _once(what: str, path: Path, look: Callable[[], T]) -> T:
    """What `look` says of a path, asked once in a block of `remembered`."""
    if _seen is None:
        return look()
    if (what, path) not in _seen:
        _seen[what, path] = look()
    return cast(T, _seen[what, path])


def _find(module: str, source: Path) -> Path | None:
    return _once(f"find {module}", source, lambda: _look_for(module, source))


def _look_for(module: str, source: Path) -> Path | None:
    base = source.joinpath(_PACKAGES[module.split(".")[0]], *module.split("."))
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


def _digest_of_data(package: Path) -> str | None:
    """Of the data files of a package; None if it has none."""
    whole, paths = hashlib.sha256(), _data_files(package)
    for path in paths:
        whole.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()[:12] if paths else None


def _only_offers(node: ast.stmt) -> bool:
    """Whether a statement of a package's `__init__` only says what the package offers, or its version."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in {"__all__", "__version__"} for target in node.targets)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return node.name == "__getattr__"
    return isinstance(node, ast.Import | ast.ImportFrom)


def _canonical(node: object) -> str:
    """A syntax tree as nested tuples, in writing: no positions, docstrings or empty fields, as every Python writes it.

    The tuples are written as they are made; to make them first and write them afterwards takes four times as long.
    """
    if isinstance(node, ast.AST):
        items = [repr(type(node).__name__)]
        for name in _in_order(node._fields):
            value = getattr(node, name, None)
            if value is not None and (text := _canonical(value)) != "()":
                items.append(f"({name!r}, {text})")
    elif isinstance(node, list):
        items = [_canonical(item) for item in node if not _is_documentation(item)]
    else:
        return repr(repr(node))
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


@functools.cache
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _is_documentation(node: object) -> bool:
    """Whether a node is a string that stands by itself: a docstring, also one below an attribute."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _learn(path: Path, module: str) -> _Known:
    """What a source file holds, by its bytes as they are now; `module` is `__main__` for a script."""
    return _once(module, path, lambda: _read(path, module))


def _read(path: Path, module: str) -> _Known:
    is_package = path.name == "__init__.py"
    name = path.name if module == "__main__" else f"{module}.__init__" if is_package else module
    source = path.read_bytes()
    known, sha256 = _known.get(name), _sha256(source)
    if known is None or known.sha256 != sha256:
        tree = ast.parse(source)
        imports = tuple(_imports(tree.body, module if is_package else module.rpartition(".")[0]))
        # what a package offers is followed name by name, so its list of imports is no code of its own
        code = ast.Module([node for node in tree.body if not _only_offers(node)], []) if is_package else tree
        known = _known[name] = _Known(sha256, _sha256(_canonical(code).encode())[:12], imports)
    return known


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _imports(body: Iterable[ast.AST], package: str) -> Iterator[_Import]:
    """Every import statement, also inside functions and under TYPE_CHECKING."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (_Import(a.name, None, a.asname or a.name) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join(filter(None, [*parts[: len(parts) - node.level + 1], base]))
            yield from (_Import(base, a.name, a.asname or a.name) for a in node.names)
        else:
            for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _imports(getattr(node, inner, ()), package)
