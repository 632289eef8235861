"""Fingerprints of code: the functions, classes and constants that a script reaches, by name, directly or not.

Snakemake looks at a script's modification time and not at all at what the script imports, so a clone would rerun
everything and an edit of the library nothing. Passed to a rule as a parameter, a changed fingerprint is a changed
parameter, and exactly the jobs rerun that reach the edited definition.

A definition counts with its code and with what the names in it lead to. Where it stands does not count, so it may move
to another module. Left out is what changes no result: comments, docstrings, annotations (but those of a class, which
make fields), and messages: what `raise` says, classes of errors, log calls, warnings, and text that is used in these
alone. What names cannot tell falls back to the module:

- a module that is used as a value (`getattr(module, name)`, passed on), that is asked for a name it does not have, or
  that `globals()` or `eval` look into, counts with everything that it defines;
- code at the level of a module that does more than bind names (registers something, sets an option) counts wherever the
  module is imported, and so does a definition whose decorator is not known to do nothing but wrap it.

What a source file says of this is learnt in `prasanga.provenance.definitions`.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.documents import digest_of, digests_of_files, read_cache, sha256_of, write_cache
from prasanga.base.places import installation, user_cache
from prasanga.provenance import definitions
from prasanga.provenance.definitions import (
    PACKAGES,
    RUN,
    WHOLE,
    Definition,
    is_left_out,
    joined,
    read_definitions,
    short_digest,
)

_NAMED = 5


class Code(NamedTuple):
    """What a script consists of.

    Attributes:
        fingerprint: 12 hexadecimal digits; equal ones mean the same code.
        definitions: the digest of each definition by its full name; of the script by its file name, of code that runs
            on import by the module's name, of the data files of a package (templates) as `<package> data`.
    """

    fingerprint: str
    definitions: dict[str, str]


class _Node(NamedTuple):
    module: str
    name: str  # of a definition, or `WHOLE`, or `RUN`


class _File(NamedTuple):
    """What was learnt of a source file.

    Attributes:
        sha256: of its bytes.
        definitions: by name; the code that runs when it is imported as `RUN`.
        imports: where the names come from that it imports from packages of ours.
    """

    sha256: str
    definitions: dict[str, Definition]
    imports: dict[str, tuple[tuple[str, str], ...]]

    @classmethod
    def read(cls, sha256: str, kept: str) -> _File:
        """Return the same from what `written` made of it."""
        definitions, imports = json.loads(kept)
        known = {name: Definition(*each) for name, each in definitions.items()}
        return cls(sha256, known, {name: tuple(map(tuple, places)) for name, places in imports.items()})

    def written(self) -> str:
        """Return all but the digest as JSON."""
        return json.dumps([self.definitions, self.imports], ensure_ascii=False)


class _Link(NamedTuple):
    """A definition in a project: its digest, the definitions that it leads to, the modules that run for it."""

    digest: str
    leads: list[_Node]
    runs: list[str]
    package: str


_known: dict[str, _File] = {}
"""What was learnt of source files in this process, by their module."""
_kept: dict[str, list[str]] = {}
"""What an earlier process kept, by module: the digest of the file, and JSON that is read only if it is asked for."""
_trees: dict[Path, _Tree] | None = None
"""What the source files of a project are in a block of `remembered`, in which each is looked at once; else None."""


def fingerprint(script: str | Path) -> Code:
    """Return what a script reaches, which lies two folders below the project (`workflow/scripts/measure_ceat.py`).

    Raises:
        ImportError: the script, or a module that it imports, imports a module of ours that does not exist.
    """
    script = Path(script).resolve()
    tree = _tree_at(script.parents[2])
    tree.paths[script.name] = script
    return tree.code_of([_Node(script.name, RUN)])


def fingerprint_of(*functions: Callable[..., object] | str, without: Collection[str] = ()) -> Code:
    """Return what functions or classes of this package reach.

    What they are given they do not reach by name: a class whose methods they call must be among them.

    Args:
        functions: themselves, or their full names where an import would take long.
        without: full names of modules, functions or classes that do not count, nor what they alone reach.

    Raises:
        LookupError: there is no such function or module.
    """
    tree = _tree_at(installation())
    names = (each if isinstance(each, str) else f"{each.__module__}.{each.__qualname__}" for each in functions)
    entries = [node for name in names for node in tree.find(name)]
    return tree.code_of(entries, [_full_name(node) for name in without for node in tree.find(name)])


def describe(
    stage: str,
    *,
    script: str | Path,
    inputs: Iterable[str | Path] | Mapping[str, str] = (),
    settings: Mapping[str, Any] | None = None,
    libraries: Sequence[str] = (),
) -> dict[str, str]:
    """Return what an output of `script` is made from, as plain strings for a file's metadata.

    Args:
        stage: name of the stage (lexicon, sentences, ...).
        script: the adapter that runs.
        inputs: files whose content went in, each named with its sha256; or a mapping of these, from `digests_of_files`,
            where several outputs are made from the same files.
        settings: the parameters that the stage was given (plain values).
        libraries: distributions whose version matters to the values.

    Returns:
        stage, code (the fingerprint), inputs (JSON: {path: sha256}), settings (JSON), versions (JSON), and
        fingerprint (digest of all of these): equal fingerprints mean the same values.
    """
    with remembered():
        code = fingerprint(script).fingerprint
    record = {
        "stage": stage,
        "code": code,
        "inputs": _plain(inputs if isinstance(inputs, Mapping) else digests_of_files(inputs)),
        "settings": _plain(dict(settings or {})),
        "versions": _plain({name: importlib.metadata.version(name) for name in libraries}),
    }
    return {**record, "fingerprint": digest_of(record)}


def edits(before: Mapping[str, Code], now: Mapping[str, Code]) -> dict[str, list[str]]:
    """Return what was edited of the code of scripts, each with the scripts that it changes.

    Args:
        before: what results were made with (`Synchronization.code`).
        now: the same scripts as they are now; others do not matter.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for script in sorted(before.keys() & now.keys()):
        old, new = before[script], now[script]
        if old.fingerprint != new.fingerprint:
            moved = set(old.definitions.values()) & set(new.definitions.values())
            both = old.definitions.items() ^ new.definitions.items()
            names = {name for name, digest in both if digest not in moved} if script in old.definitions else set()
            for name in sorted(names) or [script]:
                found[name].append(script)
    return dict(found)


