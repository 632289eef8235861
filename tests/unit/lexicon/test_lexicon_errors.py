"""What a user can get wrong in our layout, and the sentence that says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from prasanga.base.errors import InputError
from prasanga.lexicon import forms_table, load_lexicon


def message(files: Any) -> str:
    with pytest.raises(InputError) as error:
        files.load()
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        (
            "flowers",
            "gloss: rose",
            "glos: rose",
            r"flowers.yaml, line 4: unknown key `glos` in a word\. Did you mean `gloss`",
        ),
        ("flowers", "set: flowers", "sets: flowers", r"line 1: unknown key `sets` in a word set\. Did you mean `set`"),
        (
            "flowers",
            "group: thing}",
            "group: things}",
            r"line 4: the stimulus গোলাপ names the suffix group `things`, which is not in .*\. Did you mean `thing`\?",
        ),
        ("flowers", ", group: thing}", "}", r"line 4: the stimulus গোলাপ has no `group`"),
        (
            "flowers",
            "group: thing}",
            "group: thing, groups: [fixed]}",
            r"line 4: the stimulus গোলাপ has both `group` and",
        ),
        (
            "flowers",
            "stimulus: গোলাপ",
            "stimulus: রং",
            r"line 5: the stimulus রং stands twice in the word set `flowers` \(first: .*flowers.yaml, line 4\)",
        ),
        ("flowers", "stimulus: গোলাপ", "stimulus: 7", r"line 4: `stimulus` holds 7, but must be text"),
        ("flowers", "stimulus: গোলাপ", "stimulus: ' '", r"line 4: `stimulus` is empty"),
        (
            "flowers",
            "variants: [রঙ]",
            "variants: [রং]",
            r"line 5: a variant of রং stands twice, or is the stimulus itself",
        ),
        (
            "flowers",
            "variants: [রঙ]",
            "variants: [গোলাপ]",
            r"line 5: গোলাপ is a spelling of the stimulus রং, and also of গোলাপ \(.*line 4\)",
        ),
        ("flowers", "variants: [রঙ]", "variants: {}", r"line 5: `variants` is \{\}, but must be a list"),
        ("flowers", "set: flowers", "set: insects", r"there is another file with `set: insects`"),
        (
            "flowers",
            "gloss: rose,",
            "gloss: rose, gloss: rose,",
            r"flowers.yaml, line 4: the key `gloss` is there",
        ),
        ("good", "  - {stimulus: সৎ, gloss: honest, group: fixed}", "", r"good.yaml: the word set `good` is empty"),
        (
            "good",
            "stimulus: সৎ, gloss: honest, group: fixed",
            "stimulus: রং, group: thing",
            r"good.yaml, line 3: the stimulus রং has the variants \[\], but \[রঙ\] at .*line 5",
        ),
        (
            "good",
            "words:",
            "words:\n  - {stimulus: গোলাপ, group: fixed}",
            r"good.yaml, line 3: the stimulus গোলাপ has the suffix groups \[fixed\], but \[thing\] at .*line 4",
        ),
        (
            "insects",
            "case: objective",
            "case: objektive",
            r"insects.yaml, line 4: a form of মা has the case `objektive`\. Did you mean `objective`",
        ),
        (
            "categories",
            "[flowers, insects]",
            "[flower, insects]",
            r"categories.yaml, line 3: the category `C1` names the word set `flower` .*Did you mean `flowers`",
        ),
        (
            "categories",
            "[flowers, insects]",
            "[flowers]",
            r"`targets` of the category `C1` is \[flowers\], but must name two different word sets",
        ),
        ("categories", "[flowers, insects]", "[flowers, flowers]", r"must name two different word sets"),
        ("categories", "targets", "target", r"unknown key `target` in the category `C1`\. Did you mean `targets`"),
        ("categories", "language: bn", "language: hi", r"`language` is 'hi', but .*groups.yaml is for 'bn'"),
        (
            "groups",
            "ending: consonant",
            "ending: consonants",
            r"groups.yaml, line 4: the suffix group `thing` has the ending class `conson.* Did you mean `consonant`",
        ),
        (
            "groups",
            "ending: consonant",
            "ending: '-'",
            r"the suffix group `thing` has the ending class `-`.* Or write the end of the stems, with a hyphen",
        ),
        ("groups", "language: bn", "language: bn\nhyphenated: 1", r"`hyphenated` is 1\. Write `hyphenated: true` or"),
        (
            "groups",
            "    ending: consonant",
            "    ending: consonant\n    capitalized: yess",
            r"groups.yaml, line 4: `capitalized` is 'yess'\. Write `capitalized: true` or `capitalized: false`",
        ),
        ("groups", "language: bn", "languages: bn", r"unknown key `languages` in a file of suffix groups"),
        (
            "groups",
            "{genitive: [ের], obj",
            "{genetive: [ের], obj",
            r"line 6: unknown case `genetive`\. Did you mean `genitive`",
        ),
        ("groups", "      plural: {", "      plurals: {", r"unknown number `plurals`\. Did you mean `plural`"),
        ("groups", "      plural: {", "      singular: {", r"the singular's endings stand under `cases`"),
        ("groups", "alternation: {ং:", "alternation: {'':", r"`alternation` has an empty key, but a key is the last"),
        (
            "groups",
            "emphatic: [ই",
            "emphatics: [ই",
            r"unknown key `emphatics` in the suffix group `thing`\. Did you mean `emphatic`",
        ),
        ("groups", "suffixes: [গুলো]", "suffixes: []", r"`suffixes` of the number `plural` is empty"),
    ],
)
def test_mistakes(files: Any, name: str, old: str, new: str, expected: str) -> None:
    assert re.search(expected, message(files.change(name, old, new)))


def test_syntax_error_names_file_and_line(files: Any) -> None:
    files.change("flowers", "gloss: rose, group: thing}", "gloss: rose, group: thing")
    assert re.search(r"flowers\.yaml, line 5: not YAML: ", message(files))


def test_a_file_without_keys(files: Any) -> None:
    files.path("good").write_text("", encoding="utf-8")
    assert "good.yaml: found nothing, but the file must hold keys" in message(files)


def test_a_file_that_is_not_utf8(files: Any) -> None:
    files.path("good").write_bytes(b"set: \xff\n")
    assert "good.yaml, line 1: not UTF-8" in message(files)


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


def test_an_unknown_normalization(files: Any) -> None:
    with pytest.raises(InputError, match="normalization: 'nukka' is unknown"):
        load_lexicon(files.stimuli, files.groups, normalization="nukka")


def test_a_variant_must_fit_as_well(files: Any) -> None:
    files.change("flowers", "variants: [রঙ]", "variants: [রাঙা]")
    assert "the stimulus রং (variant রাঙা) has the suffix group `thing`" in message(files)


def test_all_misfits_are_listed_at_once(files: Any) -> None:
    files.change("flowers", "group: thing}", "group: kin}").change("insects", "group: person}", "group: thing}")
    assert message(files).count("\n") == 1


def test_a_word_on_both_sides(files: Any) -> None:
    files.change("good", "words:", "words:\n  - {stimulus: পচা, group: fixed}")
    assert "`attributes` of the category `C1` has পচা on both sides" in message(files)


def test_missing_files(files: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: no such file or folder"):
        load_lexicon(tmp_path / "nowhere", files.groups)
    with pytest.raises(InputError, match=r"nothing\.yaml: no such file"):
        load_lexicon(files.stimuli, tmp_path / "nothing.yaml")
    with pytest.raises(InputError, match=r"no suffix groups are given\. Give suffix groups \(\*\.yaml\)"):
        load_lexicon(files.stimuli)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="a folder without word sets"):
        load_lexicon(tmp_path / "empty", files.groups)
    files.path("categories").unlink()
    assert "categories.yaml: no such file. Write it" in message(files)


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


def test_a_form_that_is_also_an_everyday_word_can_be_left_out(files: Any) -> None:
    files.append("categories", "ambiguous:\n  - {form: গোলাপের, resolution: none, reason: a test}\n")
    claims = files.load().claims()
    assert "গোলাপের" not in claims
    assert "গোলাপেরই" not in claims
    assert claims["গোলাপ"] == ("গোলাপ",)


def test_a_decision_holds_for_the_emphatic_form(files: Any) -> None:
    files.change("groups", "fixed: {ending: any}", "fixed: {ending: any, emphatic: [ও]}")
    files.change("good", "words:", AMBIGUOUS)
    assert message(files).count("resolution:") == 1
    files.append("categories", "ambiguous:\n  - {form: গোলাপের, resolution: গোলাপের, reason: a test}\n")
    assert files.load().claims()["গোলাপেরও"] == ("গোলাপের",)


def test_an_uncounted_form_is_marked_in_the_table(files: Any) -> None:
    files.change("good", "words:", AMBIGUOUS)
    files.append("categories", "ambiguous:\n  - {form: গোলাপের, resolution: গোলাপ, reason: a test}\n")
    rows = [row for row in forms_table(files.load()).to_pylist() if row["form"] == "গোলাপের"]
    assert {row["stimulus"]: row["counted"] for row in rows} == {"গোলাপ": True, "গোলাপের": False}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "{form: গোলাপীর, resolution: none, reason: x}",
            r"the form গোলাপীর is listed under `ambiguous`, but no stimulus",
        ),
        ("{form: গোলাপকে, resolution: গোলাপ, reason: x}", r"only গোলাপ claims it .*`resolution: none`"),
        ("{form: গোলাপের, resolution: রং, reason: x}", r"has the resolution `রং`\. Allowed: both, none, গোলাপ, গোলাপের"),
        ("{form: গোলাপের, resolution: both}", r"an ambiguous form lacks the key `reason`"),
    ],
)
def test_wrong_decisions(files: Any, entry: str, expected: str) -> None:
    files.change("good", "words:", AMBIGUOUS).append("categories", f"ambiguous:\n  - {entry}\n")
    assert re.search(expected, message(files))


def test_a_decision_listed_twice(files: Any) -> None:
    entry = "  - {form: গোলাপের, resolution: both, reason: x}\n"
    files.change("good", "words:", AMBIGUOUS).append("categories", f"ambiguous:\n{entry}{entry}")
    assert "categories.yaml, line 6: the form গোলাপের is listed twice" in message(files)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "{forms: [গোলাপী], not_after: [না], reason: t}",
            r"গোলাপী is listed under `neighbours`, but no stimulus claims it",
        ),
        ("{stimuli: [গোলাপের], not_after: [না], reason: t}", r"গোলাপের is listed under `neighbours`, but no stimulus"),
        ("{forms: [গোলাপ], reason: t}", r"needs forms and what does not stand beside them\. Write `forms: \[\.\.\.\]`"),
        ("{not_after: [না], reason: t}", r"line \d+: an entry of `neighbours` needs forms"),
        ("{forms: [গোলাপ], not_after: [না]}", r"neighbours of a form lacks the key `reason`"),
        ("{forms: [গোলাপ], after: [না], reason: t}", r"unknown key `after` in neighbours of a form"),
        (
            "{forms: [গোলাপ], not_before: [না না], reason: t}",
            r"`not_before` holds 'না না', but a neighbour is one word or one",
        ),
    ],
)
def test_neighbours_that_say_nothing_are_refused(files: Any, entry: str, expected: str) -> None:
    files.append("categories", f"neighbours:\n  - {entry}\n")
    assert re.search(expected, message(files))


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
