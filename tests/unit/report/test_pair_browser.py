"""The pairs browser holds what the tables of scores hold, and nothing that it must not."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from page_parts import lines_of, said_in

from prasanga.base.errors import InputError
from prasanga.report import method_views as module
from prasanga.report.method_views import browse_pairs

HOSTILE = "</script><script>alert(1)</script>"
PAIRS = [
    ("g1", "bn", "gender", "stereo", "মেয়েটি রোজ রাঁধে।", "ছেলেটি রোজ রাঁধে।"),
    ("g2", "bn", "gender", "antistereo", "ছেলেটি বড় হয়েছে।", "মেয়েটি বড় হয়েছে।"),
    ("r1", "en", "religion", "stereo", f"<b>He</b> {HOSTILE}", f"She {HOSTILE}"),
    ("l1", "en", "gender", "stereo", "Same words\u202e", "Same words\u202e"),
]


def scored(model: str, *scores: tuple[float | None, float | None], **more: Any) -> pl.DataFrame:
    rows = [
        (*pair, first, second, None if first is not None else "identical")
        for pair, (first, second) in zip(PAIRS, scores, strict=False)
    ]
    names = ["pair_id", "language", "bias_type", "label", "first", "second", "score_first", "score_second", "left_out"]
    columns = {"model": model, "set": "demo", **more}
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(**{n: pl.lit(v) for n, v in columns.items()})


SCORES = pl.concat(
    [
        scored("<i>m</i>", (-1.0, -1.5), (-2.0, -1.75), (-4.0, -4.1234), (None, None)),
        scored("n", (-1.0, -1.1), (-2.0, -2.2)),
        scored("n-random", *[(-9.0, -9.1)] * 4),
    ]
)


def test_hidden_texts_leave_no_word_and_a_large_study_has_the_first_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    section = browse_pairs(SCORES, texts=False, scored=True)
    (sheet,) = section.parts[0].sheets
    assert [line[0] for line in lines_of(sheet)] == ["g1", "g2"]
    assert not [cell for row in sheet.rows for cell in row.cells if "রাঁধে" in cell.text]
    assert "2 more are in" in said_in(section)
    assert "report: {texts: hidden}" in said_in(section)


def test_without_scores_the_section_says_so_and_an_unknown_label_is_refused() -> None:
    assert "No model has scored a pair yet" in said_in(browse_pairs(SCORES.clear(), texts=True, scored=False))
    assert "cannot list them" in said_in(browse_pairs(SCORES.clear(), texts=True, scored=True))
    with pytest.raises(InputError, match="label"):
        browse_pairs(SCORES.with_columns(label=pl.lit("both")), texts=True, scored=True)


def test_copies_that_all_score_a_pair_are_shown_by_their_mean() -> None:
    copies = [
        scored("n-random", *[(-9.0, -9.0 - difference)] * 3, twin=twin) for twin, difference in ((0, 0.5), (1, 1))
    ]
    section = browse_pairs(pl.concat([scored("n", *[(-1.0, -1.1)] * 3, twin=0), *copies]), texts=True, scored=True)
    (sheet,) = section.parts[0].sheets
    assert [(line[0], line[-1]) for line in lines_of(sheet)] == [
        ("g1", "+0.750"),
        ("g2", "\N{MINUS SIGN}0.750"),
        ("r1", "+0.750"),
    ]