def say_edits(before: Mapping[str, Code], now: Mapping[str, Code]) -> str:
    """Return a sentence on what was edited since results were made; none if nothing was (see `edits`)."""
    found = [
        f"{name} ({', '.join(scripts[:_NAMED])}{' and others' if len(scripts) > _NAMED else ''})"
        for name, scripts in edits(before, now).items()
    ]
    if not found:
        return ""
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"code was edited since results were made, and what needs it runs again: {', '.join(found[:_NAMED])}{more}."


@contextmanager
def remembered() -> Iterator[None]:
    """Keep what is learnt of source files in the block in the user's cache, and find it there the next time.

    Parsing the package takes a second or two, and a plan asks for the fingerprints of all rules. A file is known by the
    digest of its bytes, so an edit is seen whatever the times of files say; in the block each file is looked at once.
    Without a cache that can be read or written, the same comes out.
    """
    global _trees
    cache = user_cache("plans") / "code.json"
    key = sha256_of(Path(__file__).read_bytes() + Path(definitions.__file__).read_bytes())
    kept: dict[str, list[str]] = read_cache(cache, key) or {}
    _kept.update(kept)
    outer, _trees = _trees, {}
    try:
        yield
    finally:
        _trees = outer
        if new := {name: file for name, file in _known.items() if name not in kept or kept[name][0] != file.sha256}:
            write_cache(cache, key, kept | {name: [file.sha256, file.written()] for name, file in new.items()})


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _tree_at(root: Path) -> _Tree:
    trees = {} if _trees is None else _trees
    if root not in trees:
        trees[root] = _Tree(root)
    return trees[root]


def _full_name(node: _Node) -> str:
    return f"{node.module}.{node.name}" if node.name not in (WHOLE, RUN) else node.module


