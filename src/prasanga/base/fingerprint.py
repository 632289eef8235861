"""Fingerprints of code: one per script, of the script and all modules of the project that it imports.

Snakemake looks at a script's modification time and not at what the script imports. So a clone would run everything
again, and an edit of the library nothing. The rules therefore pass the fingerprint of a script as a parameter, and
Snakemake compares parameters. Comments, docstrings, layout and the place of the project do not count. Templates and
other data files of the imported packages do.

Rules that cost a corpus pass, a training or a forward pass have a version constant in its place (`SENTENCES_VERSION`,
`STATIC_VERSION`, `VECTORS_VERSION`, `SCORES_VERSION`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.documents import digest_of, read_cache, sha256_of, sha256_of_file, write_cache
from prasanga.base.places import installation, user_cache

_PACKAGES = {"prasanga": "src", "prasanga_construction": "construction", "prasanga_calibration": "calibration"}
"""The packages of the project, each with its folder in a checkout; a wheel has all of them beside each other."""
_KEPT = 2000


class _Source(NamedTuple):
    """What a source file says.

    Attributes:
        code: digest of its syntax tree.
        imports: (module, name or "", name in this file) of each import from packages of the project.
    """

    code: str
    imports: list[list[str]]


def fingerprint(file: Path) -> str:
    """Return the fingerprint of one script or module, as `fingerprints`."""
    return fingerprints([file])[file]


def fingerprints(files: Iterable[Path]) -> dict[Path, str]:
    """Return a digest (16 hexadecimal digits) of the code that each script or module can run.

    That is the file and the modules of the project that it imports at any place, directly or not. A name that a package
    only passes on leads to the module that defines it. Parsing the project takes two seconds, so the user's cache keeps
    what a file says, by a digest of the file's bytes.

    Raises:
        ImportError: a file imports a module of the project that does not exist.
    """
    cache, key = user_cache("plans") / "code.json", sha256_of(Path(__file__).read_bytes())
    project = _Project(read_cache(cache, key) or {})
    found = {file: digest_of(sorted(project.digests(file))) for file in files}
    if project.has_news:
        write_cache(cache, key, dict(list(project.known.items())[-_KEPT:]))
    return found


def module_file(module: str) -> Path:
    """Return the source file of a module of the project.

    Raises:
        ImportError: there is none.
    """
    if (path := _locate(module)) is None:
        raise ImportError(f"there is no module {module} in the packages {', '.join(_PACKAGES)}")
    return path


def _locate(module: str) -> Path | None:
    package, *_ = parts = module.split(".")
    checkout, wheel = installation() / _PACKAGES[package], Path(__file__).resolve().parents[2]
    place = (checkout if (checkout / package).is_dir() else wheel).joinpath(*parts)
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


class _Project:
    """The source files of the project, each read once.

    Attributes:
        known: what is known of files, by the digest of their bytes.
        has_news: whether a file was read that was not known before.
    """

    def __init__(self, known: dict[str, list[Any]]) -> None:
        self.known = known
        self.has_news = False
        self._sources: dict[Path, _Source] = {}
        self._places: dict[tuple[str, str], Path] = {}

    def digests(self, file: Path) -> Iterator[str]:
        """Yield digests of all code that a file reaches, and of the data files of the packages among it."""
        queue, reached = [file], {file}
        for path in queue:
            source = self._read(path)
            yield source.code
            if path.name == "__init__.py":
                yield from map(sha256_of_file, _data_files(path.parent))
            new = {self._find(module, name) for module, name, _ in source.imports} - reached
            reached |= new
            queue += new

    def _read(self, path: Path) -> _Source:
        if path not in self._sources:
            text = path.read_bytes()
            if (digest := sha256_of(text)) not in self.known:
                self.known[digest] = list(_learn(text, is_package=path.name == "__init__.py"))
                self.has_news = True
            self._sources[path] = _Source(*self.known[digest])
        return self._sources[path]

    def _find(self, module: str, name: str) -> Path:
        """Return the file that defines a name of a module."""
        if (module, name) not in self._places:
            self._places[module, name] = self._look_up(module, name)
        return self._places[module, name]

    def _look_up(self, module: str, name: str) -> Path:
        if name and (inner := _locate(f"{module}.{name}")):
            return inner
        path = module_file(module)
        passed_on = self._read(path).imports if name and path.name == "__init__.py" else []
        return next((self._find(other, there) for other, there, here in passed_on if here == name), path)


def _learn(text: bytes, *, is_package: bool) -> _Source:
    imports: list[list[str]] = []

    def write(node: object) -> str:
        """Return a syntax tree as text that is the same in every version of Python; empty fields are left out."""
        if isinstance(node, list):
            return f"[{','.join(write(each) for each in node if not is_left_out(each))}]"
        if not isinstance(node, ast.AST):
            return ascii(node)
        if isinstance(node, ast.Import):
            imports.extend([alias.name, "", alias.asname or alias.name] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.extend([node.module or "", alias.name, alias.asname or alias.name] for alias in node.names)
        fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        return f"{type(node).__name__}({','.join(f'{name}={write(value)}' for name, value in fields)})"

    def is_left_out(node: ast.AST) -> bool:
        """Return whether a statement is a docstring, perhaps below an attribute, or imports for type checkers.

        Packages pass names on by such imports (`prasanga.base.offered`).
        """
        if isinstance(node, ast.If):
            return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" and not is_package
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

    code = sha256_of(write(ast.parse(text)).encode())
    return _Source(code, [each for each in imports if each[0].split(".")[0] in _PACKAGES])


def _data_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a package that are neither Python nor compiled Python, outside of the packages within it."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            yield from _data_files(path)
        elif path.is_file() and path.suffix != ".py":
            yield path
