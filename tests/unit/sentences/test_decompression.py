"""Compressed files: read to their true end, or refused with the place; never a silent half."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import random
import struct
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import zstandard

from prasanga.base.errors import InputError
from prasanga.sentences.corpus import COMPRESSED, open_decompressed

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    ".xz": lzma.compress,
}
# Digits at random compress badly, so that the file spans many blocks of each format.
TEXT = "".join(f"{random.Random(i).random()}\n" for i in range(40_000)).encode()


@cache
def packed(ending: str) -> bytes:
    """TEXT in the format of a file with this ending."""
    return COMPRESS.get(ending.lower(), bytes)(TEXT)


def read(path: Path) -> bytes:
    with open_decompressed(path) as stream:
        return stream.read()


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".xz", ".GZ"])
def test_the_text_by_lines_and_by_pieces(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus.txt{ending}"
    path.write_bytes(packed(ending))
    assert read(path) == TEXT
    with open_decompressed(path) as stream:
        assert list(stream) == TEXT.splitlines(keepends=True)
    with open_decompressed(path) as stream:
        assert b"".join(iter(lambda: stream.read(1_000), b"")) == TEXT


@pytest.mark.parametrize("ending", COMPRESSED)
def test_several_members_are_one_text(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus{ending}"
    path.write_bytes(b"".join(COMPRESS[ending](part) for part in (b"a\nb", b"", b"c\n")) + packed(ending))
    assert read(path) == b"a\nbc\n" + TEXT


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_zeros_between_and_after_members_are_padding(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus{ending}"
    path.write_bytes(COMPRESS[ending](b"a") + bytes(512) + COMPRESS[ending](b"b") + bytes(20_000))
    assert read(path) == b"ab"


def test_frames_of_zstandard_that_hold_no_text_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "corpus.zst"
    frame, skipped = COMPRESS[".zst"](b"a"), struct.pack("<II", 0x184D2A50, 5) + b"index"
    path.write_bytes(skipped + frame + skipped + frame)
    assert read(path) == b"aa"


def test_zstandard_with_a_window_beyond_the_default_limit(tmp_path: Path) -> None:
    path = tmp_path / "corpus.zst"
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(compressor.compress(b"text") + compressor.flush())
    with pytest.raises(zstandard.ZstdError):
        zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    assert read(path) == b"text"


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("missing", [1, 4, 8, 9, 13, 1_000, 100_000, -12, -1])
def test_a_truncated_file_never_ends_silently(tmp_path: Path, ending: str, missing: int) -> None:
    """However much is `missing` at the end; -n leaves only the first n bytes."""
    path = tmp_path / f"corpus{ending}"
    path.write_bytes(packed(ending)[:-missing])
    got: list[int] = []
    message = rf"corpus\{ending}: reading stopped at byte \d+ .*truncated"
    with open_decompressed(path) as stream, pytest.raises(InputError, match=message) as error:
        got.extend(len(line) for line in stream)
    told = int(str(error.value).split("at byte ")[1].split()[0])
    assert sum(got) <= told <= len(TEXT)


@pytest.mark.parametrize("ending", COMPRESSED)
def test_a_stream_cut_at_every_byte_of_its_end_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus{ending}"
    whole = COMPRESS[ending](b"some text\n")
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="truncated"):
            read(path)


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("garbage", [b"garbage", b"\x01", b"\n"])
def test_what_follows_the_data_is_refused(tmp_path: Path, ending: str, garbage: bytes) -> None:
    path = tmp_path / f"corpus{ending}"
    path.write_bytes(packed(ending) + garbage)
    with pytest.raises(InputError, match=f"stopped at byte {len(TEXT)} of"):
        read(path)


@pytest.mark.parametrize("ending", COMPRESSED)
def test_a_changed_byte_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus{ending}"
    data = bytearray(packed(ending))
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"reading stopped at byte \d+"):
        read(path)


@pytest.mark.parametrize("ending", COMPRESSED)
def test_a_file_that_is_not_what_its_ending_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus{ending}"
    path.write_text("no archive", encoding="utf-8")
    with pytest.raises(InputError, match=r"byte 0 of .* not what its ending says"):
        read(path)


@pytest.mark.parametrize("ending", ["", *COMPRESSED])
def test_absent_files_and_folders(tmp_path: Path, ending: str) -> None:
    with pytest.raises(InputError, match=r"absent.*: no such file"):
        open_decompressed(tmp_path / f"absent{ending}")
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(InputError, match="Is it a file that you may read"):
        open_decompressed(tmp_path / f"folder{ending}")


@pytest.mark.parametrize("ending", ["", *COMPRESSED])
def test_a_disk_that_goes_away_while_it_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"corpus{ending}"
    path.write_bytes(packed(ending) * 3)
    folder = os.open(tmp_path, os.O_RDONLY)
    with open_decompressed(path) as stream:
        stream.readline()
        os.dup2(folder, stream.fileno())  # reading a folder fails as a lost disk does, with an OSError
        os.close(folder)
        with pytest.raises(InputError, match=r"cannot be read \(Is a directory\).*still there"):
            stream.read()


def test_a_plain_file_can_be_sought_in_and_a_compressed_one_cannot(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"0123456789")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"0123456789"))
    with open_decompressed(tmp_path / "a.txt") as stream:
        stream.seek(7)
        assert stream.read() == b"789"
    with open_decompressed(tmp_path / "a.gz") as stream, pytest.raises(io.UnsupportedOperation):
        stream.seek(7)


@pytest.mark.parametrize(("ending", "megabytes", "most"), [(".gz", 64, 20), (".zst", 256, 290), (".xz", 128, 120)])
def test_memory_stays_bounded_where_a_little_becomes_much(
    tmp_path: Path, ending: str, megabytes: int, most: int
) -> None:
    """Zeros, the densest text there is."""
    path = tmp_path / f"corpus{ending}"
    path.write_bytes(COMPRESS[ending](bytes(megabytes << 20)))
    tracemalloc.start()
    try:
        with open_decompressed(path, inflation=100_000) as stream:
            size = sum(map(len, iter(lambda: stream.read(1 << 20), b"")))
        assert tracemalloc.get_traced_memory()[1] < most << 20
    finally:
        tracemalloc.stop()
    assert size == megabytes << 20
