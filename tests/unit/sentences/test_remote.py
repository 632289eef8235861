"""Parquet behind a URL: a server on this machine that speaks as the hub, as S3, and as any web server."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.base.errors import InputError
from prasanga.sentences import Shard, columns, find_shards, read_texts, remote
from prasanga.sentences.manifest import Cut, as_planned, chosen, cuts_of, update_manifest
from prasanga.sentences.passages import read_sentences
from prasanga.text import normalizer

TEXTS = [f"বাক্য {number}।" for number in range(20_000)]


class Server(ThreadingHTTPServer):
    """Files by path; what was asked for; how the server behaves."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str, str]] = []  # method, path, range
        self.sent = 0  # bytes of files
        self.ranges, self.fails, self.failure, self.location = True, 0, 503, ""
        self.lost, self.told = 0, ""  # how many answers lack their last byte; a wrong range that is told

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Ranges of files; the answers of the hub and of S3 that a reader asks for."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        path = urlsplit(self.path).path
        if "/paths-info/" not in path:
            self.answer(404, b"{}")
            return
        try:
            wanted = json.loads(body)["paths"]
        except ValueError:
            wanted = parse_qs(body)["paths"]
        self.answer(200, json.dumps([info for info in self.of_hub() if info["path"] in wanted]).encode())

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path, span = unquote(parts.path), self.headers.get("Range") or ""
        self.server.asked.append((self.command, path, span))
        if self.server.fails:
            self.server.fails -= 1
            self.answer(self.server.failure, b"")
        elif self.server.location:
            self.answer(302, b"", Location=self.server.location)
        elif path.startswith("/api/datasets/"):
            about = {"id": "owner/name", "sha": "0" * 40, "siblings": []}
            self.answer(200, json.dumps(self.of_tree(path) if "/tree/" in path else about).encode())
        elif "list-type" in parts.query or path == "/bucket/":
            self.answer(200, self.of_bucket(parse_qs(parts.query)), **{"Content-Type": "application/xml"})
        else:
            self.send_file(path.replace("/datasets/owner/name/resolve/main/", "/"), span)

    def of_hub(self) -> list[dict[str, Any]]:
        return [
            {"type": "file", "path": name[1:], "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for name, data in self.server.files.items()
        ]

    def of_tree(self, path: str) -> list[dict[str, Any]]:
        folder = path.partition("/tree/main")[2].strip("/")
        inside = [info for info in self.of_hub() if str(PurePosixPath(info["path"]).parent) == (folder or ".")]
        return inside if folder else [{"type": "directory", "path": "data", "oid": "0" * 40, "size": 0}, *inside]

    def of_bucket(self, query: dict[str, list[str]]) -> bytes:
        prefix = query.get("prefix", [""])[0]
        names = [name for name in self.server.files if name.removeprefix("/bucket/").startswith(prefix)]
        found = "".join(
            f"<Contents><Key>{name.removeprefix('/bucket/')}</Key><Size>{len(self.server.files[name])}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for name in names
        )
        return f"<ListBucketResult><KeyCount>{len(names)}</KeyCount>{found}</ListBucketResult>".encode()

    def send_file(self, path: str, span: str) -> None:
        data = self.server.files.get(path)
        if data is None:
            self.answer(404, b"")
            return
        told = {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        if span and self.server.ranges:
            first, _, last = span.removeprefix("bytes=").partition("-")
            piece = data[int(first) : int(last or len(data)) + 1]
            self.server.sent += len(piece)
            ends = self.server.told or f"bytes {first}-{int(first) + len(piece) - 1}/{len(data)}"
            if self.server.lost:
                self.server.lost -= 1
                piece = piece[:-1]
            self.answer(206, piece, **told, **{"Content-Range": ends, "Accept-Ranges": "bytes"})
        else:
            self.answer(200, data, **told)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def data(tmp_path: Path) -> bytes:
    """A column of texts beside one that is ten times as large and is not wanted; two row groups."""
    table = pa.table({"body": TEXTS, "other": [str(hash(text)) * 10 for text in TEXTS]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10_000, compression="none", use_dictionary=False)
    return (tmp_path / "a.parquet").read_bytes()


def of(url: str, part_bytes: int = 10**9, **options: Any) -> list[Shard]:
    return list(find_shards(".", [{"files": url, "field": "body"}], part_bytes, **options).values())


def test_a_file_behind_https_is_read_by_ranges_and_one_column_of_it(server: Server, data: bytes) -> None:
    server.files["/x/a.parquet"] = data
    (shard,) = of(f"{server.address}/x/a.parquet")
    assert (shard.path, shard.format, shard.size) == (f"{server.address}/x/a.parquet", "parquet", len(data))
    assert list(read_texts(shard)) == TEXTS
    assert all(span for _, _, span in server.asked), "never the file as a whole"
    begin, end = of(f"{server.address}/x/a.parquet", len(data) * 9 // 20)
    assert (begin.end, end.start, end.first) == (1, 1, 10_000)
    for shards in ([shard], [begin, end]):
        blocks = [block for part in shards for block in read_sentences(part, normalizer("none"))]
        texts = [[data[a:b].tobytes().decode() for _, a, b in zip(*spans, strict=True)] for data, spans in blocks]
        assert [text for block in texts for text in block] == TEXTS


def test_what_the_hub_has_is_told_by_its_hashes(server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfFileSystem

    monkeypatch.setattr(remote, "_file_system", lambda *_: HfFileSystem(endpoint=server.address, token=False))
    server.files |= {"/data/a.parquet": data, "/data/b.parquet": data[:-1], "/readme.md": b"no"}
    found = remote.find_remote("hf://datasets/owner/name/data/*.parquet")
    assert [file.url for file in found] == [f"hf://datasets/owner/name/data/{name}.parquet" for name in "ab"]
    assert len({file.digest for file in found}) == 2
    (shard,) = of("hf://datasets/owner/name/data/a.parquet")
    assert list(read_texts(shard)) == TEXTS


def test_what_s3_has_is_read_with_the_credentials_of_the_environment(
    server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"ENDPOINT_URL": server.address, "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    remote._file_system.cache_clear()
    server.files["/bucket/x/a.parquet"] = data
    (shard,) = of("s3://bucket/x/*.parquet")
    assert (shard.path, shard.size) == ("s3://bucket/x/a.parquet", len(data))
    assert list(read_texts(shard)) == TEXTS
    remote._file_system.cache_clear()


def test_what_is_remembered_is_asked_for_at_the_next_plan_and_by_no_job(
    server: Server, data: bytes, tmp_path: Path
) -> None:
    url, known = f"{server.address}/a.parquet", tmp_path / "corpus.json"
    server.files["/a.parquet"] = data
    shards = of(url, len(data) * 9 // 20, manifest=known)
    digest = update_manifest(known, [url])[url]
    server.asked.clear()
    assert of(url, len(data) * 9 // 20, manifest=known, look=False) == shards
    assert update_manifest(known, [url]) == {url: digest}
    assert server.asked == [], "a job of a run asks no server"
    assert of(url, len(data) * 9 // 20, manifest=known) == shards
    assert len(server.asked) == 1, "the same file is not read again for where it can be cut"
    with as_planned(url, digest, known):
        pass
    server.files["/a.parquet"] = data + b"PAR1"
    with pytest.raises(InputError, match="another file than when the run was planned"), as_planned(url, digest, known):
        pytest.fail("the file must not be read")
    of(url, manifest=known)
    assert update_manifest(known, [url])[url] != digest
    assert cuts_of(known, [shards[0].whole()]) == {url: []}, "what follows its end makes it no Parquet"


def test_a_file_that_changes_while_it_is_read(server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_AHEAD", 1 << 16)
    server.files["/a.parquet"] = data
    texts = read_texts(of(f"{server.address}/a.parquet")[0])
    next(texts)
    server.files["/a.parquet"] = data[:-4] + b"PAR2"
    with pytest.raises(InputError, match=r"a\.parquet: the file changed while it was read"):
        list(texts)


def test_a_server_that_is_out_of_breath_is_asked_again(server: Server, data: bytes) -> None:
    server.files["/a.parquet"] = data
    server.fails = 2
    assert len(of(f"{server.address}/a.parquet")) == 1
    server.fails, server.failure = 2, 429
    assert len(of(f"{server.address}/a.parquet")) == 1
    server.fails, server.failure = 3, 503
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read \(503"):
        of(f"{server.address}/a.parquet")


def test_an_answer_that_is_cut_short_or_another_than_was_asked_for(server: Server, data: bytes) -> None:
    server.files["/a.parquet"] = data
    (shard,) = of(f"{server.address}/a.parquet")
    server.lost = 2
    assert list(read_texts(shard)) == TEXTS, "what is lost on the way is asked for again"
    server.lost = 1000
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read \(.*the answer ends after \d+ of \d+ bytes"):
        list(read_texts(shard))
    server.lost, server.told = 0, "bytes 5-5/900"
    with pytest.raises(InputError, match=r"a\.parquet: the server does not send parts of a file"):
        of(shard.path)
    server.told = "bytes 0-0/" + "9" * 5000
    with pytest.raises(InputError, match=r"a\.parquet: the server does not send parts of a file"):
        of(shard.path)


def test_an_answer_that_trickles_is_given_up(server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files["/a.parquet"] = data
    monkeypatch.setattr(remote, "_LONGEST", -1)
    with pytest.raises(InputError, match=r"cannot be read \(.*1 of 1 bytes in -1 seconds"):
        of(f"{server.address}/a.parquet")


def test_a_size_that_a_server_makes_up_is_no_endless_plan() -> None:
    cuts = [Cut(0, 0), Cut(10**17, 1), Cut(10**17 + 1, 2), Cut(10**18 - 1, 3)]
    assert chosen(cuts, 10**18, 1000) == [cuts[1], cuts[3]]
    assert chosen(cuts, 10**18, 10**17) == [cuts[1], cuts[3]]
    assert chosen(cuts, 10**18, 10**18) == []


def test_what_a_library_raises_while_a_file_is_read_names_the_file(
    server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TimedOutError(Exception):
        """As the hub's library has its own, which is no OSError."""

    class Broken(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            raise TimedOutError("nothing comes")

    server.files["/a.parquet"] = data
    (shard,) = of(f"{server.address}/a.parquet")
    monkeypatch.setattr(columns, "open_remote", lambda _: Broken(data))
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read \(nothing comes\)"):
        list(read_texts(shard))


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "[fd00::1]"])
def test_a_server_outside_leads_to_no_address_inside(
    server: Server, data: bytes, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of this machine stands for one outside."""
    known = socket.getaddrinfo
    outside = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("8.8.8.8", 0))]
    asked_here = {"localhost": outside}

    def resolved(name: Any, port: Any, *options: Any, **more: Any) -> Any:
        return asked_here[name] if name in asked_here and port is None else known(name, port, *options, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    server.files["/a.parquet"] = data
    url = f"http://localhost:{server.server_port}/a.parquet"
    assert of(url)[0].size == len(data)
    server.location = f"https://{host}:{server.server_port}/a.parquet"
    with pytest.raises(InputError, match=r"it leads to https://.*, which is this machine or on its own network"):
        of(url)


def test_what_is_refused(server: Server, data: bytes) -> None:
    address = server.address
    server.files["/a.parquet"] = data
    for url, message in {
        f"{address}/absent.parquet": r"absent\.parquet: cannot be read \(404",
        "http://127.0.0.1:9/a.parquet": r"cannot be read \(.*refused",
        "http://example.org/a.parquet": r"has the protocol 'http'\. Read are hf://",
        "file:///etc/a.parquet": r"has the protocol 'file'",
        "ftp://127.0.0.1/a.parquet": r"has the protocol 'ftp'",
        "https://me:hunter2@127.0.0.1/a.parquet": r"'https://127\.0\.0\.1/a\.parquet' has a user",
        "s3://bucket/a.parquet?token=hunter2": r"'s3://bucket/a\.parquet' has a user",
        f"{address}/a.jsonl.gz": r"does not end in \.parquet",
    }.items():
        with pytest.raises(InputError, match=message) as error:
            of(url)
        assert "hunter2" not in str(error.value)
    server.ranges = False
    with pytest.raises(InputError, match=r"a\.parquet: the server does not send parts of a file"):
        of(f"{address}/a.parquet")
    server.location = "http://example.org/a.parquet"
    with pytest.raises(InputError, match=r"it leads to http://example\.org, which is not encrypted"):
        of(f"{address}/a.parquet")
    server.location = "file:///etc/passwd.parquet"
    with pytest.raises(InputError, match=r"cannot be read \(302 Found .*not allowed"):
        of(f"{address}/a.parquet")
