"""Read word vectors (word2vec text and binary, GloVe, fastText), and look up the vectors of a study's words.

A file is read once from the front, and only the requested words' vectors are kept. gensim's readers would hold the
whole file (4 GB for cc.bn.300.bin). Words are compared after `spelling`, so that a file that writes য় as one character
agrees with a study that writes it as two. If several words of a file become equal, the first one counts, because files
are sorted by frequency. A word that a file has only in quotes, or only with ConceptNet Numberbatch's language prefix
(/c/bn/), is also found.

fastText's binary files (.bin) have words with their counts, and vectors of pieces of words (Bojanowski et al. 2017).
The vector of a word is the mean of its own row and the rows of its pieces. A word that the file lacks is the mean of
its pieces.
"""

from __future__ import annotations

import io
import logging
import os
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import regex

from prasanga.base.errors import InputError
from prasanga.base.formats import BYTE_ORDER_MARK, open_decompressed, recognize, refuse
from prasanga.base.io import made_from, open_parquet, read_table, read_where
from prasanga.lexicon.model import Lexicon
from prasanga.text import fold, normalizer

_LOG = logging.getLogger(__name__)

FORMATS = ("auto", "word2vec", "word2vec-binary", "glove", "fasttext")

_HEAD = 1 << 18
_BUFFER = 1 << 14  # the buffer is copied once per word of a binary file
_WORDS_PER_BATCH = 1000
_FASTTEXT_BINARY = (793712314).to_bytes(4, "little")
_FASTTEXT_VERSION, _SUPERVISED = 12, 3
_QUOTED = regex.compile(r"([\"'`])(.+)\1|[“‘«](.+)[”’»]")
_BETWEEN = regex.compile(r"[\s\-\u2010]+")

Vector: TypeAlias = npt.NDArray[np.float32]
Spelling: TypeAlias = Callable[[Sequence[str]], list[str]]
T = TypeVar("T")


class Found(NamedTuple):
    """A word of a file: its spelling there, its vector, and its occurrences in training if the file has them."""

    word: str
    vector: Vector
    occurrences: int | None = None


@dataclass(eq=False)
class WordVectors:
    """The requested vectors.

    Attributes:
        found: by the requested spelling.
        method: the file's format, or the method of a training.
        dimensions: dimensions of a vector.
        n_words: words in the file.
        subwords: by spelling, vectors from pieces for words that the file lacks (fastText's binary files).
    """

    found: dict[str, Found]
    method: str
    dimensions: int
    n_words: int
    subwords: Mapping[str, Vector] = field(default_factory=dict)


# --------------------
# Files of vectors.


def read_vectors(
    path: str | Path,
    wanted: Collection[str],
    *,
    format: str = "auto",
    spelling: Spelling = list,
    from_subwords: Collection[str] = (),
    language: str = "",
) -> WordVectors:
    """Return the vectors of some words.

    Args:
        path: the file, plain or compressed by gzip, zstandard, xz or bzip2.
        wanted: words, in the spelling of `spelling`.
        format: `word2vec` (text, with a first line "words dimensions"), `word2vec-binary`, `glove` (text without that
            line), `fasttext` (.vec, the same as word2vec text, or .bin), or `auto`, which decides by the beginning.
        spelling: normalizes words of the file for comparison, many at once.
        from_subwords: the wanted words that get a vector from their pieces if the file lacks them.
        language: of the wanted words (bn), for a file with words of several languages (/c/bn/...).

    Raises:
        InputError: the file is missing, empty, truncated, damaged or of another format; it lacks all wanted words; or a
            wanted vector has a number that is not finite; with the file, the line, and the value found.
    """
    path, kind = Path(path), find_format(path, format)
    with _open(path) as stream:
        search = _Search(path, stream, frozenset(wanted), spelling, f"/c/{language}/")
        if kind == "fasttext-binary":
            result = _read_fasttext_binary(search, from_subwords)
        elif kind == "word2vec-binary":
            result = _read_word2vec_binary(search)
        else:
            result = _read_text(search, kind)
    if wanted and not result.found and not result.subwords:
        asked, first = (", ".join(map(repr, islice(words, 2))) for words in (wanted, search.first_words))
        remedy = "Write the words in the file's spelling, or name vectors of their language."
        if not language and first.startswith("'/c/"):
            remedy = 'This file has several languages: name the language of the words, such as `language="bn"`.'
        raise InputError(
            f"{path}: 0 of the {len(wanted)} spellings found, such as {asked}. The file's first words are {first}."
            f" {remedy}"
        )
    _LOG.info("%s: %s, %d words of %d dimensions", path, kind, result.n_words, result.dimensions)
    return result


