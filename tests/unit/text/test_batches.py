"""`normalize_batch` must equal `normalize`, text by text, whatever the texts are."""

from __future__ import annotations

import itertools
import unicodedata
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from ftfy.badness import is_bad
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prasanga.base.errors import InputError
from prasanga.text import normalize, normalize_batch, normalizer
from prasanga.text.lines import Lines
from prasanga.text.normalization import ORDINARY, Form

# Pieces that do something together; st.text() alone would hardly ever put them side by side.
TRIGGERS = [
    *"কবরনযড়ঢ়যঅআািেোৗৌঁং়্৷।॥ऩर्ळ\u0958\u095f\u0929\u200c\u200d\u200b\u00ad\ufeff\u00a0\u2060",
    *"\u09af\u09bc\u09dc\u09dd\u09df\u09c7\u09be\u09d7\u0981\u0985\u09fe\u0951",
    *" \t\n\r\x0b\x0c\x00\x1f\x85\u2028\u2029\u3000",
    *"‘’“”«»‹›`´\"'–—…•−ʼ",
    *"éŠşÂÃØÙà¦€™œ°×²½ﬁＡ",
    *("\ud83d", "\udf43", "😀", "\x1b[31m", "&amp;", "&lt", "&#39;", "<", "\r\n", "  "),
    *("আমি", "à¦•", "â€™", "Ã©", "Ã ", "বাংলা".encode().decode("latin-1"), "é".encode().decode("cp1252")),
]
texts = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from(ORDINARY)),
    st.text(st.characters(min_codepoint=0x0900, max_codepoint=0x09FF)),
    st.lists(st.sampled_from(TRIGGERS), max_size=12).map("".join),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=8), st.sampled_from(get_args(Form)))
@example(["", "\0", "ক\0খ", ""], "NFKC")
@example(["\u09c7", "\u09be", "\u0985", "\u09be"], "NFKC")
@example(["\u09ac\u09cd\u09bc", "\u0928\u094d\u09bc\u093c"], "NFC")
@example([" ", " ", "  ক  "], "NFD")
def test_batch_equals_single(batch: list[str], form: Form) -> None:
    assert normalize_batch(batch, form=form) == [normalize(text, form=form) for text in batch]


@settings(max_examples=50, deadline=None)
@given(st.lists(texts, max_size=4))
def test_batch_equals_single_with_replacements(batch: list[str]) -> None:
    single = [normalize(text, urls="U", punctuation=" ", emoji="E") for text in batch]
    assert normalize_batch(batch, urls="U", punctuation=" ", emoji="E") == single


NAMES = ["bangla", "nukta", "nfkc", "nfc", "none"]


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=8), st.sampled_from(NAMES))
@example(["क़\u093c", "\u0958\u093c", "\u0915\u093c\u093c", "\u093c", "ज़िन्दगी लड़का"], "nukta")
def test_every_normalizer_does_to_many_texts_what_it_does_to_one(batch: list[str], name: str) -> None:
    normalize_all = normalizer(name)
    assert normalize_all(batch) == [normalize_all.one(text) for text in batch]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(texts.map(lambda text: text.encode("utf-8", "ignore")), st.binary(max_size=8))))
