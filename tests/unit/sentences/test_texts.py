"""Texts for training."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.sentences import Shard, read_texts, require_small
from prasanga.sentences import records as records_module


def test_lines_of_a_text_and_texts_of_records(tmp_path: Path) -> None:
    plain, records = tmp_path / "a.txt", tmp_path / "a.jsonl"
    plain.write_text("এক।\n\nদুই।\n", encoding="utf-8")
    records.write_text('{"text": "তিন।"}\n', encoding="utf-8")
    assert list(read_texts(Shard(str(plain), "a.txt", "line", start=3))) == ["এক।", "দুই।"]
    assert list(read_texts(Shard(str(records), "a.jsonl", "line", "jsonl"))) == ["তিন।"]


def test_a_large_corpus_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a" * 11)
    shard = Shard(str(path), "a.txt", "line")
    require_small([shard])
    monkeypatch.setattr(records_module, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="`train` makes a tiny model"):
        require_small([shard])
