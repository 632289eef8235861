"""All that a graphics card is asked to show, in ten minutes: `make gpu`, or `python tests/benchmarks/gpu.py`.

Measures the papers' model sizes (texts and pairs a second, with random weights made on the device) and speed as a
share of the card's own matrix rate, and tests what runs on cards alone: memory that runs out,
several streams, bfloat16 against float32, the same bytes twice, 8 bits, random copies, several cards.
Prints Markdown, writes `docs/measured/gpu.json` and ends with 1 where something failed. Each
part is a process of its own, so that a card which one of them leaves unusable is not another's mistake; what ten
minutes do not hold is left out, and said so.

`--device cpu --tiny` runs the same code on a processor with models of two blocks, so that nothing
of this runs for the first time on the card; `--quick` runs the papers' smallest size there, in less than a minute.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

PROJECT = Path(__file__).parents[2]
#: Asked shares of the card's matrix rate, and of masked scoring what embedding reaches a piece.
ASKED = {"9 words": 0.35, "75 words": 0.50, "decoder, 75 words": 0.50, "masked scores": 0.50}
SEED = 2026
#: A part is stopped after so many seconds, and all of them after ten minutes; a processor has all the time it wants.
LONGEST, IN_ALL = 150, 600
#: The papers' models, by the number of their parameters: family, entries of the vocabulary, and shape.
_SHAPE = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
PAPERS = {
    "52M": ("electra", 32_000, (256, 24, 4, 1024), {"embedding_size": 1024}),  # the generator of BanglaBERT large
    "236M": ("bert", 197_285, (768, 12, 12, 3072), {}),  # MuRIL base
    "339M": ("electra", 32_000, (1024, 24, 16, 4096), {"embedding_size": 1024}),  # BanglaBERT large
    "506M": ("bert", 197_285, (1024, 24, 16, 4096), {}),  # MuRIL large
    "560M": ("xlm-roberta", 250_002, (1024, 24, 16, 4096), {"max_position_embeddings": 514}),  # XLM-R large
    "7B": ("llama", 32_000, (4096, 32, 32, 11008), {"max_position_embeddings": 512}),  # Llama 2; Mistral, BLOOM alike
    "13B": ("llama", 100_000, (5120, 40, 40, 13824), {"max_position_embeddings": 512}),  # as large as mGPT
}
#: Seconds of each measurement of such a model.
EACH = 4.0


@dataclass
class Bench:
    """What a part runs on, and what it found.

    Attributes:
        device: `cuda` or `cpu`.
        tiny: whether models are small, on a processor.
        folder: where the models lie.
        numbers: what was measured.
        failures: sentences on what is not as it should be.
    """

    device: str
    tiny: bool
    folder: Path
    numbers: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def require(self, met: bool, sentence: str) -> None:
        """Note that something is not as it should be."""
        if not met:
            self.failures.append(sentence)

    @property
    def half(self) -> str:
        """The precision of the study on this device."""
        return "bfloat16"

    @cached_property
    def text(self) -> str:
        """The demo's text."""
        from simple_models import read_text

        return read_text()

    def segments(self, words: int, number: int) -> Any:
        """Different segments of so many words; on a processor, few."""
        from simple_models import cut

        return cut(self.text, words, min(number, 24) if self.tiny else number)

    def encoder(self, name: str = "bert", **how: Any) -> Any:
        """A model of those that `prepare` wrote, on the device."""
        from prasanga.embeddings import load_encoder
        from prasanga.models.devices import quiet

        with quiet():
            return load_encoder(self.folder / name, **{"device": self.device, "dtype": self.half, **how})

    def scorer(self, **how: Any) -> Any:
        """The encoder with its head."""
        from prasanga.likelihoods import load_scorer
        from prasanga.models.devices import quiet

        with quiet():
            return load_scorer(self.folder / "bert", **{"device": self.device, "dtype": self.half, **how})

    def pairs(self, number: int) -> Any:
        """The first pairs of the demo."""
        from prasanga.pairs import read_pairs

        return read_pairs(PROJECT / "resources/demo/pairs.csv")[: min(number, 4) if self.tiny else number]