@example(
    [
        b"\xe2@\x93",
        b"\xe2\x80S",
        b"\xe2\x80",
        b"\xe0\x81\x81",
        b"\xed\xa0\x80",
        b"\xf0\x8d\xa5\xa4",
        b"\xf4\x90\x80\x80",
    ]
)
@example(["–".encode(), "\U00040964".encode(), "\U0010ffff".encode(), "ক\u1939\u094d".encode()])
def test_lines_of_bytes_are_normalized_or_named_as_undecodable(raw: list[bytes]) -> None:
    ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
    lines = Lines(np.frombuffer(b"".join(raw), dtype=np.uint8), ends[:-1], ends[1:])
    result, undecodable = normalizer("bangla").rewrite(lines)
    written = [result.data[a:b].tobytes() for a, b in zip(result.starts, result.ends, strict=True)]
    expected: list[bytes | None] = []
    for line in raw:
        try:
            expected.append(normalize(line.decode()).encode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            expected.append(None)
    assert undecodable == [number for number, line in enumerate(expected) if line is None]
    assert written == [line or b"" for line in expected]


def test_replacements_by_name() -> None:
    text = "দেখো: www.example.com 😀"
    assert normalizer("bangla", urls="<url>", emoji="")([text]) == ["দেখো: <url> "]
    assert normalizer("nukta", punctuation="*")(["ज़रा देखो।"]) == ["जरा देखो*"]
    assert normalizer("none", emoji="E")(["“😀”"]) == ["“E”"]


def test_a_nukta_is_folded_where_it_is_often_left_out() -> None:
    assert normalizer("nukta")(["ज़िंदगी", "\u095b", "लड़का", "पढ़ाई", "\u0931"]) == [
        "जिंदगी",
        "ज",
        "लड़का",
        "पढ़ाई",
        "\u0931",
    ]


def test_every_pair_of_ordinary_characters() -> None:
    """Exhaustive, where it matters most: what two neighbours do to each other."""
    pairs = ["".join(pair) for pair in itertools.product(ORDINARY, repeat=2)]
    # Letters of one kind behave alike; those with a property that matters to a neighbour are all kept.
    kept = set("\t\n\r <;#'\"`aZ0\u00a0—…’“•")
    kept |= set("\u0995\u09ac\u0985\u09df\u09dc\u0981\u0982\u09be\u09bc\u09c7\u09cb\u09cd\u09f7")
    kept |= set("\u0915\u0928\u0930\u0933\u093c\u094d\u0958")
    pairs = [pair for pair in pairs if kept.issuperset(pair)]
    assert len(pairs) > 1000
    for name in NAMES:
        normalize_all = normalizer(name)
        assert normalize_all(pairs) == [normalize_all.one(pair) for pair in pairs], name


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from([*ORDINARY, *"–—…’‘“”\u00a0•" * 10])))
def test_ordinary_text_never_looks_like_mojibake(text: str) -> None:
    assert not is_bad(text)


def test_ordinary_characters_are_never_deleted_and_never_reordered_but_by_a_nukta() -> None:
    assert all(normalize(f"ক{character}ক") != "কক" for character in ORDINARY)
    classes = {character: unicodedata.combining(character) for character in ORDINARY}
    assert {character for character, order in classes.items() if order} == set("\u093c\u094d\u09bc\u09cd")


def test_a_batch_of_several_chunks_keeps_order() -> None:
    batch = [f"পাতা {number} “{number}” {'é' if number % 97 == 0 else ''}" for number in range(1000)]
    assert normalize_batch(batch) == [normalize(text) for text in batch]
    assert normalize_batch([]) == []


def test_a_long_run_of_spaces_and_a_long_line() -> None:
    assert normalize_batch([" " * 300_000 + "ক"]) == [" ক"]
    line = "সময় অাসে, কেঁা। " * 70_000
    assert normalize_batch([line]) == [normalize(line)]


def test_normalizers_by_name() -> None:
    text = "\u09df  “½”"
    assert normalizer("bangla")([text]) == ['\u09af\u09bc "1⁄2"']
    assert normalizer("none")([text]) == [text]
    assert normalizer("nfc")([text, "ক\u1939\u094d"]) == ["\u09af\u09bc  “½”", "ক\u094d\u1939"]
    assert normalizer("nfkc")([text]) == ["\u09af\u09bc  “1⁄2”"]


def test_unknown_normalizer_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="'Bangla' is unknown; allowed are bangla, nukta, nfkc, nfc, none"):
        normalizer("Bangla")


def test_real_text(shared: Path) -> None:
    files = sorted((shared / "corpora").glob("bn_*.txt"))
    assert files
    for path in files:
        lines = path.read_text("utf-8").split("\n")
        assert normalize_batch(lines) == [normalize(line) for line in lines], path.name
