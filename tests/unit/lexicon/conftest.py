"""Small lexicons in YAML: files that are right, for each test to change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from prasanga.lexicon import Lexicon, load_lexicon

GROUPS = """\
language: bn
groups:
  thing:
    description: things ending in a consonant
    ending: consonant
    cases: {genitive: [ের], objective: ["", কে], locative: [ে]}
    numbers:
      definite: {suffixes: [টি, টা], cases: {genitive: [র]}}
      plural: {suffixes: [গুলো], cases: {locative: [তে]}}
    emphatic: [ই, ও]
    alternation: {ং: ঙ}
    examples:
      - {stem: গোলাপ, match: [গোলাপের, গোলাপগুলোতেও], no_match: [গোলাপর]}
  person:
    ending: [vowel, diphthong]
    cases: {genitive: [র]}
    numbers:
      plural:
        - {suffixes: [রা]}
        - {suffixes: [""], cases: {nominative: [], genitive: [দের], objective: [দের, দেরকে]}}
  kin: {ending: monosyllable, cases: {genitive: [য়ের], objective: [কে]}}
  fixed: {ending: any}
"""
FLOWERS = """\
set: flowers
gloss: flowers
words:
  - {stimulus: গোলাপ, gloss: rose, group: thing}
  - {stimulus: রং, gloss: colour, group: thing, variants: [রঙ]}
"""
INSECTS = """\
set: insects
words:
  - {stimulus: মাছি, gloss: fly, group: person}
  - {stimulus: মা, gloss: mother, group: kin, forms: [{form: মাগো, case: objective}]}
"""
GOOD = """\
set: good
words:
  - {stimulus: সৎ, gloss: honest, group: fixed}
"""
BAD = """\
set: bad
words:
  - {stimulus: পচা, gloss: rotten, group: fixed}
"""
CATEGORIES = """\
language: bn
categories:
  C1: {title: "Flowers and insects", targets: [flowers, insects], attributes: [good, bad]}
"""


class Files:
    """The files of a small lexicon; `change` one, then `load`."""

    def __init__(self, folder: Path) -> None:
        self.groups = folder / "groups.yaml"
        self.stimuli = folder / "stimuli"
        self.stimuli.mkdir()
        self.groups.write_text(GROUPS, encoding="utf-8")
        for name, text in {
            "flowers": FLOWERS,
            "insects": INSECTS,
            "good": GOOD,
            "bad": BAD,
            "categories": CATEGORIES,
        }.items():
            self.path(name).write_text(text, encoding="utf-8")

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
