"""What is measured, each in a process of its own: `python tasks.py TASK OPTIONS`.

The process prepares the task, and then does it once for each line on its standard input; it answers with a line of
JSON: when it began and ended, the most memory that the process has had so far, and what the task says of itself.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import simple_sentences

from prasanga.base.parquet import open_parquet, write_batches
from prasanga.samples import cut_segments, parse_length
from prasanga.samples import draw as draw_samples
from prasanga.sentences import SENTENCE_SCHEMA, ExtractionReport, Shard, extract_shard, read_forms
from prasanga.text import normalize as normalize_text
from prasanga.text import normalize_batch

Run = Callable[[], dict[str, Any]]

LINES_AT_A_TIME = 2_000


def normalize(path: str) -> Run:
    """Normalize all lines of a file, some thousand at a time."""
    lines = _lines(path)

    def run() -> dict[str, Any]:
        for start in range(0, len(lines), LINES_AT_A_TIME):
            normalize_batch(lines[start : start + LINES_AT_A_TIME])
        return {"bytes": _bytes(lines)}

    return run


def normalize_simply(path: str) -> Run:
    """Normalize all lines of a file one by one."""
    lines = _lines(path)

    def run() -> dict[str, Any]:
        for line in lines:
            normalize_text(line)
        return {"bytes": _bytes(lines)}

    return run


def match_simply(path: str, forms: str) -> Run:
    """Try all patterns on all lines, which are normalized already."""
    lines, patterns = normalize_batch(_lines(path)), simple_sentences.compile_patterns(read_forms(forms))

    def run() -> dict[str, Any]:
        return {
            "occurrences": sum(len(simple_sentences.find(line, patterns)) for line in lines),
            "bytes": _bytes(lines),
        }

    return run


def extract(path: str, forms: str, out: str, start: int = 0, end: int | None = None) -> Run:
    """Read, normalize, match, cut, write: a job of the sentences stage, without its start."""
    settings: dict[str, Any] = {
        "lexicon": read_forms(forms),
        "normalization": "bangla",
        "language": "bn",
    }

    def run() -> dict[str, Any]:
        report = ExtractionReport()
        shard = Shard(path, "a.txt", "blank-line", start=start, end=end)
        batches = extract_shard(shard, report=report, **settings)
        write_batches(out, SENTENCE_SCHEMA, batches, {})
        written = Path(out).stat().st_size
        return {"occurrences": report.occurrences, "bytes": report.bytes, "written": written}

    return run


def extract_part(shard: dict[str, Any], forms: str, out: str) -> Run:
    """The same of a file of any format, or of a part of it."""
    lexicon, part = read_forms(forms), Shard(**shard)

    def run() -> dict[str, Any]:
        report = ExtractionReport()
        batches = extract_shard(part, lexicon=lexicon, normalization="bangla", language="bn", report=report)
        write_batches(out, SENTENCE_SCHEMA, batches, {})
        return {"occurrences": report.occurrences, "bytes": report.bytes}

    return run


def extract_simply(path: str, forms: str, out: str) -> Run:
    """The same, the simple way."""
    patterns = simple_sentences.compile_patterns(read_forms(forms))

    def run() -> dict[str, Any]:
        rows = simple_sentences.extract(path, source="a.txt", patterns=patterns)
        simple_sentences.write_rows(out, rows)
        return {"bytes": Path(path).stat().st_size}

    return run


def pick(path: str, scratch: str, lengths: list[int | str], contexts: int) -> Run:
    """Draw samples from a sentence table, without cutting them."""
    settings = _drawing(scratch, lengths, contexts)

    def run() -> dict[str, Any]:
        draw_samples([path], **settings)
        return {"rows": open_parquet(path).metadata.num_rows}

    return run


def draw(path: str, scratch: str, lengths: list[int | str], contexts: int) -> Run:
    """Draw samples and cut them."""
    settings = _drawing(scratch, lengths, contexts)

    def run() -> dict[str, Any]:
        with cut_segments(draw_samples([path], **settings), scratch) as segments:
            drawn = sum(batch.num_rows for length in settings["lengths"] for batch in segments.batches(length))
        return {"rows": open_parquet(path).metadata.num_rows, "segments": drawn}

    return run


def _drawing(scratch: str, lengths: list[int | str], contexts: int) -> dict[str, Any]:
    return {
        "lengths": [parse_length(length) for length in lengths],
        "pool": "shared",
        "contexts_per_stimulus": contexts,
        "seed": 47,
        "scratch": scratch,
    }


TASKS: dict[str, Callable[..., Run]] = {
    task.__name__: task
    for task in (normalize, normalize_simply, match_simply, extract, extract_part, extract_simply, pick, draw)
}


def peak_memory() -> int:
    """Bytes that this process had resident at most (its high-water mark; a child begins with its own)."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def main() -> None:
    """Prepare the task that the command line names, and do it for each line of standard input."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    run = TASKS[sys.argv[1]](**json.loads(sys.argv[2]))
    for _ in sys.stdin:
        began, worked = time.monotonic(), time.process_time()
        facts = run()
        ended, cpu = time.monotonic(), time.process_time() - worked
        print(json.dumps({**facts, "began": began, "ended": ended, "cpu": cpu, "memory": peak_memory()}), flush=True)


def _lines(path: str) -> list[str]:
    return [line for line in Path(path).read_text(encoding="utf-8").split("\n") if line]


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode()) for line in lines)


if __name__ == "__main__":
    main()
