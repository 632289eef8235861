"""The end of a run in three lines."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from prasanga.report.summary import last_words, print_last_words

METHOD = {"models": ["a", "b"], "n_computed": 144, "n_not_computed": 0, "n_significant_holm": 3}
PAIRS = {"n_computed": 60, "n_not_computed": 0, "n_significant_holm": 1, "left_out": [], "overall": []}
SUMMARY: dict[str, Any] = {
    "missing": [],
    "coverage": {"n_without_contexts": 0, "n_stimuli": 100},
    "methods": {
        "ceat": METHOD,
        "seat": {**METHOD, "models": ["b", "c"], "n_computed": 1, "n_significant_holm": None},
        **dict.fromkeys(("weat", "log_probability", "structures", "pairs")),
    },
}


def test_much_that_is_left_out_is_told_before_the_three_lines_with_the_file_to_read() -> None:
    summary = copy.deepcopy(SUMMARY)
    summary["coverage"] = {"n_without_contexts": 21, "n_stimuli": 100}
    row = {"set": "mine", "language": "bn", "model": "bert", "n_pairs": 100, "n_left_out": 20}
    most = {**row, "model": "xlmr", "n_pairs": 1200, "n_left_out": 1200}
    summary["methods"]["pairs"] = {**PAIRS, "overall": [row, most, {**most, "language": "hi"}]}
    *warnings, results, left_out, page = last_words(summary, Path("p.html"))
    assert warnings == [
        "Warning: 21 of 100 stimuli lack contexts: the page's section on texts.",
        "Warning: 1,200 of 1,200 pairs of mine in Bangla have no score by xlmr:"
        " results/likelihoods/bias_percentages.csv.",
        "Warning: 1,200 of 1,200 pairs of mine in Hindi have no score by xlmr:"
        " results/likelihoods/bias_percentages.csv.",
    ]
    assert [line.partition(":")[0] for line in (results, left_out, page)] == ["Results", "Left out", "Page"]


def test_printed_once_with_the_page_or_else_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    summary, page = tmp_path / "summary.json", tmp_path / "report.html"
    summary.write_text(json.dumps(SUMMARY), encoding="utf-8")
    print_last_words(summary, page)
    assert capsys.readouterr().err.splitlines()[2] == "Summary: summary.json"
    page.write_text("<p>")
    print_last_words(summary, page)
    assert capsys.readouterr().err.splitlines()[2:] == ["Page: report.html"]


@pytest.mark.parametrize("text", ["", "[]", '{"methods": 3}', "\udcff", '{"methods": {"ceat": {}}}'])
def test_a_summary_that_cannot_be_read_is_told_and_is_no_error(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.json"
    summary.write_text(text, encoding="utf-8", errors="surrogateescape")
    print_last_words(summary, tmp_path / "no.html")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("The results are there, but ")
