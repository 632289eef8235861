"""Trains a tiny language model on plain text, in about a minute on one core, the same bits every time.

It exists so that the demo and the tests have real transformers of every kind without a download. What they learn says
nothing about a language.
"""

from __future__ import annotations

import logging
import platform
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import tokenizers
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy

from prasanga.base.documents import write_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk, reach_the_disk, temporary_beside
from prasanga.base.progress import progress
from prasanga.base.seeds import generator, seed_of
from prasanga.models.batches import pad
from prasanga.models.hub import TRAINING, sha256_of
from prasanga.models.options import KINDS
from prasanga.models.shape import quiet
from prasanga.models.tiny import (
    BEGIN,
    BYTE_PAD,
    CLS,
    END,
    MASK,
    POSITIONS,
    SENTINELS,
    SEP,
    SPECIAL_TOKENS,
    build_model,
    learn_tokenizer,
    piece_id,
    with_names,
)

# --------------------
# What each kind of tiny model learns: hidden pieces, the next piece, or hidden words.


# --------------------
# What a masked language model is trained on: windows of a stream of pieces, some of them hidden.
#
# The shares are BERT's (Devlin et al. 2019, section 3.1): of the chosen pieces 80 % are masked, 10 % replaced by a
# random piece, and 10 % left as they are.


IGNORED = -100
_SHARE = 0.15


def stream_of(tokenizer: Tokenizer, texts: Sequence[str]) -> NDArray[np.int64]:
    """Return all pieces in a row, each text closed by the separator."""
    separator = piece_id(tokenizer, SEP)
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return np.concatenate([np.array([*encoding.ids, separator], dtype=np.int64) for encoding in encodings])


def windows(
    rng: np.random.Generator, stream: NDArray[np.int64], tokenizer: Tokenizer, *, rows: int, length: int
) -> NDArray[np.int64]:
    """Return (rows, length) windows at random places of the stream, which is taken as a ring, in [CLS] ... [SEP]."""
    starts = rng.integers(0, len(stream), size=rows)
    pieces = np.empty((rows, length), dtype=np.int64)
    pieces[:, 0] = piece_id(tokenizer, CLS)
    pieces[:, 1:-1] = stream[(starts[:, None] + np.arange(length - 2)) % len(stream)]
    pieces[:, -1] = piece_id(tokenizer, SEP)
    return pieces


def mask_pieces(
    rng: np.random.Generator, pieces: NDArray[np.int64], tokenizer: Tokenizer
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose 15 % of the pieces that are not special, at least one; hide them; return inputs and labels.

    Both have the shape of `pieces`; labels are -100 where nothing is to be predicted.
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
# What models that write are trained on: texts from their beginning, and windows in which whole words are hidden.
#
# Hidden words are T5's (Raffel et al. 2020, section 3.1.4): a sentinel stands for each run of them, and what is to
# be written is each sentinel with the words that it stands for. T5 hides runs of pieces; here words are never cut,
# since whole words are what a model is asked for later.


_SHARE_OF_WORDS = 0.25  # T5 hides 15 %; the hundreds of steps here learn more from more
_FROM_THE_BEGINNING = 0.5
"""Share of the windows that begin where a text does; the others reach what long texts have further on."""


class Stream(NamedTuple):
    """All pieces of the texts in a row, taken as a ring.

    Attributes:
        pieces: their ids; each text begins with `BEGIN`, where the tokenizer has it, and ends with `END`.
        starts: whether a word begins with the piece; so do `BEGIN` and `END`.
        texts: where each text begins.
    """

    pieces: NDArray[np.int64]
    starts: NDArray[np.bool_]
    texts: NDArray[np.int64]


def read_stream(tokenizer: Tokenizer, texts: Sequence[str]) -> Stream:
    """Return the stream of `texts`."""
    before = [] if tokenizer.token_to_id(BEGIN) is None else [piece_id(tokenizer, BEGIN)]
    after = [piece_id(tokenizer, END)]
    pieces, starts, lengths = [], [], []
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False):
        pieces.append(np.array([*before, *encoding.ids, *after], dtype=np.int64))
        words = np.array([*(-1 for _ in before), *encoding.word_ids, -2], dtype=np.int64)
        starts.append(np.diff(words, prepend=-3) != 0)
        lengths.append(len(words))
    begins = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
    return Stream(np.concatenate(pieces), np.concatenate(starts), begins)


