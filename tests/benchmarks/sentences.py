"""Speed and memory of the sentences stage beside the simple way: `python tests/benchmarks/sentences.py [--quick]`.

Prints Markdown: what was asked, what this machine gives, what the simple way gives in the same run, and how long a
large corpus would take. How it is measured stands in `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpora import Corpus, first_lines, read_texts, repeat_corpus, sort_lines, words_of, write_corpus
from lexica import enlarge, our_lexicon, write_forms
from measured import processor, write_measured
from processes import cores, measure, measure_together, seconds_of_a_process, seconds_of_snakemake
from projection import Parts, project
from tables import Row, report

PROJECT = Path(__file__).parents[2]
SEED = 2024
LENGTHS = [9, 25, 75, ">75"]
CONTEXTS_PER_STIMULUS = 1_200
STIMULI = 250
PART_MEGABYTES = 512
GIB = 1 << 30
#: MB/s of the simple way in all, of its matching and of its normalization, on two cores of another machine.
SIMPLE_WAY_SEEN = (0.5, 0.57, 3.0)


@dataclass(frozen=True)
class Sizes:
    """Bytes of the corpora, and how often a measurement is repeated."""

    fast: int = 100_000_000
    simple: int = 4_000_000
    times: int = 20  # the large corpus is the fast one so many times over
    repeats: int = 3


QUICK = Sizes(fast=10_000_000, simple=1_000_000, times=5, repeats=1)


@dataclass(frozen=True)
class Bench:
    """Where the corpora, lexica and results lie, and how large they are."""

    folder: Path
    sizes: Sizes
    tenth: Corpus
    every: Corpus
    simple_tenth: Corpus
    simple_every: Corpus
    forms: Path
    many_forms: Path
    stimuli: int

    def job(self, corpus: Corpus, forms: Path | None = None, **part: Any) -> tuple[str, dict[str, Any]]:
        """The extraction of a corpus, or of a part of it, as a task."""
        out = self.folder / f"out-{part.get('start', 0)}.parquet"
        return "extract", {"path": str(corpus.path), "forms": str(forms or self.forms), "out": str(out), **part}

    def simple_job(self, corpus: Corpus) -> tuple[str, dict[str, Any]]:
        """The same, the simple way."""
        out = self.folder / "out.csv"
        return "extract_simply", {"path": str(corpus.path), "forms": str(self.forms), "out": str(out)}


def main() -> None:
    """Measure, and print the tables."""
    options = _options()
    sizes = QUICK if options.quick else Sizes()
    with TemporaryDirectory(dir=options.folder, prefix="prasanga-benchmark-") as name:
        folder = Path(name)
        _require_space(folder, sizes)
        facts, bench = _prepare(folder, sizes, options.shared)
        rows, results = _measure(bench)
        projections = _project(results)
    if options.quick:
        facts.insert(0, "QUICK: small corpora and one run each, to see that it works; these are not the figures.")
    print("\n".join(report(facts, rows, projections, PART_MEGABYTES)))
    if options.json:
        measured = {**results, "projections": projections}
        write_measured(options.json, measured, constants=_constants(results), facts=facts, rows=rows)


def _constants(results: dict[str, Any]) -> dict[str, float]:
    """What docs/performance.md computes with."""
    tenth, drawn = results["extract, every tenth line"], results["draw, every line"]
    seconds, both = tenth["seconds"], results.get("two shards")
    alone = results["extract, a part"]
    return {
        "megabytes_per_core_second": tenth["bytes"] / 1e6 / seconds,
        "gain_of_two_processes": alone["seconds"] / both[0]["seconds"] if both else 1.0,
        "sentences_per_megabyte": tenth["occurrences"] / tenth["bytes"] * 1e6,
        "bytes_per_sentence": tenth["written"] / tenth["occurrences"],
        "drawn_sentences_per_second": drawn["rows"] / drawn["pick_seconds"],
        "cut_segments_per_second": drawn["segments"] / (drawn["seconds"] - drawn["pick_seconds"]),
        "start_of_job_seconds": sum(results["start"].values()),
        "gibibytes_of_search": max(tenth["memory"] for name, tenth in results.items() if name.startswith("memory"))
        / GIB,
        "gibibytes_of_draw": drawn["memory"] / GIB,
    }


def _options() -> argparse.Namespace:
    shared = Path(os.environ.get("PRASANGA_SHARED") or PROJECT.parent / "shared")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small corpora, one run each: to try it out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    parser.add_argument("--folder", type=Path, help="for the corpora, some GB, removed at the end (default: temporary)")
    parser.add_argument(
        "--shared", type=Path, default=shared, help="folder with corpora/bn_*.txt (default: %(default)s)"
    )
    return parser.parse_args()


def _require_space(folder: Path, sizes: Sizes) -> None:
    """Twice the largest corpus: the sentence tables need room as well."""
    needed, free = 2 * sizes.fast * sizes.times, shutil.disk_usage(folder).free
    if free < needed:
        sys.exit(
            f"{folder}: {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB needed. Name another folder with --folder."
        )


def _prepare(folder: Path, sizes: Sizes, shared: Path) -> tuple[list[str], Bench]:
    _say("corpora and lexica")
    origin, texts = read_texts(PROJECT, shared if shared.is_dir() else None)
    ours, avoid = our_lexicon(PROJECT), words_of(texts)
    lexicon = enlarge(ours, PROJECT, stimuli=STIMULI, avoid=avoid, seed=SEED)
    many = enlarge(lexicon, PROJECT, stimuli=10 * STIMULI, avoid=avoid, seed=SEED + 1)
    lines = sort_lines(origin, texts, lexicon)

    def corpus(name: str, every: int, size: int) -> Corpus:
        return write_corpus(folder / name, lines, every=every, size=size, seed=SEED)

    bench = Bench(
        folder,
        sizes,
        tenth=corpus("tenth.txt", 10, sizes.fast),
        every=corpus("every.txt", 1, sizes.fast),
        simple_tenth=corpus("simple-tenth.txt", 10, sizes.simple),
        simple_every=corpus("simple-every.txt", 1, sizes.simple),
        forms=write_forms(folder / "forms.parquet", lexicon),
        many_forms=write_forms(folder / "many-forms.parquet", many),
        stimuli=len(lexicon.stimuli),
    )
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "polars", "pyarrow", "regex"))
    facts = [
        f"{processor()}, {len(cores())} core(s) to use, {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, {libraries}",
        f"text: {origin}; {len(lines.plain):,} lines without a stimulus, {len(lines.hit):,} with exactly one",
        f"hit in every tenth line: {bench.tenth.describe()}",
        f"hit in every line: {bench.every.describe()}",
        f"lexicon: {len(lexicon.stimuli)} stimuli ({len(ours.stimuli)} of ours) with {len(lexicon.claims()):,} forms,"
        f" and {len(many.stimuli):,} with {len(many.claims()):,}",
    ]
    return facts, bench


def _measure(bench: Bench) -> tuple[list[Row], dict[str, Any]]:
    repeats, results = bench.sizes.repeats, dict[str, Any]()

    def timed(name: str, task: str, options: dict[str, Any]) -> dict[str, Any]:
        _say(name)
        results[name] = result = measure(task, options, repeats=repeats)
        return {**result, "speed": result["bytes"] / result["seconds"] / 1e6}

    def timed_draw(name: str) -> dict[str, Any]:
        """From the sentence table that was written last."""
        _say(name)
        options = {
            "path": bench.job(bench.tenth)[1]["out"],
            "scratch": str(bench.folder),
            "lengths": LENGTHS,
            "contexts": CONTEXTS_PER_STIMULUS,
        }
        picked = measure("pick", options, repeats=repeats)
        results[name] = {**measure("draw", options, repeats=repeats), "pick_seconds": picked["seconds"]}
        return dict(results[name])

    text = {"path": str(bench.simple_tenth.path)}
    batch = timed("normalize_batch", "normalize", {"path": str(bench.tenth.path)})
    single = timed("normalize", "normalize_simply", text)
    match = timed("match, simple way", "match_simply", {**text, "forms": str(bench.forms)})
    every = timed("extract, every line", *bench.job(bench.every))
    many_rows = timed_draw("draw, every line")
    simple_every = timed("extract, every line, simple way", *bench.simple_job(bench.simple_every))
    tenth = timed("extract, every tenth line", *bench.job(bench.tenth))
    simple_tenth = timed("extract, every tenth line, simple way", *bench.simple_job(bench.simple_tenth))
    timed_draw("draw, every tenth line")
    # Nearer to the size of a part, so that what a job does once weighs as much as it does in a run.
    part = repeat_corpus(bench.folder / "part.txt", bench.tenth, 3)
    one = timed("extract, a part", *bench.job(part))
    many = timed("extract, a part, large lexicon", *bench.job(part, bench.many_forms))

    rows = [
        _speed("`normalize_batch` alone", batch, 60, single),
        _speed("read, normalize, match, cut, write: a hit in every tenth line", tenth, 40, simple_tenth),
        _speed("the same, a hit in every line", every, 25, simple_every),
        _simple_itself(simple_tenth["speed"], match["speed"], single["speed"]),
        _two_shards(bench, part, results),
        *_memory(bench, results),
        Row(
            f"{10 * STIMULI:,} stimuli against {bench.stimuli}",
            ">= 0.8x",
            f"{many['speed'] / one['speed']:.2f}x ({many['speed']:.0f} against {one['speed']:.0f} MB/s)",
            met=many["speed"] >= 0.8 * one["speed"],
        ),
        Row(
            f"drawing samples from {many_rows['rows']:,} occurrences, one process",
            "-",
            f"{many_rows['rows'] / many_rows['pick_seconds']:,.0f} rows/s",
        ),
        Row(
            f"cutting the {many_rows['segments']:,} segments drawn of them, one process",
            "-",
            f"{many_rows['segments'] / (many_rows['seconds'] - many_rows['pick_seconds']):,.0f} segments/s",
        ),
    ]
    _say("start of a job")
    small = first_lines(bench.folder / "small.txt", bench.every, 5)  # so that the job is all start and end
    results["start"] = {
        "job": seconds_of_a_process(*bench.job(small), repeats=repeats),
        "snakemake": seconds_of_snakemake(repeats),
    }
    start = results["start"]
    rows.append(
        Row("start and end of a job", "-", f"{start['job']:.1f} s, and {start['snakemake']:.1f} s of Snakemake's own")
    )
    return rows, results


def _two_shards(bench: Bench, part: Corpus, results: dict[str, Any]) -> Row:
    work, asked = "two shards of one file, two processes", ">= 1.7x"
    if len(cores()) < 2:
        return Row(work, asked, "not measured: one core")
    _say("two shards")
    half = part.bytes // 2
    tasks = [bench.job(part, start=0, end=half), bench.job(part, start=half, end=None)]
    results["two shards"] = both = measure_together(tasks, repeats=bench.sizes.repeats)
    alone = results["extract, a part"]
    if sum(half["occurrences"] for half in both) != alone["occurrences"]:
        sys.exit("Two parts of a file do not have the occurrences of the whole file: extract(start=, end=) is wrong.")
    part.path.unlink()
    gain = alone["seconds"] / both[0]["seconds"]
    return Row(work, asked, f"{gain:.2f}x", met=gain >= 1.7)


def _memory(bench: Bench, results: dict[str, Any]) -> Iterator[Row]:
    """Peak memory of a process that extracts a corpus once, small and large."""
    _say("memory")
    large = repeat_corpus(bench.folder / "large.txt", bench.tenth, bench.sizes.times)
    for corpus in (bench.tenth, large):
        result = measure(*bench.job(corpus), repeats=1, warm_up=False)
        results[f"memory, {corpus.megabytes:.0f} MB"] = result
        work = f"peak memory, corpus of {corpus.megabytes:,.0f} MB"
        yield Row(work, "< 1 GiB", f"{result['memory'] / GIB:.2f} GiB", met=result["memory"] < GIB)
    large.path.unlink()


def _simple_itself(*speeds: float) -> Row:
    """The simple way beside what was seen of it when the figures were set, so that it is no straw man."""
    least = [0.8 * seen for seen in SIMPLE_WAY_SEEN]
    return Row(
        "the simple way itself: in all, match alone, normalize alone",
        f">= {', '.join(f'{speed:.2f}' for speed in least)} MB/s",
        f"{', '.join(f'{speed:.2f}' for speed in speeds)} MB/s",
        met=all(speed >= asked for speed, asked in zip(speeds, least, strict=True)),
    )


def _speed(work: str, fast: dict[str, Any], asked: int, simple: dict[str, Any]) -> Row:
    return Row(
        work,
        f">= {asked} MB/s",
        f"{fast['speed']:.1f} MB/s",
        f"{simple['speed']:.2f} MB/s",
        f"{fast['speed'] / simple['speed']:.0f}x",
        fast["speed"] >= asked,
    )


def _project(results: dict[str, Any]) -> list[dict[str, Any]]:
    alone = results["extract, every tenth line"]
    megabytes = alone["bytes"] / 1e6
    speed = megabytes / alone["seconds"]
    together = results.get("two shards")
    drawn = [results[name] for name in ("draw, every tenth line", "draw, every line")]
    few, many = [(int(draw["rows"]), float(draw["pick_seconds"])) for draw in drawn]
    last = drawn[1]
    parts = Parts(
        speed=speed,
        shared_speed=sum(half["bytes"] for half in together) / 2e6 / together[0]["seconds"] if together else speed,
        start=sum(results["start"].values()),
        rows=alone["occurrences"] / megabytes,
        picks=(few, many),
        cut=(float(last["seconds"]) - float(last["pick_seconds"])) / int(last["segments"]),
        segments=int(drawn[0]["segments"]) / megabytes,
        most_segments=STIMULI * CONTEXTS_PER_STIMULUS * len(LENGTHS),
    )
    return [
        asdict(project(gigabytes, number, parts, part_megabytes=PART_MEGABYTES))
        for gigabytes in (27.5, 300.0)
        for number in (1, 16, 256)
    ]


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
