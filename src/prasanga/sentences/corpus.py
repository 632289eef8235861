"""Read corpus files and their parts: lines of plain or compressed files, and local or remote Parquet."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from fsspec.spec import AbstractBufferedFile  # type: ignore[import-untyped]

from prasanga.base.errors import InputError, reason
from prasanga.base.formats import BYTE_ORDER_MARK, open_decompressed, open_file
from prasanga.base.io import replacing, sha256_of_file

logger = logging.getLogger(__name__)

Errors = Literal["stop", "skip-line"]
Format = Literal["text", "jsonl", "json", "table", "conllu", "parquet", "dataset", "extracted", "pickle", "word"]

LONGEST_LINE = 1 << 26
"""Bytes of the longest line that is read: memory holds a line several times."""

_BUFFER = 1 << 20


class Shard(NamedTuple):
    """A corpus file or a part of one, for one job.

    Attributes:
        path: the file, relative to the working directory; or its URL.
        source: the file, relative to the root of the corpus; its name in the results, whatever the part.
        documents: the end of a document of plain text (blank-line, line, file).
        format: how the file is read.
        field: field or column with the text, in jsonl, json, table, parquet and dataset.
        columns: columns with the stimulus and the sentence, in an extracted table.
        start: first byte of the part, which has the lines that begin from `start` to before `end`; row-group number in
            parquet.
        end: the byte after its last; None for the end of the file.
        text: number of its entry in the config, from 0.
        size: bytes of the whole file at planning; None if unknown.
        share: about how many bytes of the file are in the part; None for a whole file.
        state: the server's hash, tag or time of a remote file.
    """

    path: str
    source: str
    documents: str
    format: Format = "text"
    field: str = "text"
    columns: tuple[str, str] = ("word", "sentence")
    start: int = 0
    end: int | None = None
    text: int = 0
    size: int | None = None
    share: int | None = None
    state: str = ""

    @property
    def is_whole(self) -> bool:
        """Return whether this is a whole file."""
        return self.start == 0 and self.end is None

    @property
    def bytes_on_disk(self) -> int:
        """Return about how many bytes of the file are read; 0 if unknown."""
        return self.share or self.size or 0

    def whole(self) -> Shard:
        """Return the whole file."""
        return self._replace(start=0, end=None, share=None)

    def digest(self) -> dict[str, str]:
        """Return the xxh3_128 (32 hex digits) of the bytes that the job reads, by path (and place, for a part).

        For a remote file it is a digest of its state.
        """
        name = self.path if self.is_whole else f"{self.path}, {self.start} to {self.end or 'the end'}"
        if is_remote(self.path):
            return {name: xxhash.xxh3_128_hexdigest(self.state.encode())}
        found = xxhash.xxh3_128()
        with open_columns(self.path) as file:
            start, end = self.start, self.end
            if self.format == "parquet" and not self.is_whole:
                metadata = pq.read_metadata(file)
                first = (metadata.row_group(number).column(0) for number in range(metadata.num_row_groups))
                places = [chunk.dictionary_page_offset or chunk.data_page_offset for chunk in first]
                start, end = places[start], end and places[end]
            file.seek(start)
            while piece := file.read(_BUFFER if end is None else min(_BUFFER, end - file.tell())):
                found.update(piece)
        return {name: found.hexdigest()}


@dataclass
class ReadingReport:
    """Counts of everything read: all lines and bytes of the source, including blank and skipped lines."""

    bytes: int = 0
    lines: int = 0
    skipped_lines: int = 0
    documents: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


def read_lines(path: Path, report: ReadingReport) -> Iterator[tuple[int, int, bytes]]:
    """Yield the number of each line (from 1), its byte offset, and its bytes without a byte order mark.

    Raises:
        InputError: a line is longer than `LONGEST_LINE`, or the file cannot be read.
    """
    offset = line = 0
    with open_decompressed(path) as stream:
        while raw := stream.readline(LONGEST_LINE + 1):
            if len(raw) > LONGEST_LINE:
                raise too_long(path, offset)
            line += 1
            report.lines += 1
            report.bytes += len(raw)
            data = raw.removeprefix(BYTE_ORDER_MARK) if line == 1 else raw
            yield line, offset + len(raw) - len(data), data
            offset += len(raw)


def too_long(path: Path, offset: int) -> InputError:
    """Return the error for a line of more than `LONGEST_LINE` bytes that begins at `offset`."""
    return InputError(
        f"{path}: the line that begins at byte {offset} of the decompressed text has more than {LONGEST_LINE} bytes."
        " Break it into lines, for example by paragraph; a JSON file needs one object per line."
    )


def describe_not_utf8(at: int, line: int, error: UnicodeDecodeError) -> str:
    """Return what is wrong with a line that is not UTF-8 from byte `at` of the whole text, and the remedy."""
    shown = error.object[error.start : error.start + 8].hex(" ")
    return (
        f"not UTF-8 at byte {at} of the decompressed text (line {line}): found the bytes {shown}."
        " Convert the file to UTF-8, or write `corpus.errors: skip-line` to leave such lines out and count them."
    )


# --------------------
# Parquet files behind a URL: listed, identified by the server's description, and read by byte ranges.
#
# `hf://` and `s3://` are file systems of fsspec, which find credentials where their libraries look for them. `https://`
# is one file, read without credentials.

_AHEAD = 1 << 22  # bytes per request
_PATIENCE = 60  # seconds without an answer
_PAUSES = (0.5, 1.0)  # seconds before a failed request is repeated


class RemoteFile(NamedTuple):
    """A remote file: URL, bytes, and the hub's hash, an ETag, or a time."""

    url: str
    size: int
    state: str


