"""The project's word sets and templates for intersections (SEAT), against the paper's tables.

To add a language, add it to LANGUAGES, with its attribute sets and its words for a man and a woman, a boy and a girl.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import regex

from prasanga.lexicon import (
    FilledTemplate,
    Lexicon,
    Templates,
    filled_templates,
    load_lexicon,
    load_templates,
)
from prasanga.lexicon.spelling import spelling_of
from prasanga.lexicon.templates import with_article
from prasanga.sentences import Matcher, longest

RESOURCES = Path(__file__).parents[3] / "resources"
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
    "en": Language(_CALISKAN, {"man": "woman", "boy": "girl"}, (14, 14, 14, 13), 16, 8, 208, "."),
    "hi": Language(_CALISKAN, {"पुरुष": "महिला", "लड़का": "लड़की"}, (14, 14, 14, 13), 16, 8, 204, "।"),
}

SIDES = {
    "Male Names": "male_first_names",
    "Female Names": "female_first_names",
    "Hindu Names": "hindu_first_names",
    "Muslim Names": "muslim_first_names",
    **{
        f"{faith} {sex} Names": f"{faith}_{sex}_first_names".lower()
        for faith in ("Hindu", "Muslim")
        for sex in ("Male", "Female")
    },
    **{
        f"{caste} caste {sex} Terms": f"{caste}_caste_{sex}_terms".lower()
        for caste in ("Upper", "Lower")
        for sex in ("Male", "Female")
    },
    **{f"{age} {sex} Terms": f"{age}_{sex}_terms".lower() for age in ("Young", "Old") for sex in ("Male", "Female")},
}
JOINED = {
    "male_first_names": ("hindu_male_first_names", "muslim_male_first_names"),
    "female_first_names": ("hindu_female_first_names", "muslim_female_first_names"),
    "hindu_first_names": ("hindu_male_first_names", "hindu_female_first_names"),
    "muslim_first_names": ("muslim_male_first_names", "muslim_female_first_names"),
}

# Caliskan et al. (2017); honour is listed in the spelling of our set, nouns in the singular.
CALISKAN = {
    "career_caliskan": "executive management professional corporation salary office business career",
    "family_caliskan": "home parent child family cousin marriage wedding relative",
    "pleasant_caliskan": "caress freedom health love peace cheer friend heaven loyal pleasure diamond gentle honest"
    " lucky rainbow diploma gift honour miracle sunrise family happy laughter paradise vacation",
    "unpleasant_caliskan": "abuse crash filth murder sickness accident death grief poison stink assault disaster hatred"
    " pollute tragedy divorce jail poverty ugly cancer kill rotten vomit agony prison",
}


@cache
def lexicon_of(language: str) -> Lexicon:
    return load_lexicon(RESOURCES / "stimuli" / language, RESOURCES / "suffix_groups" / f"{language}.yaml")


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
def test_joined_sets_are_the_sum_of_their_parts(language: str) -> None:
    sets = sets_of(language)
    for joined, parts in JOINED.items():
        assert sets[joined] == tuple(word for part in parts for word in sets[part])


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
    sets, gendered = sets_of(language), LANGUAGES[language].gendered
    nouns = []
    for caste in ("upper", "lower"):
        male = [word.rsplit(" ", 1) for word in sets[f"{caste}_caste_male_terms"]]
        female = [word.rsplit(" ", 1) for word in sets[f"{caste}_caste_female_terms"]]
        assert [[community, gendered[noun]] for community, noun in male] == female
        nouns.append([noun for _, noun in male])
    assert nouns[0] == nouns[1]


@pytest.mark.parametrize("language", ["en", "hi"])
def test_every_community_of_table_12_stands_with_both_nouns(language: str) -> None:
    sets, nouns = sets_of(language), list(LANGUAGES[language].gendered)
    for caste in ("upper", "lower"):
        male = [word.rsplit(" ", 1) for word in sets[f"{caste}_caste_male_terms"]]
        assert [noun for _, noun in male] == nouns * 8
        assert [community for community, _ in male[::2]] == [community for community, _ in male[1::2]]
        assert len({community for community, _ in male}) == 8


def test_age_terms_are_counterparts() -> None:
    sets = sets_of("en")
    for sex in ("male", "female"):
        young, old = ([word.split(" ") for word in sets[f"{age}_{sex}_terms"]] for age in ("young", "old"))
        assert {age for age, _ in young} == {"young"}
        assert {age for age, _ in old} == {"old"}
        assert [noun for _, noun in young][:7] == [noun for _, noun in old][:7]


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_words_of_searched_sets_are_looked_for(language: str) -> None:
    lexicon = lexicon_of(language)
    assert len({form.stimulus for form in lexicon.forms}) == LANGUAGES[language].searched < len(lexicon.stimuli)
    new = {word for side in sets_of(language).values() for word in side} - {form.stimulus for form in lexicon.forms}
    assert new == {word.name for word in lexicon.stimuli} - {form.stimulus for form in lexicon.forms}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_class_is_used_and_has_the_same_number_of_templates(language: str) -> None:
    classes = templates_of(language).classes
    assert {word.word_class for word in lexicon_of(language).stimuli} == set(classes)
    assert {len(templates) for templates in classes.values()} == {N_TEMPLATES}


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


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_no_latin_letters(language: str) -> None:
    texts = [sentence.text for sentence in filled_of(language)]
    texts += [variant for word in lexicon_of(language).stimuli for variant in word.variants]
    assert [text for text in texts if regex.search(r"\p{Latin}", text)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_has_a_gloss(language: str) -> None:
    assert [word for word, gloss in glosses_of(language).items() if not gloss] == []


def test_english_articles() -> None:
    """No word of a class with an article is spoken otherwise than it is spelled (hour, university)."""
    words = [word.name for word in lexicon_of("en").stimuli if word.word_class in {"person", "thing"}]
    assert len(words) > 200
    for word in words:
        assert with_article(word) == f"{'an' if word[0] in 'aeiouAEIOU' else 'a'} {word}"
    texts = {sentence.text for sentence in filled_of("en")}
    assert {"This is an old man.", "That is an Arya girl.", "Here is a uniform."} & texts == {
        "This is an old man.",
        "That is an Arya girl.",
    }
    assert {
        "This is an executive.",
        "There is a young wife.",
        "They are young wives.",
        "The Dalit woman is here.",
    } <= texts
    assert {"These are children.", "Rahul is here.", "Peace is there.", "They kill.", "It is ruthless."} <= texts


def test_no_hindi_template_has_a_gender() -> None:
    """Nothing beside the word agrees with it: neither a verb in -ता or -ती nor an adjective in -ा."""
    said = {
        word
        for templates in templates_of("hi").classes.values()
        for template in templates
        for word in regex.findall(r"[\p{L}\p{M}]+", template.before + template.after)
    }
    assert said == set(regex.findall(r"\S+", "यह वह ये वे यहाँ वहाँ एक है हैं बात की नाम शायद बहुत काफी सचमुच"))
    adjectives = [word.name for word in lexicon_of("hi").stimuli if word.word_class == "adjective"]
    assert [word for word in adjectives if word.endswith("ा")] == ["मीठा", "कड़वा"]


def test_hindi_sentences() -> None:
    texts = {sentence.text for sentence in filled_of("hi")}
    assert {
        "बात एक ब्राह्मण लड़के की है।",
        "ये ब्राह्मण लड़के हैं।",
        "ये दलित महिलाएँ हैं।",
        "ये जाटव लड़कियाँ हैं।",
        "एक बुजुर्ग महिला यहाँ है।",
        "बात एक वृद्ध पिता की है।",
        "ये वृद्ध पिता हैं।",
        "ये युवक हैं।",
        "ये युवतियाँ हैं।",
        "बात चचेरे भाई-बहनों की है।",
        "ये माता-पिता हैं।",
        "बात हमले की है।",
        "फातिमा यहाँ है।",
        "बात राम की है।",
        "यह बहुत खतरनाक है।",
    } <= texts


def test_words_for_templates_are_not_found_in_texts() -> None:
    found = longest(Matcher(lexicon_of("en")).find("Ali gave the Brahmin man a cruel diploma."))
    assert [match.stimulus for match in found] == ["man"]
    found = Matcher(lexicon_of("hi")).find("राम की पूजा में दलित महिला और आनंद का प्रकाश।")
    assert [match.stimulus for match in found] == ["महिला"]


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
            assert communities == [term.capitalize() for term in table[caste] for _ in range(2)]
