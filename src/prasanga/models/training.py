"""Trains a tiny masked language model on plain text, in about a minute on one core, the same bits every time.

It exists so that the demo and the tests have a real transformer without a download. What it learns says nothing about
a language. The objective is BERT's (Devlin et al. 2019, section 3.1): 15 % of the pieces are chosen; of these 80 % are
masked, 10 % replaced by a random piece, 10 % left as they are.
"""

from __future__ import annotations

import json
import logging
import platform
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from prasanga.errors import InputError
from prasanga.models.masking import IGNORED, mask_pieces, stream_of, windows
from prasanga.models.quiet import quiet
from prasanga.models.tokenizer import CLS, MASK, PAD, SEP, UNKNOWN, piece_id, train_tokenizer
from prasanga.seeds import generator, seed_of

_LOG = logging.getLogger(__name__)
_POSITIONS = 512
_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "training.json")


@dataclass(frozen=True)
class TrainingReport:
    """What a training did.

    Attributes:
        seed: the seed given.
        settings: the other arguments given.
        n_texts: texts read.
        n_pieces: pieces of the tokenized texts, one separator per text included.
        losses: mean cross-entropy (natural log, per chosen piece) over each twentieth of the steps, in order.
        versions: versions of Python and of the libraries that shape the weights.
    """

    seed: int
    settings: dict[str, int | float]
    n_texts: int
    n_pieces: int
    losses: tuple[float, ...]
    versions: dict[str, str]


def train_masked_model(
    texts: Sequence[str],
    folder: str | Path,
    *,
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
        seed: seed of the weights, the masks and the order of the text.
        hidden_size: width of the hidden states, a multiple of `heads`.
        layers: transformer blocks.
        heads: attention heads per block.
        vocabulary_size: most pieces in the vocabulary.
        steps: optimizer steps; each sees about `batch_size * sequence_length` pieces.
        batch_size: sequences of full length per step.
        sequence_length: pieces of the longest training sequences, special ones included; at most 512. Every third step
            uses halves, every third quarters, since the segments to be embedded are short and long.
        learning_rate: peak rate of AdamW, after a warm-up over a tenth of the steps and before a linear decay.

    Raises:
        InputError: texts without words, settings that do not fit together, a folder with foreign files in it.
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
    _check(settings)
    folder = Path(folder)
    _refuse_foreign_files(folder)
    kept = [text for text in texts if text.strip()]
    if not kept:
        raise InputError("no text to train on: all texts are empty. Name corpus files that have text in them.")
    tokenizer = train_tokenizer(kept, vocabulary_size)
    stream = stream_of(tokenizer, kept)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden_size,
        max_position_embeddings=_POSITIONS,
        hidden_dropout_prob=0.0,  # a few hundred steps on a small text underfit; dropout would only slow them
        attention_probs_dropout_prob=0.0,
        # BERT's 0.02 suits a width of 768; at this width everything would look alike for hundreds of steps.
        initializer_range=hidden_size**-0.5,
        pad_token_id=piece_id(tokenizer, PAD),
    )
    with _deterministic(seed_of(seed, "models", "weights")):
        model: Any = BertForMaskedLM(config)
        table = model.bert.embeddings.position_embeddings.weight
        table.data.copy_(_sinusoids(_POSITIONS, hidden_size) * config.initializer_range / 2)
        losses = _train(model, stream, tokenizer, settings, seed)
    every = max(1, len(losses) // 20)
    report = TrainingReport(
        seed=seed,
        settings=settings,
        n_texts=len(kept),
        n_pieces=len(stream),
        losses=tuple(round(float(np.mean(losses[i : i + every])), 4) for i in range(0, len(losses), every)),
        versions={
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
        },
    )
    _write(folder, model.eval(), tokenizer, report)
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
    if not 16 <= settings["sequence_length"] <= _POSITIONS:
        raise InputError(f"train: sequence_length is {settings['sequence_length']}; write one from 16 to {_POSITIONS}.")


def _refuse_foreign_files(folder: Path) -> None:
    """The folder is replaced as a whole in the end: it must hold nothing that a training did not write."""
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in _FILES) if folder.is_dir() else []
    if foreign:
        raise InputError(
            f"{folder}: holds {foreign[0]!r}, which no training writes, and the whole folder would be replaced."
            " Name an absent or empty folder."
        )


@contextmanager
def _deterministic(seed: int) -> Iterator[None]:
    """One thread, deterministic kernels and a seeded generator inside the block; as before after it."""
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


def _sinusoids(positions: int, width: int) -> torch.Tensor:
    """(positions, width) sines and cosines (Vaswani et al. 2017, section 3.5): a start that knows what is near what."""
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(positions)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(positions, -1)[:, :width]


def _train(
    model: Any,
    stream: NDArray[np.int64],
    tokenizer: Tokenizer,
    settings: dict[str, int | float],
    seed: int,
) -> list[float]:
    rng = generator(seed, "models", "batches")
    steps = int(settings["steps"])
    warmup = max(1, steps // 10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=float(settings["learning_rate"]), betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, (steps - step) / max(1, steps - warmup))
    )
    model.train()
    losses = []
    for step in range(steps):
        shrink = 2 ** (step % 3)
        length = max(8, int(settings["sequence_length"]) // shrink)
        pieces = windows(rng, stream, tokenizer, rows=int(settings["batch_size"]) * shrink, length=length)
        inputs, labels = mask_pieces(rng, pieces, tokenizer)
        # Half of the steps begin at a later position, so that every position up to the last one has been trained.
        first = int(rng.integers(0, _POSITIONS - length + 1)) if step % 2 else 0
        chosen = torch.from_numpy(labels != IGNORED)
        states = model.bert(
            input_ids=torch.from_numpy(inputs), position_ids=torch.arange(first, first + length)[None]
        ).last_hidden_state
        logits = model.cls(states[chosen])  # the vocabulary head runs at the chosen pieces only
        loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels)[chosen])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % 100 == 0:
            _LOG.info("step %d of %d, loss %.3f", step + 1, steps, float(np.mean(losses[-100:])))
    return losses


def _write(folder: Path, model: Any, tokenizer: Tokenizer, report: TrainingReport) -> None:
    """Write everything to a folder of a temporary name beside `folder`, then let it take the place of `folder`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    mark = uuid.uuid4().hex[:8]
    fresh, stale = (folder.with_name(f".{folder.name}.{mark}.{kind}") for kind in ("new", "old"))
    try:
        with quiet():
            model.save_pretrained(fresh)
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            model_max_length=_POSITIONS,
            pad_token=PAD,
            unk_token=UNKNOWN,
            cls_token=CLS,
            sep_token=SEP,
            mask_token=MASK,
        ).save_pretrained(fresh)
        text = json.dumps(asdict(report), indent=2, sort_keys=True, ensure_ascii=False)
        (fresh / "training.json").write_text(text + "\n", encoding="utf-8")
        for path in fresh.iterdir():
            path.chmod((fresh / "config.json").stat().st_mode)  # safetensors files come readable by their owner only
        if folder.exists():
            folder.rename(stale)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(stale, ignore_errors=True)
