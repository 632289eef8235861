"""What a user can get wrong in our layout, and the sentence that says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tables import read_table

from prasanga.base.errors import InputError
from prasanga.lexicon import load_lexicon


def message(files: Any) -> str:
    with pytest.raises(InputError) as error:
        files.load()
    return str(error.value)


@pytest.mark.parametrize(("name", "old", "new", "expected"), read_table(__file__, "mistakes"))
def test_mistakes(files: Any, name: str, old: str, new: str, expected: str) -> None:
    assert re.search(expected, message(files.change(name, old, new)))


def test_syntax_error_names_file_and_line(files: Any) -> None:
    files.change("flowers", "gloss: rose, group: thing}", "gloss: rose, group: thing")
    assert re.search(r"flowers\.yaml, line 5: not YAML: ", message(files))


def test_a_group_on_a_stem_of_another_class(files: Any) -> None:
    files.change("flowers", "stimulus: গোলাপ", "stimulus: জবা")
    assert re.search(
        r"line 4: the stimulus জবা has the suffix group `thing`, which is for stems of the ending class consonant; জবা is"
        r" of the class vowel\. Groups for that class: person, fixed\.",
        message(files),
    )


def test_a_group_on_a_stem_without_the_ending_that_it_names(files: Any) -> None:
    files.change("groups", "ending: [vowel, diphthong]", "ending: [-ে, -ছা]")
    assert "which is for stems of the ending class -ে or -ছা; মাছি is of the class vowel" in message(files)


def test_of_many_mistakes_the_first_are_listed_and_the_others_counted(files: Any) -> None:
    more = "".join(f"\n  - {{stimulus: ক{'খ' * n}, group: none}}" for n in range(20))
    *listed, last = message(files.change("good", "words:", f"words:{more}")).splitlines()
    assert len(listed) == 12
    assert last == "... and 8 more like these."


def test_a_word_on_both_sides(files: Any) -> None:
    files.change("good", "words:", "words:\n  - {stimulus: পচা, group: fixed}")
    assert "(words in both: পচা)" in message(files)


def test_missing_files(files: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: no such file or folder"):
        load_lexicon(tmp_path / "nowhere", files.groups)
    with pytest.raises(InputError, match=r"nothing\.yaml: no such file"):
        load_lexicon(files.stimuli, tmp_path / "nothing.yaml")
    with pytest.raises(
        InputError, match=r"with nothing as `suffix_groups` .* Give a folder of .* with suffix groups \(\*\.yaml\)"
    ):
        load_lexicon(files.stimuli)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: a folder without word sets"):
        load_lexicon(tmp_path / "empty", files.groups)
    files.path("categories").unlink()
    assert "categories.yaml: no such file." in message(files)


AMBIGUOUS = "words:\n  - {stimulus: গোলাপের, gloss: invented, group: fixed}"


def test_an_undecided_form_names_both_stimuli_and_the_lines_to_write(files: Any) -> None:
    text = message(files.change("good", "words:", AMBIGUOUS))
    assert "categories.yaml: 1 form(s) have several stimuli" in text
    assert re.search(
        r"- গোলাপের: গোলাপ \(singular genitive; .*flowers.yaml, line 4\) and গোলাপের \(.*good.yaml, line 3\)", text
    )
    assert '    ambiguous:\n      - {form: গোলাপের, resolution: গোলাপ, reason: "..."}' in text


@pytest.mark.parametrize(
    ("resolution", "owners"),
    [
        ("গোলাপ", ("গোলাপ",)),
        ("গোলাপের", ("গোলাপের",)),
        ("both", ("গোলাপ", "গোলাপের")),
        ("none", None),
    ],
)
def test_resolutions(files: Any, resolution: str, owners: tuple[str, ...] | None) -> None:
    files.change("good", "words:", AMBIGUOUS)
    files.append("categories", f"ambiguous:\n  - {{form: গোলাপের, resolution: {resolution}, reason: a test}}\n")
    claims = files.load().claims()
    assert claims.get("গোলাপের") == owners
    # Only one stimulus has this form; it is left out where the form without ই is.
    assert claims.get("গোলাপেরই") == (None if resolution == "none" else ("গোলাপ",))


def test_a_decision_holds_for_the_emphatic_form(files: Any) -> None:
    files.change("groups", "fixed: {ending: any}", "fixed: {ending: any, emphatic: [ও]}")
    files.change("good", "words:", AMBIGUOUS)
    assert message(files).count("resolution:") == 1
    files.append("categories", "ambiguous:\n  - {form: গোলাপের, resolution: গোলাপের, reason: a test}\n")
    assert files.load().claims()["গোলাপেরও"] == ("গোলাপের",)


@pytest.mark.parametrize(("key", "entry", "expected"), read_table(__file__, "decisions"))
def test_wrong_decisions_and_neighbours(files: Any, key: str, entry: str, expected: str) -> None:
    if key == "ambiguous":
        files.change("good", "words:", AMBIGUOUS)
    files.append("categories", f"{key}:\n  - {entry}\n")
    assert re.search(expected, message(files))


def test_a_decision_listed_twice(files: Any) -> None:
    entry = "  - {form: গোলাপের, resolution: both, reason: x}\n"
    files.change("good", "words:", AMBIGUOUS).append("categories", f"ambiguous:\n{entry}{entry}")
    assert "categories.yaml, line 6: the form গোলাপের is listed twice" in message(files)


def test_neighbours_of_all_forms_of_a_word_and_of_one(files: Any) -> None:
    """A form has what is said of itself, of its stem with an emphatic, and of its stimulus, joined."""
    files.append(
        "categories",
        "neighbours:\n  - {stimuli: [গোলাপ], not_after: [না, '\"'], reason: t}\n"
        "  - {forms: [গোলাপের], not_before: [জল, না], reason: t}\n",
    )
    neighbours = files.load().neighbours
    assert neighbours["গোলাপ"] == (frozenset({"না", '"'}), frozenset())
    assert neighbours["গোলাপের"] == (frozenset({"না", '"'}), frozenset({"জল", "না"}))
    assert {form for form in neighbours if "গোলাপ" not in form} == set()