def _open(path: Path) -> io.BufferedReader:
    """Open a file after its byte-order mark, decompressed according to its first bytes."""
    raw: Any = cast(io.BufferedReader, open_decompressed(path)).detach()
    if raw.seekable():
        raw.seek(0)
    stream = io.BufferedReader(raw, _BUFFER)
    if stream.peek(len(BYTE_ORDER_MARK)).startswith(BYTE_ORDER_MARK):
        stream.read(len(BYTE_ORDER_MARK))
    return stream


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(
        f"{path}: {problem}. The file is truncated, damaged or of another format: fetch it again, or write its"
        " `format`."
    )


def find_format(path: str | Path, format: str = "auto") -> str:
    """Return the format of a file by its first bytes: word2vec, word2vec-binary, glove, or fasttext-binary.

    Raises:
        InputError: the file is missing, damaged at its beginning, not of `format`, or not a file of vectors.
    """
    path = Path(path)
    if format not in FORMATS:
        raise InputError(f"format: {format!r} is unknown. Write {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    with _open(path) as stream:
        head = stream.read(_HEAD)
    first, _, rest = head.partition(b"\n")
    fields, header, content = first.split(), _read_header(first), recognize(head, path)
    if head.startswith(_FASTTEXT_BINARY):
        kind = "fasttext-binary"
    elif header:
        numbers = rest.partition(b"\n")[0].split()[-header[1] :]
        has_bytes = any(byte < 32 and byte not in b"\t\r\n" for byte in rest[:4096])
        kind = "word2vec-binary" if has_bytes and not all(map(_is_number, numbers)) else "word2vec"
    elif content.kind != "archive" and len(fields) > 2 and all(map(_is_number, fields[1:])):
        kind = "glove"
    else:
        found = refuse(content).partition(". ")[0] or f"begins with {first[:60].decode(errors='replace')!r}"
        raise InputError(
            f"{path}: the file {found}. Vectors are read from word2vec text and binary, GloVe, fastText .vec and .bin."
            " Line 1 is a header (words and dimensions, such as `400000 300`), or a word with its numbers. Unpack an"
            " archive, save vectors of gensim with `save_word2vec_format`, and write blanks for a table's commas."
        )
    if format not in ("auto", kind) and not (format == "fasttext" and kind in ("word2vec", "fasttext-binary")):
        raise InputError(
            f"{path}: `format` is {format}, but the file begins like {kind} ({head[:24]!r}). Write `format:"
            f" {kind.removesuffix('-binary') if head.startswith(_FASTTEXT_BINARY) else kind}` or `format: auto`."
        )
    return kind


def _read_header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions, if the line is a header."""
    fields = line.split()
    if len(fields) == 2 and all(part.isdigit() and len(part) < 10 for part in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text  # Python reads 1_0 as 10


@dataclass
class _Search:
    """A file that is read from the front, and the words that are asked for in it."""

    path: Path
    stream: io.BufferedReader
    wanted: frozenset[str]
    spelling: Spelling
    prefix: str
    n_words: int = 0
    first_words: list[str] = field(default_factory=list)

    def find(self, entries: Iterable[tuple[bytes, int, T]]) -> dict[str, tuple[str, int, T]]:
        """Return the wanted words, each with its number in the file and its value, by spelling."""
        found: dict[str, tuple[str, int, T]] = {}
        in_quotes: dict[str, tuple[str, int, T]] = {}
        repeated: dict[str, None] = {}
        while batch := list(islice(entries := iter(entries), _WORDS_PER_BATCH)):
            # the word2vec program cuts long words, perhaps within a character
            decoded = [word.decode(errors="replace") for word, *_ in batch]
            stripped = {word: bare for word in decoded if (bare := self._strip(word)) != word}
            inner = dict(zip(stripped, self.spelling([*stripped.values()]), strict=True)) if stripped else {}
            for spelled, word, (_, number, value) in zip(self.spelling(decoded), decoded, batch, strict=True):
                if spelled in self.wanted:
                    if found.setdefault(spelled, (word, number, value))[1] != number:
                        repeated[word] = None
                elif inner.get(word) in self.wanted:
                    in_quotes.setdefault(inner[word], (word, number, value))
            self.first_words += decoded[: 2 - len(self.first_words)]
            self.n_words += len(batch)
        if repeated:
            _LOG.warning("%s: %s: several lines; the first one counts", self.path, ", ".join(repeated))
        return {**in_quotes, **found}

    def _strip(self, word: str) -> str:
        """Return a word without quotes around it and without the prefix of its language."""
        quoted = _QUOTED.fullmatch(word)
        return (quoted[2] or quoted[3] if quoted else word).removeprefix(self.prefix)

    def collect(self, found: dict[str, Found], method: str, dimensions: int, n_words: int) -> WordVectors:
        """Return the result; refuse a file with another number of words than stated, or with non-finite numbers."""
        if self.n_words != n_words:
            kept = f"(if you took some out yourself, write `{self.n_words} {dimensions}`)"
            raise _damaged(self.path, f"its beginning says {n_words} words, but {self.n_words} follow {kept}")
        for word, vector, _ in found.values():
            self.require_finite(word, vector)
        return WordVectors(found, method, dimensions, n_words)

    def require_finite(self, word: str, vector: Vector) -> None:
        """Refuse a vector with a number that is not finite."""
        for place in np.flatnonzero(~np.isfinite(vector)).tolist():
            raise InputError(
                f"{self.path}: in the vector of {word!r}, number {place + 1} of {vector.size} is {vector[place]}, but a"
                " vector has finite numbers. Take the word out of the file, or fetch the file again."
            )

    def take(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes."""
        data = self.stream.read(size)
        if len(data) < size:
            raise _damaged(self.path, f"the file ends within {what}")
        return data

    def skip(self, size: int) -> None:
        """Pass over the next `size` bytes."""
        if self.stream.seekable():
            self.stream.seek(size, os.SEEK_CUR)
        while size > 0 and not self.stream.seekable():
            size -= len(self.stream.read(min(size, _HEAD))) or size

    def take_until(self, end: bytes, what: str) -> bytes:
        """Return the bytes before the next `end` (one byte), and skip it."""
        word = b""
        while (at := (held := self.stream.peek(1)).find(end)) < 0:
            word += self.take(len(held) or 1, what)
        return word + self.stream.read(at + 1)[:-1]

    def unpack(self, format: str, what: str) -> tuple[Any, ...]:
        """Return the next numbers, by a format of `struct`."""
        return struct.unpack(format, self.take(struct.calcsize(format), what))


def _read_text(search: _Search, kind: str) -> WordVectors:
    """Read word2vec text or GloVe: a word and its numbers per line. The last d numbers of a line are its vector."""
    first = search.stream.readline()
    header = _read_header(first) if kind == "word2vec" else None
    dimensions = header[1] if header else len(first.split()) - 1
    lines = enumerate(search.stream if header else chain([first], search.stream), 2 if header else 1)

    def read_line(number: int, line: bytes) -> tuple[bytes, int, list[bytes]]:
        parts = line.split()
        word, values = parts[:-dimensions], parts[-dimensions:]
        if len(parts) == dimensions and line[:1].isspace():
            return b"", number, values  # a word that is white space
        if not word or (len(word) > 1 and b"." in word[-1] and _is_number(word[-1]) and word[-1].strip(b".")):
            first = parts[0][:60].decode(errors="replace")
            problem = f"line {number} has {len(parts) - 1} numbers after {first!r}, where {dimensions} are wanted"
            raise _damaged(search.path, problem)
        return b" ".join(word), number, values

    found = {}
    entries = search.find(read_line(number, line) for number, line in lines if line.strip())
    for spelled, (word, number, values) in entries.items():
        if wrong := next((value.decode(errors="replace") for value in values if not _is_number(value)), ""):
            raise _damaged(search.path, f"line {number}: {wrong!r}, where a number is wanted")
        found[spelled] = Found(word, np.array(values).astype(np.float32))
    return search.collect(found, kind, dimensions, header[0] if header else search.n_words)


def _read_word2vec_binary(search: _Search) -> WordVectors:
    n_words, dimensions = map(int, search.stream.readline().split())

    def read_entry(number: int) -> tuple[bytes, int, bytes]:
        word = search.take_until(b" ", "its words").lstrip(b"\n")  # some programs end an entry with a line feed
        return word, number, search.take(4 * dimensions, "its vectors")

    entries = search.find(map(read_entry, range(n_words)))
    search.n_words += bool(search.stream.read(_BUFFER).strip(b"\n"))  # more follows
    found = {spelled: Found(word, _unpack_row(row)) for spelled, (word, _, row) in entries.items()}
    return search.collect(found, "word2vec-binary", dimensions, n_words)


def _unpack_row(row: bytes) -> Vector:
    return np.frombuffer(row, "<f4").astype(np.float32)


def _read_fasttext_binary(search: _Search, from_subwords: Collection[str]) -> WordVectors:
    from gensim.models.fasttext import ft_ngram_hashes  # cuts and hashes words as fastText's program does

    _, version, dimensions, *_, model, buckets, shortest, longest, _ = search.unpack("<14i", "the file's settings")
    _, n_words, _, _, _, n_pruned = search.unpack("<d3i2q", "the file's settings")

    def read_entry(row: int) -> tuple[bytes, int, int]:
        word = search.take_until(b"\0", "the list of words")
        count, _ = search.unpack("<qb", "the list of words")
        return word, row, count

    entries = search.find(map(read_entry, range(n_words)))
    is_quantized, n_rows, _ = search.unpack("<b2q", "the vectors")
    if version != _FASTTEXT_VERSION or model == _SUPERVISED or n_pruned > 0 or is_quantized:
        raise InputError(
            f"{search.path}: fastText's version {version}, a classifier, or quantized (.ftz). Only word vectors of"
            f" version {_FASTTEXT_VERSION} are read. Fetch the .vec file."
        )

    def list_pieces(word: str) -> list[int]:
        if n_rows == n_words or word == "</s>":
            return []
        return [n_words + value for value in ft_ngram_hashes(word, max(shortest, 1), longest, buckets)]

    rows_by_word = {spelled: [row, *list_pieces(word)] for spelled, (word, row, _) in entries.items()}
    rows_by_word |= {word: list_pieces(word) for word in set(from_subwords) - entries.keys()}
    rows, following = dict[int, Vector](), 0
    for row in sorted({row for needed in rows_by_word.values() for row in needed}):
        search.skip(4 * dimensions * (row - following))
        rows[row], following = _unpack_row(search.take(4 * dimensions, "the vectors")), row + 1
    means: dict[str, Vector] = {}
    for word, needed in rows_by_word.items():
        if needed:
            means[word] = np.stack([rows[row] for row in needed]).mean(axis=0, dtype=np.float64).astype(np.float32)
            search.require_finite(word, means[word])
    found = {spelled: Found(word, means[spelled], count) for spelled, (word, _, count) in entries.items()}
    result = search.collect(found, "fasttext", dimensions, n_words)
    result.subwords = {word: mean for word, mean in means.items() if word not in entries}
    return result


# --------------------
# The vectors of a study's words, looked up among the words of a file or of a training.
#
# `dictionary` uses a word as in its word set, or its first spelling variant with a vector. `pooled` uses the mean over
# all its inflected forms with vectors, because text often inflects a word; the weights are the numbers of occurrences
# in training, if known. A stimulus of several words has a vector only if the file has it as one (with spaces, or `_`
# between its parts): a mean of its parts would be another word's vector.


class Spellings(NamedTuple):
    """The spellings under which a stimulus is looked up.

    Attributes:
        stimulus: its name.
        variants: other spellings of the word itself.
        forms: all its forms in running text, inflected ones and variants too.
    """

    stimulus: str
    variants: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


def spellings_of(lexicon: Lexicon) -> list[Spellings]:
    """Return the spellings of every stimulus of a study, in the lexicon's order.

    Spellings whose hits in text go to another stimulus, or to none, are left out; the stimulus's own name never is.
    """
    claims = lexicon.claims()
    forms: dict[str, dict[str, None]] = {stimulus.name: {} for stimulus in lexicon.stimuli}
    for form in lexicon.forms:
        if form.stimulus in claims.get(fold(form.form), ()):
            forms[form.stimulus][form.form] = None
    return [
        Spellings(
            stimulus.name,
            # words that are looked for in templates only claim nothing
            tuple(v for v in stimulus.variants if stimulus.name in claims.get(fold(v), (stimulus.name,))),
            tuple(forms[stimulus.name]),
        )
        for stimulus in lexicon.stimuli
    ]


def wanted_spellings(stimuli: Sequence[Spellings], forms: str) -> list[str]:
    """Return all spellings that `look_up` will ask for, each once."""
    asked: dict[str, None] = {}
    for each in stimuli:
        for spelling in (each.stimulus, *each.variants, *(each.forms if forms == "pooled" else ())):
            asked.update(dict.fromkeys(_as_in_files(spelling)))
    return list(asked)


def look_up(stimuli: Sequence[Spellings], vectors: WordVectors, forms: str = "dictionary") -> pa.Table:
    """Return one row per stimulus, in order: its vector, or the reason why it has none.

    Columns: stimulus; forms, the words found, as the file writes them; count, how often they occurred in training (null
    if the file does not say); n_forms; source, `word`, `variant`, `forms` (pooled) or `subwords`; vector, a fixed-size
    list of float32 or null; reason, null where there is a vector.

    Args:
        stimuli: the words to look up.
        vectors: read with `wanted_spellings(stimuli, forms)`.
        forms: `dictionary` or `pooled` (see the module).
    """
    rows = [_row(each, vectors, forms) for each in stimuli]
    types = {
        **{"stimulus": pa.string(), "forms": pa.list_(pa.string()), "count": pa.int64(), "n_forms": pa.int64()},
        **{"source": pa.string(), "vector": pa.list_(pa.float32(), vectors.dimensions), "reason": pa.string()},
    }
    return pa.Table.from_pylist(rows, schema=pa.schema(types))


def read_looked_up(path: str | Path) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, str]]:
    """Read the vector of each stimulus that has one, and the reason of each that has none, from a table of `look_up`.

    Raises:
        InputError: the table is absent or damaged.
    """
    rows = read_table(path, ["stimulus", "vector", "reason"]).to_pylist()
    vectors = {row["stimulus"]: np.array(row["vector"], np.float32) for row in rows if row["vector"] is not None}
    return vectors, {row["stimulus"]: row["reason"] for row in rows if row["vector"] is None}


