"""Sentences by word: a pickle of dict, list and str is read as Python reads it; nothing else in one has an effect."""

from __future__ import annotations

import datetime
import gzip
import io
import pickle
import random
import struct
import tracemalloc
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.errors import InputError
from prasanga.sentences.files import Shard
from prasanga.sentences.records import Record, read_pickle, read_records, word_of

SENTENCES = {"ফুল": ["আজ ফুল ফোটে।", " কাল। ফুলের দিন। পরশু।"], "মা": [], "বই": ["বই পড়ি।"]}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "results.pkl"
    path.write_bytes(content)
    return path


def flat(content: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(word, sentence) for word, sentences in content.items() for sentence in sentences]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_by_both_picklers(tmp_path: Path, protocol: int) -> None:
    plain = io.BytesIO()
    pickle._Pickler(plain, protocol).dump(SENTENCES)  # type: ignore[attr-defined]
    for content in (pickle.dumps(SENTENCES, protocol), plain.getvalue()):
        assert list(read_pickle(written(tmp_path, content))) == flat(SENTENCES)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.dictionaries(texts, st.lists(texts, max_size=5), max_size=6), st.sampled_from(PROTOCOLS), st.data())
def test_as_pythons_own_reader(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, list[str]], protocol: int, data: st.DataObject
) -> None:
    # sentences that two words share are one object, as in the authors' program, and stand in the pickle once
    pool = [sentence for sentences in content.values() for sentence in sentences]
    if pool:
        shared = data.draw(st.lists(st.sampled_from(pool), max_size=4))
        content = {**content, "ভাগ": shared, "আবার": shared}
    path = written(tmp_path_factory.mktemp("pickles"), pickle.dumps(content, protocol))
    assert list(read_pickle(path)) == flat(pickle.loads(path.read_bytes()))


def test_a_thousand_words_of_a_thousand_sentences(tmp_path: Path) -> None:
    content = {f"w{i}": [f"w{i} {j}" for j in range(1100)] for i in range(1010)}
    assert list(read_pickle(written(tmp_path, pickle.dumps(content)))) == flat(content)


def test_records_have_their_word_and_number(tmp_path: Path) -> None:
    path = tmp_path / "results.pkl.gz"
    path.write_bytes(gzip.compress(pickle.dumps(SENTENCES)))
    assert list(read_records(Shard(str(path), path.name, "line", "pickle"))) == [
        Record("আজ ফুল ফোটে।", 0, "ফুল"),
        Record(" কাল। ফুলের দিন। পরশু।", 1, "ফুল"),
        Record("বই পড়ি।", 2, "বই"),
    ]


def test_a_file_of_a_word_has_a_sentence_a_line(tmp_path: Path) -> None:
    path = tmp_path / "ফুল.txt"
    path.write_bytes("\ufeffআজ ফুল ফোটে।\r\n\r\nফুলের দিন।\nশেষ ফুল".encode())
    expected = [Record("আজ ফুল ফোটে।", 0, "ফুল"), Record("ফুলের দিন।", 2, "ফুল"), Record("শেষ ফুল", 3, "ফুল")]
    assert list(read_records(Shard(str(path), path.name, "line", "word"))) == expected
    packed = tmp_path / "ফুল.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_records(Shard(str(packed), packed.name, "line", "word"))) == expected
    assert word_of("a/b/মা-বাবা.txt.xz") == "মা-বাবা"
    path.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match=r"not UTF-8 at byte 0"):
        list(read_records(Shard(str(path), path.name, "line", "word")))


