"""What is remembered of source files between plans: the same digests, and never those of other code."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from prasanga.provenance import code
from prasanga.provenance.cache import read_cache, write_cache
from prasanga.provenance.code import fingerprint, remembered


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_known", {})


@pytest.fixture
def script(tmp_path: Path) -> Path:
    package = tmp_path / "src/prasanga/words"
    package.mkdir(parents=True)
    for path, text in {
        package.parent / "__init__.py": "",
        package / "__init__.py": "from prasanga.words.split import split\n",
        package / "split.py": "def split(text):\n    return text.split()\n",
        tmp_path / "script.py": "from prasanga.words import split\nsplit('a b')\n",
    }.items():
        path.write_text(text, encoding="utf-8")
    return tmp_path / "script.py"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The sources that are parsed."""
    found: list[bytes] = []
    parse = ast.parse
    with monkeypatch.context() as patch:
        patch.setattr(code.ast, "parse", lambda source: found.append(source) or parse(source))
        yield found


def in_a_new_process(script: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(code, "_known", {})
    with remembered(script.parent / "cache/code.json"):
        return fingerprint(script, script.parent / "src")


def test_a_file_is_read_once_in_a_block_and_anew_in_the_next(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path))
    cache = script.parent / "cache/code.json"
    with remembered(cache):
        before = fingerprint(script, script.parent / "src")
        assert fingerprint(script, script.parent / "src") == before
    assert read.count("split.py") == 1
    (script.parent / "src/prasanga/words/split.py").write_text(
        "def split(text):\n    return [text]\n", encoding="utf-8"
    )
    with remembered(cache):
        after = fingerprint(script, script.parent / "src")
    assert {name for name in after if after[name] != before[name]} == {"prasanga.words.split"}


def test_nothing_is_parsed_twice(script: Path, parsed: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fingerprint(script, script.parent / "src")
    assert in_a_new_process(script, monkeypatch) == plain
    parsed.clear()
    assert in_a_new_process(script, monkeypatch) == plain
    assert parsed == []


def test_an_edit_is_seen_whatever_the_times_say(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = in_a_new_process(script, monkeypatch)
    module = script.parent / "src/prasanga/words/split.py"
    times = module.stat()
    module.write_text("def split(text):\n    return text.strip()\n", encoding="utf-8")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = in_a_new_process(script, monkeypatch)
    assert {name for name in before if before[name] != after[name]} == {"prasanga.words.split"}


def test_a_new_import_is_followed(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = in_a_new_process(script, monkeypatch)
    (script.parent / "src/prasanga/errors.py").write_text("class InputError(ValueError): ...\n", encoding="utf-8")
    module = script.parent / "src/prasanga/words/split.py"
    module.write_text("from .. import errors\n" + module.read_text(encoding="utf-8"), encoding="utf-8")
    assert set(in_a_new_process(script, monkeypatch)) - set(before) == {"prasanga.errors"}


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff", b'{"key": 1, "digest": "", "value": {"script.py": []}}'])
def test_a_damaged_file_is_made_anew(script: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = in_a_new_process(script, monkeypatch)
    cache = script.parent / "cache/code.json"
    whole = cache.read_bytes()
    cache.write_bytes(damage)
    assert in_a_new_process(script, monkeypatch) == expected
    assert json.loads(cache.read_bytes()) == json.loads(whole)


def test_what_is_kept_is_of_one_key_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder/cache.json"
    write_cache(path, "first", {"অ": [1, None]})
    assert read_cache(path, "first") == {"অ": [1, None]}
    assert read_cache(path, "second") is None
    path.write_text(path.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    assert read_cache(path, "first") is None
    assert read_cache(tmp_path / "absent.json", "first") is None
    assert [found.name for found in path.parent.iterdir()] == ["cache.json"]
