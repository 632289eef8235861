"""The sentences that a reader is shown of each word: the first of those that all models measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from prasanga.samples.segments import SENTENCES_SCHEMA, choose_sentences


def segment(stimulus: str, length: str, text: str, word: str, occurrence: str) -> dict[str, Any]:
    start = text.index(word)
    ends = {"start": start, "end": start + len(word)}
    return {"stimulus": stimulus, "segment_length": length, "text": text, **ends, "occurrence_id": occurrence}


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path


def test_the_first_sentences_that_all_models_measured_are_chosen(tmp_path: Path) -> None:
    rows = [segment("গোলাপ", "9", f"{n} গোলাপ", "গোলাপ", f"o{n}") for n in range(6)]
    rows += [segment("মশা", "9", "এক মশা", "মশা", "m1")]
    sources = parquet(tmp_path / "s.parquet", [{"occurrence_id": f"o{n}", "source": f"{n}.txt"} for n in range(6)])
    measured = {"গোলাপ": {"o1", "o2", "o4", "o5"}, "মশা": set[str]()}  # a model left o0 and o3 out, and every m
    chosen = choose_sentences(
        [([parquet(tmp_path / "00.parquet", rows)], measured)], sources=[sources], scored=[], terms=[]
    )
    assert chosen.schema == dict(SENTENCES_SCHEMA)
    assert chosen.select("text", "rank", "n_measured", "source").rows() == [
        ("1 গোলাপ", 1, 4, "1.txt"),
        ("2 গোলাপ", 2, 4, "2.txt"),
        ("4 গোলাপ", 3, 4, "4.txt"),
    ]
    assert set(chosen["method"]) == {"ceat"}


def test_filled_sentences_are_listed_once_and_those_left_out_or_without_a_license_are_not(tmp_path: Path) -> None:
    filled = [segment("গোলাপ", "templates", f"{n} গোলাপ।", "গোলাপ", f"t{n}") for n in range(20)]
    templates = parquet(tmp_path / "templates.parquet", filled)
    row = {"category": "C1", "role": "a", "attribute": "শান্তি", "template": "t", "text": "ফুল শান্তি", "left_out": None}
    other = row | {"attribute": "দুঃখ", "text": "ফুল দুঃখের", "left_out": "unknown-piece"}
    scored = [
        parquet(tmp_path / "a.parquet", [row | {"model": "a"}, other | {"model": "a"}]),
        parquet(tmp_path / "b.parquet", [row | {"model": "b"}, other | {"model": "b"}]),
    ]
    term = {"trait": "সৎ", "structure": "S1", "group": "male", "text": "সে মানুষ", "left_out": None}
    unlicensed = term | {"structure": "S5", "text": None}
    terms = parquet(tmp_path / "t.parquet", [term, term | {"group": "female"}, term | {"text": "again"}, unlicensed])
    occurrences = {"গোলাপ": {f"t{n}" for n in range(20)}}
    chosen = choose_sentences([([templates], occurrences)], sources=[], scored=scored, terms=[terms])
    assert chosen.filter(method="seat").select("text", "n_measured").rows() == [(f"{n} গোলাপ।", 20) for n in range(6)]
    columns = ("category", "stimulus", "text", "start", "end", "source")
    assert chosen.filter(method="log_probability").select(columns).rows() == [("C1", "শান্তি", "ফুল শান্তি", 4, 10, "")]
    # the trait does not stand in the sentence as it is listed
    of_traits = chosen.filter(method="structures").select(columns).rows()
    assert of_traits == [("S1", "সৎ", "সে মানুষ", None, None, "")] * 2
