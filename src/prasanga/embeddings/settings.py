"""What vectors depend on: the settings of a study, its stores, the precision, and the encoder that makes them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from prasanga.base.documents import digest_of
from prasanga.base.errors import InputError
from prasanga.base.parquet import temporary_beside, write_text
from prasanga.base.store import Store
from prasanga.embeddings.pooling import Pooling, Unknown, sentence_pooling
from prasanga.embeddings.shards import StoredDtype
from prasanga.models.options import ModelOptions, depth_of, no_pooling

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

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

    def each_twin(self) -> list[VectorSettings]:
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


def open_stores(settings: VectorSettings, report: Mapping[str, Any], root: str | Path) -> list[Store]:
    """Open the store of these vectors, and those of the other layers of the same pass.

    Args:
        settings: with a settled precision.
        report: `prasanga.models.check_model` of the model.
        root: folder of all stores.
    """
    stores = []
    for layer in settings.pass_layers():
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
        InputError: the files of a model on this machine are others than those that were looked at; as `load_encoder`.
    """
    from prasanga.embeddings.encoder import load_encoder
    from prasanga.models.hub import require_unchanged

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

    Of several processes that decide at the same time one is heard, except on a file system without hard links.

    Raises:
        InputError: the file does not hold a decision, or cannot be written.
    """
    path = Path(path)
    if not path.exists():
        decision = decide()
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = temporary_beside(path)
        write_text(mine, json.dumps({"decision": decision}) + "\n")
        try:
            path.hardlink_to(mine)  # fails if another process has decided meanwhile
        except FileExistsError:
            pass
        except OSError:
            shutil.copyfile(mine, path)
        finally:
            mine.unlink()
    try:
        kept: Decision = json.loads(path.read_text(encoding="utf-8"))["decision"]
        return kept
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: not a decision that was kept. Delete the file and run the workflow again.") from None