def _row(each: Spellings, vectors: WordVectors, forms: str) -> dict[str, Any]:
    is_pooled = forms == "pooled"
    spellings = (each.stimulus, *each.variants, *(each.forms if is_pooled else ()))
    in_file = [_find_in_file(spelling, vectors.found) for spelling in spellings]
    found = list(dict(filter(None, in_file)).values())[: None if is_pooled else 1]  # each of the file's words once
    row: dict[str, Any] = {"stimulus": each.stimulus, "forms": [word.word for word in found], "n_forms": len(found)}
    if not found:
        vector = vectors.subwords.get(fold(each.stimulus))
        if vector is None or _BETWEEN.search(each.stimulus):
            return {**row, "reason": _explain_absence(each, forms)}
        return {**row, "source": "subwords", "vector": vector}
    counts: list[int] = [word.occurrences for word in found if word.occurrences is not None]
    known, total = len(counts) == len(found), sum(counts)
    stacked = np.stack([word.vector for word in found]).astype(np.float64)
    vector = np.asarray(np.average(stacked, axis=0, weights=counts if known and total else None), dtype=np.float32)
    if not vector.any():
        return {**row, "forms": [], "n_forms": 0, "reason": "out of vocabulary: its vector is zero in every number"}
    source = "forms" if is_pooled else "word" if in_file[0] else "variant"
    return {**row, "count": total if known else None, "source": source, "vector": vector}


