"""The project's word sets and templates for intersections (SEAT), against the paper's tables.

To add a language, add it to LANGUAGES, with its attribute sets and its words for a man and a woman, a boy and a girl.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import regex
from shipped import lexicon_of
from tables import read_data

from prasanga.lexicon import FilledTemplate, Templates, filled_templates, load_templates
from prasanga.lexicon.model import spelling_of
from prasanga.lexicon.templates import with_article

ROOT = Path(__file__).parents[3]
RESOURCES = ROOT / "resources"
N_TEMPLATES = 8


@dataclass(frozen=True)
class Language:
    """What differs between the languages.

    Attributes:
        attributes: the sets that stand for the attributes of categories.csv.
        gendered: the gendered words of the caste terms, each male one with its female counterpart.
        names: names of the four groups, Hindu men, Muslim men, Hindu women, Muslim women.
        castes: words of each caste and gender.
        ages: words of each age and gender.
        searched: stimuli that are looked for in texts, as the language's own test counts them.
        stop: what ends a sentence.
    """

    attributes: dict[str, tuple[str, str]]
    gendered: dict[str, str]
    names: tuple[int, int, int, int]
    castes: int
    ages: int
    searched: int
    stop: str


_CALISKAN = {
    "Career vs Family": ("career_caliskan", "family_caliskan"),
    "Non-violent vs Violent": ("nonviolent", "violent"),
    "Pleasant vs Unpleasant": ("pleasant_caliskan", "unpleasant_caliskan"),
}
LANGUAGES = {
    "en": Language(_CALISKAN, {"man": "woman", "boy": "girl"}, (14, 14, 14, 13), 8, 8, 208, "."),
    "hi": Language(_CALISKAN, {"पुरुष": "महिला", "लड़का": "लड़की"}, (14, 14, 14, 13), 8, 8, 204, "।"),
    "bn": Language(
        {
            "Career vs Family": ("career", "family"),
            "Non-violent vs Violent": ("nonviolent", "violent"),
            "Pleasant vs Unpleasant": ("pleasant", "unpleasant"),
        },
        {"পুরুষ": "নারী", "ছেলে": "মেয়ে"},
        (14, 14, 14, 14),
        8,
        8,
        262,
        "।",
    ),
}
# Communities whose name changes with the gender of the noun.
FEMININE_COMMUNITIES = {"चूहड़ा": "चूहड़ी"}

SIDES = read_data(__file__, "sides")

# Caliskan et al. (2017); honour is listed in the spelling of our set, nouns in the singular.
CALISKAN = read_data(__file__, "words_of_caliskan")


@cache
def templates_of(language: str) -> Templates:
    return load_templates(RESOURCES / "templates" / language / "seat.yaml")


@cache
def filled_of(language: str) -> tuple[FilledTemplate, ...]:
    lexicon = lexicon_of(language)
    return tuple(filled_templates(lexicon, [word.name for word in lexicon.stimuli], templates_of(language)))


@cache
def sets_of(language: str) -> dict[str, tuple[str, ...]]:
    """The words of all sets that categories name, joined ones too."""
    return {
        side.name: side.stimuli
        for category in lexicon_of(language).categories.values()
        for side in (*category.targets, *category.attributes)
    }


@cache
def gendered_of(language: str) -> dict[str, str]:
    """The gendered words of the caste terms, as the lexicon spells them."""
    spelled = spelling_of(language)
    return {spelled(male): spelled(female) for male, female in LANGUAGES[language].gendered.items()}


def imbalances_of(language: str) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Pairs whose sides differ in the shares of their classes, with how many words each class has."""
    classes = {word.name: word.word_class for word in lexicon_of(language).stimuli}
    found = {}
    for category in lexicon_of(language).categories.values():
        for sides in (category.targets, category.attributes):
            first, second = (Counter(classes[word] for word in side.stimuli) for side in sides)
            if {name: count * second.total() for name, count in first.items()} != {
                name: count * first.total() for name, count in second.items()
            }:
                found[language, sides[0].name, sides[1].name] = (_counted(first), _counted(second))
    return found


def _counted(classes: Counter[str]) -> str:
    """`4 matter, 2 mass`: the largest first, equal ones by name."""
    return ", ".join(f"{n} {name}" for name, n in sorted(classes.items(), key=lambda item: (-item[1], item[0])))


@cache
def glosses_of(language: str) -> dict[str, str]:
    return {word.name: word.gloss for word in lexicon_of(language).stimuli}


