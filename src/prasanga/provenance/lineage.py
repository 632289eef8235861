"""What a result was made from, step by step, down to what nobody made here: corpus, word lists, models of others."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prasanga.parquet import made_from
from prasanga.provenance.files import sha256_of_file
from prasanga.provenance.ledger import LEDGER, Entry, Ledger, read_ledger, result_files

_CODE = re.compile(r"'([\w.]+(?: data)?) ([0-9a-f]{12})'")
_DIGEST = rb"([0-9a-f]{16})"
_INSIDE = {
    ".svg": rb"<dc:source>" + _DIGEST + rb"</dc:source>",
    ".pdf": rb"/Subject \(" + _DIGEST + rb"\)",
    ".png": rb"tEXtSource\0" + _DIGEST,
    ".html": rb"<dt>Fingerprint</dt><dd><code>" + _DIGEST + rb"</code>",
}
"""How the fingerprint of its making stands in a file that is no table (`prasanga.provenance.describe`)."""


@dataclass(frozen=True)
class Params:
    """What a job was given beside its files.

    Attributes:
        code: digests of the script and of the modules that it reaches, by name.
        settings: the dictionaries among the parameters.
        others: all other values.
    """

    code: dict[str, str] = field(default_factory=dict)
    settings: list[dict[str, Any]] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)


def params_of(entry: Entry) -> Params:
    """The parameters in Snakemake's note, which writes each as Python does."""
    return _params(tuple(map(str, entry.record.get("params") or [])))


@functools.cache
def _params(texts: tuple[str, ...]) -> Params:
    params = Params()
    for text in texts:
        if found := _CODE.fullmatch(text):
            params.code[found[1]] = found[2]
            continue
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            value = text
        (params.settings if isinstance(value, dict) else params.others).append(value)
    return params


@dataclass(frozen=True)
class Source:
    """A file that results were made from and that no job made.

    Attributes:
        path: as the workflow names it.
        sha256: of its content then; None where nobody knows.
        xxh3: the digest that corpus files are known by; None for others.
        rules: the rules that read it.
    """

    path: str
    sha256: str | None
    xxh3: str | None
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Gap:
    """A result that another was made from, and of which the ledger does not know how it was made."""

    path: str
    sha256: str | None
    of: str


@dataclass(frozen=True)
class Lineage:
    """A result, all results that it was made from (nearest first), sources, and gaps on the way."""

    result: Entry
    steps: tuple[Entry, ...]
    sources: tuple[Source, ...]
    gaps: tuple[Gap, ...]


def follow(entry: Entry, ledger: Ledger) -> Lineage:
    """Everything that a result was made from, directly or not."""
    steps: dict[str, Entry] = {}
    sources: dict[tuple[str, str | None], list[str]] = {}
    gaps: dict[str, Gap] = {}
    xxh3: dict[str, str] = {}
    folder = entry.path.partition("/")[0]
    todo = [entry]
    while todo:
        made = todo.pop(0)
        xxh3 |= corpus_digests(params_of(made))
        for path, sha256 in made.made_from.items():
            before = ledger.entries.get(path)
            if before is not None and sha256 in (None, before.sha256):
                if path not in steps and path != entry.path:
                    steps[path] = before
                    todo.append(before)
            elif path.startswith(f"{folder}/"):
                gaps[path] = Gap(path, sha256, made.path)
            else:
                sources.setdefault((path, sha256), []).append(made.rule)
    # a corpus file that Snakemake has no digest of is named by its jobs alone
    named = {path for path, _ in sources}
    for path in xxh3.keys() - named:
        sources[path, None] = []
    found = [
        Source(path, sha256, xxh3.get(path), tuple(sorted(set(rules)))) for (path, sha256), rules in sources.items()
    ]
    return Lineage(entry, tuple(steps.values()), tuple(sorted(found, key=lambda each: each.path)), tuple(gaps.values()))


def corpus_digests(params: Params) -> dict[str, str]:
    """The digests (xxh3, 128 bits) of the corpus files that a job was given, by their paths."""
    found: dict[str, str] = {}
    for settings in params.settings:
        match settings:
            case {"shard": {"path": str(path)}, "digest": str(digest)}:
                found[path] = digest
            case {"shards": [*shards], "digests": [*digests]} if len(shards) == len(digests):
                pairs = zip(shards, digests, strict=True)
                found |= {shard["path"]: digest for shard, digest in pairs if "path" in shard}
    return found


@dataclass(frozen=True)
class Results:
    """A folder of results with its ledger; the folder may have another name than when it was made."""

    folder: Path
    ledger: Ledger

    def place_of(self, path: str) -> Path:
        """Where a result lies that the ledger calls `path`."""
        return self.folder.joinpath(*path.split("/")[1:])

    def name_of(self, place: Path) -> str:
        """What the ledger calls a file of the folder."""
        first = next(iter(self.ledger.entries), "results/").partition("/")[0]
        return f"{first}/{place.absolute().relative_to(self.folder.absolute()).as_posix()}"


def open_results(folder: str | Path) -> Results:
    """A folder of results with what its ledger says; an empty ledger if it has none."""
    folder = Path(folder)
    return Results(folder, read_ledger(folder / LEDGER))


def find_results(path: Path) -> Path | None:
    """The nearest folder above a file that has a ledger."""
    return next((parent for parent in path.absolute().parents if (parent / LEDGER).is_file()), None)


@dataclass(frozen=True)
class Found:
    """Which result a file is.

    Attributes:
        entry: what is known of the result.
        how: `path` (it lies where the ledger says, with the content that the ledger says), `content` (it is a copy),
            `fingerprint` (it was made by the same job, or is a changed copy), `name` (it lies where the ledger says,
            but its content is another).
        others: other results with the same content.
    """

    entry: Entry
    how: str
    others: tuple[str, ...] = ()


def identify(path: Path, results: Results) -> Found | None:
    """Which result a file is: by its content, or by the fingerprint inside it; None if it is none."""
    sha256, entries = sha256_of_file(path), results.ledger.entries
    place, folder = path.absolute(), results.folder.absolute()
    own = entries.get(results.name_of(place)) if place.is_relative_to(folder) else None
    same = [entry for entry in entries.values() if entry.sha256 == sha256]
    if own is not None and own.sha256 == sha256:
        return Found(own, "path", tuple(entry.path for entry in same if entry.path != own.path))
    if same:
        nearest = min(same, key=lambda entry: (Path(entry.path).name != path.name, entry.path))
        return Found(nearest, "content", tuple(entry.path for entry in same if entry is not nearest))
    if fingerprint := fingerprint_inside(path):
        alike = [each for each in _with_fingerprint(fingerprint, results) if results.name_of(each) in entries]
        if alike:
            best = min(alike, key=lambda each: (each.suffix != path.suffix, each.name != path.name, len(each.parts)))
            return Found(entries[results.name_of(best)], "fingerprint")
    return Found(own, "name") if own is not None else None


def fingerprint_inside(path: Path) -> str | None:
    """The fingerprint that a table (Parquet), a figure or a page carries; None if it has none."""
    if path.suffix == ".parquet":
        try:
            return made_from(path).get("fingerprint")
        except ValueError:
            return None
    pattern = _INSIDE.get(path.suffix.lower())
    found = re.search(pattern, path.read_bytes()) if pattern else None
    return found[1].decode() if found else None


def _with_fingerprint(fingerprint: str, results: Results) -> Iterator[Path]:
    for path in result_files(results.folder):
        if path.suffix in (*_INSIDE, ".parquet") and fingerprint_inside(path) == fingerprint:
            yield path