def _find_in_file(spelling: str, found: Mapping[str, Found]) -> tuple[str, Found] | None:
    return next(((asked, found[asked]) for asked in _as_in_files(spelling) if asked in found), None)


def _as_in_files(spelling: str) -> Iterator[str]:
    """Yield how files may write a word: as it is, lower-cased, and its parts joined."""
    folded = fold(spelling)
    joined = _BETWEEN.sub("_", folded)
    yield from dict.fromkeys([folded, folded.lower(), joined, joined.lower()])


def _explain_absence(each: Spellings, forms: str) -> str:
    if _BETWEEN.search(each.stimulus):
        return "out of vocabulary: several words, which the vectors do not have as one"
    if forms == "pooled":
        return f"out of vocabulary: none of its {len({each.stimulus, *each.forms})} forms"
    variants = len(each.variants)
    return "out of vocabulary" + (f": neither it nor one of its {variants} variants" if variants else "")


def read_trained(path: str | Path, wanted: Collection[str]) -> WordVectors:
    """Read the vectors of some words from the file of a training.

    Args:
        path: a file with `trained_table`, whose metadata have `method` (word2vec, glove).
        wanted: the words, spelled as in training.

    Raises:
        InputError: the file is absent or damaged.
    """
    table = read_where(path, ["word", "count", "vector"], "word", wanted)
    dimensions, n_words = table.schema.field("vector").type.list_size, open_parquet(path).metadata.num_rows
    found = {
        row["word"]: Found(row["word"], np.array(row["vector"], np.float32), row["count"]) for row in table.to_pylist()
    }
    return WordVectors(found, made_from(path).get("method", ""), dimensions, n_words)


