"""Fetching a file, from a server on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.sentences.remote import fetch

CONTENT = "শব্দ,বাক্য\n".encode() * 100_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/whole")
            self.end_headers()
        elif self.path in ("/whole", "/cut", "/chunked"):
            self.send_response(200)
            if self.path == "/chunked":
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            begin = b"%x\r\n" % len(CONTENT) if self.path == "/chunked" else b""  # whose end never comes
            self.wfile.write(begin + (CONTENT if self.path == "/whole" else CONTENT[:1_000_000]))
        else:
            self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


@pytest.mark.parametrize("page", ["whole", "moved"])
def test_the_file_and_its_digest(server: str, tmp_path: Path, page: str) -> None:
    target = tmp_path / "new" / "folder" / "released.csv"
    assert fetch(f"{server}/{page}", target) == SHA256
    assert target.read_bytes() == CONTENT
    assert fetch(f"{server}/{page}", target, SHA256.upper()) == SHA256


@pytest.mark.parametrize(
    ("page", "sha256", "message"),
    [
        ("absent", None, r"/absent: the server answers 404 \(Not Found\)"),
        ("whole", "0" * 64, f"the content has the sha256 {SHA256}, but 0{{64}} is wanted"),
        ("cut", None, rf"the connection (ended after 1000000 of {len(CONTENT)} bytes|broke)"),
        ("chunked", None, "the connection broke"),
    ],
)
def test_what_goes_wrong_leaves_the_old_file(
    server: str, tmp_path: Path, page: str, sha256: str | None, message: str
) -> None:
    target = tmp_path / "released.csv"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        fetch(f"{server}/{page}", target, sha256)
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_network_says_where_to_put_the_file(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as unused:
        port = unused.server_address[1]
    with pytest.raises(InputError, match=r"cannot be reached \(.*refused.*put it at .*released\.csv"):
        fetch(f"http://127.0.0.1:{port}/whole", tmp_path / "released.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["file:///etc/hosts", "released.csv", "ftp://example.org/x"])
def test_other_addresses_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="must begin with https://"):
        fetch(url, tmp_path / "x")
