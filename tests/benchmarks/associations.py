"""How fast associations are measured, beside the papers' way in the same run.

`python tests/benchmarks/associations.py` prints a table in Markdown. `--grid` also measures the paper's whole grid,
from shards of random vectors that are written for it and deleted afterwards (10 GB).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measured import write_measured
from benchmarks.tables import Row
from oracles.simple_associations import draws_one_by_one, p_by_listing, p_by_shuffling

from prasanga.associations import CeatSettings, ceat, measure_ceat
from prasanga.stats.permutation import permutation_test_of_scores

N_WORDS, N_TARGETS, N_CONTEXTS, DIMENSIONS, N_SAMPLES = 76, 26, 1200, 1024, 5000
CATEGORIES, LENGTHS, MODELS = 9, ("9", "25", "75", ">75"), ("a", "b", "c", "d")


#: What docs/performance.md computes with, once the grid is measured.
GRID: dict[str, float] = {}


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The shortest time of some runs, in seconds, and what came out."""
    best, result = math.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def sets_of(words: Sequence[str], n_targets: int) -> list[list[str]]:
    """X, Y, A, B in order, two halves each."""
    half, middle = n_targets // 2, n_targets + (len(words) - n_targets) // 2
    return [list(w) for w in (words[:half], words[half:n_targets], words[n_targets:middle], words[middle:])]


def one_category(simple_draws: int) -> Iterator[Row]:
    """One CEAT, compared with the simple way on its first draws."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(N_WORDS)]
    vectors = {w: rng.standard_normal((N_CONTEXTS, DIMENSIONS), dtype=np.float32) for w in words}
    sides = sets_of(words, N_TARGETS)
    targets, attributes = (sides[0], sides[1]), (sides[2], sides[3])
    draws = rng.integers(N_CONTEXTS, size=(N_SAMPLES, N_WORDS))
    ceat(vectors, targets, attributes, draws=draws[:2])  # the first call on a machine compiles
    ours, result = timed(lambda: ceat(vectors, targets, attributes, draws=draws), repeats=5)
    simple, expected = timed(lambda: draws_one_by_one(vectors, sides, draws[:simple_draws]))
    theirs = simple / simple_draws * N_SAMPLES
    distance = max(abs(result.effect_sizes[i] - effect) for i, (effect, _) in enumerate(expected))
    if distance > 1e-5:
        raise SystemExit(f"the fast way differs from the simple way by {distance}")
    yield Row(
        f"CEAT, {N_WORDS} words, d = {DIMENSIONS}, N = {N_SAMPLES:,}, {N_CONTEXTS:,} contexts (largest difference to"
        f" the simple way {distance:.0e})",
        "<= 0.4 s",
        f"{ours:.2f} s",
        f"{theirs:.0f} s (from {simple_draws} draws)",
        f"{theirs / ours:.0f}x",
        ours <= 0.4,
    )
    settings = CeatSettings(n_samples=N_SAMPLES, sample_modes=["fixed"])
    layout = {"C1": category("C1", sides)}
    with_ids = {w: ([f"{i:05d}" for i in range(N_CONTEXTS)], v) for w, v in vectors.items()}

    def measure() -> Any:
        return measure_ceat(layout, with_ids, model="m", segment_length="9", settings=settings)

    measure()
    whole, _ = timed(measure, repeats=3)
    yield Row("the same with interval, shuffles, leave-one-word-out, convergence", "-", f"{whole:.2f} s")


def permutations() -> Iterator[Row]:
    """Exact and sampled tests of words."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=8), rng.normal(0.8, 1, size=8)
    ours, test = timed(lambda: permutation_test_of_scores(x, y), repeats=5)
    listing, p = timed(lambda: p_by_listing(x, y))
    partitions = test.n_partitions
    if not math.isclose(test.p_value, p, rel_tol=1e-12):
        raise SystemExit(f"exact p {test.p_value}, by listing {p}")
    yield Row(
        "exact p of 8 + 8 words", "-", f"{ours * 1000:.1f} ms", f"{listing * 1000:.0f} ms", f"{listing / ours:.0f}x"
    )
    x, y = rng.normal(size=22), rng.normal(0.4, 1, size=22)
    ours, test = timed(lambda: permutation_test_of_scores(x, y, method="exact"))
    yield Row(
        f"exact p of 22 + 22 words ({test.n_partitions:.1e} partitions)",
        "<= 5 s",
        f"{ours:.1f} s",
        f"{listing / partitions * test.n_partitions / 86_400:.0f} days (from 8 + 8)",
        met=ours <= 5,
    )
    x, y = rng.normal(size=27), rng.normal(0.4, 1, size=27)
    n = 100_000
    ours, test = timed(lambda: permutation_test_of_scores(x, y, method="sampled", n_resamples=n, rng=1), repeats=3)
    simple, p = timed(lambda: p_by_shuffling(x, y, 5000, 1))
    yield Row(
        f"{n:,} resamples of 27 + 27 words",
        "<= 1 s",
        f"{ours:.2f} s",
        f"{simple / 5000 * n:.1f} s",
        f"{simple / 5000 * n / ours:.0f}x",
        ours <= 1,
    )


