"""Compiled code that is kept on disk is that of the sources as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHOW = "from prasanga.text import lines; print(lines._CACHE)"


def cache_folder(source: Path, cache: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_folder_is_another_when_a_module_or_a_constant_changes(project_root: Path, tmp_path: Path) -> None:
    source = tmp_path / "src"
    shutil.copytree(project_root / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    folders = [cache_folder(source, str(tmp_path / "cache"))]
    for module, old, new in (
        ("text/words.py", "IS_WORD: Final = 1", "IS_WORD: Final = 4096"),
        ("sentences/matcher.py", "_HYPHEN: Final = 0x2010", "_HYPHEN: Final = 0x2011"),
    ):
        path = source / "prasanga" / module
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        folders.append(cache_folder(source, str(tmp_path / "cache")))
    assert len(set(folders)) == 3
    assert all(Path(folder).parent == tmp_path / "cache" for folder in folders)


def test_a_folder_that_cannot_be_written_is_passed_over(project_root: Path) -> None:
    assert cache_folder(project_root / "src", "/dev/null/nowhere").startswith(str(project_root / "src"))
