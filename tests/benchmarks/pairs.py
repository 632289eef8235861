"""Speed and memory of pair scores: `python tests/benchmarks/pairs.py [speed|share|memory|sample ...]`.

Prints Markdown. `speed`: 100 pairs by a model of BERT-base's size beside one masked copy at a time, in the same run.
`share`: where processor time goes, and how much of the rate of the model's own matrix products is reached.
`memory`: what sentences of 350 and of 2,000 words take. `sample`: all pairs of a file in the layout of IndiBias, in
English and Hindi, by a model of 30 million parameters (`--file`; the project's demo pairs if none is given). Weights
are random, which changes no speed. How it is measured stands in `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import polars as pl
import torch
from measured import write_measured
from processor import rate_of_products
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.models.heads import ModelWithHead
from prasanga.models.shape import quiet
from prasanga.pairs import align_spans, read_pairs
from prasanga_calibration.training import CLS, MASK, PAD, SEP, UNKNOWN, train_tokenizer

PROJECT = Path(__file__).parents[2]
DEMO = PROJECT / "resources" / "demo" / "pairs.csv"
#: Entries of the vocabulary: BanglaBERT's and MuRIL's, whose base models have a body of this size.
VOCABULARIES = {"32,000": 32_000, "197,285": 197_285}
PAIRS, SHARE_PAIRS, SIMPLE_PAIRS = 100, 36, 4
DTYPES, CELLS = ("float32", "bfloat16"), ("copies/s", "times", "largest difference")
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
#: 30 million parameters with 32,000 entries.
SMALL = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048}
#: For long sentences: as wide as BERT-base, and two blocks, since memory does not grow with their number. Of a long
#: pair this share of words is in both sentences, each masked once: time grows with their number, memory does not.
WIDE = {**BASE, "num_hidden_layers": 2}
SHARED = 0.03
GIB = 1 << 30
#: What docs/performance.md computes with, filled by what is measured.
MEASURED: dict[str, float] = {}


def row(*cells: object) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def make_model(folder: Path, texts: Sequence[str], shape: dict[str, int], entries: int, positions: int = 512) -> Path:
    """A BERT of this shape with random weights; its tokenizer has learned from `texts`."""
    tokenizer = train_tokenizer(texts, 2500)
    torch.manual_seed(1)
    with quiet():
        BertForMaskedLM(BertConfig(vocab_size=entries, max_position_embeddings=positions, **shape)).save_pretrained(
            folder
        )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=positions,
        **{"pad_token": PAD, "unk_token": UNKNOWN, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK},
    ).save_pretrained(folder)
    return folder


def texts_of(pairs: pl.DataFrame) -> list[str]:
    return [*pairs["first"], *pairs["second"]]


def simple_scores(model: Any, tokenizer: Any, pairs: pl.DataFrame) -> tuple[list[float], int]:
    """The score of every sentence with one masked copy at a time, as the programs of the papers do; and the copies."""
    scores, copies = [], 0
    for first, second in pairs.select("first", "second").rows():
        spans = align_spans(first, second)
        for text, words in ((first, spans.unmodified_first), (second, spans.unmodified_second)):
            encoded = tokenizer(text, return_offsets_mapping=True)
            total, pieces = 0.0, 0
            for start, end in words:
                places = [i for i, (a, b) in enumerate(encoded["offset_mapping"]) if a < end and b > start]
                ids = torch.tensor([encoded["input_ids"]])
                wanted = ids[0, places]
                ids[0, places] = tokenizer.mask_token_id
                with torch.inference_mode():
                    rows = torch.log_softmax(model(input_ids=ids).logits[0, places].float(), dim=-1)
                total += float(rows[range(len(places)), wanted].sum())
                pieces += len(places)
                copies += 1
            scores.append(total / pieces)
    return scores, copies


def measure_speed() -> Iterator[str]:
    """Masked copies a second, ours and the simple way's."""
    pairs = read_pairs(DEMO)[:PAIRS]
    threads = torch.get_num_threads()
    yield f"{len(pairs)} pairs of the demo, {threads} threads; simple way: {SIMPLE_PAIRS} of them, float32\n"
    yield row("entries", "simple copies/s", *(f"{dtype} {cell}" for dtype in DTYPES for cell in CELLS))
    yield row(*["---"] * (2 + len(DTYPES) * len(CELLS)))
    for name, entries in VOCABULARIES.items():
        with TemporaryDirectory() as folder:
            make_model(Path(folder), texts_of(pairs), BASE, entries)
            with quiet():
                model = AutoModelForMaskedLM.from_pretrained(folder).eval()
            tokenizer = AutoTokenizer.from_pretrained(folder)
            simple_scores(model, tokenizer, pairs[:1])
            begin = time.perf_counter()
            wanted, copies = simple_scores(model, tokenizer, pairs[:SIMPLE_PAIRS])
            simple = copies / (time.perf_counter() - begin)
            del model
            cells = []
            for dtype in DTYPES:
                with quiet():
                    scorer = load_scorer(folder, dtype=dtype)
                score_pairs(scorer, pairs[:5])
                before = scorer.report.queries
                begin = time.perf_counter()
                scores = score_pairs(scorer, pairs)
                ours = (scorer.report.queries - before) / (time.perf_counter() - begin)
                MEASURED[f"copies_per_second_of_{entries}_entries_in_{dtype}"] = ours
                MEASURED["pieces_per_copy"] = scorer.report.pieces / scorer.report.passes
                found = [
                    value for row in scores[:SIMPLE_PAIRS].select("score_first", "score_second").rows() for value in row
                ]
                difference = max(abs(one - other) for one, other in zip(found, wanted, strict=True))
                cells += [f"{ours:.0f}", f"{ours / simple:.1f}", f"{difference:.1e}"]
            yield row(name, f"{simple:.1f}", *cells)