def places_of(rng: np.random.Generator, stream: Stream, *, rows: int, length: int) -> NDArray[np.int64]:
    """Return (rows, length) places in the stream: windows, half of which begin where a text does."""
    anywhere = rng.integers(0, len(stream.pieces), size=rows)
    at_a_text = stream.texts[rng.integers(0, len(stream.texts), size=rows)]
    first = np.where(rng.random(rows) < _FROM_THE_BEGINNING, at_a_text, anywhere)
    return (first[:, None] + np.arange(length)) % len(stream.pieces)


class Gapped(NamedTuple):
    """A window without its hidden words, and what is to be written for it."""

    read: list[int]
    written: list[int]


def hide_words(
    rng: np.random.Generator, pieces: NDArray[np.int64], starts: NDArray[np.bool_], tokenizer: Tokenizer
) -> Gapped:
    """Hide a quarter of the words of a window, at least one and no more runs of them than there are sentinels for.

    Args:
        rng: chooses the words.
        pieces: (length,) ids, at least one of them not special.
        starts: (length,) whether a word begins; the first piece counts as one in any case.
        tokenizer: has sentinels, and special pieces with the first ids.

    Returns:
        What is read, closed by `END`; what is written: each sentinel with its words, and the next sentinel and `END`.
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
# What each kind of model learns: to say hidden pieces, the next piece, or hidden words.
#
# Each objective gives the loss of one step. It is trained on every piece that is to be predicted, and reported over
# the ordinary ones: special pieces, such as T5's sentinels, are easy to predict, and a model would look better than
# it is.


class Step(NamedTuple):
    """A step of a training.

    Attributes:
        rng: draws the windows and what is hidden in them.
        number: how many steps came before.
        rows: windows in the step.
        length: pieces in each.
    """

    rng: np.random.Generator
    number: int
    rows: int
    length: int


class Objective(Protocol):
    """What a model is trained to do.

    Attributes:
        pieces: ids of all pieces of the texts in a row, special ones between texts included.
        specials: how many ids, the first ones, are those of special pieces.
    """

    pieces: NDArray[np.int64]
    specials: int

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""

    def loss(self, model: Any, step: Step) -> tuple[torch.Tensor, float | None]:
        """Return the loss of a step, and that over its ordinary pieces, if the step reports one.

        Args:
            model: from `build_model`.
            step: what it is made of.
        """


class HiddenPieces:
    """BERT's (Devlin et al. 2019, section 3.1): 15 % of the pieces are chosen and most of them masked."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""
        self._tokenizer = tokenizer
        self.pieces, self.specials = stream_of(tokenizer, texts), len(SPECIAL_TOKENS)

    def loss(self, model: Any, step: Step) -> tuple[torch.Tensor, float | None]:
        """Return what `Objective.loss` describes."""
        pieces = windows(step.rng, self.pieces, self._tokenizer, rows=step.rows, length=step.length)
        inputs, labels = mask_pieces(step.rng, pieces, self._tokenizer)
        positions = _positions(step, step.length)
        chosen = torch.from_numpy(labels != IGNORED)
        states = model.bert(input_ids=torch.from_numpy(inputs), position_ids=positions).last_hidden_state
        logits = model.cls(states[chosen])  # the vocabulary head runs at the chosen pieces only
        loss = cross_entropy(logits, torch.from_numpy(labels)[chosen])
        return loss, loss.item()


