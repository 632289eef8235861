"""Train a tiny language model on plain text, in about a minute on one core, the same bits every time.

Tests and calibration need real transformers of every kind without a download. What they learn says nothing about a
language.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch.nn.functional import cross_entropy

from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.base.seeds import generator, seed_of
from prasanga.models.devices import pad
from prasanga.models.packaged import write_model

_LOG = logging.getLogger(__name__)

# --------------------
# A byte-level tokenizer for Indic text, trained in the run, for models that write: no text has an unknown piece.
#
# Byte-level BPE (Radford et al. 2019, section 2.2) begins with the 256 bytes and joins frequent neighbors, so unseen
# letters are spelled in bytes. GPT-2 splits words at every character that is not a letter, such as a vowel sign; here a
# letter and its marks, including joiners, stay in one word.

BYTE_PAD, BEGIN, END = "<pad>", "<s>", "</s>"
SENTINELS = tuple(f"<extra_id_{number}>" for number in range(64))
"""Pieces that replace hidden words, in order (Raffel et al. 2020, section 3.1.4)."""

_WORDS = r" ?[\p{L}\p{M}\u200c\u200d]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}\u200c\u200d]+|\s+"


def train_byte_tokenizer(texts: Sequence[str], vocabulary_size: int, *, sentinels: bool = False) -> Tokenizer:
    """Train a byte-level tokenizer on `texts`; the same texts give the same tokenizer, id by id.

    Special pieces have the first ids. The space before a word belongs to its first piece, though not to the piece's
    span of characters.

    Args:
        texts: what to learn the pieces from.
        vocabulary_size: most pieces, special ones included.
        sentinels: for an encoder-decoder, which has `SENTINELS` and ends a text with `END`; else for a decoder, which
            begins it with `BEGIN`.
    """
    special = [BYTE_PAD, END, *SENTINELS] if sentinels else [BYTE_PAD, BEGIN, END]
    tokenizer = Tokenizer(models.BPE())
    to_words = pre_tokenizers.Split(Regex(_WORDS), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([to_words, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    around = (f"$A {END}", END) if sentinels else (f"{BEGIN} $A", BEGIN)
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single=around[0], special_tokens=[(around[1], special.index(around[1]))]),
        ]
    )
    return tokenizer


# --------------------
# A WordPiece tokenizer for Indic text, trained in the run: case, accents and vowel signs are kept.
#
# BERT's usual normalizer strips accents, which in Bangla and Hindi turns a word into another one, and drops the
# joiners ZWJ and ZWNJ as control characters; this one does not normalize. Words are split only at white space and
# punctuation, so a letter and its marks stay in one word.

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CONTINUATION = "##"


def train_tokenizer(texts: Sequence[str], vocabulary_size: int) -> Tokenizer:
    """Train a BERT-like WordPiece tokenizer on `texts`; the same texts give the same tokenizer, id by id."""
    alphabet = sorted({character for text in texts for character in text if not character.isspace()})
    # The trainer numbers the continuation letters in the order of a hash map, and equally frequent pairs are merged in
    # the order of these numbers. Reserved beforehand, they have the same numbers in every run.
    reserved = [*SPECIAL_TOKENS, *(_CONTINUATION + character for character in alphabet)]
    learner = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        special_tokens=reserved,
        continuing_subword_prefix=_CONTINUATION,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    learner.train_from_iterator(texts, trainer)
    vocabulary = learner.get_vocab()
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, continuing_subword_prefix=_CONTINUATION))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix=_CONTINUATION)
    tokenizer.post_processor = processors.BertProcessing((SEP, vocabulary[SEP]), (CLS, vocabulary[CLS]))
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    return tokenizer


def piece_id(tokenizer: Tokenizer, piece: str) -> int:
    """Return the id of a piece that the vocabulary has."""
    found = tokenizer.token_to_id(piece)
    if found is None:
        raise KeyError(piece)
    return found


# --------------------
# The tiny models that are trained: BERT-like, GPT-2-like and mT5-like. Nothing is dropped out: a few hundred steps on a
# small text underfit, and dropout would only slow them.

POSITIONS = 512
"""Pieces of the longest text that the models read."""


def _encoder(tokenizer: Tokenizer, width: int, layers: int, heads: int) -> Any:
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        # BERT's 0.02 suits a width of 768; at this width everything would look alike for hundreds of steps.
        initializer_range=width**-0.5,
        pad_token_id=piece_id(tokenizer, PAD),
    )
    model = transformers.BertForMaskedLM(config)
    _begin_with_sinusoids(model.bert.embeddings.position_embeddings, config.initializer_range)
    return model


def _decoder(tokenizer: Tokenizer, width: int, layers: int, heads: int) -> Any:
    config = transformers.GPT2Config(
        vocab_size=tokenizer.get_vocab_size(),
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        n_positions=POSITIONS,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        resid_pdrop=0.0,
        initializer_range=width**-0.5,
        pad_token_id=piece_id(tokenizer, BYTE_PAD),
        bos_token_id=piece_id(tokenizer, BEGIN),
        eos_token_id=piece_id(tokenizer, END),
    )
    model = transformers.GPT2LMHeadModel(config)
    _begin_with_sinusoids(model.transformer.wpe, config.initializer_range)
    return model


def _encoder_decoder(tokenizer: Tokenizer, width: int, layers: int, heads: int) -> Any:
    config = transformers.MT5Config(
        vocab_size=tokenizer.get_vocab_size(),
        d_model=width,
        d_kv=width // heads,
        d_ff=2 * width,  # its gate doubles it
        num_layers=layers,
        num_decoder_layers=layers,
        num_heads=heads,
        dropout_rate=0.0,
        pad_token_id=piece_id(tokenizer, BYTE_PAD),
        eos_token_id=piece_id(tokenizer, END),
        decoder_start_token_id=piece_id(tokenizer, BYTE_PAD),  # as T5: the decoder begins with the padding
    )
    model = transformers.MT5ForConditionalGeneration(config)
    # The table is head and embeddings in one: with the family's spread of 1, the first logits would be far from even.
    model.shared.weight.data.mul_(width**-0.5)
    for half in (model.encoder, model.decoder):
        _begin_with_slopes(half.block[0].layer[0].SelfAttention.relative_attention_bias, half.is_decoder)
    return model


def _begin_with_sinusoids(table: Any, spread: float) -> None:
    """Set the positions to sines and cosines (Vaswani et al. 2017, section 3.5).

    So the start already encodes distances.
    """
    positions, width = table.weight.shape
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(positions)[:, None] * rates
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(positions, -1)[:, :width]
    table.weight.data.copy_(waves * spread / 2)


def _begin_with_slopes(table: Any, backwards_only: bool) -> None:
    """Make biases fall with the distance, in each head slower (Press et al. 2022, section 3): T5 lacks positions.

    T5 learns them from almost zero, which takes many more steps than here.
    """
    distances, heads = table.weight.shape
    near = torch.arange(distances if backwards_only else distances // 2).repeat(1 if backwards_only else 2)
    table.weight.data.sub_(near[:, None] * 2.0 ** -torch.arange(heads))


# --------------------
# The training data: a stream of the pieces of all texts.

_FROM_THE_BEGINNING = 0.5
"""Share of the windows that begin with a text; the others reach later parts of long texts."""


class Stream(NamedTuple):
    """All pieces of the texts in a row, taken as a ring.

    Attributes:
        pieces: their ids; each text begins with `BEGIN`, if the tokenizer has it, and ends with `END`, or `SEP`.
        starts: whether a word begins with the piece; true for pieces around a text.
        texts: where each text begins.
        specials: number of special pieces, which have the first ids.
    """

    pieces: NDArray[np.int64]
    starts: NDArray[np.bool_]
    texts: NDArray[np.int64]
    specials: int


def read_stream(tokenizer: Tokenizer, texts: Sequence[str]) -> Stream:
    """Return the stream of `texts`."""
    ids = {piece: tokenizer.token_to_id(piece) for piece in (BEGIN, END, SEP)}
    before, after = ([ids[piece] for piece in around if ids[piece] is not None] for around in ((BEGIN,), (END, SEP)))
    pieces, starts, lengths = [], [], []
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False):
        pieces.append(np.array([*before, *encoding.ids, *after], dtype=np.int64))
        words = np.array([*(-1 for _ in before), *encoding.word_ids, -2], dtype=np.int64)
        starts.append(np.diff(words, prepend=-3) != 0)
        lengths.append(len(words))
    begins = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
    specials = len(tokenizer.get_added_tokens_decoder())
    return Stream(np.concatenate(pieces), np.concatenate(starts), begins, specials)


def places_of(rng: np.random.Generator, stream: Stream, *, rows: int, length: int) -> NDArray[np.int64]:
    """Return (rows, length) places in the stream: windows, half of which begin where a text does."""
    anywhere = rng.integers(0, len(stream.pieces), size=rows)
    at_a_text = stream.texts[rng.integers(0, len(stream.texts), size=rows)]
    first = np.where(rng.random(rows) < _FROM_THE_BEGINNING, at_a_text, anywhere)
    return (first[:, None] + np.arange(length)) % len(stream.pieces)


# --------------------
# The task of a masked language model: hidden pieces.
#
# The shares are BERT's (Devlin et al. 2019, section 3.1): of the chosen pieces 80% are masked, 10% replaced by a random
# piece, and 10% unchanged.

IGNORED = -100
_SHARE = 0.15


def mask_pieces(
    rng: np.random.Generator, pieces: NDArray[np.int64], tokenizer: Tokenizer
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose 15% of the pieces that are not special, at least one; hide them; return inputs and labels.

    Both have the shape of `pieces`; labels are -100 at pieces without a prediction.
    """
    special = [piece_id(tokenizer, token) for token in SPECIAL_TOKENS]
    ordinary = ~np.isin(pieces, special)
    chosen = (rng.random(pieces.shape) < _SHARE) & ordinary
    if not chosen.any():
        chosen.flat[int(np.argmax(ordinary))] = True
    kind = rng.random(pieces.shape)
    random_pieces = rng.integers(len(special), tokenizer.get_vocab_size(), size=pieces.shape)
    inputs = np.where(chosen & (kind < 0.8), piece_id(tokenizer, MASK), pieces)
    inputs = np.where(chosen & (kind >= 0.9), random_pieces, inputs)
    return inputs, np.where(chosen, pieces, IGNORED)


