"""Language models: loading them from a folder or the hub, saying which one it was, training a tiny one.

The names are imported when they are first used, because most of their modules need torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prasanga.models.checking import check_model
    from prasanga.models.devices import claim_device
    from prasanga.models.identity import model_identity
    from prasanga.models.loading import LoadedModel, load_config, load_model, load_tokenizer, resolve_dtype
    from prasanga.models.options import ModelOptions
    from prasanga.models.tokenizer_audit import TokenizerAudit, audit_tokenizer
    from prasanga.models.training import TrainingReport, train_model

__all__ = [
    "LoadedModel",
    "ModelOptions",
    "TokenizerAudit",
    "TrainingReport",
    "audit_tokenizer",
    "check_model",
    "claim_device",
    "load_config",
    "load_model",
    "load_tokenizer",
    "model_identity",
    "resolve_dtype",
    "train_model",
]


def __getattr__(name: str) -> Any:
    """Import a name's module when the name is asked for."""
    if name == "check_model":
        from prasanga.models import checking

        return getattr(checking, name)
    if name == "claim_device":
        from prasanga.models import devices

        return getattr(devices, name)
    if name == "model_identity":
        from prasanga.models import identity

        return getattr(identity, name)
    if name in ("LoadedModel", "load_config", "load_model", "load_tokenizer", "resolve_dtype"):
        from prasanga.models import loading

        return getattr(loading, name)
    if name == "ModelOptions":
        from prasanga.models import options

        return getattr(options, name)
    if name in ("TokenizerAudit", "audit_tokenizer"):
        from prasanga.models import tokenizer_audit

        return getattr(tokenizer_audit, name)
    if name in ("TrainingReport", "train_model"):
        from prasanga.models import training

        return getattr(training, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
