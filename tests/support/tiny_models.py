"""Tiny models of every family, built on the spot: random weights, but trained tokenizers, which do split words.

A model is written the way its family publishes it: with its vocabulary head, in safetensors, the tokenizer's class
named in `tokenizer_config.json`. Weights are large and norms and biases random, so that positions, masks and a norm
left out show in every vector.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers as t
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from prasanga_calibration.training import train_tokenizer

SENTENCES = [
    "বাগানের গোলাপগুলোতে সকালবেলা শিশির জমে থাকে।",
    "মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।",
    "দুঃখের দিনেও তিনি ক্ষমাশীল আর সৎ মানুষ ছিলেন।",
    "চাঁদের আলোয় বাঁশির সুর ভেসে আসে 🌙 নদীর ওপার থেকে।",
    "বিজ্ঞানীরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।",
    "পোকামাকড়ের উপদ্রবে ফসলের ক্ষতি হয়েছে গ্রামের মাঠে।",
    "Rahim reads অভিধান 📚📚 every evening, quietly.",
]
BLOCKS, WIDTH = 3, 32
_SPREAD = 0.3  # random weights of the usual size hardly mix positions; these do
_LLAMA3_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"
_BLOOM_WORDS = r" ?[^(\s|[.,!?…。，、।۔،])]+"


@dataclass(frozen=True)
class Family:
    """How to build one kind of model.

    Attributes:
        tokenizer: makes and trains the tokenizer (of the tokenizers library).
        model: makes the model from vocabulary size and number of positions.
        tokenizer_class: the class that published models of the family name.
        names: special tokens by their role, and options of the tokenizer's class.
        causal: whether a position reads only those before it.
    """

    tokenizer: Callable[[], Any]
    model: Callable[[int, int], Any]
    tokenizer_class: str = "PreTrainedTokenizerFast"
    names: Mapping[str, Any] = field(default_factory=dict)
    causal: bool = False


def build(kind: str, folder: Path, *, positions: int = 128) -> Path:
    """Write a tiny model of `kind`, one of `FAMILIES`, and its tokenizer to `folder`."""
    return build_family(FAMILIES[kind], folder, positions=positions)


def build_family(family: Family, folder: Path, *, positions: int = 128) -> Path:
    """Write a tiny model as `family` describes it, and its tokenizer, to `folder`."""
    tokenizer = family.tokenizer()
    torch.manual_seed(11)
    model = family.model(tokenizer.get_vocab_size(), positions)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim == 1:  # biases are made 0 and norms 1, so that leaving one out would not show
                weights.add_(_SPREAD * torch.randn_like(weights))
    model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder, family.tokenizer_class, family.names)
    return folder


def save_tokenizer(tokenizer: Any, folder: Path, tokenizer_class: str, names: Mapping[str, Any]) -> None:
    """Write `tokenizer` (of the tokenizers library) with the settings that transformers reads beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": tokenizer_class, "clean_up_tokenization_spaces": False, **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")


def _wordpiece(strip_accents: bool | None = None) -> Any:
    """The project's own WordPiece tokenizer; with BERT's normalizer for cased text unless `strip_accents` is None."""
    if strip_accents is None:
        return train_tokenizer(SENTENCES, 190)
    normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=strip_accents)
    tokenizer = train_tokenizer([normalizer.normalize_str(sentence) for sentence in SENTENCES], 190)
    tokenizer.normalizer = normalizer
    return tokenizer


def unigram(normalizer: Any, *, template: str = "<s> $A </s>", across_words: bool = False) -> Any:
    """A SentencePiece-like Unigram tokenizer; with `across_words` a piece may reach from one word into the next.

    Its pieces are the letters and the most frequent strings: the trainer's choice differs from run to run.
    """
    specials = ["<s>", "<pad>", "</s>", "<unk>", *(word for word in template.split() if word.endswith("_IN"))]
    words = [] if across_words else [pre_tokenizers.WhitespaceSplit()]
    pre_tokenizer = pre_tokenizers.Sequence([*words, pre_tokenizers.Metaspace(split=not across_words)])
    scores = dict.fromkeys(specials, 0.0)
    learned = [normalizer.normalize_str(sentence) if normalizer else sentence for sentence in SENTENCES]
    counts = Counter(
        word[begin:end]
        for sentence in learned
        for word, _ in pre_tokenizer.pre_tokenize_str(sentence)
        for begin in range(len(word))
        for end in range(begin + 1, min(begin + 8, len(word)) + 1)
    )
    frequent = sorted((piece for piece in counts if len(piece) > 1), key=lambda piece: (-counts[piece], piece))[:110]
    total = sum(counts.values())
    letters = sorted(piece for piece in counts if len(piece) == 1)
    scores |= {piece: math.log(counts[piece] / total) for piece in [*letters, *frequent]}
    tokenizer = Tokenizer(models.Unigram(list(scores.items()), unk_id=specials.index("<unk>")))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(specials)
    ids = [(word, specials.index(word)) for word in template.split() if word != "$A"]
    tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ids)
    return tokenizer


