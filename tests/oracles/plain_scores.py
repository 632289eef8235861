"""Scores of sentences the plain way: one masked copy at a time, the whole model with its head, nothing padded.

It is what anybody would write first, and too simple to be wrong; `prasanga.likelihoods` has to give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

Span = tuple[int, int]
_CLASSES = {
    "encoder": transformers.AutoModelForMaskedLM,
    "decoder": transformers.AutoModelForCausalLM,
    "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
}


class PlainScorer:
    """A whole model in float32, asked about one copy of one sentence at a time."""

    def __init__(self, folder: Path, kind: str, *, attentions: bool = False) -> None:
        eager = {"attn_implementation": "eager"} if attentions else {}
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        self.model: Any = _CLASSES[kind].from_pretrained(folder, dtype=torch.float32, **eager).eval()
        self.copies = 0

    def masked(self, text: str, words: Sequence[Span], *, left_to_right: bool = False) -> list[float]:
        """The log-probability of each piece of each word, the word hidden and nothing else."""
        ids, offsets = self._tokenize(text)
        found = []
        for word in words:
            own = self._pieces(offsets, word)
            for number, place in enumerate(own):
                hidden = own[number:] if left_to_right else own
                copy = [self.tokenizer.mask_token_id if i in hidden else piece for i, piece in enumerate(ids)]
                found.append(self._log_p(copy)[place, ids[place]].item())
        return found

    def unmasked(self, text: str) -> list[float]:
        """The log-probability of each ordinary piece at its own place, nothing hidden."""
        ids, _ = self._tokenize(text)
        table = self._log_p(ids)
        return [table[i, ids[i]].item() for i in self._ordinary(ids)]

    def attended(self, text: str) -> list[float]:
        """The attention that each ordinary piece gets: mean over layers, heads and readers."""
        ids, _ = self._tokenize(text)
        with torch.no_grad():
            layers = self.model(input_ids=torch.tensor([ids]), output_attentions=True).attentions
        mean = sum(layer[0].mean(dim=0).mean(dim=0) for layer in layers) / len(layers)
        return [mean[i].item() for i in self._ordinary(ids)]

    def aula(self, text: str) -> float:
        """Kaneko and Bollegala's AULA (AAAI 2022): the mean of alpha_i log p_i over the ordinary pieces."""
        terms = [alpha * log_p for alpha, log_p in zip(self.attended(text), self.unmasked(text), strict=True)]
        return sum(terms) / len(terms)

    def aula_renormalized(self, text: str) -> float:
        """The mean of log p_i weighted by alpha_i."""
        return self.aula(text) * len(self.attended(text)) / sum(self.attended(text))

    def written(self, text: str, before: Sequence[int]) -> list[float]:
        """The log-probability of each ordinary piece after all before it, `before` first of all."""
        ids, _ = self._tokenize(text)
        ordinary = [ids[i] for i in self._ordinary(ids)]
        found = []
        for number, piece in enumerate(ordinary):
            found.append(self._log_p([*before, *ordinary[:number]])[-1, piece].item())
        return found

    def written_by_decoder(self, text: str, read: Sequence[int], before: Sequence[int]) -> list[float]:
        """The same by the decoder of an encoder-decoder whose encoder reads `read`."""
        ids, _ = self._tokenize(text)
        ordinary = [ids[i] for i in self._ordinary(ids)]
        return [
            self._log_p(read, [*before, *ordinary[:number]])[-1, piece].item() for number, piece in enumerate(ordinary)
        ]

    def infilled(self, text: str, words: Sequence[Span], gap: int, before: Sequence[int]) -> list[float]:
        """The log-probability of each piece of each word: the encoder reads `gap` instead, the decoder writes it."""
        ids, offsets = self._tokenize(text)
        found = []
        for word in words:
            own = self._pieces(offsets, word)
            read = [*ids[: own[0]], gap, *ids[own[-1] + 1 :]]
            for number, place in enumerate(own):
                written = [*before, *(ids[i] for i in own[:number])]
                found.append(self._log_p(read, written)[-1, ids[place]].item())
        return found

    def _tokenize(self, text: str) -> tuple[list[int], list[Span]]:
        encoded = self.tokenizer(text, return_offsets_mapping=True)
        return encoded["input_ids"], encoded["offset_mapping"]

    def _pieces(self, offsets: Sequence[Span], word: Span) -> list[int]:
        wanted = set(range(*word))
        return [i for i, offset in enumerate(offsets) if wanted & set(range(*offset))]

    def _ordinary(self, ids: Sequence[int]) -> list[int]:
        special = set(self.tokenizer.all_special_ids) - {self.tokenizer.unk_token_id}
        return [i for i, piece in enumerate(ids) if piece not in special]

    def _log_p(self, ids: Sequence[int], written: Sequence[int] | None = None) -> torch.Tensor:
        self.copies += 1
        more = {} if written is None else {"decoder_input_ids": torch.tensor([list(written)])}
        with torch.no_grad():
            logits = self.model(input_ids=torch.tensor([list(ids)]), **more).logits[0]
        return torch.log_softmax(logits.double(), dim=-1)
