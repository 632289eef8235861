"""Speed of the embeddings stage: `python tests/benchmarks/embeddings.py [--device auto|cpu|cuda] [--size base|large]`.

Prints Markdown. On a CPU: vectors of targets beside the simple way in the same run. On any device: what share of its
measured matrix rate is reached from texts to vectors, at several lengths, and how long the Bangla paper's full study
would take. The weights are random, which changes no speed. How it is measured stands in `docs/performance.md`;
`--size tiny` only shows that it works.
"""

from __future__ import annotations

import argparse
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from measured import write_measured
from simple_embedding import Segments, compare
from tables import Row
from tokenizers import models
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from prasanga.base.parquet import read_where, write_row_groups
from prasanga.embeddings import load_encoder
from prasanga.embeddings.shards import arrow_to_vectors, embedding_field, vectors_to_arrow
from prasanga.models.shape import quiet, use_onednn
from prasanga.text import words
from prasanga_calibration.training import CLS, MASK, PAD, SEP, UNKNOWN, train_tokenizer

PROJECT = Path(__file__).parents[2]
SEED = 2024
#: Entries of the vocabulary: as many as BanglaBERT has, so that the head costs what it does there. Only the first are
#: learned from the demo's text, few enough that a word has 1.4 pieces on average.
ENTRIES, LEARNED = 32_000, 2_500
#: Segments that ours embeds when it is compared with the simple way, and their length in words.
COMPARED, COMPARED_WORDS = 96, 25
#: Share of the device's matrix rate, by length in words; asked of a GPU with BERT-large.
ASKED_SHARE = {9: 0.35, 75: 0.50}
#: The paper's study, and how many words a context of more than 75 is taken to have.
STIMULI, CONTEXTS, MODELS, LONG = 262, 1_200, 4, 150
GIB = 1 << 30
_MET = {True: "yes", False: "**no**", None: "-"}


class Shape(NamedTuple):
    """A BERT: width, blocks, heads."""

    width: int
    blocks: int
    heads: int

    def flop(self, pieces: float) -> float:
        """Multiplications and additions of the blocks for a text of so many pieces.

        For each piece 2 x the parameters of the blocks, and in each block 4 x width for every piece that it attends to.
        Embeddings are looked up and not multiplied, and there is no head.
        """
        parameters = 12 * self.width**2 + 13 * self.width
        return pieces * self.blocks * (2 * parameters + 4 * self.width * pieces)


SIZES = {"tiny": Shape(64, 2, 2), "base": Shape(768, 12, 12), "large": Shape(1024, 24, 16)}


@dataclass(frozen=True)
class Throughput:
    """From segments to their vectors on the host; `pieces` are real ones, padding is not among them."""

    words: int
    segments: int
    pieces: int
    flop: float
    seconds: float
    batch: int | None
    memory: int | None