# --------------------
# The task of an encoder-decoder: hidden whole words of a window.
#
# As in T5 (Raffel et al. 2020, section 3.1.4), a sentinel replaces each run of them, and the model writes each sentinel
# with its words. T5 hides runs of pieces; here words are never cut, because later queries ask for whole words.

_SHARE_OF_WORDS = 0.25  # T5 hides 15%; with only hundreds of steps, more is better


class Gapped(NamedTuple):
    """A window without its hidden words, and the text to write."""

    read: list[int]
    written: list[int]


def hide_words(
    rng: np.random.Generator, pieces: NDArray[np.int64], starts: NDArray[np.bool_], tokenizer: Tokenizer
) -> Gapped:
    """Hide a quarter of the words of a window, at least one and at most as many runs as sentinels.

    Args:
        rng: chooses the words.
        pieces: (length,) ids, at least one of them not special.
        starts: (length,) whether a word begins; the first piece always counts as one.
        tokenizer: has sentinels, and special pieces with the first ids.

    Returns:
        The input, closed by `END`, and the output: each sentinel with its words, and the next sentinel and `END`.
    """
    sentinels = np.array([piece_id(tokenizer, sentinel) for sentinel in SENTINELS])
    end = piece_id(tokenizer, END)
    words = np.cumsum(starts) - (1 if starts[0] else 0)
    ordinary = pieces > sentinels.max()
    chosen = (rng.random(words[-1] + 1) < _SHARE_OF_WORDS)[words] & ordinary
    if not chosen.any():
        ordinary_words = np.unique(words[ordinary])
        chosen = words == ordinary_words[int(rng.integers(0, len(ordinary_words)))]
    begins = chosen & ~np.concatenate([[False], chosen[:-1]])
    runs = np.cumsum(begins)  # of a hidden piece: the number of its run, from 1 on
    chosen &= runs < len(sentinels)
    begins &= chosen
    runs = np.minimum(runs, len(sentinels) - 1)
    read = np.where(begins, sentinels[runs - 1], pieces)[~chosen | begins]
    written = np.repeat(pieces[chosen], 1 + begins[chosen])
    firsts = np.flatnonzero(begins[chosen])
    written[firsts + np.arange(len(firsts))] = sentinels[: len(firsts)]
    return Gapped([*read.tolist(), end], [*written.tolist(), int(sentinels[len(firsts)]), end])


