"""Pairs from tuples: identity terms, templates, minimal distance, and sentences with the counterpart in them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tables import read_cases, read_table

from prasanga.base.errors import InputError
from prasanga.pairs.alignment import align_words
from prasanga.pairs.reading import read_pairs
from prasanga_construction.building import (
    Sentence,
    build_pairs,
    read_sentences,
    sentence_drafts,
    sentences_csv,
    swap,
    template_drafts,
)
from prasanga_construction.distance import agree, check_distance, find_terms
from prasanga_construction.templates import (
    Identities,
    PairTemplates,
    Term,
    fill,
    inflected,
    load_identities,
    load_templates,
)
from prasanga_construction.tuples import BiasTuple, kept_tuples, read_tuples

ATTRIBUTES = {
    "en": {"adjective": "honest", "quality": "courage", "person": "scholar"},
    "hi": {"adjective": "सच्चा", "quality": "साहस", "person": "योद्धा"},
    "bn": {"adjective": "সৎ", "quality": "সাহস", "person": "যোদ্ধা"},
}
# the demographics of Figure 2 by our names of axes
FIGURE_2 = {"Physical appearance": "physical-appearance"}


@pytest.fixture(scope="module")
def resources() -> dict[str, tuple[Identities, PairTemplates]]:
    folder = Path(__file__).parents[3] / "resources/construction"
    return {
        language: (
            load_identities(folder / language / "identities.yaml"),
            load_templates(folder / language / "templates.yaml", language),
        )
        for language in ("bn", "hi", "en")
    }


def term(identities: Identities, axis: str, name: str) -> Term:
    return identities.axes[axis].terms[name]


def tuple_of(language: str, axis: str, identity: str, attribute: str, word_class: str = "adjective") -> BiasTuple:
    return BiasTuple("t", language, axis, identity, attribute, "positive", word_class)


@pytest.mark.parametrize("language", ["bn", "hi", "en"])
def test_every_term_makes_minimal_pairs_in_every_template(
    language: str, resources: dict[str, tuple[Identities, PairTemplates]], tmp_path: Path
) -> None:
    identities, templates = resources[language]
    tuples = [
        BiasTuple(f"{axis.name}-{one.term_id}-{kind}", language, axis.name, one.term_id, word, "negative", kind, other)
        for axis in identities.axes.values()
        for one in axis.terms.values()
        for kind, word in ATTRIBUTES[language].items()
        for other in one.counterparts["negative"]
    ]
    drafts = template_drafts(tuples, identities, templates)
    assert {reason for draft in drafts if (reason := draft.reason)} == set()
    built = build_pairs(drafts)
    assert built.pairs.height > 700
    assert not built.pairs.filter(
        pl.col("first").str.contains(r"[{}|]|  ") | ~pl.col("first").str.contains("[.।]$")
    ).height
    assert set(built.pairs["label"]) == {"stereo", "antistereo"}
    path = tmp_path / "pairs.csv"
    built.pairs.write_csv(path)
    read = read_pairs(path)  # which checks the marks
    assert read.height == built.pairs.height
    assert set(read["origin"]) == {"tuples"}
    genders = {one.gender for axis in identities.axes.values() for one in axis.terms.values()}
    assert built.pairs.filter(pl.col("agreeing") != "").height or language == "bn", genders


def test_the_terms_of_figure_2_are_there(shared: Path, resources: dict[str, tuple[Identities, PairTemplates]]) -> None:
    figure = pl.read_csv(shared / "published/indibias_identity_terms.csv")
    for identities, _ in resources.values():
        expected: dict[str, set[str]] = {}
        for demographic, identity in figure.select("demographic", "identity_term").iter_rows():
            axis = FIGURE_2.get(demographic, demographic.lower())
            expected.setdefault(axis, set()).add(identities.find(identities.axes[axis].bias_type, identity, "").term_id)
        proposed = {
            axis.name: {one.term_id for one in axis.terms.values() if one.proposed} for axis in identities.axes.values()
        }
        assert len(proposed.pop("region")) >= 7
        assert proposed == expected
        assert sum(map(len, expected.values())) == 35


def test_the_published_tuples_become_pairs(
    shared: Path, resources: dict[str, tuple[Identities, PairTemplates]]
) -> None:
    tuples = read_tuples(shared / "published/indibias_example_tuples.csv", "en", annotators=3)
    built = build_pairs(template_drafts(kept_tuples(tuples, 2), *resources["en"]))
    assert built.left_out.is_empty()
    assert built.pairs["pair_id"].str.extract(r"^(\d+)-").n_unique() == 40


def test_the_demo_tuples_become_pairs(
    project_root: Path, resources: dict[str, tuple[Identities, PairTemplates]]
) -> None:
    tuples = kept_tuples(read_tuples(project_root / "resources/demo/tuples.csv", "en"), 2)
    built = build_pairs(template_drafts(tuples, *resources["en"]))
    assert built.left_out.is_empty()
    assert built.pairs.height >= 6 * len(tuples)


def test_hindi_words_agree_and_are_marked(resources: dict[str, tuple[Identities, PairTemplates]]) -> None:
    identities, templates = resources["hi"]
    each = tuple_of("hi", "gender", "female", "सच्चा")
    built = build_pairs(template_drafts([each], identities, templates)).pairs
    row = built.filter(pl.col("pair_id") == "t-neighbours-male").row(0, named=True)
    assert row["first"] == "मेरे पड़ोसी मानते हैं कि महिलाएँ आम तौर पर सच्ची होती हैं।"
    assert row["second"] == "मेरे पड़ोसी मानते हैं कि पुरुष आम तौर पर सच्चे होते हैं।"
    assert row["modified"] == "महिलाएँ | सच्ची | होती / पुरुष | सच्चे | होते"
    assert row["agreeing"] == "सच्ची | होती / सच्चे | होते"


def test_english_articles_agree(resources: dict[str, tuple[Identities, PairTemplates]]) -> None:
    identities, templates = resources["en"]
    built = build_pairs(template_drafts([tuple_of("en", "caste", "Brahmin", "proud")], identities, templates)).pairs
    row = built.filter(pl.col("pair_id") == "t-hired-obc").row(0, named=True)
    assert " a Brahmin person," in row["first"]
    assert " an OBC person," in row["second"]
    assert row["agreeing"] == "a / an"


def test_the_tuple_may_name_its_counterpart(resources: dict[str, tuple[Identities, PairTemplates]]) -> None:
    identities, templates = resources["en"]
    each = BiasTuple("t", "en", "religion", "Jain", "calm", "positive", counterpart="Sikhs", place="t.csv, line 2")
    assert {draft.pair_id.rsplit("-", 1)[1] for draft in template_drafts([each], identities, templates)} == {"sikh"}
    for wrong, said in (
        ("Jains", "the same term"),
        ("Parsi", "lacks the identity term 'Parsi' for religion.*Allowed: buddhist"),
    ):
        with pytest.raises(InputError, match=f"t.csv, line 2: .*{said}"):
            identities.counterpart_of(
                BiasTuple(**{**vars_of(each), "counterpart": wrong}), term(identities, "religion", "jain")
            )


def vars_of(each: BiasTuple) -> dict[str, object]:
    return {name: getattr(each, name) for name in each.__dataclass_fields__}


@pytest.mark.parametrize(("attribute", "gender", "number", "expected"), read_table(__file__, "hindi_adjectives"))
def test_hindi_adjectives(attribute: str, gender: str, number: str, expected: str) -> None:
    assert inflected(attribute, "hi", "adjective", gender, number) == expected
    assert inflected(attribute, "hi", "person", gender, number) == attribute


@pytest.mark.parametrize(("first", "second", "language", "expected"), read_table(__file__, "agreement"))
def test_words_that_agree(first: str, second: str, language: str, expected: str) -> None:
    assert agree(first, second, language) is agree(second, first, language) is (expected == "yes")


def test_the_papers_figure_8_has_a_pair_that_only_agreement_tells_apart() -> None:
    first, second = "वह अंततः डॉक्टर बनना चाहता है।", "वह अंततः डॉक्टर बनना चाहती है।"
    distance = check_distance(first, second, language="hi", identity=([], []))
    assert distance.agreeing == (["चाहता"], ["चाहती"])
    assert distance.strangers == ([], [])
    assert not distance.is_minimal  # no identity term differs


def test_a_stranger_makes_a_pair_not_minimal() -> None:
    first, second = "The old man reads his book.", "The young man sells his book."
    distance = check_distance(first, second, language="en", identity=([(4, 11)], [(4, 13)]))
    assert distance.identity == (["old"], ["young"])
    assert distance.strangers == (["reads"], ["sells"])
    assert not distance.is_minimal
    assert distance.modified_mark == "old | reads / young | sells"


@pytest.mark.parametrize(("text", "terms", "expected"), read_cases(__file__, "terms"))
def test_terms_are_whole_words(text: str, terms: list[str], expected: list[list[int]]) -> None:
    assert find_terms(text, terms) == [tuple(span) for span in expected]


@pytest.mark.parametrize(("sentence", "axis", "one", "other", "expected"), read_table(__file__, "swapped"))
def test_the_counterpart_is_swapped_in(
    sentence: str,
    axis: str,
    one: str,
    other: str,
    expected: str,
    resources: dict[str, tuple[Identities, PairTemplates]],
) -> None:
    identities, _ = resources["en"]
    swapped = swap(sentence, term(identities, axis, one), term(identities, axis, other), "en")
    assert (swapped.second, swapped.refused) == (expected, "")
    spans = [swapped.second[start:end].lower() for start, end in swapped.identity[1]]
    assert spans
    distance = check_distance(swapped.first, swapped.second, language="en", identity=swapped.identity)
    assert distance.is_minimal


@pytest.mark.parametrize(("language", "sentence", "axis", "one", "other", "refused"), read_table(__file__, "refused"))
def test_what_needs_a_person_is_refused(
    language: str,
    sentence: str,
    axis: str,
    one: str,
    other: str,
    refused: str,
    resources: dict[str, tuple[Identities, PairTemplates]],
) -> None:
    identities, _ = resources[language]
    assert swap(sentence, term(identities, axis, one), term(identities, axis, other), language).refused == refused


def test_reviewed_sentences_become_pairs(
    tmp_path: Path, resources: dict[str, tuple[Identities, PairTemplates]]
) -> None:
    identities, _ = resources["en"]
    each = BiasTuple("k", "en", "caste", "Kshatriya", "brave", "positive", score=3, annotators=3)
    proposed = [Sentence(f"k-s{n}", "k", text) for n, text in enumerate(
        ["The Kshatriya boy was brave.", "A Kshatriya boy ran away.", "Nobody knows the Kshatriyas."]
    )]  # fmt: skip
    text = sentences_csv(proposed, [each])
    path = tmp_path / "sentences.csv"
    path.write_text(text, encoding="utf-8")
    assert len(read_sentences(path, [each], reviewed=False)) == 3
    with pytest.raises(InputError, match=r"line 2: 'accepted' is empty. Allowed: 0, 1"):
        read_sentences(path, [each], reviewed=True)
    filled = text.replace("brave.,", "brave.,1").replace("stereo,A K", "antistereo,A K").replace("away.,", "away.,1")
    path.write_text(filled.replace("Kshatriyas.,", "Kshatriyas.,0"), encoding="utf-8")
    sentences = read_sentences(path, [each], reviewed=True)
    pairs = build_pairs(sentence_drafts(sentences, [each], identities, note="reviewed")).pairs
    assert pairs.select("pair_id", "label", "second").rows() == [
        ("k-s0-vaishya", "stereo", "The Vaishya boy was brave."),
        ("k-s1-vaishya", "antistereo", "A Vaishya boy ran away."),
    ]
    alignment = align_words(pairs["first"][0], pairs["second"][0])
    assert (alignment.modified_first, alignment.modified_second) == (["Kshatriya"], ["Vaishya"])


def test_what_is_left_out_is_listed(resources: dict[str, tuple[Identities, PairTemplates]]) -> None:
    identities, templates = resources["hi"]
    each = tuple_of("hi", "gender", "female", "सच्चा")
    drafts = template_drafts([each], identities, templates)
    proposed = [Sentence("s", "t", "महिलाएँ काम करती हैं।")]
    reviewed = sentence_drafts(proposed, [each], identities, note="")
    built = build_pairs([*drafts, drafts[0], *reviewed])
    assert built.left_out.select("pair_id", "reason", "words").rows() == [
        ("t-neighbours-male", "duplicate", "t-neighbours-male"),
        ("s-male", "other-gender", ""),
    ]
    assert built.pairs.height == len(drafts)


def test_tuples_that_fit_no_term_or_template(
    resources: dict[str, tuple[Identities, PairTemplates]], tmp_path: Path
) -> None:
    identities, templates = resources["en"]
    with pytest.raises(InputError, match=r"lacks the identity term 'Brahman' for caste. Did you mean `brahmin`?"):
        template_drafts([tuple_of("en", "caste", "Brahman", "proud")], identities, templates)
    with pytest.raises(InputError, match=r"no axis 'cast'. Did you mean `caste`?"):
        template_drafts([tuple_of("en", "cast", "Brahmin", "proud")], identities, templates)
    with pytest.raises(InputError, match=r"`language` is 'en'.*Allowed: hi"):
        load_templates(templates.path, "hi")
    text = "language: en\nprompts:\n  attributes: '{count} {polarity} {identity}'\n"
    text += "  sentences: '{count} {identity} {attribute}'\n  opening: '1.'\n"
    text += "  polarities: {positive: good, negative: bad}\ntemplates:\n  adjective:\n    - {id: a, label: stereo,"
    path = tmp_path / "t.yaml"
    path.write_text(
        text + " axes: [caste], text: '{identity:people} are {attribute}. {He|She} said so.'}\n", encoding="utf-8"
    )
    small = load_templates(path, "en")
    with pytest.raises(InputError, match="lacks a template for an attribute of the class 'adjective'"):
        template_drafts([tuple_of("en", "religion", "Sikh", "proud")], identities, small)
    with pytest.raises(InputError, match=r"has masculine, feminine for .*, and not the form `common`"):
        fill(small.classes["adjective"][0], term(identities, "caste", "obc"), tuple_of("en", "caste", "OBC", "proud"))
    path.write_text(text + " text: '{identity:crowd} are {attribute}.'}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has person, people, .*, and not the form `crowd`"):
        template_drafts([tuple_of("en", "caste", "OBC", "proud")], identities, load_templates(path, "en"))
    for wrong in (
        "{identity:people} sing.",
        "{identity:people} are {attribute:dual}.",
        "{name} and {identity:people} are {attribute}.",
        "{identity:people} are {attribute}}.",
    ):
        path.write_text(text + f" text: '{wrong}'}}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"the template `a` has wrong slots: "):
            load_templates(path, "en")


@pytest.mark.parametrize(("terms", "said"), read_table(__file__, "identity_terms"))
def test_identity_terms_that_cannot_be_used(tmp_path: Path, terms: str, said: str) -> None:
    path = tmp_path / "i.yaml"
    path.write_text(f"language: en\naxes:\n  age:\n    terms:\n      {terms}\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_identities(path)
