"""The sets of caste and age as Sahoo et al. (2024) describe them: each term with each gendered noun."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.lexicon import Lexicon, load_lexicon
from prasanga.lexicon.model import categories_of, chosen_categories
from prasanga.plan import StudyPlan

LOWER = ["dalit", "shudra", "bhangi", "chamaar", "valimiki", "harijan", "chuhda", "jatav"]
UPPER = ["thakur", "brahmin", "rajput", "kshatriya", "arya", "jaat", "baniya", "kayastha"]
"""Table 12, in its order and spelling."""
MALE, FEMALE = ["male", "man", "boy", "brother", "son"], ["female", "woman", "girl", "sister", "daughter"]
"""The lists of Caliskan et al. (2017) without pronouns."""
HI_UPPER = ["ठाकुर", "ब्राह्मण", "राजपूत", "क्षत्रिय", "आर्य", "जाट", "बनिया", "कायस्थ"]
HI_MALE, HI_FEMALE = ["पुरुष", "आदमी", "लड़का", "भाई", "बेटा"], ["महिला", "औरत", "लड़की", "बहन", "बेटी"]
SIDES = {
    **{"GC1": ("uc m", "uc f"), "GC2": ("uc m", "lc f"), "GC3": ("lc m", "lc f"), "GC4": ("lc m", "uc f")},
    **{"GC5": ("uc m", "lc m"), "GC6": ("uc f", "lc f"), "GA1": ("y m", "y f"), "GA2": ("y m", "o f")},
    **{"GA3": ("o m", "o f"), "GA4": ("o m", "y f"), "GA5": ("y m", "o m"), "GA6": ("y f", "o f")},
}
"""The rows of Tables 4 and 9."""
TERMS = {"uc": UPPER, "lc": LOWER, "y": ["young"], "o": ["old"]}
SETS = {
    f"{short} {sex[0]}": f"{name}_{sex}_paper"
    for short, name in (("uc", "upper_caste"), ("lc", "lower_caste"), ("y", "young"), ("o", "old"))
    for sex in ("male", "female")
}


@pytest.fixture(autouse=True)
def _in_the_project(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project_root)


def lexicon_of_paper(language: str) -> Lexicon:
    folder = f"resources/stimuli/{language}"
    return load_lexicon([folder, f"{folder}/paper"], f"resources/suffix_groups/{language}.yaml")


def words_of(lexicon: Lexicon, category: str, side: int) -> list[str]:
    return list(lexicon.categories[category].targets[side].stimuli)


def cross(terms: list[str], nouns: list[str]) -> list[str]:
    return [f"{term} {noun}" for term, noun in product(terms, nouns)]


@pytest.mark.parametrize("language", ["en", "hi"])
def test_each_row_of_tables_4_and_9_has_its_sets(language: str) -> None:
    lexicon = lexicon_of_paper(language)
    for name, sides in SIDES.items():
        category = lexicon.categories[name]
        assert [side.name for side in category.targets] == [SETS[side] for side in sides], name
        assert [side.name for side in category.attributes] == ["pleasant_caliskan", "unpleasant_caliskan"]
        assert all(side.as_published and not side.searched for side in category.targets)
        assert category.matched == ("targets" if name in ("GC1", "GC3", "GA1", "GA3") else "")
        clusters = [[side.clusters[word] for word in side.stimuli] for side in category.targets]
        assert clusters[0] == [term for term in TERMS[sides[0][:-2]] for _ in range(5)]
        assert (clusters[0] == clusters[1]) == (category.matched != "")
    assert not lexicon.categories["C5"].targets[0].as_published


def test_english_words_are_those_of_the_paper() -> None:
    lexicon = lexicon_of_paper("en")
    assert words_of(lexicon, "GC1", 0) == cross(UPPER, MALE)
    assert words_of(lexicon, "GC6", 0) == cross(UPPER, FEMALE)
    assert words_of(lexicon, "GC3", 0) == cross(LOWER, MALE)
    assert words_of(lexicon, "GC3", 1) == cross(LOWER, FEMALE)
    assert (words_of(lexicon, "GA1", 0), words_of(lexicon, "GA3", 1)) == (
        cross(["young"], MALE),
        cross(["old"], FEMALE),
    )
    assert lexicon.inflect("kshatriya woman", number="plural") == "kshatriya women"


def test_hindi_words_agree_with_their_nouns() -> None:
    lexicon = lexicon_of_paper("hi")
    assert words_of(lexicon, "GC1", 0) == cross(HI_UPPER, HI_MALE)
    assert words_of(lexicon, "GC1", 1) == cross(HI_UPPER, HI_FEMALE)
    assert words_of(lexicon, "GC3", 0)[30:35] == cross(["चूहड़ा"], HI_MALE)
    assert words_of(lexicon, "GC3", 1)[30:35] == cross(["चूहड़ी"], HI_FEMALE)
    assert words_of(lexicon, "GA3", 0) == cross(["बूढ़ा"], HI_MALE)
    assert words_of(lexicon, "GA3", 1) == cross(["बूढ़ी"], HI_FEMALE)
    for word, number, form in (
        ("चूहड़ा लड़का", "singular", "चूहड़े लड़के"),
        ("चूहड़ा भाई", "plural", "चूहड़े भाइयों"),
        ("बूढ़ा बेटा", "singular", "बूढ़े बेटे"),
        ("बूढ़ी औरत", "plural", "बूढ़ी औरतों"),
        ("ब्राह्मण आदमी", "plural", "ब्राह्मण आदमियों"),
        ("बनिया लड़का", "singular", "बनिया लड़के"),
    ):
        assert lexicon.inflect(word, number=number, case="oblique") == form


def test_jobs_know_that_words_are_a_papers() -> None:
    chosen = chosen_categories(categories_of(lexicon_of_paper("en")), ["GA1", "C5"])
    assert [side.get("as_published") for side in chosen["GA1"]["targets"]] == [True, True]
    assert [side.get("as_published") for side in chosen["C5"]["targets"]] == [None, None]


def test_only_the_preset_of_the_papers_measures_them() -> None:
    stimuli = ["resources/stimuli/en", "resources/stimuli/en/paper"]
    config = {"language": "en", "categories": [], "seat": {"categories": ["GC5"]}, "lexicon": {"stimuli": stimuli}}
    plan = StudyPlan.from_config(complete({**config, "preset": "paper"}))
    assert len(plan.words.chosen["seat"]["GC5"]["targets"][0]["stimuli"]) == 40
    said = (
        r"upper_caste_male_paper.yaml: the set .* of the category GC5 has the words of a paper.*Write `preset: paper`"
    )
    with pytest.raises(InputError, match=said):
        StudyPlan.from_config(complete(config))
