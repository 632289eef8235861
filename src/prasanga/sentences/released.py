"""What authors released, fetched and read: sentences by word, as the program of Sadhu et al. (2024) keeps them.

That is a pickle `{word: [sentence]}`, or a file a word.

A pickle is a program, which can call anything when Python's own reader runs it. This reader runs a small part of that
language: what makes a dict, a list or a str, and nothing else. Whatever comes beside it is refused by name, before it
has any effect; nothing is ever imported or called. Lengths are believed only as far as the file has bytes.
"""

from __future__ import annotations

import hashlib
import http.client
import logging
import pickle
import pickletools
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from prasanga.base.errors import InputError, reason
from prasanga.base.parquet import replacing
from prasanga.base.progress import BYTES, progress
from prasanga.sentences.corpus import COMPRESSED, INFLATION, open_decompressed

MOST_BYTES = 8 * 10**9
"""What a pickle may come to: all of it is held in memory, in two thirds of the bytes where the text is Bangla."""

_MARK = object()
_PIECE = 1 << 20
_LONGEST_NUMBER = 20  # digits of a place in protocol 0, its line end included
_PASSED_OVER = {pickle.PROTO: 1, pickle.FRAME: 8}  # bytes after what says nothing about the content
_TEXTS = {pickle.SHORT_BINUNICODE: 1, pickle.BINUNICODE: 4, pickle.BINUNICODE8: 8}
_PUT = {pickle.BINPUT: 1, pickle.LONG_BINPUT: 4, pickle.PUT: 0}
_GET = {pickle.BINGET: 1, pickle.LONG_BINGET: 4, pickle.GET: 0}

_NOT_THAT = (
    " A pickle of sentences holds `{word: [sentence, ...]}`, of dict, list and str alone. Nothing of it was run. Write"
    " the sentences as a table (`format: extracted`), or as a text file for each word (`format: word`)."
)


def word_of(path: str | Path) -> str:
    """Return the word that a file of its sentences is named after: `ফুল` of `sentences/ফুল.txt.gz`."""
    name = PurePath(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return PurePath(name).stem.strip()


def read_pickle(
    path: str | Path,
    read: Callable[[int], object] | None = None,
    inflation: int = INFLATION,
    most_bytes: int = MOST_BYTES,
) -> Iterator[tuple[str, str]]:
    """Yield (word, sentence) of a pickle `{word: [sentence, ...]}`, in its order.

    Args:
        path: the file, of any protocol of Python 3; it may be compressed (`open_decompressed`).
        read: told, whenever bytes have been read from the disk, how many.
        inflation: how many times its size on the disk it may come to.
        most_bytes: how many bytes it may come to in any case.

    Raises:
        InputError: there is anything but dict, list and str in it, or these in another order than said; it is
            truncated, damaged, too large, or followed by something; the message names the file and the byte.
    """
    path = Path(path)
    with open_decompressed(path, read, inflation=inflation) as stream:
        content = _Reader(path, stream, most_bytes).content()
    if not isinstance(content, dict):
        raise InputError(f"{path}: a pickle of a {type(content).__name__}." + _NOT_THAT)
    for word, sentences in content.items():
        if not isinstance(word, str) or not isinstance(sentences, list):
            found = f"{_kind(word)} with {_kind(sentences)}"
            raise InputError(f"{path}: its dict has {found}, where a word with its list is wanted." + _NOT_THAT)
        for number, sentence in enumerate(sentences):
            if not isinstance(sentence, str):
                raise InputError(
                    f"{path}: number {number} (from 0) in the list of {word[:60]!r} is {_kind(sentence)}." + _NOT_THAT
                )
    yield from ((word, sentence) for word, sentences in content.items() for sentence in sentences)


class _Reader:
    """A machine with a stack that knows dict, list and str."""

    def __init__(self, path: Path, stream: BinaryIO, most_bytes: int) -> None:
        self._path, self._stream, self._most = path, stream, most_bytes
        self._at = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def content(self) -> Any:
        """Run the file to its end and return what it has made."""
        while (instruction := self._bytes(1)) != pickle.STOP:
            self._run(instruction)
        found = self._pop(object)
        if self._stack or self._stream.read(1):
            raise self._wrong("the pickle ends, and something is left over")
        return found

    def _run(self, instruction: bytes) -> None:
        stack = self._stack
        if instruction in _PASSED_OVER:
            self._bytes(_PASSED_OVER[instruction])
        elif instruction in _TEXTS:
            stack.append(self._text(self._bytes(self._number(_TEXTS[instruction])), "utf-8"))
        elif instruction == pickle.UNICODE:
            stack.append(self._text(self._line(), "raw-unicode-escape"))
        elif instruction == pickle.MARK:
            stack.append(_MARK)
        elif instruction in (pickle.EMPTY_DICT, pickle.EMPTY_LIST):
            stack.append({} if instruction == pickle.EMPTY_DICT else [])
        elif instruction == pickle.DICT:
            stack.append(self._pairs(self._after_mark()))
        elif instruction == pickle.LIST:
            stack.append(self._after_mark())
        elif instruction in (pickle.APPEND, pickle.APPENDS):
            items = [self._pop(object)] if instruction == pickle.APPEND else self._after_mark()
            self._top(list).extend(items)
        elif instruction in (pickle.SETITEM, pickle.SETITEMS):
            items = (
                [self._pop(object), self._pop(object)][::-1] if instruction == pickle.SETITEM else self._after_mark()
            )
            self._top(dict).update(self._pairs(items))
        elif instruction == pickle.MEMOIZE:
            self._memo[len(self._memo)] = self._top(object)
        elif instruction in _PUT:
            self._memo[self._number(_PUT[instruction])] = self._top(object)
        elif instruction in _GET:
            number = self._number(_GET[instruction])
            if number not in self._memo:
                raise self._wrong(f"it takes up what it has kept under {number}, and there is nothing")
            stack.append(self._memo[number])
        else:
            known = {opcode.code: opcode.name for opcode in pickletools.opcodes}.get(instruction.decode("latin-1"))
            name = f"the instruction {known}" if known else f"{instruction!r}, which is no instruction"
            raise self._wrong(f"it has {name}")

    def _pop(self, kind: type) -> Any:
        self._top(kind)
        return self._stack.pop()

    def _top(self, kind: type) -> Any:
        if not self._stack or self._stack[-1] is _MARK or not isinstance(self._stack[-1], kind):
            raise self._wrong(f"a {'value' if kind is object else kind.__name__} is wanted, and there is none")
        return self._stack[-1]

    def _after_mark(self) -> list[Any]:
        items: list[Any] = []
        while self._stack and self._stack[-1] is not _MARK:
            items.append(self._stack.pop())
        if not self._stack:
            raise self._wrong("a mark is wanted, and there is none")
        self._stack.pop()
        return items[::-1]

    def _pairs(self, items: list[Any]) -> dict[str, Any]:
        if len(items) % 2 or not all(isinstance(key, str) for key in items[::2]):
            raise self._wrong("a dict has a key that is no text, or one without a value")
        return dict(zip(items[::2], items[1::2], strict=True))

    def _number(self, size: int) -> int:
        """Return a number of so many bytes, or for 0 that of a line of digits."""
        if size:
            return int.from_bytes(self._bytes(size), "little")
        line = self._line(_LONGEST_NUMBER)
        if not line.isdigit():
            raise self._wrong(f"{line[:20]!r} is no number")
        return int(line)

    def _text(self, raw: bytes, encoding: str) -> str:
        try:
            text = raw.decode(encoding)
            text.encode()  # half of a character, which the pickle of a text may hold, is no text
        except UnicodeError:
            raise self._wrong("a text is not UTF-8") from None
        return text

    def _line(self, longest: int = -1) -> bytes:
        line = self._stream.readline(longest if longest > 0 else self._most)
        self._count(len(line))
        if not line.endswith(b"\n"):
            raise self._wrong("it ends in the middle of a line, or the line is too long")
        return line[:-1]

    def _bytes(self, size: int) -> bytes:
        """Return so many bytes; memory is taken as they come, whatever number the file names."""
        parts = []
        while size > 0 and (part := self._stream.read(min(size, _PIECE))):
            self._count(len(part))
            parts.append(part)
            size -= len(part)
        if size > 0:
            raise self._wrong("it ends too early. Fetch it again")
        return b"".join(parts)

    def _count(self, size: int) -> None:
        self._at += size
        if self._at > self._most:
            raise InputError(
                f"{self._path}: it comes to more than {self._most / 1e9:g} GB, more than a pickle may. Write a text"
                " file for each word (`format: word`)."
            )

    def _wrong(self, what: str) -> InputError:
        return InputError(f"{self._path}: not the pickle that it should be, at byte {self._at}: {what}." + _NOT_THAT)


def _kind(value: object) -> str:
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "a dict"}
    return kinds.get(type(value), "something else")


