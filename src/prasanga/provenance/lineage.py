"""What a result was made from, step by step, down to what nobody made here, and how that is told in plain words.

What nobody made here are the corpus, word lists, and models of others. The folder of results alone is asked.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from prasanga.base.documents import digest_of, sha256_of_file, unreadable
from prasanga.base.errors import InputError, reason
from prasanga.base.parquet import made_from
from prasanga.base.places import said
from prasanga.provenance.ledger import LEDGER, Circumstances, Entry, Ledger, read_ledger, result_files

_DIGEST = rb"([0-9a-f]{16})"
_INSIDE = {
    ".svg": rb"<dc:source>" + _DIGEST + rb"</dc:source>",
    ".pdf": rb"/Subject \(" + _DIGEST + rb"\)",
    ".png": rb"tEXtSource\0" + _DIGEST,
    ".html": rb"<dt>Fingerprint</dt><dd><code>" + _DIGEST + rb"</code>",
}
"""How the fingerprint of its making stands in a file that is no table (`prasanga.provenance.describe`)."""
_HOW = {
    "path": "{path} is a result of the workflow, with the content that the ledger says.",
    "content": "{path} has the content of the result {result}.",
    "fingerprint": (
        "{path} is no result as it lies there, but it carries the fingerprint of the job that made {result}: another"
        " format of the same figure, or a copy that was changed afterwards."
    ),
    "name": (
        "{path} is NOT the file that the workflow made: its content is another than the ledger says. It was changed or"
        " put there by somebody else. What follows is said of the file that was there."
    ),
}
_OF_CONFIG = ("study", "title", "language", "preset", "seed", "categories")
_SEEDS = ("seed", "twins", "random_weights")


@dataclass(frozen=True)
class Source:
    """A file that results were made from and that no job made.

    Attributes:
        path: as the workflow names it.
        sha256: of its content then; None where nobody knows.
        xxh3: the digest that corpus files are known by; None for others.
    """

    path: str
    sha256: str | None
    xxh3: str | None


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


def tell(path: Path, folder: Path | None = None, *, whole: bool = False) -> str:
    """Return what is known of a file.

    Args:
        path: the file.
        folder: the results that it may come from; None for those that it lies in, or `results` here.
        whole: tell every step, and the whole config.

    Raises:
        InputError: no such file, no ledger, a file that the ledger does not know, or a ledger that says of it what no
            workflow would write.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file. Name a table, a figure or the page, or a copy of one.")
    above = (parent for parent in path.absolute().parents if (parent / LEDGER).is_file())
    folder = folder or next(above, Path("results"))
    ledger = read_ledger(folder / LEDGER)
    if not ledger.entries:
        raise InputError(
            f"{folder / LEDGER}: no such ledger, or nothing in it, and so nothing says what made the file {path}. Name"
            " the folder of results that it comes from: --results FOLDER"
        )
    try:
        found = identify(path, ledger)
    except OSError as error:
        raise unreadable(error.filename or path, error) from error
    if found is None:
        raise InputError(
            f"{path}: no result of the workflow under {folder}: neither its content nor a fingerprint inside it is"
            " known there. It was made by somebody else, by another study, or again since. Name another folder of"
            " results: --results FOLDER"
        )
    try:
        return explain(path, found, ledger, whole=whole)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"{folder / LEDGER}: what it says of {path} no workflow has written ({type(error).__name__}:"
            f" {reason(error)}). It was changed since, or comes from another version: ask whoever made the results."
        ) from error


