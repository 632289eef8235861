"""Digests of corpus files: remembered while size and time stay, and never taken from anything but the content."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest
import xxhash

from prasanga.base.errors import InputError
from prasanga.sentences import manifest as module
from prasanga.sentences.manifest import as_planned, update_manifest


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "corpus" / name for name in ("a.txt", "খ.txt", "c.parquet")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {path.name}", encoding="utf-8")
    return paths


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return tmp_path / "results" / "manifest.json"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were read."""
    names: list[str] = []
    digested = module._digested

    def noting(path: str, *told: Any) -> module.Entry:
        names.append(Path(path).name)
        return digested(path, *told)

    monkeypatch.setattr(module, "_digested", noting)
    return names


def digests(paths: list[Path]) -> dict[str, str]:
    return {str(path): xxhash.xxh3_128_hexdigest(path.read_bytes()) for path in paths}


def later(path: Path, seconds: int = 10) -> None:
    time = path.stat().st_mtime_ns + seconds * 10**9
    os.utime(path, ns=(time, time))


def test_a_name_that_is_no_utf_8_is_digested_and_not_remembered(tmp_path: Path, manifest: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff.txt")
    odd.write_text("text", encoding="utf-8")
    assert update_manifest(manifest, [odd]) == digests([odd])
    assert not manifest.exists()


def test_each_file_is_read_once(corpus: list[Path], manifest: Path, read: list[str]) -> None:
    assert update_manifest(manifest, [*corpus, corpus[0]]) == digests(corpus)
    assert sorted(read) == sorted(path.name for path in corpus)
    read.clear()
    assert update_manifest(manifest, map(str, corpus)) == digests(corpus)
    assert read == []


def test_the_digest_does_not_depend_on_pieces(
    corpus: list[Path], manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PIECE", 3)
    assert update_manifest(manifest, corpus) == digests(corpus)


def test_a_touched_file_is_read_again_and_has_the_same_digest(
    corpus: list[Path], manifest: Path, read: list[str]
) -> None:
    before = update_manifest(manifest, corpus)
    read.clear()
    later(corpus[1])
    assert update_manifest(manifest, corpus) == before
    assert read == ["খ.txt"]
    read.clear()
    assert update_manifest(manifest, corpus) == before
    assert read == []


def test_a_changed_file_has_another_digest(corpus: list[Path], manifest: Path) -> None:
    before = update_manifest(manifest, corpus)
    corpus[0].write_text("TEXT of a.txt", encoding="utf-8")  # of the same size
    later(corpus[0])
    after = update_manifest(manifest, corpus)
    assert after == digests(corpus)
    assert [path for path in after if after[path] != before[path]] == [str(corpus[0])]


def test_entries_of_other_files_stay(corpus: list[Path], manifest: Path, read: list[str]) -> None:
    update_manifest(manifest, corpus[:1])
    update_manifest(manifest, corpus[1:])
    read.clear()
    update_manifest(manifest, corpus)
    assert read == []


def test_nothing_is_written_if_nothing_is_new(corpus: list[Path], manifest: Path) -> None:
    update_manifest(manifest, corpus)
    before = manifest.stat()
    update_manifest(manifest, corpus[:2])
    after = manifest.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert [path.name for path in manifest.parent.iterdir()] == ["manifest.json"]


DAMAGED = ["", "{", "[]", "null", '{"files": []}', '{"files": {"a": {"size": 1}}}', '{"files": {"a": 7}}', "\0" * 100]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_manifest_is_made_anew(
    corpus: list[Path], manifest: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    manifest.parent.mkdir()
    manifest.write_text(content, encoding="utf-8")
    assert update_manifest(manifest, corpus) == digests(corpus)
    assert "manifest.json: damaged" in caplog.text
    assert set(json.loads(manifest.read_text(encoding="utf-8"))["files"]) == {str(path) for path in corpus}


def test_where_nothing_may_be_written_the_digests_are_still_told(
    corpus: list[Path], manifest: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(module, "write_document", refusing)
    assert update_manifest(manifest, corpus) == digests(corpus)
    assert "not remembered" in caplog.text
    assert "Read-only file system" in caplog.text


def test_a_folder_in_the_way_is_no_error_either(corpus: list[Path], tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file, where a folder is wanted", encoding="utf-8")
    assert update_manifest(tmp_path / "results" / "manifest.json", corpus) == digests(corpus)


def test_a_file_that_disappeared(corpus: list[Path], manifest: Path) -> None:
    update_manifest(manifest, corpus)
    corpus[1].unlink()
    with pytest.raises(InputError, match=r"খ\.txt: this corpus file cannot be read \(No such file or directory\)"):
        update_manifest(manifest, corpus)


def test_a_file_that_disappears_between_two_looks_loses_no_other_digest(
    corpus: list[Path], manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digested = module._digested

    def vanishing(path: str, *told: Any) -> module.Entry:
        if path == str(corpus[0]):
            corpus[0].unlink()
        return digested(path, *told)

    monkeypatch.setattr(module, "_digested", vanishing)
    with pytest.raises(InputError, match=r"a\.txt: this corpus file cannot be read"):
        update_manifest(manifest, corpus)
    assert set(json.loads(manifest.read_text(encoding="utf-8"))["files"]) == {str(path) for path in corpus[1:]}


class Growing:
    """In the place of `xxhash.xxh3_128`: something is appended to a file whenever a digest begins, `times` times."""

    def __init__(self, path: Path, times: int) -> None:
        self.path, self.times, self.xxh3_128 = path, times, xxhash.xxh3_128

    def __call__(self) -> object:
        if self.times:
            self.times -= 1
            with self.path.open("a", encoding="utf-8") as file:
                file.write("more")
        return self.xxh3_128()


def test_a_file_that_changes_while_it_is_read(
    corpus: list[Path], manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xxhash, "xxh3_128", Growing(corpus[0], 1))
    assert update_manifest(manifest, corpus[:1]) == digests(corpus[:1])
    later(corpus[0])
    monkeypatch.setattr(xxhash, "xxh3_128", Growing(corpus[0], 2))
    with pytest.raises(InputError, match=r"a\.txt: this corpus file changes while it is read"):
        update_manifest(manifest, corpus[:1])


def test_a_long_read_is_announced(
    corpus: list[Path], manifest: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    update_manifest(manifest, corpus[:1])
    assert caplog.text == ""
    monkeypatch.setattr(module, "_WORTH_A_LINE", 10)
    update_manifest(manifest, corpus)
    assert "Reading 2 corpus file(s)" in caplog.text


def test_a_file_that_is_another_than_planned_is_refused(tmp_path: Path) -> None:
    path, manifest = tmp_path / "a.txt", tmp_path / "corpus.json"
    path.write_text("ফুল।\n", encoding="utf-8")
    digest = update_manifest(manifest, [path])[str(path)]
    with as_planned(path, digest, manifest):
        path.touch()  # the same content
    path.write_text("ফুল।\nমা।\n", encoding="utf-8")
    with (
        pytest.raises(InputError, match=r"a\.txt: another file than when the run was planned"),
        as_planned(path, digest, manifest),
    ):
        pytest.fail("the file must not be read")
    path.write_text("ফুল।\n", encoding="utf-8")
    with pytest.raises(InputError, match="another file than"), as_planned(path, digest, manifest):
        path.write_text("মা।\n", encoding="utf-8")