# --------------------
# The loss of one step, by kind of model.
#
# Training uses every predicted piece, but the reported loss only ordinary ones: special pieces, such as T5's sentinels,
# are easy to predict, and would make a model look better than it is.


class Step(NamedTuple):
    """A step of a training.

    Attributes:
        rng: draws the windows and the hidden parts.
        number: of earlier steps.
        rows: windows in the step.
        length: pieces in each.
    """

    rng: np.random.Generator
    number: int
    rows: int
    length: int


Losses = tuple[torch.Tensor, float | None]
"""The loss for training, and the reported loss of the step, if any."""


def _hidden_pieces(model: Any, tokenizer: Tokenizer, stream: Stream, step: Step) -> Losses:
    """Learn as BERT (Devlin et al. 2019, section 3.1): 15% of the pieces are chosen and most of them masked."""
    first = step.rng.integers(0, len(stream.pieces), size=(step.rows, 1))
    pieces = stream.pieces[(first + np.arange(-1, step.length - 1)) % len(stream.pieces)]
    pieces[:, 0], pieces[:, -1] = piece_id(tokenizer, CLS), piece_id(tokenizer, SEP)
    inputs, labels = mask_pieces(step.rng, pieces, tokenizer)
    chosen = torch.from_numpy(labels != IGNORED)
    positions = _positions(step, step.length)
    states = model.bert(input_ids=torch.from_numpy(inputs), position_ids=positions).last_hidden_state
    logits = model.cls(states[chosen])  # the vocabulary head runs at the chosen pieces only
    loss = cross_entropy(logits, torch.from_numpy(labels)[chosen])
    return loss, loss.item()


