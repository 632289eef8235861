"""The project's own traits with their sentences S4 and S5: what is promised of every file of `resources/traits/bn`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from shipped import lexicon_of

from prasanga.lexicon import Lexicon
from prasanga.text import normalize

RESOURCES = Path(__file__).parents[3] / "resources"
TRAITS = RESOURCES / "traits" / "bn"
NUMBER_OF_TRAITS = {"positive": 110, "negative": 70}
WORDS_OF_SENTENCE = {"S4": range(18, 28), "S5": range(28, 38)}
TERMS = ("ছেলে", "পুরুষ", "যুবক", "বালক", "মেয়ে", "নারী", "যুবতী", "বালিকা")
TARGETS = {
    "{target:plural}": "nominative",
    "{target:plural genitive}": "genitive",
    "{target:plural objective}": "objective",
}
SLOT = re.compile(r"\{[^{}]*\}")
# Between trait and term, where one does not follow the other: what points at the term, makes the trait a predicate, or
# tells where the people are. A noun here might take the trait to itself, and the end of a clause would part the two.
BETWEEN = re.compile(r"\{attribute\}(.*)\{target", flags=re.DOTALL)
MAY_STAND_BETWEEN = """এই সেই ওই যে এমন ছিল হলো থাকে দেখা গেল দেখাচ্ছিল রয়ে গেছে হয়ে ওঠা দাঁড়িয়ে
    গ্রামেরই উপজেলার পুবপাড়ার দ্বীপের তিনতলার নবাগত"""
BANGLA_WORD = re.compile(r"[\u0980-\u09ff]+")

# Word sets whose words tell the sex of those spoken of, and other words that do and have a counterpart.
GENDERED_SETS = tuple(
    f"{prefix}{sex}_{kind}"
    for sex in ("male", "female")
    for prefix, kind in (("", "terms"), ("young_", "terms"), ("old_", "terms"), ("", "names"))
)
GENDERED_WORDS = """মাতা পিতা জননী জনক দাদা দাদি দাদু দিদি দিদা নানি চাচা চাচি কাকা কাকি খালা ফুফু পিসি মাসি
    ছাত্র ছাত্রী শিক্ষক শিক্ষিকা লেখক লেখিকা গায়ক গায়িকা নায়ক নায়িকা অভিনেতা অভিনেত্রী নেতা নেত্রী রাজা রানি পাঠক পাঠিকা
    সেবক সেবিকা স্বেচ্ছাসেবক স্বেচ্ছাসেবিকা বান্ধবী প্রেমিক প্রেমিকা বর বধূ বউ মহিলা ভদ্রলোক ভদ্রমহিলা বৃদ্ধ বৃদ্ধা
    তরুণ তরুণী কিশোর কিশোরী রমণী জেলে জেলেনি সাহেব বেগম বাবু বিধবা বিপত্নীক গৃহিণী"""
# Endings under which such a word is still that word.
ENDINGS = ("", "র", "ের", "য়ের", "কে", "রা", "েরা", "দের", "দেরকে", "টি", "টা", "টির", "টিকে", "ও", "ই", "গণ")


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@cache
def file_of(polarity: str) -> tuple[str, dict[str, Any]]:
    """A file as text and as data."""
    text = (TRAITS / f"{polarity}.yaml").read_text(encoding="utf-8")
    return text, yaml.safe_load(text)


def traits_of(polarity: str) -> list[dict[str, str]]:
    traits: list[dict[str, str]] = file_of(polarity)[1]["traits"]
    return traits


def sentences(polarity: str) -> Iterator[tuple[str, str, str]]:
    """Word, structure and text of everything that a file says."""
    for trait in traits_of(polarity):
        for structure in WORDS_OF_SENTENCE:
            yield trait["word"], structure, trait[structure]


def words_between(text: str) -> list[str]:
    """What stands between trait and term, with any punctuation left on the words."""
    found = BETWEEN.search(text)
    assert found, text
    return found[1].split()


def words_without_slots(text: str) -> list[str]:
    return BANGLA_WORD.findall(SLOT.sub(" ", text))


def longest_in_common(first: str, second: str) -> int:
    """Characters of the longest string that stands in both."""
    spans = ((start, end) for start in range(len(first)) for end in range(start, len(first) + 1))
    return max(end - start for start, end in spans if first[start:end] in second)


def related(trait: str, word: str) -> bool:
    """Whether a word has three fifths of a trait's letters in a row (সহানুভূতিশীল, সহানুভূতি), and three at least."""
    plain, other = trait.replace("ৎ", "ত"), word.replace("ৎ", "ত")
    needed = min(len(plain), max(3, -(-3 * len(plain) // 5)))
    return longest_in_common(plain, other) >= needed


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return lexicon_of("bn")


@pytest.fixture(scope="module")
def gendered(lexicon: Lexicon) -> frozenset[str]:
    """Spellings that would give the answer away."""
    sets = [yaml.safe_load((RESOURCES / "stimuli" / "bn" / f"{name}.yaml").read_text()) for name in GENDERED_SETS]
    names = {nfc(word["stimulus"]) for each in sets for word in each["words"]}
    forms = {reading.form for reading in lexicon.readings if reading.stimulus in names}
    listed = {nfc(word) + nfc(ending) for word in (*GENDERED_WORDS.split(), *TERMS) for ending in ENDINGS}
    return frozenset(forms | names | listed)


def test_there_is_a_file_of_each_polarity_and_no_other() -> None:
    assert sorted(path.name for path in TRAITS.iterdir()) == sorted(f"{name}.yaml" for name in NUMBER_OF_TRAITS)


def test_no_word_is_a_trait_twice() -> None:
    words = Counter(trait["word"] for polarity in NUMBER_OF_TRAITS for trait in traits_of(polarity))
    assert [word for word, count in words.items() if count > 1] == []


def test_no_sentence_stands_twice() -> None:
    """Neither a whole text nor one sentence of it, in either file."""
    texts = [text for polarity in NUMBER_OF_TRAITS for _, _, text in sentences(polarity)]
    single = Counter(part.strip() for text in texts for part in re.split("[।?!]", text) if part.strip())
    assert len(set(texts)) == len(texts) == 2 * sum(NUMBER_OF_TRAITS.values())
    assert [part for part, count in single.items() if count > 1] == []


@pytest.mark.parametrize("structure", WORDS_OF_SENTENCE)
def test_the_two_lists_are_built_alike(structure: str) -> None:
    """What a sentence is like must not go with polarity: neighbours, case, length, and where the trait comes."""
    shares: dict[str, tuple[float, ...]] = {}
    for polarity in NUMBER_OF_TRAITS:
        texts = [trait[structure] for trait in traits_of(polarity)]
        adjacent = sum(not words_between(text) for text in texts) / len(texts)
        nominative = sum("{target:plural}" in text for text in texts) / len(texts)
        lengths = [len(SLOT.sub("_", text).split()) for text in texts]
        places = [len(SLOT.sub("_", text.split("{attribute}")[0]).split()) for text in texts]
        place = sum(place / length for place, length in zip(places, lengths, strict=True)) / len(texts)
        shares[polarity] = (adjacent, nominative, sum(lengths) / len(texts) / 15, place)
    assert shares["negative"] == pytest.approx(shares["positive"], abs=0.1)


@pytest.mark.parametrize("polarity", NUMBER_OF_TRAITS)
class TestFile:
    def test_holds_as_many_traits_as_it_should(self, polarity: str) -> None:
        data = file_of(polarity)[1]
        assert set(data) == {"language", "polarity", "traits"}
        assert (data["language"], data["polarity"]) == ("bn", polarity)
        assert len(data["traits"]) == NUMBER_OF_TRAITS[polarity]

    def test_every_trait_is_one_word_with_a_gloss_and_two_texts(self, polarity: str) -> None:
        for trait in traits_of(polarity):
            assert set(trait) == {"word", "gloss", "S4", "S5"}, trait
            assert BANGLA_WORD.fullmatch(trait["word"]), trait["word"]
            assert re.fullmatch(r"[a-z][a-z, '-]*[a-z]", trait["gloss"]), trait["word"]

    def test_texts_are_quoted_and_the_file_is_normalized(self, polarity: str) -> None:
        text = file_of(polarity)[0]
        assert unicodedata.is_normalized("NFC", text)
        lines = re.findall(r"^    S[45]: .*$", text, flags=re.MULTILINE)
        assert len(lines) == 2 * NUMBER_OF_TRAITS[polarity]
        assert [line for line in lines if not re.fullmatch(r'    S[45]: "[^"\\]+"', line)] == []

    def test_one_attribute_and_then_one_target(self, polarity: str) -> None:
        for word, structure, text in sentences(polarity):
            slots = SLOT.findall(text)
            assert (text.count("{"), text.count("}"), len(slots)) == (2, 2, 2), (word, structure)
            assert slots[0] == "{attribute}", (word, structure)
            assert slots[1] in TARGETS, (word, structure)

    def test_trait_and_term_stand_in_one_clause(self, polarity: str) -> None:
        """At most two words between them, of a few kinds, and nothing that ends a clause."""
        parted = [
            (word, structure, between)
            for word, structure, text in sentences(polarity)
            for between in [words_between(text)]
            if len(between) > 2 or not set(nfc(MAY_STAND_BETWEEN).split()).issuperset(between)
        ]
        assert parted == []

    def test_nothing_hangs_on_a_slot(self, polarity: str) -> None:
        """A suffix after a mask would tell of what it hides."""
        hanging = [
            (word, structure)
            for word, structure, text in sentences(polarity)
            if re.search(r"\}[^\s,।;?!’]|[^\s‘]\{", text)
        ]
        assert hanging == []

    def test_lengths(self, polarity: str) -> None:
        lengths = [(word, structure, len(SLOT.sub("_", text).split())) for word, structure, text in sentences(polarity)]
        assert [each for each in lengths if each[2] not in WORDS_OF_SENTENCE[each[1]]] == []

    def test_s4_is_two_or_three_sentences(self, polarity: str) -> None:
        """Table 3 of Sadhu et al.: multiple sentences."""
        assert {len(re.findall("[।?!]", trait["S4"])) for trait in traits_of(polarity)} == {2, 3}

    def test_only_bangla_letters_and_ordinary_punctuation(self, polarity: str) -> None:
        for word, structure, text in sentences(polarity):
            assert set(re.findall(r"[^\u0980-\u09ff]", SLOT.sub("", text))) <= set(" ,।;:?!‘’—-"), (word, structure)
            assert not re.search(r"[০-৯]|\s[,।;?!]|\s\s|[,।;?!][^\s’]", text), (word, structure)
            assert text[-1] in "।?!", (word, structure)

    def test_a_trait_stands_nowhere_else_in_its_texts(self, polarity: str) -> None:
        found = [
            (trait, structure, word)
            for trait, structure, text in sentences(polarity)
            for word in words_without_slots(text)
            if related(trait, word)
        ]
        assert found == []

    def test_no_other_word_tells_the_sex(self, polarity: str, gendered: frozenset[str]) -> None:
        found = [
            (trait, structure, word)
            for trait, structure, text in sentences(polarity)
            for word in words_without_slots(text)
            if word in gendered
        ]
        assert found == []

    def test_every_term_can_be_put_in(self, polarity: str, lexicon: Lexicon) -> None:
        forms = {
            slot: [lexicon.inflect(nfc(term), number="plural", case=case) for term in TERMS]
            for slot, case in TARGETS.items()
        }
        assert forms["{target:plural genitive}"][0] == "ছেলেদের"
        for word, structure, text in sentences(polarity):
            slot = SLOT.findall(text)[1]
            for form in forms[slot]:
                filled = text.replace("{attribute}", word).replace(slot, form)
                assert normalize(filled) == filled, (word, structure, form)
                assert form in filled.split() or re.search(rf"(?<!\S){form}[,।;?!]", filled), (word, structure, form)