def follow(entry: Entry, ledger: Ledger) -> Lineage:
    """Return everything that a result was made from, directly or not."""
    steps: dict[str, Entry] = {}
    sources: dict[tuple[str, str | None], None] = {}
    gaps: dict[str, Gap] = {}
    xxh3: dict[str, str] = {}
    folder = entry.path.partition("/")[0]
    todo = [entry]
    while todo:
        made = todo.pop(0)
        xxh3 |= corpus_digests(made)
        for path, sha256 in made.made_from.items():
            before = ledger.entries.get(path)
            if before is not None and sha256 in (None, before.sha256):
                if path not in steps and path != entry.path:
                    steps[path] = before
                    todo.append(before)
            elif path.startswith(f"{folder}/"):
                gaps[path] = Gap(path, sha256, made.path)
            else:
                sources[path, sha256] = None
    # a corpus file that Snakemake has no digest of is named by its jobs alone
    sources |= dict.fromkeys((path, None) for path in xxh3.keys() - {path for path, _ in sources})
    found = [Source(path, sha256, xxh3.get(path)) for path, sha256 in sources]
    return Lineage(entry, tuple(steps.values()), tuple(sorted(found, key=lambda each: each.path)), tuple(gaps.values()))


def identify(path: Path, ledger: Ledger) -> Found | None:
    """Return which result a file is: by its content, or by the fingerprint inside it; None if it is none."""
    sha256, entries = sha256_of_file(path), ledger.entries
    place, folder = path.absolute(), ledger.folder.absolute()
    own = entries.get(ledger.name_of(place)) if place.is_relative_to(folder) else None
    same = [entry for entry in entries.values() if entry.sha256 == sha256]
    if own is not None and own.sha256 == sha256:
        return Found(own, "path", tuple(entry.path for entry in same if entry.path != own.path))
    if same:
        nearest = min(same, key=lambda entry: (Path(entry.path).name != path.name, entry.path))
        return Found(nearest, "content", tuple(entry.path for entry in same if entry is not nearest))
    if fingerprint := fingerprint_inside(path):
        known = (each for each in result_files(ledger.folder) if ledger.name_of(each) in entries)
        if alike := [each for each in known if fingerprint_inside(each) == fingerprint]:
            best = min(alike, key=lambda each: (each.suffix != path.suffix, each.name != path.name, len(each.parts)))
            return Found(entries[ledger.name_of(best)], "fingerprint")
    return Found(own, "name") if own is not None else None


def fingerprint_inside(path: Path) -> str | None:
    """Return the fingerprint that a table (Parquet), a figure or a page carries; None if it has none."""
    if path.suffix == ".parquet":
        try:
            return made_from(path).get("fingerprint")
        except ValueError:
            return None
    pattern = _INSIDE.get(path.suffix.lower())
    found = re.search(pattern, path.read_bytes()) if pattern else None
    return found[1].decode() if found else None


def explain(path: str | Path, found: Found, ledger: Ledger, *, whole: bool = False) -> str:
    """Return what a file was made from: lines of text with headings.

    Args:
        path: the file that was asked about.
        found: which result it is (`prasanga.provenance.lineage.identify`).
        ledger: of the results that it is or was among.
        whole: tell every step on the way with its settings and code, and the whole config.
    """
    lineage = follow(found.entry, ledger)
    entries = (lineage.result, *lineage.steps)
    sections: list[tuple[str, Iterator[str]]] = [
        ("", _file(str(path), found)),
        ("Made from", _inputs(lineage)),
        ("On the way", _steps(lineage, whole=whole)),
        ("Study", _study(found.entry, ledger, whole=whole)),
        ("Corpus", (_source(each) for each in lineage.sources if each.xxh3)),
        ("Word lists, templates and other sources", (_source(each) for each in lineage.sources if not each.xxh3)),
        ("Models", _models(entries, ledger)),
        ("Seeds", _seeds(entries)),
        ("Code", _code(entries, ledger, whole=whole)),
        ("Libraries and host", _circumstances(entries, ledger)),
    ]
    blocks = [[heading, *(f"  {line}" if heading else line for line in lines)] for heading, lines in sections]
    return "\n\n".join("\n".join(line for line in block if line) for block in blocks if len(block) > 1) + "\n"


def settings_of(entry: Entry) -> list[dict[str, Any]]:
    """Return the dictionaries among a job's parameters, which Snakemake notes as Python writes them."""
    return _settings(tuple(map(str, entry.record.get("params") or [])))