def rows() -> list[dict[str, str]]:
    with (RESOURCES / "published" / "categories.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["paper"] == "sahoo2024"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_row_of_the_paper_has_its_category(language: str) -> None:
    categories = lexicon_of(language).categories
    found = [name for name in categories if not name.startswith("C")]
    assert found == [f"GR{n}" for n in range(1, 15)] + [f"{axis}{n}" for axis in ("GC", "GA") for n in range(1, 7)]
    assert found == [row["category"] for row in rows()]
    for row in rows():
        category = categories[row["category"]]
        assert [side.name for side in category.targets] == [SIDES[side] for side in row["targets"].split(" vs ")]
        assert tuple(side.name for side in category.attributes) == LANGUAGES[language].attributes[row["attributes"]]
        assert not any(side.searched for side in category.targets)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sizes(language: str) -> None:
    expected, sets = LANGUAGES[language], sets_of(language)
    groups = [f"{faith}_{sex}_first_names" for sex in ("male", "female") for faith in ("hindu", "muslim")]
    assert tuple(len(sets[name]) for name in groups) == expected.names
    castes = {len(sets[f"{caste}_caste_{sex}_terms"]) for caste in ("upper", "lower") for sex in ("male", "female")}
    assert castes == {expected.castes}
    assert {len(sets[f"{age}_{sex}_terms"]) for age in ("young", "old") for sex in ("male", "female")} == {
        expected.ages
    }
    assert len(sets["violent"]) == len(sets["nonviolent"]) == 18


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_stands_on_both_sides_or_as_target_and_attribute(language: str) -> None:
    spellings = {word.name: {word.name, *word.variants} for word in lexicon_of(language).stimuli}
    for name, category in lexicon_of(language).categories.items():
        sides = [
            set().union(*(spellings[word] for word in side.stimuli))
            for side in (*category.targets, *category.attributes)
        ]
        assert sum(map(len, sides)) == len(set().union(*sides)), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_caste_terms_are_counterparts(language: str) -> None:
    """In one order: the same communities for both genders, the same gendered words on both sides."""
    sets, gendered = sets_of(language), gendered_of(language)
    spelled = spelling_of(language)
    feminine = {spelled(male): spelled(female) for male, female in FEMININE_COMMUNITIES.items()}
    nouns = []
    for caste in ("upper", "lower"):
        male = [word.rsplit(" ", 1) for word in sets[f"{caste}_caste_male_terms"]]
        female = [word.rsplit(" ", 1) for word in sets[f"{caste}_caste_female_terms"]]
        assert [[feminine.get(community, community), gendered[noun]] for community, noun in male] == female
        nouns.append([noun for _, noun in male])
    assert nouns[0] == nouns[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_a_set_are_independent(language: str) -> None:
    """No caste stands twice in a set, its two nouns stand four times each, and ages go with eight different nouns."""
    sets, nouns = sets_of(language), gendered_of(language)
    for sex, of_sex in (("male", list(nouns)), ("female", list(nouns.values()))):
        for caste in ("upper", "lower"):
            words = [word.rsplit(" ", 1) for word in sets[f"{caste}_caste_{sex}_terms"]]
            assert len({community for community, _ in words}) == 8
            assert Counter(noun for _, noun in words) == dict.fromkeys(of_sex, 4)
        for age in ("young", "old"):
            assert len({word.split(" ")[-1] for word in sets[f"{age}_{sex}_terms"]}) == 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_class_is_used_and_has_the_same_number_of_templates(language: str) -> None:
    classes = templates_of(language).classes
    assert {word.word_class for word in lexicon_of(language).stimuli} == set(classes)
    assert {len(templates) for templates in classes.values()} == {N_TEMPLATES}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_two_sides_of_a_pair_have_the_same_classes(language: str) -> None:
    """Or a template, and not a word, might make the difference. The page lists those that do not."""
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    row = rf"^\| {language} \| `(\w+)`, `(\w+)` \| ([^|]+) \| ([^|]+) \|$"
    listed = regex.findall(row, page, flags=regex.MULTILINE)
    assert {(language, x, y): (of_x, of_y) for x, y, of_x, of_y in listed} == imbalances_of(language)
    assert len(listed) == len(imbalances_of(language)) > 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_takes_every_word_of_its_class(language: str) -> None:
    lexicon, filled = lexicon_of(language), filled_of(language)
    assert len(filled) == N_TEMPLATES * len(lexicon.stimuli)
    assert len({(sentence.stimulus, sentence.text) for sentence in filled}) == len(filled)
    produced: dict[str, set[str]] = {}
    for form in lexicon.readings:
        produced.setdefault(form.stimulus, set()).add(form.form)
    for sentence in filled:
        assert sentence.text.endswith(LANGUAGES[language].stop)
        assert not regex.search(r"[{}]|\s\s|^\p{Ll}", sentence.text), sentence.text
        word = sentence.text[sentence.start : sentence.end]
        forms = produced[sentence.stimulus]
        assert word in forms | {form[0].upper() + form[1:] for form in forms}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_and_sentences_are_normalized(language: str) -> None:
    normalized = spelling_of(language)
    texts = [sentence.text for sentence in filled_of(language)]
    texts += [text for word in lexicon_of(language).stimuli for text in (word.name, *word.variants)]
    assert [text for text in texts if normalized(text) != text] == []


def test_english_articles() -> None:
    """No word of a class with an article is spoken otherwise than it is spelled (hour, university)."""
    words = [word.name for word in lexicon_of("en").stimuli if word.word_class in {"person", "thing", "matter"}]
    assert len(words) > 200
    for word in words:
        assert with_article(word) == f"{'an' if word[0] in 'aeiouAEIOU' else 'a'} {word}"


SENTENCES = {
    "en": "This is an old man.|That is an Arya girl.|This is an executive.|They are young wives.|This is the wedding."
    "|The text mentions a theorem.|The topic is statistics.|These are children.|They kill.|It is ruthless.",
    "hi": "बात एक ब्राह्मण लड़के की है।|वह एक चूहड़ी महिला है।|यह एक वृद्ध माँ की तस्वीर है।|बात चचेरे भाई-बहनों की है।"
    "|लेख में एक हमले का जिक्र है।|फातिमा यहाँ हैं।|इनका नाम पूजा है।|यह बहुत मीठा है।",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences(language: str) -> None:
    assert {sentence.text for sentence in filled_of(language)} >= set(SENTENCES[language].split("|"))


def test_no_hindi_template_has_a_gender() -> None:
    """Nothing beside the word agrees with it: neither a verb in -ता or -ती nor an adjective in -ा."""
    said = {
        word
        for templates in templates_of("hi").classes.values()
        for template in templates
        for word in regex.findall(r"[\p{L}\p{M}]+", " ".join(template.texts))
    }
    verbs, pronouns = "है हैं हुई", "यह वह ये वे वही इनका उनका"
    others = "यहाँ वहाँ एक बात चर्चा लेख विषय नाम तस्वीर जिक्र की का के बारे में से शायद बहुत काफी सचमुच व्यवहार"
    assert said == set(f"{verbs} {pronouns} {others}".split())
    adjectives = [word.name for word in lexicon_of("hi").stimuli if word.word_class == "adjective"]
    assert [word for word in adjectives if word.endswith("ा")] == [
        "मीठा",
        "कड़वा",
        "जानलेवा",  # which does not change
    ]


@pytest.mark.parametrize("name", CALISKAN)
def test_words_of_caliskan(name: str) -> None:
    assert " ".join(sets_of("en")[name]) == CALISKAN[name]
    assert len(sets_of("hi")[name]) == len(sets_of("en")[name])


def listed(path: Path, group: str, term: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row[group], []).append(row[term])
    return found


def test_names_of_table_10(shared: Path) -> None:
    table = listed(shared / "published/indibias_first_names.csv", "intersectional_group", "first_name")
    assert len(table) == 4
    for group, names in table.items():
        name = f"{group.lower().replace(' ', '_')}_first_names"
        capitals = [given.capitalize() for given in names]
        assert list(sets_of("en")[name]) == capitals
        assert [glosses_of("hi")[word] for word in sets_of("hi")[name]] == capitals


def test_words_of_table_11(shared: Path) -> None:
    table = listed(shared / "published/indibias_violence_terms.csv", "attribute", "term")
    for attribute, name in (("Violent", "violent"), ("Non-violent", "nonviolent")):
        assert list(sets_of("en")[name]) == table[attribute]
        glosses = [glosses_of("hi")[word] for word in sets_of("hi")[name]]
        assert glosses == [{"threatening": "threat"}.get(term, term) for term in table[attribute]]


def test_words_of_table_12(shared: Path) -> None:
    table = listed(shared / "published/indibias_caste_terms.csv", "caste_subgroup", "term")
    for caste, name in (("Upper Caste", "upper_caste"), ("Lower Caste", "lower_caste")):
        for sex in ("male", "female"):
            communities = [word.split(" ")[0] for word in sets_of("en")[f"{name}_{sex}_terms"]]
            assert communities == [term.capitalize() for term in table[caste]]