# --------------------
# Speed.


def prepare(bench: Bench) -> None:
    """Write the models: a BERT with weights, and the configuration of a decoder of 7B without."""
    from simple_models import ENTRIES, SIZES, build
    from transformers import LlamaConfig

    shape = SIZES["tiny" if bench.tiny else "large"]
    build(bench.folder / "bert", shape, bench.text, 2_600 if bench.tiny else ENTRIES)

    def llama(*sizes: int) -> LlamaConfig:
        names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        shape = dict(zip(names, sizes, strict=True))
        return LlamaConfig(vocab_size=ENTRIES, max_position_embeddings=512, pad_token_id=0, **shape)

    tiny = (64, 2, 2, 128)
    llama(*(tiny if bench.tiny else (4096, 32, 32, 11008))).save_pretrained(bench.folder / "decoder")
    for file in (bench.folder / "bert").glob("tokenizer*"):
        (bench.folder / "decoder" / file.name).write_bytes(file.read_bytes())


def measure_size(bench: Bench, size: str) -> None:
    """Measure texts a second at 9, 25 and 75 words, and pairs a second, of a model of one of the papers' sizes."""
    import torch
    from transformers import AutoConfig

    from prasanga.base.errors import InputError
    from prasanga.embeddings import load_encoder
    from prasanga.likelihoods import load_scorer, score_pairs
    from prasanga.models import ModelOptions
    from prasanga.models.devices import quiet

    if bench.tiny and size != next(iter(PAPERS)):
        bench.numbers["left out"] = "too large for a processor"
        return
    family, entries, shape, more = PAPERS[size]
    folder = bench.folder / size
    config = AutoConfig.for_model(family, vocab_size=entries, pad_token_id=0, **dict(zip(_SHAPE, shape, strict=True)))
    config.update(more)
    config.save_pretrained(folder)
    for file in (bench.folder / "bert").glob("tokenizer*"):
        (folder / file.name).write_bytes(file.read_bytes())
    how: dict[str, Any] = {"device": bench.device, "options": ModelOptions(random_weights=SEED)}
    try:
        measure_texts(bench, lambda: load_encoder(folder, **how))
        with quiet(), torch.device(bench.device):
            scorer = load_scorer(folder, **how)
    except InputError as error:
        bench.numbers["left out"] = str(error).partition(". ")[0]
        return
    pairs = bench.pairs(200)
    score_pairs(scorer, pairs[:2])
    seconds = timed(lambda: score_pairs(scorer, pairs[2:4])) / 2
    some = pairs[: max(2, int(EACH / seconds))]
    bench.numbers["pairs a second"] = len(some) / timed(lambda: score_pairs(scorer, some))


def measure_texts(bench: Bench, load: Callable[[], Any]) -> None:
    """Note how large an encoder is, and how many texts it embeds a second; its memory is free again afterwards."""
    import torch

    from prasanga.models.devices import quiet

    with quiet(), torch.device(bench.device):
        encoder = load()
    bench.numbers["millions"] = sum(each.numel() for each in encoder.loaded.encoder.parameters()) / 1e6

    def embed(segments: Any) -> float:
        return timed(lambda: encoder.embed(*segments))

    for words in (9, 25, 75):
        segments = bench.segments(words, 20_000)
        first = segments.first(16)
        embed(first)
        some = segments.first(max(16, int(EACH * 16 / embed(first))))
        bench.numbers[f"texts a second, {words} words"] = len(some.texts) / embed(some)


