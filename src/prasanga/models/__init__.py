"""Language models: loading them from a folder or the hub, saying which one it was, training a tiny one.

The names are imported when they are first used, because their modules need torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.models.identity import model_identity
    from prasanga.models.loading import LoadedModel, hidden_size, load_model, resolve_dtype
    from prasanga.models.training import TrainingReport, train_masked_model

__all__ = [
    "LoadedModel",
    "TrainingReport",
    "hidden_size",
    "load_model",
    "model_identity",
    "resolve_dtype",
    "train_masked_model",
]


def __getattr__(name: str) -> Any:
    if name == "LoadedModel":
        from prasanga.models.loading import LoadedModel

        return LoadedModel
    if name == "TrainingReport":
        from prasanga.models.training import TrainingReport

        return TrainingReport
    if name == "hidden_size":
        from prasanga.models.loading import hidden_size

        return hidden_size
    if name == "load_model":
        from prasanga.models.loading import load_model

        return load_model
    if name == "model_identity":
        from prasanga.models.identity import model_identity

        return model_identity
    if name == "resolve_dtype":
        from prasanga.models.loading import resolve_dtype

        return resolve_dtype
    if name == "train_masked_model":
        from prasanga.models.training import train_masked_model

        return train_masked_model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
