"""Bytes of corpus files: decompressed to their true end, fetched by ranges, or refused with the place."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import random
import struct
import threading
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
import zstandard

from prasanga.base.errors import InputError
from prasanga.base.formats import COMPRESSED, open_decompressed
from prasanga.sentences import Shard, corpus, fetch, find_shards
from prasanga.sentences.records import read_records

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
# Random digits compress badly, so that the file has many blocks of each format.
TEXT = "".join(f"{random.Random(i).random()}\n" for i in range(40_000)).encode()


@cache
def packed(ending: str) -> bytes:
    return COMPRESS.get(ending.lower(), bytes)(TEXT)


def read(path: Path, content: bytes) -> bytes:
    path.write_bytes(content)
    with open_decompressed(path) as stream:
        return stream.read()


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("ending", ["", *COMPRESSED])
def test_the_text_by_lines_and_by_pieces_whatever_the_name_says(tmp_path: Path, ending: str, named: bool) -> None:
    path = tmp_path / f"corpus.txt{(ending if named else '.gz').upper()}"
    assert read(path, packed(ending)) == TEXT
    with open_decompressed(path) as stream:
        assert list(stream) == TEXT.splitlines(keepends=True)
    with open_decompressed(path) as stream:
        assert b"".join(iter(lambda: stream.read(1_000), b"")) == TEXT


@pytest.mark.parametrize("ending", COMPRESSED)
def test_several_members_are_one_text(tmp_path: Path, ending: str) -> None:
    members = b"".join(COMPRESS[ending](part) for part in (b"a\nb", b"", b"c\n"))
    padding = b"" if ending == ".zst" else bytes(512)
    skipped = struct.pack("<II", 0x184D2A50, 5) + b"index" if ending == ".zst" else b""  # a frame without text
    content = skipped + members + padding + skipped + packed(ending) + padding * 40
    assert read(tmp_path / f"corpus{ending}", content) == b"a\nbc\n" + TEXT


def test_zstandard_with_a_window_beyond_the_default_limit(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    content = compressor.compress(b"text") + compressor.flush()
    with pytest.raises(zstandard.ZstdError):
        zstandard.ZstdDecompressor().decompressobj().decompress(content)
    assert read(tmp_path / "corpus.zst", content) == b"text"


def damaged(ending: str) -> dict[str, tuple[bytes, str]]:
    """Contents of files that cannot be read, each with what the message says."""
    whole, short = packed(ending), COMPRESS[ending](b"some text\n")
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 0xFF
    cuts = {f"{n} bytes missing": (whole[:-n], r"at byte \d+ .*truncated") for n in (1, 4, 8, 9, 13, 1_000, 100_000)}
    cuts |= {f"{n} bytes": (short[:n], "truncated") for n in range(1, len(short))}
    return {
        **cuts,
        "a changed byte": (bytes(changed), r"reading stopped at byte \d+"),
        "a line end after the data": (whole + b"\n", f"stopped at byte {len(TEXT)} of"),
        "text after the data": (whole + b"garbage", f"stopped at byte {len(TEXT)} of"),
    }


@pytest.mark.parametrize("ending", COMPRESSED)
def test_a_damaged_file_never_ends_silently(tmp_path: Path, ending: str) -> None:
    for content, message in damaged(ending).values():
        with pytest.raises(InputError, match=message):
            read(tmp_path / f"corpus{ending}", content)
    with pytest.raises(InputError, match=r"absent.*: no such file"):
        open_decompressed(tmp_path / f"absent{ending}")
    with pytest.raises(InputError, match="Check that it is a file"):
        open_decompressed(tmp_path)


def read_texts(shard: Shard) -> list[str]:
    return [record.text for record in read_records(shard)]


# ---- from the network


class Server(ThreadingHTTPServer):
    """Files by path, whole or by ranges; the next answers fail, or lack their last byte."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.ranges, self.fails, self.lost = True, 0, 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, span, data = self.server, self.headers.get("Range") or "", self.server.files.get(self.path)
        server.asked.append(span)
        if server.fails or data is None:
            server.fails -= bool(server.fails)
            self.send_error(404 if data is None else 503)
            return
        piece, length = data, len(data)
        if span and server.ranges:
            first, _, last = span.removeprefix("bytes=").partition("-")
            piece = data[int(first) : int(last) + 1]
            length = len(piece)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("ETag", hashlib.md5(data).hexdigest())
        if server.lost:
            server.lost -= 1
            piece = piece[:-1]
            length -= bool(span)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(piece)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


TEXTS = [f"বাক্য {number}।" for number in range(20_000)]


@pytest.fixture(scope="module")
def data() -> bytes:
    """A column of texts beside a larger one that is not wanted; two row groups."""
    table = pa.table({"text": TEXTS, "other": [text * 10 for text in TEXTS]})
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=10_000, compression="none", use_dictionary=False)
    return file.getvalue()


def find(url: str, part_bytes: int = 10**9, **options: Any) -> list[Shard]:
    return list(find_shards(".", [{"files": url}], part_bytes, **options).values())


