"""Write results with records of their inputs, check those records, and compute fingerprints of the code.

Every script of the workflow is a `Task`, which writes its tables with a record: stage, settings, library versions and
digests of the inputs. The record is in the metadata of Parquet files and of a figure's SVG, and in `made_from` of lists
of vectors; CSV, Markdown and LaTeX files lack it. Fingerprints let Snakemake see that a script's code has changed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import polars as pl
import pyarrow as pa
import xxhash

from prasanga.base.errors import InputError
from prasanga.base.io import (
    digest_of,
    digests_of_files,
    guarded,
    made_from,
    read_cache,
    read_document,
    replacing,
    require_equal,
    sha256_of_file,
    to_tsv,
    write_cache,
    write_table,
    write_text,
)
from prasanga.base.logs import log_to
from prasanga.base.places import installation, user_cache

Table: TypeAlias = pa.Table | pl.DataFrame
_WITH_RECORD = (".parquet", ".json", ".svg")
_SAME, _CHANGED, _ABSENT = "as it is now", "changed since", "not here"
_SHA256 = 64  # hexadecimal digits
_SOURCE = ".//{http://purl.org/dc/elements/1.1/}source"
_KEPT_FOLDERS = ("store", "likelihoods/kept")
"""Folders of vectors and scores for later runs; their names are digests of their inputs."""


class Task:
    """A job of the workflow, as its script sees it.

    Attributes:
        input, output, params, wildcards: as Snakemake gives them to a script.
        threads: the job's cores.
        cards: the job's GPUs.
    """

    def __init__(self, snakemake: Any, stage: str) -> None:
        """Begin a job: all messages go to its log.

        Args:
            snakemake: Snakemake's object for a script.
            stage: name of the stage for the record.
        """
        log_to(snakemake.log[0])
        self.input, self.output = snakemake.input, snakemake.output
        self.params, self.wildcards = snakemake.params, snakemake.wildcards
        self.threads, self.cards = snakemake.threads, snakemake.resources.get("cards", 0)
        self._stage = stage

    def describe(
        self,
        settings: Mapping[str, Any] | None = None,
        inputs: Iterable[str | Path] | Mapping[str, str] | None = None,
        libraries: Sequence[str] = (),
        stage: str = "",
    ) -> dict[str, str]:
        """Return the record of an output, by default with all inputs of the job."""
        return describe(
            stage or self._stage,
            inputs=self.input if inputs is None else inputs,
            settings=settings,
            libraries=libraries,
            version=self.params.get("version"),
        )

    @staticmethod
    def require_one_version(*paths: Iterable[str]) -> None:
        """Refuse inputs of one kind that were made by different versions."""
        require_equal([path for each in paths for path in each], ["stage", "version"])

    @staticmethod
    def write(path: str, table: Table, made_from: Mapping[str, str]) -> None:
        """Write a table as Parquet."""
        write_table(path, table.to_arrow() if isinstance(table, pl.DataFrame) else table, made_from)

    @staticmethod
    def write_csv(path: str, table: Table) -> None:
        """Write a table for spreadsheets, with commas."""
        frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
        with replacing(path) as temporary:
            guarded(frame).write_csv(temporary)

    @staticmethod
    def write_tsv(path: str, table: pa.Table, for_reader: Sequence[str] = ()) -> None:
        """Write a table for spreadsheets, with tabs; `for_reader` names empty columns that a person fills in."""
        write_text(path, to_tsv(table, for_reader=list(for_reader)))


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
        inputs: the input files, or their digests by path if several results share inputs.
        settings: the parameters of the stage (plain values).
        libraries: distributions whose version affects the values.
        version: the name and value of the stage's version constant, if any (`SENTENCES_VERSION` and others).

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
    """Return the record of a result, all but `stage` and `fingerprint` as mappings; only empty `inputs` without one.

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
    elif file.suffix == ".svg" and (source := ElementTree.parse(file).find(_SOURCE)) is not None:
        record = json.loads(source.text or "{}")
    maps = {key: json.loads(record.get(key) or "{}") for key in ("inputs", "settings", "version", "versions")}
    return {**record, **maps} if any(record.values()) else {"inputs": {}}


