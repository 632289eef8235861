"""Whether a folder of results is what its ledger says, from the page to the corpus.

Snakemake makes anew what an edit or a change of the config touches, if it is among what was asked for. What is left
over from before, and was made with other code, another config or another revision of a model than its neighbours, is
found here.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.base.documents import is_whole_document, unreadable
from prasanga.base.errors import InputError
from prasanga.base.parquet import DamagedFileError, require_every_page
from prasanga.base.progress import BYTES, progress
from prasanga.provenance.code import Code, edits
from prasanga.provenance.ledger import LEDGER, Entry, Ledger, read_ledger, read_notes, result_files
from prasanga.provenance.lineage import corpus_digests, leaves, leaves_of, settings_of

AGAIN = (
    "Run the workflow again; what it then leaves as it is, no table of the study needs: ask for it by its name, or"
    " delete it."
)
"""What to do about a result that is left over from before."""
_OF_RUNS = ("code", "settings", "model", "input")
"""Findings of results that do not fit together, which concern those alone that the study still needs."""
_SHOWN = 50
_PIECE, _THREADS = 8 << 20, 4
_MARKED_WITHIN = 5.0  # seconds: Snakemake notes the start of a job for each of its files, one after the other
_NAMED = ("models", "static.vectors", "pairs.sets")
"""Sections of the config with an entry for each model, file of vectors or set."""
_LONGEST, _NAMES = 60, 8

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Finding:
    """Something that was found in a folder of results.

    Attributes:
        kind: changed, damaged, unknown, unfinished, lost, missing, input, source, code, settings, model, list: what
            does not fit; absent, libraries, newer code: what is worth knowing and not wrong.
        path: the file.
        text: what does not fit and what to do, or what is worth knowing; a sentence or more.
        is_wrong: whether the results are not what they should be.
    """

    kind: str
    path: str
    text: str
    is_wrong: bool = True


@dataclass(frozen=True)
class Check:
    """What was looked at, and what was found: what is wrong first."""

    n_files: int
    n_bytes: int
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that are wrong."""
        return tuple(each for each in self.findings if each.is_wrong)

    @property
    def summary(self) -> str:
        """One sentence."""
        looked = f"{self.n_files:,} files of {self.n_bytes / 1e6:,.1f} MB"
        if not self.wrong:
            return f"{looked}: all are what the ledger says, and fit together."
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(f.kind for f in self.wrong).items()))
        return f"{looked}: {len(self.wrong)} finding(s) that must be seen to ({kinds})."

    def to_tsv(self) -> str:
        """Return a table with the columns kind, path, wrong (yes or no) and text."""
        rows = [(each.kind, each.path, "yes" if each.is_wrong else "no", each.text) for each in self.findings]
        table = pl.DataFrame(rows, dict.fromkeys(("kind", "path", "wrong", "text"), pl.String), orient="row")
        return table.write_csv(separator="\t")


def check_results(
    folder: str | Path,
    *,
    root: str | Path = ".",
    planned: Collection[str] = (),
    wanted: Collection[str] = (),
    code: Mapping[str, Code] | None = None,
    shards: Callable[[Path], object] = lambda _: None,
) -> Check:
    """Compare every file of a folder of results with the ledger, and what they were made from with what is there.

    Args:
        folder: the results; every byte is read, but for vectors and scores that are kept for later runs.
        root: what the paths of sources start from.
        planned: sources that are read while planning (word lists): an edit of these may change no result, which
            Snakemake knows, and so is told and not wrong.
        wanted: results that the study ends with: one that was made and is gone is lost, whoever wrote it.
        code: of the scripts, by name, as they are now; None where there is no workflow.
        shards: raises InputError if the shards of a list of vectors do not belong together.

    Returns:
        The findings; none that is wrong if the folder is whole.
    """
    ledger = read_ledger(Path(folder, LEDGER))
    places = {ledger.name_of(place): place for place in result_files(ledger.folder)}
    digests = _digests(places)
    known = ledger.entries
    whole = {path: known[path] for path, sha256 in digests.items() if path in known and known[path].sha256 == sha256}
    # what is gone is part of the way to the corpus
    way = whole | {path: entry for path, entry in known.items() if path not in digests}
    findings = [
        *_ledger(ledger, digests),
        *_contents(digests, ledger),
        *_damaged(places, ledger, digests),
        *_unfinished(ledger),
        *_lost(ledger, digests, Path(root), wanted),
        *_inputs(way, ledger, digests),
        *_sources(way.values(), Path(root), planned),
        *_lists(ledger, digests, shards),
        *_code_mixtures(whole, ledger),
        *_settings_mixtures(whole, ledger),
        *_model_mixtures(whole),
        *_libraries(whole, ledger),
        *_newer_code(whole, ledger, code or {}),
    ]
    needed = _needed(known, digests)
    findings = [_left_over(each) if each.kind in _OF_RUNS and each.path not in needed else each for each in findings]
    findings.sort(key=lambda each: not each.is_wrong)
    return Check(len(places), sum(place.stat().st_size for place in places.values()), tuple(findings))


