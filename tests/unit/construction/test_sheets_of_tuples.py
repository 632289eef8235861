"""Annotation sheets: written, filled in, read back; every slip is told."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga_construction.tuples import SHEET_COLUMNS, BiasTuple, add_votes, read_sheet, write_sheets

NAMES = ["annotator-1", "annotator-2", "annotator-3"]
TUPLES = [
    BiasTuple(f"t{number}", "hi", "age", "युवा लोग", attribute, "positive")
    for number, attribute in enumerate(["मेहनती", "तेज़", "अधीर", "सच्चा", "निडर", "चंचल", "जिद्दी, पर अच्छा"])
]


def fill(path: Path, vote: Callable[[str], str]) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, SHEET_COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "vote": vote(row["tuple_id"])} for row in rows)


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = write_sheets(TUPLES, tmp_path, NAMES, 47)[0]
    fill(path, lambda _: "1")
    return path


def test_every_annotator_has_every_tuple_in_an_order_of_their_own(tmp_path: Path) -> None:
    paths = write_sheets(TUPLES, tmp_path, NAMES, 47)
    assert [path.name for path in paths] == [*(f"{name}.csv" for name in NAMES), "instructions.md"]
    orders = []
    for path in paths[:3]:
        assert not path.read_bytes().startswith(b"\xef\xbb\xbf")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == list(SHEET_COLUMNS)
        assert {row["vote"] for row in rows} == {""}
        orders.append([row["tuple_id"] for row in rows])
        assert sorted(orders[-1]) == [each.tuple_id for each in TUPLES]
    assert len({tuple(order) for order in orders}) == 3
    again = write_sheets(TUPLES, tmp_path / "again", NAMES, 47)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]
    assert "7 rows" in paths[3].read_text(encoding="utf-8")


def test_votes_come_back(tmp_path: Path) -> None:
    paths = write_sheets(TUPLES, tmp_path, NAMES, 47)[:3]
    for number, path in enumerate(paths):
        fill(path, lambda name, number=number: str(int(int(name[1:]) % 3 <= number)))  # type: ignore[misc]
    votes = {name: read_sheet(path, TUPLES) for name, path in zip(NAMES, paths, strict=True)}
    annotated = add_votes(TUPLES, votes)
    assert [each.score for each in annotated] == [3, 2, 1, 3, 2, 1, 3]
    assert annotated[1].votes == {"annotator-1": 0, "annotator-2": 1, "annotator-3": 1}
    assert {each.annotators for each in annotated} == {3}


def test_a_byte_order_mark_of_a_spreadsheet_does_no_harm(sheet: Path) -> None:
    sheet.write_bytes(b"\xef\xbb\xbf" + sheet.read_bytes())
    assert set(read_sheet(sheet, TUPLES).values()) == {1}


@pytest.mark.parametrize(("old", "new", "said"), read_cases(__file__, "slips"))
def test_every_slip_is_told(sheet: Path, old: str, new: str, said: str) -> None:
    text = sheet.read_bytes().decode()
    assert old in text
    sheet.write_bytes(text.replace(old, new).encode())
    with pytest.raises(InputError, match=said):
        read_sheet(sheet, TUPLES)
