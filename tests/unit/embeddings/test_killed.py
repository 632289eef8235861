"""A job killed in the middle of a shard, by the real signal: it goes on where it was, and ends with the same bits."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from segment_files import write_segments

JOB = """
import sys
from pathlib import Path
from prasanga.base.io import Store
from prasanga.embeddings import VectorSettings, embed_shards, load_encoder, stage
from prasanga.embeddings.settings import COLUMNS
from prasanga.embeddings.stage import Shard, Source
from prasanga.models import ModelOptions

stage.ON_A_CPU = 600

folder, model = Path(sys.argv[1]), sys.argv[2]
shard = Shard(folder / "segments.parquet", folder / "out.parquet", folder / "left_out.tsv", {})
store = Store(folder / "store", "ab" * 16, COLUMNS)
source = Source([store], lambda: load_encoder(model, device="cpu", threads=1, pieces_per_batch=128))
settings = VectorSettings("bert", None, -1, (-1,), "float32", "float16", "all", "leave-out", ModelOptions())
(done,) = embed_shards([shard], [source], settings, width=32)
print(done["reused"], done["embedded"])
"""


def write_words(folder: Path) -> None:
    words = ["গোলাপ", "বাগানে", "চাঁদের", "আলোয়", "শিশির", "বাঁশির", "সুর", "মায়ের", "হাতে", "লাল", "ফুল", "নদীর", "মাঠে"]
    rng = random.Random(3)
    texts = [" ".join(rng.choices(words, k=rng.randint(3, 24))) for _ in range(300)]
    firsts = [text.split(" ", 1)[0] for text in texts]
    items = [(word, text, (0, len(word))) for word, text in zip(firsts, texts, strict=True)]
    write_segments(folder / "segments.parquet", items)


def run(folder: Path, model: Path, *, kill_at: int | None = None) -> str:
    """Run the job, or kill it when the store has so many files; what it printed (nothing if it was killed)."""
    process = subprocess.Popen(
        [sys.executable, "-c", JOB, str(folder), str(model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while kill_at is not None and process.poll() is None and time.monotonic() < deadline:
        if len(list((folder / "store").glob("[!.]*.parquet"))) >= kill_at:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    printed, errors = process.communicate()
    assert process.returncode == (0 if kill_at is None else -signal.SIGKILL), errors
    return printed


@pytest.mark.long
def test_killed_three_times_and_equal_bit_for_bit(tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    model = tiny_model("bert")
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    for folder in (disturbed, undisturbed):
        write_words(folder)
    assert run(undisturbed, model).split()[0] == "0"
    for files in (1, 5, 12):
        run(disturbed, model, kill_at=files)
        assert not (disturbed / "out.parquet").exists()
    reused, embedded = map(int, run(disturbed, model).split())
    assert reused > 60
    assert embedded > 0
    assert (disturbed / "out.parquet").read_bytes() == (undisturbed / "out.parquet").read_bytes()
