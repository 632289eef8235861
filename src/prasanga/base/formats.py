"""Recognize the format of a file by its first bytes, whatever its name; and read compressed files to their true end.

Common readers end silently where a compressed file is cut between two blocks (zstandard) or where other bytes follow
the data (lzma). A study of three quarters of a corpus looks like a study of all of it, so one loop decompresses all
formats and checks that the last member is complete.
"""

from __future__ import annotations

import bz2
import csv
import io
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

import zstandard

from prasanga.base.errors import InputError, reason

HEAD = 1 << 16
"""Decompressed bytes by which a format is recognized."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BUFFER = 1 << 20
_PIECE = 1 << 12  # compressed bytes at a time: 16 kB of text as a rule
_LARGEST_WINDOW = 1 << 31  # of `zstd --long=31`, which large public corpora use; the library's default is 128 MB
_LONGEST_CELL = 1 << 28  # characters; the default of the csv module is 2^17, less than many documents
_STRICT, _DECODER = json.JSONDecoder(), json.JSONDecoder(strict=False)  # the strict one refuses NUL and tabs in strings


class _Compression(NamedTuple):
    """Its first bytes, the decompressor of one member (frame, stream), and the padding after a member."""

    magic: bytes
    decompressor: Callable[[], Any]
    padding: bytes


def _decompress_frame() -> Any:
    return zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()


_COMPRESSIONS: Mapping[str, _Compression] = {
    ".gz": _Compression(b"\x1f\x8b\x08", lambda: zlib.decompressobj(wbits=31), b"\0"),
    ".zst": _Compression(b"\x28\xb5\x2f\xfd", _decompress_frame, b""),
    ".xz": _Compression(b"\xfd7zXZ\0", lzma.LZMADecompressor, b"\0"),
    ".bz2": _Compression(b"BZh", bz2.BZ2Decompressor, b"\0"),
}

COMPRESSED = tuple(_COMPRESSIONS)
"""The usual endings of compressed files; the first bytes decide."""

with Path(__file__).with_name("formats.tsv").open(encoding="utf-8") as _file:
    _KINDS = {row["kind"]: row for row in csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE)}
_SIGNATURES = {
    signature.encode().decode("unicode_escape").encode("latin-1"): kind
    for kind, row in _KINDS.items()
    for signature in row["signatures"].split()
}
"""Kinds of files by their first bytes; a file that is compressed twice counts as an archive.

`formats.tsv` lists the kinds that are not read, with what to do.
"""
_SKIPPABLE_FRAMES = tuple(bytes([byte]) + b"\x2a\x4d\x18" for byte in range(0x50, 0x60))  # of zstandard, without text


class Content(NamedTuple):
    """The format of a file.

    Attributes:
        kind: text, jsonl, json, table, conllu, parquet, dataset (Arrow), or a kind that is refused (`formats.tsv`).
        compression: the ending that names the compression (`.gz`); "" for a plain file.
        dialect: for a table, the arguments of `csv.reader`.
        columns: for a table, the names in its first row, stripped.
        skipped: lines before a table's first row (Excel's `sep=;`).
        bad_byte: byte offset, in the decompressed text, of the first byte that is not UTF-8; None if all is UTF-8.
        is_text: whether it can be read as plain text.
    """

    kind: str
    compression: str = ""
    dialect: Mapping[str, Any] = {}
    columns: tuple[str, ...] = ()
    skipped: int = 0
    bad_byte: int | None = None
    is_text: bool = False


# --------------------
# Compressed files.


def find_compression(path: str | Path) -> str:
    """Return the ending that names a file's compression (`.gz`), by its first bytes; "" for a plain file.

    A file with such an ending that is shorter than the signature counts as compressed: it is truncated.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    with open_file(path) as file:
        return _compression_of(file.read(8), path)


def _compression_of(first: bytes, path: str | Path) -> str:
    for ending, compression in _COMPRESSIONS.items():
        if first.startswith(compression.magic) or (ending == ".zst" and first.startswith(_SKIPPABLE_FRAMES)):
            return ending
    suffix = PurePosixPath(path).suffix.lower()
    return suffix if first and suffix in COMPRESSED and _COMPRESSIONS[suffix].magic.startswith(first) else ""


