"""Some ten ratios against the simple way, beside those last recorded: `python tests/benchmarks/ratios.py [--record]`.

Each is how many times less processor time ours takes for the same work than the simple way, in turns in the same
process, of each the least of some rounds, on one thread: other work on the machine, and its speed, move it little.
Jobs' starts are compared with the libraries that they cannot do without. What became slower by more than 15 % is said,
and ends with 1; `--record` writes docs/measured/ratios.json instead.
"""

from __future__ import annotations

import os

os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")} | {"POLARS_MAX_THREADS": "1"}

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
RECORD = PROJECT / "docs/measured/ratios.json"
sys.path += [str(PROJECT / "tests"), str(PROJECT / "tests/oracles")]

from measured import write_measured  # noqa: E402

#: What is slower than that share of its recorded ratio is said.
TOLERATED = 0.15


class Compared(NamedTuple):
    """Ours, the simple way, and how many times as much work ours does."""

    ours: Callable[[], object]
    simple: Callable[[], object]
    times: float = 1.0


def sentences(folder: Path) -> Iterator[tuple[str, Compared]]:
    """Normalizing, and searching a corpus."""
    import tasks

    from prasanga.base.io import write_table
    from prasanga.lexicon import forms_table, load_lexicon

    text = "\n".join(path.read_text(encoding="utf-8") for path in (PROJECT / "resources/demo/corpus/bn").glob("*.txt"))
    few, many = folder / "few.txt", folder / "many.txt"
    few.write_text(text[:100_000], encoding="utf-8")
    many.write_text(text[:100_000] * 10, encoding="utf-8")
    forms, out = str(folder / "forms.parquet"), str(folder / "found")
    resources = PROJECT / "resources"
    write_table(forms, forms_table(load_lexicon(resources / "stimuli/bn", resources / "suffix_groups/bn.yaml")), {})
    yield "normalizing", Compared(tasks.normalize(str(many)), tasks.normalize_simply(str(few)), 10)
    simply = tasks.extract_simply(str(few), forms, f"{out}.csv")
    yield "searching", Compared(tasks.extract(str(many), forms, f"{out}.parquet"), simply, 10)


def models(folder: Path) -> Iterator[tuple[str, Compared]]:
    """Embedding in float32 and scoring, by a BERT of four blocks."""
    import torch
    from simple_models import Shape, SimpleEncoder, build, cut, read_text, simple_scores

    from prasanga.embeddings import load_encoder
    from prasanga.likelihoods import load_scorer, score_pairs
    from prasanga.models.devices import quiet
    from prasanga.pairs import read_pairs

    torch.set_num_threads(1)
    text = read_text()
    build(folder / "model", Shape(256, 4, 4), text, 32_000)
    with quiet():
        simple, encoder = SimpleEncoder(folder / "model"), load_encoder(folder / "model", device="cpu", dtype="float32")
        scorer = load_scorer(folder / "model", device="cpu", dtype="float32")
    for words in (9, 25):
        segments = cut(text, words, 64)
        few = segments.first(16)
        ours = partial(encoder.embed, *segments)
        yield f"embedding {words} words", Compared(ours, partial(simple.embed, *few), 4)
    pairs = read_pairs(PROJECT / "resources/demo/pairs.csv")[:8]
    ours = partial(score_pairs, scorer, pairs)
    yield "scoring pairs", Compared(ours, lambda: simple_scores(simple.model, simple.tokenizer, pairs[:2]), 4)


def statistics(folder: Path) -> Iterator[tuple[str, Compared]]:
    """Vectors read one word after another, CEAT, an exact test and a sampled one."""
    import numpy as np
    from benchmarks.grid import sets_of, write_vectors
    from oracles.simple_associations import draws_one_by_one, p_by_listing, p_by_shuffling
    from pyarrow.parquet import read_table

    from prasanga.associations import ceat
    from prasanga.embeddings.shards import StoredEmbeddings
    from prasanga.stats.permutation import permutation_test_of_scores

    rng = np.random.default_rng(1)
    vectors = {f"w{i}": rng.standard_normal((200, 256), dtype=np.float32) for i in range(32)}
    sides = sets_of(list(vectors), 16)
    draws = rng.integers(200, size=(2_000, 32))
    ours = partial(ceat, vectors, (sides[0], sides[1]), (sides[2], sides[3]), draws=draws)
    yield "CEAT", Compared(ours, lambda: draws_one_by_one(vectors, sides, draws[:20]), 100)
    listed = write_vectors(folder, "9", sorted(vectors), 200, 256, rng)
    shards = sorted(listed.with_suffix("").glob("*.parquet"))
    simply = [partial(read_table, path, filters=[("stimulus", "==", word)]) for word in vectors for path in shards]
    stored = partial(StoredEmbeddings, listed, cache_bytes=0)
    yield "reading vectors", Compared(lambda: list(stored().values()), lambda: [read() for read in simply])
    x, y = rng.normal(size=(2, 7))
    yield "exact p", Compared(lambda: permutation_test_of_scores(x, y), lambda: p_by_listing(x, y))
    sampled = partial(permutation_test_of_scores, x, y, method="sampled", n_resamples=100_000, rng=1)
    yield "sampled p", Compared(sampled, lambda: p_by_shuffling(x, y, 2_000, 1), 50)


def starts(_folder: Path) -> Iterator[tuple[str, Compared]]:
    """Jobs' imports: a statistic's beside those of its libraries, and a model's."""

    def imports(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    libraries = "import polars, pyarrow.parquet, numpy"
    yield "start of a statistic", Compared(imports("import prasanga.associations.effects"), imports(libraries))
    libraries = "from transformers import BertModel"
    embeds = imports(f"import prasanga.embeddings.stage; {libraries}")
    yield "start of a model's job", Compared(embeds, imports(libraries))


def measure(rounds: int) -> dict[str, float]:
    """Every ratio; the first round, in which kernels are compiled, does not count."""
    found = {}
    with TemporaryDirectory() as name:
        for part in (sentences, models, statistics, starts):
            for work, compared in part(Path(name)):
                ours, simple = [], []
                for _ in range(rounds + 1):
                    ours.append(seconds_of(compared.ours))
                    simple.append(seconds_of(compared.simple))
                found[work] = compared.times * min(simple[1:]) / min(ours[1:])
    return found


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time of this process and of those that it started."""
    before = os.times()[2:4], time.process_time()
    work()
    return time.process_time() - before[1] + sum(os.times()[2:4]) - sum(before[0])


def slower(recorded: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """A sentence for each ratio that is worse than it was, or is no longer measured."""
    said = []
    for work, was in recorded.items():
        if work not in now:
            said.append(f"{work}: {was:.3g}x was recorded, and nothing is measured.")
        elif now[work] < (1 - TOLERATED) * was:
            said.append(f"{work}: {now[work]:.3g}x, {1 - now[work] / was:.0%} slower than the {was:.3g}x recorded.")
    return said


def main() -> None:
    """Measure, and print each ratio beside the recorded one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--record", action="store_true", help="write what is measured as the new record")
    asked = parser.parse_args()
    now = measure(asked.rounds)
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))["constants"] if RECORD.exists() else {}
    print("| work | recorded | now |\n| --- | --- | --- |")
    for work, ratio in now.items():
        print(f"| {work} | {f'{recorded[work]:.3g}x' if work in recorded else '-'} | {ratio:.3g}x |")
    if asked.record:
        write_measured(RECORD, {}, constants=now)
        return
    said = slower(recorded, now)
    print("\n" + ("\n".join(said) or f"Nothing became slower by more than {TOLERATED:.0%}."))
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