def category(name: str, sides: Sequence[Sequence[str]]) -> dict[str, Any]:
    """In the layout of categories.json."""
    x, y, a, b = ({"name": f"{name}{side}", "stimuli": list(w)} for side, w in zip("xyab", sides, strict=True))
    return {"title": name, "targets": [x, y], "attributes": [a, b]}


def write_vectors(
    base: Path, length: str, words: Sequence[str], n_contexts: int, dimensions: int, rng: np.random.Generator
) -> Path:
    """Write shards of random vectors as the embedding stage does; return their list."""
    from prasanga.base.parquet import write_row_groups
    from prasanga.embeddings import list_shards
    from prasanga.embeddings.shards import vectors_to_arrow

    def table_of(word: str) -> pa.Table:
        made = rng.standard_normal((n_contexts, dimensions), dtype=np.float32).astype(np.float16)
        ids = [f"{word}-{i:05d}" for i in range(n_contexts)]
        columns = {"segment_id": ids, "occurrence_id": ids, "stimulus": [word] * n_contexts}
        counts = {"n_pieces": [1] * n_contexts, "n_unknown": [0] * n_contexts, "cut": [False] * n_contexts}
        return pa.table(
            {**columns, "segment_length": [length] * n_contexts, **counts, "embedding": vectors_to_arrow(made)}
        )

    folder = base / length.replace(">", "over")
    shards = [folder / f"{bucket:02d}.parquet" for bucket in range(4)]
    schema = table_of(words[0]).schema
    for bucket, path in enumerate(shards):
        write_row_groups(path, schema, map(table_of, words[bucket::4]), {"stage": "embeddings"})
    list_shards(shards, folder.with_suffix(".json"))
    return folder.with_suffix(".json")


def make_grid(folder: Path, n_contexts: int, dimensions: int) -> dict[str, Any]:
    """Shards of random vectors of all models and lengths, and categories over their words."""
    words = [f"w{i:03d}" for i in range(262)]
    for model, length in product(MODELS, LENGTHS):
        rng = np.random.default_rng([MODELS.index(model), LENGTHS.index(length)])
        write_vectors(folder / "results/embeddings" / model, length, words, n_contexts, dimensions, rng)
    rng = np.random.default_rng(3)
    return {
        f"C{i + 1}": category(f"C{i + 1}", sets_of(list(rng.permutation(words)[:N_WORDS]), N_TARGETS))
        for i in range(CATEGORIES)
    }


def measure_cell(folder: Path, model: str, length: str) -> None:
    """What one job of the workflow does, in a process of its own."""
    from prasanga.embeddings.shards import StoredEmbeddings, read_common_occurrences
    from prasanga.lexicon import stimuli_of

    layout = json.loads((folder / "categories.json").read_text(encoding="utf-8"))
    lists = [folder / "results/embeddings" / each / f"{length.replace('>', 'over')}.json" for each in MODELS]
    tables = measure_ceat(
        layout,
        StoredEmbeddings(lists[MODELS.index(model)], stimuli=stimuli_of(layout)),
        model=model,
        segment_length=length,
        common=read_common_occurrences(lists),
        settings=CeatSettings(n_samples=N_SAMPLES),
    )
    assert tables.estimates.num_rows == 2 * CATEGORIES
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"memory": memory, "effects": tables.estimates["effect_size"].to_pylist()}))