def say(check: Check, table: str) -> None:
    """Tell what was found, a line each, and at last the sum of it.

    Args:
        check: what was found.
        table: the file that has all of it; no more than some findings are shown.

    Raises:
        InputError: with the sum, if something is wrong.
    """
    for finding in check.findings[:_SHOWN]:
        level = logging.ERROR if finding.is_wrong else logging.INFO
        logger.log(level, "%s (%s): %s", finding.path, finding.kind, finding.text)
    if len(check.findings) > _SHOWN:
        logger.info("%d more findings: %s", len(check.findings) - _SHOWN, table)
    if check.wrong:
        raise InputError(f"{check.summary} Each with what to do: {table}")
    logger.info("%s", check.summary)


def _digests(places: Mapping[str, Path]) -> dict[str, str]:
    """Return the sha256 of each file; several threads read, since a fast disk gives more than one can digest."""
    sizes = {path: place.stat().st_size for path, place in places.items()}
    with progress("results read", sum(sizes.values()), BYTES) as read, ThreadPoolExecutor(_THREADS) as pool:
        found = pool.map(lambda place: _digest(place, hashlib.sha256(), read.advance), places.values())
        return dict(zip(places, found, strict=True))


def _digest(place: Path, digest: Any, advance: Callable[[int], object] = lambda _: None) -> str:
    try:
        with place.open("rb", buffering=0) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
                advance(len(piece))
    except OSError as error:
        raise unreadable(place, error) from error
    return str(digest.hexdigest())


def _ledger(ledger: Ledger, digests: Mapping[str, str]) -> Iterator[Finding]:
    if digests and not ledger.entries:
        text = (
            "No ledger, or nothing in it, so nothing says what made these results. Restore it from where the results"
            " come from, or run the workflow again, which makes them anew."
        )
        yield Finding("missing", str(ledger.folder / LEDGER), text)
    elif not digests:
        yield Finding("missing", str(ledger.folder), "No results are there. Run the workflow, or restore them.")


def _contents(digests: Mapping[str, str], ledger: Ledger) -> Iterator[Finding]:
    """Yield files that are not those of the ledger, or of which it knows nothing."""
    for path, sha256 in digests.items() if ledger.entries else ():
        entry = ledger.entries.get(path)
        if entry is None:
            text = (
                "Nothing says what made this file. If you put it there, move it elsewhere; otherwise delete it and run"
                " the workflow again."
            )
            yield Finding("unknown", path, text)
        elif entry.sha256 != sha256:
            text = (
                f"Its content (sha256 {sha256}) is not what the rule {entry.rule} wrote ({entry.sha256}): it was"
                " changed or damaged since. Restore it from a copy, or delete it and have it made again by its name:"
                f" snakemake {path} --cores all"
            )
            yield Finding("changed", path, text)