def is_remote(path: str) -> bool:
    """Return whether this is a URL, not a path."""
    return "://" in path


def find_remote(pattern: str) -> list[RemoteFile]:
    """Return the Parquet files that a URL, or a pattern under `hf://` and `s3://`, names; sorted by name.

    Raises:
        InputError: another protocol, credentials in the URL, no such file, no network, a server without ranges.
    """
    address = urlsplit(pattern)
    if (
        address.scheme not in ("hf", "s3", "https", "http")
        or not address.path.lower().endswith(".parquet")
        or address.username
        or address.query
    ):
        raise InputError(
            f"corpus.texts: the address {address.scheme}://{address.hostname}{address.path} cannot be read. Write the"
            " address of a Parquet file with hf://, s3:// or https://, without credentials (which belong in the"
            " environment, because results keep the config) and without `?`. Fetch other files, and name their path."
        )
    with explaining(pattern):
        if address.scheme.startswith("http"):
            file = _HttpFile(pattern)
            return [RemoteFile(pattern, file.size, file.state)]
        found = _file_system(address.scheme).glob(pattern.partition("://")[2], detail=True)
    files = sorted((name, info) for name, info in found.items() if info["type"] == "file")
    if not files:
        raise InputError(
            f"corpus.texts: no file fits {pattern!r}. Write the address of a Parquet file, or a pattern such as"
            " `hf://datasets/owner/name/data/*.parquet`; private files need your token or credentials."
        )
    return [RemoteFile(f"{address.scheme}://{name}", int(info["size"]), _state_of(info)) for name, info in files]


def open_columns(path: str) -> BinaryIO:
    """Open a Parquet or Arrow file on this machine or behind a URL that `find_remote` allows; raise InputError.

    The bytes of a remote file are fetched on demand.
    """
    scheme, is_address, name = path.partition("://")
    if not is_address:
        return open_file(path)
    with explaining(path):
        return cast(BinaryIO, _HttpFile(path) if scheme.startswith("http") else _file_system(scheme).open(name, "rb"))


