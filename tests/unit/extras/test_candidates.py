"""Candidates ranked by their frequency in a corpus, and the candidate names of the project."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from tables import read_text

from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.extras.corpora import (
    COUNT_SCHEMA,
    Candidates,
    count_stimuli,
    rank_candidates,
    read_candidates,
    word_set_yaml,
)
from prasanga.lexicon import load_lexicon
from prasanga.sentences import Shard, extract_shard

RESOURCES = Path(__file__).parents[3] / "resources"
GROUPS = "language: bn\ngroups: {name: {ending: any, cases: {genitive: [র]}}}\n"
HEAD = "language: bn\ncategories: {}\n"
NAMES = read_text(__file__, "names.yaml")


def folder_with(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / f"{name}.yaml").write_text(content, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "groups.yaml").write_text(GROUPS, encoding="utf-8")
    return folder_with(tmp_path / "candidates", categories=HEAD, names=NAMES)


@pytest.fixture
def names(folder: Path) -> Candidates:
    (found,) = read_candidates(folder)
    return found


def counts(folder: Path, **found: tuple[int, int]) -> list[Path]:
    """The counts of two parts of a corpus, which add up to those given."""
    paths = [folder / "a.parquet", folder / "b.parquet"]
    for path, less in zip(paths, (1, 0), strict=True):
        rows = [
            {"stimulus": word, "occurrences": n - 1 if less else 1, "sentences": m - 1 if less else 1}
            for word, (n, m) in found.items()
        ]
        write_table(path, pa.Table.from_pylist(rows, COUNT_SCHEMA), {})
    return paths


def test_a_sentence_counts_once_however_its_rows_are_batched() -> None:
    pairs = [("1", "a"), ("1", "a"), ("1", "b"), ("2", "a"), ("2", "b"), ("3", "b"), ("3", "b")]
    table = pa.Table.from_pydict({"context_id": [c for c, _ in pairs], "stimulus": [s for _, s in pairs]})
    expected = [
        {"stimulus": "a", "occurrences": 3, "sentences": 2},
        {"stimulus": "b", "occurrences": 4, "sentences": 3},
    ]
    for size in (1, 2, 9):
        assert count_stimuli(table.to_batches(size)).to_pylist() == expected
    assert count_stimuli([]) == COUNT_SCHEMA.empty_table()


def test_every_form_and_variant_counts_and_no_part_of_a_word_does(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("মিতার সঙ্গে রীনা। রিনার বাড়ি আর রিনার বাগান।\n\nদীপাদি ও মিতালি। পারমিতা!\n", encoding="utf-8")
    lexicon = load_lexicon(folder, tmp_path / "groups.yaml")
    shard = Shard(str(path), "a.txt", "blank-line")
    batches = extract_shard(shard, lexicon=lexicon, normalization="bangla", language="bn", before=0, after=0)
    found = [tuple(row.values()) for row in count_stimuli(batches).to_pylist()]
    assert found == [("দীপা", 1, 1), ("মিতা", 1, 1), ("রিনা", 3, 2)]


def test_the_most_frequent_come_first_and_ties_follow_their_code_points(tmp_path: Path, names: Candidates) -> None:
    found = counts(tmp_path, রিনা=(5, 5), মিতা=(2, 2), দীপা=(2, 1), অনু=(9, 3), কেউ=(99, 9))
    ranking = rank_candidates([names], found, top=3)
    assert ranking.rows() == [
        ("names", 1, "অনু", "", 9, 3, True),
        ("names", 2, "রিনা", "Rina", 5, 5, True),
        ("names", 3, "দীপা", "Dipa", 2, 1, True),
        ("names", 4, "মিতা", "Mita", 2, 2, False),
    ]
    assert ranking.columns == ["set", "rank", "stimulus", "gloss", "occurrences", "sentences", "chosen"]
    assert rank_candidates([names], found[::-1], top=3).equals(ranking)


def test_a_candidate_that_does_not_occur_is_never_chosen(
    tmp_path: Path, names: Candidates, caplog: pytest.LogCaptureFixture
) -> None:
    found = counts(tmp_path, মিতা=(1, 1))
    rank_candidates([names], found, top=1)
    assert not caplog.messages
    with caplog.at_level(logging.WARNING):
        ranking = rank_candidates([names], found, top=2)
    assert ranking["chosen"].to_list() == [True, False, False, False]
    assert caplog.messages[0].startswith("names: only 1 candidates occur in the corpus, fewer than")
    nothing = rank_candidates([names], counts(tmp_path), top=2)
    assert yaml.safe_load(word_set_yaml(names, nothing))["words"] == []


def test_the_word_set_has_the_same_entries(tmp_path: Path, names: Candidates) -> None:
    written = word_set_yaml(names, rank_candidates([names], counts(tmp_path, রিনা=(5, 5), দীপা=(7, 1)), top=2))
    assert yaml.safe_load(written) == {
        "set": "names",
        "gloss": "some names",
        "words": [
            {"stimulus": "দীপা", "gloss": "Dipa", "group": "name", "forms": [{"form": "দীপাদি", "case": "nominative"}]},
            {"stimulus": "রিনা", "gloss": "Rina", "group": "name", "variants": ["রীনা"]},
        ],
    }
    assert written.splitlines()[1] == "# Occurrences: 7, 5."
    lexicon = load_lexicon(folder_with(tmp_path / "stimuli", categories=HEAD, names=written), tmp_path / "groups.yaml")
    assert [stimulus.name for stimulus in lexicon.stimuli] == ["দীপা", "রিনা"]
    assert {"রীনার", "দীপাদি"} <= set(lexicon.claims())


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no candidate word sets"):
        read_candidates(folder_with(tmp_path / "bad", categories=HEAD))


@pytest.mark.parametrize("language", ["bn", "hi", "en"])
def test_the_candidate_names_of_the_project(tmp_path: Path, language: str) -> None:
    """Beside the stimuli, a name has the same entry in both, and no form of a candidate is one of another stimulus."""
    folder, groups = RESOURCES / "candidates" / language, RESOURCES / "suffix_groups" / f"{language}.yaml"
    sets = {candidates.name: candidates for candidates in read_candidates(folder)}
    assert set(sets) == {f"{group}_{sex}_names" for group in ("hindu", "muslim") for sex in ("female", "male")}
    assert all(24 <= len(candidates.words) <= 30 for candidates in sets.values())
    every = [stimulus for candidates in sets.values() for stimulus in candidates.words]
    lexicon = load_lexicon(folder, groups)
    assert [stimulus.name for stimulus in lexicon.stimuli] == every
    assert not lexicon.resolutions, "no form is claimed by two candidates"
    shutil.copytree(folder, tmp_path / language)
    shutil.copytree(RESOURCES / "stimuli" / language, tmp_path / language, dirs_exist_ok=True)
    together = load_lexicon(tmp_path / language, groups)
    assert set(every) <= {stimulus.name for stimulus in together.stimuli}