def _nfkc(**shape: Any) -> Any:
    """As XLM-R, mBART and mT5, whose own normalization is close to NFKC."""
    return unigram(normalizers.NFKC(), **shape)


def _albert() -> Any:
    """As ALBERT and IndicBERT: accents, and with them vowel signs, are stripped; case is folded."""
    steps = [normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    return unigram(normalizers.Sequence(steps))


def byte_level(words: str | None = None, *, size: int = 360, first: str | None = None) -> Any:
    """A byte-level BPE tokenizer; a piece's offsets include the space before a word.

    Args:
        words: a pattern for the words, as in BLOOM and Llama 3; GPT-2's if None.
        size: pieces of the vocabulary, 256 of which are single bytes: a Bangla letter is often cut inside.
        first: the piece put before every text.
    """
    tokenizer = Tokenizer(models.BPE(ignore_merges=first is not None))
    if words is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        split = pre_tokenizers.Split(Regex(words), "isolated")
        to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    steps: list[Any] = [processors.ByteLevel(trim_offsets=False)]
    if first is not None:
        steps.append(processors.TemplateProcessing(single=f"{first} $A", special_tokens=[(first, 1)]))
    tokenizer.post_processor = processors.Sequence(steps) if first else steps[0]
    specials = ["<|endoftext|>", *([first] if first else [])]
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=specials,
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def byte_fallback() -> Any:
    """As Llama 2: BPE over letters with ▁ for spaces; a letter that the vocabulary lacks is spelled in bytes."""
    specials = ["<unk>", "<s>", "</s>"]
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    reserved = [*specials, *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=360, special_tokens=reserved, show_progress=False, max_token_length=8)
    counts = Counter("".join(SENTENCES).replace(" ", ""))
    rare = sorted(counts, key=lambda letter: (-counts[letter], letter))[40:]
    learner.train_from_iterator([s.translate(dict.fromkeys(map(ord, rare), " ")) for s in SENTENCES], trainer)
    learned = json.loads(learner.to_str())["model"]
    merges = [tuple(merge) for merge in learned["merges"]]
    tokenizer = Tokenizer(
        models.BPE(vocab=learned["vocab"], merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    spaces, strip = decoders.Replace("▁", " "), decoders.Strip(content=" ", left=1)
    tokenizer.decoder = decoders.Sequence([spaces, decoders.ByteFallback(), decoders.Fuse(), strip])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.add_special_tokens(specials)
    return tokenizer


def _common(vocabulary: int, positions: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": WIDTH,
        "num_hidden_layers": BLOCKS,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": positions,
        "initializer_range": _SPREAD,
    }


def _bert(vocabulary: int, positions: int) -> Any:
    return t.BertForMaskedLM(t.BertConfig(**_common(vocabulary, positions)))


def _electra(head: str, embedding_size: int) -> Callable[[int, int], Any]:
    """A generator or a discriminator: what they have in common ends below the head."""

    def make(vocabulary: int, positions: int) -> Any:
        return getattr(t, head)(t.ElectraConfig(**_common(vocabulary, positions), embedding_size=embedding_size))

    return make


def _xlm_roberta(vocabulary: int, positions: int) -> Any:
    return t.XLMRobertaForMaskedLM(t.XLMRobertaConfig(**_common(vocabulary, positions), pad_token_id=1))


def _albert_model(vocabulary: int, positions: int) -> Any:
    return t.AlbertForMaskedLM(t.AlbertConfig(**_common(vocabulary, positions), embedding_size=16, pad_token_id=1))


def _mbart(vocabulary: int, positions: int) -> Any:
    """Two blocks in the decoder, so that taking the wrong half shows."""
    shape = {"encoder_layers": BLOCKS, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    sizes = {"d_model": WIDTH, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "init_std": _SPREAD}
    limits = {"vocab_size": vocabulary, "max_position_embeddings": positions, "pad_token_id": 1}
    return t.MBartForConditionalGeneration(t.MBartConfig(**shape, **sizes, **limits))


def _mt5(vocabulary: int, _positions: int) -> Any:
    shape = {"num_layers": BLOCKS, "num_decoder_layers": 2, "num_heads": 4}
    sizes = {"d_model": WIDTH, "d_kv": 8, "d_ff": 64, "initializer_factor": 1.0}
    return t.MT5ForConditionalGeneration(t.MT5Config(vocab_size=vocabulary, **shape, **sizes, pad_token_id=1))


def _gpt2(vocabulary: int, positions: int) -> Any:
    shape = {"n_embd": WIDTH, "n_layer": BLOCKS, "n_head": 4, "n_positions": positions, "initializer_range": _SPREAD}
    return t.GPT2LMHeadModel(t.GPT2Config(vocab_size=vocabulary, **shape, bos_token_id=0, eos_token_id=0))


def _bloom(vocabulary: int, _positions: int) -> Any:
    shape = {"hidden_size": WIDTH, "n_layer": BLOCKS, "n_head": 4, "initializer_range": _SPREAD}
    return t.BloomForCausalLM(t.BloomConfig(vocab_size=vocabulary, **shape, bos_token_id=0, eos_token_id=0))


def _llama(vocabulary: int, positions: int) -> Any:
    ids = {"bos_token_id": 1, "eos_token_id": 2}
    return t.LlamaForCausalLM(t.LlamaConfig(**_common(vocabulary, positions), num_key_value_heads=2, **ids))


def _mistral(vocabulary: int, positions: int) -> Any:
    """A position reads the eight before it only, so that a window counted from the padding would show."""
    own = {"num_key_value_heads": 2, "sliding_window": 8, "bos_token_id": 1, "eos_token_id": 2}
    return t.MistralForCausalLM(t.MistralConfig(**_common(vocabulary, positions), **own))


_BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
_CASED, _KEEPING = {**_BERT, "do_lower_case": False}, {"strip_accents": False}
_XLMR = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
_GPT = {"eos_token": "<|endoftext|>"}  # no padding token, as usual for decoders
_LLAMA = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "legacy": False}
_LLAMA3 = {"bos_token": "<|begin_of_text|>", "eos_token": "<|endoftext|>"}

FAMILIES: dict[str, Family] = {
    "bert": Family(_wordpiece, _bert, names=_BERT),
    "muril": Family(lambda: _wordpiece(False), _bert, "BertTokenizer", {**_CASED, **_KEEPING}),
    "bert-without-marks": Family(lambda: _wordpiece(True), _bert, "BertTokenizer", {**_CASED, "strip_accents": True}),
    "electra": Family(
        lambda: _wordpiece(False), _electra("ElectraForPreTraining", 16), "ElectraTokenizer", {**_CASED, **_KEEPING}
    ),
    "electra-generator": Family(_wordpiece, _electra("ElectraForMaskedLM", 48), names=_BERT),
    "xlm-roberta": Family(_nfkc, _xlm_roberta, names=_XLMR),
    "mbart": Family(lambda: _nfkc(template="$A </s> bn_IN"), _mbart, names=_XLMR),
    "mt5": Family(lambda: _nfkc(template="$A </s>", across_words=True), _mt5, names=_XLMR),
    "albert": Family(_albert, _albert_model, names=_XLMR),
    "gpt2": Family(byte_level, _gpt2, "GPT2Tokenizer", _GPT, causal=True),
    "bloom": Family(lambda: byte_level(_BLOOM_WORDS, size=420), _bloom, names=_GPT, causal=True),
    "llama": Family(byte_fallback, _llama, "LlamaTokenizer", _LLAMA, causal=True),
    "llama3": Family(lambda: byte_level(_LLAMA3_WORDS, first="<|begin_of_text|>"), _llama, names=_LLAMA3, causal=True),
    "mistral": Family(byte_fallback, _mistral, "LlamaTokenizer", _LLAMA, causal=True),
}
