"""The layouts of Sadhu et al. (2024): small files of the same kind, and the real ones where they are there."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.lexicon import Lexicon, WordSet, filled_templates, load_lexicon, load_templates
from prasanga.lexicon.model import SIDES
from prasanga.lexicon.templates import template_files, texts_of
from prasanga.sentences import Matcher
from prasanga.text import fold, normalize
from prasanga.text import words as words_in

SUFFIX_LISTS = {"ফুল": ["ের", "গুলোর ", "কে"], "দুঃখ": ["জনক"], "দুঃখজনক": [], "পাহাড়": ["ে"]}


def write(path: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def category(*sides: list[str]) -> dict[str, Any]:
    names = ("Flowers", "MaleNames", "Pleasant", "Unpleasant")
    keys = ("targ1", "targ2", "attr1", "attr2")
    return {key: {"category": name, "examples": side} for key, name, side in zip(keys, names, sides, strict=True)}


def forms_of(lexicon: Lexicon, stimulus: str) -> list[str]:
    return [form.form for form in lexicon.forms if form.stimulus == stimulus]


@pytest.fixture
def suffix_lists(tmp_path: Path) -> Path:
    return write(tmp_path / "weatWordsWithSuffix.jsonl", SUFFIX_LISTS)


@pytest.fixture
def suffix_categories(tmp_path: Path) -> Path:
    return write(tmp_path / "suffixCategories.jsonl", {"0": [], "1": ["ের"], "2": ["কে", "গুলোর "]})


@pytest.fixture
def category_files(tmp_path: Path) -> Path:
    folder = tmp_path / "categories"
    folder.mkdir()
    write(folder / "ceat10.jsonl", category(["ফুল"], ["দুঃখ"], ["পাহাড়"], ["দুঃখজনক"]))
    write(folder / "ceat2.jsonl", category(["ফুল"], ["রহিম"], ["পাহাড়", "দুঃখ", "পাহাড়"], ["দুঃখজনক"]))
    return folder


def test_words_with_suffixes(suffix_lists: Path) -> None:
    lexicon = load_lexicon(suffix_lists)
    assert (lexicon.language, lexicon.categories) == ("bn", {})
    assert forms_of(lexicon, "ফুল") == ["ফুল", "ফুলের", "ফুলগুলোর", "ফুলকে"]
    assert forms_of(lexicon, normalize("পাহাড়")) == [normalize("পাহাড়"), normalize("পাহাড়ে")]
    assert lexicon.inflect("ফুল") == "ফুল"


def test_words_are_normalized_as_the_corpus(tmp_path: Path) -> None:
    path = write(tmp_path / "weatWordsWithSuffix.jsonl", {"ক‘": ["গ"]})
    assert [form.form for form in load_lexicon(path).forms] == ["ক'", "ক'গ"]
    assert [form.form for form in load_lexicon(path, normalization="nfkc").forms] == ["ক‘", "ক‘গ"]


def test_a_form_of_two_stimuli_counts_for_both_and_is_said(suffix_lists: Path) -> None:
    lexicon = load_lexicon(suffix_lists)
    assert lexicon.claims()["দুঃখজনক"] == ("দুঃখ", "দুঃখজনক")
    assert lexicon.warnings == ("The form দুঃখজনক belongs to the stimuli দুঃখ and দুঃখজনক: each gets its hits.",)


def test_words_with_group_numbers(tmp_path: Path, suffix_categories: Path) -> None:
    list_of_words = write(tmp_path / "allWeatWords.txt", "ফুল, 1/2 \r\nরহিম, 1 2\r\n\r\nসৎ, 0\nরহিম,  0")
    lexicon = load_lexicon(list_of_words, suffix_categories)
    assert forms_of(lexicon, "ফুল") == ["ফুল", "ফুলের", "ফুলকে", "ফুলগুলোর"]
    assert forms_of(lexicon, "রহিম") == ["রহিম", "রহিমের", "রহিমকে", "রহিমগুলোর"]
    assert forms_of(lexicon, "সৎ") == ["সৎ"]
    assert [(form.form, form.group) for form in lexicon.forms][:3] == [("ফুল", ""), ("ফুলের", "1"), ("ফুলকে", "2")]
    assert lexicon.stimuli[0].groups == ("1", "2")


def test_categories(category_files: Path, suffix_lists: Path) -> None:
    lexicon = load_lexicon(category_files, suffix_lists)
    hill = normalize("পাহাড়")
    assert list(lexicon.categories) == ["C2", "C10"]
    c2 = lexicon.categories["C2"]
    assert c2.title == "Flowers and male names, pleasant and unpleasant"
    assert c2.targets == (WordSet("Flowers", "flowers", ("ফুল",)), WordSet("MaleNames", "male names", ("রহিম",)))
    assert c2.attributes[0].stimuli == (hill, "দুঃখ", hill)
    assert [stimulus.name for stimulus in lexicon.stimuli] == ["ফুল", "রহিম", hill, "দুঃখ", "দুঃখজনক"]
    assert forms_of(lexicon, "ফুল") == ["ফুল", "ফুলের", "ফুলগুলোর", "ফুলকে"]
    assert forms_of(lexicon, "রহিম") == ["রহিম"]
    assert any(
        warning.endswith(
            f"{hill} is listed 2 times in Pleasant. It counts once; with `preset: paper` it counts 2 times in CEAT, as"
            " in the paper."
        )
        for warning in lexicon.warnings
    )
    assert any("no entry for রহিম" in warning for warning in lexicon.warnings)


def test_files_that_do_not_belong_together(
    tmp_path: Path, category_files: Path, suffix_lists: Path, suffix_categories: Path
) -> None:
    list_of_words = write(tmp_path / "allWeatWords.txt", "ফুল, 1")
    yaml_groups = write(tmp_path / "bn.yaml", "language: bn")
    for stimuli, groups, found in (
        (category_files, suffix_categories, r"categories of the paper .* with numbered suffix groups"),
        (category_files, yaml_groups, r"categories of the paper .* with suffix groups \(\*\.yaml\)"),
        (list_of_words, None, r"words with group numbers .* with nothing"),
        (list_of_words, suffix_lists, r"words with group numbers .* with words with their suffixes"),
        (suffix_lists, yaml_groups, r"words with their suffixes .* with suffix groups \(\*\.yaml\)"),
        (suffix_categories, None, r"numbered suffix groups .* with nothing"),
    ):
        with pytest.raises(InputError, match=rf"{found} .*Give a folder of word sets .* with suffix groups"):
            load_lexicon(stimuli, groups)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"ফুল": ["ের"]}\n{"রং": []}', r"`রং` is \[\]\. Write a list of words"),
        ("[]", r"found '\[\]', but the file must have JSON objects"),
        ('{"ফুল": ' + "9" * 5000 + "}", r"broken\.jsonl: not JSON \(Exceeds the limit"),
        ("[" * 100_000, r"broken\.jsonl: not JSON \(maximum recursion"),
        ({"ফুল": "ের"}, r"`ফুল` is 'ের'\. Write a list of suffixes"),
        ({"targ1": {"category": "A", "examples": ["ফুল"]}}, r"`targ2` must be .*; found None"),
        (category(["ফুল"], [], ["রং"], ["সৎ"]), r"`targ2` must be .* at least one text .*\[\]"),
        (category(["ফুল"], ["মশা", " "], ["রং"], ["সৎ"]), r"`targ2` must be .* none empty; found"),
    ],
)
def test_broken_json(tmp_path: Path, content: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        load_lexicon(write(tmp_path / "broken.jsonl", content))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ফুল 1", r"line 2: found 'ফুল 1'\. Write a word, a comma, and numbers of groups"),
        ("ফুল, 9", r"line 2: found 'ফুল, 9'\. Write .* numbers of groups in .*suffixCategories\.jsonl"),
    ],
)
def test_broken_word_list(tmp_path: Path, suffix_categories: Path, line: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        load_lexicon(write(tmp_path / "allWeatWords.txt", f"রং, 1\n{line}\n"), suffix_categories)


# Word sets of other programs, in the layouts in which these write them.

SETS = {"Flowers": ["rose", "lily"], "Insects": ["ant", "flea"], "Pleasant": ["love", "love"], "Unpleasant": ["hate"]}
LISTS, NAMES = list(SETS.values()), list(SETS)
TEST = {side: {"category": name, "examples": SETS[name]} for side, name in zip(SIDES, SETS, strict=True)}
QUERY = {
    **{"target_sets": LISTS[:2], "attribute_sets": LISTS[2:], "query_name": "F and I wrt P and U", "template": [2, 2]},
    **{"target_sets_names": NAMES[:2], "attribute_sets_names": NAMES[2:]},
}
ROW = {f"{side}.{key}": value for side, each in TEST.items() for key, value in each.items()} | {"weat": "WEAT1"}
ROWS = [{**ROW, "language": "bn", "targ1.examples": ["জবা"]}, {**ROW, "language": "en"}]
KINDS = ("target", "attribute")
FOUR = ["target_1", "target_2", "attribute_1", "attribute_2"]
OTHERS: dict[str, tuple[str, Any, str, list[str]]] = {
    "SEAT, bias-bench": ("weat1.jsonl", json.dumps(TEST, indent=2), "weat1", NAMES),
    "without names": ("seat.json", {side: {"examples": TEST[side]["examples"]} for side in SIDES}, "seat", [*SIDES]),
    "a query of WEFE": ("query.json", QUERY, "F_and_I_wrt_P_and_U", NAMES),
    "without names of sets": (
        "q.json",
        {**QUERY, **dict.fromkeys([f"{kind}_sets_names" for kind in KINDS])},
        "F_and_I_wrt_P_and_U",
        FOUR,
    ),
    "four lists": ("f.json", dict(zip(FOUR, LISTS, strict=True)), "f", FOUR),
    "X, Y, A, B": ("f.json", dict(zip("XYAB", LISTS, strict=True)), "f", [*"XYAB"]),
    "rows of WEATHub, lines": ("hub.jsonl", "\n".join(map(json.dumps, ROWS)), "WEAT1", NAMES),
    "rows of WEATHub, array": ("hub.json", ROWS, "WEAT1", NAMES),
    "rows of WEATHub, Parquet": ("hub.parquet", ROWS, "WEAT1", NAMES),
}


@pytest.fixture
def english(tmp_path: Path) -> Path:
    return write(tmp_path / "en.yaml", "language: en\ngroups: {noun: {ending: any}}\n")


@pytest.mark.parametrize(("name", "content", "test", "names"), OTHERS.values(), ids=OTHERS)
def test_tests_of_other_programs(english: Path, name: str, content: Any, test: str, names: list[str]) -> None:
    path = english.with_name(name)
    if path.suffix == ".parquet":
        pl.DataFrame(content).write_parquet(path)
    else:
        write(path, content)
    lexicon = load_lexicon(path, english)
    [category] = lexicon.categories.values()
    sides = [(each.name, list(each.stimuli)) for each in (*category.targets, *category.attributes)]
    assert (lexicon.language, category.name, sides) == ("en", test, list(zip(names, LISTS, strict=True)))
    assert [form.form for form in lexicon.forms] == ["rose", "lily", "ant", "flea", "love", "hate"]
    assert [each.word_class for each in lexicon.stimuli][:3] == [names[0], names[0], names[1]]
    assert "love is listed 2 times" in lexicon.warnings[0]
    assert "6 word(s) are not inflected (rose, ...)" in lexicon.warnings[1]
    if path.suffix == ".parquet":
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(InputError, match=r"hub\.parquet: damaged"):
            load_lexicon(path, english)
    elif "hub" not in name:
        assert load_lexicon(path).categories == lexicon.categories


def test_sets_of_wefe_are_named_in_categories_of_a_study_and_beside_word_sets(english: Path, files: Any) -> None:
    path = write(english.with_name("WEAT.json"), {**SETS, "definitional_pairs": [["he", "she"]]})
    mine = {"M1": {"targets": NAMES[:2], "attributes": NAMES[2:]}}
    targets = load_lexicon(path, english, categories=mine).categories["M1"].targets
    assert [each.stimuli for each in targets] == [("rose", "lily"), ("ant", "flea")]
    path = write(english.with_name("bn.json"), [{"name": "mine", "words": ["গোলাপ", "রঙ", "জবা"]}])
    mine = {"M1": {"targets": ["mine", "insects"], "attributes": ["good", "bad"]}}
    lexicon = load_lexicon([files.stimuli, path], files.groups, categories=mine)
    assert lexicon.categories["M1"].targets[0].stimuli == ("গোলাপ", "রং", "জবা"), "a spelling variant is the word"
    assert (forms_of(lexicon, "গোলাপ")[:2], forms_of(lexicon, "জবা")) == (["গোলাপ", "গোলাপের"], ["জবা"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({**TEST, "targ1": {"examples": ["It is a rose."]}}, "`targ1` has sentences, such as 'It is a rose.'. Name"),
        ({"gender": [["he", "she"]]}, "found {'gender': [['he', 'she']]}. Write sets"),
        ({**QUERY, "target_sets": LISTS[:1]}, '`targ2` must be {"category": name'),
        ({**QUERY, "target_sets": LISTS[:3]}, "two attribute sets, but `targ3` is a further one. Make"),
        ({**TEST, "attr_3": ["rose"]}, "two attribute sets, but `attr3` is a further one. Make"),
        ({"flowers": ["rose", 3], "insects": ["ant"]}, "`flowers` is ['rose', 3]. Write a list of words"),
        ({"flowers": ["rose"], "insects": []}, "`insects` is []. Write a list of words"),
        ({"flowers": ["ரோஜா"]}, "words in a script of no known language, but the suffix groups are for en. Give"),
        ([{"set": "F", "word": "rose"}], "found {'set': 'F', 'word': 'rose'}. Write sets"),
        ({"a": ["জবা"]}, "words in bn, but the suffix groups are for en. Write `language: bn` in the study"),
        ([*ROWS[:1], {**ROW, "language": "hi"}], "words in bn, hi, but the suffix groups are for en"),
        ([SETS, SETS], "the word set `Flowers` is also in"),
    ],
)
def test_other_files_are_named_for_what_they_are(english: Path, content: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        load_lexicon(write(english.with_name("other.json"), content), english)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("words.txt", "rose, tulip\n", "text, where plain JSON"),
        ("words.csv", "set,word\nF,rose\n", "table, where plain JSON"),
        ("weat1.json.gz", gzip.compress(b"{}", mtime=0), "jsonl .gz, where plain JSON"),
        ("words.xlsx", b"PK\3\4xl/", "an Excel workbook, where plain JSON"),
        ("WEAT.yaml", "flowers: [rose]\n", "suffix groups (*.yaml), with nothing"),
    ],
)
def test_lists_of_words_are_sent_to_the_study(tmp_path: Path, name: str, content: Any, said: str) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=rf"{re.escape(said)}.* Or write the words in the study: `categories: "):
        load_lexicon(tmp_path / name)


@pytest.fixture
def authors_folder(shared: Path) -> Path:
    folder = shared / "reference" / "banglacontextualbias" / "CeatDataCollection"
    if not folder.is_dir():
        pytest.skip(f"the authors' word lists are not there: {folder}")
    return folder


def test_the_authors_words_on_their_text(authors_folder: Path) -> None:
    lexicon = load_lexicon(authors_folder / "weatWordsWithSuffix.jsonl")
    assert (len(lexicon.stimuli), len(lexicon.claims())) == (272, 2392)
    claims = lexicon.claims()
    lines = (authors_folder / "sample_data" / "porjotonlipi.bn").read_text(encoding="utf-8").split("\n")
    hits = [
        (number, stimulus)
        for number, line in enumerate(lines)
        for word, _, _ in words_in(normalize(line))
        for stimulus in claims.get(fold(word), ())
    ]
    assert (len(set(hits)), len(hits)) == (492, 512)
    matcher = Matcher(lexicon)
    found = [(number, match.stimulus) for number, line in enumerate(lines) for match in matcher.find(normalize(line))]
    assert sorted(found) == sorted(hits)


def test_the_authors_categories(authors_folder: Path) -> None:
    lexicon = load_lexicon(authors_folder / "CEAT_Categories", authors_folder / "weatWordsWithSuffix.jsonl")
    assert list(lexicon.categories) == [f"C{number}" for number in range(1, 10)]
    assert len(lexicon.stimuli) == 217
    assert [len(side.stimuli) for side in lexicon.categories["C1"].attributes] == [24, 24]
    assert [len(set(side.stimuli)) for side in lexicon.categories["C1"].attributes] == [23, 23]
    assert not any("no entry" in warning for warning in lexicon.warnings)


# SEAT: templates, and sentences with the words in them.


def seat_files(folder: Path, key: str, **sides: list[str]) -> Path:
    """A file of SEAT for the sets of `category`, in a folder of its own."""
    names = {"targ1": "Flowers", "targ2": "MaleNames", "attr1": "Pleasant", "attr2": "Unpleasant"}
    folder.mkdir(exist_ok=True)
    content = {side: {"category": name, key: sides[side]} for side, name in names.items()}
    write(folder / f"seat{len(list(folder.iterdir())) + 1}.jsonl", content)
    return folder


@pytest.fixture
def words(tmp_path: Path) -> Lexicon:
    folder = tmp_path / "words"
    folder.mkdir()
    write(folder / "ceat1.jsonl", category(["ফুল", "জবা"], ["রহিম", "করিম"], ["সুখ", "সুখ"], ["দুঃখ", "ফুল"]))
    return load_lexicon(folder)


ONE_EACH = {"targ2": ["ইনি XXX।"], "attr1": ["[শব্দ] ভালো।"], "attr2": ["এটা {w}।"]}


def test_a_template_of_seat_takes_the_word_as_the_list_has_it(tmp_path: Path, words: Lexicon) -> None:
    folder = seat_files(tmp_path / "seat", "templates", targ1=["এটি একটি XXX।", "GGGটি এখানে।"], **ONE_EACH)
    seat_files(folder, "templates", targ1=["GGGটি এখানে।", "ঐ ___ দেখো।"], **ONE_EACH)
    found = load_templates(folder)
    assert (found.language, set(found.classes)) == ("bn", {"Flowers", "MaleNames", "Pleasant", "Unpleasant"})
    filled = list(filled_templates(words, ["ফুল", "রহিম", "সুখ"], found))
    # a word of several sets has the sentences of the first, a set of several files those of all
    assert [(each.stimulus, each.word_class, each.text, each.text[each.start : each.end]) for each in filled] == [
        ("ফুল", "Flowers", "এটি একটি ফুল।", "ফুল"),
        ("ফুল", "Flowers", "ফুলটি এখানে।", "ফুলটি"),
        ("ফুল", "Flowers", "ঐ ফুল দেখো।", "ফুল"),
        ("রহিম", "MaleNames", "ইনি রহিম।", "রহিম"),
        ("সুখ", "Pleasant", "সুখ ভালো।", "সুখ"),
    ]
    # the files by themselves are the same as their folder, whatever their order on the disk
    assert load_templates([str(path) for path in template_files(folder)]) == found
    assert texts_of(found, ["Flowers"]) != texts_of(found, ["MaleNames"])


def test_filled_sentences_of_seat_belong_to_the_words_in_their_order(tmp_path: Path, words: Lexicon) -> None:
    sentences = ["এটি ফুল।", "ফুলটি এখানে।", "এটি জবা।", "জবাটি এখানে।"]
    others = {"targ2": ["ইনি রহিম।", "ইনি করিম।"], "attr1": ["সুখ ভালো।", "সুখ ভালো।"], "attr2": ["দুঃখ।", "ফুল।"]}
    found = load_templates(seat_files(tmp_path / "seat", "examples", targ1=sentences, **others))
    filled = list(filled_templates(words, ["জবা", "করিম", "সুখ"], found))
    assert [(each.stimulus, each.template, each.text, each.text[each.start : each.end]) for each in filled] == [
        ("জবা", "1", "এটি জবা।", "জবা"),
        ("জবা", "2", "জবাটি এখানে।", "জবাটি"),
        ("করিম", "1", "ইনি করিম।", "করিম"),
        ("সুখ", "1", "সুখ ভালো।", "সুখ"),
    ]
    changed = seat_files(tmp_path / "other", "examples", targ1=["এই ফুল।", *sentences[1:]], **others)
    assert texts_of(load_templates(changed), ["Flowers"]) != texts_of(found, ["Flowers"])


@pytest.mark.parametrize(
    ("key", "flowers", "said"),
    [
        ("templates", ["এটি ফুল।"], r"seat1\.jsonl: a template of `targ1` has no slot: 'এটি ফুল।'\. Write XXX once"),
        ("templates", ["XXX ও GGG।"], r"a template of `targ1` has 2 slots"),
        ("templates", [], r"`targ1` must be .*at least one text .*\[\]"),
        ("templates", [5], r"`targ1` must be .*: \[5\]"),
        ("examples", ["এটি ফুল।"] * 3, r"the set Flowers has 3 sentences for 2 words, not equally many"),
        ("examples", ["এটি বই।", "এটি জবা।"], r"sentence 1 of ফুল in the set Flowers does not have the word: 'এটি বই"),
    ],
)
def test_files_of_seat_that_cannot_be_used(
    tmp_path: Path, words: Lexicon, key: str, flowers: list[Any], said: str
) -> None:
    others = ONE_EACH if key == "templates" else {side: ["ক।"] for side in ONE_EACH}
    with pytest.raises(InputError, match=said):
        list(filled_templates(words, ["ফুল"], load_templates(seat_files(tmp_path / "s", key, targ1=flowers, **others))))
