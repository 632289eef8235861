"""Candidates ranked by their frequency in a corpus, and the candidate names of the project."""

from __future__ import annotations

import csv
import io
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_table
from prasanga.lexicon import load_lexicon
from prasanga.sentences import Matcher, Shard, extract_shard
from prasanga.sentences.candidates import (
    COUNT_SCHEMA,
    Candidates,
    Count,
    Ranked,
    add_counts,
    count_stimuli,
    rank,
    ranking_csv,
    read_candidates,
    word_set_yaml,
)

RESOURCES = Path(__file__).parents[3] / "resources"
GROUPS = "language: bn\ngroups: {name: {ending: any, cases: {genitive: [র]}}}\n"
HEAD = "language: bn\ncategories: {}\n"
NAMES = """
set: names
gloss: some names
words:
  - {stimulus: মিতা, gloss: Mita, group: name}
  - {stimulus: রিনা, gloss: Rina, group: name, variants: [রীনা]}
  - {stimulus: দীপা, gloss: Dipa, group: name, forms: [{form: দীপাদি, case: nominative}]}
  - {stimulus: অনু, group: name}
"""


def rows(*pairs: tuple[str, str]) -> pa.RecordBatch:
    """Rows of an extraction: (context, stimulus) each."""
    return pa.RecordBatch.from_pydict({"context_id": [c for c, _ in pairs], "stimulus": [s for _, s in pairs]})