def look_up_stimuli(
    stimuli: Sequence[Spellings],
    forms: str,
    *,
    trained: str | Path | None = None,
    file: str | Path | None = None,
    format: str = "auto",
    normalization: str = "none",
    language: str = "",
) -> tuple[pa.Table, str]:
    """Look up a study's words in a training of the study or in a file.

    Args:
        stimuli: the words.
        forms: `dictionary` or `pooled`.
        trained: a table of `trained_table`.
        file: without `trained`, a file of one of `FORMATS`.
        format: of the file.
        normalization: of the study; the file's words are compared in its spelling.
        language: of the study, for a file with words of several languages.

    Returns:
        The table of `look_up`, and the file's format or the method of the training.

    Raises:
        InputError: as `read_trained` and `read_vectors`.
    """
    wanted, normalize = wanted_spellings(stimuli, forms), normalizer(normalization)

    def write_as_study(words: Sequence[str]) -> list[str]:
        return [fold(word) for word in normalize(words)]

    if trained:
        vectors = read_trained(trained, wanted)
    else:
        single = [fold(each.stimulus) for each in stimuli if not _BETWEEN.search(each.stimulus)]
        options: dict[str, Any] = {"format": format, "spelling": write_as_study, "language": language}
        vectors = read_vectors(str(file), wanted, from_subwords=single, **options)
    return look_up(stimuli, vectors, forms), vectors.method
