"""What a plan takes from a lexicon: the same whether it is read or remembered, and never what was true before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prasanga import plan as planning
from prasanga.base.errors import InputError
from prasanga.base.io import digest_of
from prasanga.base.yaml import read_text
from prasanga.lexicon import categories_of, forms_table, load_lexicon, loading
from prasanga.lexicon.model import words_for_templates
from prasanga.plan import LexiconPlan, plan_lexicon

Plan = Callable[..., LexiconPlan]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which plans are kept, of a user with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/prasanga/plans"


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each time that a lexicon is read."""
    found: list[object] = []

    def spy(*arguments: Any, **options: Any) -> Any:
        found.append(arguments)
        return load_lexicon(*arguments, **options)

    monkeypatch.setattr(loading, "load_lexicon", spy)
    return found


@pytest.fixture
def plan(files: Any) -> Plan:
    """Plan with the lexicon of `files`, which a test may change."""
    return lambda normalization=None: plan_lexicon(words(files.stimuli, files.groups, normalization))


def words(stimuli: Path, groups: Path | None, normalization: str | None = None) -> dict[str, Any]:
    """Return where words are read from, as a study says it."""
    named = None if groups is None else str(groups)
    return {"stimuli": str(stimuli), "suffix_groups": named, "normalization": normalization}


def kept(cache: Path) -> Path:
    [path] = cache.glob("lexicon-*.json")
    return path


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def test_values_are_those_of_the_lexicon_read_or_remembered(files: Any, plan: Plan, readings: list[object]) -> None:
    lexicon = files.load()
    expected = LexiconPlan(
        "bn",
        digest_of(forms_table(lexicon).to_pydict()),
        categories_of(lexicon),
        digest_of(words_for_templates(lexicon)),
        {stimulus.name: ["", stimulus.place] for stimulus in lexicon.stimuli},
        {"C1": {name: str(files.path(name)) for name in ("flowers", "insects", "good", "bad")}},
        [],
    )
    assert expected.classes["রং"] == ["", f"{files.path('flowers')}, line 5"]
    first = plan()
    again = plan()
    assert len(readings) == 1
    assert first == again == expected
    assert list(again.categories) == list(expected.categories)  # also in this order
    assert again.categories["C1"]["targets"][0]["stimuli"] == ["গোলাপ", "রং"]


def test_a_changed_byte_counts_whatever_the_times_say(files: Any, plan: Plan, readings: list[object]) -> None:
    before, times = plan(), files.path("flowers").stat()
    files.change("flowers", "gloss: rose", "gloss: Rose")
    os.utime(files.path("flowers"), ns=(times.st_atime_ns, times.st_mtime_ns))
    after = plan()
    assert len(readings) == 2
    assert after.forms == before.forms
    assert (before.categories["glosses"]["গোলাপ"], after.categories["glosses"]["গোলাপ"]) == ("rose", "Rose")


@pytest.mark.parametrize("change", ["renamed", "added"])
def test_the_names_of_the_files_count(files: Any, plan: Plan, readings: list[object], change: str) -> None:
    """Words stand in the order of their files, which is one of names."""
    before = plan()
    if change == "renamed":
        files.path("flowers").rename(files.path("zinnias"))
    else:
        files.path("more").write_text("set: more\nwords:\n  - {stimulus: নদী, group: fixed}\n", encoding="utf-8")
    after = plan()
    assert len(readings) == 2
    assert after.forms != before.forms


def test_other_code_reads_the_lexicon_anew(plan: Plan, readings: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    plan()
    monkeypatch.setattr(planning, "_own_code", lambda: "edited")
    plan()
    assert len(readings) == 2


def test_a_damaged_cache_is_not_used(plan: Plan, cache: Path, readings: list[object]) -> None:
    expected = plan()
    path = kept(cache)
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert plan() == expected
    assert len(readings) == 2
    assert plan() == expected
    assert len(readings) == 2


def test_a_file_that_is_absent_is_told_as_ever(files: Any, plan: Plan) -> None:
    plan()
    files.groups.unlink()
    with pytest.raises(InputError, match=r"groups\.yaml: no such file"):
        plan()


def test_every_file_that_the_reader_opens_counts(
    files: Any, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each layout: a file that is read and does not count would be a change that nobody sees."""
    authors = tmp_path / "authors"
    authors.mkdir()
    sides = {key: {"category": key, "examples": [word]} for key, word in zip(("targ1", "targ2"), "কখ", strict=True)}
    sides |= {key: {"category": key, "examples": [word]} for key, word in zip(("attr1", "attr2"), "গঘ", strict=True)}
    write(authors / "ceat1.jsonl", sides)
    lists = write(tmp_path / "weatWordsWithSuffix.jsonl", {"ক": ["ের"]})
    numbers = write(tmp_path / "suffixCategories.jsonl", {"1": ["ের"]})
    numbered = tmp_path / "allWeatWords.txt"
    numbered.write_text("ক, 1\n", encoding="utf-8")
    opened: set[str] = set()

    def spy(path: Path) -> Any:
        opened.add(str(path))
        return read_text(path)

    layouts = [(files.stimuli, files.groups), (authors, lists), (authors, None), (lists, None), (numbered, numbers)]
    for stimuli, groups in layouts:
        opened.clear()
        with monkeypatch.context() as patch:
            for module in ("base.yaml", "lexicon.loading"):
                patch.setattr(f"prasanga.{module}.read_text", spy)
            load_lexicon(stimuli, groups)
        counted = {str(path) for path in planning.list_word_files(words(stimuli, groups))}
        assert opened, stimuli
        assert opened <= counted, stimuli
        plan_lexicon(words(stimuli, groups))
    assert len(list(cache.glob("lexicon-*.json"))) == len(layouts)
