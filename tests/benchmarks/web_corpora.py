"""One large file in parts, sizes in a series, many files: `python tests/benchmarks/web_corpora.py [--gigabytes 0.5 1]`.

Prints Markdown. One file in each format is read by one process, and in two parts by two. Because others may use the
machine, gains are told by the clock and, beside that, by processor time: what one process works on the whole, over what
the slower part does. Then plain text of growing size is read in parts of 512 MB, and a hundred thousand files, and 300
GB of holes, are looked at as a plan does. All of it is removed at the end.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import zstandard
from corpora import Corpus, read_texts, repeat_corpus, sort_lines, write_corpus
from lexica import our_lexicon, write_forms
from measured import write_measured
from processes import measure, measure_together
from tables import Row

from prasanga.sentences import Shard, find_shards
from prasanga.sentences.manifest import update_manifest

PROJECT = Path(__file__).parents[2]
SEED = 2024
PART = 512_000_000
MEMBER = 1_000_000  # bytes of text in a member or frame
FILES = 100_000
GIB = 1 << 30


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.25, 0.5, 1, 2], help="of plain text, a series")
    parser.add_argument("--megabytes", type=int, default=200, help="of the text that is read in each format")
    parser.add_argument("--files", type=int, default=FILES, help="that a plan looks at")
    parser.add_argument("--folder", type=Path, help="for the corpora, removed at the end (default: temporary)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    options = parser.parse_args()
    rows: list[Row] = []
    results: dict[str, Any] = {}
    with TemporaryDirectory(dir=options.folder, prefix="prasanga-benchmark-") as name:
        folder = Path(name)
        origin, texts = read_texts(PROJECT, None)
        lexicon = our_lexicon(PROJECT)
        forms = write_forms(folder / "forms.parquet", lexicon)
        lines = sort_lines(origin, texts, lexicon)
        text = write_corpus(folder / "text.txt", lines, every=10, size=options.megabytes * 10**6, seed=SEED)
        for kind, write in FORMATS.items():
            rows.append(in_parts(folder, kind, write, text, forms, results))
        rows += series(folder, text, forms, options.gigabytes, results)
        text.path.unlink()
        rows += plans(folder, options.files, results)
    print("| work | asked | measured | |", "| --- | --- | --- | --- |", sep="\n")
    for row in rows:
        print(f"| {row.work} | {row.asked} | {row.measured} | {row.simple} |")
    if options.json:
        write_measured(options.json, results, constants={}, facts=[f"text: {origin}"], rows=rows)


def pieces(text: Corpus) -> Iterator[bytes]:
    """The text in stretches of `MEMBER` bytes."""
    with text.path.open("rb") as stream:
        while piece := stream.read(MEMBER):
            yield piece


def gz(text: Corpus, path: Path) -> None:
    """Members of gzip."""
    with path.open("wb") as stream:
        stream.writelines(gzip.compress(piece, 6) for piece in pieces(text))


def zst(text: Corpus, path: Path) -> None:
    """Frames of zstandard."""
    packer = zstandard.ZstdCompressor()
    with path.open("wb") as stream:
        stream.writelines(packer.compress(piece) for piece in pieces(text))


def documents(text: Corpus) -> Iterator[str]:
    """The lines as documents."""
    with text.path.open(encoding="utf-8") as stream:
        yield from (line.rstrip("\n") for line in stream if line.strip())


def jsonl(text: Corpus, path: Path) -> None:
    """JSON lines."""
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps({'text': line}, ensure_ascii=False)}\n" for line in documents(text))


def jsonl_gz(text: Corpus, path: Path) -> None:
    """JSON lines in members of gzip."""
    plain = path.with_suffix("")
    jsonl(text, plain)
    gz(Corpus(plain, 0, 1, 0), path)
    plain.unlink()


def parquet(text: Corpus, path: Path) -> None:
    """Row groups of Parquet."""
    pq.write_table(pa.table({"text": list(documents(text))}), path, row_group_size=10_000, compression="zstd")


def arrow(text: Corpus, path: Path) -> None:
    """Batches of Arrow, as the library datasets writes them."""
    table = pa.table({"text": list(documents(text))})
    with path.open("wb") as stream, ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=1_000)


FORMATS: dict[str, Callable[[Corpus, Path], None]] = {
    "a.txt.gz": gz,
    "a.txt.zst": zst,
    "a.jsonl": jsonl,
    "a.jsonl.gz": jsonl_gz,
    "a.parquet": parquet,
    "a.arrow": arrow,
}


def in_parts(
    folder: Path, name: str, write: Callable[[Corpus, Path], None], text: Corpus, forms: Path, results: dict[str, Any]
) -> Row:
    """Read a file whole by one process, and in two parts by two; both have the same occurrences."""
    _say(name)
    path = folder / name
    write(text, path)
    size, texts = path.stat().st_size, [{"files": name}]
    began = time.process_time()
    halves = list(find_shards(folder, texts, size * 49 // 100).values())
    planned = time.process_time() - began
    (whole,) = find_shards(folder, texts, 10 * size).values()
    alone = measure(*_job(whole, forms, folder), repeats=2)
    both = measure_together([_job(half, forms, folder) for half in halves], repeats=2)
    path.unlink()
    if len(halves) != 2 or sum(half["occurrences"] for half in both) != alone["occurrences"]:
        sys.exit(f"{name}: {len(halves)} parts do not have the occurrences of the whole file.")
    gain = alone["seconds"] / both[0]["seconds"]
    of_work = alone["cpu"] / max(half["cpu"] for half in both)
    results[f"parts of {name}"] = {"alone": alone, "both": both, "bytes": size, "scan": planned, "gain": of_work}
    return Row(
        f"{name}, {size / 1e6:,.0f} MB on the disk: two parts by two processes",
        ">= 1.7x",
        f"{of_work:.2f}x by processor time, {gain:.2f}x by the clock",
        f"one process {alone['bytes'] / alone['cpu'] / 1e6:.0f} MB/s; looked through in {planned:.1f} s",
        met=of_work >= 1.7,
    )


def series(folder: Path, text: Corpus, forms: Path, gigabytes: list[float], results: dict[str, Any]) -> Iterator[Row]:
    """Plain text of growing size, one part after the other in one process each."""
    for each in gigabytes:
        _say(f"{each:g} GB of text")
        large = repeat_corpus(folder / "large.txt", text, max(1, round(each * 1e9 / text.bytes)))
        began = time.process_time()
        shards = find_shards(folder, [{"files": "large.txt"}], PART)
        digest = update_manifest(folder / "corpus.json", [folder / "large.txt"])
        planned = time.process_time() - began
        done = [measure(*_job(shard, forms, folder), repeats=1, warm_up=False) for shard in shards.values()]
        large.path.unlink()
        found, cpu = sum(one["occurrences"] for one in done), sum(one["cpu"] for one in done)
        memory = max(one["memory"] for one in done)
        results[f"text, {each:g} GB"] = {
            **{"bytes": large.bytes, "parts": len(done), "occurrences": found, "cpu": cpu, "memory": memory},
            **{"plan": planned, "digests": len(digest)},
        }
        yield Row(
            f"{large.bytes / 1e9:.2f} GB of text in {len(done)} part(s), one after the other",
            "< 1 GiB",
            f"{cpu:.1f} s of processor time, {memory / GIB:.2f} GiB",
            f"{large.bytes / cpu / 1e6:.0f} MB/s; digest in {planned:.1f} s",
            met=memory < GIB,
        )


def plans(folder: Path, n_files: int, results: dict[str, Any]) -> Iterator[Row]:
    """What a plan does with the names of a corpus: many files, and one file of 300 GB."""
    _say(f"{n_files:,} files")
    for number in range(n_files):
        path = folder / f"many/{number // 1_000:03d}/{number:06d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x\n")
    seconds = []
    for _ in range(2):
        began = time.process_time()
        shards = find_shards(folder, [{"files": "many/**/*.txt"}], PART)
        update_manifest(folder / "many.json", [shard.path for shard in shards.values()])
        seconds.append(time.process_time() - began)
    results["many files"] = {"files": len(shards), "first": seconds[0], "again": seconds[1]}
    yield Row(
        f"{len(shards):,} files found and known by their content",
        "<= 20 s",
        f"{seconds[0]:.1f} s of processor time, {seconds[1]:.1f} s again",
        met=seconds[0] <= 20,
    )
    with (folder / "holes.txt").open("wb") as file:
        file.truncate(300 * 10**9)
    began = time.process_time()
    parts = find_shards(folder, [{"files": "holes.txt"}], PART)
    took = time.process_time() - began
    results["300 GB"] = {"parts": len(parts), "seconds": took}
    yield Row(f"300 GB in one file of holes, cut into {len(parts)} parts", "-", f"{took:.2f} s")


def _job(shard: Shard, forms: Path, folder: Path) -> tuple[str, dict[str, Any]]:
    out = folder / f"out-{shard.start}.parquet"
    return "extract_part", {"shard": shard._asdict(), "forms": str(forms), "out": str(out)}


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