def open_file(path: str | Path) -> BinaryIO:
    """Open a file for reading, without decompression; raise InputError if it is missing or cannot be read."""
    try:
        return Path(path).open("rb", _BUFFER)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Correct its path, or put the file there.") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}). Check that it is a file, that you may read it, and"
            " that its disk is mounted."
        ) from None


def open_decompressed(path: str | Path, *, start: int = 0) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes are gzip, zstandard, xz or bzip2, whatever its name.

    Several members (gzip, bzip2), frames (zstandard) or streams (xz) are read as one text. Memory use: about a
    megabyte plus the window of a zstandard frame.

    Args:
        path: the file.
        start: the byte at which to begin, for a plain file.

    Raises:
        InputError: the file is missing or cannot be read (at once), or it is truncated, damaged, or followed by other
            bytes (while reading).
    """
    plain = open_file(path)
    ending = _compression_of(plain.read(8), path)
    plain.seek(0 if ending else start)
    return io.BufferedReader(_Decompressed(Path(path), plain, ending), _BUFFER) if ending else plain


class _Decompressed(io.RawIOBase):
    """The decompressed text of a file, as a raw stream."""

    def __init__(self, path: Path, file: BinaryIO, ending: str) -> None:
        self._file, self.ending = file, ending
        self._texts = _decompress(path, file, _COMPRESSIONS[ending])
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        self._rest = self._rest or memoryview(next(self._texts, b""))
        taken = min(len(buffer), len(self._rest))
        buffer[:taken], self._rest = self._rest[:taken], self._rest[taken:]
        return taken

    def close(self) -> None:
        self._file.close()
        super().close()


def _decompress(path: Path, file: BinaryIO, compression: _Compression) -> Iterator[bytes]:
    """Yield the decompressed text in non-empty pieces."""
    position = 0
    member: Any = None
    why = ""
    try:
        while piece := file.read(_PIECE):
            while piece := piece if member else piece.lstrip(compression.padding):
                member = member or compression.decompressor()
                if text := member.decompress(piece):
                    position += len(text)
                    yield text
                piece = b""
                if member.eof:
                    piece, member = member.unused_data, None
        if member is not None:
            why = "the file ends before its compressed data do"
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError) as error:
        why = reason(error)
    if why:
        raise InputError(
            f"{path}: reading stopped at byte {position} of the decompressed text: {why}. The file is truncated or"
            " damaged: fetch it again."
        )


# --------------------
# Formats.


def recognize_file(path: str | Path, field: str = "") -> Content:
    """Return the format of a file, by its first bytes (`HEAD`); `field` as in `recognize`.

    Raises:
        InputError: the file is missing, cannot be read, or its first bytes are damaged.
    """
    with open_decompressed(path) as stream:
        found = recognize(stream.read(HEAD + 1), path, field)
        raw = getattr(stream, "raw", None)
        return found._replace(compression=raw.ending) if isinstance(raw, _Decompressed) else found


def recognize(head: bytes, name: str | Path = "", field: str = "") -> Content:
    """Return the format of a file.

    The first bytes are parsed, so text that only begins like JSON, HTML or a table is text. A file is a table if its
    name says so (`.csv`, `.tsv`), or if all rows have as many cells as the first, which has names of columns.

    Args:
        head: the first decompressed bytes, cut at `HEAD`.
        name: the file's name.
        field: the column that is wanted; its name in the first row makes a file a table.
    """
    is_cut, head = len(head) > HEAD, head[:HEAD]
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature):
            return Content(kind)
    if head[257:262] == b"ustar":
        return Content("archive")
    if head.startswith(b"PK\x03\x04"):
        is_office = any(part in head for part in (b"word/", b"ppt/", b"mimetypeapplication/"))
        return Content("excel" if b"xl/" in head else "document" if is_office else "archive")
    bad_byte, text = None, head.decode("utf-8-sig", "replace")
    try:
        head.decode()
    except UnicodeDecodeError as error:
        bad_byte = error.start if not is_cut or error.start < len(head) - 3 else None
    if (bad_byte is not None or b"\0" in head) and _is_wide(head):
        return Content("utf-16")
    n_control = len(head) - len(head.translate(None, _CONTROL))
    if (bad_byte is not None and n_control > len(head) / 50) or bytes(8) in head:
        return Content("binary")
    if not is_cut and (not text or text.isspace()):
        return Content("empty")
    if "\n" not in text and text.count("\r") > 1:
        return Content("returns")
    lines = text.split("\n")[: -1 if is_cut else None]
    endings = {ending.lower() for ending in PurePosixPath(name).suffixes[-2:]}
    special = _find_json(text, lines, is_cut) or _find_markup(text, endings, is_cut)
    found = Content(special) if special else _find_rows(lines, endings, field)
    return found._replace(bad_byte=bad_byte, is_text=True)


_CONTROL = bytes([*range(1, 9), *range(14, 27), *range(28, 32), 127])
_LETTERS = re.compile("[\t\n\r -~\u00a0-\u00ff\u0900-\u0dff\u2000-\u206f]")


def _is_wide(head: bytes) -> bool:
    """Return whether text is UTF-16 or UTF-32, with or without a byte order mark."""
    texts = (head[:512].decode(encoding, "ignore") for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"))
    return head.startswith((b"\0\0\xfe\xff", b"\xff\xfe", b"\xfe\xff")) or any(
        len(text) > 3 and len(_LETTERS.findall(text)) > 0.9 * len(text) and "\0" not in text for text in texts
    )


_BETWEEN = re.compile(r"[\s,]*")
_KEYED = re.compile(r'[\[\s]*\{\s*"[^"\n]*"\s*:')
_PYTHON = re.compile(r"(\{'[^']*': .*\}|\[\{?'.*\]),?\s*")


def _find_json(text: str, lines: list[str], is_cut: bool) -> str | None:
    """Return jsonl for JSON lines, json for an array or other sequence of objects, python for printed Python."""
    text = text.lstrip()
    if not text.startswith(("{", "[")):
        return None
    objects = [_is_json(line, dict) for line in lines if line.strip()]
    if 2 * sum(objects) > len(objects):
        return "jsonl"
    if objects and all(_PYTHON.fullmatch(line) for line in lines[:100] if line.strip()):
        return "python"
    at = 0
    try:
        while at < len(text):
            at = _BETWEEN.match(text, _DECODER.raw_decode(text, at)[1]).end()  # type: ignore[union-attr]
    except RecursionError:
        return None
    except json.JSONDecodeError as error:  # with keys it is cut or damaged JSON; text may begin with a bracket, too
        in_string = error.msg.startswith("Unterminated") and "\n" not in text[error.pos :]
        if not _KEYED.match(text, at) and not (is_cut and (in_string or error.pos > len(text) - 10)):
            return None
    except ValueError:  # a number of too many digits
        pass
    return "jsonl" if text[0] == "{" and not objects and not at else "json"


def _is_json(line: str, kind: type, decoder: json.JSONDecoder = _DECODER) -> bool:
    try:
        return isinstance(decoder.decode(line), kind)
    except (ValueError, RecursionError):
        return False


_DECLARATION = re.compile(r"<(\?xml\b|!doctype\s|doc\s+id=|(html|head|body|rss|tei|tmx|mediawiki)[\s>])", re.I)
_CODE = re.compile(r"(#.*\n|\s)*(msgid \"|\\documentclass|INSERT INTO |CREATE TABLE |-- MySQL dump|window\.[\w.]+ = )")
_COMMENTS = re.compile(r"(\s|<!--.*?-->)*", re.DOTALL)
_TAG_LINE = re.compile(r"<([a-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*>", re.I)
_CLOSED = re.compile(r"<([a-z][\w:.-]*)(?:\s[^<>]*)?>[^<>]*(?:<[^<>]*>[^<>]*)*?</\1\s*>|<(?:br|hr|p)\s*/?>", re.I)
_TIMES = re.compile(r"\[?(?:\d+:)?\d\d?:\d\d[,.]\d{2,3}\s*(?:-->|,\s*\d+:\d\d)|\{\d+\}\{\d+\}|\[\d+:\d\d\.\d+\]")


def _find_markup(text: str, endings: Set[str], is_cut: bool) -> str | None:
    """Return markup for HTML, XML or code, subtitles for these, and None for prose that has a tag or a time in it."""
    begins = _COMMENTS.sub("", text, count=1)
    if _DECLARATION.match(begins) or _CODE.match(begins):
        return "markup"
    if endings & _TABLES:  # its cells may have tags
        return None
    lines = [line.strip()[:2000] for line in islice((line for line in begins.split("\n") if line.strip()), 100)]
    if (first := _TAG_LINE.match(begins)) and (first[2] or lines[0] == first[0]):
        closed = f"</{first[1]}>"
        if closed in lines or (first[2] and (closed in text or is_cut)):
            return "markup"
    tagged = sum(bool(_CLOSED.search(line)) for line in lines)
    if 2 * tagged > len(lines) or (tagged and endings & {".html", ".htm", ".xhtml", ".xml"}):
        return "markup"
    times = sum(bool(_TIMES.match(line)) for line in lines[:20])
    is_subtitles = begins.startswith(("WEBVTT", "[Script Info]")) or 5 * times >= max(5, len(lines[:20]))
    return "subtitles" if is_subtitles else None


_TABLES = {".csv", ".tsv", ".tab"}
_NAMES = {"text", "sentence", "content", "body", "document", "title", "id", "url", "label", "language"}
_COLUMN = re.compile(r"[a-z_][\w.-]{0,30}|", re.ASCII)
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?$', re.IGNORECASE)  # for Excel
_TOKEN = re.compile(r"\d+([-.]\d+)?(\t[^\t]*){9}")
_TOKEN_PLUS = re.compile(r"\d+([-.]\d+)?(\t[^\t]*)+")  # of CoNLL-U Plus, which has any number of columns
# atomic groups: a long row takes linear time
_TAGGED = re.compile(r".*\S (O|[BIESLU]-\S+)|(?:(?>\S+/[A-Z]\S*)\s+)*(?>\S+/[A-Z]\S*)\s*")
_SENTENCE_TEXT = re.compile(r"#\s*text\s*=")


def _find_rows(lines: list[str], endings: Set[str], field: str) -> Content:
    """Return lines as a table, CoNLL-U, JSON strings, or columns (without names, or of annotated words); else text."""
    lines = lines[:100]
    rows = [line.rstrip("\r") for line in lines if line.strip()]
    tokens = [row for row in rows if not row.startswith("#")]
    has_texts = any(map(_SENTENCE_TEXT.match, rows))
    if tokens and all(map((_TOKEN_PLUS if has_texts else _TOKEN).fullmatch, tokens)):
        return Content("conllu" if has_texts else "columns")
    first = rows[0] if rows else ""
    if (
        len(rows) > 1
        and not endings & _TABLES
        and first != f'"{field}"'
        and all(_is_json(row, str, _STRICT) for row in rows)
    ):
        return Content("json")
    names = [cell.strip(" \"'") for cell in re.split(r"[,;\t|]", first)] if first[:1] != "|" else []  # of Markdown
    is_named = field in names or len(_NAMES & {*names}) > 1
    is_header = (
        len(names) > 1 and is_named and (field in {*names} - {*_NAMES, ""} or all(map(_COLUMN.fullmatch, names)))
    )
    known = _NAMES & {name.lower() for name in names}
    is_likely = len(rows) > 2 and (len(known) > 1 or (known and not re.search("[,;] ", first)))
    if is_header or is_likely or endings & _TABLES or _SEPARATOR_LINE.match(first):
        table, is_even = _find_table(lines, endings)
        if is_header or is_even or endings & _TABLES or table.skipped:
            return table
    cells = [row.split("\t") for row in tokens]
    is_tagged = all(_TAGGED.fullmatch(f"{row} "[:1000].rpartition(" ")[0]) for row in tokens)
    is_even = len({*map(len, cells)}) == 1 and all(row == row.strip("\t") for row in tokens)  # paragraphs may begin so
    in_columns = min(map(len, cells), default=0) > 1 and (is_even or all(row[0].isdecimal() for row in cells))
    return Content("columns" if len(cells) > 4 and (is_tagged or in_columns) else "text")


def _find_table(lines: list[str], endings: Set[str]) -> tuple[Content, bool]:
    """Return lines as a table, and whether all rows have as many cells.

    A delimiter with which they do takes precedence; then the one that cuts the first row into most cells.
    """
    mark = _SEPARATOR_LINE.match(lines[0]) if lines else None
    found: list[tuple[bool, int, int, Content]] = []
    header = next((line for line in lines[bool(mark) :] if line.strip()), "")
    dialects = [(delimiter, csv.QUOTE_MINIMAL) for delimiter in (mark[1] if mark else "\t;|,")]
    for delimiter, quoting in dialects if mark else [*dialects, ("\t", csv.QUOTE_NONE)]:
        blanks = 0 < header.count(f"{delimiter} ") == header.count(delimiter)
        dialect = dict[str, Any](delimiter=delimiter, quoting=quoting, skipinitialspace=blanks, strict=True)
        reader = csv.reader([f"{line}\n" for line in lines[bool(mark) :]], **dialect)
        rows, is_whole = list[list[str]](), True
        try:
            rows.extend(row for row in reader if row)
        except csv.Error:  # the last row may be cut
            is_whole = reader.line_num >= len(lines) - bool(mark)
        columns = tuple(cell.strip() for cell in rows[0]) if rows else ()
        is_even = is_whole and len(columns) > 1 and len(rows) > 1 and len({*map(len, rows)}) == 1
        usual = "\t" if len(columns) > 1 or endings & {".tsv", ".tab"} else ","
        is_usual = -any(_has_swallowed(row, dialect) for row in rows) or (delimiter == usual and not quoting)
        found.append((is_even, len(columns), is_usual, Content("table", "", dialect, columns, int(bool(mark)))))
    is_even, *_, table = max(found, key=lambda each: each[:3])
    return table, is_even


def _has_swallowed(row: Sequence[str], dialect: Mapping[str, Any]) -> bool:
    """Return whether a cell swallowed other rows: between tabs, quotation marks of speech that close lines later."""
    inner = (line for cell in row if dialect["delimiter"] == "\t" for line in cell.split("\n")[1:])
    return any(line.count("\t") >= max(1, len(row) - 1) and not line.startswith("\t") for line in inner)


# --------------------
# Records in JSON and tables.


def walk_json(text: str) -> Iterator[Any]:
    """Yield the values of JSON text: elements of arrays, or values one after the other, with or without commas.

    Raises:
        ValueError, RecursionError: a value is not JSON, or an array does not end.
    """
    at, is_array = 0, False
    while (at := _BETWEEN.match(text, at).end()) < len(text) or is_array:  # type: ignore[union-attr]
        if text.startswith("]" if is_array else "[", at):
            is_array, at = not is_array, at + 1
        else:
            value, at = _DECODER.raw_decode(text, at)
            yield value


def split_rows(path: str | Path, lines: Iterable[str], table: Content) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows of a table, each with the number of its last line.

    Args:
        path: the file, for messages.
        lines: its lines with their ends; cells may include line breaks.
        table: its format, from `recognize`.

    Raises:
        InputError: a line cannot be read as a row.
    """
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(islice(lines, table.skipped, None), **table.dialect)
    try:
        for row in rows:
            if _has_swallowed(row, table.dialect):
                raise csv.Error("a cell with a row in it; if it is one, write the table with commas")
            if row:
                yield rows.line_num + table.skipped, row
    except csv.Error as error:
        raise InputError(
            f"{path}: line {rows.line_num + table.skipped} cannot be read as a row ({error}). Put a cell with a quote,"
            f" a line break or a {table.dialect['delimiter']!r} between double quotes, and double each quote in it."
        ) from None


# --------------------
# Formats that are refused.


def refuse(content: Content) -> str:
    """Return why a kind of file is never read and what to do, to follow the file's name; "" for any other kind."""
    row = _KINDS.get(content.kind, {})
    return f"is {row['said']}. {row['remedy']}." if row.get("said") else ""
