"""S5 from the study's texts: the rule, the draw, and what becomes of the sentences; a plain loop is the oracle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
import yaml
from shipped import lexicon_of

from prasanga.base.errors import InputError
from prasanga.base.seeds import seed_of
from prasanga.likelihoods.drawn import draw_sentences
from prasanga.likelihoods.structures import read_trait_sentences
from prasanga.sentences import Shard
from prasanga.text import normalize

RESOURCES = Path(__file__).parents[3] / "resources"
STRUCTURES = RESOURCES / "templates/bn/structures.yaml"
TRAITS = [RESOURCES / f"traits/bn/{polarity}.yaml" for polarity in ("positive", "negative")]
BANGLA = r"\u0980-\u09ff"
WORD = re.compile(f"[{BANGLA}]+")


def settings(files: Sequence[Path], licence: str | None = None, seed: int = 47) -> dict[str, Any]:
    how = {"normalization": "bangla", "replacements": {}, "language": "bn", "errors": "stop", "seed": seed}
    shards = [Shard(str(file), file.name, "blank-line")._asdict() for file in files]
    texts = [["Paper" if file.name == "a.txt" else file.name, licence] for file in files]
    return {"structures": str(STRUCTURES), "traits": list(map(str, TRAITS)), "shards": shards, "texts": texts, **how}


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def draw(*files: Path, **more: Any) -> dict[str, dict[str, Any]]:
    found = draw_sentences(settings(files, **more), lexicon_of("bn"))
    return {row["trait"]: row for row in found.iter_rows(named=True)}


LONG = "এই গ্রামে " + "অনেক দিন ধরে " * 15 + "সাহসী মানুষ ছিল।"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "দেশের কাজে আমরা সৎ মানুষদের পাশে থাকব।",
            ("সৎ", "দেশের কাজে আমরা {attribute} {target:plural genitive} পাশে থাকব।"),
        ),
        (
            "সবাই জানে যে নির্ভীক লোকটিকে থামানো যাবে না।",
            ("নির্ভীক", "সবাই জানে যে {attribute} {target:definite objective} থামানো যাবে না।"),
        ),
        ("দেশের কাজে আমরা সৎ থাকব, মানুষ তা দেখবে।", None),  # not before a noun for a person
        ("দেশের কাজে আমরা অসৎ‌মানুষদের পাশে থাকব না।", None),  # inside a word
        ("দেশের কাজে সৎ সভায় সৎ মানুষদের পাশে থাকব।", None),  # the trait once more
        ("এই গ্রামের মেয়েরা সৎ মানুষদের পাশে থাকবে।", None),  # a term
        ("আমার বাবা বরাবর সৎ মানুষদের পাশে থাকতেন।", None),  # kin
        ("দেশের কাজে {আমরা} সৎ মানুষদের পাশে থাকব।", None),
        ("আমরা সৎ মানুষদের পাশে।", None),  # no context
        (LONG, None),
    ],
)
def test_which_sentences_can_stand_for_s5(line: str, expected: tuple[str, str] | None, tmp_path: Path) -> None:
    found = draw(write(tmp_path / "a.txt", line))
    assert [(row["trait"], row["text"]) for row in found.values()] == ([expected] if expected else [])


def simple_way(files: Sequence[Path], seed: int) -> dict[str, tuple[str, tuple[str, int]]]:
    """Trait to sentence and place: one line at a time, one trait and noun at a time."""
    traits = [normalize(trait["word"]) for path in TRAITS for trait in yaml.safe_load(path.read_text())["traits"]]
    persons = yaml.safe_load(STRUCTURES.read_text())["persons"].values()
    nouns = [normalize(noun) for forms in persons for noun in forms]
    lexicon = lexicon_of("bn")
    people = {word.name for word in lexicon.stimuli if word.word_class in ("person", "kin", "person_name")}
    forms = {each.form for each in lexicon.readings if each.stimulus in people}
    best: dict[str, tuple[int, str, int, str]] = {}
    for path in files:
        offset = 0
        for raw in path.read_bytes().splitlines(keepends=True):
            text = normalize(raw.decode()).strip()
            for trait, noun in product(traits, nouns):
                if f"{trait} {noun}" not in text:
                    continue
                around = WORD.findall(text.replace(f"{trait} {noun}", " ", 1))
                whole = re.search(rf"(?<![{BANGLA}]){trait} {noun}(?![{BANGLA}])", text)
                if whole and trait not in around and forms.isdisjoint(around) and len(around) >= 4 and len(text) <= 200:
                    row = (seed_of(seed, "S5", trait, text), path.name, offset, text)
                    best[trait] = min(best.get(trait, row), row)
            offset += len(raw)
    return {trait: (text, (name, offset)) for trait, (_, name, offset, text) in best.items()}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_draw_is_that_of_a_plain_loop(seed: int, tmp_path: Path) -> None:
    """Every trait with some nouns in some frames, in two files; the order of the files does not matter."""
    traits = [trait["word"] for path in TRAITS for trait in yaml.safe_load(path.read_text())["traits"]]
    frames = [
        "গত বছর এই শহরে {} {} নিয়ে একটি বই ছাপা হয়।",
        "{} {} কথা আমাদের অনেক দিন মনে থাকবে।",
        "সভায় বলা হয়, {} {} ছাড়া এ কাজ হবে না।",
        "পাড়ার নারী সমিতি {} {} নামে একটি নাটক করেছে।",
    ]
    nouns = ["মানুষ", "লোকের", "নাগরিকদের", "শিল্পীকে", "মানুষটি", "ফুল", "কর্মীরা", "লোকালয়"]
    chance = Random(seed)
    lines = [chance.choice(frames).format(trait, chance.choice(nouns)) for trait in traits for _ in range(4)]
    files = [write(tmp_path / "a.txt", *lines[::2], lines[2]), write(tmp_path / "b.txt", *lines[1::2])]
    found, expected = draw(*files, seed=seed), simple_way(files, seed)
    assert 100 < len(expected) < 180
    places = {trait: (row["source"], row["offset"]) for trait, row in found.items()}
    assert places == {trait: place for trait, (_, place) in expected.items()}
    assert draw(*files[::-1], seed=seed) == found
    # the sentence with another noun in its place has the same beginning and end
    for trait, row in found.items():
        before, _, rest = row["text"].partition("{attribute} {target:")
        text = expected[trait][0]
        assert text.startswith(f"{before}{trait} ")
        assert text.endswith(rest.partition("}")[2])


def test_drawn_sentences_replace_s5_and_are_labeled(tmp_path: Path) -> None:
    lexicon, path = lexicon_of("bn"), tmp_path / "drawn.parquet"
    lines = "দেশের কাজে আমরা সৎ মানুষদের পাশে থাকব।", "সবাই জানে যে নির্ভীক লোকটিকে থামানো যাবে না।"
    files = [write(tmp_path / name, line) for name, line in zip(("a.txt", "b.txt"), lines, strict=True)]
    asked = settings(files)
    asked["texts"] = [["Paper", "CC0"], ["Web", None]]
    draw_sentences(asked, lexicon).write_parquet(path)
    rows = read_trait_sentences({**asked, "drawn": str(path)}, lexicon)
    written = read_trait_sentences(asked, lexicon)
    drawn = rows.filter(pl.col("origin") != "written")
    assert drawn.select("trait", "structure", "origin", "stored").unique().sort("trait").rows() == [
        ("নির্ভীক", "S5", "Web", False),
        ("সৎ", "S5", "Paper", True),
    ]
    assert drawn.filter(trait="সৎ", term="নারী")["text"].item() == "দেশের কাজে আমরা সৎ নারীদের পাশে থাকব।"
    row = drawn.row(by_predicate=(pl.col("trait") == "নির্ভীক") & (pl.col("term") == "ছেলে"), named=True)
    assert row["text"] == "সবাই জানে যে নির্ভীক ছেলেটিকে থামানো যাবে না।"
    assert row["text"][slice(*row["target"])] == "ছেলেটিকে"
    others = pl.col("origin") == "written"
    key = ["polarity", "trait", "structure", "term"]
    assert rows.filter(others).equals(written.join(drawn, on=key, how="anti", maintain_order="left"))


def test_structures_without_nouns_for_persons_are_refused_before_anything_runs(tmp_path: Path) -> None:
    structures = yaml.safe_load(STRUCTURES.read_text(encoding="utf-8"))
    del structures["persons"]
    path = write(tmp_path / "structures.yaml", yaml.safe_dump(structures, allow_unicode=True))
    asked = {"structures": str(path), "traits": list(map(str, TRAITS)), "s5_from_corpus": True}
    with pytest.raises(InputError, match=r"for `log_probability.s5_from_corpus` lacks the key `persons`"):
        read_trait_sentences(asked, lexicon_of("bn"))
