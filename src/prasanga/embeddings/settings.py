"""What vectors depend on: the settings of a study, its stores, the precision, and the encoder that makes them."""

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
from prasanga.embeddings.shards import StoredDtype
from prasanga.models.hub import require_unchanged
from prasanga.models.packaged import ModelOptions, depth_of

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

_BY_KIND = {"encoder": "cls", "encoder-decoder": "mean", "decoder": "last"}
"""The vector of a sentence by kind of model: an encoder's first position is there to stand for the whole text; only a
decoder's last one has read all of it; an encoder-decoder has neither, and its encoder's states are averaged."""
COLUMNS = ("segment_id", "n_pieces", "n_unknown", "cut", "embedding")
"""What a store keeps of a segment (a digest of text and span): see `prasanga.embeddings.pooling.Inputs`."""
VECTORS_VERSION = 1
"""Raise this number when the code gives a text another vector: all vectors are then computed again."""
_READS_NOTHING = "the first position of a decoder has read nothing that follows, and is the same for every sentence"
_NO_PLACE = "its tokenizer puts no special piece such as [CLS] before a text, so that it is one piece of one word"
Decision = TypeVar("Decision", bound=int | str)


@dataclass(frozen=True)
class VectorSettings:
    """What the config says of the vectors of one model at one layer.

    Attributes:
        model: folder or id of a model of the hub.
        revision: of the hub.
        layer: of these vectors.
        layers: all that the study measures in this model; they come out of the same pass.
        dtype: precision that the model runs in.
        stored_dtype: precision that vectors are kept in.
        pieces: what the vectors are made of (`prasanga.embeddings.pooling.Pooling`).
        unknown: what becomes of targets with unknown pieces.
        options: of the tokenizer, the weights and the cards; a twin has random weights there.
        twins: the seeds of the twins' weights, where these are settings of all twins of a model (`each_twin`).
        contexts_per_twin: the most contexts per word and length that a twin reads; None for all.
        sentence_vector: None for target words in their segments; for templates `auto` (until `settle_sentence_vector`),
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
        """Make settings of the parameters of a job, whose `options` are a mapping; more options beside them."""
        plain = {key: value for key, value in settings.items() if key not in ("options", "layers", "twins")}
        return cls(
            **plain,
            layers=tuple(settings["layers"]),
            options=ModelOptions(**{**settings["options"], **options}),
            twins=tuple(settings.get("twins", ())),
        )

    def each_twin(self) -> list[VectorSettings]:
        """Return the settings of each twin; of a model its own."""
        options = [replace(self.options, random_weights=seed) for seed in self.twins] or [self.options]
        return [replace(self, twins=(), contexts_per_twin=None, options=each) for each in options]

    def as_plain(self) -> dict[str, Any]:
        """Return plain values for the metadata of the vectors, without what does not change them."""
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
        """What the vectors are made of.

        Raises:
            InputError: `sentence_vector` is none that there is, or `auto` and not settled yet.
        """
        if self.sentence_vector in (None, "word"):
            return Pooling("target", self.pieces)
        if self.sentence_vector == "position":
            return Pooling("target", "position")
        return Pooling("sentence", str(self.sentence_vector))

    @property
    def pass_layers(self) -> list[int]:
        """This layer, and then the others that come out of the same pass."""
        return [self.layer, *(layer for layer in self.layers if layer != self.layer)]


def settle_dtype(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> VectorSettings:
    """Settle the precision of a model: that of its vectors that are there, else what suits config and device.

    Args:
        settings: of a study.
        report: `prasanga.models.check_model` of the model.
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
    """Settle the vector of a sentence where it is `auto`, and refuse one that the model lacks.

    Args:
        settings: of a study; unchanged where they are for target words in segments.
        report: `prasanga.models.check_model` of the model.

    Raises:
        InputError: `cls` of a model that has nothing to tell of a sentence at its first position.
    """
    if settings.sentence_vector is None:
        return settings
    pooling = settings.sentence_vector
    if pooling == "auto":  # a model that was trained for vectors of sentences has its own way
        pooling = report.get("sentence_vector") or _BY_KIND[report["kind"]]
    if pooling == "cls" and (report["kind"] == "decoder" or not report["begins_with_special"]):
        why, other = (_READS_NOTHING, "last") if report["kind"] == "decoder" else (_NO_PLACE, "mean")
        raise InputError(
            f"model {settings.model}: sentence_vector is {settings.sentence_vector!r}, which is the first position of"
            f" this {report['kind']}, but {why}. Write sentence_vector: {other}."
        )
    return replace(settings, sentence_vector=pooling)


