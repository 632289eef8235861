"""Models with random weights to measure on, and the simple way to use them, as the papers' programs do.

The simple way takes one sentence, or one masked copy, at a time. It asks the tokenizer twice (for the positions, then
for the model), runs the whole masked language model with its vocabulary head, and keeps the states of every layer. Two
things are corrected, so that its vectors can be compared with the library's: the rows are those of the whole inflected
word, and a sentence that goes wrong is not passed over in silence. The model is loaded once and keeps no gradients.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from tokenizers import models
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from prasanga.models.devices import quiet
from prasanga.models.loading import use_onednn
from prasanga.pairs import align_spans
from prasanga.text import words

# Outside pytest nothing has put this package on the path.
sys.path.append(str(Path(__file__).parents[2] / "calibration"))

from prasanga_calibration.training import CLS, MASK, PAD, SEP, UNKNOWN, train_tokenizer

Vectors = NDArray[np.float32]

PROJECT = Path(__file__).parents[2]
SEED = 2024
#: Entries of the vocabulary: as many as BanglaBERT has, so that the head costs what it does there. Only the first are
#: learned from the demo's text, few enough that a word has 1.4 pieces on average.
ENTRIES, LEARNED = 32_000, 2_500


class Segments(NamedTuple):
    """Different texts, and the span of the target in each."""

    texts: list[str]
    spans: list[tuple[int, int]]

    def first(self, number: int) -> Segments:
        """The first so many."""
        return Segments(self.texts[:number], self.spans[:number])


class SimpleEncoder:
    """A masked language model with its head, in float32 on the CPU."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()

    def embed(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> Vectors:
        """Vectors of the targets at the character `spans` of `texts`: (n, d), one forward pass after the other."""
        return np.stack([self._embed(text, *span) for text, span in zip(texts, spans, strict=True)])

    def _embed(self, text: str, start: int, end: int) -> Vectors:
        offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        target = [row for row, (begin, stop) in enumerate(offsets) if begin < end and stop > start]
        with torch.no_grad():
            output = self.model(**self.tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        vector: Vectors = output.hidden_states[-1][0, target].mean(dim=0).numpy()
        return vector


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


def _finish(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def simple_scores(model: Any, tokenizer: Any, pairs: pl.DataFrame) -> tuple[list[float], int]:
    """The score of every sentence with one masked copy at a time, as the programs of the papers do; and the copies."""
    scores, copies = [], 0
    for first, second in pairs.select("first", "second").rows():
        spans = align_spans(first, second)
        for text, unmodified in ((first, spans.unmodified_first), (second, spans.unmodified_second)):
            encoded = tokenizer(text, return_offsets_mapping=True)
            total, pieces = 0.0, 0
            for start, end in unmodified:
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
