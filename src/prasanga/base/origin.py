"""What a result was made from: the record in its metadata, the check of a study's results by it, and the origin of one.

A record says stage, settings, versions of libraries, and the digests of the inputs. Parquet files have it in their
metadata, figures in that of their SVG, lists of vectors in `made_from`. CSV, Markdown and LaTeX files have none. Then
the fingerprints of code, which tell Snakemake whether a script has changed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import xxhash

from prasanga.base.errors import InputError
from prasanga.base.io import (
    digest_of,
    digests_of_files,
    made_from,
    read_cache,
    read_document,
    sha256_of,
    sha256_of_file,
    write_cache,
)
from prasanga.base.places import installation, user_cache

_WITH_RECORD = (".parquet", ".json", ".svg")
_SAME, _CHANGED, _ABSENT = "as it is now", "changed since", "not here"
_SHA256 = 64  # hexadecimal digits
_SOURCE = ".//{http://purl.org/dc/elements/1.1/}source"
_KEPT_FOLDERS = ("store", "likelihoods/kept")
"""Folders of vectors and scores for later runs; their names are digests of what they were made from."""


def describe(
    stage: str,
    *,
    inputs: Iterable[str | Path] | Mapping[str, str] = (),
    settings: Mapping[str, Any] | None = None,
    libraries: Sequence[str] = (),
    version: Mapping[str, int] | None = None,
) -> dict[str, str]:
    """Return the record of a result, as plain strings for a file's metadata.

    Args:
        stage: name of the stage (lexicon, sentences, ...).
        inputs: files whose content went in; or their digests by path, where several results have the same inputs.
        settings: the parameters of the stage (plain values).
        libraries: distributions whose version matters to the values.
        version: the version constant of a stage that has one, with its name (`SENTENCES_VERSION` and others).

    Returns:
        stage, version (JSON), inputs (JSON: {path: sha256}), settings (JSON), versions (JSON), and
        fingerprint (digest of all of these).
    """
    record = {
        "stage": stage,
        "version": _to_json(dict(version or {})),
        "inputs": _to_json(inputs if isinstance(inputs, Mapping) else digests_of_files(inputs)),
        "settings": _to_json(dict(settings or {})),
        "versions": _to_json({name: importlib.metadata.version(name) for name in libraries}),
    }
    return {**record, "fingerprint": digest_of(record)}


def read_record(file: Path) -> dict[str, Any]:
    """Return the record of a result; All but `stage` and `fingerprint` are mappings. Empty if the file has none.

    Raises:
        InputError: the file is damaged.
    """
    record: dict[str, Any] = {}
    if file.suffix == ".parquet":
        record = dict(made_from(file))
    elif file.suffix == ".json":
        listed = read_document(file)
        shards = {f"{file.parent}/{name}": sha256 for name, sha256 in listed.get("shards", {}).items()}
        record = {**listed.get("made_from", {}), "inputs": json.dumps(shards)} if shards else {}
    elif file.suffix == ".svg":
        source = ElementTree.parse(file).find(_SOURCE)
        record = json.loads(source.text or "{}") if source is not None else {}
    maps = {key: json.loads(record.get(key) or "{}") for key in ("inputs", "settings", "version", "versions")}
    return {**record, **maps} if any(record.values()) else {}


def check_results(folder: Path) -> tuple[list[str], str]:
    """Compare what the results of a study were made from with the files that are there now.

    Args:
        folder: of the results, a path from the study's folder, which is the working directory.

    Returns:
        A sentence per problem, and one on how much was compared.
    """
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    problems, n_records = [], 0
    for file in _result_files(folder):
        try:
            record = read_record(file)
        except InputError as error:
            problems.append(str(error))
            continue
        n_records += bool(record)
        for path, digest in record.get("inputs", {}).items():
            users[path, digest].append(str(file))
    states = {(path, digest): _compare(path, digest) for path, digest in users}
    for (path, digest), state in sorted(states.items()):
        if state == _CHANGED:
            files = users[path, digest]
            problems.append(
                f"{path}: it has changed since {len(files)} file(s) were made from it, such as {files[0]}. Run the"
                " study again. If nothing runs, the change does not matter."
            )
    absent = sum(state == _ABSENT for state in states.values())
    missing = f" {absent} of these inputs are not here." if absent else ""
    return problems, f"Compared: {len(states)} inputs of {n_records} results.{missing}"


def tell_origin(file: Path) -> str:
    """Return as lines of text what a result was made from, down to the files that no job made.

    Args:
        file: a table, a list of vectors or a figure, as a path from the study's folder, which is the working directory.

    Raises:
        InputError: there is no such file, it is damaged, or it has no record.
    """
    if not file.is_file():
        raise InputError(f"{file}: no such file. Name a table or a figure.")
    own = file if file.suffix in _WITH_RECORD else _beside(file)
    if not (record := read_record(own)):
        raise InputError(
            f"{own}: it has no record of what it was made from. Name a Parquet table, a figure or a list of vectors;"
            " the page has its record under `How it was made`."
        )
    sources: dict[str, str] = {}
    inputs, reached = dict(record["inputs"]), [record]
    for one in reached:
        for path, digest in one["inputs"].items():
            if path not in sources:
                sources[path] = digest
                inner = read_record(Path(path)) if Path(path).suffix in _WITH_RECORD and Path(path).is_file() else {}
                reached += [inner] if inner else []
    ours = {path for path in sources if Path(path).parts[:1] == file.parts[:1]}
    said = {
        str(own): {"stage": record["stage"], **record["version"]},
        "Settings": {key: json.dumps(value, ensure_ascii=False) for key, value in record["settings"].items()},
        "Libraries": record["versions"],
        "Made from": {path: f"{digest}, {_compare(path, digest)}" for path, digest in inputs.items()},
        "Sources": {
            path: f"{sources[path]}, {_compare(path, sources[path])}" for path in sorted(sources.keys() - ours)
        },
    }
    blocks = [
        "\n".join([head, *(f"  {key}: {text}" for key, text in rows.items())]) for head, rows in said.items() if rows
    ]
    return "\n\n".join(blocks) + "\n"


def name_old_stores() -> Iterator[str]:
    """Yield a sentence for each kind of kept values that another version of the code made, which are never read."""
    for folder in (Path("results", name) for name in _KEPT_FOLDERS):
        keys = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/key.json")]
        if n_old := sum("version" not in key for key in keys):
            yield (
                f"{folder} has vectors or scores of {n_old} model settings from an earlier version of prasanga. They"
                " are not used, and what the study needs is computed again. `prasanga store prune` deletes them."
            )


def _beside(file: Path) -> Path:
    """Return the file with the record of the job that made another one: the SVG of a figure, the Parquet of a table."""
    places = [file.with_suffix(".parquet"), file.with_suffix(".svg"), file.parent.parent / f"{file.stem}.svg"]
    return next((place for place in places if place.is_file()), file)


def _result_files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("[!.]*")):
        kept = any(file.is_relative_to(folder / name) for name in _KEPT_FOLDERS)
        if file.suffix in _WITH_RECORD and file.is_file() and not kept:
            yield file


def _compare(path: str, digest: str) -> str:
    """Return whether a file still has a digest: sha256, or of a corpus file the xxh3 of 128 bits."""
    if not Path(path).is_file():
        return _ABSENT
    with Path(path).open("rb") as file:
        now = hashlib.file_digest(file, "sha256" if len(digest) == _SHA256 else xxhash.xxh3_128).hexdigest()
    return _SAME if now == digest else _CHANGED


def _to_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


# --------------------
# Fingerprints of code: one per script, of the script and all modules of the project that it imports.

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
