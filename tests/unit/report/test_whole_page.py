"""A whole page of a made-up study that has everything, as HTML: each number, link and hover where it belongs.

`WRITE_GOLDEN=1 pytest tests/unit/report/test_whole_page.py` writes the file again after an intended change.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_up_studies import draw_study
from report_pages import CONFIG, HOSTILE, SVG

from prasanga.report.page import render_page
from prasanga.report.study import EmbeddingFiles, Results
from prasanga.schema import TABLES

FILE = Path(__file__).parents[2] / "golden" / "report" / "page.txt"
SEED = 55
"""A study of CEAT with both kinds of draws, SEAT, log-probability bias, structures and pairs."""

PAIRS = [
    ("g1", "bn", "gender", "stereo", "মেয়েটি রোজ রাঁধে।", "ছেলেটি রোজ রাঁধে।"),
    ("g2", "bn", "gender", "antistereo", "ছেলেটি বড় হয়েছে।", "মেয়েটি বড় হয়েছে।"),
    ("r1", "en", "religion", "stereo", f"<b>He</b> {HOSTILE}", f"She {HOSTILE}"),
    ("l1", "en", "gender", "stereo", "Same words\u202e", "Same words\u202e"),
]
WORDS = [("x", "গোলাপ", 0.3, 0.61), ("y", "মশা", -0.02, None), ("a", "শান্তি", -0.01, 0.5), ("b", "দুঃখ", 0.03, 0.9)]
FILES = [
    "figures/sample_modes.pdf",
    "figures/column/sample_modes.pdf",
    "data/concordance.tsv",
    *(f"tables/{name}.csv" for name in ("sadhu_table4", "sadhu_table5", "sahoo_table2")),
]
STATISTICS = [
    ("hi", "all", "mean_words", "all", 9.256, 90, "demo"),
    ("hi", "tuples", "mean_words", "all", 8.0, 30, "demo"),
    ("hi", "all", "label_percentage", "stereo", 60.04, 90, "demo"),
    ("hi", "tuples", "type_percentage", "physical-appearance", None, 0, "demo"),
]


def as_table(name: str, rows: list[tuple[Any, ...]], columns: str) -> pl.DataFrame:
    """A table of the registry from some of its columns."""
    table = pl.DataFrame(rows, schema=columns.split(), orient="row")
    return pl.concat([pl.DataFrame(schema=TABLES[name].polars), table], how="diagonal_relaxed").select(
        TABLES[name].names
    )


def score_pairs(model: str, *scores: float | None) -> pl.DataFrame:
    names = ["pair_id", "language", "bias_type", "label", "first", "second", "score_first", "score_second", "left_out"]
    rows = [(*pair, score, -1.0, None if score else "identical") for pair, score in zip(PAIRS, scores, strict=False)]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(set=pl.lit("demo"), model=pl.lit(model))


def read_study(audit: dict[str, pl.DataFrame], embedding_files: EmbeddingFiles, tokenizer: pl.DataFrame) -> Results:
    results = draw_study(SEED)
    where = results["ceat"].filter(category="C1").select("category", "model", "segment_length", "sample_mode").unique()
    words = where.sort(pl.all()).join(
        pl.DataFrame(WORDS, schema=["role", "stimulus", "association", "effect_without"], orient="row"), how="cross"
    )
    sentences = [
        ("ceat", "", "25", "গোলাপ", 1, 25, "🌹 লাল গোলাপের <b>", 6, 13, "news.txt"),
        ("ceat", "", "25", "মশা", 1, 1, HOSTILE, None, None, "a.txt"),
        ("seat", "", "templates", "গোলাপ", 1, 6, "এটা গোলাপ।", 4, 9, ""),
    ]
    oddities = [(f"p{n}", n, "hi", "first", "line-break", "a" * 15 * n, "kept") for n in range(1, 6)]
    return results.replace(
        **audit,
        tokenizer=tokenizer,
        embeddings=embedding_files,
        ceat_words=words.with_columns(set=pl.col("role")),
        measured_sentences=as_table(
            "measured_sentences",
            sentences,
            "method category segment_length stimulus rank n_measured text start end source",
        ),
        pair_scores=pl.concat(
            [
                score_pairs("<i>m</i>", -0.5, -1.25, -4.0, None),
                score_pairs("n", -1.1, -0.9),
                score_pairs("n-random", -1.1),
            ],
            how="diagonal_relaxed",
        ),
        pair_statistics=as_table("pair_statistics", STATISTICS, "language subset statistic category value n_pairs set"),
        pair_oddities=as_table("pair_oddities", oddities, "pair_id row language column kind found done").with_columns(
            set=pl.lit("demo")
        ),
        figures={"sample_modes": SVG, "hexbins_bert": SVG},
        files=FILES,
        missing=["The table is not there. `snakemake <x>` makes it."],
    )


def as_lines(page: str) -> str:
    """The body of a page with its packed parts in their places, without scripts, a line for each part of it.

    Of the numbers by which tables are sorted nine digits count: the last ones depend on the order of sums.
    """
    page = re.sub(r"<style>.*?</style>|<script>.*?</script>|<meta [^>]*>", "", page, flags=re.DOTALL)
    packed = re.compile(r' data-packed="([^"]*)">')
    page = packed.sub(lambda found: f">{gzip.decompress(base64.b64decode(found[1])).decode()}", page)
    page = re.sub(r'(?<=data-order=")-?\d+\.\d+[^"]*', lambda found: f"{float(found[0]):.9g}", page)
    page = re.sub(r"\n\s*", "", page).replace('},"', '},\n"').replace("&#39;", "'")
    return re.sub(r"(?=<(?:article|section|details|tr|li|p|h\d|figure|svg|div|dt|dl|ul|table|a class)\b)", "\n", page)


def test_the_page_is_the_golden_one(
    audit: dict[str, pl.DataFrame], embedding_files: EmbeddingFiles, tokenizer: pl.DataFrame
) -> None:
    made_from = {
        "fingerprint": "f00d",
        "versions": json.dumps({"polars": "2.1.0"}),
        "inputs": json.dumps({"a": "ab12"}),
    }
    text = as_lines(
        render_page(config=CONFIG, results=read_study(audit, embedding_files, tokenizer), made_from=made_from)
    )
    if "WRITE_GOLDEN" in os.environ:
        FILE.write_text(text, encoding="utf-8")
    assert text == FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("texts", ["shown", "hidden"])
def test_no_sentence_is_in_a_page_that_hides_them(
    audit: dict[str, pl.DataFrame], embedding_files: EmbeddingFiles, tokenizer: pl.DataFrame, texts: str
) -> None:
    config = {**CONFIG, "report": {**CONFIG["report"], "texts": texts}}
    text = as_lines(render_page(config=config, results=read_study(audit, embedding_files, tokenizer), made_from={}))
    said = ("🌹 লাল", "এটা গোলাপ", "রাঁধে", "একটা", "<span>লাল")
    assert [part in text for part in said] == [texts == "shown"] * len(said)
    assert "<script" not in re.sub("<script type=.application/json", "", text)
