"""Tiny models of every kind, built on the spot: random weights, but tokenizers that are trained and do split words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SENTENCES = [
    "বাগানের গোলাপগুলোতে সকালবেলা শিশির জমে থাকে।",
    "মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।",
    "দুঃখের দিনেও তিনি ক্ষমাশীল আর সৎ মানুষ ছিলেন।",
    "চাঁদের আলোয় বাঁশির সুর ভেসে আসে 🌙 নদীর ওপার থেকে।",
    "বিজ্ঞানীরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।",
    "পোকামাকড়ের উপদ্রবে ফসলের ক্ষতি হয়েছে গ্রামের মাঠে।",
    "Rahim reads অভিধান 📚📚 every evening, quietly.",
]


def _wordpiece() -> Any:
    from prasanga.models.tokenizer import train_tokenizer

    return train_tokenizer(SENTENCES, 190)


def _unigram() -> Any:
    """As in XLM-R, but its pieces may reach from one word into the next."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=specials, unk_token="<unk>", show_progress=False, max_piece_length=8
    )
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def _byte_level() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)  # offsets include the space before a word
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=360, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


_BERT_NAMES = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
_XLMR_NAMES = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
_GPT_NAMES = {"eos_token": "<|endoftext|>"}  # no padding token, as usual for decoders


def build(kind: str, folder: Path, *, positions: int = 128) -> Path:
    """Write a tiny model of `kind` and its tokenizer to `folder`."""
    import torch
    import transformers as t

    makers: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
        "bert": (_wordpiece, _BERT_NAMES),
        "electra": (_wordpiece, _BERT_NAMES),
        "albert": (_unigram, _XLMR_NAMES),
        "xlm-roberta": (_unigram, _XLMR_NAMES),
        "mbart": (_unigram, _XLMR_NAMES),
        "t5": (_unigram, _XLMR_NAMES),
        "gpt2": (_byte_level, _GPT_NAMES),
    }
    make, names = makers[kind]
    tokenizer = make()
    size = tokenizer.get_vocab_size()
    plain = {
        "vocab_size": size,
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": positions,
        "initializer_range": 0.3,  # random weights of the usual size hardly mix positions; these do
    }
    torch.manual_seed(11)
    model: Any
    if kind == "bert":
        model = t.BertForMaskedLM(t.BertConfig(**plain))
    elif kind == "electra":
        model = t.ElectraForPreTraining(t.ElectraConfig(**plain, embedding_size=16))
    elif kind == "albert":
        model = t.AlbertForMaskedLM(t.AlbertConfig(**plain, embedding_size=16, pad_token_id=1))
    elif kind == "xlm-roberta":
        model = t.XLMRobertaForMaskedLM(t.XLMRobertaConfig(**plain, pad_token_id=1))
    elif kind == "mbart":
        shape = {"encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
        sizes = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "init_std": 0.3}
        limits = {"vocab_size": size, "max_position_embeddings": positions, "pad_token_id": 1}
        model = t.MBartForConditionalGeneration(t.MBartConfig(**shape, **sizes, **limits))
    elif kind == "t5":
        sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 3, "num_heads": 4}
        model = t.T5ForConditionalGeneration(t.T5Config(vocab_size=size, **sizes, pad_token_id=1))
    else:
        shape = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": positions, "initializer_range": 0.3}
        model = t.GPT2LMHeadModel(t.GPT2Config(vocab_size=size, **shape, bos_token_id=0, eos_token_id=0))
    model.save_pretrained(folder)
    t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`tiny_model(kind, positions=128)`: the folder of a tiny model, built once per session."""
    built: dict[tuple[str, int], Path] = {}

    def get(kind: str, positions: int = 128) -> Path:
        key = (kind, positions)
        if key not in built:
            built[key] = build(kind, tmp_path_factory.mktemp(kind), positions=positions)
        return built[key]

    return get


@pytest.fixture(scope="session")
def targets() -> tuple[list[str], list[tuple[int, int]]]:
    """Every word of every sentence as a target: at the very start, at the very end, after an emoji, twice in a text."""
    import re

    texts, spans = [], []
    for sentence in SENTENCES:
        bare = sentence.rstrip("।.")
        for match in re.finditer(r"[^\s,🌙📚]+", bare):
            texts.append(bare)
            spans.append(match.span())
    return texts, spans
