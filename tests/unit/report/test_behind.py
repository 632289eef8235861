"""What stands behind a number: the sentences are those measured, the words those of the table, and each is found."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from report_pages import CATEGORIES, CONFIG, estimates, write_page
from report_tables import SCHEMA, arrange_ceat, estimate

from prasanga.report.grid import address_of_number
from prasanga.report.study import Results
from prasanga.report.word_views import panel_data
from prasanga.schema import TABLES

TEXTS = {"9": "দেখা যায় গোলাপের রং", "25": "বাগানে রোজ দেখা যায় গোলাপের রং আর গন্ধ"}
WORDS = [("x", "গোলাপ", 0.012349, 0.61), ("y", "মশা", 0.02, None), ("a", "শান্তি", -0.01, 0.5), ("b", "দুঃখ", 0.03, 0.9)]


def segment(stimulus: str, length: str, text: str, word: str, occurrence: str) -> dict[str, Any]:
    start = text.index(word)
    ends = {"start": start, "end": start + len(word)}
    return {"stimulus": stimulus, "segment_length": length, "text": text, **ends, "occurrence_id": occurrence}


def sentences() -> pl.DataFrame:
    """One occurrence at two lengths, the shorter a part of the longer; and a filled template."""
    rows = [
        {**segment("গোলাপ", length, text, "গোলাপের", "o1"), "method": "ceat", "category": "", "source": "news.txt"}
        for length, text in TEXTS.items()
    ]
    filled = segment("গোলাপ", "templates", "এটা গোলাপ।", "গোলাপ", "t1")
    rows.append({**filled, "method": "seat", "category": "", "source": ""})
    return pl.DataFrame(
        [{**row, "rank": 1, "n_measured": 7} for row in rows], schema=TABLES["measured_sentences"].polars
    )


def words(length: str = "9") -> pl.DataFrame:
    key = {"category": "C1", "model": "wide_1", "segment_length": length}
    columns = ("role", "stimulus", "association", "effect_without")
    return pl.DataFrame([{**key, **dict(zip(columns, row, strict=True)), "set": row[0]} for row in WORDS])


def results(**changes: Any) -> Results:
    rows = [estimate("C1", "wide_1", length, "fixed", 0.7) for length in ("9", "25")]
    ceat = arrange_ceat(pl.DataFrame(rows, schema=SCHEMA))
    given = {"ceat": ceat, "ceat_words": words(), "categories": CATEGORIES, "measured_sentences": sentences()}
    return Results(**{**given, **changes})


def data_of(shown: Results, **config: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(panel_data({**CONFIG, **config}, shown))))


def read(data: dict[str, Any], address: str, word: str) -> list[tuple[str, str, str]]:
    """The sentences of a word behind a number, as the script puts them together: text, marked word, source."""
    places = data["sentences"].get(data["estimates"][address]["sentences"], {})
    found = []
    n_measured, *listed = places.get(str(data["words"].index(word)), [7])
    assert n_measured == 7
    for text, begin, end, start, stop, source in listed:
        whole = data["texts"][text].encode("utf-16-le")
        cut = [whole[2 * low : 2 * high].decode("utf-16-le") for low, high in ((begin, end), (start, stop))]
        found.append((cut[0], cut[1], data["sources"][source]))
    return found


def test_of_very_much_text_the_last_sentences_of_each_word_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sentences().filter(segment_length="9")
    several = pl.concat(
        [
            first.with_columns(
                rank=pl.lit(n, pl.Int32), text=pl.lit(f"{TEXTS['9']} {n}"), occurrence_id=pl.lit(f"o{n}")
            )
            for n in (1, 2, 3)
        ]
    )
    shown = results(measured_sentences=several)
    assert len(read(data_of(shown), "behind-ceat.C1.wide_1.9", "গোলাপ")) == 3
    monkeypatch.setattr("prasanga.report.word_views.MOST_CHARACTERS", 2 * (len(TEXTS["9"]) + 2))
    found = read(data_of(shown), "behind-ceat.C1.wide_1.9", "গোলাপ")
    assert [text for text, _, _ in found] == [f"{TEXTS['9']} 1", f"{TEXTS['9']} 2"]


def test_primary_numbers_have_the_sentences_of_the_longest_fixed_length() -> None:
    data = data_of(results(ceat_words=pl.concat([words("9"), words("mean")])))
    assert [text for text, _, _ in read(data, "behind-ceat.C1.wide_1.mean", "গোলাপ")] == [TEXTS["25"]]


@pytest.mark.parametrize(
    ("changes", "config", "why"),
    [
        ({"measured_sentences": pl.DataFrame()}, {}, "this page have no sentences"),
        ({}, {"report": {**CONFIG["report"], "texts": "hidden"}}, "report.texts: hidden"),
    ],
)
def test_what_has_no_sentences_says_why(changes: dict[str, Any], config: dict[str, Any], why: str) -> None:
    data = data_of(results(**changes), **config)
    assert data["sentences"] == {}
    assert data["texts"] == []
    assert why in data["why"]["ceat"]
    assert "static vector" in data["why"]["weat"]
    assert data["estimates"]["behind-ceat.C1.wide_1.9"]["without"] == [None, 0.61, 0.9, 0.5]


def test_every_link_of_the_page_leads_to_a_place_in_it_and_to_its_data(tmp_path: Path) -> None:
    text = write_page(tmp_path / "index.html", ceat_words=words(), measured_sentences=sentences()).read_text(
        encoding="utf-8"
    )
    links = set(re.findall(r'href="#(behind-[^"]+)"', text))
    assert links == set(re.findall(r'id="(behind-(?:ceat|seat)[^"]+)"', text))
    kind, payload = re.findall(r'id="behind-data" data-kind="(\w+)">([^<]*)<', text)[0]
    data = json.loads(payload if kind == "json" else gzip.decompress(base64.b64decode(payload)))
    assert links == set(data["estimates"])
    with_numbers = [row for row in estimates().iter_rows(named=True) if row["effect_size"] is not None]
    assert links == {address_of_number("ceat", row) for row in with_numbers}