class Runs:
    """What would leave a file behind if Python's own reader met it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.mark,)


def test_nothing_is_called(tmp_path: Path) -> None:
    mark = tmp_path / "called"
    for protocol in PROTOCOLS:
        for content in (Runs(mark), {"ফুল": [Runs(mark)]}, {"ফুল": ["ফুল।"], "x": Runs(mark)}):
            with pytest.raises(
                InputError, match=r"it has the instruction (GLOBAL|STACK_GLOBAL)\. .* Nothing of it was run"
            ):
                list(read_pickle(written(tmp_path, pickle.dumps(content, protocol))))
    assert not mark.exists()
    pickle.loads(pickle.dumps(Runs(mark)))  # that it would have been
    assert mark.exists()


HOSTILE = {
    "a call of protocol 0": b"cos\nsystem\n(S'true'\ntR.",
    "an instance": b"(ios\nsystem\n.",
    "an extension": b"\x82\x01.",
    "a persistent id": b"Pmodel\n.",
    "a persistent id from the stack": b"\x8c\x01aQ.",
    "a buffer": b"\x97.",
    "a state": b"}}b.",
    "a memo number of 4 billion": b"\x80\x04}r\xff\xff\xff\xffh\x01.",
    "a text of 2^63 bytes": b"\x80\x04}\x8d" + struct.pack("<Q", 1 << 63) + b"a.",
    "a text of 4 GB": b"\x80\x04}X\xff\xff\xff\xffa.",
    "a frame of 2^63 bytes": b"\x80\x04\x95" + struct.pack("<Q", 1 << 63),
    "a number of a million digits": b"}p" + b"1" * 1_000_000 + b"\n.",
    "half of a character": b"\x80\x04}\x8c\x01a]\x8c\x03\xed\xa0\x80as.",
    "a half in protocol 0": b"(dVa\n(lV\\ud800\nas.",
    "not UTF-8": b"\x80\x04}\x8c\x01a]\x8c\x01\xffas.",
    "a list in itself": b"\x80\x04}\x8c\x01a]\x94h\x00as.",
    "a dict in itself": b"\x80\x04}\x94\x8c\x01ah\x00s.",
    "a list as a key": b"\x80\x04}]\x8c\x01as.",
    "a key without a value": b"\x80\x04}(\x8c\x01au.",
    "append to a text": b"\x8c\x01a\x8c\x01ba.",
    "no mark": b"}u.",
    "a mark as content": b"(.",
    "nothing": b".",
    "two dicts": b"}}.",
    "more after the end": b"}.}.",
    "no end": b"\x80\x04}",
    "an instruction that is none": b"\xff.",
    "a list": pickle.dumps([["a"]]),
    "a text in place of a list": pickle.dumps({"a": "b"}),
    "a word in place of a text": pickle.dumps({"a": [["b"]]}),
}
OTHERS = [
    1,
    1 << 70,
    1.5,
    None,
    True,
    b"x",
    ("a",),
    {"a"},
    frozenset("a"),
    bytearray(b"x"),
    OrderedDict(),
    defaultdict(list),
]


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pickles_are_refused_in_little_memory(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"results\.pkl: ") as caught:
            list(read_pickle(path))
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("value", [*OTHERS, datetime.date(2024, 6, 26)], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_other_type_is_made(tmp_path: Path, value: object, protocol: int) -> None:
    for content in (value, {"ফুল": [value]}, {"ফুল": value}):
        with pytest.raises(InputError, match="of dict, list and str alone"):
            list(read_pickle(written(tmp_path, pickle.dumps(content, protocol))))


def test_a_pickle_that_is_too_large(tmp_path: Path) -> None:
    path = written(tmp_path, pickle.dumps({"ফুল": ["ফুল " * 100] * 2 + ["x" * 3000]}))
    with pytest.raises(InputError, match=r"it comes to more than 1e-06 GB, more than a pickle may"):
        list(read_pickle(path, most_bytes=1000))
    bomb = tmp_path / "bomb.pkl.gz"
    bomb.write_bytes(gzip.compress(pickle.dumps({"ফুল": ["x" * 150_000_000]})))
    with pytest.raises(InputError, match=r"bomb\.pkl\.gz"):
        list(read_pickle(bomb, inflation=2))


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_a_truncated_pickle(tmp_path: Path, cut: int) -> None:
    content = pickle.dumps(SENTENCES)
    assert cut < len(content)
    with pytest.raises(InputError, match=r"it ends too early\. Fetch it again"):
        list(read_pickle(written(tmp_path, content[:cut])))


def test_random_damage_gives_sentences_or_a_sentence(tmp_path: Path) -> None:
    chance = random.Random(7)
    whole = pickle.dumps(SENTENCES)
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            found = list(read_pickle(written(tmp_path, bytes(damaged))))
        except InputError:
            continue
        assert all(type(word) is type(sentence) is str for word, sentence in found)
