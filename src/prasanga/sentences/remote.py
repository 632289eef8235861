"""Parquet files behind a URL: listed, told by a digest that the server gives, read by ranges of bytes, never copied.

`hf://` and `s3://` are file systems of fsspec, whose credentials come from where those libraries look for them: the
token of the hub, the profiles and variables of AWS. `https://` is one file, read without credentials. Nothing else is
opened: a config must not make a run read a file of this machine, or speak to any other service, by an address.

A file counts as another one if the hub's hash of it, its ETag or its size and time are others; they are compared when a
run is planned, and again before and after a job reads.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import ipaddress
import logging
import os
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

import xxhash

from prasanga.base.errors import InputError, reason
from prasanga.base.parquet import replacing
from prasanga.base.progress import BYTES, progress

logger = logging.getLogger(__name__)

PROTOCOLS = ("hf", "s3", "https")

_AHEAD = 1 << 22  # bytes that are asked for at a time
_PATIENCE, _TRIES = 60, 3  # seconds without an answer, and how often it is asked for
_LONGEST = 600  # seconds that what is asked for at a time may take: 7 kB a second
_BUSY = (408, 429)  # answers after which it is asked again, beside those of a server that fails
_HERE = ("127.0.0.1", "localhost", "::1")  # to which a connection needs no encryption


class RemoteFile(NamedTuple):
    """A file as the server describes it: URL, bytes, and a digest of what tells it from others."""

    url: str
    size: int
    digest: str


def is_remote(path: str) -> bool:
    """Return whether this is an address and no path."""
    return "://" in path


def find_remote(pattern: str) -> list[RemoteFile]:
    """Return the Parquet files that a URL names, or a pattern under `hf://` and `s3://`; by name.

    Raises:
        InputError: another protocol, credentials in the URL, no such file, no network, a server without ranges.
    """
    protocol = _require_allowed(pattern)
    if protocol not in ("hf", "s3"):
        file = _Ranges(pattern)
        return [RemoteFile(pattern, file.size, _digest(file.state))]
    with _explaining(pattern):
        found = _file_system(protocol, urlsplit(pattern).netloc).glob(
            pattern.removeprefix(f"{protocol}://"), detail=True
        )
    files = {name: info for name, info in found.items() if info["type"] == "file"}
    if not files:
        raise InputError(
            f"corpus.texts: no file fits {pattern!r}. Write the address of a Parquet file, or a pattern such as"
            " `hf://datasets/owner/name/data/*.parquet`; private files need your token or credentials."
        )
    return [
        RemoteFile(f"{protocol}://{name}", int(info["size"]), _digest(_state_of(info)))
        for name, info in sorted(files.items())
    ]


def open_remote(url: str) -> BinaryIO:
    """Open a file for reading in any order; what is read is fetched as it is asked for.

    Raises:
        InputError: as `find_remote`; while reading, if another file stands there by now.
    """
    protocol = _require_allowed(url)
    if protocol not in ("hf", "s3"):
        return io.BufferedReader(_Ranges(url), _AHEAD)
    with _explaining(url):
        file: BinaryIO = _file_system(protocol, urlsplit(url).netloc).open(url.removeprefix(f"{protocol}://"), "rb")
        return file


def _require_allowed(url: str) -> str:
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in _HERE
    if parts.scheme not in PROTOCOLS and not local:
        raise InputError(
            f"corpus.texts: {url!r} has the protocol {parts.scheme!r}. Read are hf:// (the hub's data sets), s3:// and"
            " https://; fetch other files, and name them by their path."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        shown = f"{parts.scheme}://{parts.hostname}{parts.path}"
        raise InputError(
            f"corpus.texts: the address of {shown!r} has a user, a password, or something after `?` or `#` in it."
            " Results keep what the config says, so secrets must not stand there. Write the address without them;"
            " credentials belong in the environment (docs/my_text.md)."
        )
    if not parts.path.lower().endswith(".parquet"):
        raise InputError(
            f"corpus.texts: {url!r} does not end in .parquet. From the network Parquet alone is read, since its parts"
            " can be fetched one by one; fetch other files, and name them by their path."
        )
    return parts.scheme


@cache
def _file_system(protocol: str, bucket: str) -> Any:
    if protocol == "hf":
        from huggingface_hub import HfFileSystem

        return HfFileSystem(skip_instance_cache=True, use_listings_cache=False)
    from fsspec.implementations.arrow import ArrowFSWrapper  # type: ignore[import-untyped]
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    own = urlsplit(os.getenv("AWS_ENDPOINT_URL_S3") or os.getenv("AWS_ENDPOINT_URL") or "")  # not read by Arrow
    region = os.getenv("AWS_REGION") or os.getenv("AWS_DEFAULT_REGION")
    options = {"endpoint_override": own.netloc, "scheme": own.scheme} if own.netloc else {}
    region = region or (None if own.netloc else resolve_s3_region(bucket))
    return ArrowFSWrapper(S3FileSystem(region=region, **options), skip_instance_cache=True)


def _state_of(info: Mapping[str, Any]) -> str:
    """Return what tells a file from another that stands in its place."""
    large = info.get("lfs") or {}
    own = (large.get("sha256") if isinstance(large, Mapping) else None) or info.get("blob_id") or info.get("mtime")
    return f"{own} {info['size']}"


def _digest(state: str) -> str:
    return xxhash.xxh3_128_hexdigest(state.encode())


@contextmanager
def _explaining(url: str) -> Iterator[None]:
    """Say which address cannot be read, and what to do, whatever a library raises for it."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise out_of_reach(url, reason(error)) from None


