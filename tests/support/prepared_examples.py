"""What the Python examples of the pages need before they run: arrays, results, and tiny models under large names.

A page says `models/my-model` or `google/muril-base-cased`; a folder of that name holds a tiny model, so nothing is
fetched. Its numbers mean nothing; that the example runs, and what its comments say, is tested.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from report_pages import estimates

from prasanga.base.io import write_row_groups
from prasanga.embeddings import list_shards
from prasanga.embeddings.shards import vectors_to_arrow

ENCODER, DECODER = "bert", "gpt2"
MODELS = {
    "README.md": {"models/my-model": DECODER},
    "docs/pairs.md": {"google/muril-base-cased": DECODER, "xlm-roberta-base": DECODER, "models/my-model": ENCODER},
    "docs/contexts.md": {"models/banglabert": ENCODER},
    "docs/methods.md": {"bert-base-multilingual-cased": ENCODER, "bert-base-uncased": ENCODER},
}
"""Which tiny model lies where, by page."""


def prepare(page: str, folder: Path, models: Mapping[str, Path]) -> dict[str, Any]:
    """Lay out what the examples of a page read, below `folder`, and return the names that the page takes as given.

    Args:
        page: its path in the project.
        folder: where the examples run; it has the project's `resources`.
        models: folders of tiny models, by family.
    """
    for name, family in MODELS.get(page, {}).items():
        shutil.copytree(models[family], folder / name)
    rng = np.random.default_rng(47)

    def words(kind: str, n: int = 8) -> list[str]:
        return [f"{kind}{i}" for i in range(n)]

    def vectors(n: int = 8) -> list[np.ndarray]:
        return list(rng.normal(size=(n, 6)))

    match page:
        case "README.md":
            sets = {kind: words(kind) for kind in ("flowers", "insects", "pleasant", "unpleasant")}
            contexts = {word: rng.normal(size=(12, 6)) for each in sets.values() for word in each}
            return {**sets, "vectors": contexts, **{name: np.stack(vectors()) for name in "XYAB"}}
        case "docs/outputs.md":
            (folder / "results/associations").mkdir(parents=True)
            estimates().write_parquet(folder / "results/associations/ceat.parquet")
            ceat = {"n_significant_holm": 1, "n_tests": 2, "largest": {"effect_size": 0.5}}
            summary = json.dumps({"schema": 4, "methods": {"ceat": ceat}})
            (folder / "results/summary.json").write_text(summary, encoding="utf-8")
        case "docs/contexts.md":
            _write_embeddings(folder / "results/embeddings/muril", rng)
        case "docs/methods.md":
            named = words("w", 16)
            lines = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=4))}" for word in named]
            (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            sets = ("flowers", "insects", "pleasant", "unpleasant")
            return {name: named[4 * i : 4 * i + 4] for i, name in enumerate(sets)}
    return {}


def _write_embeddings(folder: Path, rng: np.random.Generator) -> None:
    table = pa.table(
        {
            "segment_id": ["0" * 32] * 3,
            "occurrence_id": ["a", "b", "c"],
            "stimulus": ["গোলাপ"] * 3,
            "segment_length": ["9"] * 3,
            "embedding": vectors_to_arrow(rng.normal(size=(3, 4)).astype("float32")),
        }
    )
    made = {"stage": "embeddings", "settings": '{"model": "muril"}', "sampling": "{}", "key": "k"}
    path = folder / "9/00.parquet"
    path.parent.mkdir(parents=True)
    write_row_groups(path, table.schema, [table], made)
    list_shards([path], folder / "9.json")
