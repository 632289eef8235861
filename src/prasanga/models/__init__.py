"""Load language models from a folder or the hub, check them, and identify them.

Names are imported on first use, because most of their modules need torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prasanga.base import offered

if TYPE_CHECKING:
    from prasanga.models.checking import TokenizerAudit, audit_tokenizer, check_model
    from prasanga.models.devices import claim_devices, resolve_dtype
    from prasanga.models.hub import check_files, model_identity
    from prasanga.models.loading import LoadedModel, load_config, load_model, load_tokenizer
    from prasanga.models.packaged import ModelOptions


def __getattr__(name: str) -> Any:
    return offered(__name__, name)
