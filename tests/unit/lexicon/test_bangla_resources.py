"""The project's own Bangla word sets and suffix groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.lexicon import Lexicon, check_examples, inflections, load_lexicon, load_suffix_groups
from prasanga.lexicon.inflection import Example
from prasanga.text import normalize_batch

ROOT = Path(__file__).parents[3]
STIMULI = ROOT / "resources" / "stimuli" / "bn"
GROUPS_FILE = ROOT / "resources" / "suffix_groups" / "bn.yaml"
GROUPS = load_suffix_groups(GROUPS_FILE).groups
EXAMPLES = [(name, example) for name, group in GROUPS.items() for example in group.examples]

# The numbers of the paper's word lists, below which no side may fall: targets X and Y, attributes A and B.
LEAST = {
    "C1": (14, 14, 24, 24),
    "C2": (12, 12, 24, 24),
    "C3": (27, 27, 24, 24),
    "C4": (27, 27, 8, 8),
    "C5": (8, 8, 8, 8),
    "C6": (10, 10, 8, 8),
    "C7": (10, 10, 27, 27),
    "C8": (12, 12, 8, 8),
    "C9": (12, 12, 27, 27),
}


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_lexicon(STIMULI, GROUPS_FILE)


def test_there_are_21_groups() -> None:
    assert len(GROUPS) == 21


@pytest.mark.parametrize("name", GROUPS)
def test_every_group_says_what_it_is_and_proves_it(name: str) -> None:
    assert GROUPS[name].description
    assert check_examples({name: GROUPS[name]}) == []


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{example.stem}" for name, example in EXAMPLES])
def test_examples(name: str, example: Example) -> None:
    forms = {reading.form for reading in inflections(example.stem, GROUPS[name])}
    assert GROUPS[name].fits(example.stem)
    assert set(example.match) <= forms
    assert not set(example.no_match) & forms


def test_every_group_is_used(lexicon: Lexicon) -> None:
    assert {group for stimulus in lexicon.stimuli for group in stimulus.groups} == set(GROUPS)


@pytest.mark.parametrize("category", LEAST)
def test_no_side_is_smaller_than_the_papers(lexicon: Lexicon, category: str) -> None:
    found = lexicon.categories[category]
    sizes = [len(side.stimuli) for side in (*found.targets, *found.attributes)]
    assert all(size >= least for size, least in zip(sizes, LEAST[category], strict=True)), sizes


def test_the_categories_are_the_nine(lexicon: Lexicon) -> None:
    assert list(lexicon.categories) == list(LEAST)


def test_every_stimulus_has_a_gloss(lexicon: Lexicon) -> None:
    assert [stimulus.name for stimulus in lexicon.stimuli if not stimulus.gloss] == []


def test_every_form_of_two_stimuli_is_decided(lexicon: Lexicon) -> None:
    shared = {form: owners for form, owners in lexicon.claims().items() if len(owners) > 1}
    assert set(shared) <= set(lexicon.resolutions)
    assert lexicon.warnings == ()


def test_forms_are_normalized(lexicon: Lexicon) -> None:
    forms = [form.form for form in lexicon.forms]
    assert normalize_batch(forms) == forms


def test_forms_of_some_words(lexicon: Lexicon) -> None:
    assert lexicon.inflect("গোলাপ", case="genitive") == "গোলাপের"
    assert lexicon.inflect("গোলাপ", number="plural", case="locative", emphatic="ও") == "গোলাপগুলোতেও"
    assert lexicon.inflect("বন্ধু", case="genitive") == "বন্ধুর"
    assert lexicon.claims()["মা-কে"] == ("মা",)