def _damaged(places: Mapping[str, Path], ledger: Ledger, digests: Mapping[str, str]) -> Iterator[Finding]:
    """Yield files that are not whole though nothing else speaks against them: they were noted too late."""
    for path, place in places.items():
        entry = ledger.entries.get(path)
        if entry is not None and entry.sha256 != digests[path]:
            continue
        try:
            if place.suffix == ".parquet":
                require_every_page(place)
            elif place.suffix == ".json" and not is_whole_document(place):
                raise InputError(f"{path}: no whole JSON file.")
        except InputError as error:
            what = error.what if isinstance(error, DamagedFileError) else str(error)
            text = f"{what} Delete it and have it made again by its name: snakemake {path} --cores all"
            yield Finding("damaged", path, text)


def _unfinished(ledger: Ledger) -> Iterator[Finding]:
    for place in sorted(ledger.folder.rglob(".*.tmp")):
        text = "Half-written by a process that was killed, and never read. Delete it."
        yield Finding("unfinished", ledger.name_of(place), text)


def _lost(ledger: Ledger, digests: Mapping[str, str], root: Path, wanted: Collection[str]) -> Iterator[Finding]:
    """Yield files that are gone while others of their job are there, that results were made from, or are `wanted`.

    Where no job reads them, no run makes them.
    """
    made_into = {
        source: path for path in digests if path in ledger.entries for source in ledger.entries[path].made_from
    }
    jobs: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for path, note in sorted(read_notes(root / ".snakemake/metadata")):
        if note.get("starttime"):
            jobs[str(note.get("rule")), json.dumps(note.get("log"))].append((float(note["starttime"]), path))
    for (rule, _), begun in sorted(jobs.items()):
        there = [(start, path) for start, path in begun if path in digests]
        for start, path in begun:
            beside = next((other for at, other in there if abs(at - start) < _MARKED_WITHIN), None)
            if path in digests or not path.startswith(f"{ledger.name}/") or ledger.place_of(path).exists():
                continue  # it is there, or no result: ledger, manifest, what is kept for later runs
            if beside:
                why = f"{beside}, which the same job of the rule {rule} wrote, is there"
            elif path in wanted:
                why = f"the rule {rule} had made it for this study"
            elif path in made_into:
                why = f"{made_into[path]} was made from it"
            else:
                continue
            text = f"It is gone, and {why}. Restore it, or have it made again by its name: snakemake {path} --cores all"
            yield Finding("lost", path, text)


def _inputs(way: Mapping[str, Entry], ledger: Ledger, digests: Mapping[str, str]) -> Iterator[Finding]:
    """Yield results that were made from other files than those that are there."""
    known, absent = ledger.entries, defaultdict[str, set[str]](set)
    for path, entry in way.items():
        for source, sha256 in entry.made_from.items():
            if not source.startswith(f"{ledger.name}/"):
                continue
            now = known[source].sha256 if source in known else digests.get(source)
            if sha256 is not None and now is not None and now != sha256:
                text = f"Made from another {source} (sha256 {sha256}) than the one that is there now ({now}). {AGAIN}"
                yield Finding("input", path, text)
            elif now is None:
                text = (
                    f"Made from {source}, which is not there, and nothing says what made it: the way to the corpus ends"
                    " here. Restore it with its ledger, or run the workflow again."
                )
                yield Finding("input", path, text)
            elif source not in digests:
                absent["/".join(source.split("/")[:2])].add(source)
    for where, paths in sorted(absent.items()):
        text = f"{len(paths)} file(s) that others were made from are not here; of these the ledger alone is asked."
        yield Finding("absent", where, text, is_wrong=False)


