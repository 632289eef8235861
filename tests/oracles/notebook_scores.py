"""Log-probability bias as the authors' notebook and program compute it (Sadhu et al. 2024), one sentence at a time.

The notebook behind Table 4 adds raw logits of first pieces at the first mask of a sentence, and takes the logarithm; a
sum below 0 has none, and pandas then leaves the sentence out. The program behind Figures 2 and 11 reads the prior of a
trait at the other mask. Slots are GGG for the target and XXX for the attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import transformers


class Notebook:
    """A whole masked model, asked for logits at one mask of one sentence."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        self.model: Any = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()

    def logits(self, sentence: str, mask: int = 0) -> torch.Tensor:
        """The logits of the vocabulary at a mask of the sentence, the first unless said."""
        ids = self.tokenizer.encode(sentence)
        place = [i for i, piece in enumerate(ids) if piece == self.tokenizer.mask_token_id][mask]
        with torch.no_grad():
            return torch.as_tensor(self.model(input_ids=torch.tensor([ids])).logits[0, place].double())

    def first_piece(self, word: str) -> int:
        """The piece that stands for a word."""
        return int(self.tokenizer.encode(word)[1])

    def corrected(self, template: str, attribute: str, groups: Sequence[Sequence[str]]) -> float:
        """The corrected score of a sentence: of the first group of words minus that of the second."""
        masked = template.replace("GGG", self.tokenizer.mask_token)
        scores = []
        for hidden in (attribute, self.tokenizer.mask_token):
            logits = self.logits(masked.replace("XXX", hidden))
            sums = np.array([sum(logits[self.first_piece(word)].item() for word in words) for words in groups])
            with np.errstate(invalid="ignore"):
                first, second = np.log(sums + 1e-10)
            scores.append(first - second)
        return float(scores[0] - scores[1])

    def effect(
        self, templates: Sequence[str], attributes: Sequence[Sequence[str]], groups: Sequence[Sequence[str]]
    ) -> float:
        """The effect size over all sentences, those without a score left out."""
        first, second = (
            pd.Series([self.corrected(template, word, groups) for word in words for template in templates])
            for words in attributes
        )
        return float((first.mean() - second.mean()) / (pd.concat([first, second]).std() + 1e-8))

    def prior_at_the_other_mask(self, template: str, word: str) -> float:
        """The log-probability of a target where the mask of the attribute is, both masked."""
        mask = self.tokenizer.mask_token
        other = int(template.index("GGG") < template.index("XXX"))
        logits = self.logits(template.replace("GGG", mask).replace("XXX", mask), other)
        return float(torch.log_softmax(logits, dim=-1)[self.first_piece(word)])
