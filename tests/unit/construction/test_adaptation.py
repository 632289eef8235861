"""The sheet by which a set of pairs is adapted, and the checks of what comes back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from tables import read_cases, read_data

from prasanga.base.errors import InputError
from prasanga_construction.adaptation import CONCERNS, FILLED_IN, Adaptation, adaptation_sheet, read_adaptation

PAIRS = pl.DataFrame(
    {
        "pair_id": ["1", "2", "3"],
        "language": ["en"] * 3,
        "bias_type": ["socioeconomic", "gender", "gender"],
        "label": ["stereo", "stereo", "antistereo"],
        "first": ["Tom is poor, and Tom's shoes are old.", "Women can't do politics.", "He drives."],
        "second": ["Tom is rich, and Tom's shoes are old.", "Men can do politics.", "She drives."],
        "origin": [None] * 3,
    },
    schema_overrides={"origin": pl.String},
)
NAMES = {"female": {"Sunita": "Sunita", "Suneeta": "Sunita"}, "male": {"Rahul": "Rahul", "Salim": "Salim"}}
KEPT = {"decision": "keep"}


def adapt(cells: dict[str, dict[str, str]], pairs: pl.DataFrame = PAIRS) -> Adaptation:
    sheet = adaptation_sheet(pairs, NAMES, seed=1)
    rows = [row | cells.get(row["pair_id"], KEPT) for row in sheet.iter_rows(named=True)]
    with TemporaryDirectory() as folder:
        pl.DataFrame(rows).write_csv(f"{folder}/s.csv")
        return read_adaptation(f"{folder}/s.csv", pairs, NAMES)


def found(cells: dict[str, str], pair_id: str = "1") -> list[tuple[str, str]]:
    """Severity and kind of what is found of one pair, in order."""
    table = adapt({pair_id: cells}).findings.filter(pl.col("pair_id") == pair_id)
    return table.select("severity", "kind").rows()


def test_the_sheet() -> None:
    sheet = adaptation_sheet(PAIRS, NAMES, seed=1)
    assert sheet.columns == [
        *("pair_id", "language", "bias_type", "label", "first", "second", "differs", "suggested_names"),
        *FILLED_IN,
    ]
    assert sheet["differs"].to_list() == ["poor / rich", "Women | can't / Men | can", "He / She"]
    suggested = sheet["suggested_names"].to_list()
    assert suggested[0].startswith("Tom = female: Sunita; male: ")
    assert "Tom" not in "".join(suggested[1:])


def test_kept_modified_and_removed() -> None:
    result = adapt(read_data(__file__, "decided"))
    assert result.findings.is_empty()
    assert result.pairs.rows() == [
        (
            *("1", "en", "socioeconomic", "stereo"),
            "Rahul is poor, and Rahul's shoes are old.",
            "Rahul is rich, and Rahul's shoes are old.",
            "inherited",
        ),
        ("3", "en", "gender", "antistereo", "He drives.", "She drives.", "inherited"),
    ]
    assert result.report.rows() == read_cases(__file__, "reported_pairs")
    assert result.summary.rows() == read_cases(__file__, "counted_decisions")


NEW = {"modified_first": "Rahul is poor.", "modified_second": "Rahul is rich."}
CHANGED = {"decision": "modify", "concern": "illogical"}
FOUND = read_cases(__file__, "findings")


@pytest.mark.parametrize(("cells", "expected"), [case[1:] for case in FOUND], ids=[case[0] for case in FOUND])
def test_findings(cells: dict[str, str], expected: list[list[str]]) -> None:
    assert found(cells) == [tuple(each) for each in expected]


def test_a_pair_with_an_error_is_not_written_and_one_with_a_flag_is() -> None:
    result = adapt({"1": {"decision": "keep", "concern": "grammar"}, "2": {"decision": ""}})
    assert result.pairs["pair_id"].to_list() == ["1", "3"]
    places = result.findings.select("pair_id", pl.col("place").str.split("/").list.last())
    assert places.rows() == [("1", "s.csv, line 2"), ("2", "s.csv, line 3")]
    assert result.report["errors"].to_list() == [0, 1, 0]
    assert result.report["flags"].to_list() == [1, 0, 0]
    assert ("error", "undecided", "all", 1) in result.summary.rows()


def test_negation_and_group_differ() -> None:
    assert found(KEPT, "2") == [("flag", "attribute-mismatch"), ("flag", "negation")]


def test_pronouns_agree() -> None:
    assert found(KEPT, "3") == []


def test_names_replaced_in_several_ways_over_a_set() -> None:
    pairs = pl.concat([PAIRS.head(1), PAIRS.head(1).with_columns(pair_id=pl.lit("9"))])
    cells = {
        pair_id: {
            **CHANGED,
            "names": f"Tom={name}",
            "modified_first": f"{name} is poor.",
            "modified_second": f"{name} is rich.",
        }
        for pair_id, name in (("1", "Rahul"), ("9", "Salim"))
    }
    result = adapt(cells, pairs)
    assert result.findings.select("kind", "found").rows() == [("name-varies", "Tom: Rahul (1), Salim (1)")] * 2
    assert result.pairs.height == 2


REFUSED = read_cases(__file__, "refused_cells")


@pytest.mark.parametrize(("cells", "message"), REFUSED)
def test_what_is_refused(cells: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        adapt({"1": cells})


def test_every_concern_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs/make_pairs.md").read_text(encoding="utf-8")
    assert [concern for concern in CONCERNS if f"`{concern}`" not in page] == []
