"""Speed and memory of training static vectors: `python tests/benchmarks/static.py`.

Texts are the Bangla ones of the folder `--shared` (corpora/bn_*.txt), or the demo's where there is none. Everything
runs in a process of its own, in one thread, with the defaults (300 dimensions, a window of 5), and seconds are those of
the processor, so that other work on the machine counts little. How many different words a longer text has follows from
two sizes of this one (Heaps' law: different words = k x words^beta); what a vector and a word cost in memory, from
trainings with more and with fewer of them. Vocabularies of millions do not fit a processor's caches, so speeds are
those of made-up text by Zipf's law with `MANY` words, gensim's on the same text beside them. What sixteen threads lose
by waiting for each other follows from the sizes of the blocks.
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
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from measured import write_measured

from prasanga.base.parquet import write_batches, write_table
from prasanga.base.progress import progress
from prasanga.sentences import Shard
from prasanga.static import CutCorpus, Trained, cut_corpus, train_glove, train_word2vec
from prasanga.static.cutting import PAIRS_AT_A_TIME, SENTENCE_OF_WORDS, VOCABULARY, count_pairs
from prasanga.static.training import deal
from prasanga.text import normalizer

PROJECT = Path(__file__).parents[2]
FREQUENT, MANY, CORES = 5, 300_000, 16
GIGABYTES, WORDS, HOURS = 27.5, 1.7e9, 6  # what was asked
_ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")
_TRAININGS: dict[str, Callable[..., Trained]] = {"word2vec": train_word2vec, "glove": train_glove}


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
    text = results["cut"]
    print(f"{text['megabytes']:.1f} MB of Bangla, {text['words']:,} words; best of {options.repeats}\n")
    print("| constant | value |\n| --- | --- |")
    for name, value in constants.items():
        print(f"| `{name}` | {value:,.4g} |")
    hours = constants["hours_of_both_trainings_on_16_cores"]
    print(f"\nBoth trainings, {WORDS:,.0f} words, {CORES} cores: {hours:.1f} h (asked: less than {HOURS})")
    if options.json:
        write_measured(options.json, results, constants=constants)


def best(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """The fastest of some runs, each in a process of its own with one thread."""
    command = [sys.executable, __file__, "--one", part, "--shared", str(options.shared)]
    environment = {**os.environ, **_ONE_THREAD}
    found = [
        json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
        for _ in range(options.repeats)
    ]
    return dict(min(found, key=lambda each: each["seconds"]))


def constants_of(results: dict[str, dict[str, Any]]) -> dict[str, float]:
    """What docs/scaling.md computes with."""
    cut, tenth = results["cut"], results["cut a tenth"]
    glove, all_words = results["glove"], results["glove of every word"]
    vectors, every = results["word2vec"], results["word2vec of every word"]
    many, gensim, blocks = results["word2vec of many words"], results["gensim"], results["glove of many words"]
    more = cut["words"] / tenth["words"]
    cutting = cut["megabytes"] / cut["seconds"]
    counting = glove["words"] / glove["seconds_of_counting"]
    busy = blocks["share_of_16_threads"]
    counts = glove["n_counts"] / cut["words"]
    hours = {
        "cutting": GIGABYTES * 1000 / cutting / CORES / 3600,
        "word2vec": 5 * WORDS / many["rate"] / CORES / busy / 3600,
        "counting": WORDS / counting / 3600,
        "glove": 25 * counts * WORDS / blocks["rate"] / CORES / busy / 3600,
    }
    return {
        "words_per_megabyte": cut["words"] / cut["megabytes"],
        "megabytes_cut_per_second": cutting,
        "bytes_per_word": cut["bytes"] / cut["words"],
        "words_trained_per_second": many["rate"],
        "words_trained_per_second_in_cache": vectors["rate"],
        "words_trained_per_second_by_gensim": gensim["rate"],
        "counts_per_word": counts,
        "counts_per_second": blocks["rate"],
        "counts_per_second_in_cache": glove["rate"],
        "words_counted_per_second": counting,
        "share_of_16_threads": busy,
        "hours_of_both_trainings_on_16_cores": sum(hours.values()),
        **{f"hours_of_{part}_on_16_cores": value for part, value in hours.items()},
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


def cut_text(shared: Path, folder: str, share: int = 1) -> tuple[CutCorpus, Path]:
    """Every n-th line of the texts, cut, and the file with them."""
    text, places = Path(folder, "text.txt"), (Path(folder, "sentences"), Path(folder, "words"))
    with text.open("w", encoding="utf-8") as stream:
        stream.writelines(islice(lines(shared), 0, None, share))
    return cut_corpus([Shard(str(text), text.name, "line")], *places, normalizer("bangla"), language="bn"), text


def cut(shared: Path, share: int = 1) -> dict[str, Any]:
    """Cutting every n-th line of the texts."""
    with TemporaryDirectory() as folder:
        cut_text(shared, folder, 50)  # what is compiled and opened at first
        began = time.process_time()
        corpus, text = cut_text(shared, folder, share)
        return {
            "seconds": time.process_time() - began,
            "megabytes": text.stat().st_size / 1e6,
            "words": corpus.n_words,
            "bytes": corpus.sentences.stat().st_size,
            "different": len(corpus.counts),
            "frequent": corpus.frequent(FREQUENT),
            "peak": peak(),
        }


def made_up(folder: str) -> CutCorpus:
    """Two million words by Zipf's law, a tenth of which is any of `MANY` words, so that the rare ones come too."""
    rng = np.random.default_rng(1)
    numbers = rng.choice(MANY, size=2_000_000, p=(weights := 1 / np.arange(1, MANY + 1)) / weights.sum())
    numbers[::10] = rng.integers(MANY, size=len(numbers[::10]))
    counts = np.bincount(numbers, minlength=MANY)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(MANY, np.uint32)
    place[order] = np.arange(MANY)
    sentences = pa.ListArray.from_arrays(np.arange(0, len(numbers) + 1, 10, dtype=np.int32), pa.array(place[numbers]))
    corpus = CutCorpus(Path(folder, "sentences"), Path(folder, "words"))
    batch = pa.record_batch([sentences], schema=SENTENCE_OF_WORDS)
    write_batches(corpus.sentences, SENTENCE_OF_WORDS, [batch], {})
    names = pa.array([f"w{number}" for number in range(MANY)])
    write_table(corpus.words, pa.table([names, pa.array(counts[order])], schema=VOCABULARY), {})
    return corpus


