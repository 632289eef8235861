"""How long CEAT of the paper's whole grid takes: `python tests/benchmarks/grid.py [--folder FOLDER] [--processes N]`.

9 categories, 4 lengths, 4 models, both sample modes, N = 5,000, with intervals and controls: a job for each model and
length, in a process of its own. Shards of random vectors are written for it and deleted afterwards (10 GB).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from prasanga.associations import CeatSettings, measure_ceat

N_WORDS, N_TARGETS, N_CONTEXTS, DIMENSIONS, N_SAMPLES = 76, 26, 1200, 1024, 5000
CATEGORIES, LENGTHS, MODELS = 9, ("9", "25", "75", ">75"), ("a", "b", "c", "d")
ASKED_SECONDS = 60


def sets_of(words: Sequence[str], n_targets: int) -> list[list[str]]:
    """X, Y, A, B in order, two halves each."""
    half, middle = n_targets // 2, n_targets + (len(words) - n_targets) // 2
    return [list(w) for w in (words[:half], words[half:n_targets], words[n_targets:middle], words[middle:])]


def category(name: str, sides: Sequence[Sequence[str]]) -> dict[str, Any]:
    """In the layout of categories.json."""
    x, y, a, b = ({"name": f"{name}{side}", "stimuli": list(w)} for side, w in zip("xyab", sides, strict=True))
    return {"title": name, "targets": [x, y], "attributes": [a, b]}


def write_vectors(
    base: Path, length: str, words: Sequence[str], n_contexts: int, dimensions: int, rng: np.random.Generator
) -> Path:
    """Write shards of random vectors as the embedding stage does; return their list."""
    from prasanga.base.io import write_row_groups
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
        {length: StoredEmbeddings(lists[MODELS.index(model)], stimuli=stimuli_of(layout))},
        model=model,
        common={length: read_common_occurrences(lists)},
        settings=CeatSettings(n_samples=N_SAMPLES),
    )
    assert tables.estimates.num_rows == 2 * CATEGORIES, "of the length, and primary ones"
    print(json.dumps({"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}))


def measure_grid(folder: Path, processes: int) -> str:
    """Measure every model and length, some at a time, and return a line."""
    (folder / "categories.json").write_text(json.dumps(make_grid(folder, N_CONTEXTS, DIMENSIONS)), encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    drop_caches(folder)

    def job(cell: tuple[str, str]) -> dict[str, Any]:
        command = [sys.executable, __file__, "--measure", str(folder), *cell]
        alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # as Snakemake starts a job
        return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=alone).stdout))

    start = time.perf_counter()
    with ThreadPoolExecutor(processes) as pool:
        memory = max(result["memory"] for result in pool.map(job, product(MODELS, LENGTHS)))
    seconds = time.perf_counter() - start
    return (
        f"{seconds:.0f} s ({ASKED_SECONDS} s asked), from {size / 1e9:.1f} GB of shards, {processes} processes of at"
        f" most {memory:.1f} GiB"
    )


def drop_caches(folder: Path) -> None:
    """Ask the system to forget the files, so that they are read from the disk."""
    for path in folder.rglob("*.parquet"):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="for the shards; a temporary folder if not given")
    parser.add_argument("--processes", type=int, default=2, help="jobs at a time (default: %(default)s)")
    parser.add_argument("--measure", nargs=3, metavar=("FOLDER", "MODEL", "LENGTH"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure_cell(Path(given.measure[0]), *given.measure[1:])
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        print(measure_grid(Path(folder), given.processes))


if __name__ == "__main__":
    main()
