"""Whether a folder of results is what its ledger says, from the page to the corpus."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from prasanga.documents import is_whole_document
from prasanga.errors import InputError
from prasanga.parquet import DamagedFileError, require_every_page
from prasanga.progress import BYTES, progress
from prasanga.provenance.files import unreadable
from prasanga.provenance.findings import AGAIN, Check, Finding
from prasanga.provenance.ledger import LEDGER, Entry, read_notes, result_files
from prasanga.provenance.lineage import Results, corpus_digests, open_results, params_of
from prasanga.provenance.mixtures import code_mixtures, libraries, model_mixtures, newer_code, settings_mixtures

_PIECE, _THREADS = 8 << 20, 4
_MARKED_WITHIN = 5.0  # seconds: Snakemake notes the start of a job for each of its files, one after the other


def check_results(
    folder: str | Path,
    *,
    root: str | Path = ".",
    planned: Collection[str] = (),
    code: Callable[[str], Mapping[str, str]] | None = None,
) -> Check:
    """Compare every file of a folder of results with the ledger, and what they were made from with what is there.

    Args:
        folder: the results; every byte is read, but for vectors and scores that are kept for later runs.
        root: what the paths of sources start from.
        planned: sources that are read while planning (word lists): an edit of these may change no result, which
            Snakemake knows, and so is told and not wrong.
        code: {script or module: digest} of a script of this name as it is now; None where there is no workflow.

    Returns:
        The findings; none that is wrong if the folder is whole.
    """
    results = open_results(folder)
    places = {results.name_of(place): place for place in result_files(results.folder)}
    digests = _digests(places)
    known = results.ledger.entries
    whole = {path: known[path] for path, sha256 in digests.items() if path in known and known[path].sha256 == sha256}
    # what is gone is part of the way to the corpus
    way = whole | {path: entry for path, entry in known.items() if path not in digests}
    findings = [
        *_ledger(results, digests),
        *_contents(digests, results),
        *_damaged(places, results, digests),
        *_unfinished(results),
        *_lost(results, digests, Path(root)),
        *_inputs(way, results, digests),
        *_sources(way.values(), Path(root), planned),
        *_lists(results, digests),
        *code_mixtures(whole),
        *settings_mixtures(whole, results),
        *model_mixtures(whole),
        *libraries(whole, results),
        *newer_code(whole, code),
    ]
    findings.sort(key=lambda each: not each.is_wrong)
    return Check(len(places), sum(place.stat().st_size for place in places.values()), tuple(findings))


def _digests(places: Mapping[str, Path]) -> dict[str, str]:
    """The sha256 of each file, read by several threads: a fast disk gives more than one can digest."""
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


def _ledger(results: Results, digests: Mapping[str, str]) -> Iterator[Finding]:
    if digests and not results.ledger.entries:
        text = (
            "No ledger, or nothing in it, so nothing says what made these results. Restore it from where the results"
            " come from, or run the workflow again, which makes them anew."
        )
        yield Finding("missing", str(results.folder / LEDGER), text)
    elif not digests:
        yield Finding("missing", str(results.folder), "No results are there. Run the workflow, or restore them.")


def _contents(digests: Mapping[str, str], results: Results) -> Iterator[Finding]:
    """Files that are not those of the ledger, or of which it knows nothing."""
    for path, sha256 in digests.items() if results.ledger.entries else ():
        entry = results.ledger.entries.get(path)
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


def _damaged(places: Mapping[str, Path], results: Results, digests: Mapping[str, str]) -> Iterator[Finding]:
    """Files that are no whole ones though nothing else speaks against them: the ledger came to know them too late."""
    for path, place in places.items():
        entry = results.ledger.entries.get(path)
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


def _unfinished(results: Results) -> Iterator[Finding]:
    for place in sorted(results.folder.rglob(".*.tmp")):
        text = "Half-written by a process that was killed, and never read. Delete it."
        yield Finding("unfinished", results.name_of(place), text)


def _lost(results: Results, digests: Mapping[str, str], root: Path) -> Iterator[Finding]:
    """Files that are gone while others of the same job are there: where no job reads them, no run makes them again."""
    jobs: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for path, note in sorted(read_notes(root / ".snakemake/metadata")):
        if note.get("starttime"):
            jobs[str(note.get("rule")), json.dumps(note.get("log"))].append((float(note["starttime"]), path))
    folder = next(iter(results.ledger.entries), "results/").partition("/")[0]
    for (rule, _), begun in sorted(jobs.items()):
        there = [(start, path) for start, path in begun if path in digests]
        for start, path in begun:
            beside = next((other for at, other in there if abs(at - start) < _MARKED_WITHIN), None)
            if path in digests or not path.startswith(f"{folder}/") or not beside or _is_kept(results, path):
                continue
            text = (
                f"It is gone, and {beside}, which the same job of the rule {rule} wrote, is there. Restore it,"
                f" or have it made again by its name: snakemake {path} --cores all"
            )
            yield Finding("lost", path, text)


def _is_kept(results: Results, path: str) -> bool:
    """Whether a file lies there that is no result: ledger, manifest, what is kept for later runs."""
    return results.place_of(path).exists()


def _inputs(way: Mapping[str, Entry], results: Results, digests: Mapping[str, str]) -> Iterator[Finding]:
    """Results that were made from other files than those that are there."""
    known, absent = results.ledger.entries, defaultdict[str, list[str]](list)
    folder = next(iter(known), "results/").partition("/")[0]
    for path, entry in way.items():
        for source, sha256 in entry.made_from.items():
            if not source.startswith(f"{folder}/"):
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
                absent["/".join(source.split("/")[:2])].append(source)
    for where, paths in sorted(absent.items()):
        text = f"{len(set(paths))} file(s) that others were made from are not here; of these the ledger alone is asked."
        yield Finding("absent", where, text, is_wrong=False)


def _sources(entries: Iterable[Entry], root: Path, planned: Collection[str]) -> Iterator[Finding]:
    """Sources that are not those that results were made from."""
    import xxhash

    entries = list(entries)
    folder = {entry.path.partition("/")[0] for entry in entries}
    wanted: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for entry in entries:
        for path, sha256 in entry.made_from.items():
            if path.partition("/")[0] not in folder and sha256 is not None:
                wanted[path, "sha256", sha256].append(entry.path)
        for path, xxh3 in corpus_digests(params_of(entry)).items():
            wanted[path, "xxh3", xxh3].append(entry.path)
    ways: dict[str, Callable[[], Any]] = {"sha256": hashlib.sha256, "xxh3": xxhash.xxh3_128}
    absent: set[str] = set()
    present: dict[tuple[str, str], str] = {}
    for path, way, digest in sorted(wanted):
        if not (root / path).is_file():
            absent.add(path)
            continue
        present.setdefault((path, way), _digest(root / path, ways[way]()))
        if present[path, way] != digest:
            yield _changed_source(path, wanted[path, way, digest], is_wrong=path not in planned)
    if absent:
        text = f"{len(absent)} source(s) are not here and were not compared, such as {min(absent)}."
        yield Finding("absent", "sources", text, is_wrong=False)


def _changed_source(path: str, made: Collection[str], *, is_wrong: bool) -> Finding:
    text = f"{len(made)} result(s) were made from another {path} than the one that is there now, such as {min(made)}."
    what = (
        " Put the old one back, or run the workflow again."
        if is_wrong
        else " It is read while planning; if a dry run has nothing to do, the edit changed nothing that counts."
    )
    return Finding("source", path, text + what, is_wrong=is_wrong)


def _lists(results: Results, digests: Mapping[str, str]) -> Iterator[Finding]:
    """Lists of shards that name others than those that are there; shards of one list that were made differently."""
    from prasanga.embeddings.shards import fitting_shards

    for place in sorted(results.folder.glob("embeddings/*/*.json")):
        try:
            listed = json.loads(place.read_text(encoding="utf-8"))["shards"]
        except (ValueError, KeyError, TypeError):
            continue
        name = results.name_of(place)
        differ = [shard for shard, sha256 in listed.items() if digests.get(_beside(name, shard), sha256) != sha256]
        for shard in differ:
            text = (
                f"The shard {shard} is not the one that this list names. Restore it, or delete both, the shard and the"
                " list; what the store has is not embedded again. Have the list, and with it the shard, made again by"
                f" its name: snakemake {name} --cores all"
            )
            yield Finding("list", name, text)
        try:
            fitting_shards(place)
        except InputError as error:
            yield Finding("list", name, str(error))
    for place in sorted(results.folder.glob("samples/*.json")):
        try:
            segments = json.loads(place.read_text(encoding="utf-8"))["segments"]
        except (ValueError, KeyError, TypeError):
            continue
        missing = [path for path in segments if not results.place_of(path).is_file()]
        if missing:
            text = f"{len(missing)} of {len(segments)} files that it names are not there, such as {missing[0]}. {AGAIN}"
            yield Finding("list", results.name_of(place), text)


def _beside(list_name: str, shard: str) -> str:
    return f"{list_name.rpartition('/')[0]}/{shard}"
