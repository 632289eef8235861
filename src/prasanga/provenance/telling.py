"""What is known of a result, in plain words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from prasanga.provenance.circumstances import Circumstances
from prasanga.provenance.files import digest_of
from prasanga.provenance.ledger import Entry
from prasanga.provenance.lineage import Found, Lineage, Params, Results, Source, follow, params_of

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
_SEEDS = ("seed", "random_weights")


def explain(path: str | Path, found: Found, results: Results, *, whole: bool = False) -> str:
    """What a file was made from: lines of text with headings.

    Args:
        path: the file that was asked about.
        found: which result it is (`prasanga.provenance.lineage.identify`).
        results: where the result lies or lay.
        whole: tell every step on the way with its settings and code, and the whole config.
    """
    lineage = follow(found.entry, results.ledger)
    entries = (lineage.result, *lineage.steps)
    sections: list[tuple[str, Iterator[str]]] = [
        ("", _file(str(path), found)),
        ("Made from", _inputs(lineage)),
        ("On the way", _steps(lineage, whole=whole)),
        ("Study", _study(found.entry, results, whole=whole)),
        ("Corpus", (_source(each) for each in lineage.sources if each.xxh3)),
        ("Word lists, templates and other sources", (_source(each) for each in lineage.sources if not each.xxh3)),
        ("Models", _models(entries, results)),
        ("Seeds", _seeds(entries)),
        ("Code", _code(entries, whole=whole)),
        ("Libraries and host", _circumstances(entries, results)),
    ]
    blocks = [[heading, *(f"  {line}" if heading else line for line in lines)] for heading, lines in sections]
    return "\n\n".join("\n".join(line for line in block if line) for block in blocks if len(block) > 1) + "\n"


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
    counts = Counter(step.rule for step in lineage.steps)
    if not whole:
        if counts:
            rules = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
            yield f"{len(lineage.steps)} other results, by the rules {rules}"
        return
    for step in lineage.steps:
        yield f"{step.path}  sha256 {step.sha256}, made by {step.rule}"
        yield from (f"    {_plain(settings)}" for settings in params_of(step).settings)


def _study(entry: Entry, results: Results, *, whole: bool) -> Iterator[str]:
    config = results.ledger.of(entry).config
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
    return f"{source.path}  {', '.join(digests) or 'digest not known'}"


def _models(entries: tuple[Entry, ...], results: Results) -> Iterator[str]:
    told: dict[str, dict[str, Any]] = {}
    for settings in (each for entry in entries for each in params_of(entry).settings):
        if isinstance(settings.get("model"), str):
            told.setdefault(_plain([settings["model"], settings.get("revision"), _options(settings)]), settings)
    weights = {entry.path: f"sha256 of the weights {entry.sha256}" for entry in entries if entry.rule == "train_model"}
    reports = {
        settings.get("model"): results.place_of(entry.path)
        for entry in entries
        for settings in params_of(entry).settings
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
    """How a model is loaded, where that is not as usual; seeds of twins are told elsewhere."""
    options: Mapping[str, Any] = settings.get("options") or {}
    usual = ("auto", "none")
    return {key: value for key, value in options.items() if value and value not in usual and key != "random_weights"}


def _identity(report: Path | None) -> str | None:
    """What the workflow knows a model by (sha256, or id and commit), if the report on it is there."""
    try:
        identity: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))["identity"] if report else {}
    except (OSError, ValueError, KeyError):
        return None
    return ", ".join(f"{key} {value}" for key, value in identity.items()) or None


def _seeds(entries: tuple[Entry, ...]) -> Iterator[str]:
    found: dict[tuple[str, str], None] = {}
    for entry in entries:
        for name, value in _leaves(params_of(entry)):
            if name.rpartition(".")[2] in _SEEDS and value is not None:
                found[entry.rule, f"{name} {value}"] = None
    for rule, seed in sorted(found):
        yield f"{rule}: {seed}"


def _leaves(params: Params) -> Iterator[tuple[str, Any]]:
    for settings in params.settings:
        yield from leaves(settings)


def leaves(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested mappings, each with its keys joined by dots."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _code(entries: tuple[Entry, ...], *, whole: bool) -> Iterator[str]:
    own = params_of(entries[0]).code
    script = next((name for name in own if name.endswith(".py")), entries[0].rule)
    yield f"workflow/scripts/{script} and what it reaches: fingerprint {own.get(script) or digest_of(own)}"
    others = {name: digest for entry in entries for name, digest in params_of(entry).code.items()}
    yield f"all of the way: {len(others)} scripts, fingerprint {digest_of(others)}"
    if whole:
        yield from (f"{name} {digest}" for name, digest in sorted(others.items()))


def _circumstances(entries: tuple[Entry, ...], results: Results) -> Iterator[str]:
    counts = Counter(entry.circumstances for entry in entries)
    for digest, count in counts.most_common():
        circumstances = results.ledger.circumstances.get(digest)
        if circumstances is None:
            yield f"{count} of {len(entries)} results: not known"
            continue
        if len(counts) > 1:
            own = ", the file itself among them" if digest == entries[0].circumstances else ""
            yield f"{count} of {len(entries)} results{own}:"
        yield from told(circumstances)


def told(circumstances: Circumstances) -> Iterator[str]:
    """Libraries and host, a line each."""
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
