"""Files of word vectors: every format is written here, read back, and refused where it is damaged."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.static import read_vectors
from prasanga.text import fold, normalizer

VECTORS = {"ফুল": [0.5, -1.0, 2.25], "পোকা": [1.0, 0.0, -0.125], "rose": [3.0, 1e-3, -4.0], "মা": [0.25, 0.5, 0.75]}
WANTED = ["ফুল", "rose", "নেই"]


def text_of(vectors: dict[str, list[float]], *, header: bool, end: str = "\n") -> str:
    lines = [f"{word} {' '.join(map(repr, vector))}" for word, vector in vectors.items()]
    return "".join(f"{line}{end}" for line in ([f"{len(vectors)} 3"] if header else []) + lines)


def binary_of(vectors: dict[str, list[float]], *, line_feeds: bool) -> bytes:
    entries = [word.encode() + b" " + struct.pack("<3f", *v) + b"\n" * line_feeds for word, v in vectors.items()]
    return f"{len(vectors)} 3\n".encode() + b"".join(entries)


def written(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


SPLIT = [line.split(" ", 1) for line in text_of(VECTORS, header=False).splitlines(keepends=True)]
FILES = {
    "word2vec text": ("v.txt", text_of(VECTORS, header=True), "word2vec"),
    "word2vec text, spaces and line ends of Windows": ("v.txt", text_of(VECTORS, header=True, end=" \r\n"), "word2vec"),
    "fasttext .vec, compressed": ("v.vec.gz", text_of(VECTORS, header=True, end=" \n"), "word2vec"),
    "glove": ("v.txt", text_of(VECTORS, header=False), "glove"),
    "glove, compressed, blank lines at the end": ("v.txt.gz", text_of(VECTORS, header=False) + "\n\n", "glove"),
    "glove with a byte order mark": ("v.txt", "\ufeff" + text_of(VECTORS, header=False), "glove"),
    "a header after a byte order mark, compressed": ("v.gz", "\ufeff" + text_of(VECTORS, header=True), "word2vec"),
    "tabs between all numbers": ("v.tsv", text_of(VECTORS, header=True).replace(" ", "\t"), "word2vec"),
    "aligned with several blanks": ("v.txt", text_of(VECTORS, header=True).replace(" ", "  "), "word2vec"),
    "words in quotes": ("v.txt", "".join(f'"{word}" {line}' for word, line in SPLIT), "glove"),
    "other quotes": ("v.txt", "".join(f"“{word}”\t{line}" for word, line in SPLIT), "glove"),
    "a tab after each word": ("v.tsv", "".join(f"{word}\t{line}" for word, line in SPLIT), "glove"),
    "word2vec binary with line feeds": ("v.bin", binary_of(VECTORS, line_feeds=True), "word2vec-binary"),
    "word2vec binary without": ("v.bin.gz", binary_of(VECTORS, line_feeds=False), "word2vec-binary"),
}


@pytest.mark.parametrize(("name", "content", "kind"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("told", [False, True], ids=["auto", "told"])
def test_every_format_is_read_back(tmp_path: Path, name: str, content: str | bytes, kind: str, told: bool) -> None:
    result = read_vectors(written(tmp_path / name, content), WANTED, format=kind if told else "auto")
    assert (result.method, result.dimensions, result.n_words) == (kind, 3, 4)
    assert sorted(result.found) == ["rose", "ফুল"]
    for word, found in result.found.items():
        np.testing.assert_array_equal(found.vector, np.array(VECTORS[word], np.float32))
        assert (found.word.strip('"“”'), found.occurrences, found.vector.dtype) == (word, None, np.float32)


def test_prefixes_of_a_language_and_repeated_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(
        tmp_path / "v.txt", "6 2\n/c/fr/rose 1 2\n/c/en/rose 3 4\n'ant' 5 6\nant 7 8\nant 9 9\n \u3000 0 0\n"
    )
    found = read_vectors(path, ["rose", "ant"], language="en").found
    assert {word: (each.word, each.vector.tolist()) for word, each in found.items()} == {
        "rose": ("/c/en/rose", [3, 4]),
        "ant": ("ant", [7, 8]),
    }
    assert "ant: several lines; the first one counts" in caplog.text


def test_words_are_compared_as_the_study_spells_them_and_the_first_of_several_counts(tmp_path: Path) -> None:
    # one character for য়, then a letter and a sign, then the first again: the study has the second
    content = "মেয়ে 1.0 2.0\nমেয়ে 3.0 4.0\nমেয়ে 5.0 6.0\nউদ্‌যোগ 7.0 8.0\n".replace("মেয়ে", "মে\u09dfে", 1)
    result = read_vectors(
        written(tmp_path / "v.txt", content),
        ["মে\u09af\u09bcে", "উদ্যোগ"],
        spelling=lambda words: list(map(fold, normalizer("bangla")(words))),
    )
    assert result.found["মে\u09af\u09bcে"].vector.tolist() == [1.0, 2.0]
    assert result.found["মে\u09af\u09bcে"].word == "মে\u09dfে"
    assert result.found["উদ্যোগ"].vector.tolist() == [7.0, 8.0]


def test_words_with_spaces_and_numbers_as_words(tmp_path: Path) -> None:
    content = "the 1.0 2.0\n. . 3.0 4.0\nNew York 5.0 6.0\n1984 7.0 8.0\n"
    result = read_vectors(written(tmp_path / "v.txt", content), [". .", "New York", "1984"])
    assert {word: found.vector.tolist() for word, found in result.found.items()} == {
        ". .": [3.0, 4.0],
        "New York": [5.0, 6.0],
        "1984": [7.0, 8.0],
    }


def test_a_word_cut_in_its_last_character_is_left_out(tmp_path: Path) -> None:
    # 98 bytes, as the word2vec program leaves them: 32 characters of three bytes and two bytes of another
    cut = ("ক" * 33).encode()[:98]
    entries = [cut + b" " + struct.pack("<2f", 1, 2), "মা".encode() + b" " + struct.pack("<2f", 3, 4)]
    for content in (b"2 2\n" + b"".join(entries), b"2 2\n" + cut + b" 1.0 2.0\n" + "মা 3.0 4.0\n".encode()):
        result = read_vectors(written(tmp_path / "v.bin", content), ["মা"])
        assert (result.n_words, result.found["মা"].vector.tolist()) == (2, [3.0, 4.0])


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, lzma.compress, bz2.compress])
def test_compression_is_known_by_its_first_bytes(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = written(tmp_path / "vectors", compress(text_of(VECTORS, header=True).encode()))
    result = read_vectors(path, WANTED)
    assert (result.method, result.n_words, sorted(result.found)) == ("word2vec", 4, ["rose", "ফুল"])


PLAIN = text_of(VECTORS, header=True)
DAMAGED = {
    **read_data(__file__, "damaged"),
    "zip": ("v.zip", b"PK\x03\x04..v.txtrose 1 2 3\n", "the file is an archive.* Unpack an archive"),
    "gensim": ("v.kv", b"\x80\4\x95....", "the file is a pickle.* `save_word2vec_format`"),
    "fewer lines than said": ("v.txt", PLAIN.replace("4 3", "5 3"), "says 5 words, but 4 follow .*write `4 3`"),
    "more lines than said": ("v.txt", PLAIN.replace("4 3", "3 3"), "says 3 words, but 4 follow"),
    "binary cut off": ("v.bin", binary_of(VECTORS, line_feeds=True)[:-9], "ends within its vectors"),
    "binary goes on": (
        "v.bin",
        binary_of(VECTORS, line_feeds=True).replace(b"4 3", b"3 3"),
        "says 3 words, but 4 follow",
    ),
    "binary NaN": (
        "v.bin",
        binary_of({"rose": [1.0, float("nan"), 2.0]}, line_feeds=True),
        "in the vector of 'rose', number 2 of 3 is nan",
    ),
    "gzip cut off": ("v.txt", gzip.compress(PLAIN.encode())[:-20], "truncated or damaged"),
    "gzip with more behind": ("v.txt", gzip.compress(PLAIN.encode()) + b"more", "truncated or damaged"),
}


@pytest.mark.parametrize(("name", "content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_named_with_its_place(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = written(tmp_path / name, content)
    with pytest.raises(InputError, match=message) as error:
        read_vectors(path, WANTED)
    assert str(path) in str(error.value)


def test_a_wrong_format_or_path_says_what_to_write(tmp_path: Path) -> None:
    glove = written(tmp_path / "g.txt", text_of(VECTORS, header=False))
    with pytest.raises(InputError, match=r"`format` is word2vec, but the file begins like glove .*`format: glove`"):
        read_vectors(glove, WANTED, format="word2vec")
    with pytest.raises(InputError, match="format: 'elmo' is unknown"):
        read_vectors(glove, WANTED, format="elmo")
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / "absent.txt", WANTED)


def write_fasttext(path: Path, shortest: int, longest: int) -> Path:
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sentences = [["ফুল", "ফোটে", "বাগানে"], ["ফুল", "দেখি"], ["rose", "garden"]] * 3
    lengths = {"min_n": shortest, "max_n": longest}
    model = FastText(sentences, vector_size=6, min_count=1, bucket=50, epochs=1, workers=1, seed=1, **lengths)
    save_facebook_model(model, str(path))
    return path


@pytest.mark.parametrize(("shortest", "longest"), [(1, 3), (2, 4), (4, 5)])
def test_a_fasttext_binary_gives_what_gensim_reads(tmp_path: Path, shortest: int, longest: int) -> None:
    from gensim.models.fasttext import load_facebook_vectors

    path = write_fasttext(tmp_path / "v.bin", shortest, longest)
    gensim = load_facebook_vectors(str(path))
    missing = ["ab", "মা", "é", "roses", "ফুলের"] if shortest < 4 else ["ab", "roses", "মা"]
    counts = {"ফুল": 6, "বাগানে": 3, "garden": 3}
    result = read_vectors(path, [*counts, *missing], from_subwords=[*counts, *missing, "a"])
    assert (result.method, result.dimensions, result.n_words) == ("fasttext", 6, 6)
    assert {word: found.occurrences for word, found in result.found.items()} == counts
    assert ("a" in result.subwords) == (shortest < 4)  # <a> has three characters
    for word, vector in [*((word, found.vector) for word, found in result.found.items()), *result.subwords.items()]:
        np.testing.assert_allclose(vector, gensim[word], rtol=1e-6, atol=1e-9)
    assert set(result.subwords) - {"a"} == set(missing)


def test_a_damaged_fasttext_binary_is_refused(tmp_path: Path) -> None:
    whole = write_fasttext(tmp_path / "v.bin", 2, 4).read_bytes()
    for cut, message in ((20, "the file's settings"), (120, "the list of words"), (240, "vectors")):
        path = written(tmp_path / f"{cut}.bin", whole[:cut])
        with pytest.raises(InputError, match=f"the file ends within.*({message})"):
            read_vectors(path, ["ফুল", "rose", "garden"])
    path = written(tmp_path / "old.bin", whole[:4] + struct.pack("<i", 7) + whole[8:])
    with pytest.raises(InputError, match=r"version 7.*Fetch the \.vec"):
        read_vectors(path, ["নেই"])
    compressed = tmp_path / "v.bin.gz"
    compressed.write_bytes(gzip.compress(whole))
    assert sorted(read_vectors(compressed, ["ফুল"]).found) == ["ফুল"]
