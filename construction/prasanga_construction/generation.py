"""Text written by a local model: a decoder continues a prompt, an encoder-decoder answers a text.

Only construction generates text; scoring never does. A model is found, checked and placed as everywhere else
(`prasanga.models`), and loaded with the head that gives probabilities of the next piece.

A draw from probabilities p is the largest of log p + g with g from Gumbel's distribution (Gumbel 1954). Every text has
its own stream of g, so the answer depends neither on the batch nor on the device.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, TopPLogitsWarper

from prasanga.base.errors import InputError
from prasanga.base.logs import progress
from prasanga.base.seeds import generator
from prasanga.models.devices import Halving, no_memory_for, plan_batches, quiet
from prasanga.models.loading import load_config, load_part, max_pieces, model_kind
from prasanga.models.packaged import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import read_pieces

# Pieces of a batch, those to be written included; halved where memory runs out. More than where all pieces pass at
# once: here they pass one at a time, and a row more costs next to nothing.
_BATCH = {"cpu": 16_384, "cuda": 65_536}
_NUCLEUS = 0.95
# Of what a model's files say about generation, only which pieces mean what; how to draw is said by the caller.
_IDS = (
    *("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id"),
    *("bad_words_ids", "suppress_tokens"),
)


def load_writer(
    model: str | Path,
    *,
    kind: str = "auto",
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    options: ModelOptions = NO_OPTIONS,
) -> Writer:
    """Load a decoder or an encoder-decoder with its vocabulary head.

    Args:
        model: a folder, or the id of a model of the hub (`owner/name`).
        kind: `auto`, or the kind that it must be of.
        revision: branch, tag or commit of the hub; not for folders.
        device: as in `prasanga.models.claim_devices`.
        dtype: as in `prasanga.models.resolve_dtype`.
        options: see `ModelOptions`; random weights are not for writing.

    Raises:
        InputError: as `prasanga.models.load_model`; an encoder, which writes no text; another kind than asked for.
    """
    config = load_config(model, revision=revision, options=options)
    found = model_kind(config)
    if found == "encoder" or kind not in ("auto", found):
        wanted = "a decoder or an encoder-decoder" if kind == "auto" else f"a model of kind {kind}"
        raise InputError(
            f"model {model}: it is of kind {found} ({config.model_type}), but {wanted} is needed to write text. Name"
            " another model, under `construction.proposer` or `construction.translators`."
        )
    loaded = load_part(model, head=True, revision=revision, device=device, dtype=dtype, options=options)
    module = loaded.encoder
    module.generation_config = _ids_of(module, loaded.tokenizer)
    longest = max_pieces(loaded.tokenizer, loaded.config.get_text_config(), module)
    return Writer(loaded.name, found, loaded.tokenizer, module, loaded.device, loaded.dtype, longest)


def writer_of(settings: Mapping[str, Any], *, cards: int, kind: str = "auto") -> Writer:
    """Load the model that the settings of a rule name, spread over so many cards; as `load_writer`."""
    which = {key: settings[key] for key in ("revision", "dtype")}
    return load_writer(settings["model"], kind=kind, **which, options=ModelOptions(**settings["options"], cards=cards))


@dataclass(frozen=True)
class Writer:
    """A model that writes text.

    Attributes:
        name: what the user wrote.
        kind: `decoder` or `encoder-decoder`.
        tokenizer: its fast tokenizer.
        model: with its vocabulary head, in evaluation mode.
        device: where it reads its input.
        dtype: float32, bfloat16 or float16.
        max_pieces: most pieces that it reads at once (a decoder: prompt and answer together); None for no limit.
    """

    name: str
    kind: str
    tokenizer: Any
    model: Any
    device: torch.device
    dtype: str
    max_pieces: int | None

    @property
    def is_chat(self) -> bool:
        """Tell whether it was trained on conversations, so that a prompt is put as a question to it."""
        return self.kind == "decoder" and bool(getattr(self.tokenizer, "chat_template", None))

    def generate(
        self,
        texts: Sequence[str],
        *,
        max_new_tokens: int,
        seed: int,
        beams: int = 0,
        reads: str | None = None,
        writes: str | None = None,
    ) -> list[str]:
        """Write an answer to each text, without the text itself and without special pieces.

        Pieces are drawn from the likeliest ones that together have 95% of the probability. Each answer has its own seed
        from `seed` and the text: another batch, order or device gives the same, except for rounding.

        Args:
            texts: prompts of a decoder (put as a question to a model with a chat template), sources of an
                encoder-decoder.
            max_new_tokens: most pieces of an answer.
            seed: of the draws.
            beams: 0 to draw; else the best answer of a beam search this wide, without any draw.
            reads: the piece of the source's language (NLLB: `eng_Latn`, mBART: `en_XX`), for tokenizers that can be
                told one (`src_lang`); others read the text as they do.
            writes: the piece that an answer begins with, the target's language (`hin_Deva`, `hi_IN`).

        Raises:
            InputError: a text and its answer do not fit into the model; no memory for a single text.
        """
        rows = self._read(texts, reads)
        answer = max_new_tokens if self.kind == "decoder" else 0
        for text, row in zip(texts, rows, strict=True):
            if self.max_pieces is not None and len(row) + answer > self.max_pieces:
                raise InputError(
                    f"model {self.name}: it reads {self.max_pieces} pieces at most, but the text that begins"
                    f" {text[:60]!r} has {len(row)}, and the answer may have {answer} more. Shorten it, or use a model"
                    " that reads more."
                )
        settings = copy.deepcopy(self.model.generation_config)
        settings.update(max_new_tokens=max_new_tokens, do_sample=False, num_beams=max(beams, 1))
        if writes is not None:
            settings.forced_bos_token_id = self.tokenizer.convert_tokens_to_ids(writes)
        places = sorted(range(len(texts)), key=lambda place: len(rows[place]))  # rows of a batch are of similar length
        lengths = [(len(rows[place]) + max_new_tokens) * max(beams, 1) for place in places]

        answers = [""] * len(texts)
        halving = Halving(partial(no_memory_for, self.name, self.device))

        def write(batch: slice) -> None:
            mine = places[batch]
            streams = [generator(seed, "construction", "generate", texts[place], 0) for place in mine]
            written = self._forward([rows[place] for place in mine], settings, [] if beams else [SeededDraw(streams)])
            for place, answer in zip(mine, written, strict=True):
                answers[place] = answer
            done.advance(len(mine))

        with progress(f"{self.name} writes", len(texts), "answers") as done:
            for batch in plan_batches(lengths, _BATCH[self.device.type]):
                halving.run(batch, lambda part: (part.stop - part.start) * len(rows[places[part.stop - 1]]), write)
        return answers

    def room(self, texts: Sequence[str]) -> int | None:
        """Return most pieces that the answer to the longest of `texts` can have; None if nothing limits it."""
        if self.max_pieces is None or self.kind != "decoder":
            return self.max_pieces
        return self.max_pieces - max(map(len, self._read(texts, None)), default=0)

    def _read(self, texts: Sequence[str], reads: str | None) -> list[list[int]]:
        """Return the pieces of each text as the model is given them."""
        tokenizer = self.tokenizer
        if reads is not None and hasattr(tokenizer, "src_lang"):
            tokenizer.src_lang = reads
        if self.is_chat:
            talks = [[{"role": "user", "content": text}] for text in texts]
            asked = [tokenizer.apply_chat_template(talk, add_generation_prompt=True, tokenize=False) for talk in talks]
            return [tokenizer(text, add_special_tokens=False)["input_ids"] for text in asked]
        pieces = read_pieces(tokenizer, texts)
        rows = [list(pieces[text].ids) for text in texts]
        if self.kind == "decoder":  # an end after the prompt would end the answer before it begins
            end = tokenizer.eos_token_id
            rows = [row[:-1] if len(row) > 1 and row[-1] == end else row for row in rows]
        return rows

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]], settings: GenerationConfig, draws: list[SeededDraw]) -> list[str]:
        # A decoder's prompts end together, because the answer follows the last piece.
        before = self.kind == "decoder"
        pad = partial(pad_sequence, batch_first=True, padding_side="left" if before else "right")
        pieces = [torch.tensor(row, device=self.device) for row in rows]
        ids = pad(pieces, padding_value=int(settings.pad_token_id))
        with quiet():
            written = self.model.generate(
                input_ids=ids,
                attention_mask=pad([torch.ones_like(each) for each in pieces], padding_value=0),
                generation_config=settings,
                logits_processor=LogitsProcessorList(draws),
            )
        answers = written[:, ids.shape[1] :] if before else written
        return [text.strip() for text in self.tokenizer.batch_decode(answers, skip_special_tokens=True)]


class SeededDraw(LogitsProcessor):  # type: ignore[misc]
    """Make the largest score of each row a random draw: the nucleus, then noise."""

    def __init__(self, streams: Sequence[np.random.Generator], nucleus: float = _NUCLEUS) -> None:
        """Take one of `streams` for each row, and the probability that the likeliest pieces have together."""
        self._streams, self._nucleus = streams, TopPLogitsWarper(nucleus)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Add noise to scores (rows, vocabulary); those outside the nucleus stay minus infinity."""
        scores = self._nucleus(input_ids, scores.float())
        # In half precision an exponential number is 0 once in a few million, and a piece of a large vocabulary with
        # that number would win over the likeliest one.
        waits = np.stack([stream.standard_exponential(scores.shape[-1]) for stream in self._streams])
        noise = -np.log(np.maximum(waits, np.finfo(np.float64).tiny)).astype(np.float32)
        return scores + torch.from_numpy(noise).to(scores.device)


def _ids_of(model: Any, tokenizer: Any) -> GenerationConfig:
    """Return the pieces for the beginning, the end and the padding of a row."""
    own = model.generation_config
    settings = GenerationConfig(**{key: value for key in _IDS if (value := getattr(own, key, None)) is not None})
    if settings.eos_token_id is None:
        settings.eos_token_id = tokenizer.eos_token_id
    ends = settings.eos_token_id
    end = ends[0] if isinstance(ends, list) else ends
    # any piece can pad a row, because it is masked
    known = (settings.pad_token_id, tokenizer.pad_token_id, end)
    settings.pad_token_id = next((int(one) for one in known if one is not None), 0)
    if model.config.is_encoder_decoder and settings.decoder_start_token_id is None:
        start = getattr(model.config, "decoder_start_token_id", None)
        settings.decoder_start_token_id = start if start is not None else end
    return settings
