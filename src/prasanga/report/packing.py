"""Long parts of the page packed, so that it stays small: a script unpacks them when they are opened."""

from __future__ import annotations

import base64
import gzip

from markupsafe import Markup


def pack(html: str) -> Markup:
    """HTML as gzip in base64, to stand in an attribute.

    Args:
        html: a part of the page, escaped as it is to be shown: it is put into the page as it is.
    """
    # no time goes in, so that the same page comes out
    return Markup(base64.b64encode(gzip.compress(html.encode(), compresslevel=9, mtime=0)).decode())