def _sources(entries: Iterable[Entry], root: Path, planned: Collection[str]) -> Iterator[Finding]:
    """Yield sources that are not those that results were made from."""
    import xxhash

    entries = list(entries)
    folder = {entry.path.partition("/")[0] for entry in entries}
    wanted: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        for path, sha256 in entry.made_from.items():
            if path.partition("/")[0] not in folder and sha256 is not None:
                wanted[path, "sha256"][sha256].append(entry.path)
        for path, xxh3 in corpus_digests(entry).items():
            wanted[path, "xxh3"][xxh3].append(entry.path)
    ways: dict[str, Callable[[], Any]] = {"sha256": hashlib.sha256, "xxh3": xxhash.xxh3_128}
    absent = {path for path, _ in wanted if not (root / path).is_file()}
    for path, way in sorted(key for key in wanted if key[0] not in absent):
        now, is_wrong = _digest(root / path, ways[way]()), path not in planned
        what = (
            "Put the old one back, or run the workflow again."
            if is_wrong
            else "It is read while planning; if a dry run has nothing to do, the edit changed nothing that counts."
        )
        for made in (made for digest, made in sorted(wanted[path, way].items()) if digest != now):
            other = f"another {path} than the one that is there now, such as {min(made)}."
            yield Finding("source", path, f"{len(made)} result(s) were made from {other} {what}", is_wrong=is_wrong)
    if absent:
        text = f"{len(absent)} source(s) are not here and were not compared, such as {min(absent)}."
        yield Finding("absent", "sources", text, is_wrong=False)


def _needed(known: Mapping[str, Entry], digests: Mapping[str, str]) -> set[str]:
    """Return the results that page and summary were made from, directly or not, and what is made for itself alone.

    Without page and summary, all are needed.
    """
    ends = [path for path in digests if path.split("/")[1:2] == ["report"] or path.endswith("/summary.json")]
    if not ends:
        return {*known, *digests}
    found = {*ends, *(path for path in digests if path.split("/")[1:2] in (["release"], ["construction"]))}
    todo = list(found)
    while todo:
        if (entry := known.get(todo.pop())) is not None:
            todo += (new := entry.made_from.keys() - found)
            found |= new
    return found


def _left_over(finding: Finding) -> Finding:
    text = (
        f"Left over from before, no table of the study needs it: {finding.text.removesuffix(AGAIN).rstrip()} Delete it."
    )
    return replace(finding, text=text, is_wrong=False)


def _lists(ledger: Ledger, digests: Mapping[str, str], fitting: Callable[[Path], object]) -> Iterator[Finding]:
    """Yield lists that name other shards than those that are there, or shards that were made differently."""
    for place, listed in _listed(ledger, "embeddings/*/*.json", "shards"):
        name = ledger.name_of(place)
        folder = name.rpartition("/")[0]
        for shard in (shard for shard, sha256 in listed.items() if digests.get(f"{folder}/{shard}", sha256) != sha256):
            text = (
                f"The shard {shard} is not the one that this list names. Restore it, or delete both, the shard and the"
                " list; what the store has is not embedded again. Have the list, and with it the shard, made again by"
                f" its name: snakemake {name} --cores all"
            )
            yield Finding("list", name, text)
        try:
            fitting(place)
        except InputError as error:
            yield Finding("list", name, str(error))
    for place, segments in _listed(ledger, "samples/*.json", "segments"):
        missing = [path for path in segments if not ledger.place_of(path).is_file()]
        if missing:
            text = f"{len(missing)} of {len(segments)} files that it names are not there, such as {missing[0]}. {AGAIN}"
            yield Finding("list", ledger.name_of(place), text)


def _listed(ledger: Ledger, pattern: str, key: str) -> Iterator[tuple[Path, Any]]:
    """Yield the lists that fit a pattern, each with what stands under a key; those that have none are passed over."""
    for place in sorted(ledger.folder.glob(pattern)):
        with suppress(ValueError, KeyError, TypeError):
            yield place, json.loads(place.read_text(encoding="utf-8"))[key]


def _by_code(whole: Mapping[str, Entry]) -> Iterator[tuple[Entry, list[str]]]:
    """Yield the results that were made with the same code, with the entry of one of them."""
    found: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for path, entry in whole.items():
        found[tuple(entry.code.items())].append(path)
    return ((whole[paths[0]], paths) for paths in found.values())


def _code_mixtures(whole: Mapping[str, Entry], ledger: Ledger) -> Iterator[Finding]:
    """Yield results that were made with another definition than others that use it."""
    made = ((ledger.definitions_of(entry), paths) for entry, paths in _by_code(whole))
    used = ((name, digest, paths) for definitions, paths in made for name, digest in definitions.items())
    odd: dict[str, list[str]] = defaultdict(list)
    for name, digest, path in _odd_ones(used, whole):
        odd[path].append(f"{name} {digest}")
    for path, names in sorted(odd.items()):
        yield Finding("code", path, f"Made with other code than its neighbours: {_some(names)}. {AGAIN}")


