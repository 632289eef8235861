"""Reading corpus files: lines, documents, offsets, and every way in which a file can be bad."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from prasanga.base.errors import InputError
from prasanga.sentences import Line, ReadingReport, read_lines
from prasanga.sentences.corpus import Documents

TEXT = "এক\nদুই\n\n  \nতিন\n"


def write(path: Path, data: bytes) -> Path:
    if path.suffix == ".gz":
        data = gzip.compress(data)
    if path.suffix == ".zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["corpus.txt", "corpus.txt.gz", "corpus.txt.zst"])
def test_lines_with_their_byte_offset_and_document(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, TEXT.encode())
    assert list(read_lines(path)) == [Line("এক", 0, 0), Line("দুই", 7, 0), Line("তিন", 21, 1)]


@pytest.mark.parametrize(
    ("documents", "numbers"), [("blank-line", [0, 0, 1]), ("line", [0, 1, 2]), ("file", [0, 0, 0])]
)
def test_what_ends_a_document(tmp_path: Path, documents: Documents, numbers: list[int]) -> None:
    path = write(tmp_path / "corpus.txt", TEXT.encode())
    report = ReadingReport()
    assert [line.document for line in read_lines(path, documents, report=report)] == numbers
    assert report == ReadingReport(bytes=len(TEXT.encode()), lines=5, documents=max(numbers) + 1)


def test_several_members_in_one_compressed_file_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "corpus.gz"
    path.write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c\n"))
    assert list(read_lines(path)) == [Line("a", 0, 0), Line("bc", 2, 0)]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    text = "এক\u2028দুই\u2029তিন\x85চার\x0bপাঁচ\rছয়\nসাত"
    lines = list(read_lines(write(tmp_path / "corpus.txt", text.encode())))
    assert [line.text for line in lines] == text.split("\n")


def test_carriage_returns_at_line_ends_and_a_byte_order_mark_are_no_text(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.txt", b"\xef\xbb\xbfa\r\n\r\nb\r\n")
    assert list(read_lines(path)) == [Line("a", 0, 0), Line("b", 8, 1)]


def test_bytes_that_are_not_utf8_stop_with_the_place(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.txt", "এক\n".encode() + b"ab\xff\xfe\n")
    with pytest.raises(InputError) as error:
        list(read_lines(path))
    message = str(error.value)
    assert f"{path}: not UTF-8 at byte 9 " in message
    assert "(line 2): found the bytes ff fe" in message
    assert "`corpus.errors: skip-line`" in message


def test_the_place_of_bad_bytes_after_a_byte_order_mark(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at byte 4 .*\(line 1\)"):
        list(read_lines(write(tmp_path / "corpus.txt", b"\xef\xbb\xbfa\xff")))


def test_skipped_lines_are_counted_and_end_their_document(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.txt", b"a\nb\xff\nc\n")
    report = ReadingReport()
    assert list(read_lines(path, errors="skip-line", report=report)) == [Line("a", 0, 0), Line("c", 5, 1)]
    assert report == ReadingReport(bytes=7, lines=3, skipped_lines=1, documents=2)


@pytest.mark.parametrize("name", ["corpus.txt.gz", "corpus.txt.zst"])
def test_a_truncated_file_is_an_error_that_says_how_far_it_was_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "".join(f"{i}\n" for i in range(100_000)).encode())
    path.write_bytes(path.read_bytes()[:-5_000])
    with pytest.raises(InputError, match=rf"{name}: reading stopped at byte \d+ .*truncated"):
        list(read_lines(path))


@pytest.mark.parametrize("name", ["corpus.gz", "corpus.zst"])
def test_a_file_that_is_not_what_its_ending_says(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("no archive", encoding="utf-8")
    with pytest.raises(InputError, match="not what its ending says"):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\n"])
def test_a_file_without_text_is_an_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="there is no text in it"):
        list(read_lines(write(tmp_path / "corpus.txt", content), errors="skip-line"))


def test_an_absent_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.txt: no such file"):
        list(read_lines(tmp_path / "absent.txt"))
    with pytest.raises(InputError, match="Is it a file that you may read"):
        list(read_lines(tmp_path))
    with pytest.raises(InputError, match=r"absent\.gz: no such file"):
        list(read_lines(tmp_path / "absent.gz"))
