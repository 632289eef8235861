"""The project's own English word sets and suffix groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.errors import InputError
from prasanga.lexicon import Lexicon, check_examples, inflections, load_lexicon, load_suffix_groups
from prasanga.lexicon.inflection import Example
from prasanga.sentences import Matcher, longest
from prasanga.text import normalizer

ROOT = Path(__file__).parents[3]
STIMULI = ROOT / "resources" / "stimuli" / "en"
GROUPS_FILE = ROOT / "resources" / "suffix_groups" / "en.yaml"
GROUPS = load_suffix_groups(GROUPS_FILE).groups
EXAMPLES = [(name, example) for name, group in GROUPS.items() for example in group.examples]

# Words of each set: targets X and Y, attributes A and B.
SIZES = {
    "C1": (16, 16, 20, 20),
    "C2": (14, 14, 20, 20),
    "C3": (16, 16, 20, 20),
    "C4": (16, 16, 10, 10),
    "C5": (10, 10, 10, 10),
    "C6": (12, 12, 10, 10),
    "C7": (12, 12, 16, 16),
    "C8": (12, 12, 10, 10),
    "C9": (12, 12, 16, 16),
}


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_lexicon(STIMULI, GROUPS_FILE)


@pytest.fixture(scope="module")
def matcher(lexicon: Lexicon) -> Matcher:
    return Matcher(lexicon)


def test_there_are_12_groups() -> None:
    assert len(GROUPS) == 12


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


@pytest.mark.parametrize("category", SIZES)
def test_sizes(lexicon: Lexicon, category: str) -> None:
    found = lexicon.categories[category]
    assert tuple(len(side.stimuli) for side in (*found.targets, *found.attributes)) == SIZES[category]


def test_categories_and_stimuli(lexicon: Lexicon) -> None:
    assert lexicon.language == "en"
    # The others are intersections: test_intersectional_resources.py.
    assert [name for name in lexicon.categories if name.startswith("C")] == list(SIZES)
    assert len(lexicon.stimuli) == 379
    assert len({form.stimulus for form in lexicon.forms}) == 208  # looked for in texts
    assert [stimulus.name for stimulus in lexicon.stimuli if not stimulus.gloss] == []
    assert lexicon.warnings == ()


def test_no_form_has_two_stimuli(lexicon: Lexicon) -> None:
    assert {form: owners for form, owners in lexicon.claims().items() if len(owners) > 1} == {}


def test_forms_are_spelt_as_in_the_corpus(lexicon: Lexicon) -> None:
    forms = [form.form for form in lexicon.forms]
    assert normalizer("nfkc")(forms) == forms
    assert not any(form.hyphenated for form in lexicon.forms)


@pytest.mark.parametrize(
    ("stimulus", "number", "case", "expected"),
    [
        ("flower", "plural", "nominative", None),
        ("tulip", "plural", "nominative", "tulips"),
        ("tulip", "singular", "genitive", "tulip's"),
        ("lotus", "plural", "nominative", "lotuses"),
        ("peony", "plural", "nominative", "peonies"),
        ("piano", "plural", "nominative", "pianos"),
        ("mosquito", "plural", "nominative", "mosquitoes"),
        ("knife", "plural", "nominative", "knives"),
        ("wife", "singular", "genitive", "wife's"),
        ("woman", "plural", "nominative", "women"),
        ("woman", "plural", "genitive", "women's"),
        ("child", "plural", "nominative", "children"),
        ("child", "plural", "genitive", "children's"),
        ("louse", "plural", "nominative", "lice"),
        ("hypothesis", "plural", "nominative", "hypotheses"),
        ("Nicholas", "singular", "genitive", "Nicholas's"),
        ("tulip", "plural", "genitive", None),
        ("poverty", "plural", "nominative", None),
        ("Robert", "plural", "nominative", None),
    ],
)
def test_inflect(lexicon: Lexicon, stimulus: str, number: str, case: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(InputError, match=stimulus):
            lexicon.inflect(stimulus, number=number, case=case)
    else:
        assert lexicon.inflect(stimulus, number=number, case=case) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Marigolds and jasmine grew beside the lotus.", ["marigold Marigolds", "jasmine jasmine", "lotus lotus"]),
        (
            "Mosquitos bred there; lice and cockroaches, too.",
            ["mosquito Mosquitos", "louse lice", "cockroach cockroaches"],
        ),
        ("Her sitar and two pianos.", ["sitar sitar", "piano pianos"]),
        ("KNIVES are drawn; the knives, the swords.", ["knife knives", "sword swords"]),
        ("What an honor, my gentle friends!", ["honour honor", "gentle gentle", "friend friends"]),
        ("Their enemies' agony was horrible.", ["enemy enemies", "agony agony", "horrible horrible"]),
        ("Rahul’s cousin met Steven and Peter.", ["Rahul Rahul’s", "cousin cousin", "Stephen Steven", "Peter Peter"]),
        ("Aisha wrote to Kathryn.", ["Ayesha Aisha", "Katherine Kathryn"]),
        ("The men's uncle and a man's son", ["man men's", "uncle uncle", "man man's", "son son"]),
        ("Women and wives; the women’s aunts", ["woman Women", "wife wives", "woman women’s", "aunt aunts"]),
        ("Employees' salaries at the office.", ["employee Employees", "salary salaries", "office office"]),
        (
            "Children's homes, families, parents",
            ["child Children's", "home homes", "family families", "parent parents"],
        ),
        ("Maths is more than equations.", ["mathematics Maths", "equation equations"]),
        ("A theater for symphonies and songs", ["theatre theater", "symphony symphonies", "song songs"]),
        ("Two hypotheses in physics", ["hypothesis hypotheses", "physics physics"]),
        ("The bed bug in the boys' room", ["bedbug bed bug", "boy boys"]),
    ],
)
def test_forms_are_found(matcher: Matcher, sentence: str, expected: list[str]) -> None:
    assert [f"{match.stimulus} {match.form}" for match in longest(matcher.find(sentence))] == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Jasmine and Dahlia met Mr Cannon.",  # names
        "Steve Jobs; the Song dynasty; the book of Job",
        "An antique mantle, a motherboard, a gunman, a stepson",
        "Rosewood, flowerless, womanly, manly, sonnet, auntie",
        "Robertson and Roberts saw peterson, rahul and the Andrews.",
        "He weds, companionable; physicist, mathematician, musician",
        "Human beings mend a fatherland; brotherhood, sisterly",
        "MOTHERS IN CAPITALS",
    ],
)
def test_false_friends_are_not_found(matcher: Matcher, sentence: str) -> None:
    assert matcher.find(sentence) == []


def test_the_possessive_is_the_target(matcher: Matcher) -> None:
    text = "my husband's piano"
    assert [match.form for match in matcher.find(text)] == ["husband", "husband's", "piano"]
    assert [text[match.start : match.end] for match in longest(matcher.find(text))] == ["husband's", "piano"]
