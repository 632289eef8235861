"""Small lexicons in YAML: files that are right, for each test to change."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from prasanga.lexicon import Lexicon, load_lexicon

SMALL = Path(__file__).with_name("small")


class Files:
    """The files of a small lexicon; `change` one, then `load`."""

    def __init__(self, folder: Path) -> None:
        self.groups = folder / "groups.yaml"
        self.stimuli = folder / "stimuli"
        shutil.copytree(SMALL, folder, dirs_exist_ok=True)

    def path(self, name: str) -> Path:
        return self.groups if name == "groups" else self.stimuli / f"{name}.yaml"

    def change(self, name: str, old: str, new: str) -> Files:
        text = self.path(name).read_text(encoding="utf-8")
        assert old in text
        self.path(name).write_text(text.replace(old, new, 1), encoding="utf-8")
        return self

    def append(self, name: str, text: str) -> Files:
        with self.path(name).open("a", encoding="utf-8") as file:
            file.write(text)
        return self

    def load(self) -> Lexicon:
        return load_lexicon(self.stimuli, self.groups)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def forms_of(files: Files) -> Callable[[str], list[str]]:
    return lambda stimulus: [form.form for form in files.load().forms if form.stimulus == stimulus]
