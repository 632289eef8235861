"""What a study says of its vectors, and what follows: stores, precision and its price, the encoder that makes them."""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prasanga.base.documents import digest_of
from prasanga.base.errors import InputError
from prasanga.base.parquet import read_frame, replacing
from prasanga.embeddings.pooling import Pooling, Unknown, root_end, sentence_pooling
from prasanga.embeddings.shards import StoredDtype, VectorStore, vector_key
from prasanga.models.options import ModelOptions, depth_of, no_pooling

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

VECTORS_VERSION = 1
"""Raise this number when the code gives a text another vector: all vectors are then computed again."""
_READS_NOTHING = "the first position of a decoder has read nothing that follows, and is the same for every sentence"
_NO_PLACE = "its tokenizer puts no special piece such as [CLS] before a text, so that it is one piece of one word"
Decision = TypeVar("Decision", bound=int | str)
_SECONDS_TO_WRITE = 10.0


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
        twins: the seeds of the twins' weights, where these are settings of all twins of a model (`of_twins`).
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

    def of_twins(self) -> list[VectorSettings]:
        """Return the settings of each twin; of a model its own."""
        options = [replace(self.options, random_weights=seed) for seed in self.twins] or [self.options]
        return [replace(self, twins=(), options=each) for each in options]

    def as_plain(self) -> dict[str, Any]:
        """Return plain values for the metadata of the vectors, without what does not change them."""
        plain = asdict(self)
        del plain["layers"], plain["options"]["cards"], plain["options"]["kind"]
        if self.options.random_weights is None:
            del plain["options"]["random_weights"]
        if self.sentence_vector is None:
            del plain["sentence_vector"]
        if not self.twins:
            del plain["twins"]
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

    def pass_layers(self) -> list[int]:
        """Return this layer, and then the others that come out of the same pass."""
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
        InputError: `cls` of a model that has nothing to tell of a sentence at its first position; `auto` of a model
            whose files name a pooling that there is not.
    """
    if settings.sentence_vector is None:
        return settings
    if settings.sentence_vector == "auto" and report.get("unknown_pooling"):
        raise no_pooling(settings.model, report["unknown_pooling"])
    pooling = sentence_pooling(settings.sentence_vector, report["kind"], report.get("sentence_vector"))
    if pooling == "cls" and (report["kind"] == "decoder" or not report["begins_with_special"]):
        why, other = (_READS_NOTHING, "last") if report["kind"] == "decoder" else (_NO_PLACE, "mean")
        raise InputError(
            f"model {settings.model}: sentence_vector is {settings.sentence_vector!r}, which is the first position of"
            f" this {report['kind']}, but {why}. Write sentence_vector: {other}."
        )
    return replace(settings, sentence_vector=pooling)


def open_stores(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> list[VectorStore]:
    """Open the store of these vectors, and those of the other layers of the same pass.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        root: folder of all stores.
    """
    stores = []
    for layer in settings.pass_layers():
        depth = depth_of(layer, report["blocks"], settings.model)  # -1 and the number of the last are the same vectors
        described: dict[str, Any] = {
            "identity": dict(report["identity"]),
            "layer": depth,
            "pooling": str(settings.pooling),
            "dtype": settings.dtype,
            "version": VECTORS_VERSION,
            "stored_dtype": settings.stored_dtype,
            "tokenizer": digest_of(dict(settings.options.tokenizer)),
            "quantization": settings.options.quantization,
            "remote_code": settings.options.remote_code,
        }
        if settings.options.random_weights is not None:  # a key that others do not have, so that theirs stay
            described["random_weights"] = settings.options.random_weights
        key = vector_key(**described)
        readable = {"model": settings.model, **described, "tokenizer": dict(settings.options.tokenizer)}
        stores.append(VectorStore(Path(root, key), settings.stored_dtype, key, readable))
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
        InputError: the files of a model on this machine are others than those that were looked at; as `load_encoder`.
    """
    from prasanga.embeddings.encoder import load_encoder
    from prasanga.models.checking import require_unchanged

    require_unchanged(settings.model, report["identity"], settings.options)
    encoder = load_encoder(
        settings.model,
        revision=report["identity"].get("commit", settings.revision),
        dtype=settings.dtype,
        layer=settings.pass_layers(),
        threads=threads,
        options=settings.options,
    )
    if encoder.pieces_per_batch is None:
        model = digest_of([dict(report["identity"]), settings.dtype, settings.options.quantization])
        path = Path(root, "batches", f"{model}-{re.sub('[^A-Za-z0-9]+', '-', encoder.device_name)}.json")
        encoder.pieces_per_batch = decide_once(path, encoder.find_budget)
    return encoder