@contextmanager
def explaining(path: str) -> Iterator[None]:
    """Name the file or URL that a library cannot read, and say what to do."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if not is_remote(path) and not isinstance(error, (OSError, pa.ArrowException, ValueError)):
            raise
        raise InputError(
            f"{path}: cannot be read as Parquet or Arrow ({reason(error)[:300]}). If it is truncated, fetch it again;"
            " otherwise correct its name or its `format:` in `corpus.texts`."
        ) from None


@cache
def _file_system(protocol: str) -> Any:
    if protocol == "hf":
        from huggingface_hub import HfFileSystem

        return HfFileSystem(skip_instance_cache=True, use_listings_cache=False)
    from fsspec.implementations.arrow import ArrowFSWrapper  # type: ignore[import-untyped]
    from pyarrow.fs import S3FileSystem

    own = urlsplit(os.getenv("AWS_ENDPOINT_URL_S3") or os.getenv("AWS_ENDPOINT_URL") or "")  # not read by Arrow
    options = {"endpoint_override": own.netloc, "scheme": own.scheme} if own.netloc else {}
    region = os.getenv("AWS_REGION") or os.getenv("AWS_DEFAULT_REGION")
    return ArrowFSWrapper(S3FileSystem(region=region, **options), skip_instance_cache=True)


def _state_of(info: Mapping[str, Any]) -> str:
    large = info.get("lfs") or {}
    state = large.get("sha256") or info.get("blob_id") or info.get("ETag") or info.get("mtime")
    return f"{state} {info['size']}"


class _HttpFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file behind https, read by byte ranges; failed requests are repeated."""

    def __init__(self, url: str) -> None:
        self.path = url
        headers, _ = self._request(0, 1)
        size = int(headers["Content-Range"].rpartition("/")[2])
        self.state = f"{headers.get('ETag') or headers.get('Last-Modified')} {size}"
        super().__init__(None, url, size=size, block_size=_AHEAD)

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self._request(start, end)[1]

    def _request(self, start: int, end: int) -> tuple[Mapping[str, str], bytes]:
        for pause in (*_PAUSES, 0.0):
            try:
                with _open(self.path, Range=f"bytes={start}-{end - 1}") as answer:
                    status, headers, content = answer.status, answer.headers, answer.read()
                break
            except (OSError, HTTPException) as error:
                if not pause or (isinstance(error, HTTPError) and error.code < 500):
                    raise
                time.sleep(pause)
        if status != 206:
            raise InputError(
                f"{self.path}: the server does not send parts of a file (ranges of bytes). Fetch the file, and name it"
                " by its path in `corpus.texts`."
            )
        return headers, content


def _open(url: str, **headers: str) -> Any:
    return urlopen(Request(url, headers={"User-Agent": "prasanga", **headers}), timeout=_PATIENCE)


def fetch(url: str, target: str | Path, sha256: str | None = None) -> str:
    """Download a file, whole or not at all.

    Args:
        url: an address with http or https.
        target: the path; an existing file is replaced by the complete new one.
        sha256: of the content, in hexadecimal; None allows any content.

    Returns:
        The sha256 of the content.

    Raises:
        InputError: the address is unreachable, lacks the file, ends too early, or has other content than `sha256`.
    """
    if not url.startswith(("https://", "http://")):
        raise InputError(f"{url!r} is not an address to fetch from. Write one that begins with https:// or http://.")
    try:
        with _open(url) as answer, replacing(target) as temporary:
            with temporary.open("wb") as file:
                shutil.copyfileobj(answer, file)
            found, size, expected = (
                sha256_of_file(temporary),
                temporary.stat().st_size,
                answer.headers["Content-Length"],
            )
            if expected is not None and int(expected) != size:
                raise InputError(f"{url}: the connection ended after {size} of {expected} bytes. Try again.")
            if sha256 is not None and found != sha256.lower():
                raise InputError(
                    f"{url}: the content has the sha256 {found}, not {sha256.lower()}: the file has changed and was not"
                    " kept. Find out why before you write the new sha256."
                )
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{url}: cannot be fetched ({reason(error)}). Open the address in a browser to see whether the file has"
            f" moved or needs a login. If there is no network here, fetch it elsewhere and put it at {target}."
        ) from None
    logger.info("%s: sha256 %s.", url, found)
    return found