def train(corpus: CutCorpus, method: str, minimum_count: int = FREQUENT) -> dict[str, Any]:
    """One epoch of a training: the difference of two epochs to one, after one on which everything is compiled."""
    seconds = {}
    for epochs in (1, 2) if method == "glove" else (1, 1):
        began = time.process_time()
        trained = _TRAININGS[method](corpus, epochs=epochs, minimum_count=minimum_count)
        seconds[epochs] = time.process_time() - began
    epoch = seconds[2] - seconds[1] if method == "glove" else seconds[1]
    n_counts = int(trained.report.get("n_counts", 0))
    return {
        "seconds": epoch,
        "rate": (n_counts or corpus.n_words) / epoch,
        "seconds_of_counting": seconds[1] - epoch,
        "words": corpus.n_words,
        "vectors": len(trained.words),
        "n_counts": n_counts,
        "peak": peak(),
    }


def train_text(shared: Path, method: str, minimum_count: int = FREQUENT) -> dict[str, Any]:
    """A training on the texts."""
    with TemporaryDirectory() as folder:
        return train(cut_text(shared, folder)[0], method, minimum_count)


def train_many(method: str) -> dict[str, Any]:
    """A training on made-up text; of GloVe also how busy sixteen threads would be."""
    with TemporaryDirectory() as folder:
        corpus = made_up(folder)
        result = train(corpus, method, 1)
        if method == "glove":
            n = corpus.frequent(1)
            block = deal(n, np.random.default_rng(1))
            with progress("counting") as done:
                entries = count_pairs(corpus.parts(n, PAIRS_AT_A_TIME // 5, done), block, 5, folder)
            sizes = np.array([path.stat().st_size for path in entries.paths]).reshape(2 * (int(block.max()) + 1,))
            result["share_of_16_threads"] = share_of_threads(sizes)
        return result


def share_of_threads(sizes: np.ndarray) -> float:
    """How busy the threads are that share the blocks of a round and wait for the last one."""
    n, ends = len(sizes), 0.0
    for shift in range(n):
        busy = np.zeros(CORES)
        for row in range(n):
            busy[busy.argmin()] += sizes[row, (row + shift) % n]
        ends += busy.max()
    return float(sizes.sum() / CORES / ends)


def gensim(_: Path) -> dict[str, Any]:
    """One epoch of gensim's word2vec on the made-up text, with one worker."""
    from gensim.models import Word2Vec

    with TemporaryDirectory() as folder:
        corpus = made_up(folder)
        names = np.array(corpus.first_words(MANY))
        with progress("reading") as done:
            sentences = [
                names[part.numbers[start : start + 10]].tolist()
                for part in corpus.parts(MANY, 100_000, done)
                for start in part.bounds[:-1]
            ]
        model = Word2Vec(vector_size=300, window=5, min_count=1, sg=1, negative=5, sample=1e-3, epochs=1, workers=1)
        model.build_vocab(sentences)
        began = time.process_time()
        model.train(sentences, total_examples=len(sentences), epochs=1)
        seconds = time.process_time() - began
        return {"seconds": seconds, "rate": corpus.n_words / seconds, "peak": peak()}


def peak() -> int:
    """Most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


ONE: dict[str, Callable[[Path], dict[str, Any]]] = {
    "cut": cut,
    "cut a tenth": lambda shared: cut(shared, 10),
    "word2vec": lambda shared: train_text(shared, "word2vec"),
    "word2vec of every word": lambda shared: train_text(shared, "word2vec", 1),
    "word2vec of many words": lambda _: train_many("word2vec"),
    "gensim": gensim,
    "glove": lambda shared: train_text(shared, "glove"),
    "glove of every word": lambda shared: train_text(shared, "glove", 1),
    "glove of many words": lambda _: train_many("glove"),
}

if __name__ == "__main__":
    main()
