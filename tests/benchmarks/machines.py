"""How far numbers differ between machines: `python tests/benchmarks/machines.py`.

Prints Markdown. One machine stands for others: each row is a process that was told to use other threads, or fewer of
the processor's instructions, and its numbers beside those of the first. It is explained in `docs/running.md`.
A model is trained on a part of the demo's text; its vectors, CEAT's effect size and p from them, and the scores of the
demo's pairs are compared, and so are the weights that each process trains for itself. Text, samples and statistics of
given vectors are compared by their bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

PROJECT = Path(__file__).parents[2]
SEED = 2026
CATEGORY, CONTEXTS, DRAWS, PAIRS, TEXTS = "C1", 6, 1_000, 40, 300
TRAINING = {"hidden_size": 64, "layers": 2, "heads": 4, "steps": 60, "seed": 1, "vocabulary_size": 1_500}
OLD = {
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NUMBA_CPU_NAME": "generic",
}
WAYS: dict[str, dict[str, str]] = {
    "the same again": {"PYTHONHASHSEED": "7", "TZ": "Asia/Dhaka", "LC_ALL": "C"},
    "two threads": {"THREADS": "2", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
    "ATEN_CPU_CAPABILITY=default": {"ATEN_CPU_CAPABILITY": "default"},
    "ONEDNN_MAX_CPU_ISA=SSE41": {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    "MKL_CBWR=COMPATIBLE": {"MKL_CBWR": "COMPATIBLE"},
    "MKL_ENABLE_INSTRUCTIONS=SSE4_2": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "OPENBLAS_CORETYPE=Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "NUMBA_CPU_NAME=generic": {"NUMBA_CPU_NAME": "generic"},
    "POLARS_MAX_THREADS=1": {"POLARS_MAX_THREADS": "1"},
    "all of these instructions": OLD,
    "bfloat16 (another choice, for comparison)": {"DTYPE": "bfloat16"},
}
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}


class Column(NamedTuple):
    """What is compared, and how: the largest difference, as a share of the largest number or as it is."""

    heading: str
    name: str
    is_relative: bool


COLUMNS = (
    Column("vectors", "vectors", True),
    Column("effect size", "effect", False),
    Column("p_stimuli", "p", False),
    Column("pair scores", "scores", False),
    Column("trained weights", "weights", True),
    Column("effect size, trained there", "own_effect", False),
)


def main() -> None:
    """Compare all ways with the first; or measure, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time; it measures no time")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--given", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.measure, asked.given or asked.measure)
        return
    from measured import machine

    print(f"{machine()}, Python {sys.version.split()[0]}\n")
    headings = [*(column.heading for column in COLUMNS), "text and samples", "statistics of given vectors"]
    print("\n".join(f"| {' | '.join(cells)} |" for cells in (["way", *headings], ["---"] * (len(headings) + 1))))
    with TemporaryDirectory() as folder:
        given = Path(folder, "first")
        first = measured(given, {})
        folders = [Path(folder, str(number)) for number in range(len(WAYS))]
        with ThreadPoolExecutor(asked.jobs) as pool:
            others = pool.map(partial(measured, given=given), folders, WAYS.values())
            for way, other in zip(WAYS, others, strict=True):
                print(f"| {' | '.join([way, *compared(first, other)])} |", flush=True)


def measured(folder: Path, environment: dict[str, str], given: Path | None = None) -> dict[str, Any]:
    """The numbers of a process in such an environment, on one thread unless that says otherwise."""
    command = [sys.executable, __file__, "--measure", str(folder), *(["--given", str(given)] if given else [])]
    subprocess.run(command, env={**os.environ, **ONE_THREAD, **environment}, check=True)
    with np.load(folder / "numbers.npz") as numbers:
        return dict(numbers)


