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
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers

from prasanga.base.documents import write_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk, reach_the_disk, temporary_beside
from prasanga.base.progress import progress
from prasanga.base.seeds import generator, seed_of
from prasanga.models.identity import TRAINING, sha256_of
from prasanga.models.objectives import OBJECTIVES, Objective, entropy_of
from prasanga.models.options import KINDS
from prasanga.models.shape import quiet
from prasanga.models.tiny import POSITIONS, build_model, learn_tokenizer, with_names

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
            rows = int(settings["batch_size"]) * shrink
            loss, reported = objective.loss(model, rng, rows=rows, length=length, step=step)
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
        name: of a file that says where the model comes from, one of `prasanga.models.identity.ORIGINS`.
        about: what it says; the sha256 of the other files is added.

    Raises:
        InputError: foreign files in the folder, no room or no permission to write.
    """
    with explaining_full_disk(folder.parent), _explaining_rust():
        _write_beside(folder, model, tokenizer, name, about)


def _write_beside(folder: Path, model: Any, tokenizer: Any, name: str, about: Mapping[str, Any]) -> None:
    """Write everything to a folder of a temporary name beside `folder`, then let it take the place of `folder`."""
    fresh, stale = temporary_beside(folder), temporary_beside(folder)
    try:
        fresh.mkdir()  # transformers would only log that it cannot
        with quiet():
            model.save_pretrained(fresh)
        (fresh / "generation_config.json").unlink(missing_ok=True)  # all of it stands in config.json
        tokenizer.save_pretrained(fresh)
        written = {path.name: sha256_of(path) for path in sorted(fresh.iterdir())}
        write_document(fresh / name, {**about, "sha256": written})
        for path in fresh.iterdir():
            path.chmod((fresh / "config.json").stat().st_mode)  # safetensors files come readable by their owner only
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
