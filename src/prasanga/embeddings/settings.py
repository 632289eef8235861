"""What a study says of its vectors, and what follows: their stores, their precision, the encoder that makes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prasanga.embeddings.decisions import decide_once
from prasanga.embeddings.pooling import Pooling, Unknown
from prasanga.embeddings.store import StoredDtype, VectorStore, vector_key
from prasanga.models.layers import depth_of
from prasanga.models.options import ModelOptions
from prasanga.provenance import digest_of
from prasanga.provenance.code import fingerprint_of_module

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

# The modules that make a vector of a text, with everything that they reach, ...
_MAKE_VECTORS = ("prasanga.embeddings.inputs", "prasanga.embeddings.forward", "prasanga.embeddings.rounding")
# ... but for those that change none: messages, the choice of a card or of files (these are known by their content).
_CHANGE_NO_VECTOR = (
    "prasanga.errors",
    "prasanga.models.cards",
    "prasanga.models.devices",
    "prasanga.models.hub",
    "prasanga.models.identity",
    "prasanga.models.memory",
    "prasanga.models.quiet",
    "prasanga.models.weights",
)


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
        options: of the tokenizer, the weights and the cards.
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

    @classmethod
    def of(cls, settings: Mapping[str, Any], **options: Any) -> VectorSettings:
        """From the parameters of a job, whose `options` are given as a mapping; more options beside them."""
        plain = {key: value for key, value in settings.items() if key not in ("options", "layers")}
        return cls(
            **plain, layers=tuple(settings["layers"]), options=ModelOptions(**{**settings["options"], **options})
        )

    def as_plain(self) -> dict[str, Any]:
        """For the metadata of the vectors, without what does not change them."""
        plain = asdict(self)
        del plain["layers"], plain["options"]["cards"], plain["options"]["kind"]
        return {**plain, "pooling": str(self.pooling)}

    @property
    def pooling(self) -> Pooling:
        """What the vectors are made of."""
        return Pooling("target", self.pieces)

    def pass_layers(self) -> list[int]:
        """This layer, and then the others that come out of the same pass."""
        return [self.layer, *(layer for layer in self.layers if layer != self.layer)]


def modules_of_vectors() -> dict[str, str]:
    """The modules that vectors depend on, with their fingerprints. Sizes of batches and of parts are none of them."""
    source = Path(__file__).resolve().parents[2]
    found: dict[str, str] = {}
    for module in _MAKE_VECTORS:
        found |= fingerprint_of_module(module, source, without=_CHANGE_NO_VECTOR)
    return found


def settle_dtype(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> VectorSettings:
    """The settings with a precision in place of `auto`: that of the vectors that are there, else what suits the device.

    Args:
        settings: of a study.
        report: `prasanga.models.check_model` of the model.
        root: folder of all stores.
    """
    if settings.dtype != "auto":
        return settings

    def suits_the_device() -> str:
        from prasanga.models import resolve_dtype

        return resolve_dtype("auto")

    path = Path(root, "precision", f"{digest_of(dict(report['identity']))}.json")
    return replace(settings, dtype=decide_once(path, suits_the_device))


def open_stores(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> list[VectorStore]:
    """The store of these vectors, and those of the other layers of the same pass.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        root: folder of all stores.
    """
    stores = []
    code = digest_of(modules_of_vectors())
    for layer in settings.pass_layers():
        depth = depth_of(layer, report["blocks"], settings.model)  # -1 and the number of the last are the same vectors
        described: dict[str, Any] = {
            "identity": dict(report["identity"]),
            "layer": depth,
            "pooling": str(settings.pooling),
            "dtype": settings.dtype,
            "code": code,
            "stored_dtype": settings.stored_dtype,
            "tokenizer": digest_of(dict(settings.options.tokenizer)),
            "quantization": settings.options.quantization,
            "remote_code": settings.options.remote_code,
        }
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
    """
    from prasanga.embeddings.encoder import load_encoder

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