def check_results(folder: Path) -> tuple[list[str], str]:
    """Compare the recorded inputs of a study's results with the files that exist now.

    Args:
        folder: the results, as a path from the study's folder, which is the working directory.

    Returns:
        A sentence per problem, and one on how much was compared.
    """
    users: dict[tuple[str, str], list[Path]] = defaultdict(list)
    problems, n_records = [], 0
    for file in sorted(folder.rglob("[!.]*")):
        is_kept = any(file.is_relative_to(folder / name) for name in _KEPT_FOLDERS)
        if file.suffix not in _WITH_RECORD or not file.is_file() or is_kept:
            continue
        try:
            record = read_record(file)
        except InputError as error:
            problems.append(str(error))
            continue
        n_records += "stage" in record
        for item in record["inputs"].items():
            users[item].append(file)
    states = {item: _compare(*item) for item in sorted(users)}
    problems += [
        f"{item[0]}: it has changed since {len(users[item])} file(s) were made from it, such as {users[item][0]}."
        " Run the study again. If nothing runs, the change does not matter."
        for item, state in states.items()
        if state == _CHANGED
    ]
    absent = list(states.values()).count(_ABSENT)
    missing = f" {absent} of these inputs are not here." if absent else ""
    return problems, f"Compared: {len(states)} inputs of {n_records} results.{missing}"


def tell_origin(file: Path) -> str:
    """Return the inputs of a result as lines of text, down to the files that no job made.

    Args:
        file: a table, a list of vectors or a figure, as a path from the study's folder, which is the working directory.

    Raises:
        InputError: the file is missing or damaged, or lacks a record.
    """
    if not file.is_file():
        raise InputError(f"{file}: no such file. Name a table or a figure.")
    places = [file, file.with_suffix(".parquet"), file.with_suffix(".svg"), file.parent.parent / f"{file.stem}.svg"]
    own = next((place for place in places if place.suffix in _WITH_RECORD and place.is_file()), file)
    record = read_record(own)
    if "stage" not in record:
        raise InputError(
            f"{own}: it lacks a record of its inputs. Name a Parquet table, a figure or a list of vectors; the page's"
            " record is under `How it was made`."
        )
    sources, waiting = dict[str, str](), [record]
    while waiting:
        inputs = waiting.pop()["inputs"]
        for path in inputs.keys() - sources.keys():
            sources[path] = inputs[path]
            if Path(path).is_file():
                waiting.append(read_record(Path(path)))
    ours = {path for path in sources if Path(path).parts[:1] == file.parts[:1]}
    said = {
        str(own): {"stage": record["stage"], **record["version"]},
        "Settings": {key: json.dumps(value, ensure_ascii=False) for key, value in record["settings"].items()},
        "Libraries": record["versions"],
        "Made from": {path: f"{digest}, {_compare(path, digest)}" for path, digest in record["inputs"].items()},
        "Sources": {
            path: f"{sources[path]}, {_compare(path, sources[path])}" for path in sorted(sources.keys() - ours)
        },
    }
    blocks = [
        "\n".join([head, *(f"  {key}: {text}" for key, text in rows.items())]) for head, rows in said.items() if rows
    ]
    return "\n\n".join(blocks) + "\n"


def _compare(path: str, digest: str) -> str:
    """Return whether a file still has a digest: sha256 or, for a corpus file, 128-bit xxh3."""
    if not Path(path).is_file():
        return _ABSENT
    with Path(path).open("rb") as file:
        now = hashlib.file_digest(file, "sha256" if len(digest) == _SHA256 else xxhash.xxh3_128).hexdigest()
    return _SAME if now == digest else _CHANGED