def open_stores(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> list[Store]:
    """Open the store of these vectors, and those of the other layers of the same pass.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
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
    """Load the model on a card of its own; the size of its batches is what was found once on such a card.

    Of a model of the hub the commit is loaded that was looked at, wherever its branch has moved since.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        root: folder of all stores, which keeps the size of the batches.
        threads: of this process.

    Raises:
        InputError: the files of a model on this machine were replaced after its check; as `load_encoder`.
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
    """Return the decision in `path`; if there is none, that of `decide`, kept in `path` for all who come later.

    Of several processes that decide at the same time one is heard, except on a file system without hard links.

    Raises:
        InputError: the file does not have a decision, or cannot be written.
    """
    path = Path(path)
    if not path.exists():
        mine = temporary_beside(path)
        write_document(mine, {"decision": decide()})
        with suppress(OSError):  # another process has decided meanwhile, or there are no hard links
            path.hardlink_to(mine)
        mine.unlink() if path.exists() else mine.replace(path)
    kept: Decision = read_document(path)["decision"]
    return kept


# --------------------
# How far vectors are from those that the same model gives in full precision, on a few of the study's own segments.
#
# A model runs in half precision where the device has it, perhaps with weights in 8 bits, and its vectors are kept in
# float16. None of it should matter to a statistic of cosines; this says by how much it might, measured once per model.


COMPARED = 64
"""Segments that are compared at most: enough for the third decimal, and soon done on any device."""


def compare_with_full_precision(
    settings: VectorSettings, report: Mapping[str, Any], segments: str | Path, root: str | Path, *, threads: int
) -> dict[str, Any]:
    """Return what the precision of the model and of the disk does to vectors, as plain values for JSON.

    The compared segments are spread evenly from the shortest to the longest. The model in float32 runs on the same
    device if it has room, else on the processor.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        segments: the table of segments to choose from.
        root: folder of all stores, which knows the size of batches.
        threads: of this process.

    Returns:
        dtype, stored_dtype, quantization; compared (segments); cosine_min (the smallest cosine between a vector as it
        is kept and in full precision; None if nothing was compared); reason (why it is smaller than it should be, or
        why there is none; None otherwise).
    """
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
    encoder = start_encoder(settings, report, root, threads=threads)
    vectors, device = _embed(encoder, chosen, settings.pieces), str(encoder.loaded.device)
    del encoder
    gc.collect()  # the model in float32 needs its room
    try:
        exact = _embed_exactly(settings, report, chosen, device)
    except InputError as error:
        return {**nothing, "reason": f"the model in float32 cannot be run here: {error}"}
    with np.errstate(over="ignore", invalid="ignore"):
        stored = vectors.astype(settings.stored_dtype).astype(np.float64)
        lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(exact.astype(np.float64), axis=1)
        cosines = np.nan_to_num((stored * exact).sum(axis=1) / lengths, nan=0.0)  # 0 of a vector that is not finite
    overflowing = int((~np.isfinite(stored).all(axis=1)).sum())
    return {
        **how,
        "compared": count,
        "cosine_min": round(float(np.clip(cosines.min(), -1.0, 1.0)), 8),
        "reason": (
            f"{overflowing} of {count} vectors have numbers beyond the range of {settings.stored_dtype}; write"
            " `embeddings: {stored_dtype: float32}`"
            if overflowing
            else None
        ),
    }


def _embed(encoder: Encoder, chosen: pl.DataFrame, pieces: str) -> NDArray[np.float32]:
    roots = [root_end(*each) for each in chosen.select("start", "end", "stimulus").iter_rows()]
    spans = list(chosen.select("start", "end").iter_rows())
    return encoder.embed(chosen["text"].to_list(), spans, pieces=pieces, roots=roots)


def _embed_exactly(
    settings: VectorSettings, report: Mapping[str, Any], chosen: pl.DataFrame, device: str
) -> NDArray[np.float32]:
    """Embed in float32, on `device` if it has room for the model and its batches, else on the processor."""
    from prasanga.embeddings.encoder import load_encoder
    from prasanga.models.devices import ON_A_CPU

    try:
        exact = load_encoder(
            settings.model,
            revision=report["identity"].get("commit", settings.revision),
            device=device,
            dtype="float32",
            layer=settings.layer,
            pieces_per_batch=ON_A_CPU,
            options=replace(settings.options, quantization="none", cards=1),
        )
        return _embed(exact, chosen, settings.pieces)
    except InputError:
        if device == "cpu":
            raise
    return _embed_exactly(settings, report, chosen, "cpu")