def _settings_mixtures(whole: Mapping[str, Entry], ledger: Ledger) -> Iterator[Finding]:
    """Yield results with a setting of an earlier config, beside others of their rule that have the newest one's."""
    newest = max(whole.values(), key=_made_at, default=None)
    config = dict(leaves(ledger.of(newest).config)) if newest is not None else {}
    of_rule: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for path, entry in whole.items():
        for name, value in leaves_of(entry):
            of_rule[entry.rule, name.rpartition(".")[2], _plain(value)][path] = None
    changed = {
        digest: [(key, value) for key, value in leaves(each.config) if key in config and value != config[key]]
        for digest, each in ledger.circumstances.items()
    }
    for path, entry in whole.items():
        for key, value in changed.get(entry.circumstances, ()):
            last = key.rpartition(".")[2]
            has_old = path in of_rule.get((entry.rule, last, _plain(value)), ())
            others = of_rule.get((entry.rule, last, _plain(config[key])), {})
            if has_old and others and _concerns(key, path):
                old, new = (_plain(each)[:_LONGEST] for each in (value, config[key]))
                yield Finding("settings", path, f"Made with {key} {old}, but {min(others)} with {new}. {AGAIN}")


def _concerns(key: str, path: str) -> bool:
    """Return whether a key of the config is of the study, or of the model, vectors or set that a result is of."""
    section = next((each for each in _NAMED if key.startswith(f"{each}.")), None)
    if section is None:
        return True
    name = key.removeprefix(f"{section}.").partition(".")[0]
    return any(part == name or part.startswith(f"{name}.") for part in path.split("/"))


def _model_mixtures(whole: Mapping[str, Entry]) -> Iterator[Finding]:
    """Yield results of one model in two revisions."""
    used = (
        (settings["model"], str(settings["revision"]), [path])
        for path, entry in whole.items()
        for settings in settings_of(entry)
        if isinstance(settings.get("model"), str) and "revision" in settings
    )
    for model, revision, path in _odd_ones(used, whole):
        text = f"Made with revision {revision} of {model}, which its neighbours were not. {AGAIN}"
        yield Finding("model", path, text)


def _libraries(whole: Mapping[str, Entry], ledger: Ledger) -> Iterator[Finding]:
    """Tell of several versions of libraries or kinds of hosts: the last digits of numbers may differ."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for path, entry in whole.items():
        said = ledger.of(entry)
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


def _newer_code(whole: Mapping[str, Entry], ledger: Ledger, now: Mapping[str, Code]) -> Iterator[Finding]:
    """Tell of results whose code has been edited since."""
    edited, made_before = set[str](), set[str]()
    for entry, paths in _by_code(whole):
        if found := edits(ledger.code_of(entry), now):
            edited |= found.keys()
            made_before.update(paths)
    if made_before:
        text = (
            f"{len(made_before)} result(s) were made before an edit of {_some(sorted(edited))}; a run that needs them"
            " makes them anew."
        )
        yield Finding("newer code", min(made_before), text, is_wrong=False)


def _odd_ones(used: Iterable[tuple[str, str, list[str]]], whole: Mapping[str, Entry]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, value, result) where a result has another value of what is named than the newest that has one.

    Args:
        used: name, value, and results that have it.
        whole: the entries of the results.
    """
    by_name: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, value, paths in used:
        by_name[name][value] += paths
    for name, by_value in by_name.items():
        if len(by_value) > 1:
            newest = max(by_value, key=lambda value: max(_made_at(whole[path]) for path in by_value[value]))
            others = {value: paths for value, paths in by_value.items() if value != newest}
            yield from ((name, value, path) for value, paths in others.items() for path in sorted(set(paths)))


def _made_at(entry: Entry) -> float:
    return float(entry.record.get("starttime") or entry.mtime_ns / 1e9)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (" and others" if len(names) > _NAMES else "")


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
