"""One large file is read by several jobs: whatever it is cut at, rows and counts are those of the whole file."""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
import zstandard

from prasanga.base.errors import InputError
from prasanga.sentences import SENTENCE_SCHEMA, ExtractionReport, Shard, extract_shard, find_shards, passages
from prasanga.sentences import manifest as of_digests
from prasanga.text import normalizer

CONTEXT = {"normalization": "none", "language": "bn"}


@dataclass
class Forms:
    """A lexicon that is nothing but its forms."""

    of: Mapping[str, tuple[str, ...]]

    def claims(self) -> Mapping[str, tuple[str, ...]]:
        return self.of


LEXICON = Forms({"ফুল": ("ফুল",), "ফুলের": ("ফুল",), "মা": ("মা",)})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places, pieces and margins of a few hundred bytes, so that small files have as much as large ones."""
    monkeypatch.setattr(of_digests, "_NEAREST", 1)
    monkeypatch.setattr(of_digests, "_TEXT_PIECE", 300)
    monkeypatch.setattr(of_digests, "_PIECE", 500)
    monkeypatch.setattr(passages, "BLOCK", 256)
    monkeypatch.setattr(passages, "_MARGIN", 64)


def text_of(lines: int, seed: int = 0) -> str:
    """Lines of sentences with and without a stimulus, blank ones, some with a line end of Windows."""
    rng = random.Random(seed)
    words = ["ফুল", "ফুলের", "মা", "নদী", "ঘাস", "আকাশ"]

    def line() -> str:
        sentences = [" ".join(rng.choices(words, k=rng.randint(1, 6))) + "।" for _ in range(rng.randint(0, 4))]
        return " ".join(sentences) + rng.choice(["\n", "\r\n", "\n\n", " \t\n"])

    return "".join(line() for _ in range(lines))


def json_of(text: str) -> str:
    """JSON lines, blank ones between them, after a byte order mark and without an end of the last line."""
    lines = [json.dumps({"text": line}, ensure_ascii=False) if line.strip() else line for line in text.split("\n")]
    return "\ufeff" + "\n".join(lines)


def pieces_of(data: bytes, seed: int = 0) -> list[bytes]:
    rng, pieces = random.Random(seed), []
    while data:
        size = rng.randint(1, 1_200)
        pieces.append(data[:size])
        data = data[size:]
    return pieces


def members(data: bytes) -> bytes:
    """Files of gzip that were joined, cut anywhere, in the middle of characters, too."""
    return b"".join(gzip.compress(piece) for piece in pieces_of(data))


def blocked(data: bytes) -> bytes:
    """As bgzip writes it: each member tells its own size, the last one is empty."""
    whole = b""
    for piece in [*pieces_of(data), b""]:
        packer = zlib.compressobj(wbits=-15)
        body = packer.compress(piece) + packer.flush()
        whole += b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25) + body
        whole += struct.pack("<II", zlib.crc32(piece), len(piece))
    return whole


def frames(data: bytes, *, told: bool = True) -> bytes:
    """Frames of zstandard, which tell their size or do not, and a table at the end that is skipped."""
    packer = zstandard.ZstdCompressor(write_content_size=told, write_checksum=True)
    skipped = b"\x5e\x2a\x4d\x18" + struct.pack("<I", 9) + b"\0" * 9
    return b"".join(packer.compress(piece) for piece in pieces_of(data)) + skipped


def frames_of_unknown_size(data: bytes) -> bytes:
    return frames(data, told=False)


def parquet(path: Path, texts: list[str | None]) -> None:
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path, row_group_size=7)


def arrow(path: Path, texts: list[str | None], make: Callable[..., Any]) -> None:
    table = pa.table({"id": range(len(texts)), "text": texts})
    with path.open("wb") as file, make(file, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=7):
            writer.write_batch(batch)


def write(folder: Path, name: str) -> Path:
    """Some kilobytes in the format that the name speaks of."""
    path, text = folder / name, text_of(120)
    texts = [line if line.strip() else None for line in text.split("\n")]
    if name == "a.parquet":
        parquet(path, texts)
    elif name.endswith(".arrow"):
        arrow(path, texts, ipc.new_stream if name.startswith("stream") else ipc.new_file)
    else:
        data = (json_of(text) if ".jsonl" in name else text).encode()
        pack = {"members": members, "blocked": blocked, "frames": frames, "untold": frames_of_unknown_size}
        path.write_bytes(pack.get(name.split(".")[0], bytes)(data))
    return path


def read(shards: list[Shard], **options: Any) -> tuple[list[dict[str, Any]], ExtractionReport]:
    report = ExtractionReport()
    batches = [
        batch for shard in shards for batch in extract_shard(shard, lexicon=LEXICON, report=report, **CONTEXT | options)
    ]
    return pa.Table.from_batches(batches, SENTENCE_SCHEMA).to_pylist(), report


def sentences_of(shards: list[Shard]) -> list[str]:
    """What static vectors are trained on."""
    return [
        data[start:end].tobytes().decode()
        for shard in shards
        for data, spans in passages.read_sentences(shard, normalizer("none"))
        for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)
    ]


NAMES = [
    "a.txt",
    *("members.txt.gz", "blocked.txt.gz", "frames.txt.zst", "untold.txt.zst"),
    *("a.jsonl", "members.jsonl.gz", "blocked.jsonl.gz", "frames.jsonl.zst", "untold.jsonl.zst"),
    *("a.parquet", "stream.arrow", "file.arrow"),
]


@pytest.mark.parametrize(
    ("name", "documents"),
    [*((name, "blank-line") for name in NAMES), ("members.txt.gz", "line"), ("frames.txt.zst", "file")],
)
# a letter of Bangla has three bytes; parts of one byte take some seconds a format
@pytest.mark.parametrize("fewest_bytes", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_file_in_parts_has_the_rows_of_the_whole(
    tmp_path: Path, name: str, documents: str, fewest_bytes: int
) -> None:
    path = write(tmp_path, name)
    text = {"files": name, "documents": documents}
    (whole,) = find_shards(tmp_path, [text], 10**9).values()
    expected, counts = read([whole])
    assert len(expected) > 100
    sentences = sentences_of([whole])
    assert len(sentences) == counts.sentences > 200
    for part_bytes in (path.stat().st_size // 3, path.stat().st_size // 8, fewest_bytes):
        shards = list(find_shards(tmp_path, [text], part_bytes).values())
        assert len(shards) >= (3 if part_bytes > fewest_bytes else 10)
        rows, of_parts = read(shards)
        assert rows == expected
        assert of_parts == counts, "a line or record is read once"
        assert sentences_of(shards) == sentences
        assert {shard.source for shard in shards} == {name}
        assert sum(shard.size or 0 for shard in shards) == path.stat().st_size


def test_a_part_reads_its_own_members_and_some_text_before_them(tmp_path: Path) -> None:
    path = write(tmp_path, "members.txt.gz")
    *_, last = find_shards(tmp_path, [{"files": path.name}], path.stat().st_size // 4).values()
    expected, _ = read([last])
    with path.open("r+b") as file:
        file.seek(40)
        file.write(b"damaged" * 20)  # in the first member
    with pytest.raises(InputError, match="truncated or damaged"):
        read([last.whole()])
    assert read([last])[0] == expected != []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt.gz", gzip.compress(text_of(100).encode())),
        ("a.txt.zst", zstandard.ZstdCompressor().compress(text_of(100).encode())),
        ("a.txt.xz", b"\xfd7zXZ\0" * 100),
        ("a.jsonl.xz", b"\xfd7zXZ\0" * 100),
        ("a.csv", b"word,sentence\n" * 100),
        ("a.jsonl", b"x" * 10_000),
        ("a.parquet", b"PAR1" + b"x" * 10_000 + b"PAR1"),
        ("a.arrow", b"ARROW1" + b"x" * 10_000),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n')[:-9] * 9),
    ],
)
def test_what_has_one_member_or_is_damaged_is_one_part(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    told: list[str] = []
    assert list(find_shards(tmp_path, [{"files": name}], 100, tell=told.append)) == ["a"]
    assert re.search(rf"the file '{name}' of 0 MB is read by one job, since it cannot be cut: .* \(bgzip\)", *told)


def test_where_a_file_can_be_cut_is_remembered_as_long_as_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, known = write(tmp_path, "members.txt.gz"), tmp_path / "corpus.json"
    asked = (tmp_path, [{"files": path.name}], path.stat().st_size // 3)
    shards = find_shards(*asked, manifest=known)
    assert shards == find_shards(*asked) != {}
    of_digests.update_manifest(known, [path])
    with monkeypatch.context() as patch:
        patch.setattr(of_digests, "_digested", None)  # nothing is read
        assert find_shards(*asked, manifest=known) == shards
        assert of_digests.update_manifest(known, [path]).keys() == {str(path)}
    path.write_bytes(members(text_of(300, seed=1).encode()))
    assert find_shards(*asked, manifest=known) == find_shards(*asked) != shards


def test_what_looks_like_a_member_by_chance_ends_the_run(tmp_path: Path) -> None:
    """A part finds that the next one was to begin within a member, or to have another text before it."""
    path = tmp_path / "a.txt.gz"
    first, second, third = (gzip.compress(text_of(40, seed=seed).encode(), 0) for seed in range(3))
    path.write_bytes(first + second + third)
    sizes = [len(zlib.decompress(each, 31)) for each in (first, second)]
    right = (len(first), sizes[0])
    for wrong in [(len(first) + 200, sizes[0] + 170), (len(first), sizes[0] + 1), (len(path.read_bytes()) + 9, 10**6)]:
        for points in ([wrong], [(0, 0), wrong]):
            shard = Shard(str(path), path.name, "line", end=wrong[1], points=points)
            with pytest.raises(
                InputError, match=r"a\.txt\.gz: the part that was to begin at byte \d+ of the file does"
            ):
                read([shard])
    assert read([Shard(str(path), path.name, "line", end=right[1], points=[(0, 0), right])])[0]


def test_members_within_members_are_no_members(tmp_path: Path) -> None:
    """Text may hold the bytes of another file, as it is where it was not compressed."""
    inner = gzip.compress(b"inner " * 50, mtime=0)  # the time of day may hold the byte that ends a line
    outer = [gzip.compress(b"line\n" * 400 + inner + b"\n", level, mtime=0) for level in (0, 9)]
    path = tmp_path / "a.txt.gz"
    path.write_bytes(b"".join(outer))
    shards = list(find_shards(tmp_path, [{"files": "a.txt.gz"}], 400).values())
    with pytest.raises(InputError, match=r"write `corpus\.shard_megabytes` so large"):
        read(shards, errors="skip-line")
    (whole,) = find_shards(tmp_path, [{"files": "a.txt.gz"}], 10**6).values()
    assert read([whole], errors="skip-line")[1].skipped_lines == 2


def test_a_record_that_cannot_be_used_is_told_by_its_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = ["", *('{"text": "ফুল।"}',) * 60, "", '{"text": 7}', *('{"text": "মা।"}',) * 60]
    path.write_text("\n".join(lines), encoding="utf-8")
    (whole,) = find_shards(tmp_path, [{"files": "a.jsonl"}], 10**6).values()
    shards = list(find_shards(tmp_path, [{"files": "a.jsonl"}], 300).values())
    assert len(shards) > 2
    for read_as in ([whole], shards):
        with pytest.raises(InputError, match=r"a\.jsonl: line 63 has a number in the field 'text'"):
            read(read_as)
    assert read(shards, errors="skip-line") == read([whole], errors="skip-line")


def test_a_bomb_is_given_up_while_it_is_planned(tmp_path: Path) -> None:
    """Where a frame does not tell its size, it is decompressed, within what `inflation` allows; then nothing is cut."""
    packer = zstandard.ZstdCompressor(write_content_size=False)
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(packer.compress(b"\0" * 200_000_000) + packer.compress(b"{}\n"))
    assert list(find_shards(tmp_path, [{"files": path.name}], 10_000)) == ["a"]
