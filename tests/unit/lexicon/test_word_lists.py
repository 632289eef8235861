"""The project's own word sets and suffix groups, in each language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.lexicon import Lexicon, check_examples, inflections, load_lexicon, load_suffix_groups
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

# Words of each set: targets X and Y, attributes A and B. In Bangla the numbers of the paper's word lists, which are the
# least.
SIZES = {
    "bn": {
        "C1": (14, 14, 24, 24),
        "C2": (12, 12, 24, 24),
        "C3": (27, 27, 24, 24),
        "C4": (27, 27, 8, 8),
        "C5": (8, 8, 8, 8),
        "C6": (10, 10, 8, 8),
        "C7": (10, 10, 27, 27),
        "C8": (12, 12, 8, 8),
        "C9": (12, 12, 27, 27),
    },
    "hi": {
        "C1": (14, 14, 20, 20),
        "C2": (12, 12, 20, 20),
        "C3": (18, 18, 20, 20),
        "C4": (18, 18, 10, 10),
        "C5": (10, 10, 10, 10),
        "C6": (12, 12, 10, 10),
        "C7": (12, 12, 18, 18),
        "C8": (12, 12, 10, 10),
        "C9": (12, 12, 18, 18),
    },
    "en": {
        "C1": (16, 16, 20, 20),
        "C2": (14, 14, 20, 20),
        "C3": (16, 16, 20, 20),
        "C4": (16, 16, 10, 10),
        "C5": (10, 10, 10, 10),
        "C6": (12, 12, 10, 10),
        "C7": (12, 12, 16, 16),
        "C8": (12, 12, 10, 10),
        "C9": (12, 12, 16, 16),
    },
}
CATEGORIES = [(language, category) for language in LANGUAGES for category in SIZES[language]]


@cache
def lexicon_of(language: str) -> Lexicon:
    return load_lexicon(RESOURCES / "stimuli" / language, RESOURCES / f"suffix_groups/{language}.yaml")


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


@pytest.mark.parametrize(("language", "category"), CATEGORIES)
def test_sides_have_words_enough_and_as_many_as_the_other(language: str, category: str) -> None:
    found = lexicon_of(language).categories[category]
    sizes = tuple(len(side.stimuli) for side in (*found.targets, *found.attributes))
    if language == "bn":
        assert all(size >= least for size, least in zip(sizes, SIZES["bn"][category], strict=True)), sizes
    else:
        assert sizes == SIZES[language][category]
    assert sizes[0] == sizes[1]
    assert sizes[2] == sizes[3]


@pytest.mark.parametrize("language", LANGUAGES)
def test_categories_of_running_text_come_first(language: str) -> None:
    """The others stand in templates only: test_bangla_templates.py, test_intersectional_resources.py."""
    lexicon = lexicon_of(language)
    assert lexicon.language == language
    assert list(lexicon.categories)[:9] == list(SIZES[language])
    assert [name for name in lexicon.categories if name.startswith("C")] == list(SIZES[language])
    assert all(side.searched for name in SIZES[language] for side in lexicon.categories[name].targets)
    assert [stimulus.name for stimulus in lexicon.stimuli if not stimulus.gloss] == []
    assert lexicon.warnings == ()


@pytest.mark.parametrize(("language", "n_stimuli", "n_searched"), [("hi", 376, 204), ("en", 379, 208)])
def test_numbers_of_stimuli(language: str, n_stimuli: int, n_searched: int) -> None:
    lexicon = lexicon_of(language)
    assert len(lexicon.stimuli) == n_stimuli
    assert len({form.stimulus for form in lexicon.forms}) == n_searched
    assert len(lexicon_of("bn").stimuli) >= 250


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


@pytest.mark.parametrize(
    ("language", "stimulus", "number", "case", "expected"),
    [
        ("bn", "গোলাপ", "singular", "genitive", "গোলাপের"),
        ("bn", "বন্ধু", "singular", "genitive", "বন্ধুর"),
        ("hi", "लड़का", "singular", "nominative", "लड़का"),
        ("hi", "लड़का", "singular", "oblique", "लड़के"),
        ("hi", "लड़का", "plural", "nominative", "लड़के"),
        ("hi", "लड़का", "plural", "oblique", "लड़कों"),
        ("hi", "लड़का", "plural", "vocative", "लड़को"),
        ("hi", "लड़की", "singular", "oblique", "लड़की"),
        ("hi", "लड़की", "plural", "nominative", "लड़कियाँ"),
        ("hi", "लड़की", "plural", "oblique", "लड़कियों"),
        ("hi", "आदमी", "plural", "nominative", "आदमी"),
        ("hi", "आदमी", "plural", "oblique", "आदमियों"),
        ("hi", "भाई", "plural", "oblique", "भाइयों"),
        ("hi", "पति", "plural", "oblique", "पतियों"),
        ("hi", "पिता", "plural", "oblique", "पिताओं"),
        ("hi", "महिला", "plural", "nominative", "महिलाएँ"),
        ("hi", "माँ", "plural", "oblique", "माँओं"),
        ("hi", "घर", "singular", "oblique", "घर"),
        ("hi", "घर", "plural", "oblique", "घरों"),
        ("hi", "बंदूक", "plural", "nominative", "बंदूकें"),
        ("hi", "चाकू", "plural", "oblique", "चाकुओं"),
        ("hi", "शहनाई", "plural", "nominative", "शहनाइयाँ"),
        ("hi", "ख़ुशबू", "plural", "nominative", "खुशबुएँ"),
        ("hi", "ज़हर", "singular", "oblique", "जहर"),
        ("hi", "मीठा", "singular", "oblique", "मीठे"),
        ("hi", "मीठा", "plural", "nominative", "मीठे"),
        ("en", "flower", "plural", "nominative", None),
        ("en", "tulip", "plural", "nominative", "tulips"),
        ("en", "tulip", "singular", "genitive", "tulip's"),
        ("en", "lotus", "plural", "nominative", "lotuses"),
        ("en", "peony", "plural", "nominative", "peonies"),
        ("en", "piano", "plural", "nominative", "pianos"),
        ("en", "mosquito", "plural", "nominative", "mosquitoes"),
        ("en", "knife", "plural", "nominative", "knives"),
        ("en", "wife", "singular", "genitive", "wife's"),
        ("en", "woman", "plural", "nominative", "women"),
        ("en", "woman", "plural", "genitive", "women's"),
        ("en", "child", "plural", "nominative", "children"),
        ("en", "child", "plural", "genitive", "children's"),
        ("en", "louse", "plural", "nominative", "lice"),
        ("en", "hypothesis", "plural", "nominative", "hypotheses"),
        ("en", "Nicholas", "singular", "genitive", "Nicholas's"),
        ("en", "tulip", "plural", "genitive", None),
        ("en", "poverty", "plural", "nominative", None),
        ("en", "Robert", "plural", "nominative", None),
    ],
)
def test_inflect(language: str, stimulus: str, number: str, case: str, expected: str | None) -> None:
    lexicon = lexicon_of(language)
    if expected is None:
        with pytest.raises(InputError, match=stimulus):
            lexicon.inflect(stimulus, number=number, case=case)
    else:
        assert NORMALIZED[language]([expected]) == [lexicon.inflect(stimulus, number=number, case=case)]


def test_an_ending_for_emphasis() -> None:
    form = lexicon_of("bn").inflect("গোলাপ", number="plural", case="locative", emphatic="ও")
    assert form == "গোলাপগুলোতেও"


# Word of Bangla, stimulus, number, case and emphatic ending: each link of the chain, and each ending class.
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
    ("সুরজিতের", "সুরজিৎ", "singular", "genitive", ""),
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


@pytest.mark.parametrize(("word", "stimulus", "number", "case", "emphatic"), READINGS, ids=[row[0] for row in READINGS])
def test_how_a_word_is_read(word: str, stimulus: str, number: str, case: str, emphatic: str) -> None:
    word, stimulus = normalize(word), normalize(stimulus)
    assert claims_of("bn")[fold(word)] == (stimulus,)
    readings = [form for form in lexicon_of("bn").forms if (form.form, form.stimulus) == (word, stimulus)]
    assert [(form.number, form.case, form.emphatic) for form in readings] == [(number, case, emphatic)]


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("hi", "माली ने गुलाबों के बीच गेंदे और मोगरे लगाए।", ["गुलाब गुलाबों", "गेंदा गेंदे", "मोगरा मोगरे"]),
        ("hi", "रात की रानी की महक आँगन तक आती है।", ["रातरानी रात की रानी"]),
        ("hi", "मच्छरों और मक्खियों से बचो, चींटियां भी बहुत हैं।", ["मच्छर मच्छरों", "मक्खी मक्खियों", "चींटी चींटियां"]),
        ("hi", "बिच्छुओं के पास ततैये कम मिलते हैं।", ["बिच्छू बिच्छुओं", "ततैया ततैये"]),
        ("hi", "बांसुरी और शहनाइयों के साथ सितार बजा।", ["बाँसुरी बांसुरी", "शहनाई शहनाइयों", "सितार सितार"]),
        ("hi", "उनके पास तलवारें, भाले और चाकुओं का ढेर था।", ["तलवार तलवारें", "भाला भाले", "चाकू चाकुओं"]),
        ("hi", "ख़ुशियाँ बाँटो, दोस्तो, और मीठी बातें करो।", ["खुशी खुशियाँ", "दोस्त दोस्तो", "मीठा मीठी"]),
        ("hi", "दुःखों और बीती दुर्घटनाओं की कड़वी याद।", ["दुख दुःखों", "दुर्घटना दुर्घटनाओं", "कड़वा कड़वी"]),
        ("hi", "रमेश ने इरफ़ान और थामस को बुलाया।", ["रमेश रमेश", "इरफान इरफान", "थॉमस थामस"]),
        ("hi", "फातिमा, रुख़साना और अनिता साथ पढ़ती हैं।", ["फातिमा फातिमा", "रुखसाना रुखसाना", "अनीता अनिता"]),
        (
            "hi",
            "लड़कों ने पिताजी से पूछा, भाईयों ने दादा से।",
            ["लड़का लड़कों", "पिता पिताजी", "भाई भाईयों", "दादा दादा"],
        ),
        (
            "hi",
            "मां, बहनों और बेटियों ने उन महिलाओं की मदद की।",
            ["माँ मां", "बहन बहनों", "बेटी बेटियों", "महिला महिलाओं"],
        ),
        ("hi", "कम्पनियों के दफ़्तरों में नौकरियाँ हैं।", ["कंपनी कम्पनियों", "दफ्तर दफ्तरों", "नौकरी नौकरियाँ"]),
        ("hi", "घरों में बच्चे और रिश्तेदारों का आना-जाना है।", ["घर घरों", "बच्चा बच्चे", "रिश्तेदार रिश्तेदारों"]),
        ("hi", "गणित में संख्याओं और समीकरणों से काम लेते हैं।", ["गणित गणित", "संख्या संख्याओं", "समीकरण समीकरणों"]),
        ("hi", "फिल्में, उपन्यासों के संवाद और ग़ज़लें।", ["फिल्म फिल्में", "उपन्यास उपन्यासों", "गजल गजलें"]),
        ("hi", "प्रयोगशालाओं में परमाणुओं का अनुसन्धान।", ["प्रयोगशाला प्रयोगशालाओं", "परमाणु परमाणुओं", "अनुसंधान अनुसन्धान"]),
        ("hi", "माँ-बेटी को दुख-सुख सुनाया।", ["माँ माँ", "बेटी बेटी", "दुख दुख", "सुख सुख"]),
        (
            "en",
            "Marigolds and jasmine grew beside the lotus.",
            ["marigold Marigolds", "jasmine jasmine", "lotus lotus"],
        ),
        (
            "en",
            "Mosquitos bred there; lice and cockroaches, too.",
            ["mosquito Mosquitos", "louse lice", "cockroach cockroaches"],
        ),
        ("en", "Her sitar and two pianos.", ["sitar sitar", "piano pianos"]),
        ("en", "KNIVES are drawn; the knives, the swords.", ["knife knives", "sword swords"]),
        ("en", "What an honor, my gentle friends!", ["honour honor", "gentle gentle", "friend friends"]),
        ("en", "Their enemies' agony was horrible.", ["enemy enemies", "agony agony", "horrible horrible"]),
        (
            "en",
            "Rahul’s cousin met Steven and Peter.",
            ["Rahul Rahul’s", "cousin cousin", "Stephen Steven", "Peter Peter"],
        ),
        ("en", "Aisha wrote to Kathryn.", ["Ayesha Aisha", "Katherine Kathryn"]),
        ("en", "The men's uncle and a man's son", ["man men's", "uncle uncle", "man man's", "son son"]),
        ("en", "Women and wives; the women’s aunts", ["woman Women", "wife wives", "woman women’s", "aunt aunts"]),
        ("en", "Employees' salaries at the office.", ["employee Employees", "salary salaries", "office office"]),
        (
            "en",
            "Children's homes, families, parents",
            ["child Children's", "home homes", "family families", "parent parents"],
        ),
        ("en", "Maths is more than equations.", ["mathematics Maths", "equation equations"]),
        ("en", "A theater for symphonies and songs", ["theatre theater", "symphony symphonies", "song songs"]),
        ("en", "Two hypotheses in physics", ["hypothesis hypotheses", "physics physics"]),
        ("en", "The bed bug in the boys' room", ["bedbug bed bug", "boy boys"]),
    ],
)
def test_forms_are_found(language: str, sentence: str, expected: list[str]) -> None:
    [text] = NORMALIZED[language]([sentence])
    found = matcher_of(language).find(text)
    hits = [f"{match.stimulus} {match.form}" for match in (longest(found) if language == "en" else found)]
    assert hits == NORMALIZED[language](expected)


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


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("hi", "गुलाबी साड़ी, गेंदों का खेल और गेंदबाज़ की चाल।"),
        ("hi", "आसमान में सितारों का मेला, एक सितारा टूटा।"),
        ("hi", "मक्खन, मकड़जाल और टिड्डे की छलाँग।"),
        ("hi", "भालू और भालुओं का झुंड, बमुश्किल दिखा।"),
        ("hi", "वह खुश है, दुखी नहीं; पीड़ितों में गरीब भी थे।"),
        ("hi", "राष्ट्रपति ने उपराष्ट्रपति और महापुरुषों को याद किया।"),
        ("hi", "नदियाँ बहने लगीं, बहनोई ने माँग की।"),
        ("hi", "घरेलू नौकर, पेशेवर खिलाड़ी, अधिकारों की बात।"),
        ("hi", "दोस्ती, भाईचारा और लड़कपन की यादें।"),
        ("hi", "गणितज्ञ, वैज्ञानिक, संगीतकार, नाटककार और गीता।"),
        ("hi", "जेली खाई, रोगी और रोगाणु देखे, शौक पूरे किए।"),
        ("hi", "रमेशचंद्र और सुनीताबेन के घराने में माँसाहार की मनाही थी।"),
        ("en", "Jasmine and Dahlia met Mr Cannon."),  # names
        ("en", "Steve Jobs; the Song dynasty; the book of Job"),
        ("en", "An antique mantle, a motherboard, a gunman, a stepson"),
        ("en", "Rosewood, flowerless, womanly, manly, sonnet, auntie"),
        ("en", "Robertson and Roberts saw peterson, rahul and the Andrews."),
        ("en", "He weds, companionable; physicist, mathematician, musician"),
        ("en", "Human beings mend a fatherland; brotherhood, sisterly"),
        ("en", "MOTHERS IN CAPITALS"),
    ],
)
def test_false_friends_are_not_found(language: str, sentence: str) -> None:
    [text] = NORMALIZED[language]([sentence])
    assert matcher_of(language).find(text) == []


def test_the_possessive_is_the_target() -> None:
    text, matcher = "my husband's piano", matcher_of("en")
    assert [match.form for match in matcher.find(text)] == ["husband", "husband's", "piano"]
    assert [text[match.start : match.end] for match in longest(matcher.find(text))] == ["husband's", "piano"]