class NextPiece:
    """GPT's (Radford et al. 2018, section 3.1): every piece from those before it."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""
        self._stream = read_stream(tokenizer, texts)
        self.pieces, self.specials = self._stream.pieces, piece_id(tokenizer, END) + 1

    def loss(self, model: Any, step: Step) -> tuple[torch.Tensor, float | None]:
        """Return what `Objective.loss` describes."""
        places = places_of(step.rng, self._stream, rows=step.rows, length=step.length)
        pieces, positions = torch.from_numpy(self.pieces[places]), _positions(step, step.length - 1)
        logits = model(input_ids=pieces[:, :-1], position_ids=positions, use_cache=False).logits
        return _losses(logits.flatten(0, 1), pieces[:, 1:].flatten(), self.specials)


class HiddenWords:
    """T5's (Raffel et al. 2020, section 3.1.4), of whole words; in every second step, a text from nothing.

    T5 learns to fill gaps alone. Its decoder then learns little in a few hundred steps, and nothing of how a text
    begins, which is what the score `causal` asks for.
    """

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""
        self._tokenizer, self._stream = tokenizer, read_stream(tokenizer, texts)
        self.pieces, self.specials = self._stream.pieces, piece_id(tokenizer, SENTINELS[-1]) + 1

    def loss(self, model: Any, step: Step) -> tuple[torch.Tensor, float | None]:
        """Return what `Objective.loss` describes; what is reported is how well words are filled in."""
        padding, end = piece_id(self._tokenizer, BYTE_PAD), piece_id(self._tokenizer, END)
        places = places_of(step.rng, self._stream, rows=step.rows, length=step.length - 1)
        pieces, starts = self.pieces[places], self._stream.starts[places]
        if step.number % 2:
            made = [Gapped([end], window.tolist()) for window in pieces]
        else:
            made = [hide_words(step.rng, *window, self._tokenizer) for window in zip(pieces, starts, strict=True)]
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
        loss, reported = _losses(logits[chosen], torch.from_numpy(written)[chosen], self.specials)
        return loss, None if step.number % 2 else reported


OBJECTIVES: dict[str, type[Objective]] = {
    "encoder": HiddenPieces,
    "decoder": NextPiece,
    "encoder-decoder": HiddenWords,
}


def entropy_of(objective: Objective) -> float:
    """Return the entropy (natural log) of the frequencies of ordinary pieces.

    This is what is lost without a look at the context.
    """
    counts = np.bincount(objective.pieces)[objective.specials :]
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _positions(step: Step, length: int) -> torch.Tensor:
    """Return positions that begin later in half of the steps, so that every position up to the last one is trained."""
    first = int(step.rng.integers(0, POSITIONS - length + 1)) if step.number % 2 else 0
    return torch.arange(first, first + length)[None]


def _losses(logits: torch.Tensor, labels: torch.Tensor, specials: int) -> tuple[torch.Tensor, float]:
    """Return the mean cross-entropy over all labels, and over those of ordinary pieces."""
    each = cross_entropy(logits, labels, reduction="none")
    return each.mean(), each.detach()[labels >= specials].mean().item()


# --------------------


_LOG = logging.getLogger(__name__)
_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", TRAINING)


@dataclass(frozen=True)
class TrainingReport:
    """What a training did.

    Attributes:
        kind: what was trained: `encoder`, `decoder`, `encoder-decoder`.
        seed: the seed given.
        settings: the other arguments given.
        n_texts: texts read.
        n_pieces: pieces of the tokenized texts, special ones between texts included.
        entropy: of the frequencies of the ordinary pieces (natural log): the loss of a model that knows these alone.
        losses: mean cross-entropy (natural log, per ordinary piece that was predicted) over each twentieth of the
            steps, in order; of an encoder-decoder over the steps that hide words.
        versions: versions of Python and of the libraries that shape the weights.
    """

    kind: str
    seed: int
    settings: dict[str, int | float]
    n_texts: int
    n_pieces: int
    entropy: float
    losses: tuple[float, ...]
    versions: dict[str, str]


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
        InputError: no such kind, texts without words, settings that do not fit together, a folder with foreign files in
            it, no room or no permission to write.
    """
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}; write {', '.join(KINDS)}.")
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
    _check(settings)
    folder = Path(folder)
    _refuse_foreign_files(folder, _FILES)
    kept = [text for text in texts if text.strip()]
    if not kept:
        raise InputError("no text to train on: all texts are empty. Name corpus files that have text in them.")
    tokenizer = learn_tokenizer(kind, kept, vocabulary_size)
    objective = OBJECTIVES[kind](tokenizer, kept)
    with _deterministic(seed_of(seed, "models", "weights")):
        model = build_model(kind, tokenizer, settings)
        losses = _train(folder.name, model, objective, settings, seed)
    report = TrainingReport(
        kind=kind,
        seed=seed,
        settings=settings,
        n_texts=len(kept),
        n_pieces=len(objective.pieces),
        entropy=round(entropy_of(objective), 4),
        losses=tuple(round(float(np.mean(part)), 4) for part in np.array_split(losses, min(20, len(losses)))),
        versions={
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
        },
    )
    write_model(folder, model.eval(), with_names(kind, tokenizer), TRAINING, asdict(report))
    return report