def decide_once(path: str | Path, decide: Callable[[], Decision]) -> Decision:
    """Return what `path` says; if it is not there, what `decide` says, kept in `path` for all who come later.

    Of several processes that decide at once, one is heard, and all return what it said.

    Raises:
        InputError: the file holds something else than a decision, or cannot be written.
    """
    path = Path(path)
    found: Decision | None = _read(path)
    if found is not None:
        return found
    decision = decide()
    with suppress(_TakenError), replacing(path) as mine:
        mine.write_text(json.dumps({"decision": decision}) + "\n", encoding="utf-8")
        _claim(path, mine)  # who gets further than this is the only one to do so, and replaces nobody's file
    kept: Decision | None = _read(path)
    return decision if kept is None else kept


class _TakenError(Exception):
    """Another process has decided before; no fault, so not one that `replacing` would explain."""


def _claim(path: Path, mine: Path) -> None:
    """Take the name `path` for the file `mine`; _TakenError if another process has it.

    Where the file system has no hard links, an empty file stands there until `mine` replaces it.
    """
    try:
        path.hardlink_to(mine)
    except FileExistsError:
        raise _TakenError from None
    except OSError:
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            raise _TakenError from None


def _read(path: Path) -> Any:
    """Read the decision in a file, None if there is no file. An empty one was taken just now, and is waited for."""
    until = time.monotonic() + _SECONDS_TO_WRITE
    try:
        while not (text := path.read_text(encoding="utf-8")) and time.monotonic() < until:
            time.sleep(0.02)
        return json.loads(text)["decision"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: not a decision that was kept. Delete the file and run the workflow again.") from None


# --------------------
# How far vectors are from those that the same model gives in full precision, on a few of the study's own segments.
#
# A model runs in half precision where the device has it, perhaps with weights of 8 bits, and its vectors are kept in
# float16. None of it should matter to a statistic of cosines; this says by how much it might, measured once per model.


COMPARED = 64
"""Segments that are compared at most: enough for the third decimal, and soon done on any device."""


def compare_with_full_precision(
    settings: VectorSettings,
    report: Mapping[str, Any],
    segments: str | Path,
    root: str | Path,
    *,
    threads: int,
) -> dict[str, Any]:
    """Return what the precision of the model and of the disk does to vectors, as plain values for JSON.

    The twin in float32 runs on the same device if it has room, else on the processor.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        segments: the table of segments to choose from.
        root: folder of all stores, which knows the size of batches.
        threads: of this process.

    Returns:
        dtype, stored_dtype, quantization, and what `compare_vectors` says.
    """
    how = {name: getattr(settings, name) for name in ("dtype", "stored_dtype")}
    how["quantization"] = settings.options.quantization
    if settings.dtype == "float32" and settings.options.quantization == "none":
        return how | not_compared("the model runs in full precision")
    texts = read_frame(segments, columns=["text", "start", "end", "stimulus"])
    chosen = texts[choose(texts["text"].to_list(), COMPARED)]
    if chosen.is_empty():
        return how | not_compared("there are no segments")
    encoder = start_encoder(settings, report, root, threads=threads)
    vectors, device = _embed(encoder, chosen, settings.pieces), str(encoder.loaded.device)
    del encoder
    gc.collect()  # the twin needs its room
    try:
        exact = _embed_exactly(settings, report, chosen, device, threads)
    except InputError as error:
        return how | not_compared(f"the model in float32 cannot be run here: {error}")
    return how | compare_vectors(vectors, exact, stored_dtype=settings.stored_dtype)


def compare_vectors(
    vectors: NDArray[np.float32], exact: NDArray[np.float32], *, stored_dtype: str = "float16"
) -> dict[str, Any]:
    """Compare (n, d) vectors, once they are rounded to `stored_dtype`, with the (n, d) vectors that they should be.

    Returns:
        compared: segments compared.
        cosine_mean: mean of the cosines; None if nothing was compared.
        cosine_min: the smallest of them.
        float16_cosine_min: the smallest cosine between a vector as the run computes it and itself in float16: what
            keeping vectors in float16 alone does, or would do.
        reason: why the figures are worse than they should be, or why there are none; None otherwise.
    """
    if not len(vectors):
        return not_compared("there are no segments")
    stored = _rounded(vectors, stored_dtype)
    found = cosines(stored, exact)
    overflowing = int((~np.isfinite(stored).all(axis=1)).sum())
    return {
        "compared": len(vectors),
        "cosine_mean": round(float(found.mean()), 8),
        "cosine_min": round(float(found.min()), 8),
        "float16_cosine_min": round(float(cosines(_rounded(vectors, "float16"), vectors).min()), 8),
        "reason": (
            f"{overflowing} of {len(vectors)} vectors have numbers beyond the range of {stored_dtype}; write"
            " `embeddings: {stored_dtype: float32}`"
            if overflowing
            else None
        ),
    }


def not_compared(reason: str) -> dict[str, Any]:
    """Return what `compare_vectors` says where there is nothing to compare, or no way to."""
    nothing = dict.fromkeys(("cosine_mean", "cosine_min", "float16_cosine_min"))
    return {"compared": 0, **nothing, "reason": reason}


def choose(texts: Sequence[str], count: int) -> list[int]:
    """Choose the places of up to `count` texts, spread evenly from the shortest to the longest.

    The same texts are chosen in whatever order they come; texts of one length go by their characters.
    """
    ordered = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place], place))
    if len(ordered) <= count:
        return ordered
    if count < 2:
        return ordered[: max(0, count)]
    return [ordered[step * (len(ordered) - 1) // (count - 1)] for step in range(count)]


def cosines(one: NDArray[np.floating], other: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the cosine of each row of `one` with the same row of `other`, (n,) from (n, d) each.

    Two rows of zeros are the same vector (1); a row of zeros, or one that is not finite, has nothing in common with
    another (0).
    """
    both = np.stack([one, other]).astype(np.float64)
    finite = np.isfinite(both).all(axis=(0, 2))
    both[:, ~finite] = 0.0
    lengths = np.linalg.norm(both, axis=2)
    scale = lengths.prod(axis=0)
    products = (both[0] * both[1]).sum(axis=1) / np.where(scale > 0.0, scale, 1.0)
    equal = finite & (lengths == 0.0).all(axis=0)
    return np.where(equal, 1.0, np.clip(products, -1.0, 1.0))


def _embed(encoder: Encoder, chosen: pl.DataFrame, pieces: str) -> NDArray[np.float32]:
    return encoder.embed(
        chosen["text"].to_list(),
        list(zip(chosen["start"], chosen["end"], strict=True)),
        pieces=pieces,
        roots=[root_end(*one) for one in chosen.select("start", "end", "stimulus").iter_rows()],
    )


def _embed_exactly(
    settings: VectorSettings, report: Mapping[str, Any], chosen: pl.DataFrame, device: str, threads: int
) -> NDArray[np.float32]:
    """Embed in float32, on `device` if it has room for the model and its batches, else on the processor."""
    from prasanga.embeddings.encoder import load_encoder
    from prasanga.models.batches import ON_A_CPU

    for place in dict.fromkeys([device, "cpu"]):
        try:
            twin = load_encoder(
                settings.model,
                revision=report["identity"].get("commit", settings.revision),
                device=place,
                dtype="float32",
                layer=settings.layer,
                threads=threads,
                pieces_per_batch=ON_A_CPU,
                options=replace(settings.options, quantization="none", cards=1),
            )
            return _embed(twin, chosen, settings.pieces)
        except InputError:
            if place == "cpu":
                raise
    raise AssertionError("the processor was tried")


def _rounded(vectors: NDArray[np.float32], dtype: str) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return vectors.astype(dtype).astype(np.float32)
