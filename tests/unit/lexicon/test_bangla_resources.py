"""The project's own Bangla word sets and suffix groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.lexicon import Lexicon, check_examples, inflections, load_lexicon, load_suffix_groups
from prasanga.lexicon.inflection import Example
from prasanga.text import fold, normalize, normalize_batch

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


# Word, stimulus, number, case and emphatic ending: each link of the chain, and each ending class.
READINGS = [
    ("গোলাপটির", "গোলাপ", "definite", "genitive", ""),
    ("গোলাপগুলোকেই", "গোলাপ", "plural", "objective", "ই"),
    ("ছুরিখানি", "ছুরি", "definite", "nominative", ""),
    ("বাড়িগুলার", "বাড়ি", "plural", "genitive", ""),
    ("সংখ্যাসমূহের", "সংখ্যা", "plural", "genitive", ""),
    ("কবিতাদুটি", "কবিতা", "plural", "nominative", ""),
    ("গানেতে", "গান", "singular", "locative", ""),
    ("দুঃখটুকুও", "দুঃখ", "partitive", "nominative", "ও"),
    ("দুঃখগুলোর", "দুঃখ", "plural", "genitive", ""),
    ("বিদ্যুতের", "বিদ্যুৎ", "singular", "genitive", ""),
    ("বিশ্বজিতের", "বিশ্বজিৎ", "singular", "genitive", ""),
    ("ফড়িঙের", "ফড়িং", "singular", "genitive", ""),
    ("ফড়িংয়ের", "ফড়িং", "singular", "genitive", ""),
    ("বাবার", "বাবা", "singular", "genitive", ""),
    ("মায়ের", "মা", "singular", "genitive", ""),
    ("ভাইয়ের", "ভাই", "singular", "genitive", ""),
    ("স্ত্রীর", "স্ত্রী", "singular", "genitive", ""),
    ("মেয়েদেরকেও", "মেয়ে", "plural", "objective", "ও"),
    ("বালকদিগকে", "বালক", "plural", "objective", ""),
    ("বন্ধুগণের", "বন্ধু", "plural", "genitive", ""),
    ("নাতনীদের", "নাতনি", "plural", "genitive", ""),
    ("বন্ধুতে", "বন্ধু", "singular", "instrumental", ""),
    ("মা-কে", "মা", "singular", "objective", ""),
    ("গান-এর", "গান", "singular", "genitive", ""),
]
# Words of running text that begin with a stimulus, or look like a form of one, and are other words.
FALSE_FRIENDS = """
    মাঝে মানে মাটি মার মাই মাও মায়া মাস মাথা মারা মারিয়া বিষয় বিষয়ে বিষম বিষাদ পার্থক্য পার্থিব আদর্শ আদর্শে পদ্মা পদ্মায়
    মশাই মশায় মশারি মশাল গান্ধী বাগান অফিসিয়াল বাড়িয়ে বাড়িল ছুটিয়া সুখী সুখবর সুখ্যাতি রোগা রোগী দুঃখিত বোনে বোনা
    ছেলেবেলা ছেলেমেয়ে মেয়েলি মেয়েমানুষ স্ত্রীলোক বন্ধুত্ব শিশুকাল ভাইরাস ভাইয়া ভাইপো ভাইবোন শান্তিনিকেতন সংখ্যালঘু
    গণনায়ক ব্যবসায়ী পেশাদার হত্যাকারী খুনি খুন্তি শোকেস ঢোলক আত্মীয়তা সন্তানাদি নরকঙ্কাল শত্রুতা বিজ্ঞানী সাহিত্যিক
    গোলাপি জবাই চাঁপাই করতালি শ্বশুরবাড়ি নাতিশীতোষ্ণ মহাকর্ষীয় ইলেকট্রনিক রমেশবাবু শফিকুল আনোয়ারা সৌন্দর্যায়ন
    অপমানিত অপমানজনক নিন্দিত প্রশংসনীয় ঢোলকে খুনে পুরুষে
"""


def test_there_are_22_groups() -> None:
    assert len(GROUPS) == 22


def test_there_are_250_stimuli_or_more(lexicon: Lexicon) -> None:
    assert len(lexicon.stimuli) >= 250


@pytest.mark.parametrize(("word", "stimulus", "number", "case", "emphatic"), READINGS, ids=[row[0] for row in READINGS])
def test_how_a_word_is_read(lexicon: Lexicon, word: str, stimulus: str, number: str, case: str, emphatic: str) -> None:
    word, stimulus = normalize(word), normalize(stimulus)
    assert lexicon.claims()[fold(word)] == (stimulus,)
    readings = [form for form in lexicon.forms if (form.form, form.stimulus) == (word, stimulus)]
    assert [(form.number, form.case, form.emphatic) for form in readings] == [(number, case, emphatic)]


def test_false_friends_are_no_forms(lexicon: Lexicon) -> None:
    claims = lexicon.claims()
    assert [word for word in normalize_batch(FALSE_FRIENDS.split()) if fold(word) in claims] == []


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


@pytest.mark.parametrize("category", LEAST)
def test_paired_sets_have_the_same_size(lexicon: Lexicon, category: str) -> None:
    for first, second in (lexicon.categories[category].targets, lexicon.categories[category].attributes):
        assert len(first.stimuli) == len(second.stimuli)


def test_the_first_categories_are_the_nine(lexicon: Lexicon) -> None:
    """Those that follow stand in templates only (test_bangla_templates.py)."""
    assert list(lexicon.categories)[: len(LEAST)] == list(LEAST)
    assert all(side.searched for name in LEAST for side in lexicon.categories[name].targets)


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
