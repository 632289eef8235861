"""Digests of files and plain values, JSON files, and tables as text for a spreadsheet."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from prasanga.base.errors import InputError, printable, reason
from prasanga.base.parquet import write_text

# --------------------
# Digests of files and of plain values, and values that are kept under the digest of what they were computed from.
#
# What is kept saves work and is never needed nor trusted: with another key, in a damaged file or in none it is
# computed anew, and where a folder cannot be written it is computed again next time. So nothing here fails and
# nothing is said.


def sha256_of(data: bytes) -> str:
    """Return the sha256 of bytes, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_rows(file: Traversable) -> list[dict[str, str]]:
    """Return the rows of one of our own tables of data: tabs between columns, no quotes, names in the first line."""
    with file.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def unreadable(path: str | Path, error: OSError) -> InputError:
    """Return what to say of a file that is there and cannot be read."""
    mend = (
        "Let yourself read it (`chmod u+r`)" if isinstance(error, PermissionError) else "Restore it, or see to the disk"
    )
    return InputError(f"{path}: cannot be read ({error.strerror or error}). {mend}, and run again.")


def digest_of_file(path: str | Path) -> str:
    """Return the sha256 of a file.

    Raises:
        InputError: the file is absent by now, or cannot be read.
    """
    try:
        return sha256_of_file(path)
    except OSError as error:
        raise unreadable(path, error) from error


def digests_of_files(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return the sha256 of each file, by its path; as `digest_of_file`."""
    return {str(path): digest_of_file(path) for path in paths}


def digest_of(value: Any) -> str:
    """Return a short digest (16 hexadecimal digits) of plain values: numbers, strings, lists, mappings in any order."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    ).hexdigest()[:16]


def read_cache(path: Path, key: str) -> Any:
    """Return the value that was written with `key`; None if the file is absent, damaged, or of another key."""
    try:
        head, text = path.read_text(encoding="utf-8").split("\n", 1)
        return json.loads(text) if json.loads(head) == [key, sha256_of(text.encode())] else None
    except (OSError, ValueError):
        return None


def write_cache(path: Path, key: str, value: Any) -> None:
    """Keep plain values (what JSON gives back as it was) under `key`, in place of what the file held; whole or not."""
    text = json.dumps(value, ensure_ascii=False) + "\n"
    with suppress(InputError, OSError):
        write_text(path, f"{json.dumps([key, sha256_of(text.encode())])}\n{text}")


# --------------------
# JSON files of one stage that later stages read.


def write_document(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write plain values to a JSON file, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_document(path: str | Path) -> dict[str, Any]:
    """Return what was given to `write_document`.

    Raises:
        InputError: the file is absent or damaged, or cannot be read.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it does not begin with a key")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Restore it, or let the workflow make it again.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        raise InputError(f"{path}: damaged ({reason(error)}). Delete it and run the workflow again.") from None
    return content


# --------------------
# Tables as text for spreadsheets.
#
# A spreadsheet takes a cell that begins like a formula for one, and a formula can fetch a page or start a program. So
# such a text gets an apostrophe, which spreadsheets do not show. Numbers stay.


# A sign that begins a formula, in its wide shape too, perhaps behind white space; but not a number with its sign.
_FORMULA = r"^\s*[=+\-@＝＋－＠]"
_NUMBER = r"^[+-]?[0-9][0-9.,eE+-]*%?$"
_GUARDED = re.compile(r"'\s*[=+\-@＝＋－＠]")


def to_tsv(table: pa.Table, *, for_reader: Sequence[str] = ()) -> str:
    """Return a table as tab-separated text that a spreadsheet opens, with empty columns `for_reader` to write in.

    A cell of text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    columns = {name: pl.lit(None, pl.String) for name in for_reader}
    return guarded(pl.DataFrame(table)).with_columns(**columns).write_csv(separator="\t")


def escape_markdown(text: str) -> str:
    """Return plain text that Markdown shows as it is, in one line."""
    # a lone > is plain inside a cell or a sentence
    for sign in "\\|*_`<[]":
        text = text.replace(sign, f"\\{sign}")
    return printable(" ".join(text.split()))


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with an apostrophe before each text that a spreadsheet would take for a formula."""
    texts = pl.selectors.string()
    formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return table.with_columns(pl.when(formula).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def guarded_text(text: str) -> str:
    """Return a text with an apostrophe before it, if a spreadsheet would take it for a formula."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def unguarded_text(text: str) -> str:
    """Return a cell as it was before `guarded_text`, for sheets that come back from people."""
    return text[1:] if _GUARDED.match(text) else text