def test_parquet_behind_a_url_is_read_by_ranges_and_remembered(server: Server, data: bytes, tmp_path: Path) -> None:
    server.files["/a.parquet"] = data
    url, known = f"{server.address}/a.parquet", tmp_path / "corpus.json"
    server.fails = 2  # what fails is asked for again
    (shard,) = find(url)
    assert (shard.path, shard.format, shard.size) == (url, "parquet", len(data))
    assert read_texts(shard) == TEXTS
    assert all(server.asked), "never the file as a whole"
    parts = find(url, len(data) * 9 // 20, remembered=known)
    assert [(part.start, part.end) for part in parts] == [(0, 1), (1, None)]
    assert [text for part in parts for text in read_texts(part)] == TEXTS
    server.asked.clear()
    assert find(url, len(data) * 9 // 20, remembered=known, look=False) == parts
    assert server.asked == [], "a job of a run asks no server"
    server.files["/a.parquet"] = data[:-1]
    assert find(url, remembered=known)[0].digest() != parts[0].digest()


def test_digests_of_parts(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(data)
    (tmp_path / "b.txt").write_bytes(TEXT)
    parts = list(find_shards(tmp_path, [{"files": "a.parquet"}], len(data) * 9 // 20).values())
    whole = [
        value for shard in find_shards(tmp_path, [{"files": "*"}], 10**9).values() for value in shard.digest().values()
    ]
    one = [value for shard in parts for value in shard.digest().values()]
    first = next(iter(find_shards(tmp_path, [{"files": "b.txt"}], 100_000).values()))
    assert whole == [xxhash.xxh3_128_hexdigest(content) for content in (data, TEXT)]
    begin = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(1).column(0).data_page_offset
    assert one == [xxhash.xxh3_128_hexdigest(content) for content in (data[4:begin], data[begin:])]
    assert [name.partition(", ")[2] for part in parts for name in part.digest()] == ["0 to 1", "1 to the end"]
    assert first.digest().popitem()[1] == xxhash.xxh3_128_hexdigest(TEXT[:100_000])


def test_patterns_on_the_hub_and_s3(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

    files = MemoryFileSystem()
    for name in ("a", "b"):
        files.pipe(f"/datasets/owner/name/data/{name}.parquet", data)
    monkeypatch.setattr(corpus, "_file_system", lambda _: files)
    shards = find("hf://datasets/owner/name/data/*.parquet")
    assert [PurePath.rpartition("/")[2] for PurePath in (shard.path for shard in shards)] == ["a.parquet", "b.parquet"]
    assert read_texts(shards[0]) == TEXTS
    with pytest.raises(InputError, match="no file fits 's3://bucket/"):
        find("s3://bucket/*.parquet")


def test_addresses_that_cannot_be_read(server: Server, data: bytes) -> None:
    server.files["/a.parquet"] = data
    for url, message in {
        f"{server.address}/absent.parquet": r"absent\.parquet: cannot be read .*\(.*404",
        "http://127.0.0.1:9/a.parquet": r"cannot be read .*\(.*refused",
        "file:///etc/a.parquet": r"a\.parquet cannot be read\. Write",
        "https://me:hunter2@127.0.0.1/a.parquet": r"https://127\.0\.0\.1/a\.parquet cannot be read\..*without cred",
        "s3://bucket/a.parquet?token=hunter2": r"s3://bucket/a\.parquet cannot be read\.",
        f"{server.address}/a.jsonl.gz": r"a\.jsonl\.gz cannot be read\. Write the address of a Parquet file",
    }.items():
        with pytest.raises(InputError, match=message) as error:
            find(url)
        assert "hunter2" not in str(error.value)
    server.ranges = False
    with pytest.raises(InputError, match=r"a\.parquet: the server does not send parts of a file"):
        find(f"{server.address}/a.parquet")


def test_a_fetched_file_is_whole_or_the_old_one_stays(server: Server, tmp_path: Path) -> None:
    server.files["/whole"] = TEXT
    sha256, target = hashlib.sha256(TEXT).hexdigest(), tmp_path / "new" / "released.csv"
    assert fetch(f"{server.address}/whole", target) == sha256
    assert fetch(f"{server.address}/whole", target, sha256.upper()) == sha256
    target.write_text("old", encoding="utf-8")
    for url, digest, message in [
        (f"{server.address}/absent", None, r"/absent: cannot be fetched \(.*404.*put it at .*released\.csv"),
        (
            f"{server.address}/whole",
            "0" * 64,
            f"the content has the sha256 {sha256}, not 0{{64}}: the file has changed",
        ),
        ("http://127.0.0.1:9/x", None, "cannot be fetched"),
        ("file:///etc/hosts", None, "not an address to fetch from"),
    ]:
        with pytest.raises(InputError, match=message):
            fetch(url, target, digest)
    server.lost = 9
    with pytest.raises(InputError, match=f"the connection ended after {len(TEXT) - 1} of {len(TEXT)} bytes"):
        fetch(f"{server.address}/whole", target)
    assert target.read_text(encoding="utf-8") == "old"
    assert list(target.parent.iterdir()) == [target]
