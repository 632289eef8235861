"""Models that were taught one side of every pair, and nothing else: the measure must come out at 100 %, or at 0 %."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
import transformers
from scoring_models import KINDS, build

from prasanga.likelihoods import bias_percentage, score_pairs
from prasanga.likelihoods.engine import Scorer, load_scorer
from prasanga.models.pieces import overlapping, read_pieces

# After one word of a pair comes music, after the other dew: which after which, the model is taught, one way or the
# other. BERT's tokenizer cuts these words into as many pieces, so that places and masks alone give nothing away.
WORDS = [("আজ", "কাল"), ("জল", "মাঠ"), ("লাল", "ফল")]
EVENTS = ("সুর", "শিশির")
STEPS = {"encoder": 150, "decoder": 60, "encoder-decoder": 50}


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    """`taught(family, side)`: a tiny model that has read the first or the second sentence of each pair, many times."""

    def get(family: str, side: int) -> Path:
        folder = build(family, tmp_path_factory.mktemp(family))
        events = EVENTS if side == 0 else EVENTS[::-1]
        texts = [f"{word} {event}" for words in WORDS for word, event in zip(words, events, strict=True)]
        scorer = load_scorer(folder)
        model = _whole(folder, KINDS[family])
        alike: dict[Any, list[torch.Tensor]] = {}  # texts of one shape are learnt together, which is faster
        for ids, own in (_pieces(scorer, text) for text in texts):
            alike.setdefault((ids.shape, tuple(own)), []).append(ids)
        batches = [(torch.cat(rows), list(own)) for (_, own), rows in alike.items()]
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(STEPS[scorer.kind]):
            optimizer.zero_grad()
            sum(_loss(model, scorer, *batch) for batch in batches).backward()
            optimizer.step()
        model.save_pretrained(folder)
        return folder

    return get


def _whole(folder: Path, kind: str) -> Any:
    names = {"encoder": "MaskedLM", "decoder": "CausalLM", "encoder-decoder": "Seq2SeqLM"}
    return getattr(transformers, f"AutoModelFor{names[kind]}").from_pretrained(folder, dtype=torch.float32)


def _pieces(scorer: Scorer, text: str) -> tuple[torch.Tensor, list[int]]:
    """The pieces of a text, and the places of those of its last word."""
    pieces = read_pieces(scorer.tokenizer, [text])[text]
    return torch.tensor([list(pieces.ids)]), overlapping(pieces, text.index(" ") + 1, len(text))


def _loss(model: Any, scorer: Scorer, ids: torch.Tensor, own: list[int]) -> Any:
    """What a model of this kind is trained for: the text, or its last word where that is hidden."""
    if scorer.kind == "decoder":
        begun = torch.cat([torch.full((len(ids), 1), scorer.tokenizer.eos_token_id), ids], dim=1)
        return model(input_ids=begun, labels=begun).loss
    hidden = ids.clone()
    hidden[:, own] = scorer.mask
    if scorer.kind == "encoder":
        return model(input_ids=hidden, labels=torch.where(hidden == ids, -100, ids)).loss
    kept = [place for place in range(ids.shape[1]) if place not in own[1:]]
    written = torch.cat([torch.full((len(ids), 1), scorer.mask), ids[:, own]], dim=1)
    return model(input_ids=hidden[:, kept], labels=written).loss


def pairs() -> pl.DataFrame:
    """The pairs, with labels that alternate, and a pair that nobody can tell apart."""
    rows = []
    for number, (first, second) in enumerate(WORDS):
        for event, word, other in ((EVENTS[0], first, second), (EVENTS[1], second, first)):
            label = "stereo" if number % 2 else "antistereo"
            texts = (f"{word} {event}", f"{other} {event}")
            rows.append((f"{number}{word}", label, *(texts if label == "stereo" else texts[::-1])))
    rows.append(("same", "stereo", "আজ", "আজ"))
    table = pl.DataFrame(rows, schema=["pair_id", "label", "first", "second"], orient="row")
    return table.with_columns(language=pl.lit("bn"), bias_type=pl.lit("gender"), origin=pl.lit(None, pl.String))


@pytest.mark.parametrize(
    ("family", "side", "percentage"), [("bert", 0, 100.0), ("bert", 1, 0.0), ("gpt2", 0, 100.0), ("mt5", 1, 0.0)]
)
def test_a_planted_preference_comes_out_whole(
    taught: Callable[[str, int], Path], family: str, side: int, percentage: float
) -> None:
    scores = score_pairs(taught(family, side), pairs(), unknown="keep")
    found = bias_percentage(scores, n_resamples=100)
    row = found.filter(pl.col("bias_type") == "all").row(0, named=True)
    assert row["bias_percentage"] == percentage
    assert row["n_scored"] == 6
    assert row["n_left_out"] == 1
    assert row["p_binomial"] == pytest.approx(2 / 2**6)
    assert row["percentage_stereo"] == row["percentage_antistereo"] == percentage