def _next_piece(model: Any, _tokenizer: Tokenizer, stream: Stream, step: Step) -> Losses:
    """Learn as GPT (Radford et al. 2018, section 3.1): every piece from earlier ones."""
    places = places_of(step.rng, stream, rows=step.rows, length=step.length)
    pieces, positions = torch.from_numpy(stream.pieces[places]), _positions(step, step.length - 1)
    logits = model(input_ids=pieces[:, :-1], position_ids=positions, use_cache=False).logits
    return _losses(logits.flatten(0, 1), pieces[:, 1:].flatten(), stream.specials)


def _hidden_words(model: Any, tokenizer: Tokenizer, stream: Stream, step: Step) -> Losses:
    """Learn as T5 (Raffel et al. 2020, section 3.1.4), of whole words; in every second step, a text from nothing.

    T5 learns only to fill gaps. Its decoder then learns little in a few hundred steps, and nothing about the beginning
    of a text, which the score `causal` needs. The report is about filled words.
    """
    padding, end = piece_id(tokenizer, BYTE_PAD), piece_id(tokenizer, END)
    places = places_of(step.rng, stream, rows=step.rows, length=step.length - 1)
    pieces, starts = stream.pieces[places], stream.starts[places]
    if step.number % 2:
        made = [Gapped([end], window.tolist()) for window in pieces]
    else:
        made = [hide_words(step.rng, *window, tokenizer) for window in zip(pieces, starts, strict=True)]
    read, reading = pad([one.read for one in made], padding)
    written, writing = pad([one.written for one in made], padding)
    before = np.concatenate([np.full((step.rows, 1), padding), written[:, :-1]], axis=1)
    logits = model(
        input_ids=torch.from_numpy(read),
        attention_mask=torch.from_numpy(reading),
        decoder_input_ids=torch.from_numpy(before),
        use_cache=False,
    ).logits
    chosen = torch.from_numpy(writing)
    loss, reported = _losses(logits[chosen], torch.from_numpy(written)[chosen], stream.specials)
    return loss, None if step.number % 2 else reported


