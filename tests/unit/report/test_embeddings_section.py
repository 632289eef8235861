"""Files of the embeddings stage are told apart."""

from __future__ import annotations

import json
from pathlib import Path

from prasanga.report.study import read_embedding_files


def test_files_are_told_apart_by_their_names(tmp_path: Path) -> None:
    folders = {
        "embeddings/v.1": ("9.json", "over75.json", "precision.json"),
        "models": ("v.1.json", "v.1.tokenizer.json"),
    }
    for folder, names in folders.items():
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).write_text(json.dumps({"is": name}))
    found = read_embedding_files({}, [str(path) for path in tmp_path.rglob("*.*") if path.is_file()])
    assert found.lists == {("v.1", "9"): {"is": "9.json"}, ("v.1", ">75"): {"is": "over75.json"}}
    assert found.precisions == {"v.1": {"is": "precision.json"}}
    assert found.reports == {"v.1": {"is": "v.1.json"}}
    assert found.audits == {"v.1": {"is": "v.1.tokenizer.json"}}
