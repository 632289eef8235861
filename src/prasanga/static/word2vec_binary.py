"""word2vec's binary files: a header in writing, then each word, a space, and its numbers as float32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from prasanga.errors import InputError
from prasanga.static.byte_stream import byte_stream
from prasanga.static.files import Found, Wanted, WordVectors, finite, header_of

_WORDS = 1000
_LONGEST = 2000  # bytes of a word


def read_word2vec_binary(path: Path, wanted: Wanted, read: Callable[[int], object] | None = None) -> WordVectors:
    """The vectors of the wanted words; `read` as in `open_vectors`.

    Raises:
        InputError: the file is truncated or damaged, or something follows its last word.
    """
    with byte_stream(path, read) as stream:
        header = header_of(stream.until(b"\n", 100, "the first line"))
        if header is None:
            raise InputError(f"{path}: the first line is no header such as `400000 300`. Write the file's `format`.")
        n_words, dimensions = header
        for first in range(0, n_words, _WORDS):
            words, numbers = [], []
            for number in range(first + 1, min(first + _WORDS, n_words) + 1):
                what = f"word {number} of the {n_words} that the first line says"
                # some programs end an entry with a line feed, others do not
                word = stream.until(b" ", _LONGEST, what).lstrip(b"\n")
                words.append(wanted.decode(word, f"{path}: word {number}", may_be_cut=True))
                numbers.append(stream.take(4 * dimensions, what))
            for place, spelled in wanted.among(words).items():
                vector = np.frombuffer(numbers[place], "<f4").astype(np.float32)
                finite(vector, f"{path}: word {first + place + 1} ({words[place]})", vector.tolist())
                wanted.found[spelled] = Found(words[place] or "", vector)
        if stream.next_byte() == b"\n":
            stream.take(1, "the end")
        if not stream.at_end():
            raise InputError(
                f"{path}: something follows word {n_words}, the last that the first line says, at byte {stream.place}."
                " The file is damaged, or of another format: fetch it again, or write its `format`."
            )
    return wanted.result("word2vec-binary", dimensions, n_words)