def folder_with(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / f"{name}.yaml").write_text(content, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_with(tmp_path / "candidates", categories=HEAD, names=NAMES)


@pytest.fixture
def names(folder: Path) -> Candidates:
    (found,) = read_candidates(folder)
    return found


def order(ranked: Sequence[Ranked]) -> list[str]:
    return [word.stimulus for word in ranked]


def test_a_sentence_counts_once_for_a_word_that_stands_in_it_twice() -> None:
    counts = count_stimuli([rows(("1", "a"), ("1", "a"), ("1", "b"), ("2", "a"))])
    assert counts.schema == COUNT_SCHEMA
    assert counts.to_pylist() == [
        {"stimulus": "a", "occurrences": 3, "sentences": 2},
        {"stimulus": "b", "occurrences": 1, "sentences": 1},
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_counts_do_not_depend_on_how_the_rows_are_batched(size: int) -> None:
    pairs = [("1", "a"), ("1", "a"), ("1", "b"), ("1", "a"), ("2", "a"), ("2", "b"), ("3", "b"), ("3", "b")]
    batches = [rows(*pairs[start : start + size]) for start in range(0, len(pairs), size)]
    assert count_stimuli([*batches, rows()]) == count_stimuli([rows(*pairs)])
    assert count_stimuli(batches)["sentences"].to_pylist() == [2, 3]


def test_nothing_found_is_an_empty_table() -> None:
    assert count_stimuli([]).num_rows == 0
    assert count_stimuli([]).schema == COUNT_SCHEMA


def test_every_form_and_variant_counts_for_its_candidate_and_no_part_of_a_word_does(
    tmp_path: Path, folder: Path
) -> None:
    groups = tmp_path / "groups.yaml"
    groups.write_text(GROUPS, encoding="utf-8")
    text = "মিতার সঙ্গে রীনা। রিনার বাড়ি আর রিনার বাগান।\n\nদীপাদি ও মিতালি। পারমিতা!\n"
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    lexicon = load_lexicon(folder, groups)
    assert not Matcher(lexicon).find("পারমিতা মিতালি")
    shard = Shard(str(path), "a.txt", "blank-line")
    batches = extract_shard(shard, lexicon=lexicon, normalization="bangla", language="bn", before=0, after=0)
    assert [tuple(row.values()) for row in count_stimuli(batches).to_pylist()] == [
        ("দীপা", 1, 1),
        ("মিতা", 1, 1),
        ("রিনা", 3, 2),
    ]


def test_the_counts_of_the_parts_of_a_corpus_add_up(tmp_path: Path) -> None:
    parts = [[("1", "a"), ("1", "b")], [("2", "a"), ("2", "a")], []]
    paths = [tmp_path / f"{i}.parquet" for i in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        write_table(path, count_stimuli([rows(*part)] if part else []), {})
    assert add_counts(paths) == {"a": Count(3, 2), "b": Count(1, 1)}
    assert add_counts(reversed(paths)) == add_counts(paths)


def test_the_most_frequent_come_first_and_ties_stand_in_the_order_of_their_code_points(names: Candidates) -> None:
    counts = {"রিনা": Count(5, 5), "মিতা": Count(2, 2), "দীপা": Count(2, 1), "অনু": Count(9, 3), "কেউ": Count(99, 9)}
    ranked = rank(names, counts, top=3)
    assert order(ranked) == ["অনু", "রিনা", "দীপা", "মিতা"]
    assert [word.rank for word in ranked] == [1, 2, 3, 4]
    assert [word.chosen for word in ranked] == [True, True, True, False]
    assert ranked[0].found == Count(9, 3)


def test_a_candidate_without_an_occurrence_is_never_taken(names: Candidates, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ranked = rank(names, {"মিতা": Count(1, 1)}, top=2)
    assert order(ranked) == ["মিতা", "অনু", "দীপা", "রিনা"]
    assert [word.chosen for word in ranked] == [True, False, False, False]
    (message,) = caplog.messages
    assert message.startswith("names: only 1 of its 4 candidates occur(s) in the corpus; taken: 1")
    assert "not 2" in message


def test_enough_candidates_are_no_warning(names: Candidates, caplog: pytest.LogCaptureFixture) -> None:
    rank(names, {"মিতা": Count(1, 1)}, top=1)
    assert not caplog.messages


def test_the_table_has_every_candidate_of_every_set(names: Candidates) -> None:
    ranked = rank(names, {"মিতা": Count(3, 2), "অনু": Count(1, 1)}, top=1)
    table = list(csv.DictReader(io.StringIO(ranking_csv([(names, ranked)]))))
    assert [row["stimulus"] for row in table] == ["মিতা", "অনু", "দীপা", "রিনা"]
    assert table[0] == {
        "set": "names",
        "rank": "1",
        "stimulus": "মিতা",
        "gloss": "Mita",
        "occurrences": "3",
        "sentences": "2",
        "chosen": "true",
    }
    assert [row["gloss"] for row in table] == ["Mita", "", "Dipa", "Rina"]
    assert [row["chosen"] for row in table] == ["true", "false", "false", "false"]


def test_what_is_written_is_a_word_set_with_the_same_entries(tmp_path: Path, names: Candidates) -> None:
    counts = {"রিনা": Count(5, 5), "দীপা": Count(7, 1)}
    written = word_set_yaml(names, rank(names, counts, top=2))
    assert yaml.safe_load(written) == {
        "set": "names",
        "gloss": "some names",
        "words": [
            {
                "stimulus": "দীপা",
                "gloss": "Dipa",
                "group": "name",
                "forms": [{"form": "দীপাদি", "case": "nominative"}],
            },
            {"stimulus": "রিনা", "gloss": "Rina", "group": "name", "variants": ["রীনা"]},
        ],
    }
    assert written.splitlines()[1] == "# Occurrences: 7, 5."
    groups = tmp_path / "groups.yaml"
    groups.write_text(GROUPS, encoding="utf-8")
    lexicon = load_lexicon(folder_with(tmp_path / "stimuli", categories=HEAD, names=written), groups)
    assert [stimulus.name for stimulus in lexicon.stimuli] == ["দীপা", "রিনা"]
    assert {"রীনার", "দীপাদি"} <= set(lexicon.claims())


def test_a_set_of_which_nothing_occurs_is_written_as_an_empty_one(names: Candidates) -> None:
    assert yaml.safe_load(word_set_yaml(names, rank(names, {}, top=2)))["words"] == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"categories": HEAD}, "no folder with candidate word sets"),
        ({"categories": HEAD, "a": NAMES, "b": NAMES}, "there is another file with `set: names`"),
        ({"categories": HEAD, "a": NAMES.replace("set: names", "set: ../names")}, "becomes a file name"),
        ({"categories": HEAD, "a": "set: names\n"}, "lacks the key `words`"),
    ],
)
def test_folders_that_cannot_be_used(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_candidates(folder_with(tmp_path / "bad", **files))


@pytest.mark.parametrize("language", ["bn", "hi", "en"])
def test_the_candidate_names_of_the_project(language: str) -> None:
    folder, groups = RESOURCES / "candidates" / language, RESOURCES / "suffix_groups" / f"{language}.yaml"
    sets = {candidates.name: candidates for candidates in read_candidates(folder)}
    assert set(sets) == {f"{group}_{sex}_names" for group in ("hindu", "muslim") for sex in ("female", "male")}
    assert all(24 <= len(candidates.words) <= 30 for candidates in sets.values())
    every = [stimulus for candidates in sets.values() for stimulus in candidates.words]
    assert len(every) == len(set(every)), "a name stands in one group"
    lexicon = load_lexicon(folder, groups)
    assert lexicon.language == language
    assert [stimulus.name for stimulus in lexicon.stimuli] == every
    assert not lexicon.resolutions, "no form is claimed by two candidates"


@pytest.mark.parametrize("language", ["bn", "hi", "en"])
def test_candidates_can_stand_beside_the_stimuli_of_the_project(tmp_path: Path, language: str) -> None:
    """A name of both has the same entry in both, and no form of a candidate is a form of another stimulus."""
    folder = tmp_path / language
    shutil.copytree(RESOURCES / "candidates" / language, folder)
    shutil.copytree(RESOURCES / "stimuli" / language, folder, dirs_exist_ok=True)
    lexicon = load_lexicon(folder, RESOURCES / "suffix_groups" / f"{language}.yaml")
    candidates = {stimulus for each in read_candidates(RESOURCES / "candidates" / language) for stimulus in each.words}
    assert candidates <= {stimulus.name for stimulus in lexicon.stimuli}