def card(bench: Bench) -> None:
    """Say what this is, how fast it multiplies matrices, and that half precision is computed and not emulated."""
    import torch
    from simple_models import matrix_rate

    from prasanga.models.devices import resolve_dtype

    if bench.device == "cuda":
        found = torch.cuda.get_device_properties(0)
        bench.numbers |= {
            "name": found.name,
            "cards": torch.cuda.device_count(),
            "capability": f"{found.major}.{found.minor}",
            "gigabytes": round(found.total_memory / 1e9, 1),
            "cuda": torch.version.cuda,
        }
        bench.require(resolve_dtype("auto", "cuda") == "bfloat16", "dtype: auto is not bfloat16 on this card")
    bench.numbers["matrix_teraflops"] = matrix_rate(bench.device, bench.half, tiny=bench.tiny) / 1e12
    bench.numbers["matrix_teraflops_in_float32"] = matrix_rate(bench.device, "float32", tiny=bench.tiny) / 1e12


def speed(bench: Bench) -> None:
    """Measure the share of the matrix rate at 9, 25 and 75 words, from texts to vectors on the host."""
    encoder = bench.encoder()
    for words in (9, 25, 75):
        share(bench, f"{words} words", encoder, bench.segments(words, 900_000 // words))


def decoder(bench: Bench) -> None:
    """The same for a decoder of 7B with random weights, which the processor draws in a minute or two."""
    from prasanga.models import ModelOptions

    encoder = bench.encoder("decoder", options=ModelOptions(random_weights=SEED))
    share(bench, "decoder, 75 words", encoder, bench.segments(75, 2_000), causal=True)


def share(bench: Bench, work: str, encoder: Any, segments: Any, *, causal: bool = False) -> None:
    """Note segments and FLOP a second of an encoder, as a share of the matrix rate in the same process."""
    import torch
    from simple_models import matrix_rate

    encoder.embed(*segments.first(max(1, len(segments.texts) // 10)))
    seconds = min(timed(lambda: encoder.embed(*segments)) for _ in range(2))
    lengths = [len(ids) for ids in encoder.loaded.tokenizer(segments.texts)["input_ids"]]
    products = sum(
        each.weight.numel() for each in encoder.loaded.encoder.modules() if isinstance(each, torch.nn.Linear)
    )
    config = encoder.loaded.config
    attending = (2 if causal else 4) * config.num_hidden_layers * config.hidden_size
    rate = sum(length * (2 * products + attending * length) for length in lengths) / seconds
    reached = rate / matrix_rate(bench.device, bench.half, tiny=bench.tiny)
    bench.numbers[work] = {
        "segments_per_second": len(lengths) / seconds,
        "pieces_per_second": sum(lengths) / seconds,
        "teraflops": rate / 1e12,
        "share": reached,
        "pieces_per_batch": encoder.pieces_per_batch,
        "share_of_padding": padding_of(lengths, encoder.pieces_per_batch),
    }
    if work in ASKED and not bench.tiny:
        bench.require(reached >= ASKED[work], f"{work}: {reached:.0%} of the matrix rate, {ASKED[work]:.0%} asked")


def padding_of(lengths: Sequence[int], budget: int) -> float:
    """The share of padding in what a device reads."""
    from prasanga.models.devices import plan_batches

    ordered = sorted(lengths)
    read = sum((rows.stop - rows.start) * ordered[rows.stop - 1] for rows in plan_batches(ordered, budget))
    return 1 - sum(ordered) / read


def scores(bench: Bench) -> None:
    """Score masked copies, in pieces a second, beside embedding of texts as long."""
    from prasanga.likelihoods import score_pairs

    pairs, scorer, encoder = bench.pairs(200), bench.scorer(), bench.encoder()
    score_pairs(scorer, pairs[:2])
    before = scorer.pieces
    seconds = timed(lambda: score_pairs(scorer, pairs))
    ours = (scorer.pieces - before) / seconds
    segments = bench.segments(9, 20_000)
    encoder.embed(*segments.first(10))
    before = encoder.pieces
    seconds = timed(lambda: encoder.embed(*segments))
    embedded = (encoder.pieces - before) / seconds
    bench.numbers |= {"pieces_per_second": ours, "of_what_embedding_reaches": ours / embedded}
    if not bench.tiny:
        asked = ASKED["masked scores"]
        bench.require(ours >= asked * embedded, f"masked scores: {ours / embedded:.0%} of embedding, {asked:.0%} asked")


def ways(bench: Bench) -> None:
    """Embed segments of 9 to 75 words in other ways, and note how much faster each is: people say what pays."""
    import torch

    segments = bench.segments(9, 6_000)
    for words in (25, 75):
        more = bench.segments(words, 3_000)
        segments = type(segments)(segments.texts + more.texts, segments.spans + more.spans)
    encoder = bench.encoder()
    expected = encoder.embed(*segments)
    usual = min(timed(lambda: encoder.embed(*segments)) for _ in range(2))
    model = encoder.loaded.encoder
    for name in ("eager", "flash_attention_2", "flex_attention", "compile"):
        if bench.tiny and name in ("compile", "flex_attention"):
            continue  # a processor's compiler takes minutes
        try:
            if name == "compile":
                model.set_attn_implementation("sdpa")
                model.compile(dynamic=True)
            else:
                model.set_attn_implementation(name)
            vectors = encoder.embed(*segments)
            seconds = min(timed(lambda: encoder.embed(*segments)) for _ in range(2))
        except Exception as error:
            bench.numbers[name] = f"not to be had: {str(error).splitlines()[0][:120]}"
            continue
        bench.numbers[name] = {"times": usual / seconds, "least_cosine": least_cosine(vectors, expected)}
    if bench.device == "cuda":
        bench.numbers["gigabytes_at_most"] = torch.cuda.max_memory_allocated() / 1e9


# --------------------
# What runs on cards alone, and what must come out.


def precision(bench: Bench) -> None:
    """Compare bfloat16 with float32 on the device, and float32 there with float32 on the processor."""
    segments = bench.segments(25, 64)
    wide = bench.encoder(dtype="float32").embed(*segments)
    bench.numbers["least_cosine_of_bfloat16"] = (one := least_cosine(bench.encoder().embed(*segments), wide))
    host = bench.encoder(dtype="float32", device="cpu").embed(*segments)
    bench.numbers["largest_difference_to_a_processor"] = (two := float(abs(wide - host).max() / abs(host).max()))
    bench.require(one > 0.995, f"bfloat16 against float32: least cosine {one:.4f}, more than 0.995 expected")
    bench.require(two < 1e-3, f"float32 against a processor: {two:.1e} of the largest number, less than 1e-3 expected")


def determinism(bench: Bench) -> None:
    """Embed and score twice, in two orders and at several layers: vectors must be the same to the last bit."""
    import numpy as np

    from prasanga.embeddings import Pooling
    from prasanga.likelihoods import score_pairs

    segments, pairs, encoder, scorer = bench.segments(25, 500), bench.pairs(40), bench.encoder(), bench.scorer()
    once, again = encoder.embed(*segments), encoder.embed(*segments)
    backwards = encoder.embed(segments.texts[::-1], segments.spans[::-1])[::-1]
    bench.require(np.array_equal(once, again), "embedding twice gives other bytes")
    bench.require(np.array_equal(once, backwards), "the order of texts changes vectors")
    several = bench.encoder(layer=[0, 1, -1], pieces_per_batch=encoder.pieces_per_batch)
    layers = several.run(several.read(*segments, Pooling()))
    bench.require(np.array_equal(once, layers[-1]), "asking for more layers changes the last one")
    columns = ["score_first", "score_second"]
    first, second = (score_pairs(scorer, pairs).select(columns).to_numpy() for _ in range(2))
    bench.require(np.array_equal(first, second, equal_nan=True), "scoring twice gives other numbers")


def memory(bench: Bench) -> None:
    """Leave hardly any memory: batches must be halved, and vectors and scores stay; what fits nowhere is said."""
    import numpy as np

    from prasanga.base.errors import InputError
    from prasanga.likelihoods import score_pairs

    segments, pairs, encoder, scorer = bench.segments(25, 4_000), bench.pairs(40), bench.encoder(), bench.scorer()
    columns = ["score_first", "score_second"]
    vectors, scored = encoder.embed(*segments), score_pairs(scorer, pairs).select(columns).to_numpy()
    encoder.pieces_per_batch = 1 << 20
    with little_memory(bench, encoder.loaded.encoder, pieces=400):
        again = encoder.embed(*segments)
        halved = encoder._halving.too_many
    bench.numbers["pieces_that_did_not_fit"] = halved if np.isfinite(halved) else None
    bench.require(bool(np.isfinite(halved)), "memory did not run out, so halving was not tried")
    bench.require((least := least_cosine(vectors, again)) > 0.999, f"halving changed vectors: least cosine {least:.5f}")
    more = bench.scorer(pieces_per_batch=1 << 18)
    with little_memory(bench, more.model._halves._body, pieces=400):
        found = score_pairs(more, pairs).select(columns).to_numpy()
    bench.require(np.allclose(found, scored, atol=0.05, equal_nan=True), "halving changed scores")
    with little_memory(bench, encoder.loaded.encoder, pieces=1):
        try:
            encoder.embed(*segments.first(2))
            bench.require(False, "a text that does not fit was embedded")
        except InputError as error:
            bench.require("has too little memory for one text" in str(error), f"what does not fit is said so: {error}")
    bench.require(np.array_equal(encoder.embed(*segments.first(2)), encoder.embed(*segments.first(2))), "no recovery")


@contextmanager
def little_memory(bench: Bench, model: Any, pieces: int) -> Iterator[None]:
    """Have memory run out above some pieces a batch: on a card with 512 MiB, else, and for one piece, by saying so."""
    import torch

    if bench.device == "cuda" and pieces > 1:
        torch.cuda.empty_cache()
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, (torch.cuda.memory_reserved() + (512 << 20)) / total))
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        return

    def refuse(_module: Any, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        if (args[0] if args else given["input_ids"]).numel() > pieces:
            raise torch.OutOfMemoryError("as a card says")

    hook = model.register_forward_pre_hook(refuse, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


def streams(bench: Bench) -> None:
    """Embed in two threads, each with an encoder and a stream of its own: the vectors must be those of one alone.

    To the last bit only on a processor: cuBLAS does not promise it where several streams are at work.
    """
    import torch

    segments, budget = bench.segments(25, 2_000), 8_192
    encoders = [bench.encoder(pieces_per_batch=budget) for _ in range(2)]
    alone = encoders[0].embed(*segments)
    found: list[Any] = [None, None]

    def run(number: int) -> None:
        stream = torch.cuda.Stream() if bench.device == "cuda" else None
        with torch.cuda.stream(stream) if stream else nullcontext():
            found[number] = encoders[number].embed(*segments)

    threads = [Thread(target=run, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for vectors in found:
        least = 0.0 if vectors is None else least_cosine(vectors, alone)
        bench.numbers["bits_are_equal"] = bool(least and (vectors == alone).all())
        bench.require(least > 0.9999, f"another stream gives other vectors: least cosine {least:.5f}")


def eight_bits(bench: Bench) -> None:
    """Compare linear layers in 8 bits with float32: cosine, speed beside half precision."""
    from prasanga.models import ModelOptions

    if find_spec("torchao") is None:
        bench.numbers["left out"] = "torchao is not installed"
        return
    segments = bench.segments(25, 1_000)
    half, rounded = bench.encoder(), bench.encoder(options=ModelOptions(quantization="int8"))
    vectors = rounded.embed(*segments)
    one, two = (min(timed(lambda each=each: each.embed(*segments)) for _ in range(2)) for each in (half, rounded))
    least = least_cosine(vectors, bench.encoder(dtype="float32").embed(*segments))
    bench.numbers |= {"least_cosine": least, "times": one / two}
    bench.require(least > 0.98, f"8 bits: least cosine to float32 {least:.4f}, more than 0.98 expected")


def twins(bench: Bench) -> None:
    """Load a random copy on the device and on the processor: the same weights."""
    import torch

    from prasanga.models import ModelOptions

    how = {"dtype": "float32", "options": ModelOptions(random_weights=SEED)}
    there, here = (bench.encoder(device=device, **how).loaded.encoder for device in (bench.device, "cpu"))
    pairs = zip(there.parameters(), here.parameters(), strict=True)
    largest = max(float((one.cpu() - other).abs().max()) for one, other in pairs)
    bench.numbers["largest_difference_to_a_processor"] = largest
    bench.require(largest < 1e-5, f"weights drawn here differ by {largest:.1e} from those of a processor")
    if bench.device == "cuda":
        torch.cuda.synchronize()


def cards(bench: Bench) -> None:
    """Spread a model over two cards: the same vectors; and two encoders of one process, each on a card of its own."""
    import torch

    from prasanga.models import ModelOptions

    if torch.cuda.device_count() < 2:
        bench.numbers["left out"] = "there are no two cards"
        return
    segments = bench.segments(25, 500)
    one = bench.encoder(dtype="float32").embed(*segments)
    two = bench.encoder(dtype="float32", device="auto", options=ModelOptions(cards=2)).embed(*segments)
    other = bench.encoder(dtype="float32", device="cuda:1").embed(*segments)
    bench.require((least := least_cosine(one, two)) > 0.9999, f"two cards give other vectors: least cosine {least:.5f}")
    bench.require((least := least_cosine(one, other)) > 0.9999, f"the second card gives other vectors: {least:.5f}")


PARTS: dict[str, Callable[[Bench], None]] = {
    each.__name__: each
    for each in (
        *(card, determinism, memory, precision, streams, twins, eight_bits, cards),
        *(speed, scores, decoder, ways),
    )
}
SIZES_OF_PAPERS = {f"size {size}": partial(measure_size, size=size) for size in PAPERS}
PARTS = {"card": card, **SIZES_OF_PAPERS, **PARTS}


def timed(work: Callable[[], object]) -> float:
    """Seconds of work whose results are on the host when it returns."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def least_cosine(a: Any, b: Any) -> float:
    """Of the rows of (n, d) vectors."""
    import numpy as np

    return float(((a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)).min())


# --------------------
# One part after the other, each in a process of its own.


@dataclass(frozen=True)
class Outcome:
    """How a part went: `passed`, `failed` or `left out`; why, in sentences; what was measured."""

    part: str
    outcome: str
    seconds: float
    said: list[str]
    numbers: dict[str, Any]


def run_part(part: str, command: Sequence[str], found: Path, seconds: float) -> Outcome:
    """Run the process of a part, which writes its numbers and failures to `found`, for so many seconds at most."""
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        end, told = f"ended with {done.returncode}", done.stderr
    except subprocess.TimeoutExpired:
        end, told = f"was stopped after {seconds:.0f} s", ""
    took = time.perf_counter() - began
    if not found.is_file():
        last = next((line for line in reversed(told.splitlines()) if line.strip()), "nothing was said")
        return Outcome(part, "failed", took, [f"its process {end}: {last.strip()}"], {})
    content = json.loads(found.read_text(encoding="utf-8"))
    return Outcome(part, "failed" if content["failures"] else "passed", took, content["failures"], content["numbers"])


def run_parts(
    parts: Sequence[str],
    command_of: Callable[[str, Path], Sequence[str]],
    folder: Path,
    seconds: float,
    longest: float = LONGEST,
) -> Iterator[Outcome]:
    """Run parts while there is time; without the first, which prepares what all others need, they are left out."""
    deadline, prepared = time.monotonic() + seconds, True
    for part in parts:
        left = deadline - time.monotonic()
        why = "" if prepared else f"{parts[0]} failed"
        if left < 1:
            why = f"the {seconds:.0f} s are over"
        if why:
            yield Outcome(part, "left out", 0.0, [why], {})
            continue
        found = folder / f"{part}.json"
        outcome = run_part(part, command_of(part, found), found, min(left, longest))
        prepared &= part != parts[0] or outcome.outcome == "passed"
        yield outcome


def measure(part: str, bench: Bench, found: Path) -> None:
    """Run one part in this process and write what it found."""
    {"prepare": prepare, **PARTS}[part](bench)
    found.write_text(json.dumps({"numbers": bench.numbers, "failures": bench.failures}), encoding="utf-8")


def main() -> None:
    """Run the parts that are asked for, or, where `--found` names a file, one of them here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--tiny", action="store_true", help="models of two blocks, to try all of this on a processor")
    parser.add_argument("--quick", action="store_true", help="the smallest model of the papers, on a processor")
    parser.add_argument("--seconds", type=float, help=f"in all (default: {IN_ALL}; with --tiny an hour)")
    parser.add_argument("--json", type=Path, help="where results go (default: docs/measured/gpu.json, not with --tiny)")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--found", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.quick:
        asked.device, asked.tiny, asked.parts = "cpu", True, [*SIZES_OF_PAPERS][:1]
    if unknown := set(asked.parts) - {*PARTS, "prepare"}:
        parser.error(f"there is no part {sorted(unknown)[0]!r}; write {', '.join(PARTS)}")
    if asked.found:
        measure(asked.parts[0], Bench(asked.device, asked.tiny, asked.folder), asked.found)
        return
    flags = [f"--device={asked.device}", *(["--tiny"] if asked.tiny else [])]
    with TemporaryDirectory(prefix="prasanga-gpu-") as name:
        folder, outcomes = Path(name), []

        def command_of(part: str, found: Path) -> list[str]:
            return [sys.executable, __file__, part, *flags, f"--folder={folder}", f"--found={found}"]

        print("| part | outcome | seconds | said |\n| --- | --- | --- | --- |", flush=True)
        seconds = asked.seconds or (3600 if asked.tiny else IN_ALL)
        longest = seconds if asked.tiny else LONGEST
        for each in run_parts(["prepare", *(asked.parts or PARTS)], command_of, folder, seconds, longest):
            outcomes.append(each)
            cells = (each.part, each.outcome, f"{each.seconds:.0f}", "; ".join(each.said) or shown(each.numbers))
            print(f"| {' | '.join(cells)} |", flush=True)
            if path := asked.json or (None if asked.tiny else PROJECT / "docs/measured/gpu.json"):
                from measured import write_measured

                results = {one.part: asdict(one) for one in outcomes}
                write_measured(path, results, constants=constants_of(outcomes))
    failed = [each.part for each in outcomes if each.outcome != "passed"]
    print(f"\nFailed or left out: {', '.join(failed)}." if failed else "\nAll parts passed.")
    sys.exit(bool(failed))


def constants_of(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The numbers of parts that passed, by part and name."""
    flat: dict[str, float] = {}
    for each in outcomes:
        for name, value in each.numbers.items():
            inner = value.items() if isinstance(value, Mapping) else [("", value)]
            named = {f"{each.part}, {name} {key}".strip(): number for key, number in inner}
            flat |= {key: number for key, number in named.items() if isinstance(number, int | float)}
    return flat


def shown(numbers: Mapping[str, Any]) -> str:
    """Numbers in a cell of the table."""

    def short(value: Any) -> str:
        if isinstance(value, Mapping):
            return f"({shown(value)})"
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    return ", ".join(f"{name.replace('_', ' ')} {short(value)}" for name, value in numbers.items()) or "-"


if __name__ == "__main__":
    main()