def compared(first: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """The cells of a row."""
    for column in COLUMNS:
        one, two = (np.asarray(each[column.name], dtype=np.float64) for each in (first, other))
        assert np.array_equal(np.isnan(one), np.isnan(two)), column.name  # pairs that cannot be scored
        largest = float(np.nanmax(np.abs(one - two)))
        share = largest / float(np.nanmax(np.abs(one))) if column.is_relative else largest
        yield "equal" if largest == 0 else f"{share:.0e}"
    for name in ("text", "statistics"):
        yield "equal" if str(first[name]) == str(other[name]) else "**different**"


def measure(folder: Path, given: Path) -> None:
    """Write the numbers of this process: with the model and the vectors in `given`, and with a model trained here."""
    import logging

    import polars as pl
    import torch

    from prasanga.likelihoods import bias_percentage, read_pairs, score_pairs
    from prasanga_calibration import train_model

    logging.disable(logging.WARNING)
    torch.set_num_threads(int(os.environ.get("THREADS", "1")))
    texts, contexts, sides = contexts_of_words()
    train_model(texts[:TEXTS], folder / "model", **TRAINING)
    vectors = embedded(given / "model", contexts)
    own = embedded(folder / "model", contexts)
    if given == folder:
        np.savez(folder / "vectors.npz", **{str(n): each for n, each in enumerate(vectors.values())})
    with np.load(given / "vectors.npz") as kept:
        those = dict(zip(vectors, kept.values(), strict=True))
    pairs = read_pairs(PROJECT / "resources/demo/pairs.csv", "bn").head(2 * PAIRS)
    scores = score_pairs(given / "model", pairs, dtype=os.environ.get("DTYPE", "float32"))
    percentages = bias_percentage(fixed_scores(pairs))
    effect, p = associated(vectors, sides)
    np.savez(
        folder / "numbers.npz",
        vectors=np.concatenate(list(vectors.values())),
        effect=effect,
        p=p,
        scores=scores.select(pl.col("score_first"), pl.col("score_second")).to_numpy(),
        weights=weights_of(folder / "model"),
        own_effect=associated(own, sides)[0],
        text=digest_of_text(texts, contexts),
        statistics=hashlib.sha256(repr((associated(those, sides), percentages.to_dicts())).encode()).hexdigest(),
    )


def contexts_of_words() -> tuple[list[str], dict[str, list[tuple[str, int, int]]], list[list[str]]]:
    """Normalized texts of the demo, sentences with the words of a category, and its four sets."""
    from prasanga.lexicon import load_lexicon
    from prasanga.sentences import Matcher
    from prasanga.text import normalize_batch

    lexicon = load_lexicon(PROJECT / "resources/stimuli/bn", PROJECT / "resources/suffix_groups/bn.yaml")
    category = lexicon.categories[CATEGORY]
    sides = [list(side.stimuli) for side in (*category.targets, *category.attributes)]
    wanted, matcher = {word for side in sides for word in side}, Matcher(lexicon)
    lines = (PROJECT / "resources/demo/corpus/bn/news.txt").read_text(encoding="utf-8").splitlines()
    texts = normalize_batch([line for line in lines if line.strip()])
    contexts: dict[str, list[tuple[str, int, int]]] = {word: [] for side in sides for word in side}
    for text in texts:
        for match in matcher.find(text):
            if match.stimulus in wanted and len(contexts[match.stimulus]) < CONTEXTS:
                contexts[match.stimulus].append((text, match.start, match.end))
    sides = [[word for word in side if len(contexts[word]) == CONTEXTS] for side in sides]
    return texts, {word: contexts[word] for side in sides for word in side}, sides


def embedded(model: Path, contexts: dict[str, list[tuple[str, int, int]]]) -> dict[str, Any]:
    """The vectors of each word in its contexts."""
    from prasanga.embeddings import load_encoder

    encoder = load_encoder(model, device="cpu", dtype=os.environ.get("DTYPE", "float32"))
    listed = [context for each in contexts.values() for context in each]
    vectors = encoder.embed([text for text, *_ in listed], [(start, end) for _, start, end in listed])
    return dict(zip(contexts, np.split(vectors, len(contexts)), strict=True))


def associated(vectors: dict[str, Any], sides: Sequence[list[str]]) -> tuple[float, float]:
    """Effect size and p_stimuli of CEAT."""
    from prasanga.associations import ceat

    x, y, a, b = sides
    result = ceat(vectors, (x, y), (a, b), n_samples=DRAWS, rng=SEED)
    return float(result.combined.effect), float(result.test_stimuli(rng=SEED).p_value)


def fixed_scores(pairs: Any) -> Any:
    """Scores that are drawn and not a model's."""
    import polars as pl

    rng = np.random.default_rng(SEED)
    return pairs.with_columns(
        pl.Series("score_first", rng.normal(size=pairs.height)),
        pl.Series("score_second", rng.normal(size=pairs.height)),
    )


def weights_of(model: Path) -> Any:
    """All weights of a model, one after the other."""
    from safetensors.numpy import load_file

    return np.concatenate([weights.ravel() for _, weights in sorted(load_file(model / "model.safetensors").items())])


def digest_of_text(texts: list[str], contexts: dict[str, Any]) -> str:
    """Of what is found and drawn: normalized texts, places of words, draws of contexts."""
    from prasanga.associations.ceat import draw_contexts

    draws = draw_contexts([CONTEXTS] * len(contexts), DRAWS, SEED)
    return hashlib.sha256(repr((texts, contexts, np.asarray(draws).tolist())).encode()).hexdigest()


if __name__ == "__main__":
    main()
