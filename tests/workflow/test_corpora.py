"""Corpora in other formats, parts and languages, through the real Snakefile as far as the samples."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_study import Study, copy_code

pytestmark = pytest.mark.workflow

ALONE = {"pairs": {"sets": {}}, "log_probability": {"categories": [], "traits": []}, "seat": {"categories": []}}
SAMPLES = {"lengths": [9, ">20"], "contexts_per_stimulus": 5}
ROSES = ["গোলাপ ফুটেছে বাগানে।", "মশা উড়ছে ঘরে।", "সে গোলাপের কথা বলে।"]


def drawn(study: Study) -> dict[str, list[dict[str, Any]]]:
    """The rows of every bucket."""
    folder = study.root / "results/samples"
    return {path.relative_to(folder).as_posix(): pq.read_table(path).to_pylist() for path in folder.glob("*/*.parquet")}


def hits(study: Study) -> Counter[tuple[str, str]]:
    """Occurrences by corpus file and stimulus."""
    found: Counter[tuple[str, str]] = Counter()
    folder = study.root / "results/sentences"
    for path in (*folder.glob("*.parquet"), *folder.glob("supplement/*.parquet")):
        table = pq.read_table(path, columns=["source", "stimulus"]).to_pydict()
        found.update(zip(table["source"], table["stimulus"], strict=True))
    return found


@pytest.fixture
def clone(project_root: Path, tmp_path: Path) -> Study:
    """A tree in which nothing has run."""
    return copy_code(project_root, tmp_path / "tree", link_source=True)


def draw(study: Study, **changes: Any) -> None:
    study.configure({**ALONE, "categories": ["C1"], "samples": SAMPLES, **changes})
    study.run("draw_samples")


def texts(*entries: Mapping[str, Any]) -> dict[str, Any]:
    return {"root": "texts", "texts": list(entries)}


@pytest.mark.long
def test_the_number_of_parts_changes_nothing(clone: Study) -> None:
    demo = sorted((clone.root / "resources/demo/corpus/bn").glob("*.txt"))
    (clone.root / "texts").mkdir()
    whole = b"\n".join(path.read_bytes() for path in demo)[:1_600_000]
    whole = whole[: whole.rindex(b"\n") + 1]
    (clone.root / "texts/whole.txt").write_bytes(whole)
    draw(clone, corpus=texts({"files": "whole.txt"}))
    expected = drawn(clone)
    draw(clone, corpus={**texts({"files": "whole.txt"}), "shard_megabytes": 1})
    parts = sorted(path.name for path in (clone.root / "results/sentences").glob("whole.part*.parquet"))
    assert parts == [f"whole.part000{i}.parquet" for i in range(round(len(whole) / 1e6))]
    assert len(parts) > 1
    assert drawn(clone) == expected


def test_every_format_is_read(clone: Study) -> None:
    folder = clone.root / "texts"
    folder.mkdir()
    lines = "\n".join(ROSES) + "\n"
    (folder / "packed.txt.gz").write_bytes(gzip.compress(lines.encode()))
    records = [json.dumps({"body": line}, ensure_ascii=False) for line in ROSES]
    (folder / "web.jsonl").write_text("\n".join(records), encoding="utf-8")
    pq.write_table(pa.table({"content": ROSES}), folder / "table.parquet")
    with (folder / "found.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("word", "sentence"), ("গোলাপ", " ".join(ROSES)), ("মশা", " ".join(ROSES))])
    draw(
        clone,
        corpus=texts(
            {"files": "*.txt*"},
            {"files": "web.jsonl", "field": "body"},
            {"files": "table.parquet", "field": "content"},
            {"files": "found.csv"},
        ),
    )
    sources = ("packed.txt.gz", "web.jsonl", "table.parquet")
    expected = Counter({(source, s): n for source in sources for s, n in (("গোলাপ", 2), ("মশা", 1))})
    # a row of a table of sentences found beforehand has one occurrence
    assert hits(clone) == expected + Counter({("found.csv", "গোলাপ"): 1, ("found.csv", "মশা"): 1})


def test_the_supplement_is_searched_for_what_falls_short(clone: Study) -> None:
    folder = clone.root / "texts"
    folder.mkdir()
    roses = "".join(f"{number} নম্বর গোলাপ আজ বাগানে ফুটেছে আর সবাই তা দেখতে এসেছে।\n\n" for number in range(9))
    (folder / "main.txt").write_text(roses, encoding="utf-8")
    flies = "আজ ঘরে একটি মশা আর একটি গোলাপ দেখে সবাই খুব অবাক হয়েছে।\n"
    (folder / "more.txt").write_text(flies, encoding="utf-8")
    corpus = {**texts({"files": "main.txt"}), "supplement": [{"files": "more.txt"}]}
    draw(clone, corpus=corpus, samples={"lengths": [9], "contexts_per_stimulus": 20, "minimum": 3})
    short = json.loads((clone.root / "results/samples/short.json").read_text(encoding="utf-8"))["stimuli"]
    assert "মশা" in short
    assert "গোলাপ" not in short
    assert hits(clone) == {("main.txt", "গোলাপ"): 9, ("more.txt", "মশা"): 1}
    coverage = pl.read_parquet(clone.root / "results/samples/coverage.parquet")
    rows = {row["stimulus"]: row for row in coverage.iter_rows(named=True)}
    assert (rows["গোলাপ"]["sampled"], rows["গোলাপ"]["from_supplement"], rows["গোলাপ"]["short"]) == (9, 0, False)
    assert (rows["মশা"]["sampled"], rows["মশা"]["from_supplement"], rows["মশা"]["short"]) == (1, 1, True)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        pytest.param("hi", "बाग़ में गुलाब खिले हैं। मच्छरों से बचो। ज़िंदगी आज़ादी है।", {"गुलाब", "मच्छर"}, id="hi"),
        pytest.param(
            *("en", "Tuberoses grow in the garden. A mosquito bit me.", {"tuberose", "mosquito"}),
            id="en",
            marks=pytest.mark.long,
        ),
    ],
)
def test_other_languages_work_the_same_way(clone: Study, language: str, text: str, expected: set[str]) -> None:
    (clone.root / "texts").mkdir()
    (clone.root / "texts/a.txt").write_text(text, encoding="utf-8")
    lexicon = {"stimuli": f"resources/stimuli/{language}", "suffix_groups": f"resources/suffix_groups/{language}.yaml"}
    draw(clone, corpus=texts({"files": "a.txt"}), language=language, lexicon=lexicon)
    assert expected <= {stimulus for _, stimulus in hits(clone)}


@pytest.mark.long
def test_candidates_are_ranked_and_the_sample_is_released(clone: Study) -> None:
    news = {"files": "resources/demo/corpus/bn/news.txt", "documents": "blank-line", "licence": "Apache-2.0"}
    lexicon = {"candidates": "resources/candidates/bn", "top": 2}
    clone.configure(
        {**ALONE, "corpus": {"texts": [news]}, "categories": ["C4"], "samples": SAMPLES, "lexicon": lexicon}
    )
    clone.run("rank_candidates", "release")
    with (clone.root / "results/lexicon/candidates.csv").open(encoding="utf-8", newline="") as file:
        ranked = list(csv.DictReader(file))
    by_set: dict[str, list[dict[str, str]]] = {}
    for row in ranked:
        by_set.setdefault(row["set"], []).append(row)
    assert len(by_set) == 4
    for rows in by_set.values():
        counts = [int(row["occurrences"]) for row in rows]
        assert counts == sorted(counts, reverse=True)
    with (clone.root / "results/release/sentences.csv").open(encoding="utf-8", newline="") as file:
        released = list(csv.DictReader(file))
    assert {row["licence"] for row in released} == {"Apache-2.0"}
    assert {row["occurrence_id"] for row in released} == {
        row["occurrence_id"] for rows in drawn(clone).values() for row in rows
    }
    (clone.root / "results/release/sentences.csv").rename(clone.root / "released.csv")
    clone.configure({"corpus": {"root": ".", "texts": [{"files": "released.csv"}]}})
    clone.run("draw_samples")
    again = pq.read_table(clone.root / "results/sentences/released.parquet").to_pylist()
    key = ("stimulus", "text", "start", "end")
    assert Counter(tuple(row[name] for name in key) for row in again) == Counter(
        (row["word"], row["sentence"], int(row["start"]), int(row["end"])) for row in released
    )


class Ranges(BaseHTTPRequestHandler):
    """A folder behind http, which sends ranges of its files."""

    folder: Path

    def do_GET(self) -> None:
        data = (self.folder / self.path.lstrip("/")).read_bytes()
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        piece = data[int(first) : int(last) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(piece) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(piece)))
        self.send_header("ETag", f'"{hashlib.md5(data).hexdigest()}"')
        self.end_headers()
        self.wfile.write(piece)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_parquet_behind_an_address_gives_the_hits_of_the_file(clone: Study) -> None:
    """And another file that stands there is read anew."""
    folder = clone.root / "texts"
    folder.mkdir()
    sentences = [*ROSES, "গোলাপ লাল।"]
    pq.write_table(pa.table({"text": sentences}), folder / "a.parquet")
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Ranges,), {"folder": folder})) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/a.parquet"
        draw(clone, corpus=texts({"files": url}), samples={**SAMPLES, "lengths": [9]})
        assert hits(clone)[url, "গোলাপ"] == 3
        pq.write_table(pa.table({"text": [*sentences, "গোলাপ।"]}), folder / "a.parquet")
        draw(clone, corpus=texts({"files": url}), samples={**SAMPLES, "lengths": [9]})
        assert hits(clone)[url, "গোলাপ"] == 4
        server.shutdown()
