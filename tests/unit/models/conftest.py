"""Tiny models with random weights, built on the spot, and a local cache of the hub that they can be put into."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORDS = ["ফুল", "ফল", "মা", "মাঁ", "কলম", "বাগান", "Rose", "rose", "ঘর", "কাঁঠাল"]
_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
_NAMES = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def _wordpiece(normalizer: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = sorted({letter for word in WORDS for letter in word})
    pieces = [*_SPECIALS, *WORDS, *letters, *("##" + letter for letter in letters)]
    tokenizer = Tokenizer(
        models.WordPiece({piece: i for i, piece in enumerate(dict.fromkeys(pieces))}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.normalizer = normalizer
    return tokenizer


def _unigram(normalizer: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = sorted({letter for word in WORDS for letter in word})
    pieces = [(piece, 0.0) for piece in _SPECIALS] + [("▁", -3.0)]
    pieces += [(f"▁{word}", -4.0) for word in WORDS] + [(letter, -9.0) for letter in letters]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=1))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.normalizer = normalizer
    return tokenizer


def _bytes() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(["<|endoftext|>", *alphabet])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def _build(kind: str, folder: Path) -> None:
    import torch
    import transformers as t
    from tokenizers import normalizers

    torch.manual_seed(3)
    names = _NAMES
    stripping = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    model: Any
    if kind == "bert":
        tokenizer = _wordpiece(normalizers.BertNormalizer())
        model = t.BertForMaskedLM(
            t.BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=64, **_SHAPE)
        )
    elif kind == "albert":
        tokenizer = _unigram(stripping)
        model = t.AlbertForMaskedLM(t.AlbertConfig(vocab_size=tokenizer.get_vocab_size(), embedding_size=8, **_SHAPE))
    elif kind == "mbart":
        tokenizer = _unigram(None)
        sides = {f"{side}_{key}": 2 for side in ("encoder", "decoder") for key in ("layers", "attention_heads")}
        sizes = {"d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64}
        model = t.MBartForConditionalGeneration(
            t.MBartConfig(vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **sides, **sizes)
        )
    elif kind == "t5":
        tokenizer = _unigram(None)
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
        model = t.T5ForConditionalGeneration(t.T5Config(vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **sizes))
    else:
        tokenizer, names = _bytes(), {"eos_token": "<|endoftext|>"}
        shape = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "bos_token_id": 0, "eos_token_id": 0}
        model = t.GPT2LMHeadModel(t.GPT2Config(vocab_size=tokenizer.get_vocab_size(), **shape))
    model.save_pretrained(folder)
    t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`tiny("bert")`: the folder of a tiny model (bert, albert, mbart, t5, gpt2), to be read only."""
    built: dict[str, Path] = {}

    def get(kind: str) -> Path:
        if kind not in built:
            built[kind] = tmp_path_factory.mktemp(kind)
            _build(kind, built[kind])
        return built[kind]

    return get


@pytest.fixture
def tiny_copy(tiny: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """`tiny_copy("bert")`: a copy of the folder, to be spoiled."""
    return lambda kind: shutil.copytree(tiny(kind), tmp_path / f"{kind}-copy")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`hub(folder, name)`: put a folder into an empty cache of the hub, offline; the commit that it is stored under."""
    cache = tmp_path / "cache"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def store(folder: Path, name: str, commit: str = "c" * 40, branch: str = "main") -> str:
        place = cache / f"models--{name.replace('/', '--')}"
        shutil.copytree(folder, place / "snapshots" / commit)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / branch).write_text(commit)
        return commit

    return store
