from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.lexicon import Stimulus, WordSet, categories_of, forms_table, load_lexicon, load_suffix_groups, stimuli_of

FormsOf = Callable[[str], list[str]]
BOY = "लड\u093cका"


def test_stimuli_and_categories(files: Any) -> None:
    lexicon = files.load()
    assert lexicon.language == "bn"
    assert lexicon.warnings == ()
    assert [stimulus.name for stimulus in lexicon.stimuli] == ["পচা", "গোলাপ", "রং", "সৎ", "মাছি", "মা"]
    assert lexicon.stimuli[2] == Stimulus("রং", "colour", ("thing",), ("রঙ",))
    category = lexicon.categories["C1"]
    assert category.title == "Flowers and insects"
    assert category.targets == (
        WordSet("flowers", "flowers", ("গোলাপ", "রং")),
        WordSet("insects", "insects", ("মাছি", "মা")),
    )
    assert category.attributes[1] == WordSet("bad", "bad", ("পচা",))


def test_inflect(files: Any) -> None:
    lexicon = files.load()
    assert lexicon.inflect("গোলাপ") == "গোলাপ"
    assert lexicon.inflect("গোলাপ", case="genitive") == "গোলাপের"
    assert lexicon.inflect("গোলাপ", number="definite", case="genitive", emphatic="ই") == "গোলাপটিরই"
    assert lexicon.inflect("রং", case="locative") == "রঙে"
    # A spelling with an earlier reading is still the first form of this one: the bare stem as objective.
    assert lexicon.inflect("গোলাপ", case="objective") == "গোলাপ"
    assert lexicon.inflect("মাছি", number="plural", case="objective") == "মাছিদের"
    assert lexicon.inflect("মা", case="objective") == "মাকে"


def test_inflect_never_returns_a_hyphen(files: Any) -> None:
    lexicon = files.load()
    assert any(form.hyphenated for form in lexicon.forms)
    assert all("-" in form.form for form in lexicon.forms if form.hyphenated)
    for form in lexicon.forms:
        found = lexicon.inflect(form.stimulus, number=form.number, case=form.case, emphatic=form.emphatic)
        assert "-" not in found


def test_inflect_lists_what_exists(files: Any) -> None:
    with pytest.raises(
        InputError, match=r"'মা' has no form with number 'plural', case 'genitive'\. It has singular nominative, "
    ):
        files.load().inflect("মা", number="plural", case="genitive")
    with pytest.raises(InputError, match="no stimulus 'বাবা'"):
        files.load().inflect("বাবা")


def test_groups_share_blocks_by_anchors(files: Any) -> None:
    files.append("groups", "  a: &a {ending: any, cases: {genitive: [ের]}}\n  b: {<<: *a, ending: consonant}\n")
    groups = load_suffix_groups(files.groups).groups
    assert groups["b"].cases == {"genitive": ("ের",)}
    assert groups["b"].endings == ("consonant",)


def test_a_stem_may_lose_its_end(files: Any, forms_of: FormsOf) -> None:
    files.append("groups", '  lost: {ending: -া, cases: {genitive: [ের, টি]}, alternation: {া: ""}}\n')
    files.change("bad", "group: fixed", "group: lost")
    assert forms_of("পচা")[:3] == ["পচা", "পচের", "পচাটি"]


def test_endings_after_a_hyphen_can_be_switched_off(files: Any) -> None:
    files.change("groups", "language: bn", "language: bn\nhyphenated: false")
    files.change("groups", "  kin: {", "  kin: {hyphenated: true, ")
    assert {form.stimulus for form in files.load().forms if form.hyphenated} == {"মা"}


def test_forms_with_a_capital(files: Any) -> None:
    lexicon = english(files).load()
    forms = [(form.stimulus, form.form) for form in lexicon.forms]
    assert [form for stimulus, form in forms if stimulus == "child"] == ["child", "Child", "children", "Children"]
    assert [form for stimulus, form in forms if stimulus == "song"] == ["song", "songs"]
    assert lexicon.claims()["Children"] == ("child",)
    assert lexicon.inflect("child", number="plural") == "children"


