"""Sentences with two slots, lists of traits in both layouts, sentence structures and category templates: as files."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tables import read_cases, read_text

from prasanga.base.errors import InputError
from prasanga.lexicon import Lexicon, categories_of, load_lexicon
from prasanga.lexicon.model import spelling_of
from prasanga.lexicon.templates import fill_sentence, read_sentence
from prasanga.likelihoods.categories import read_category_sentences
from prasanga.likelihoods.structures import GROUPS, STRUCTURES, list_oddities, read_trait_sentences, read_traits

Write = Callable[[str, str], Path]
BANGLA = spelling_of("bn")
TRAITS = read_text(__file__, "traits.yaml")
STRUCTURE_FILE = read_text(__file__, "structures.yaml")
CATEGORY_FILE = read_text(__file__, "category_templates.yaml")


def fill(structures: Path, traits: Sequence[Path], lexicon: Lexicon) -> pl.DataFrame:
    return read_trait_sentences({"structures": structures, "traits": traits}, lexicon)


def fill_categories(
    categories: dict[str, Any], templates: Path, lexicon: Lexicon, exchanged: Sequence[str] = ()
) -> pl.DataFrame:
    return read_category_sentences({"templates": templates, "exchanged": exchanged}, categories, lexicon)


def sentence(text: str, language: str = "bn") -> object:
    return read_sentence(text, name="one", place="file, line 1", language=language)


@pytest.fixture(scope="module")
def lexicon(project_root: Path) -> Lexicon:
    resources = project_root / "resources"
    return load_lexicon(resources / "stimuli/bn", resources / "suffix_groups/bn.yaml")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to


def test_the_span_covers_the_whole_inflected_word(lexicon: Lexicon) -> None:
    template = read_sentence("{attribute}তা {target:plural genitive} মধ্যে।", name="S3", place="", language="bn")
    text, (target, attribute) = fill_sentence(template, {"target": "মেয়ে", "attribute": "সাহসিক"}, lexicon, BANGLA)
    assert text == "সাহসিকতা মেয়েদের মধ্যে।"
    assert text[slice(*target)] == "মেয়েদের"
    assert text[slice(*attribute)] == "সাহসিকতা"


def test_english_words_get_their_article_and_their_capital(lexicon: Lexicon) -> None:
    template = read_sentence("{target} is {attribute:indefinite}.", name="one", place="", language="en")
    text, (target, attribute) = fill_sentence(
        template, {"target": "he", "attribute": "artist"}, lexicon, spelling_of("en")
    )
    assert text == "He is an artist."
    assert (text[slice(*target)], text[slice(*attribute)]) == ("He", "artist")


@pytest.mark.parametrize(("text", "said"), read_cases(__file__, "slots"))
def test_slots_that_cannot_be_filled_are_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        sentence(text)
    assert said.replace("\\", "") in str(error.value)


def test_a_form_that_a_word_lacks_is_told_with_the_sentence(lexicon: Lexicon) -> None:
    template = read_sentence("{target:vocative} {attribute}", name="calling", place="t.yaml, line 3", language="bn")
    with pytest.raises(InputError, match=r"t\.yaml, line 3: the sentence `calling` cannot be filled in.*vocative"):
        fill_sentence(template, {"target": "মেয়ে", "attribute": "সৎ"}, lexicon, BANGLA)


def test_our_lists_and_structures_make_a_sentence_of_each_term(write: Write, lexicon: Lexicon) -> None:
    found = fill(write("structures.yaml", STRUCTURE_FILE), [write("positive.yaml", TRAITS)], lexicon)
    assert len(found) == 2 * 2 * 4  # traits, structures, terms
    assert found["group", "term"].unique(maintain_order=True).rows() == [
        ("male", "ছেলে"), ("male", "পুরুষ"), ("female", "মেয়ে"), ("female", "নারী"),
    ]  # fmt: skip
    assert found.filter(trait="সৎ", structure="S1", term="নারী")["text"].item() == "নারীরা সৎ।"
    row = found.filter(trait="সাহসী", structure="S4", term="মেয়ে").row(0, named=True)
    text = "বিপদে সাহসী মেয়েদের ডাক পড়ে।"
    assert row == {
        **{"polarity": "positive", "trait": "সাহসী", "gloss": "brave", "structure": "S4", "origin": "written"},
        **{"stored": True, "group": "female", "pair": 0},
        **{"term": "মেয়ে", "text": text, "n_words": 5},
        **{"target": [text.index("মেয়েদের"), text.index(" ডাক")], "attribute": [6, 11]},
    }


@pytest.mark.parametrize(("said", "kind", "text"), read_cases(__file__, "mistakes"))
def test_a_mistake_in_a_file_is_told(said: str, kind: str, text: str, write: Write, lexicon: Lexicon) -> None:
    texts = {"structures": STRUCTURE_FILE, "traits": TRAITS, kind: text}
    structures = write("structures.yaml", texts["structures"])
    with pytest.raises(InputError) as error:
        fill(structures, [write("positive.yaml", texts["traits"])], lexicon)
    assert said in str(error.value)


HEAD = ",".join(
    ["Trait", *(f"{s}_{part}" for s in STRUCTURES for part in ("Mask_Suffix", "Placeholder", "Trait_Suffix"))]
)
ROW = "ভীরু,রা,,।,রা,বেশ,হয়।,দের,মধ্যে থাকে।,-তা,রা এমন।,লোকে বলে,আর,,,"


def test_word_lists_without_the_terms_leave_them_to_ours(project_root: Path, lexicon: Lexicon) -> None:
    """As those of the authors, who list four of the eight."""
    resources = project_root / "resources"
    words = project_root / "tests/golden/versions/words"
    others = load_lexicon(words, words.parent / "groups.yaml", normalization=lexicon.normalization)
    given = resources / "templates/bn/structures.yaml", [resources / "traits/bn/negative.yaml"]
    assert fill(*given, others).equals(fill(*given, lexicon))


def test_the_authors_layout_is_put_together_as_their_program_does(write: Write, lexicon: Lexicon) -> None:
    path = write("negative_small.csv", f"{HEAD}\n{ROW}\n")
    language, (trait,) = read_traits(path)
    assert (trait.polarity, language, trait.word) == ("negative", "bn", "ভীরু")
    filled = {
        name: fill_sentence(trait.sentences[name], {"target": "মেয়ে", "attribute": trait.word}, lexicon, BANGLA)
        for name in STRUCTURES
    }
    assert {name: text for name, (text, _) in filled.items()} == {
        "S1": "মেয়েরা ভীরু।",
        "S2": "মেয়েরা বেশ ভীরু হয়।",
        "S3": "ভীরুতা মেয়েদের মধ্যে থাকে।",
        "S4": "লোকে বলে ভীরু আর মেয়েরা এমন।",
        "S5": "ভীরু মেয়ে",
    }
    text, spans = filled["S3"]
    assert [text[slice(*span)] for span in spans] == ["মেয়েদের", "ভীরুতা"]
    odd = list_oddities([path])
    assert odd.select("row", "trait", "structure", "kind").rows() == [
        (1, "ভীরু", "S3", "ending-after-hyphen"),
        (1, "ভীরু", "S5", "empty-cell"),
        (1, "ভীরু", "S5", "no-context"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("traits.csv", f"{HEAD}\n{ROW}\n", "neither its name nor its text says positive or negative"),
        ("negative.csv", f"{HEAD.replace('S5_Placeholder', 'S5')}\n{ROW}\n", "lacks columns S5_Placeholder"),
        ("negative.csv", f"{HEAD}\n{ROW.replace('ভীরু', '')}\n", "line 2: the column Trait is empty"),
        ("negative.csv", f"{HEAD}\n", "an empty list"),
    ],
)
def test_a_mistake_in_the_authors_layout_is_told(name: str, text: str, said: str, write: Write) -> None:
    with pytest.raises(InputError, match=said):
        read_traits(write(name, text))


def test_the_authors_own_lists_load(shared: Path, lexicon: Lexicon, write: Write) -> None:
    folder = shared / "reference/banglacontextualbias/LogProbCalculations/data"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    lists = [folder / f"{polarity}_traits_bn.csv" for polarity in ("positive", "negative")]
    assert [len(read_traits(path)[1]) for path in lists] == [109, 69]
    others = "\n  ".join(f"S{n}: per-trait" for n in (2, 3, 4, 5))
    sentences = fill(write("structures.yaml", STRUCTURE_FILE.replace("S4: per-trait", others)), lists, lexicon)
    assert len(sentences) == 178 * 5 * 4
    assert {*sentences.select("group", "pair").rows()} == {*itertools.product(GROUPS, (0, 1))}
    kinds = Counter(list_oddities(lists).select("structure", "kind").iter_rows())
    assert kinds["S5", "no-context"] == 2
    assert kinds["S5", "trait-in-sight"] == 58 + 69
    assert not kinds["S1", "trait-in-sight"]


def test_a_category_and_its_exchange_are_filled_from_their_own_sentences(write: Write, lexicon: Lexicon) -> None:
    templates = write("log_probability.yaml", CATEGORY_FILE)
    categories = {"C6": categories_of(lexicon)["C6"]}
    n_targets, n_attributes = (
        sum(len(side["stimuli"]) for side in categories["C6"][role]) for role in ("targets", "attributes")
    )
    described = fill_categories(categories, templates, lexicon)
    assert len(described) == n_targets * n_attributes * 2
    first = ("C6", "liking", "গণিত", "পুরুষ", "গণিতের প্রতি পুরুষদের টান আছে।", [0, 6], [13, 21])
    assert described.row(0) == first
    exchanged = fill_categories(categories, templates, lexicon, ["C6"])
    assert exchanged.row(0)[:5] == ("C6", "liking", "পুরুষ", "গণিত", "পুরুষদের কাছে গণিতের দাম আছে।")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CATEGORY_FILE.replace("id: named", "id: liking"), "has the id `liking` twice"),
        (CATEGORY_FILE.replace("এক পাতায়", "এক {word}"), "Allowed: attribute, target"),
        (CATEGORY_FILE.replace("exchanged:", "swapped:"), "unknown key `swapped`"),
    ],
)
def test_a_mistake_in_the_category_sentences_is_told(text: str, said: str, write: Write, lexicon: Lexicon) -> None:
    with pytest.raises(InputError, match=said):
        fill_categories({}, write("log_probability.yaml", text), lexicon)


def test_a_category_without_sentences_is_told_before_anything_runs(write: Write, lexicon: Lexicon) -> None:
    templates = write("log_probability.yaml", CATEGORY_FILE + "  C7: []\n")
    categories = categories_of(lexicon)
    with pytest.raises(InputError, match=r"no sentences for C5 under `categories`.*It has C6") as error:
        fill_categories({name: categories[name] for name in ("C6", "C5", "C7")}, templates, lexicon, ["C6", "C7"])
    assert "no sentences for C7 under `exchanged`" in str(error.value)
