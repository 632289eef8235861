"""A file from the network: streamed to disk, checked, and there whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import logging
import urllib.error
import urllib.request
from pathlib import Path
from typing import BinaryIO

from prasanga.base.errors import InputError, reason
from prasanga.base.parquet import replacing
from prasanga.base.progress import BYTES, progress

_PIECE = 1 << 20
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