def main() -> None:
    """Measure, and print the tables."""
    options = _options()
    device = ("cuda" if torch.cuda.is_available() else "cpu") if options.device == "auto" else options.device
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device here. Write --device cpu.")
    size = options.size or ("large" if device == "cuda" else "base")
    shape, flags, text = SIZES[size], _bfloat16_flags(), read_text()
    dtypes = ["float32", "bfloat16"] if flags or device == "cuda" else ["float32"]
    if device == "cpu":
        torch.set_num_threads(options.threads)
    facts = [
        *_facts(device, flags),
        f"BERT-{size}: {shape.blocks} blocks, width {shape.width}, {options.entries:,} entries",
    ]
    with TemporaryDirectory(prefix="prasanga-benchmark-") as name:
        folder = Path(name)
        _say(f"a BERT of size {size}")
        build(folder / "model", shape, text, options.entries)
        _say("matrix rate")
        ceilings = {dtype: matrix_rate(device, dtype, tiny=size == "tiny") for dtype in dtypes}
        ceiling, rows = ceilings[dtypes[-1]], []
        if device == "cpu":
            work, segments = f"targets in {COMPARED_WORDS} words, BERT-{size}", cut(text, COMPARED_WORDS, COMPARED)
            flop = _flop_of_one(folder / "model", segments, shape)
            shares = {dtype: partial(_share, flop, rate) for dtype, rate in ceilings.items()}
            rows += compare(folder / "model", segments, work, shares, judge=size == "base")
        results = []
        least, pieces = (20_000, 900_000) if device == "cuda" else (32, 3_000)  # some seconds of work
        for length in options.words:
            _say(f"{length} words")
            segments = cut(text, length, max(least, pieces // length))
            results.append(_embed(folder / "model", segments, length, shape, device, dtypes[-1]))
        storage = _storage(folder, shape.width)
        facts += [f"matrix rate in {dtypes[-1]}: {ceiling / 1e12:.3g} TFLOP/s", str(storage)]
    asked = ASKED_SHARE if device == "cuda" and size == "large" else {}
    print("\n".join(_report(facts, rows, results, ceiling, asked)))
    print("\n".join(_project(results, shape)))
    if options.json:
        constants = {
            **{f"pieces_of_{r.words}_words": r.pieces / r.segments for r in results},
            **{f"teraflops_at_{r.words}_words": r.flop / r.seconds / 1e12 for r in results},
            "matrix_teraflops": ceiling / 1e12,
            "seconds_of_imports": _imports(),
            "bytes_per_value": storage.bytes_per_vector / shape.width,
            "megabytes_written_per_second": storage.written,
            "megabytes_read_per_second": storage.read,
        }
        throughput = {"throughput": [asdict(result) for result in results]}
        write_measured(options.json, throughput, constants=constants, facts=facts, rows=rows)


def _flop_of_one(folder: Path, segments: Segments, shape: Shape) -> float:
    """FLOP of the blocks for a segment, on average."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    return float(np.mean([shape.flop(len(ids)) for ids in tokenizer(segments.texts)["input_ids"]]))


def _share(flop: float, rate: float, speed: float) -> float:
    return speed * flop / rate


def _imports() -> float:
    """Seconds until a process that embeds has its libraries, the best of three."""
    code, seconds = "import prasanga.embeddings.stage; from transformers import BertModel", []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="auto: a GPU if there is one")
    parser.add_argument("--size", choices=list(SIZES), help="of the model (default: base on a CPU, large on a GPU)")
    parser.add_argument("--words", type=int, nargs="+", default=[9, 25, 75], metavar="N", help="lengths (9 25 75)")
    parser.add_argument("--entries", type=int, default=ENTRIES, help="of the vocabulary (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="on a CPU (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    return parser.parse_args()


def read_text() -> str:
    files = sorted((PROJECT / "resources/demo/corpus/bn").glob("*.txt"))
    return " ".join(line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line)


def build(folder: Path, shape: Shape, text: str, entries: int) -> None:
    """Write a masked language model with random weights, and a WordPiece tokenizer trained on `text`."""
    tokenizer = train_tokenizer(text.split("।"), LEARNED)
    learned = tokenizer.get_vocab()
    vocabulary = learned | {f"[unused{i}]": i for i in range(len(learned), entries)}
    tokenizer.model = models.WordPiece(vocabulary, unk_token=UNKNOWN, continuing_subword_prefix="##")
    names = {"pad_token": PAD, "unk_token": UNKNOWN, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK}
    sizes = {"hidden_size": shape.width, "num_hidden_layers": shape.blocks, "num_attention_heads": shape.heads}
    config = BertConfig(vocab_size=entries, intermediate_size=4 * shape.width, **sizes)
    torch.manual_seed(SEED)
    with quiet():
        BertForMaskedLM(config).save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names).save_pretrained(folder)


def cut(text: str, length: int, number: int) -> Segments:
    """At most `number` different stretches of exactly `length` words, at random; the middle word is the target."""
    places = [(start, end) for _, start, end in words(text)]
    first = list(range(len(places) - length + 1))
    random.Random(SEED).shuffle(first)
    found: dict[str, tuple[int, int]] = {}
    for i in first:
        begin, (start, end) = places[i][0], places[i + length // 2]
        found.setdefault(text[begin : places[i + length - 1][1]], (start - begin, end - begin))
        if len(found) == number:
            break
    return Segments(list(found), list(found.values()))


@torch.inference_mode()
def matrix_rate(device: str, dtype: str, *, tiny: bool = False) -> float:
    """FLOP/s of square matrix products: the best of several sizes, each by its median; if `tiny`, only any number."""
    rates = []
    for n in (512,) if tiny else (4096, 8192, 16384) if device == "cuda" else (512, 1024, 2048):
        given = torch.randn(n, n, device=device, dtype=getattr(torch, dtype))
        layer, seconds = torch.nn.Linear(n, n, bias=False, device=device, dtype=given.dtype), []
        if (device, dtype) == ("cpu", "float32"):
            use_onednn(layer)
        for _ in range(9):
            _finish(device)
            began = time.perf_counter()
            for _ in range(5):
                layer(given)
            _finish(device)
            seconds.append((time.perf_counter() - began) / 5)
        rates.append(2 * n**3 / float(np.median(seconds[2:])))  # the first two choose a kernel and raise the clock
    return max(rates)


def _embed(folder: Path, segments: Segments, length: int, shape: Shape, device: str, dtype: str) -> Throughput:
    """Embed a tenth of the segments, in which the encoder finds its batch size, then all of them twice."""
    with quiet():
        encoder = load_encoder(folder, device=device, dtype=dtype)
    encoder.embed(*segments.first(len(segments.texts) // 10))
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds, before = [], encoder.report.passes
    for _ in range(2):
        _finish(device)
        began = time.perf_counter()
        encoder.embed(*segments)  # the vectors are on the host when it returns, so the device has finished
        seconds.append(time.perf_counter() - began)
    if encoder.report.passes - before != 2 * len(segments.texts):
        sys.exit("Not every segment had a forward pass of its own: this measures something else.")
    lengths = [len(ids) for ids in encoder.loaded.tokenizer(segments.texts)["input_ids"]]
    return Throughput(
        words=length,
        segments=len(lengths),
        pieces=sum(lengths),
        flop=sum(map(shape.flop, lengths)),
        seconds=min(seconds),
        batch=getattr(encoder, "pieces_per_batch", None),
        memory=torch.cuda.max_memory_allocated() if device == "cuda" else None,
    )


class Storage(NamedTuple):
    """A shard of vectors in float16: bytes of a vector on disk, MB/s of writing and of reading."""

    bytes_per_vector: float
    written: float
    read: float

    def __str__(self) -> str:
        return (
            f"a shard in float16: {self.bytes_per_vector:,.0f} bytes a vector, written at {self.written:.0f} MB/s,"
            f" read at {self.read:.0f} MB/s"
        )


def _storage(folder: Path, width: int) -> Storage:
    """What a shard of vectors takes on disk in float16, and how fast it is written, and read as statistics read it."""
    stimuli, each = [f"word {i:02d}" for i in range(16)], 1_000_000 // width
    values = np.random.default_rng(SEED).standard_normal((len(stimuli), each, width), dtype=np.float32)
    vectors = values.astype(np.float16)
    schema = pa.schema([("segment_id", pa.string()), ("stimulus", pa.string()), embedding_field("float16", width)])
    ids = [f"{i:032x}" for i in range(each)]
    groups = [
        pa.table([ids, [stimulus] * each, vectors_to_arrow(mine)], schema=schema)
        for stimulus, mine in zip(stimuli, vectors, strict=True)
    ]
    path = folder / "shard.parquet"
    write = _best_seconds(lambda: write_row_groups(path, schema, groups, {}))
    read = _best_seconds(
        lambda: arrow_to_vectors(read_where(path, schema.names, "stimulus", stimuli).column("embedding"))
    )
    size, amount = path.stat().st_size / (len(stimuli) * each), vectors.nbytes / 1e6
    return Storage(size, amount / write, amount / read)


def _best_seconds(work: Callable[[], object]) -> float:
    """Of three times: the first one also loads what the work needs."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _report(
    facts: list[str], rows: list[Row], results: Sequence[Throughput], ceiling: float, asked: dict[int, float]
) -> Iterator[str]:
    """The lines of the page, without the projection."""
    yield from (f"- {fact}" for fact in facts)
    if rows:
        yield _head("work", "asked", "measured", "simple way, same run", "ratio", "met")
    for row in rows:
        yield f"| {row.work} | {row.asked} | {row.measured} | {row.simple} | {row.ratio} | {_MET[row.met]} |"
    columns = ("words", "segments", "pieces each", "pieces/s", "segments/s", "TFLOP/s", "of the matrix rate", "asked")
    yield _head(*columns, "batch", "peak memory", "met")
    for r in results:
        rate, least = r.flop / r.seconds, asked.get(r.words)
        yield (
            f"| {r.words} | {r.segments:,} | {r.pieces / r.segments:.1f} | {r.pieces / r.seconds:,.0f}"
            f" | {r.segments / r.seconds:,.0f} | {rate / 1e12:.3g} | {rate / ceiling:.0%}"
            f" | {f'>= {least:.0%}' if least else '-'} | {f'{r.batch:,}' if r.batch else '-'}"
            f" | {f'{r.memory / GIB:.1f} GiB' if r.memory else '-'}"
            f" | {_MET[rate >= least * ceiling if least else None]} |"
        )


def _project(results: Sequence[Throughput], shape: Shape) -> Iterator[str]:
    """The paper's study on this device, from what was measured at 9, 25 and 75 words."""
    by_words = {result.words: result for result in results}
    if not {9, 25, 75} <= set(by_words):
        return
    at_75 = by_words[75]
    seconds = {f"{n} words": by_words[n].seconds / by_words[n].segments for n in (9, 25, 75)}
    seconds[">75 words"] = shape.flop(at_75.pieces / at_75.segments * LONG / 75) * at_75.seconds / at_75.flop
    hours = {name: each * STIMULI * CONTEXTS * MODELS / 3600 for name, each in seconds.items()}
    yield (
        f"\nProjected, not measured: {STIMULI} stimuli x {CONTEXTS:,} contexts x {MODELS} models of this size, on this"
        f" device alone, without loading and writing. A context of more than 75 words counts as {LONG} words at the"
        " FLOP/s of 75."
    )
    yield _head(*hours, "in all")
    yield f"| {' | '.join(f'{each:.2f} h' for each in (*hours.values(), sum(hours.values())))} |"


def _head(*columns: str) -> str:
    return f"\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|"


def _facts(device: str, flags: list[str]) -> Iterator[str]:
    processor = _cpuinfo("model name") or platform.processor() or platform.machine()
    yield f"{processor}, {', '.join(flags) or 'nothing for bfloat16'}; {torch.get_num_threads()} thread(s)"
    if device == "cuda":
        card = torch.cuda.get_device_properties(0)
        yield f"{card.name}, {card.total_memory / GIB:.0f} GiB, CUDA {torch.version.cuda}"
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "tokenizers"))
    yield f"Python {platform.python_version()}, {libraries}"


def _bfloat16_flags() -> list[str]:
    """What the processor has for products in bfloat16; the last one is that of ARM."""
    found = {*_cpuinfo("flags").split(), *_cpuinfo("Features").split()}
    return [flag for flag in ("avx512_bf16", "amx_bf16", "bf16") if flag in found]


def _cpuinfo(key: str) -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.split("\t")[0] == key), "")


def _finish(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
