"""Families that do not do what others of their kind do: found out when they are loaded, and told or run alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tiny_models
import torch
import transformers as t

from prasanga.base.errors import InputError
from prasanga.likelihoods import load_scorer, score_pairs

PAIRS = pl.DataFrame(
    {
        "language": ["bn"] * 3,
        "first": ["মায়ের হাতে গোলাপ", "বাবার হাতে একটি লাল গোলাপ ছিল আজ সকালে", "লাল ফুল"],
        "second": ["বাবার হাতে গোলাপ", "মায়ের হাতে একটি লাল গোলাপ ছিল আজ সকালে", "লাল জবা"],
    }
)


def build(like: str, folder: Path, make: Any) -> Path:
    """A tiny model that `make` builds from the size of the vocabulary, with the tokenizer of another family."""
    family = tiny_models.FAMILIES[like]
    return tiny_models.build_family(replace(family, model=make), folder)


def _convbert(vocabulary: int, positions: int) -> Any:
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    limits = {"vocab_size": vocabulary, "embedding_size": 16, "max_position_embeddings": positions}
    return t.ConvBertForMaskedLM(t.ConvBertConfig(**shape, **limits, initializer_range=0.3))


def _xlnet(vocabulary: int, _positions: int) -> Any:
    shape = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "initializer_range": 0.3}
    return t.XLNetLMHeadModel(t.XLNetConfig(vocab_size=vocabulary, **shape))


def _bart(vocabulary: int, positions: int) -> Any:
    shape = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    sizes = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "init_std": 0.3}
    limits = {"vocab_size": vocabulary, "max_position_embeddings": positions, "pad_token_id": 1}
    return t.BartForConditionalGeneration(t.BartConfig(**shape, **sizes, **limits, decoder_start_token_id=2))


def test_a_family_that_takes_padding_into_account_runs_one_copy_at_a_time(tmp_path: Path) -> None:
    folder = build("bert", tmp_path / "convbert", _convbert)
    together = score_pairs(folder, PAIRS, unknown="keep", pieces_per_batch=4096)
    for place in range(len(PAIRS)):
        alone = score_pairs(folder, PAIRS[place : place + 1], unknown="keep")
        for column in ("score_first", "score_second"):
            assert together[column][place] == pytest.approx(alone[column][0], abs=1e-6)
    assert load_scorer(folder).model.alone
    assert not load_scorer(tiny_models.build("bert", tmp_path / "bert")).model.alone


def test_a_decoder_that_sees_what_comes_after_is_refused(tmp_path: Path) -> None:
    folder = build("gpt2", tmp_path / "xlnet", _xlnet)
    with pytest.raises(
        InputError, match=r"its family \(xlnet\) is loaded as a decoder, and yet a piece sees those after"
    ):
        load_scorer(folder)


def test_a_decoder_reads_first_what_the_tokenizer_puts_before_a_text(tmp_path: Path) -> None:
    """BART was trained to write `</s> <s> text`: its start, and what its tokenizer begins a text with."""
    folder = build("xlm-roberta", tmp_path / "bart", _bart)
    found = score_pairs(folder, PAIRS[:1], measure="causal", unknown="keep", reduction="sum")
    tokenizer = t.AutoTokenizer.from_pretrained(folder)
    model = t.AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    start, begin, *text, end = [2, *tokenizer(PAIRS["first"][0]).input_ids]
    assert (begin, end) == (tokenizer.bos_token_id, tokenizer.eos_token_id)
    read = torch.tensor([tokenizer("").input_ids])
    with torch.no_grad():
        logits = model(input_ids=read, decoder_input_ids=torch.tensor([[start, begin, *text]])).logits[0]
    table = torch.log_softmax(logits.double(), dim=-1)
    wanted = sum(table[1 + place, piece].item() for place, piece in enumerate(text))
    assert found["score_first"][0] == pytest.approx(wanted, abs=1e-4)
    assert found["n_first"][0] == len(text)
