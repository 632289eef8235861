"""Several processes use one folder at once, and are killed at any moment: what was kept stays."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from prasanga.base.parquet import write_row_groups
from prasanga.embeddings.shards import Rows, VectorStore

WORKER = """
import sys
sys.path.insert(0, {here!r})
from test_store_concurrency import work
work(*sys.argv[1:])
"""


def rows(numbers: list[int]) -> Rows:
    """Vectors are a function of the number, whoever computes them."""
    ids = [hashlib.md5(str(number).encode()).hexdigest() for number in numbers]
    values = np.array(numbers)
    embedding = np.stack([values % 2048, values // 2048], axis=1).astype(np.float16)
    return Rows(ids, values.astype(np.int32), np.zeros(len(ids), np.int32), np.zeros(len(ids), bool), embedding)


def work(folder: str, outputs: str, seed: str, steps: str) -> None:
    """Add, adopt, read and compact at random, and print the numbers that have been kept."""
    chance = random.Random(int(seed))
    store = VectorStore(folder, key="k")
    mine: list[int] = []
    for step in range(int(steps)):
        numbers = chance.sample(range(5_000), chance.randrange(1, 40))
        what = chance.randrange(10)
        if what < 6:
            store.add(rows(numbers), {"passes": len(numbers)})
            mine += numbers
            print(*numbers, flush=True)
        elif what < 8 and mine:
            given = rows(sorted({*chance.sample(mine, len(mine) // 2 + 1), *numbers}))
            output = Path(outputs, f"{seed}-{step % 3}.parquet")
            output.unlink(missing_ok=True)
            store.add(rows(numbers), {"passes": len(numbers)})
            write_row_groups(output, given.to_table().schema, [given.to_table()], {"key": "k", "seed": seed})
            store.adopt(output, {"passes": 0})
            print(*numbers, flush=True)
        elif what < 9:
            store.compact(chance.choice([20_000, 1 << 20]))
        else:
            found = store.read(rows(mine).ids)
            assert mine == [] or (found is not None and len(found.ids) == len(mine)), "rows are gone"


def start(folder: Path, seed: int, steps: int) -> subprocess.Popen[str]:
    outputs = folder.parent / "outputs"
    outputs.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", WORKER.format(here=str(Path(__file__).parent)), folder, outputs, str(seed), str(steps)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def numbers_in(printed: str) -> set[int]:
    """Of whole lines: the last one may have been cut by a kill."""
    return {int(number) for line in printed.splitlines(keepends=True) if line.endswith("\n") for number in line.split()}


def require_all(folder: Path, kept: set[int], caplog: pytest.LogCaptureFixture) -> None:
    """The store has the right vectors of all that was kept, to a new reader and after compaction; and no complaints."""
    expected = rows(sorted(kept))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            store = VectorStore(folder, key="k")
            assert store.find(expected.ids).all()
            read = store.read(expected.ids)
            assert read is not None
            assert read.ids == expected.ids
            np.testing.assert_array_equal(read.embedding, expected.embedding)
            np.testing.assert_array_equal(read.n_pieces, expected.n_pieces)
            assert store.history()["rows"].sum() >= len(kept)
            store.compact()
    assert caplog.records == []


def test_processes_that_add_adopt_and_compact_at_once_lose_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "store"
    workers = [start(folder, seed, steps=40) for seed in range(3)]
    kept: set[int] = set()
    for worker in workers:
        printed, complaints = worker.communicate(timeout=120)
        assert worker.returncode == 0, complaints
        kept |= numbers_in(printed)
    assert len(kept) > 500
    require_all(folder, kept, caplog)
    assert list(folder.glob(".*")) == []


def test_what_was_kept_survives_any_kill(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "store"
    chance = random.Random(7)
    kept: set[int] = set()
    for seed in range(100, 102):
        workers = [start(folder, seed, steps=100_000), start(folder, seed + 1_000, steps=100_000)]
        for worker in workers:
            assert worker.stdout is not None
            kept |= numbers_in(worker.stdout.readline())  # it has begun
        for worker in workers:
            time.sleep(chance.uniform(0, 0.25))
            worker.send_signal(signal.SIGKILL)
        for worker in workers:
            printed, complaints = worker.communicate(timeout=60)
            assert worker.returncode == -signal.SIGKILL, complaints
            kept |= numbers_in(printed)
    assert len(kept) > 80
    require_all(folder, kept, caplog)
