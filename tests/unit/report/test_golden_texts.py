"""The texts of made-up studies, word for word: findings, first screens, end of a run, summary, cards, views of texts.

`WRITE_GOLDEN=1 pytest tests/unit/report/test_golden_texts.py` writes the files again after an intended change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_up_studies import draw_study
from markupsafe import Markup
from page_parts import lines_of, said_in, sheets_of

from prasanga.report.page import page_views
from prasanga.report.section import Section
from prasanga.report.study import EmbeddingFiles, Results
from prasanga.report.summary import data_card, last_words, methods_card, study_summary, to_json

FOLDER = Path(__file__).parents[2] / "golden" / "report"
SEEDS = (0, 1, 3, 5, 11, 12, 22, 28, 36, 47, 49, 86, 130, 189)
"""Studies in which every kind of finding occurs."""

FULL = 11
MADE_FROM = {"code": "c0de", "fingerprint": "f"}
SHOWN = ("data", "how")
CONFIG: dict[str, Any] = {
    **{"study": "s", "title": "A study", "note": "Read this.", "language": "bn", "preset": "recommended", "seed": 47},
    "models": {"bert": {"path": "hub/bert", "revision": "main"}, "tiny": {"train": {"hidden_size": 16, "seed": 3}}},
    "samples": {"contexts_per_stimulus": 1200},
    "associations": {"band": 0.1, "n_samples": 100, "draws": "without-replacement"},
    "corpus": {"texts": [{"files": "a.txt", "title": "A text", "licence": "CC0"}]},
    "pairs": {"sets": {"demo": {"path": "x.csv", "licence": "CC0"}}, "ties": "apart"},
}


def text_of(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    yield said_in(section)
    for sheet in sheets_of(section):
        yield f"| {' | '.join([*sheet.heads, *(name for _, name in sheet.columns)])} |"
        yield from (f"| {' | '.join(line)} |" for line in lines_of(sheet))


def findings() -> str:
    """Findings of all studies, each sentence once."""
    summaries = [study_summary(config=CONFIG, results=draw_study(seed), made_from=MADE_FROM) for seed in SEEDS]
    lines = [f"{each['method']}: {each['text']}" for summary in summaries for each in summary["findings"]]
    ends = [line for summary in summaries for line in last_words(summary, Path("/x/index.html"))]
    return "\n".join(dict.fromkeys([*lines, *ends])) + "\n"


def first_screens() -> str:
    texts = []
    for seed in SEEDS:
        for language in ("en", "bn", "hi")[: 1 if seed % 4 else 3]:
            config = {**CONFIG, "report": {"language": language}}
            overview = page_views(config=config, results=draw_study(seed), made_from=MADE_FROM)[0].contents[0]
            widget = re.sub(r"<svg.*?</svg>", "", str(overview.widget), flags=re.DOTALL)
            texts.append(f"{overview.title} | {' '.join(Markup(widget.replace('<', ' <')).striptags().split())}")
    return "\n".join(texts) + "\n"


def views(results: Results) -> str:
    found = page_views(config=CONFIG, results=results, made_from=MADE_FROM)
    sections = [section for view in found if view.id in SHOWN for section in view.contents]
    return "\n".join(line for section in sections for line in text_of(section)) + "\n"


def cards(results: Results) -> str:
    summary = study_summary(config=CONFIG, results=results, made_from=MADE_FROM)
    text = methods_card(config=CONFIG, summary=summary, inputs={"results/x.parquet": "d1"})
    text += data_card(config=CONFIG, summary=summary, results=results, corpus=[("a.txt", "d2")])
    return re.sub(r"prasanga \d\S*", "prasanga VERSION", text)


RECORDS = [
    {"stage": "samples", "versions": '{"numpy": "2.1"}', "inputs": '{"x.csv": "ab", "results/y": "cd"}'},
    {"stage": "samples", "versions": '{"numpy": "2.0"}'},
    {},
]


def summary(results: Results) -> str:
    found = study_summary(config=CONFIG, results=results, made_from=MADE_FROM, records=RECORDS)
    return to_json({**found, "program": None})


def studies(
    audit: dict[str, pl.DataFrame], files: EmbeddingFiles, tokenizer: pl.DataFrame
) -> dict[str, Callable[[], str]]:
    full = draw_study(FULL).replace(**audit, tokenizer=tokenizer, embeddings=files)
    return {
        "findings": findings,
        "first_screens": first_screens,
        "views": lambda: views(full),
        "views_of_nothing": lambda: views(Results()),
        "cards": lambda: cards(full),
        "summary": lambda: summary(full),
    }


@pytest.mark.parametrize("name", ["findings", "first_screens", "views", "views_of_nothing", "cards", "summary"])
def test_texts_are_word_for_word_those_of_the_golden_file(
    name: str, audit: dict[str, pl.DataFrame], embedding_files: EmbeddingFiles, tokenizer: pl.DataFrame
) -> None:
    text, file = studies(audit, embedding_files, tokenizer)[name](), FOLDER / f"{name}.txt"
    if "WRITE_GOLDEN" in os.environ:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


PARTS = (
    "usually overestimated", "of the opposite sign", "models disagree", "Not all 3 models", "other effect",
    "fewer than one expected", "for none, the", "Not counted", "Few words", "80% of studies would find a shift",
    "; in 1, fewer than 80% would", "fewer than 80% of studies would", "; 1 found", "Holm's correction but not found",
    "more than chance in", "to tell a stereotype from", "would not show", "too few pairs to show", "too few words to",
    "too few pairs to tell", "could be computed", "The contexts of >75 words", "has enough words",
    "of random divisions",
)  # fmt: skip


def test_every_kind_of_finding_occurs_in_some_study() -> None:
    text = (FOLDER / "findings.txt").read_text(encoding="utf-8")
    assert [part for part in PARTS if part not in text] == []


def test_a_study_without_random_copies_says_so_wherever_it_would_name_them() -> None:
    drawn = draw_study(FULL)
    cut = {
        name: table.with_columns(
            pl.lit(None, table.schema[column]).alias(column) for column in table.columns if "twin" in column
        )
        for name, table in drawn.tables.items()
    }
    without = drawn.replace(**cut)
    assert (drawn.has_twins, without.has_twins) == (True, False)
    summary = study_summary(config=CONFIG, results=without, made_from=MADE_FROM)
    assert summary["random_copies"] is False
    card = methods_card(config=CONFIG, summary=summary)
    assert "| Random-weight copies | Not compared with random-weight copies. |" in card
    for view in page_views(config=CONFIG, results=without, made_from=MADE_FROM):
        said = "\n".join(line for each in view.contents for line in text_of(each))
        assert not re.search(r"its (random )?twins|[Tt]wins with random weights|twins are", said), view.id
        if said and view.id.startswith(("overview", "method-")):
            assert re.search("ot compared with random(-weight)? copies", said), view.id
