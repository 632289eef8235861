"""Word lists, suffix groups, templates, traits and tuples with something wrong in them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hostile_inputs import Edit, edited_bytes, edited_rows, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.errors import InputError
from prasanga.lexicon import load_lexicon
from prasanga.lexicon.model import categories_of, forms_table, words_for_templates
from prasanga.lexicon.templates import filled_templates, load_templates
from prasanga.likelihoods.templates import load_category_templates
from prasanga.likelihoods.traits import load_structures, load_traits
from prasanga_construction.templates import load_identities
from prasanga_construction.templates import load_templates as load_construction_templates
from prasanga_construction.tuples import read_sheet, read_tuples

ROOT = Path(__file__).parents[2]


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _dump(tree: Any) -> bytes:
    return str(yaml.dump(tree, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False)).encode()


SETS = {
    "flowers.yaml": {
        "set": "flowers",
        "gloss": "flowers",
        "class": "thing",
        "words": [
            {"stimulus": "গোলাপ", "gloss": "rose", "group": "consonant", "variants": ["গোলাফ"]},
            {
                "stimulus": "জবা",
                "gloss": "hibiscus",
                "groups": ["vowel"],
                "forms": [{"form": "জবারা", "number": "plural"}],
            },
        ],
    },
    "insects.yaml": {
        "set": "insects",
        "class": "thing",
        "words": [{"stimulus": "মশা", "group": "vowel"}, {"stimulus": "ফড়িং", "group": "consonant"}],
    },
    "pleasant.yaml": {"set": "pleasant", "class": "thing", "words": [{"stimulus": "আদর", "group": "consonant"}]},
    "unpleasant.yaml": {"set": "unpleasant", "searched": False, "words": [{"stimulus": "বিষ", "group": "consonant"}]},
}
CATEGORIES = {
    "language": "bn",
    "ambiguous": [],
    "categories": {
        "C1": {"title": "one", "targets": ["flowers", "insects"], "attributes": ["pleasant", "unpleasant"]},
        "C2": {
            "targets": [{"set": "all", "sets": ["flowers", "insects"]}, "pleasant"],
            "attributes": ["unpleasant", "flowers"],
        },
    },
}
GROUPS = {
    "language": "bn",
    "hyphenated": True,
    "groups": {
        "consonant": {
            "description": "ends in a consonant",
            "ending": "consonant",
            "cases": {"genitive": ["ের"], "locative": "ে"},
            "numbers": {"plural": [{"suffixes": ["গুলো", "গুলি"], "cases": {"genitive": ["র"]}}]},
            "emphatic": ["ই", "ও"],
            "alternation": {"ং": "ঙ"},
            "examples": [{"stem": "গোলাপ", "match": ["গোলাপের"], "no_match": ["গোলাপর"]}],
        },
        "vowel": {"ending": ["vowel", "monosyllable", "-া"], "cases": {"genitive": ["র"]}, "capitalized": False},
    },
}
TEMPLATES = {
    "language": "bn",
    "templates": {
        "thing": [
            {"id": "this-is", "text": "এটা {word}।", "gloss": "This is a ..."},
            {"id": "of", "text": "{word:genitive} কথা।"},
        ]
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("words")


def write_words(folder: Path, files: dict[str, bytes]) -> Path:
    stimuli = folder / "stimuli"
    stimuli.mkdir(exist_ok=True)
    for old in stimuli.iterdir():
        old.unlink()
    for name, data in files.items():
        (stimuli / name).write_bytes(data)
    return stimuli


def use(stimuli: Path, groups: Path | None) -> None:
    """What a plan and the rules of the lexicon do with word lists."""
    lexicon = load_lexicon(stimuli, groups)
    forms_table(lexicon)
    json.dumps(categories_of(lexicon))
    words_for_templates(lexicon)


GOOD = {**{name: _dump(content) for name, content in SETS.items()}, "categories.yaml": _dump(CATEGORIES)}
GROUPS_TEXT = _dump(GROUPS)


def write_groups(folder: Path, data: bytes = GROUPS_TEXT) -> Path:
    (folder / "groups.yaml").write_bytes(data)
    return folder / "groups.yaml"


def test_what_is_edited_is_good(folder: Path) -> None:
    use(write_words(folder, GOOD), write_groups(folder))
    lexicon = load_lexicon(write_words(folder, GOOD), write_groups(folder))
    (folder / "seat.yaml").write_bytes(_dump(TEMPLATES))
    names = list(SETS["flowers.yaml"]["words"])
    filled = list(filled_templates(lexicon, [each["stimulus"] for each in names], load_templates(folder / "seat.yaml")))
    assert len(filled) == 4
    (folder / "tuples.csv").write_bytes(_csv(TUPLES))
    (folder / "sheet.csv").write_bytes(_csv(SHEET))
    tuples = read_tuples(folder / "tuples.csv")
    assert read_sheet(folder / "sheet.csv", tuples) == {"t1": 1, "t2": 0}


@fuzzing()
@given(edits(), st.sampled_from(sorted(GOOD)))
def test_word_lists_with_odd_values(folder: Path, changes: list[Edit], name: str) -> None:
    content = edited_tree(SETS.get(name, CATEGORIES), changes)
    try:
        stimuli = write_words(folder, {**GOOD, name: _dump(content)})
    except (yaml.YAMLError, UnicodeError):
        return
    try_input("words: values", lambda: use(stimuli, write_groups(folder)), str(stimuli), "suffix_groups")


@fuzzing()
@given(edits(6), st.sampled_from(sorted(GOOD)))
def test_word_lists_with_odd_text(folder: Path, changes: list[Edit], name: str) -> None:
    stimuli = write_words(folder, {**GOOD, name: edited_bytes(GOOD[name], changes)})
    try_input("words: text", lambda: use(stimuli, write_groups(folder)), str(stimuli), "suffix_groups")


@fuzzing()
@given(edits())
def test_suffix_groups_with_odd_values(folder: Path, changes: list[Edit]) -> None:
    stimuli, groups = write_words(folder, GOOD), folder / "groups.yaml"
    try:
        groups.write_bytes(_dump(edited_tree(GROUPS, changes)))
    except (yaml.YAMLError, UnicodeError):
        return
    try_input("suffix groups: values", lambda: use(stimuli, groups), str(folder))


@fuzzing()
@given(edits(6))
def test_suffix_groups_with_odd_text(folder: Path, changes: list[Edit]) -> None:
    stimuli, groups = write_words(folder, GOOD), folder / "groups.yaml"
    groups.write_bytes(edited_bytes(GROUPS_TEXT, changes))
    try_input("suffix groups: text", lambda: use(stimuli, groups), str(folder))


STEMS = (
    "ক",
    "গোলাপ",
    "মা",
    "ভাই",
    "সৎ",
    "অং",
    "a",
    "rose",
    "x y",
    "ক-খ",
    "ক্",
    "ঁ",
    "1",
    "আ" * 60,
    "e\u0301\u0323" * 20,
    "",
)
ENDINGS = ("consonant", "vowel", "monosyllable", "any", "-া", ["vowel", "-ি"], "", "-", 5)
ODD_SUFFIXES = ("ের", "র", "ে", "টি", "-কে", "s", "", "ং", "\u200c", " গুলো", "ক" * 50)
MANY = st.lists(st.tuples(*[st.integers(0, 2**20)] * 3), max_size=12)


def _one(values: Any, *numbers: int) -> Any:
    return values[sum(numbers) % len(values)]


@fuzzing(2)
@given(MANY, MANY, MANY)
def test_word_lists_of_any_size(
    folder: Path,
    sets: list[tuple[int, int, int]],
    groups: list[tuple[int, int, int]],
    tests: list[tuple[int, int, int]],
) -> None:
    """Sets, groups and categories that name each other, in any number, well or not."""
    group_names = [f"g{n}" for n in range(len(groups))] or ["g"]
    set_names = [f"s{n}" for n in range(len(sets))] or ["s"]
    files, grouped = dict[str, bytes](), dict[str, Any]()
    for name, (a, b, c) in zip(set_names, sets, strict=False):
        words = []
        for n in range(a % 30):
            word = {
                "stimulus": f"{_one(STEMS, b, n)}{_one(STEMS, c, n * n) if b % 2 else n}",
                "group": _one(group_names, a, n),
            }
            word |= {"variants": [_one(STEMS, a, c, n)]} if n % 5 == c % 7 else {}
            word |= {"forms": [{"form": _one(STEMS, b, n), "case": "genitive"}]} if n % 6 == a % 7 else {}
            words.append(word)
        files[f"{name}.yaml"] = _dump({"set": name, "class": "thing", "words": words, "searched": bool(a % 3)})
    for name, (a, b, c) in zip(group_names, groups, strict=False):
        some = [_one(ODD_SUFFIXES, a, n) for n in range(b % 7)]
        grouped[name] = {
            "ending": _one(ENDINGS, a),
            "cases": {"genitive": some, "locative": _one(ODD_SUFFIXES, c)},
            **(
                {"numbers": {"plural": [{"suffixes": some, "cases": {"genitive": _one(ODD_SUFFIXES, b)}}]}}
                if c % 2
                else {}
            ),
            **({"emphatic": some[:3]} if a % 3 else {}),
            **({"alternation": {_one(STEMS, b): _one(STEMS, c)}} if b % 5 == 0 else {}),
        }
    categories = {
        _one(("C1", "C2", "a b", "x.oddities", "{c}", "C" * 300), a, n): {
            "targets": [_one(set_names, a), {"set": "u", "sets": [_one(set_names, b), _one(set_names, c)]}],
            "attributes": [_one([*set_names, "u", "none"], b), _one(set_names, c)],
            **({"title": _one(STEMS, a)} if c % 3 else {}),
        }
        for n, (a, b, c) in enumerate(tests)
    }
    files["categories.yaml"] = _dump({"language": "bn", "categories": categories})
    written = write_groups(folder, _dump({"language": "bn", "hyphenated": len(tests) % 2 == 0, "groups": grouped}))
    try_input("words: any size", lambda: use(write_words(folder, files), written), str(folder))


# ---- the authors' layouts

SUFFIXES = {"ফুল": ["ের", "টি", " গুলো"], "গোলাপ": ["ের"], "মা": ["য়ের"], "কাঁটা": []}
CATEGORY = {
    "targ1": {"category": "Flowers", "examples": ["ফুল", "গোলাপ"]},
    "targ2": {"category": "Insects", "examples": ["মশা", "মাছি"]},
    "attr1": {"category": "Pleasant", "examples": ["ভাল", "মা"]},
    "attr2": {"category": "Unpleasant", "examples": ["খারাপ", "কাঁটা"]},
}
GROUPED = "ফুল, 1/2\nগোলাপ, 1\nমা,2\n"
NUMBERED = {"1": ["ের", "টি"], "2": ["গুলো"]}


@fuzzing()
@given(edits(), edits(2), st.booleans(), st.integers(0, 2))
def test_word_lists_of_the_authors(
    folder: Path, changes: list[Edit], others: list[Edit], as_text: bool, layout: int
) -> None:
    def written(name: str, good: Any, changes: list[Edit]) -> Path:
        path = folder / name
        text = (good if isinstance(good, str) else json.dumps(good, ensure_ascii=False)).encode()
        if as_text or isinstance(good, str):
            path.write_bytes(edited_bytes(text, changes))
        else:
            path.write_text(json.dumps(edited_tree(good, changes)), encoding="utf-8")
        return path

    if layout == 0:
        stimuli, groups = written("weatWordsWithSuffix.jsonl", SUFFIXES, changes), None
    elif layout == 1:
        stimuli = written("allWeatWords.txt", GROUPED, changes)
        groups = written("suffixCategories.jsonl", NUMBERED, others)
    else:
        stimuli = written("ceat1.jsonl", CATEGORY, changes)
        groups = written("weatWordsWithSuffix.jsonl", SUFFIXES, others)
    try_input("words: authors' layouts", lambda: use(stimuli, groups), str(folder))


# ---- templates, traits, identities: each reader with a file that is shipped

READERS: dict[str, Callable[[Path], object]] = {
    "resources/templates/bn/seat.yaml": load_templates,
    "resources/templates/bn/log_probability.yaml": load_category_templates,
    "resources/templates/bn/structures.yaml": load_structures,
    "resources/traits/bn/positive.yaml": load_traits,
    "resources/construction/hi/identities.yaml": load_identities,
    "resources/construction/hi/templates.yaml": load_construction_templates,
}
CONTENTS = {name: _yaml(ROOT / name) for name in READERS}


@fuzzing()
@given(edits(), st.sampled_from(sorted(READERS)), st.booleans())
def test_templates_and_traits(folder: Path, changes: list[Edit], name: str, as_text: bool) -> None:
    path = folder / "file.yaml"
    try:
        if as_text:
            path.write_bytes(edited_bytes((ROOT / name).read_bytes(), changes))
        else:
            path.write_bytes(_dump(edited_tree(CONTENTS[name], changes)))
    except (yaml.YAMLError, UnicodeError):
        return
    try_input("templates and traits", lambda: READERS[name](path), str(path))


@fuzzing(0.5)
@given(edits())
def test_templates_that_are_filled(folder: Path, changes: list[Edit]) -> None:
    path = folder / "seat.yaml"
    try:
        path.write_bytes(_dump(edited_tree(TEMPLATES, changes)))
    except (yaml.YAMLError, UnicodeError):
        return
    lexicon = load_lexicon(write_words(folder, GOOD), write_groups(folder))
    names = [each["stimulus"] for each in SETS["flowers.yaml"]["words"]]
    try_input("templates: filled", lambda: list(filled_templates(lexicon, names, load_templates(path))), str(folder))


# ---- tuples and sheets

TUPLES = [
    ["tuple_id", "language", "bias_type", "polarity", "identity", "attribute", "vote_a"],
    ["t1", "bn", "gender", "negative", "মেয়ে", "দুর্বল", "1"],
    ["t2", "bn", "religion", "positive", "হিন্দু", "সৎ, ভাল", "0"],
]


SHEET = [
    ["tuple_id", "bias_type", "identity", "attribute", "vote"],
    ["t2", "religion", "হিন্দু", "সৎ, ভাল", "0"],
    ["t1", "gender", "মেয়ে", "দুর্বল", "1"],
]


def _csv(rows: list[list[str]]) -> bytes:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text

    return ("\n".join(",".join(map(cell, row)) for row in rows) + "\n").encode("utf-8", "surrogatepass")


@fuzzing()
@given(edits(), edits(2), st.booleans())
def test_tuples_and_sheets(folder: Path, changes: list[Edit], others: list[Edit], sheet: bool) -> None:
    path = folder / "tuples.csv"
    if not sheet:
        path.write_bytes(edited_bytes(_csv(edited_rows(TUPLES, changes)), others if len(others) > 1 else []))
        try_input("tuples", lambda: read_tuples(path), str(path))
        return
    tuples = folder / "good.csv"
    path.write_bytes(_csv(edited_rows(SHEET, changes)))
    tuples.write_bytes(_csv(TUPLES))
    try_input("sheets", lambda: read_sheet(path, read_tuples(tuples)), str(folder))


def test_words_times_suffixes_have_a_limit(tmp_path: Path) -> None:
    """37 KB of YAML gave 640,000 forms while planning."""
    folder, groups = tmp_path / "words", tmp_path / "groups.yaml"
    folder.mkdir()
    (folder / "categories.yaml").write_text("language: bn\ncategories: {}\n", encoding="utf-8")
    letters = [chr(code) for code in range(0x995, 0x9A8)]
    words = [one + other + last for one in letters for other in letters for last in letters][:1200]

    def use(n_suffixes: int, emphatic: str = "") -> None:
        suffixes = ", ".join(f"{one}{other}" for one in letters for other in letters[: n_suffixes // len(letters)])
        numbers = f"numbers: {{plural: [{{suffixes: [{suffixes}]}}]}}"
        text = f"language: bn\nhyphenated: false\ngroups:\n  g: {{ending: any, {numbers}{emphatic}}}\n"
        groups.write_text(text, encoding="utf-8")
        entries = ", ".join(f"{{stimulus: {word}, gloss: g, group: g}}" for word in words)
        text = f"set: s\ngloss: s\nclass: matter\nwords: [{entries}]\n"
        (folder / "s.yaml").write_text(text, encoding="utf-8")
        load_lexicon(folder, groups)

    for n_suffixes, emphatic, said in (
        (361, "", "1200 words with the suffix groups of"),
        (300, f", emphatic: [{', '.join(words)}]", "the suffix group `g` gives"),
    ):
        began = time.process_time()
        with pytest.raises(InputError, match=said):
            use(n_suffixes, emphatic)
        assert time.process_time() - began < 5
