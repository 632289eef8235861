"""A stand-in for a model whose preferences are known: the log-probability of a word is what a table says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from prasanga.likelihoods.engine import Query

UNKNOWN, MASK = "[UNK]", "[MASK]"


class PlantedScorer:
    """An encoder with a piece for each word, and `log_p(target, words in sight)` for what it finds probable.

    Attributes:
        asked: all queries so far.
    """

    kind = "encoder"

    def __init__(
        self, words: Sequence[str], log_p: Callable[[str, set[str]], float], *, max_pieces: int | None = None
    ) -> None:
        """`words` are all that it knows; others are unknown pieces."""
        vocabulary = {word: i for i, word in enumerate(dict.fromkeys([UNKNOWN, MASK, *words]))}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split("।", "isolated")]
        )
        self.name = "planted"
        self.tokenizer: Any = _Fast(tokenizer)
        self.max_pieces = max_pieces
        self.mask: int | None = vocabulary[MASK]
        self.unknown = frozenset([vocabulary[UNKNOWN]])
        self.asked: list[Query] = []
        self._names = {i: word for word, i in vocabulary.items()}
        self._log_p = log_p

    def log_probabilities(self, queries: Sequence[Query], **_: object) -> list[NDArray[np.float64]]:
        """As `Scorer.log_probabilities`."""
        self.asked += queries
        found = []
        for query in queries:
            in_sight = {self._names[piece] for piece in query.ids if piece != self.mask}
            found.append(np.array([self._log_p(self._names[target], in_sight) for target in query.targets]))
        return found


class _Fast:
    """What of a fast tokenizer is asked for."""

    unk_token_id, mask_token_id = 0, 1

    def __init__(self, engine: Tokenizer) -> None:
        self.backend_tokenizer = engine
