"""What is missing of a study is said with the command that makes it."""

from __future__ import annotations

import pytest

from prasanga.methods import TABLES
from prasanga.report.study import missing_results, said_of_parts


def test_what_is_not_there_and_what_is_there_in_part() -> None:
    paths = {name: f"results/{name}.parquet" for name in TABLES}
    parts = said_of_parts([f"results/associations/ceat/bert/{length}.parquet" for length in range(6)], 8)
    assert parts == "2 of 8 parts are there; bert/0, bert/1, bert/2, bert/3 and 2 more not yet"
    assert missing_results({"ceat": parts, "pair_statistics": ""}, paths) == [
        f"CEAT is not complete: {parts}; p is corrected for what is there alone. `snakemake results/ceat.parquet`"
        " makes it.",
        "The statistics of the sets of pairs are not there. `snakemake results/pair_statistics.parquet` makes them.",
    ]
    assert missing_results({}, paths) == []


@pytest.mark.parametrize("name", TABLES)
def test_a_corrected_p_is_spoken_of_where_there_is_one(name: str) -> None:
    part = said_of_parts(["results/x/bert/9.parquet"], 2)
    (sentence,) = missing_results({name: part}, {name: "results/x.parquet"})
    has_p = name in ("ceat", "seat", "weat", "log_probability", "bias_percentages")
    assert sentence.partition(": ")[2].partition(" `")[0] == (
        f"1 of 2 parts are there; bert/9 not yet{'; p is corrected for what is there alone' if has_p else ''}."
    )


def test_all_parts_are_there_but_not_what_is_gathered_from_them() -> None:
    assert said_of_parts([], 2) == "all 2 parts are there, not yet gathered"
    assert said_of_parts([], 1) == "its one part is there, not yet gathered"