class _Tree:
    """The source files of a project, and what leads from one definition to another.

    Attributes:
        paths: the file of each module.
    """

    def __init__(self, root: Path) -> None:
        self.paths: dict[str, Path] = {}
        for package, place in PACKAGES.items():
            # a wheel puts the packages beside the folder of the workflow
            folder = root / place if (root / place / package).is_dir() else root.parent
            for path in (folder / package).rglob("*.py"):
                parts = path.relative_to(folder).with_suffix("").parts
                self.paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self._files: dict[str, _File] = {}
        self._links: dict[_Node, _Link] = {}
        self._data: dict[str, str] = {}

    def code_of(self, entries: Iterable[_Node], without: Collection[str] = ()) -> Code:
        """Return what the entries reach, but for the definitions and modules `without`.

        Definitions are numbered in the order in which names lead to them; what stands for each is its own digest and
        the numbers of those that it leads to, and not where it stands.
        """
        numbers = {node: number for number, node in enumerate(dict.fromkeys(entries))}
        queue, todo, ran = list(numbers), list[str](), set[str]()
        lines, definitions, data = list[str](), dict[str, str](), dict[str, str]()

        def number(node: _Node) -> int:
            if node not in numbers:
                numbers[node] = len(numbers)
                queue.append(node)
            return numbers[node]

        for node in queue:
            link = self._link(node)
            leads = [to for to in link.leads if not _is_within(_full_name(to), without)] if without else link.leads
            lines.append(f"{link.digest} {[number(target) for target in leads]}")
            if link.digest:
                definitions[_full_name(node)] = link.digest
            if found := self._data_of(link.package):
                data[f"{link.package} data"] = found
            todo += [module for module in link.runs if module not in ran]
            if len(lines) == len(queue):
                for effect in self._effects(todo, ran, without):
                    number(effect)
        lines += sorted(data.values())
        return Code(short_digest("\n".join(lines)), dict(sorted((definitions | data).items())))

    def find(self, name: str) -> list[_Node]:
        """Return what a full name stands for; LookupError if it stands for nothing."""
        module = name
        while module and module not in self.paths:
            module = module.rpartition(".")[0]
        dotted = name.removeprefix(module).removeprefix(".")
        found = list(self._resolve(module, dotted or WHOLE, set())) if module else []
        unknown = (WHOLE, "__getattr__")  # what a name comes to that its module does not have
        if not found or (dotted not in ("", "__getattr__") and any(node.name in unknown for node in found)):
            raise LookupError(f"there is no {name} in the packages {', '.join(PACKAGES)}")
        return found

    def _file(self, module: str) -> _File:
        if module not in self._files:
            path = self.paths.get(module)
            if path is None:
                raise ImportError(f"there is no module {module} in the packages {', '.join(PACKAGES)}")
            self._files[module] = _learn(path, module)
        return self._files[module]

    def _link(self, node: _Node) -> _Link:
        if node not in self._links:
            file = self._file(node.module)
            if node.name == WHOLE:
                own = [(node.module, name) for name in sorted(file.definitions)]
                places = [place for name in sorted(file.imports) for place in file.imports[name]]
                definition = Definition("", (*own, *places), ())
            else:
                definition = file.definitions[node.name]
            leads = [target for place in definition.reaches for target in self._resolve(*place, set())]
            runs = [module for module, _ in definition.runs]
            runs += [inner for place in definition.runs if (inner := ".".join(place)) in self.paths]
            package = node.module if _is_package(self.paths[node.module]) else node.module.rpartition(".")[0]
            self._links[node] = _Link(definition.digest, leads, list(dict.fromkeys([node.module, *runs])), package)
        return self._links[node]

    def _resolve(self, module: str, dotted: str, seen: set[tuple[str, str]]) -> Iterator[_Node]:
        """Yield the definitions that a dotted name in a module stands for; the whole module if that cannot be told."""
        if is_left_out(module) or (module, dotted) in seen:
            return
        seen.add((module, dotted))
        file = self._file(module)
        head, _, rest = dotted.partition(".")
        is_defined, places = head in file.definitions, file.imports.get(head, ())
        if head in (WHOLE, RUN):
            yield _Node(module, head)
        elif is_defined or any(place != (module, head) for place in places):
            if is_defined:
                yield _Node(module, head)
            for other, name in places:
                yield from self._resolve(other, joined(name, rest) or WHOLE, seen)
        elif f"{module}.{head}" in self.paths:
            yield from self._resolve(f"{module}.{head}", rest or WHOLE, seen)
        elif "__getattr__" in file.definitions:
            yield _Node(module, "__getattr__")
        else:
            yield _Node(module, WHOLE)

    def _effects(self, todo: list[str], ran: set[str], without: Collection[str]) -> list[_Node]:
        """Return the code that runs when the modules `todo` are imported; `ran` are those that were looked at."""
        found = []
        while todo:
            module = todo.pop()
            if module in ran or is_left_out(module) or _is_within(module, without):
                continue
            ran.add(module)
            link = self._link(code := _Node(module, RUN))
            todo += [other for other in link.runs if other not in ran]
            if (parent := module.rpartition(".")[0]) in self.paths:
                todo.append(parent)
            if link.digest:
                found.append(code)
        return sorted(found, key=lambda node: self._link(node).digest)

    def _data_of(self, package: str) -> str:
        """Return a digest of the data files of a package; empty if it has none."""
        if package not in self._data:
            paths = _data_files(self.paths[package].parent) if package in self.paths else []
            digests = [f"{path.name}\0{sha256_of(path.read_bytes())}\n" for path in paths]
            self._data[package] = short_digest("".join(digests)) if paths else ""
        return self._data[package]


def _is_within(name: str, modules: Collection[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def _data_files(folder: Path) -> list[Path]:
    """Return the files of a package that are not Python, nor left by an editor, outside of packages within it."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name == "__pycache__" or path.name.startswith((".", "#")) or path.name.endswith("~"):
            continue
        if path.is_dir() and not (path / "__init__.py").exists():
            found += _data_files(path)
        elif path.is_file() and path.suffix != ".py":
            found.append(path)
    return found


def _learn(path: Path, module: str) -> _File:
    """Return what a source file holds, by its bytes as they are now."""
    name = f"{module}.__init__" if _is_package(path) else module
    source = path.read_bytes()
    sha256 = sha256_of(source)
    if name not in _known or _known[name].sha256 != sha256:
        if name in _kept and _kept[name][0] == sha256:
            _known[name] = _File.read(*_kept[name])
        else:
            _known[name] = _File(sha256, *read_definitions(source, module, is_package=_is_package(path)))
    return _known[name]


def _is_package(path: Path) -> bool:
    return path.name == "__init__.py"