def _positions(step: Step, length: int) -> torch.Tensor:
    """Return positions that begin later in half of the steps, so that every position up to the last one is trained."""
    first = int(step.rng.integers(0, POSITIONS - length + 1)) if step.number % 2 else 0
    return torch.arange(first, first + length)[None]


def _losses(logits: torch.Tensor, labels: torch.Tensor, specials: int) -> tuple[torch.Tensor, float]:
    """Return the mean cross-entropy over all labels, and over ordinary pieces."""
    each = cross_entropy(logits, labels, reduction="none")
    return each.mean(), each.detach()[labels >= specials].mean().item()


class _Family(NamedTuple):
    """The making of a kind of model: its tokenizer, the names of its special pieces, its layers and its task."""

    learn: Callable[[Sequence[str], int], Tokenizer]
    names: Mapping[str, Any]
    build: Callable[[Tokenizer, int, int, int], Any]
    losses: Callable[[Any, Tokenizer, Stream, Step], Losses]


_FAMILIES = {
    "encoder": _Family(
        train_tokenizer,
        {"pad_token": PAD, "unk_token": UNKNOWN, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK},
        _encoder,
        _hidden_pieces,
    ),
    "decoder": _Family(
        train_byte_tokenizer,
        {"pad_token": BYTE_PAD, "bos_token": BEGIN, "eos_token": END},
        _decoder,
        _next_piece,
    ),
    "encoder-decoder": _Family(
        partial(train_byte_tokenizer, sentinels=True),
        {"pad_token": BYTE_PAD, "eos_token": END, "extra_special_tokens": list(SENTINELS)},
        _encoder_decoder,
        _hidden_words,
    ),
}


@dataclass(frozen=True)
class TrainingReport:
    """A report on a training.

    Attributes:
        kind: `encoder`, `decoder`, `encoder-decoder`.
        seed: the seed given.
        settings: the other arguments given.
        n_texts: texts read.
        n_pieces: pieces of the tokenized texts, special ones between texts included.
        entropy: of the frequencies of the ordinary pieces (natural log): the loss of a model that knows these alone.
        losses: mean cross-entropy (natural log, per ordinary piece that was predicted) over each twentieth of the
            steps, in order; of an encoder-decoder over the steps that hide words.
    """

    kind: str
    seed: int
    settings: dict[str, int | float]
    n_texts: int
    n_pieces: int
    entropy: float
    losses: tuple[float, ...]