def _to_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


# --------------------
# Fingerprints of code: one per script, over the script and all project modules that it imports.

_PACKAGES = {"prasanga": "src", "prasanga_construction": "construction", "prasanga_calibration": "calibration"}
"""The packages of the project, each with its folder in a checkout; a wheel has all of them in one folder."""
_KEPT = 2000


def fingerprints(files: Iterable[Path]) -> dict[Path, str]:
    """Return a digest (16 hexadecimal digits) of the code that each script or module can run.

    The code is the file and all project modules that it imports, directly or not. A name that a package only re-exports
    leads to the module that defines it. Parsing the project takes two seconds, so the user's cache keeps the parsed
    content of each file by the digest of its bytes.

    Raises:
        ImportError: a file imports a project module that does not exist.
    """
    cache_file, key = user_cache("plans") / "code.json", sha256_of_file(Path(__file__))
    known: dict[str, Any] = read_cache(cache_file, key) or {}
    n_known = len(known)

    @cache
    def read(path: Path) -> tuple[str, list[list[str]]]:
        digest = sha256_of_file(path)
        if digest not in known:
            known[digest] = _learn(path)
        code, imports = known[digest]
        return code, imports

    @cache
    def find(module: str, name: str) -> Path:
        """Return the file that defines a name of a module."""
        if name and (inner := _locate(f"{module}.{name}")):
            return inner
        path = module_file(module)
        passed_on = read(path)[1] if name and path.name == "__init__.py" else []
        return next((find(other, there) for other, there, here in passed_on if here == name), path)

    found = {}
    for file in files:
        reached, waiting, digests = {file}, [file], list[str]()
        while waiting:
            path = waiting.pop()
            code, imports = read(path)
            digests.append(code)
            if path.name == "__init__.py":
                digests += map(sha256_of_file, _data_files(path.parent))
            new = {find(module, name) for module, name, _ in imports} - reached
            reached |= new
            waiting += new
        found[file] = digest_of(sorted(digests))
    if len(known) > n_known:
        write_cache(cache_file, key, dict(list(known.items())[-_KEPT:]))
    return found


def module_file(module: str) -> Path:
    """Return the source file of a project module.

    Raises:
        ImportError: it does not exist.
    """
    if (path := _locate(module)) is None:
        raise ImportError(f"module {module} is missing in the packages {', '.join(_PACKAGES)}")
    return path


def _locate(module: str) -> Path | None:
    package, *_ = parts = module.split(".")
    checkout, wheel = installation() / _PACKAGES[package], Path(__file__).resolve().parents[2]
    place = (checkout if (checkout / package).is_dir() else wheel).joinpath(*parts)
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _learn(path: Path) -> tuple[str, list[list[str]]]:
    """Return a digest of a file's syntax tree, and (module, name or "", name in this file) of each project import."""

    def is_left_out(statement: ast.AST) -> bool:
        """Return whether a statement is a docstring, of an attribute too, or imports for type checkers.

        Packages re-export names by such imports (`prasanga.base.offered`), so they count there.
        """
        if isinstance(statement, ast.If):
            return ast.unparse(statement.test) == "TYPE_CHECKING" and path.name != "__init__.py"
        value = statement.value if isinstance(statement, ast.Expr) else None
        return isinstance(value, ast.Constant) and isinstance(value.value, str)

    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [statement for statement in body if not is_left_out(statement)]
    imports: list[list[str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [[alias.name, "", alias.asname or alias.name] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports += [[node.module or "", alias.name, alias.asname or alias.name] for alias in node.names]
    code = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return code, [each for each in imports if each[0].split(".")[0] in _PACKAGES]


def _data_files(folder: Path) -> Iterator[Path]:
    """Yield a package's files that are neither Python nor compiled Python, except in packages within it."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            yield from _data_files(path)
        elif path.is_file() and path.suffix != ".py":
            yield path