def _check(settings: dict[str, int | float]) -> None:
    for key, value in settings.items():
        if value <= 0:
            raise InputError(f"train: {key} is {value}; write a number above 0.")
    if settings["hidden_size"] % settings["heads"]:
        raise InputError(
            f"train: hidden_size is {settings['hidden_size']}, which {settings['heads']} heads do not divide. Write a"
            f" hidden_size that is a multiple of heads, for example {32 * int(settings['heads'])}."
        )
    if not 16 <= settings["sequence_length"] <= POSITIONS:
        raise InputError(f"train: sequence_length is {settings['sequence_length']}; write one from 16 to {POSITIONS}.")


def _refuse_foreign_files(folder: Path, ours: Collection[str]) -> None:
    """Refuse a folder with anything but files of ours, as it is replaced as a whole in the end."""
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in ours) if folder.is_dir() else []
    if foreign:
        raise InputError(
            f"{folder}: holds {foreign[0]!r}, which is no file of this model, and the whole folder would be replaced."
            " Name an absent or empty folder."
        )


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


def _train(name: str, model: Any, objective: Objective, settings: dict[str, int | float], seed: int) -> list[float]:
    """Train the model, whose name is for the log; the loss of each step that reports one."""
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
            loss, reported = objective.loss(model, Step(rng, step, int(settings["batch_size"]) * shrink, length))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses += [] if reported is None else [reported]
    if losses:
        _LOG.info("training %s: loss %.3f after %d steps", name, float(np.mean(losses[-100:])), steps)
    return losses


def write_model(folder: Path, model: Any, tokenizer: Any, name: str, about: Mapping[str, Any]) -> None:
    """Write a model as a transformers folder, whole or not at all.

    Args:
        folder: absent, empty, or one that this function wrote before.
        model: of transformers.
        tokenizer: of transformers.
        name: of a file that says where the model comes from, one of `prasanga.models.hub.ORIGINS`.
        about: what it says; the sha256 of the other files is added.

    Raises:
        InputError: foreign files in the folder, no room or no permission to write.
    """
    fresh, stale = temporary_beside(folder), temporary_beside(folder)
    with explaining_full_disk(folder.parent), _explaining_rust():
        try:
            fresh.mkdir()  # transformers would only log that it cannot
            with quiet():
                model.save_pretrained(fresh)
            (fresh / "generation_config.json").unlink(missing_ok=True)  # all of it stands in config.json
            tokenizer.save_pretrained(fresh)
            written = {path.name: sha256_of(path) for path in sorted(fresh.iterdir())}
            write_document(fresh / name, {**about, "sha256": written})
            for path in fresh.iterdir():
                path.chmod((fresh / "config.json").stat().st_mode)  # of safetensors: its owner's alone
                reach_the_disk(path)
            if folder.exists():
                _refuse_foreign_files(folder, [path.name for path in fresh.iterdir()])
                folder.rename(stale)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.rmtree(stale, ignore_errors=True)


@contextmanager
def _explaining_rust() -> Iterator[None]:
    """Raise Python's error where the writers of weights and tokenizers report a full disk in errors of their own."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        number = re.search(r"(?:os error|code:) (\d+)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), str(error)) from error