def measure_share() -> Iterator[str]:
    """Processor time of one thread by its parts, beside products of the same shapes and the simple way."""
    pairs, seconds, padded = read_pairs(DEMO)[:SHARE_PAIRS], dict.fromkeys(("body", "head"), 0.0), 0
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        make_model(Path(folder), texts_of(pairs), BASE, 32_000)
        with quiet():
            scorer = load_scorer(folder)
            model = AutoModelForMaskedLM.from_pretrained(folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder)
        simple_scores(model, tokenizer, pairs[:1])
        began = time.process_time()
        _, copies = simple_scores(model, tokenizer, pairs[:SIMPLE_PAIRS])
        simple = (time.process_time() - began) / copies
    score_pairs(scorer, pairs[:5])
    run, head = ModelWithHead.states, ModelWithHead.logits

    def states(model: ModelWithHead, ids: Sequence[Sequence[int]], *rest: Any) -> torch.Tensor:
        nonlocal padded
        padded += len(ids) * max(map(len, ids))
        began = time.process_time()
        found = run(model, ids, *rest)
        seconds["body"] += time.process_time() - began
        return found

    def logits(model: ModelWithHead, chosen: torch.Tensor) -> torch.Tensor:
        began = time.process_time()
        found = head(model, chosen)
        seconds["head"] += time.process_time() - began
        return found

    with patch.object(ModelWithHead, "states", states), patch.object(ModelWithHead, "logits", logits):
        before, began = scorer.report, time.process_time()
        score_pairs(scorer, pairs)
        total = time.process_time() - began
    asked, passes, pieces = (getattr(scorer.report, n) - getattr(before, n) for n in ("queries", "passes", "pieces"))
    width, inner = BASE["hidden_size"], BASE["intermediate_size"]
    products = BASE["num_hidden_layers"] * 2 * (4 * width**2 + 2 * width * inner)
    rate = rate_of_products(2_048, width, inner)
    MEASURED.update(
        share_of_products_of_body=pieces * products / seconds["body"] / rate,
        share_of_products=pieces * products / total / rate,
        share_of_padding=1 - pieces / padded,
        times_in_processor_time=simple * asked / total,
        most_times_at_the_rate_of_products=simple * asked / (pieces * products / rate),
    )
    yield f"{len(pairs)} pairs of the demo, 32,000 entries, float32, 1 thread, processor time"
    yield f"{asked} copies, {passes} passes of {pieces / passes:.1f} pieces; products {rate / 1e9:.0f} GFLOP/s\n"
    yield row("part", "seconds", "share of all")
    yield row(*["---"] * 3)
    rest = total - sum(seconds.values())
    for part, took in (*seconds.items(), ("reading, planning, softmax", rest), ("all", total)):
        yield row(part, f"{took:.2f}", f"{took / total:.0%}")
    yield from ("", *(f"- {name.replace('_', ' ')}: {MEASURED[name]:.3g}" for name in list(MEASURED)[-5:]))