def test_word_lists_are_normalized_as_their_language(files: Any) -> None:
    english(files)
    assert files.load().stimuli[2].variants == ("Chloé’s",)
    files.change("groups", "language: en", "language: bn").change("categories", "language: en", "language: bn")
    assert files.load().stimuli[2].variants == ("Chloe's",)
    assert load_lexicon(files.stimuli, files.groups, normalization="nfc").stimuli[2].variants == ("Chloé’s",)


@pytest.mark.parametrize(
    ("normalization", "names"), [(None, ["जहर", BOY]), ("nukta", ["जहर", BOY]), ("nfc", ["ज\u093cहर", BOY])]
)
def test_the_nukta_is_folded_in_hindi(files: Any, normalization: str | None, names: list[str]) -> None:
    english(files)
    files.change("groups", "language: en", "language: hi").change("categories", "language: en", "language: hi")
    files.change("insects", "{stimulus: song, group: small}", "{stimulus: \u095bहर, group: name}")
    files.append("insects", "  - {stimulus: ल\u095cका, group: name}\n")
    lexicon = load_lexicon(files.stimuli, files.groups, normalization=normalization)
    assert list(lexicon.categories["C1"].targets[1].stimuli) == names
    # A stimulus may be named as the word list writes it.
    assert [lexicon.inflect(written) for written in ("\u095bहर", "ल\u095cका")] == names


def english(files: Any) -> Any:
    """Make the small lexicon an English one: capitals, no hyphens, an irregular plural."""
    files.groups.write_text(
        "language: en\nhyphenated: false\ncapitalized: true\ngroups:\n"
        "  small: {ending: plain, capitalized: false, numbers: {plural: {suffixes: [s]}}}\n  name: {ending: any}\n",
        encoding="utf-8",
    )
    words = {
        "flowers": "{stimulus: child, group: name, forms: [{form: children, number: plural}]}",
        "insects": "{stimulus: song, group: small}",
        "good": "{stimulus: Chloe, group: name, variants: [Chloé’s]}",
        "bad": "{stimulus: bad, group: name}",
    }
    for name, word in words.items():
        files.path(name).write_text(f"set: {name}\nwords:\n  - {word}\n", encoding="utf-8")
    files.change("categories", "language: bn", "language: en")
    return files


def test_forms_table(files: Any) -> None:
    lexicon = files.load()
    table = forms_table(lexicon)
    words, rest = ["form", "stimulus", "group", "number", "case", "emphatic"], ["hyphenated", "counted"]
    assert table.column_names == [*words, *rest, "not_after", "not_before"]
    assert table.num_rows == len(lexicon.forms)
    rows = {row["form"]: row for row in table.to_pylist()}
    assert rows["গোলাপগুলোতেও"] == read_data(__file__, "form_row")
    assert rows["গোলাপ-এর"]["hyphenated"]
    assert rows["মাগো"]["group"] == "irregular"


def test_categories_as_plain_values(files: Any) -> None:
    categories = categories_of(files.load())
    assert list(categories) == ["C1", "glosses"]
    assert categories["C1"]["title"] == "Flowers and insects"
    assert categories["C1"]["targets"][0] == {"name": "flowers", "gloss": "flowers", "stimuli": ["গোলাপ", "রং"]}
    assert categories["glosses"]["মা"] == "mother"
    assert stimuli_of(categories) == ["গোলাপ", "রং", "মাছি", "মা", "সৎ", "পচা"]
    assert stimuli_of(categories, ["C1"]) == stimuli_of(categories)
    with pytest.raises(InputError, match=r"'C2', which the lexicon does not have\. Allowed: C1\."):
        stimuli_of(categories, ["C2"])
