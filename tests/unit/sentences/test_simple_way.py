"""The simple way finds what `extract` finds, in text with one sentence per line: each is the other's oracle."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import simple_sentences as simple
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped import lexicon_of

from prasanga.lexicon import Lexicon
from prasanga.sentences import SENTENCE_SCHEMA, Shard, extract_shard
from prasanga.sentences.matcher import Forms
from prasanga.text import normalize, split_sentences

ZWNJ = "\u200c"


LEXICON = Forms(
    {
        "মা": ("মা",),
        "মাকে": ("মা",),
        "মা-কে": ("মা",),
        "মা-কেও": ("মা",),
        "গান": ("গান",),
        "গানের": ("গান",),
        normalize("রঙের"): ("রং",),
        normalize("রং"): ("রং",),
        "বাবা": ("বাবা",),
        "বাবা মা": ("পিতামাতা",),
        "মা মা": ("দুবার",),
        "দুঃখজনক": ("দুঃখ", "দুঃখজনক"),
    }
)
PATTERNS = simple.compile_patterns(LEXICON)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return replace(lexicon_of("bn"), neighbours={})  # what stands beside a form has an oracle in test_matcher


@pytest.fixture(scope="module")
def patterns(lexicon: Lexicon) -> list[simple.Pattern]:
    return simple.compile_patterns(lexicon)


def fast_way(path: Path, lexicon: simple.HasClaims, before: int = 3, after: int = 3) -> list[simple.Row]:
    shard = Shard(str(path), "a.txt", "blank-line")
    batches = extract_shard(shard, lexicon=lexicon, normalization="bangla", language="bn", before=before, after=after)
    rows = pa.Table.from_batches(batches, SENTENCE_SCHEMA).select(simple.Row._fields).to_pylist()
    return [simple.Row(**row) for row in rows]


def simple_way(path: Path, patterns: list[simple.Pattern], before: int = 3, after: int = 3) -> list[simple.Row]:
    return list(simple.extract(path, source="a.txt", patterns=patterns, before=before, after=after))


def test_rows_of_a_small_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("লাল রঙের বাগান।\nবাবা মা-কে দেখে।\n\nপদ্মা নদী।\nমা মা মা।\n", encoding="utf-8")
    context = normalize("লাল রঙের বাগান। বাবা মা-কে দেখে।")
    shift, offset = len(normalize("লাল রঙের বাগান। ")), len("লাল রঙের বাগান।\n".encode())
    later = len("লাল রঙের বাগান।\nবাবা মা-কে দেখে।\n\nপদ্মা নদী।\n".encode())
    assert simple_way(path, PATTERNS) == [
        simple.Row("a.txt", 0, "রং", normalize("রঙের"), context, 4, 8),
        simple.Row("a.txt", offset, "বাবা", "বাবা", context, shift, shift + 4),
        simple.Row("a.txt", offset, "পিতামাতা", "বাবা মা", context, shift, shift + 7),
        simple.Row("a.txt", offset, "মা", "মা-কে", context, shift + 5, shift + 10),
        simple.Row("a.txt", later, "মা", "মা", "পদ্মা নদী। মা মা মা।", 11, 13),
        simple.Row("a.txt", later, "দুবার", "মা মা", "পদ্মা নদী। মা মা মা।", 11, 16),
        simple.Row("a.txt", later, "মা", "মা", "পদ্মা নদী। মা মা মা।", 14, 16),
        simple.Row("a.txt", later, "দুবার", "মা মা", "পদ্মা নদী। মা মা মা।", 14, 19),
        simple.Row("a.txt", later, "মা", "মা", "পদ্মা নদী। মা মা মা।", 17, 19),
    ]


parts_of_words = ["বা", "কে", "ের", "ে", ZWNJ, "\u200d", "\u0981", "৩", "a"]
between_words = [" ", " ", "  ", ", ", "-", "\u2011", "’", "_"]
pieces = st.sampled_from([*LEXICON.stimuli_of, *parts_of_words, *between_words])
lines = st.lists(pieces, max_size=14).map(lambda parts: "".join(parts) + "।")
documents = st.lists(st.lists(lines, min_size=1, max_size=6), min_size=1, max_size=3)


@settings(deadline=None)  # the first call compiles
@given(documents, st.integers(0, 3), st.integers(0, 3))
def test_both_ways_find_the_same(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[list[str]], before: int, after: int
) -> None:
    path = tmp_path_factory.mktemp("corpus") / "a.txt"
    path.write_text("\n\n".join("\n".join(document) for document in corpus), encoding="utf-8")
    assert simple_way(path, PATTERNS, before, after) == fast_way(path, LEXICON, before, after)


@pytest.mark.parametrize("seed", range(2))
def test_both_ways_find_the_same_with_all_our_stimuli(
    tmp_path: Path, lexicon: Lexicon, patterns: list[simple.Pattern], seed: int
) -> None:
    rng = random.Random(seed)
    forms = sorted(lexicon.claims())
    words = [*rng.sample(forms, 150), *(form[: rng.randint(1, len(form))] for form in rng.sample(forms, 100))]
    between = [" ", " ", " ", ", ", "-", ZWNJ, " «", "» "]
    sentences = ["".join(rng.choice(words) + rng.choice(between) for _ in range(rng.randint(1, 12))) for _ in range(60)]
    path = tmp_path / "a.txt"
    path.write_text("".join(rng.choice(["\n", "।\n", "।\n\n"]) + text for text in sentences), encoding="utf-8")
    rows = fast_way(path, lexicon)
    assert len(rows) > 50
    assert simple_way(path, patterns) == rows


def test_both_ways_find_the_same_in_real_text(
    shared: Path, tmp_path: Path, lexicon: Lexicon, patterns: list[simple.Pattern]
) -> None:
    lines = [
        line
        for name in ("bn_tatoeba_ccby.txt", "bn_wiki_sipc_ccbysa.txt")
        for line in (shared / "corpora" / name).read_text(encoding="utf-8").split("\n")[:1_000]
        if len(split_sentences(normalize(line))) == 1
    ]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    rows = fast_way(path, lexicon)
    assert len(rows) > 200
    assert simple_way(path, patterns) == rows