def measure_memory() -> Iterator[str]:
    """Peak memory of a process that scores one pair of long sentences, less that of one that scores a short pair."""
    yield "One pair, a BERT with two blocks of width 768, 32,000 entries and 8,192 positions, one process each\n"
    yield row("words", "masked copies", "seconds", "peak memory, GiB", "more than for 20 words")
    yield row(*["---"] * 5)
    least = None
    for words in (20, 350, 2000):
        done = subprocess.run(
            [sys.executable, __file__, "one", "--words", str(words)], capture_output=True, text=True, check=True
        )
        copies, seconds, peak = done.stdout.split()
        least = float(peak) if least is None else least
        yield row(words, copies, f"{float(seconds):.0f}", f"{float(peak):.2f}", f"{float(peak) - least:.2f}")


def score_long_pair(words: int) -> str:
    """Score a pair of sentences of so many words in this process: copies, seconds, GiB."""
    texts = texts_of(read_pairs(DEMO, "bn"))
    pool = [word for text in texts for word in text.split()]
    first = [pool[i % len(pool)] for i in range(words)]
    second = [word if i % round(1 / SHARED) == 0 else "নদী" for i, word in enumerate(first)]
    pair = pl.DataFrame({"language": ["bn"], "first": [" ".join(first)], "second": [" ".join(second)]})
    with TemporaryDirectory() as folder:
        make_model(Path(folder), texts, WIDE, 32_000, positions=8192)
        scorer = load_scorer(folder)
        begin = time.perf_counter()
        scores = score_pairs(scorer, pair, unknown="keep")
    assert scores["left_out"].to_list() == [None], scores
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB
    return f"{scorer.report.queries} {time.perf_counter() - begin:.1f} {peak:.3f}"


def measure_sample(file: Path) -> Iterator[str]:
    """A whole file in both languages."""
    pairs = read_pairs(file, ["en", "hi"])
    with TemporaryDirectory() as folder:
        make_model(Path(folder), texts_of(pairs), SMALL, 32_000)
        begin = time.perf_counter()
        with quiet():
            scorer = load_scorer(folder)
        scores = score_pairs(scorer, pairs)
        seconds = time.perf_counter() - begin
        parameters = sum(p.numel() for p in AutoModelForMaskedLM.from_pretrained(folder).parameters())
    scored = scores["left_out"].is_null().sum()
    MEASURED.update(pairs_of_sample=len(pairs), copies_of_sample=scorer.report.passes, seconds_of_sample=seconds)
    MEASURED["pieces_per_copy_of_sample"] = scorer.report.pieces / scorer.report.passes
    yield (
        f"{file.name}: {len(pairs)} pairs in English and Hindi ({scored} scored), {scorer.report.passes} copies, "
        f"{parameters / 1e6:.0f} million parameters, {torch.get_num_threads()} threads: {seconds:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", default=["speed", "share", "memory", "sample"])
    parser.add_argument("--file", type=Path, default=DEMO, help="pairs for `sample`")
    parser.add_argument("--words", type=int, default=350, help="for `one`, which `memory` runs in processes of its own")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    given = parser.parse_args()
    if given.parts == ["one"]:
        print(score_long_pair(given.words))
        return
    parts = {
        **{"speed": measure_speed, "share": measure_share, "memory": measure_memory},
        "sample": lambda: measure_sample(given.file),
    }
    lines: list[str] = []
    for name in given.parts:
        print(f"\n## Pairs: {name}\n", flush=True)
        for line in parts[name]():
            print(line, flush=True)
            lines.append(line)
    if given.json:
        write_measured(given.json, {"printed": lines}, constants=MEASURED)


if __name__ == "__main__":
    main()
