"""Settle everything that vectors depend on: a study's settings, stores, precision and encoder."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import Store, digest_of, read_document, read_frame, temporary_beside, write_document
from prasanga.embeddings.pooling import Pooling, Unknown, root_end
from prasanga.embeddings.shards import StoredDtype, rounded
from prasanga.models.hub import require_unchanged
from prasanga.models.packaged import ModelOptions, depth_of

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

_BY_KIND = {"encoder": "cls", "encoder-decoder": "mean", "decoder": "last"}
"""The vector of a sentence by kind of model: an encoder's first position represents the whole text; only a decoder's
last position has read all of it; an encoder-decoder has neither, so its encoder's states are averaged."""
COLUMNS = ("segment_id", "n_pieces", "n_unknown", "cut", "embedding")
"""A store's columns for a segment (a digest of text and span): see `prasanga.embeddings.pooling.Inputs`."""
VECTORS_VERSION = 1
"""Raise this number when a change gives a text another vector: all vectors are then computed again."""
_READS_NOTHING = "a decoder's first position has read nothing after it, and is the same for every sentence"
_NO_PLACE = "its tokenizer does not put a special piece such as [CLS] before a text, so it is a piece of one word"
Decision = TypeVar("Decision", bound=int | str)


@dataclass(frozen=True)
class VectorSettings:
    """A config's settings for the vectors of one model at one layer.

    Attributes:
        model: folder or hub id.
        revision: on the hub.
        layer: the layer of these vectors.
        layers: all layers that the study measures in this model, from one forward pass.
        dtype: precision of the model.
        stored_dtype: precision of the stored vectors.
        pieces: which pieces make a vector (`prasanga.embeddings.pooling.Pooling`).
        unknown: whether targets with unknown pieces are left out.
        options: of the tokenizer, the weights and the GPUs; random weights for a twin.
        twins: the seeds of the twins' weights, if these settings are for all twins of a model (`each_twin`).
        contexts_per_twin: the most contexts per word and length that a twin reads; None for all.
        sentence_vector: None for target words in segments; for templates `auto` (until `settle_sentence_vector`),
            `cls`, `mean`, `last`, or `word` (as `pieces` says) or `position` for a vector of the word in its sentence.
    """

    model: str
    revision: str | None
    layer: int
    layers: tuple[int, ...]
    dtype: str
    stored_dtype: StoredDtype
    pieces: str
    unknown: Unknown
    options: ModelOptions
    sentence_vector: str | None = None
    twins: tuple[int, ...] = ()
    contexts_per_twin: int | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any], **options: Any) -> VectorSettings:
        """Make settings from a job's parameters, whose `options` are a mapping; `options` adds further ones."""
        plain = {key: value for key, value in settings.items() if key not in ("options", "layers", "twins")}
        return cls(
            **plain,
            layers=tuple(settings["layers"]),
            options=ModelOptions(**{**settings["options"], **options}),
            twins=tuple(settings.get("twins", ())),
        )

    def each_twin(self) -> list[VectorSettings]:
        """Return the settings of each twin; for a model, its own."""
        options = [replace(self.options, random_weights=seed) for seed in self.twins] or [self.options]
        return [replace(self, twins=(), contexts_per_twin=None, options=each) for each in options]

    def as_plain(self) -> dict[str, Any]:
        """Return plain values for the metadata of vectors, only those that change the vectors."""
        plain = asdict(self)
        del plain["layers"], plain["options"]["cards"], plain["options"]["kind"]
        own = ["sentence_vector", "twins", "contexts_per_twin"]
        for values, names in ((plain["options"], ["random_weights"]), (plain, own)):
            for name in names:
                if values[name] in (None, ()):
                    del values[name]
        return {**plain, "pooling": str(self.pooling)}

    @property
    def pooling(self) -> Pooling:
        """How the vectors are made.

        Raises:
            InputError: `sentence_vector` is unknown, or `auto` and not settled yet.
        """
        if self.sentence_vector in (None, "word"):
            return Pooling("target", self.pieces)
        if self.sentence_vector == "position":
            return Pooling("target", "position")
        return Pooling("sentence", str(self.sentence_vector))

    @property
    def pass_layers(self) -> list[int]:
        """This layer, then the others of the same pass."""
        return [self.layer, *(layer for layer in self.layers if layer != self.layer)]


