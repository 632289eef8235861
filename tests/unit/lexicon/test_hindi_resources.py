"""The project's own Hindi word sets and suffix groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.lexicon import Lexicon, check_examples, inflections, load_lexicon, load_suffix_groups
from prasanga.lexicon.inflection import Example
from prasanga.sentences import Matcher
from prasanga.text import normalizer

ROOT = Path(__file__).parents[3]
STIMULI = ROOT / "resources" / "stimuli" / "hi"
GROUPS_FILE = ROOT / "resources" / "suffix_groups" / "hi.yaml"
GROUPS = load_suffix_groups(GROUPS_FILE).groups
EXAMPLES = [(name, example) for name, group in GROUPS.items() for example in group.examples]
nukta = normalizer("nukta").one

# Words of each set: targets X and Y, attributes A and B.
SIZES = {
    "C1": (14, 14, 20, 20),
    "C2": (12, 12, 20, 20),
    "C3": (18, 18, 20, 20),
    "C4": (18, 18, 10, 10),
    "C5": (10, 10, 10, 10),
    "C6": (12, 12, 10, 10),
    "C7": (12, 12, 18, 18),
    "C8": (12, 12, 10, 10),
    "C9": (12, 12, 18, 18),
}


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_lexicon(STIMULI, GROUPS_FILE)


@pytest.fixture(scope="module")
def matcher(lexicon: Lexicon) -> Matcher:
    return Matcher(lexicon)


def test_there_are_25_groups() -> None:
    assert len(GROUPS) == 25


@pytest.mark.parametrize("name", GROUPS)
def test_every_group_says_what_it_is_and_proves_it(name: str) -> None:
    assert GROUPS[name].description
    assert check_examples({name: GROUPS[name]}) == []


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{example.stem}" for name, example in EXAMPLES])
def test_examples(name: str, example: Example) -> None:
    forms = {reading.form for reading in inflections(example.stem, GROUPS[name])}
    assert GROUPS[name].fits(example.stem)
    assert set(example.match) == forms  # a Hindi word has few forms: the examples name all of them
    assert not set(example.no_match) & forms


def test_every_group_is_used(lexicon: Lexicon) -> None:
    assert {group for stimulus in lexicon.stimuli for group in stimulus.groups} == set(GROUPS)


@pytest.mark.parametrize("category", SIZES)
def test_sizes(lexicon: Lexicon, category: str) -> None:
    found = lexicon.categories[category]
    assert tuple(len(side.stimuli) for side in (*found.targets, *found.attributes)) == SIZES[category]


def test_categories_and_stimuli(lexicon: Lexicon) -> None:
    assert lexicon.language == "hi"
    # The others are intersections: test_intersectional_resources.py.
    assert [name for name in lexicon.categories if name.startswith("C")] == list(SIZES)
    assert len(lexicon.stimuli) == 375
    assert len({form.stimulus for form in lexicon.forms}) == 204  # looked for in texts
    assert [stimulus.name for stimulus in lexicon.stimuli if not stimulus.gloss] == []
    assert lexicon.warnings == ()


def test_no_form_has_two_stimuli(lexicon: Lexicon) -> None:
    assert {form: owners for form, owners in lexicon.claims().items() if len(owners) > 1} == {}


def test_forms_are_spelt_as_in_the_corpus(lexicon: Lexicon) -> None:
    forms = [form.form for form in lexicon.forms]
    assert [nukta(form) for form in forms] == forms


def test_no_ending_follows_a_hyphen(lexicon: Lexicon) -> None:
    assert [form.form for form in lexicon.forms if form.hyphenated or "-" in form.form] == []


@pytest.mark.parametrize(
    ("stimulus", "number", "case", "expected"),
    [
        ("लड़का", "singular", "nominative", "लड़का"),
        ("लड़का", "singular", "oblique", "लड़के"),
        ("लड़का", "plural", "nominative", "लड़के"),
        ("लड़का", "plural", "oblique", "लड़कों"),
        ("लड़का", "plural", "vocative", "लड़को"),
        ("लड़की", "singular", "oblique", "लड़की"),
        ("लड़की", "plural", "nominative", "लड़कियाँ"),
        ("लड़की", "plural", "oblique", "लड़कियों"),
        ("आदमी", "plural", "nominative", "आदमी"),
        ("आदमी", "plural", "oblique", "आदमियों"),
        ("भाई", "plural", "oblique", "भाइयों"),
        ("पति", "plural", "oblique", "पतियों"),
        ("पिता", "plural", "oblique", "पिताओं"),
        ("महिला", "plural", "nominative", "महिलाएँ"),
        ("माँ", "plural", "oblique", "माँओं"),
        ("घर", "singular", "oblique", "घर"),
        ("घर", "plural", "oblique", "घरों"),
        ("बंदूक", "plural", "nominative", "बंदूकें"),
        ("चाकू", "plural", "oblique", "चाकुओं"),
        ("शहनाई", "plural", "nominative", "शहनाइयाँ"),
        ("ख़ुशबू", "plural", "nominative", "खुशबुएँ"),
        ("ज़हर", "singular", "oblique", "जहर"),
        ("मीठा", "singular", "oblique", "मीठे"),
        ("मीठा", "plural", "nominative", "मीठे"),
    ],
)
def test_inflect(lexicon: Lexicon, stimulus: str, number: str, case: str, expected: str) -> None:
    assert lexicon.inflect(stimulus, number=number, case=case) == nukta(expected)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("माली ने गुलाबों के बीच गेंदे और मोगरे लगाए।", ["गुलाब गुलाबों", "गेंदा गेंदे", "मोगरा मोगरे"]),
        ("रात की रानी की महक आँगन तक आती है।", ["रातरानी रात की रानी"]),
        ("मच्छरों और मक्खियों से बचो, चींटियां भी बहुत हैं।", ["मच्छर मच्छरों", "मक्खी मक्खियों", "चींटी चींटियां"]),
        ("बिच्छुओं के पास ततैये कम मिलते हैं।", ["बिच्छू बिच्छुओं", "ततैया ततैये"]),
        ("बांसुरी और शहनाइयों के साथ सितार बजा।", ["बाँसुरी बांसुरी", "शहनाई शहनाइयों", "सितार सितार"]),
        ("उनके पास तलवारें, भाले और चाकुओं का ढेर था।", ["तलवार तलवारें", "भाला भाले", "चाकू चाकुओं"]),
        ("ख़ुशियाँ बाँटो, दोस्तो, और मीठी बातें करो।", ["खुशी खुशियाँ", "दोस्त दोस्तो", "मीठा मीठी"]),
        ("दुःखों और बीती दुर्घटनाओं की कड़वी याद।", ["दुख दुःखों", "दुर्घटना दुर्घटनाओं", "कड़वा कड़वी"]),
        ("रमेश ने इरफ़ान और थामस को बुलाया।", ["रमेश रमेश", "इरफान इरफान", "थॉमस थामस"]),
        ("फातिमा, रुख़साना और अनिता साथ पढ़ती हैं।", ["फातिमा फातिमा", "रुखसाना रुखसाना", "अनीता अनिता"]),
        (
            "लड़कों ने पिताजी से पूछा, भाईयों ने दादा से।",
            ["लड़का लड़कों", "पिता पिताजी", "भाई भाईयों", "दादा दादा"],
        ),
        (
            "मां, बहनों और बेटियों ने उन महिलाओं की मदद की।",
            ["माँ मां", "बहन बहनों", "बेटी बेटियों", "महिला महिलाओं"],
        ),
        ("कम्पनियों के दफ़्तरों में नौकरियाँ हैं।", ["कंपनी कम्पनियों", "दफ्तर दफ्तरों", "नौकरी नौकरियाँ"]),
        ("घरों में बच्चे और रिश्तेदारों का आना-जाना है।", ["घर घरों", "बच्चा बच्चे", "रिश्तेदार रिश्तेदारों"]),
        ("गणित में संख्याओं और समीकरणों से काम लेते हैं।", ["गणित गणित", "संख्या संख्याओं", "समीकरण समीकरणों"]),
        ("फिल्में, उपन्यासों के संवाद और ग़ज़लें।", ["फिल्म फिल्में", "उपन्यास उपन्यासों", "गजल गजलें"]),
        ("प्रयोगशालाओं में परमाणुओं का अनुसन्धान।", ["प्रयोगशाला प्रयोगशालाओं", "परमाणु परमाणुओं", "अनुसंधान अनुसन्धान"]),
        ("माँ-बेटी को दुख-सुख सुनाया।", ["माँ माँ", "बेटी बेटी", "दुख दुख", "सुख सुख"]),
    ],
)
def test_forms_are_found(matcher: Matcher, sentence: str, expected: list[str]) -> None:
    assert [f"{match.stimulus} {match.form}" for match in matcher.find(nukta(sentence))] == [*map(nukta, expected)]


@pytest.mark.parametrize(
    "sentence",
    [
        "गुलाबी साड़ी, बच्ची की गेंदों का खेल और गेंदबाज़ की चाल।",
        "आसमान में सितारों का मेला, एक सितारा टूटा।",
        "मक्खन, मकड़जाल और टिड्डे की छलाँग।",
        "भालू और भालुओं का झुंड, बमुश्किल दिखा।",
        "वह खुश है, दुखी नहीं; पीड़ितों में गरीब भी थे।",
        "राष्ट्रपति ने उपराष्ट्रपति और महापुरुषों को याद किया।",
        "नदियाँ बहने लगीं, बहनोई ने माँग की।",
        "घरेलू नौकर, पेशेवर खिलाड़ी, अधिकारों की बात।",
        "दोस्ती, भाईचारा और लड़कपन की यादें।",
        "गणितज्ञ, वैज्ञानिक, संगीतकार, नाटककार और गीता।",
        "जेली खाई, रोगी और रोगाणु देखे, शौक पूरे किए।",
        "रमेशचंद्र और सुनीताबेन के घराने में माँसाहार की मनाही थी।",
    ],
)
def test_false_friends_are_not_found(matcher: Matcher, sentence: str) -> None:
    assert matcher.find(nukta(sentence)) == []