def leaves_of(entry: Entry) -> Iterator[tuple[str, Any]]:
    """Yield the settings that a file was made with, their keys joined by dots."""
    for settings in settings_of(entry):
        yield from leaves(settings)


def leaves(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested mappings, each with its keys joined by dots."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def corpus_digests(entry: Entry) -> dict[str, str]:
    """Return the digests (xxh3, 128 bits) of the corpus files that a job was given, by their paths."""
    found: dict[str, str] = {}
    for settings in settings_of(entry):
        match settings:
            case {"shard": {"path": str(path)}, "digest": str(digest)}:
                found[path] = digest
            case {"shards": [*shards], "digests": [*digests]} if len(shards) == len(digests):
                pairs = zip(shards, digests, strict=True)
                found |= {shard["path"]: digest for shard, digest in pairs if "path" in shard}
    return found


@functools.cache
def _settings(texts: tuple[str, ...]) -> list[dict[str, Any]]:
    found = []
    for text in texts:
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            if isinstance(value := ast.literal_eval(text), dict):
                found.append(value)
    return found


def _file(path: str, found: Found) -> Iterator[str]:
    entry = found.entry
    yield _HOW[found.how].format(path=path, result=entry.path)
    yield f"{entry.path}: sha256 {entry.sha256}, {entry.size:,} bytes"
    made = datetime.fromtimestamp(float(entry.record.get("endtime") or entry.mtime_ns / 1e9))
    yield f"made by the rule {entry.rule}, {made:%Y-%m-%d %H:%M:%S}"
    if found.others:
        yield f"The same content: {', '.join(found.others)}"


def _inputs(lineage: Lineage) -> Iterator[str]:
    steps = {step.path: step for step in lineage.steps}
    for path, sha256 in lineage.result.made_from.items():
        rule = f", made by {steps[path].rule}" if path in steps else ""
        yield f"{path}  sha256 {sha256 or steps[path].sha256 if path in steps else sha256 or 'not known'}{rule}"
    for gap in lineage.gaps:
        yield f"{gap.path}  sha256 {gap.sha256 or 'not known'}: which {gap.of} was made from, is not known any more"


def _steps(lineage: Lineage, *, whole: bool) -> Iterator[str]:
    for step in lineage.steps if whole else ():
        yield f"{step.path}  sha256 {step.sha256}, made by {step.rule}"
        yield from (f"    {_plain(settings)}" for settings in settings_of(step))
    if lineage.steps and not whole:
        counts = sorted(Counter(step.rule for step in lineage.steps).items())
        rules = ", ".join(f"{rule} {count}" for rule, count in counts)
        yield f"{len(lineage.steps)} other results, by the rules {rules}"


def _study(entry: Entry, ledger: Ledger, *, whole: bool) -> Iterator[str]:
    config = ledger.of(entry).config
    if not config:
        yield "The config is not known: the file was made before the ledger kept it, or by a run that was killed."
        return
    for key in config if whole else _OF_CONFIG:
        if key in config:
            yield f"{key}: {_plain(config[key])}"
    yield f"digest of the whole config: {digest_of(config)}"


def _source(source: Source) -> str:
    digests = [f"sha256 {source.sha256}"] if source.sha256 else []
    digests += [f"xxh3 {source.xxh3}"] if source.xxh3 else []
    return f"{said(source.path)}  {', '.join(digests) or 'digest not known'}"


def _models(entries: tuple[Entry, ...], ledger: Ledger) -> Iterator[str]:
    told: dict[str, dict[str, Any]] = {}
    for settings in (each for entry in entries for each in settings_of(entry)):
        if isinstance(settings.get("model"), str):
            told.setdefault(_plain([settings["model"], settings.get("revision"), _options(settings)]), settings)
    weights = {entry.path: f"sha256 of the weights {entry.sha256}" for entry in entries if entry.rule == "train_model"}
    reports = {
        settings.get("model"): ledger.place_of(entry.path)
        for entry in entries
        for settings in settings_of(entry)
        if entry.rule == "check_model" and not entry.path.endswith((".tokenizer.json", ".tokenizer.parquet"))
    }
    for settings in told.values():
        said = [f"revision {settings.get('revision') or 'not pinned'}"]
        said += [f"{key} {settings[key]}" for key in ("layer", "dtype", "pieces") if key in settings]
        said += [f"{key} {_plain(value)}" for key, value in _options(settings).items()]
        name = settings["model"]
        if digest := _identity(reports.get(name)) or weights.get(f"{name}/model.safetensors"):
            said.insert(0, digest)
        yield f"{name}  {', '.join(said)}"


def _options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a model is loaded, where that is not as usual; seeds of twins are told elsewhere."""
    options: Mapping[str, Any] = settings.get("options") or {}
    usual = ("auto", "none")
    return {key: value for key, value in options.items() if value and value not in usual and key != "random_weights"}


def _identity(report: Path | None) -> str | None:
    """Return what the workflow knows a model by (sha256, or id and commit), if the report on it is there."""
    try:
        identity: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))["identity"] if report else {}
    except (OSError, ValueError, KeyError):
        return None
    return ", ".join(f"{key} {value}" for key, value in identity.items()) or None


def _seeds(entries: tuple[Entry, ...]) -> Iterator[str]:
    found = {
        (entry.rule, f"{name} {value}")
        for entry in entries
        for name, value in leaves_of(entry)
        if name.rpartition(".")[2] in _SEEDS and value is not None
    }
    yield from (f"{rule}: {seed}" for rule, seed in sorted(found))


def _code(entries: tuple[Entry, ...], ledger: Ledger, *, whole: bool) -> Iterator[str]:
    script, digest = next(iter(entries[0].code.items()), (entries[0].rule, "not known"))
    own = ledger.definitions_of(entries[0])
    kind = "definitions" if own != entries[0].code else "modules"  # as an older version noted them
    yield f"workflow/scripts/{script} and the {len(own) - 1} {kind} that it reaches: fingerprint {digest}"
    others = {name: each for entry in entries for name, each in ledger.definitions_of(entry).items()}
    yield f"all of the way: {len(others)} scripts and {kind}, fingerprint {digest_of(others)}"
    if whole:
        yield from (f"{name} {each}" for name, each in sorted(others.items()))


def _circumstances(entries: tuple[Entry, ...], ledger: Ledger) -> Iterator[str]:
    counts = Counter(entry.circumstances for entry in entries)
    for digest, count in counts.most_common():
        circumstances = ledger.circumstances.get(digest)
        if circumstances is None:
            yield f"{count} of {len(entries)} results: not known"
            continue
        if len(counts) > 1:
            own = ", the file itself among them" if digest == entries[0].circumstances else ""
            yield f"{count} of {len(entries)} results{own}:"
        yield from _told(circumstances)


def _told(circumstances: Circumstances) -> Iterator[str]:
    """Yield libraries and host, a line each."""
    host, settings = circumstances.host, circumstances.settings
    yield ", ".join(f"{name} {version}" for name, version in circumstances.libraries.items())
    gpus = [f"{count} x {model}" for model, count in Counter(host.get("gpus", [])).items()]
    driver = f" (driver {host['gpu_driver']})" if "gpu_driver" in host else ""
    processor = [host.get(key, f"{key} not known") for key in ("processor", "architecture")]
    units = " ".join(host.get("instructions", [])) or "instructions not known"
    cards = ", ".join(gpus) + driver if gpus else "no graphics card"
    yield f"{', '.join(processor)}, {host.get('cores', '?')} cores ({units}), {host.get('system', '?')}; {cards}"
    yield "run with " + ", ".join(f"{key} {_plain(value)}" for key, value in settings.items() if value)
    if variables := host.get("variables"):
        yield "environment " + ", ".join(f"{name}={value}" for name, value in variables.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