# --------------------
# A file from the network: streamed to disk, checked, and there whole or not at all.

_PATIENCE = 60  # seconds without a byte

logger = logging.getLogger(__name__)


def fetch(url: str, target: str | Path, sha256: str | None = None) -> str:
    """Download a file.

    Args:
        url: an address with http or https.
        target: where the file comes to lie; one that lies there is replaced when the new one is whole.
        sha256: what the content must have, in hexadecimal; None takes any.

    Returns:
        The sha256 of the content, so that it can be given the next time.

    Raises:
        InputError: if the address is no such address, cannot be reached, has no file, ends too early, or has other
            content than `sha256`.
    """
    if not url.startswith(("https://", "http://")):
        raise InputError(f"{url!r} is no address to fetch from; it must begin with https:// or http://.")
    request = urllib.request.Request(url, headers={"User-Agent": "prasanga"})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as response, replacing(target) as temporary:
            with temporary.open("wb") as file:
                size, found = _copy(response, file, url)
            expected = response.headers.get("Content-Length")
            if expected is not None and int(expected) != size:
                raise InputError(f"{url}: the connection ended after {size} of {expected} bytes. Try again.")
            if sha256 is not None and found != sha256.lower():
                raise InputError(
                    f"{url}: the content has the sha256 {found}, but {sha256.lower()} is wanted. The file there is"
                    " another one by now, or was changed on its way. Nothing was kept; find out why before you write"
                    " the new sha256."
                )
    except urllib.error.HTTPError as error:
        raise InputError(
            f"{url}: the server answers {error.code} ({error.reason}). Open the address in a browser to see whether the"
            " file has moved or wants a login, and correct it."
        ) from None
    except urllib.error.URLError as error:
        raise InputError(
            f"{url}: cannot be reached ({error.reason}). Is there a network here? If not, fetch the file elsewhere and"
            f" put it at {target}."
        ) from None
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise InputError(f"{url}: the connection broke ({type(error).__name__}: {reason(error)}). Try again.") from None
    logger.info("%s: %d bytes, sha256 %s.", url, size, found)
    return found


def _copy(source: http.client.HTTPResponse, target: BinaryIO, url: str) -> tuple[int, str]:
    """Copy to the end; the number of bytes and their sha256."""
    size, digest = 0, hashlib.sha256()
    expected = source.headers.get("Content-Length")
    with progress(f"fetching {url}", int(expected) if expected else None, BYTES) as fetched:
        while piece := source.read(_PIECE):
            target.write(piece)
            digest.update(piece)
            size += len(piece)
            fetched.advance(len(piece))
    return size, digest.hexdigest()
