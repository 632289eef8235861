"""Speed and memory of training static vectors: `python tests/benchmarks/static.py`.

Texts are the Bangla ones of the folder `--shared` (corpora/bn_*.txt), or the demo's where there is none. Every training
runs in a process of its own, with the defaults (300 dimensions, a window of 5) but one epoch, since the epochs of a
training cost the same. How many different words a longer text has follows from two sizes of this one (Heaps' law:
different words = k x words^beta); what a vector and a word cost in memory, from trainings with more and with fewer of
them. Nothing is compared with another way: word2vec is gensim's, and of GloVe there is no kept package.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measured import write_measured

from prasanga.static import Tokens, sentences_of, spool, train_glove, train_word2vec
from prasanga.text import normalizer

PROJECT = Path(__file__).parents[2]
FREQUENT = 5
_ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")
_TRAININGS = {"word2vec": train_word2vec, "glove": train_glove}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write what docs/scaling.md computes with."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=PROJECT.parent / "shared", help="folder with corpora/bn_*.txt")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, of which the fastest counts (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(ONE[options.one](options.shared)))
        return
    results = {part: best(part, options) for part in ONE}
    constants = constants_of(results)
    size = results["cut"]["megabytes"]
    print(f"{size:.1f} MB of Bangla, {results['cut']['words']:,} words; best of {options.repeats}\n")
    print("| constant | value |\n| --- | --- |")
    for name, value in constants.items():
        print(f"| `{name}` | {value:,.4g} |")
    if options.json:
        write_measured(options.json, results, constants=constants)


def best(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """The fastest of some runs, each in a process of its own with one thread."""
    command = [sys.executable, __file__, "--one", part, "--shared", str(options.shared)]
    found = [
        json.loads(
            subprocess.run(
                command, env={**os.environ, **_ONE_THREAD}, capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(options.repeats)
    ]
    return dict(min(found, key=lambda each: each["seconds"]))


def constants_of(results: dict[str, dict[str, Any]]) -> dict[str, float]:
    """What docs/scaling.md computes with."""
    cut, tenth = results["cut"], results["cut a tenth"]
    glove, all_words = results["glove"], results["glove of every word"]
    vectors, every = results["word2vec"], results["word2vec of every word"]
    more = cut["words"] / tenth["words"]
    return {
        "words_per_megabyte": cut["words"] / cut["megabytes"],
        "megabytes_cut_per_second": cut["megabytes"] / cut["seconds"],
        "temporary_bytes_per_word": cut["bytes"] / cut["words"],
        "words_trained_per_second": cut["words"] / vectors["seconds"],
        "counts_per_word": glove["n_counts"] / cut["words"],
        "counts_per_second": glove["n_counts"] / (glove["seconds"] - glove["seconds_of_counting"]),
        "words_counted_per_second": cut["words"] / glove["seconds_of_counting"],
        "words_measured": cut["words"],
        "different_words": cut["different"],
        "frequent_words": cut["frequent"],
        "growth_of_different_words": math.log(cut["different"] / tenth["different"]) / math.log(more),
        "bytes_per_different_word": (cut["peak"] - tenth["peak"]) / (cut["different"] - tenth["different"]),
        "bytes_per_vector_of_word2vec": (every["peak"] - vectors["peak"]) / (every["vectors"] - vectors["vectors"]),
        "bytes_per_vector_of_glove": (all_words["peak"] - glove["peak"]) / (all_words["vectors"] - glove["vectors"]),
    }


def lines(shared: Path) -> Iterator[str]:
    """The lines of all texts, none of which stays in memory."""
    texts = sorted(shared.glob("corpora/bn_*.txt")) or sorted(PROJECT.glob("resources/demo/corpus/bn/*.txt"))
    for text in texts:
        with text.open(encoding="utf-8") as stream:
            yield from stream


def tokens_of(texts: Iterable[str], folder: str) -> Tokens:
    """The texts as sentences of words in a file."""
    return spool(sentences_of(texts, normalizer("bangla")), Path(folder, "tokens"))


def cut(shared: Path, share: int = 1) -> dict[str, Any]:
    """Cutting every n-th part of the lines into words."""
    with TemporaryDirectory() as folder:
        tokens_of(islice(lines(shared), 1000), folder)  # what is compiled and opened at first
        began = time.perf_counter()
        tokens = tokens_of(islice(lines(shared), 0, None, share), folder)
        seconds = time.perf_counter() - began
        return {
            "seconds": seconds,
            "megabytes": sum(len(text.encode()) for text in islice(lines(shared), 0, None, share)) / 1e6,
            "words": tokens.n_words,
            "bytes": tokens.path.stat().st_size,
            "different": len(tokens.counts),
            "frequent": len(tokens.frequent(FREQUENT)),
            "peak": peak(),
        }


def train(shared: Path, method: str, minimum_count: int = FREQUENT) -> dict[str, Any]:
    """One epoch of a training."""
    with TemporaryDirectory() as folder:
        tokens = tokens_of(lines(shared), folder)
        seconds = {}
        for epochs in (1, 2):
            began = time.perf_counter()
            trained = _TRAININGS[method](tokens, epochs=epochs, minimum_count=minimum_count)
            seconds[epochs] = time.perf_counter() - began
    epoch = seconds[2] - seconds[1]
    return {
        "seconds": epoch + (seconds[1] - epoch if method == "glove" else 0.0),
        "seconds_of_counting": seconds[1] - epoch,
        "vectors": len(trained.words),
        "n_counts": int(trained.report.get("n_counts", 0)),
        "peak": peak(),
    }


def peak() -> int:
    """Most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


ONE = {
    "cut": cut,
    "cut a tenth": lambda shared: cut(shared, 10),
    "word2vec": lambda shared: train(shared, "word2vec"),
    "word2vec of every word": lambda shared: train(shared, "word2vec", 1),
    "glove": lambda shared: train(shared, "glove"),
    "glove of every word": lambda shared: train(shared, "glove", 1),
}

if __name__ == "__main__":
    main()