def train_model(
    texts: Sequence[str],
    folder: str | Path,
    *,
    kind: str = "encoder",
    seed: int = 47,
    hidden_size: int = 128,
    layers: int = 2,
    heads: int = 4,
    vocabulary_size: int = 4000,
    steps: int = 1400,
    batch_size: int = 2,
    sequence_length: int = 256,
    learning_rate: float = 1.5e-3,
) -> TrainingReport:
    """Train tokenizer and model on `texts` and write them to `folder`, whole or not at all.

    Runs on the CPU with one thread, so that several trainings may run side by side and none depends on the number of
    threads. Two runs with the same arguments and libraries write the same bytes.

    Args:
        texts: documents or lines; order matters, empty ones are skipped.
        folder: where the model goes; absent, empty, or one that an earlier training wrote.
        kind: `encoder`, BERT-like (Devlin et al. 2019); `decoder`, GPT-2-like (Radford et al. 2019);
            `encoder-decoder`, T5-like (Raffel et al. 2020), trained to write whole words for which it reads a sentinel.
        seed: seed of the weights, the masks and the order of the text.
        hidden_size: width of the hidden states, a multiple of `heads`.
        layers: transformer blocks; of an encoder-decoder, in either half.
        heads: attention heads per block.
        vocabulary_size: most pieces in the vocabulary.
        steps: optimizer steps; each sees about `batch_size * sequence_length` pieces.
        batch_size: sequences of full length per step.
        sequence_length: pieces of the longest training sequences, special ones included; at most 512. Every third step
            uses halves, every third quarters, since the segments to be embedded are short and long.
        learning_rate: peak rate of AdamW, after a warm-up over a tenth of the steps and before a linear decay.

    Raises:
        InputError: texts without words, foreign files in the folder, no room or no permission to write.
    """
    settings: dict[str, int | float] = {
        "hidden_size": hidden_size,
        "layers": layers,
        "heads": heads,
        "vocabulary_size": vocabulary_size,
        "steps": steps,
        "batch_size": batch_size,
        "sequence_length": sequence_length,
        "learning_rate": learning_rate,
    }
    folder = Path(folder)
    kept = [text for text in texts if text.strip()]
    if not kept:
        raise InputError("no text to train on: all texts are empty. Name corpus files that have text in them.")
    family = _FAMILIES[kind]
    tokenizer = family.learn(kept, vocabulary_size)
    stream = read_stream(tokenizer, kept)
    with _deterministic(seed_of(seed, "models", "weights")):
        model = family.build(tokenizer, hidden_size, layers, heads)
        losses = _train(folder.name, model, lambda step: family.losses(model, tokenizer, stream, step), settings, seed)
    counts = np.bincount(stream.pieces)[stream.specials :]
    shares = counts[counts > 0] / counts.sum()
    report = TrainingReport(
        kind=kind,
        seed=seed,
        settings=settings,
        n_texts=len(kept),
        n_pieces=len(stream.pieces),
        entropy=round(float(-(shares * np.log(shares)).sum()), 4),
        losses=tuple(round(float(np.mean(part)), 4) for part in np.array_split(losses, min(20, len(losses)))),
    )
    named = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, **family.names)
    write_model(folder, model.eval(), named, "training.json", asdict(report))
    return report


@contextmanager
def _deterministic(seed: int) -> Iterator[None]:
    """Use one thread, deterministic kernels and a seeded generator inside the block; restore the settings after it."""
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed % 2**63)
            yield
    finally:
        torch.use_deterministic_algorithms(strict)
        torch.set_num_threads(threads)


def _train(
    name: str, model: Any, losses_of: Callable[[Step], Losses], settings: dict[str, int | float], seed: int
) -> list[float]:
    """Train the model, whose name is for the log, and return the loss of each step that reports one."""
    rng = generator(seed, "models", "batches")
    steps = int(settings["steps"])
    warmup = max(1, steps // 10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=float(settings["learning_rate"]), betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, (steps - step) / max(1, steps - warmup))
    )
    model.train()
    losses = []
    with progress(f"training {name}", steps, "steps") as done:
        for step in done.over(range(steps)):
            shrink = 2 ** (step % 3)
            length = max(8, int(settings["sequence_length"]) // shrink)
            loss, reported = losses_of(Step(rng, step, int(settings["batch_size"]) * shrink, length))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses += [] if reported is None else [reported]
    if losses:
        _LOG.info("training %s: loss %.3f after %d steps", name, float(np.mean(losses[-100:])), steps)
    return losses
