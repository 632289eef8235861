"""What counts as one unit in the word lists, and the tables of docs/data_statement.md that list it."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from shipped import lexicon_of

LANGUAGES = {"Bangla": "bn", "Hindi": "hi", "English": "en"}
MATCHED = {"C5": "targets", "C6": "attributes", "C8": "attributes"} | dict.fromkeys(
    ("GC1", "GC3", "GA1", "GA3"), "targets"
)


@pytest.fixture(autouse=True)
def _in_the_project(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project_root)


def read_sets(language: str) -> dict[str, list[dict[str, Any]]]:
    files = (yaml.safe_load(path.read_text("utf-8")) for path in Path("resources/stimuli", language).glob("*.yaml"))
    return {content["set"]: content["words"] for content in files if "set" in content}


def clusters_in(words: list[dict[str, Any]]) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        if "cluster" in word:
            found.setdefault(word["cluster"], []).append(word["stimulus"])
    return list(found.values())


def count_units(words: list[dict[str, Any]]) -> int:
    return len({word.get("cluster", ("", word["stimulus"])) for word in words})


def read_rows(head: str) -> list[list[str]]:
    """The rows of the table under a head, cell by cell."""
    table = Path("docs/data_statement.md").read_text("utf-8").partition(f"{head}\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]


@pytest.mark.parametrize("language", LANGUAGES.values())
def test_male_and_female_terms_are_pairs(language: str) -> None:
    categories = lexicon_of(language).categories
    assert {name: each.matched for name, each in categories.items() if each.matched} == MATCHED
    for name, role in MATCHED.items():
        male, female = getattr(categories[name], role)
        assert len(male.stimuli) == len(female.stimuli) == (8 if name.startswith("G") else 10)
        assert (male.name.replace("male", "female"), "_terms" in male.name) == (female.name, True)


@pytest.mark.parametrize("language", LANGUAGES.values())
def test_a_word_that_contains_another_of_its_set_is_in_its_cluster(language: str) -> None:
    """Names are no words made of words, and compounds of two words are described in the data statement."""
    for name, words in read_sets(language).items():
        for one, other in permutations(words, 2):
            text, longer = one["stimulus"], other["stimulus"]
            if "names" not in name and len(text) > 2 and text in longer and " " not in longer:
                assert one.get("cluster") == other.get("cluster") is not None, (name, text, longer)


@pytest.mark.parametrize("language", LANGUAGES.values())
def test_names_are_in_no_cluster(language: str) -> None:
    sets = read_sets(language)
    assert not [name for name in sets if "names" in name and clusters_in(sets[name])]


def test_the_data_statement_lists_all_clusters() -> None:
    expected: dict[str, list[str]] = {}
    for column, language in enumerate(LANGUAGES.values()):
        for name, words in read_sets(language).items():
            if found := clusters_in(words):
                cell = f"{count_units(words)} of {len(words)}: {'; '.join(map(', '.join, found))}"
                expected.setdefault(f"`{name}`", ["", "", ""])[column] = cell
    assert {name: cells for name, *cells in read_rows("| set | Bangla | Hindi | English |")} == expected


def test_the_data_statement_names_the_categories_with_too_few_units() -> None:
    rows = read_rows("| language | sets with fewer than eight units | categories |")
    assert [row[0] for row in rows] == list(LANGUAGES)
    for language, named, categories in rows:
        sets = read_sets(LANGUAGES[language])
        small = {name for name, words in sets.items() if count_units(words) < 8}
        assert small == {
            name for name in sets for each in named.split(", ") if name.startswith(each.strip("`").replace(" ", "_"))
        }
        expected = [
            name
            for name, category in lexicon_of(LANGUAGES[language]).categories.items()
            if small & {side.name for side in (*category.targets, *category.attributes)}
        ]
        spans = [re.findall(r"(\D+)(\d+)", each) for each in re.split(", |; ", categories)]
        listed = [f"{span[0][0]}{n}" for span in spans for n in range(int(span[0][1]), int(span[-1][1]) + 1)]
        assert listed == expected, language