def out_of_reach(url: str, why: str) -> InputError:
    """Return what to raise for an address that cannot be read."""
    return InputError(
        f"{url}: cannot be read ({why[:300]}). Is the address right, may you read it, and is there a network? Else"
        " fetch the file, and name it by its path in `corpus.texts`."
    )


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to another address, if that is one that a config may name, and as far out as the server is."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        parts, before = urlsplit(newurl), urlsplit(req.full_url).hostname or ""
        leads_to = f"it leads to {parts.scheme}://{parts.hostname}"
        if parts.scheme != "https" and (parts.hostname not in _HERE or before not in _HERE):
            raise out_of_reach(req.full_url, f"{leads_to}, which is not encrypted")
        if _is_inside(parts.hostname or "") and not _is_inside(before):
            raise out_of_reach(req.full_url, f"{leads_to}, which is this machine or on its own network")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_inside(host: str) -> bool:
    """Return whether a name leads to this machine or its own network, which a server outside must not reach by us."""
    try:
        found = {str(address[0]).partition("%")[0] for *_, address in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False  # known to a proxy alone, or to nobody
    return not all(ipaddress.ip_address(each).is_global for each in found)


class _Ranges(io.RawIOBase):
    """A file behind https, which is asked for range by range."""

    def __init__(self, url: str) -> None:
        self._url, self._at = url, 0
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            _Redirects(),
        ):
            self._opener.add_handler(handler)
        self.size, self.state = 0, ""
        self._fetch(0, 1)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        size = min(len(buffer), self.size - self._at)
        if size <= 0:
            return 0
        data = self._fetch(self._at, size)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _fetch(self, start: int, size: int) -> bytes:
        """Return the bytes from `start` on; what the server says of the file must stay as it was at first."""
        asked = {"Range": f"bytes={start}-{start + size - 1}", "User-Agent": "prasanga", "Accept-Encoding": "identity"}
        request = urllib.request.Request(self._url, headers=asked)
        for tried in range(1, _TRIES + 1):
            try:
                with self._opener.open(request, timeout=_PATIENCE) as response:
                    told_range = response.headers.get("Content-Range") or ""
                    found = re.fullmatch(rf"bytes {start}-\d+/(\d{{1,18}})", told_range, re.ASCII)
                    if response.status != 206 or not found:
                        raise InputError(
                            f"{self._url}: the server does not send parts of a file (ranges of bytes), so that all of"
                            " it would have to be copied. Fetch the file, and name it by its path in `corpus.texts`."
                        )
                    told = response.headers.get("ETag") or response.headers.get("Last-Modified")
                    state = f"{told} {found[1]}"
                    if self.state and state != self.state:
                        raise InputError(f"{self._url}: the file changed while it was read. Run again.")
                    self.size, self.state = int(found[1]), state
                    return _body(response, size)
            except urllib.error.HTTPError as error:
                if (error.code < 500 and error.code not in _BUSY) or tried == _TRIES:  # what is refused stays so
                    raise out_of_reach(self._url, f"{error.code} {error.reason}") from None
            except (OSError, HTTPException) as error:
                if tried == _TRIES:
                    raise out_of_reach(self._url, reason(error)) from None
            time.sleep(tried)
        raise AssertionError("the last try returns or raises")


def _body(response: Any, size: int) -> bytes:
    """Return `size` bytes of an answer; fewer, or some that take too long, are no answer."""
    until, data = time.monotonic() + _LONGEST, bytearray()
    while len(data) < size and (piece := response.read1(size - len(data))):
        data += piece
        if time.monotonic() > until:
            raise TimeoutError(f"{len(data)} of {size} bytes in {_LONGEST} seconds")
    if len(data) < size:
        raise ConnectionError(f"the answer ends after {len(data)} of {size} bytes")
    return bytes(data)


# --------------------
# A file from the network: streamed to disk, checked, and there whole or not at all.

_PIECE = 1 << 20


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
            size, digest = 0, hashlib.sha256()
            expected = response.headers.get("Content-Length")
            told = progress(f"fetching {url}", int(expected) if expected else None, BYTES)
            with temporary.open("wb") as file, told as fetched:
                while piece := response.read(_PIECE):
                    file.write(piece)
                    digest.update(piece)
                    size += len(piece)
                    fetched.advance(len(piece))
            found = digest.hexdigest()
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
