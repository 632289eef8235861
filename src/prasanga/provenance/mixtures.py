"""Results that do not belong to one run: other code, another config, another revision of a model than their neighbours.

Snakemake makes anew what an edit or a change of the config touches, if it is among what was asked for. What is left
over from before is found here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prasanga.provenance.findings import AGAIN, Finding
from prasanga.provenance.ledger import Entry
from prasanga.provenance.lineage import Results, params_of
from prasanga.provenance.telling import leaves

_NAMED = ("models", "static.vectors", "pairs.sets")
"""Sections of the config with an entry for each model, file of vectors or set."""
_LONGEST, _NAMES = 60, 8


def code_mixtures(whole: Mapping[str, Entry]) -> Iterator[Finding]:
    """Results that were made with another module than others that use it."""
    by_module: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, entry in whole.items():
        for name, digest in params_of(entry).code.items():
            by_module[name][digest].append(path)
    odd: dict[str, list[str]] = defaultdict(list)
    for name, by_digest in by_module.items():
        for digest, path in _odd_ones(by_digest, whole):
            odd[path].append(f"{name} {digest}")
    for path, names in sorted(odd.items()):
        text = f"Made with other code than its neighbours: {', '.join(names)}. {AGAIN}"
        yield Finding("code", path, text)


def settings_mixtures(whole: Mapping[str, Entry], results: Results) -> Iterator[Finding]:
    """Results with a setting of an earlier config, beside others of their rule that have that of the newest one."""
    newest = max(whole.values(), key=_made_at, default=None)
    config = dict(leaves(results.ledger.of(newest).config)) if newest is not None else {}
    of_rule: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for path, entry in whole.items():
        for name, value in _settings(entry):
            of_rule[entry.rule, name.rpartition(".")[2], _plain(value)][path] = None
    changed = {
        digest: [(key, value) for key, value in leaves(each.config) if key in config and value != config[key]]
        for digest, each in results.ledger.circumstances.items()
    }
    for path, entry in whole.items():
        for key, value in changed.get(entry.circumstances, ()):
            last = key.rpartition(".")[2]
            has_old = path in of_rule.get((entry.rule, last, _plain(value)), ())
            others = of_rule.get((entry.rule, last, _plain(config[key])), {})
            if has_old and others and _concerns(key, path):
                old, new = (_plain(each)[:_LONGEST] for each in (value, config[key]))
                yield Finding("settings", path, f"Made with {key} {old}, but {min(others)} with {new}. {AGAIN}")


def _settings(entry: Entry) -> Iterator[tuple[str, Any]]:
    for settings in params_of(entry).settings:
        yield from leaves(settings)


def _concerns(key: str, path: str) -> bool:
    """Whether a key of the config is of the study, or of the model, file of vectors or set that a result is of."""
    section = next((each for each in _NAMED if key.startswith(f"{each}.")), None)
    if section is None:
        return True
    name = key.removeprefix(f"{section}.").partition(".")[0]
    return any(part == name or part.startswith(f"{name}.") for part in path.split("/"))


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def model_mixtures(whole: Mapping[str, Entry]) -> Iterator[Finding]:
    """Results of one model in two revisions."""
    by_model: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, entry in whole.items():
        for settings in params_of(entry).settings:
            if isinstance(settings.get("model"), str) and "revision" in settings:
                by_model[settings["model"]][str(settings["revision"])].append(path)
    for model, by_revision in by_model.items():
        for revision, path in _odd_ones(by_revision, whole):
            text = f"Made with revision {revision} of {model}, which its neighbours were not. {AGAIN}"
            yield Finding("model", path, text)


def _odd_ones(by_value: Mapping[str, list[str]], whole: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """(value, path) of those that differ from the newest result."""
    if len(by_value) > 1:
        newest = max(by_value, key=lambda value: max(_made_at(whole[path]) for path in by_value[value]))
        for value, paths in by_value.items():
            if value != newest:
                yield from ((value, path) for path in sorted(set(paths)))


def _made_at(entry: Entry) -> float:
    return float(entry.record.get("starttime") or entry.mtime_ns / 1e9)


def libraries(whole: Mapping[str, Entry], results: Results) -> Iterator[Finding]:
    """Several versions of libraries or kinds of hosts: the last digits of numbers may differ."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for path, entry in whole.items():
        said = results.ledger.of(entry)
        kind: dict[str, Any] = {**said.libraries}
        kind |= {key: said.host[key] for key in ("processor", "gpus") if key in said.host}
        by_kind[json.dumps(kind, sort_keys=True, ensure_ascii=False)].append(path)
    nothing = by_kind.pop("{}", [])
    if nothing:
        text = f"Libraries and host are not known of {len(nothing)} result(s), such as {min(nothing)}."
        yield Finding("libraries", min(nothing), text, is_wrong=False)
    common = max(by_kind, key=lambda kind: len(by_kind[kind]), default="{}")
    others: dict[str, Any] = json.loads(common)
    for described, paths in by_kind.items():
        own: dict[str, Any] = json.loads(described)
        differ = [f"{key} {own.get(key)}" for key in sorted(own | others) if own.get(key) != others.get(key)]
        if differ:
            text = f"{len(paths)} result(s) were made with {', '.join(differ)}, unlike {len(by_kind[common])} others."
            yield Finding("libraries", min(paths), text, is_wrong=False)


def newer_code(whole: Mapping[str, Entry], code: Callable[[str], Mapping[str, str]] | None) -> Iterator[Finding]:
    """Results whose code has been edited since."""
    now: dict[str, Mapping[str, str]] = {}
    edited, made_before = set[str](), set[str]()
    for path, entry in whole.items():
        then = params_of(entry).code
        script = next((name for name in then if name.endswith(".py")), "")
        if code is None or not script:
            continue
        if script not in now:
            now[script] = code(script)
        changed = {name for name, digest in now[script].items() if then.get(name) != digest}
        if changed:
            edited |= changed
            made_before.add(path)
    if made_before:
        names = ", ".join(sorted(edited)[:_NAMES]) + (" and others" if len(edited) > _NAMES else "")
        text = (
            f"{len(made_before)} result(s) were made before an edit of {names}; a run that needs them makes them anew."
        )
        yield Finding("newer code", min(made_before), text, is_wrong=False)
