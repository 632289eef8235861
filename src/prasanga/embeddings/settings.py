"""What a study says of its vectors, and what follows: their stores, their precision, the encoder that makes them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from prasanga.base.errors import InputError
from prasanga.base.parquet import replacing
from prasanga.embeddings.pooling import Pooling, Unknown, sentence_pooling
from prasanga.embeddings.store import StoredDtype, VectorStore, vector_key
from prasanga.models.options import ModelOptions, depth_of
from prasanga.provenance import digest_of
from prasanga.provenance.code import Code, fingerprint_of

if TYPE_CHECKING:
    from prasanga.embeddings.encoder import Encoder

# What makes a vector of a text, with everything that it reaches, ...
_MAKE_VECTORS = (
    "prasanga.models.loading.load_model",
    "prasanga.embeddings.pooling.Pooling",
    "prasanga.embeddings.pooling.root_end",
    "prasanga.embeddings.pooling.read_inputs",
    "prasanga.embeddings.encoder.vectors_of",
    "prasanga.embeddings.store.rounded",
)
# ... but for what changes none: the choice of a card or of files (these are known by their content), and what is said.
_CHANGE_NO_VECTOR = (
    "prasanga.base.errors",
    "prasanga.models.devices",
    "prasanga.models.gpus",
    "prasanga.models.hub",
    "prasanga.models.identity",
    "prasanga.models.memory",
    "prasanga.models.shares",
    "prasanga.models.shape.quiet",
    "prasanga.models.shape.missing_of_head",
    "prasanga.models.shape.for_probabilities",
    "prasanga.models.shape.no_head",
)
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


def code_of_vectors() -> Code:
    """Return the code that vectors depend on. How batches and parts are divided is none of it."""
    return fingerprint_of(*_MAKE_VECTORS, without=_CHANGE_NO_VECTOR)


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
    code = code_of_vectors().fingerprint
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
    from prasanga.models.identity import require_unchanged

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
    try:
        with replacing(path) as mine:
            mine.write_text(json.dumps({"decision": decision}) + "\n", encoding="utf-8")
            _claim(path, mine)  # who gets further than this is the only one to do so, and replaces nobody's file
    except _TakenError:
        pass
    kept: Decision | None = _read(path)
    return decision if kept is None else kept


class _TakenError(Exception):
    """Another process has decided before; no fault, so not one that `replacing` would explain."""


def _claim(path: Path, mine: Path) -> None:
    """Take the name `path` for the file `mine`; _TakenError if another process has it.

    Where the file system has no hard links, an empty file stands there until `mine` replaces it.
    """
    try:
        try:
            path.hardlink_to(mine)
        except FileExistsError:
            raise
        except OSError:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
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