def settle_dtype(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> VectorSettings:
    """Settle a model's precision: the precision of its stored vectors, or one that suits config and device.

    Args:
        settings: of a study.
        report: from `prasanga.models.check_model`.
        root: folder of all stores.
    """
    if settings.dtype == "float32":
        return settings

    def suits_the_device() -> str:
        from prasanga.models.devices import dtype_of_study

        return dtype_of_study(settings.dtype, settings.options.device)

    asked = {} if settings.dtype == "auto" else {"dtype": settings.dtype}
    path = Path(root, "precision", f"{digest_of({**report['identity'], **asked})}.json")
    return replace(settings, dtype=decide_once(path, suits_the_device))


def settle_sentence_vector(settings: VectorSettings, report: Mapping[str, Any]) -> VectorSettings:
    """Settle a sentence vector that is `auto`, and refuse one that the model lacks.

    Args:
        settings: of a study; returned unchanged if they are for target words in segments.
        report: from `prasanga.models.check_model`.

    Raises:
        InputError: `cls`, and the model's first position does not represent the sentence.
    """
    if settings.sentence_vector is None:
        return settings
    pooling = settings.sentence_vector
    if pooling == "auto":  # a sentence-embedding model names its own
        pooling = report.get("sentence_vector") or _BY_KIND[report["kind"]]
    if pooling == "cls" and (report["kind"] == "decoder" or not report["begins_with_special"]):
        why, other = (_READS_NOTHING, "last") if report["kind"] == "decoder" else (_NO_PLACE, "mean")
        raise InputError(
            f"model {settings.model}: sentence_vector is {settings.sentence_vector!r}, which is the first position of"
            f" this {report['kind']}, but {why}. Write sentence_vector: {other}."
        )
    return replace(settings, sentence_vector=pooling)


def open_stores(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> list[Store]:
    """Open the store of these vectors, then the stores of the other layers of the same pass.

    Args:
        settings: with a settled precision.
        report: from `prasanga.models.check_model`.
        root: folder of all stores.
    """
    stores = []
    for layer in settings.pass_layers:
        described: dict[str, Any] = {
            "identity": dict(report["identity"]),
            "layer": depth_of(layer, report["blocks"], settings.model),  # -1 and the last one's number are the same
            "pooling": str(settings.pooling),
            "dtype": settings.dtype,
            "stored_dtype": settings.stored_dtype,
            "version": VECTORS_VERSION,
            "tokenizer": dict(settings.options.tokenizer),
            "quantization": settings.options.quantization,
            "remote_code": settings.options.remote_code,
            "random_weights": settings.options.random_weights,
        }
        key = digest_of(described)
        stores.append(Store(Path(root, key), key, COLUMNS, {"model": settings.model, **described}))
    return stores


def start_encoder(settings: VectorSettings, report: Mapping[str, Any], root: str | Path, *, threads: int) -> Encoder:
    """Load the model on GPUs of its own; the batch size is found once per kind of GPU.

    For a hub model, this loads the commit that was checked, even if its branch has moved.

    Args:
        settings: with a settled precision.
        report: from `prasanga.models.check_model`.
        root: folder of all stores, which keeps batch sizes.
        threads: of this process.

    Raises:
        InputError: the files of a local model were replaced after its check; as `load_encoder`.
    """
    from prasanga.embeddings.encoder import load_encoder

    require_unchanged(settings.model, report["identity"], settings.options, root)
    encoder = load_encoder(
        settings.model,
        revision=report["identity"].get("commit", settings.revision),
        dtype=settings.dtype,
        layer=settings.pass_layers,
        threads=threads,
        options=settings.options,
    )
    if encoder.pieces_per_batch is None:
        model = digest_of([dict(report["identity"]), settings.dtype, settings.options.quantization])
        path = Path(root, "batches", f"{model}-{re.sub('[^A-Za-z0-9]+', '-', encoder.device_name)}.json")
        encoder.pieces_per_batch = decide_once(path, encoder.find_budget)
    return encoder


def decide_once(path: str | Path, decide: Callable[[], Decision]) -> Decision:
    """Return the decision in `path`, or make it with `decide` and keep it there for later callers.

    If several processes decide at once, one wins, except on a file system without hard links.

    Raises:
        InputError: the file is damaged, or cannot be written.
    """
    path = Path(path)
    if not path.exists():
        mine = temporary_beside(path)
        write_document(mine, {"decision": decide()})
        with suppress(OSError):  # another process has decided meanwhile, or hard links are not supported
            path.hardlink_to(mine)
        mine.unlink() if path.exists() else mine.replace(path)
    kept: Decision = read_document(path)["decision"]
    return kept


# --------------------
# The effect of precision on vectors: a few of the study's own segments, compared with the same model in float32.
#
# A model runs in half precision where the device has it, perhaps with weights in 8 bits, and its vectors are kept in
# float16. Cosines should not change noticeably. This measures how much they do, once per model.


COMPARED = 64
"""The most segments that are compared: enough for the third decimal, and fast on any device."""


def compare_with_full_precision(
    settings: VectorSettings, report: Mapping[str, Any], segments: str | Path, root: str | Path, *, threads: int
) -> dict[str, Any]:
    """Return the effect of the model's and the store's precision on vectors, as plain values for JSON.

    The compared segments are spread evenly from the shortest to the longest. The model in float32 runs on the CPU.

    Args:
        settings: with a settled precision.
        report: from `prasanga.models.check_model`.
        segments: the table of segments to choose from.
        root: folder of all stores, which keeps batch sizes.
        threads: of this process.

    Returns:
        dtype, stored_dtype, quantization; compared (segments); cosine_min (the smallest cosine between a stored vector
        and the one in full precision; None if nothing was compared); reason (why nothing was compared, or None).

    Raises:
        InputError: as `start_encoder` and `Encoder.embed`; a number is too large for `stored_dtype`.
    """
    from prasanga.embeddings.encoder import load_encoder
    from prasanga.models.devices import ON_A_CPU

    how = {"dtype": settings.dtype, "stored_dtype": settings.stored_dtype}
    how |= {"quantization": settings.options.quantization}
    nothing = {**how, "compared": 0, "cosine_min": None}
    if settings.dtype == "float32" and settings.options.quantization == "none":
        return {**nothing, "reason": "the model runs in full precision"}
    texts = read_frame(segments, columns=["text", "start", "end", "stimulus"])
    texts = texts.sort(pl.col("text").str.len_chars(), "text", maintain_order=True)
    count = min(COMPARED, texts.height)
    if not count:
        return {**nothing, "reason": "there are no segments"}
    chosen = texts[[step * (texts.height - 1) // max(count - 1, 1) for step in range(count)]]
    spans = list(chosen.select("start", "end").iter_rows())
    roots = [root_end(*each) for each in chosen.select("start", "end", "stimulus").iter_rows()]

    def embed(encoder: Encoder) -> NDArray[np.float32]:
        return encoder.embed(chosen["text"].to_list(), spans, pieces=settings.pieces, roots=roots)

    stored = rounded(embed(start_encoder(settings, report, root, threads=threads)), settings.stored_dtype)
    gc.collect()  # the model in float32 needs its memory
    try:
        exact = embed(
            load_encoder(
                settings.model,
                revision=report["identity"].get("commit", settings.revision),
                device="cpu",
                dtype="float32",
                layer=settings.layer,
                pieces_per_batch=ON_A_CPU,
                options=replace(settings.options, quantization="none", cards=1),
            )
        )
    except InputError as error:
        return {**nothing, "reason": f"the model in float32 cannot be run here: {error}"}
    one, other = stored.astype(np.float64), exact.astype(np.float64)
    cosines = (one * other).sum(axis=1) / (np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1))
    least = round(float(np.clip(cosines.min(), -1.0, 1.0)), 8)
    return {**how, "compared": count, "cosine_min": least, "reason": None}