def whole_grid(folder: Path, processes: int) -> Iterator[Row]:
    """The paper's grid: a job, in a process of its own, for each model and length, some at a time."""
    layout = make_grid(folder, N_CONTEXTS, DIMENSIONS)
    (folder / "categories.json").write_text(json.dumps(layout), encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    cold = drop_caches(folder)

    def job(cell: tuple[str, str]) -> dict[str, Any]:
        command = [sys.executable, __file__, "--measure", str(folder), *cell]
        alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # as Snakemake starts a job
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=alone)
        return dict(json.loads(done.stdout))

    start = time.perf_counter()
    with ThreadPoolExecutor(processes) as pool:
        results = list(pool.map(job, product(MODELS, LENGTHS)))
    seconds = time.perf_counter() - start
    memory = max(result["memory"] for result in results)
    jobs = len(MODELS) * len(LENGTHS)
    GRID.update(
        estimates=jobs * 2 * CATEGORIES,
        core_seconds_per_estimate=seconds * processes / (jobs * 2 * CATEGORIES),
        gibibytes=memory,
        bytes_per_vector=size / (jobs * 262 * N_CONTEXTS),
        dimensions=DIMENSIONS,
    )
    yield Row(
        f"the paper's grid, {CATEGORIES} categories x {len(LENGTHS)} lengths x {len(MODELS)} models x 2 modes, N ="
        f" {N_SAMPLES:,}, with intervals and controls, from {size / 1e9:.1f} GB of shards{cold}, {processes} processes"
        f" of at most {memory:.1f} GiB",
        "<= 60 s (first 180)",
        f"{seconds:.0f} s",
        met=seconds <= 60,
    )


def drop_caches(folder: Path) -> str:
    """Ask the system to forget the files, so that they are read from the disk; what to say of it."""
    if not hasattr(os, "posix_fadvise"):
        return ""
    for path in folder.rglob("*.parquet"):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
    return " not in memory"


def growth() -> Iterator[Row]:
    """CEAT and the sampled test with more and more contexts and words: processor time, which must grow as they do."""
    rng = np.random.default_rng(3)
    for n_words, n_contexts, n_draws in [
        *((8, n, 1_000) for n in (10_000, 100_000, 1_000_000)),
        *((n, 20, 200) for n in (100, 1_000, 10_000)),
    ]:
        words = [f"w{i}" for i in range(n_words)]
        vectors = {word: rng.standard_normal((n_contexts, 32), dtype=np.float32) for word in words}
        x, y, a, b = sets_of(words, n_words // 2)
        began = time.process_time()
        ceat(vectors, (x, y), (a, b), n_samples=n_draws, rng=1)
        took = time.process_time() - began
        work = f"CEAT, {n_words:,} words with {n_contexts:,} contexts, d = 32, N = {n_draws:,}"
        yield Row(work, "-", f"{took:.2f} s")
    for n_words in (100, 1_000, 10_000):
        x, y = rng.normal(size=(2, n_words // 2))
        began = time.process_time()
        permutation_test_of_scores(x, y, method="sampled", n_resamples=10_000, rng=1)
        yield Row(f"10,000 resamples of {n_words:,} words", "-", f"{time.process_time() - began:.2f} s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simple-draws", type=int, default=50, help="draws of the simple way, from which N follows")
    parser.add_argument("--grid", action="store_true", help="the paper's grid as well (10 GB of disk, some minutes)")
    parser.add_argument("--growth", action="store_true", help="also with up to 10,000 words and 1,000,000 contexts")
    parser.add_argument("--folder", type=Path, help="where the grid's shards go; a temporary folder if not given")
    parser.add_argument("--processes", type=int, default=2, help="jobs of the grid at a time")
    parser.add_argument("--measure", nargs=3, metavar=("FOLDER", "MODEL", "LENGTH"), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    arguments = parser.parse_args()
    if arguments.measure:
        folder, model, length = arguments.measure
        measure_cell(Path(folder), model, length)
        return
    rows = [*one_category(arguments.simple_draws), *permutations()]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if arguments.grid:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            rows += whole_grid(Path(folder), arguments.processes)
    if arguments.growth:
        rows += growth()
    print("| work | asked | measured | simple way, same run | ratio | met |\n| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        met = {True: "yes", False: "**no**", None: "-"}[row.met]
        print(f"| {row.work} | {row.asked} | {row.measured} | {row.simple} | {row.ratio} | {met} |")
    print(f"\nLargest memory of this process, with one category's vectors: {memory:.2f} GiB.")
    if arguments.json:
        write_measured(arguments.json, {"memory": memory}, constants=GRID, rows=rows)


if __name__ == "__main__":
    main()
