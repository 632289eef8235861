"""The project's own word sets and suffix groups, in each language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from shipped import lexicon_of
from tables import read_table

from prasanga.base.errors import InputError
from prasanga.lexicon import check_examples, inflections, load_suffix_groups
from prasanga.sentences import Matcher, longest
from prasanga.text import fold, normalize, normalize_batch, normalizer

RESOURCES = Path(__file__).parents[3] / "resources"
LANGUAGES = ("bn", "hi", "en")

nukta = normalizer("nukta").one
NORMALIZED: dict[str, Callable[[list[str]], list[str]]] = {
    "bn": normalize_batch,
    "hi": lambda forms: [nukta(form) for form in forms],
    "en": normalizer("nfkc"),
}
GROUPS = {"bn": 25, "hi": 26, "en": 12}
# Words of X, Y, A and B of each category; in Bangla the numbers of the paper's word lists, which are the least.
SIZES = {row[:2]: tuple(map(int, row[2:])) for row in read_table(__file__, "sizes")}


@cache
def claims_of(language: str) -> Mapping[str, tuple[str, ...]]:
    return lexicon_of(language).claims()


@cache
def matcher_of(language: str) -> Matcher:
    return Matcher(lexicon_of(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_group_says_what_it_is_and_proves_it(language: str) -> None:
    groups = load_suffix_groups(RESOURCES / f"suffix_groups/{language}.yaml").groups
    assert len(groups) == GROUPS[language]
    assert check_examples(groups) == []
    for name, group in groups.items():
        assert group.description, name
        for example in group.examples:
            forms = {reading.form for reading in inflections(example.stem, group)}
            assert group.fits(example.stem), (name, example.stem)
            assert set(example.match) <= forms, (name, example.stem)
            assert not set(example.no_match) & forms, (name, example.stem)
            if language == "hi":  # a Hindi word has few forms: the examples name all of them
                assert set(example.match) == forms, (name, example.stem)
    assert {group for stimulus in lexicon_of(language).stimuli for group in stimulus.groups} == set(groups)


@pytest.mark.parametrize(("language", "category"), SIZES)
def test_sides_have_words_enough_and_as_many_as_the_other(language: str, category: str) -> None:
    found = lexicon_of(language).categories[category]
    sizes = tuple(len(side.stimuli) for side in (*found.targets, *found.attributes))
    if language == "bn":
        assert all(size >= least for size, least in zip(sizes, SIZES[language, category], strict=True)), sizes
    else:
        assert sizes == SIZES[language, category]
    assert sizes[0] == sizes[1]
    assert sizes[2] == sizes[3]


@pytest.mark.parametrize("language", LANGUAGES)
def test_categories_of_running_text_come_first(language: str) -> None:
    """The others stand in templates only: test_bangla_templates.py, test_intersectional_resources.py."""
    lexicon = lexicon_of(language)
    assert lexicon.language == language
    names = [f"C{number}" for number in range(1, 10)]
    assert list(lexicon.categories)[:9] == names == [name for name in lexicon.categories if name.startswith("C")]
    assert all(side.searched for name in names for side in lexicon.categories[name].targets)
    assert [stimulus.name for stimulus in lexicon.stimuli if not stimulus.gloss] == []
    assert lexicon.warnings == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_form_of_two_stimuli_is_decided(language: str) -> None:
    lexicon = lexicon_of(language)
    shared = {form for form, owners in lexicon.claims().items() if len(owners) > 1}
    assert shared <= set(lexicon.resolutions)
    assert language == "bn" or not shared


@pytest.mark.parametrize("language", LANGUAGES)
def test_forms_are_spelt_as_in_the_corpus(language: str) -> None:
    forms = [form.form for form in lexicon_of(language).forms]
    assert NORMALIZED[language](forms) == forms


@pytest.mark.parametrize("language", ["hi", "en"])
def test_no_ending_follows_a_hyphen(language: str) -> None:
    assert [form.form for form in lexicon_of(language).forms if form.hyphenated] == []
    assert language == "en" or [form.form for form in lexicon_of(language).forms if "-" in form.form] == []


@pytest.mark.parametrize(("language", "stimulus", "number", "case", "expected"), read_table(__file__, "inflections"))
def test_inflect(language: str, stimulus: str, number: str, case: str, expected: str) -> None:
    lexicon = lexicon_of(language)
    if not expected:
        with pytest.raises(InputError, match=stimulus):
            lexicon.inflect(stimulus, number=number, case=case)
    else:
        assert NORMALIZED[language]([expected]) == [lexicon.inflect(stimulus, number=number, case=case)]


@pytest.mark.parametrize(("word", "stimulus", "number", "case", "emphatic"), read_table(__file__, "readings"))
def test_how_a_word_is_read(word: str, stimulus: str, number: str, case: str, emphatic: str) -> None:
    """Each link of the chain, and each ending class."""
    word, stimulus = normalize(word), normalize(stimulus)
    assert claims_of("bn")[fold(word)] == (stimulus,)
    readings = [form for form in lexicon_of("bn").forms if (form.form, form.stimulus) == (word, stimulus)]
    assert [(form.number, form.case, form.emphatic) for form in readings] == [(number, case, emphatic)]


@pytest.mark.parametrize(("language", "sentence", "expected"), read_table(__file__, "found"))
def test_forms_are_found(language: str, sentence: str, expected: str) -> None:
    [text] = NORMALIZED[language]([sentence])
    found = matcher_of(language).find(text)
    hits = [f"{match.stimulus} {match.form}" for match in (longest(found) if language == "en" else found)]
    assert hits == NORMALIZED[language](expected.split(" | "))


@pytest.mark.parametrize("khanda_ta", ["ৎ", "ত্", "ত্\u200d"])
def test_every_encoding_of_khanda_ta_is_found_in_its_place(khanda_ta: str) -> None:
    text = f"কাল উ{khanda_ta}সবে বিদ্যু{khanda_ta} ছিল না।"
    [normalized] = NORMALIZED["bn"]([text])
    assert normalized == text
    found = matcher_of("bn").find(text)
    assert [(match.stimulus, match.form, match.start) for match in found] == [
        ("উৎসব", f"উ{khanda_ta}সবে", 4),
        ("বিদ্যুৎ", f"বিদ্যু{khanda_ta}", text.index("বিদ্যু")),
    ]


# Words of running text that begin with a stimulus, or look like a form of one, and are other words.
FALSE_FRIENDS = """
    মাঝে মানে মাটি মাই মাও মায়া মাস মাথা মারা মারিয়া বিষয় বিষয়ে বিষম বিষাদ পার্থক্য পার্থিব আদর্শ আদর্শে পদ্মা পদ্মায়
    মশাই মশায় মশারি মশাল গান্ধী বাগান অফিসিয়াল বাড়িয়ে বাড়িল ছুটিয়া সুখী সুখবর সুখ্যাতি রোগা রোগী দুঃখিত বোনে বোনা
    ছেলেবেলা ছেলেমেয়ে মেয়েলি মেয়েমানুষ স্ত্রীলোক বন্ধুত্ব শিশুকাল ভাইরাস ভাইয়া ভাইপো ভাইবোন শান্তিনিকেতন সংখ্যালঘু
    গণনায়ক ব্যবসায়ী পেশাদার হত্যাকারী খুনি খুন্তি শোকেস ঢোলক আত্মীয়তা সন্তানাদি নরকঙ্কাল শত্রুতা বিজ্ঞানী সাহিত্যিক
    গোলাপি জবাই চাঁপাই করতালি শ্বশুরবাড়ি নাতিশীতোষ্ণ মহাকর্ষীয় ইলেকট্রনিক রমেশবাবু শফিকুল আনোয়ারা সৌন্দর্যায়ন
    অপমানিত অপমানজনক নিন্দিত প্রশংসনীয় ঢোলকে খুনে
"""


def test_false_friends_are_no_forms() -> None:
    claims = lexicon_of("bn").claims()
    assert [word for word in normalize_batch(FALSE_FRIENDS.split()) if fold(word) in claims] == []


@pytest.mark.parametrize(("language", "sentence"), read_table(__file__, "not_found"))
def test_false_friends_are_not_found(language: str, sentence: str) -> None:
    [text] = NORMALIZED[language]([sentence])
    assert matcher_of(language).find(text) == []


def test_the_possessive_is_the_target() -> None:
    text, matcher = "my husband's piano", matcher_of("en")
    assert [match.form for match in matcher.find(text)] == ["husband", "husband's", "piano"]
    assert [text[match.start : match.end] for match in longest(matcher.find(text))] == ["husband's", "piano"]
