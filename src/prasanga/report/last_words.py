"""The end of a run in three lines: what came out, what was left out or is missing, and where the page is.

Where much was left out, lines before them say what, and where to read why.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from prasanga.methods import PAIRS
from prasanga.report.grid import LANGUAGES, METHODS

MUCH = 0.2
"""Of pairs or stimuli left out, the share above which that is told apart."""


def last_words(summary: Mapping[str, Any], page: Path) -> list[str]:
    """Return three lines about a study, after one for each model or lexicon that much is left out of.

    Args:
        summary: `prasanga.report.summary.study_summary`, or what was read from its file.
        page: the page, or the summary itself where a study has no page; told from the working directory if it is below.
    """
    methods = summary["methods"]
    estimates = [methods[name] for name in METHODS if methods[name] is not None]
    came_out = "; ".join(_came_out(estimates, methods["structures"], methods["pairs"]))
    left_out = "; ".join(_left_out(summary, estimates, methods["pairs"]))
    return [
        *_much_left_out(summary["coverage"], methods["pairs"]),
        f"Results: {came_out or 'nothing was measured yet'}.",
        f"Left out: {left_out or 'nothing'}.",
        f"{'Page' if page.suffix == '.html' else 'Summary'}: {_from_here(page)}",
    ]


def print_last_words(summary: Path, page: Path, stream: TextIO | None = None) -> None:
    """Print them, to the standard error by default; a summary that cannot be read is told, and is no error.

    Args:
        summary: the file of the summary.
        page: the page; where there is none, the summary is named in its place.
        stream: where to.
    """
    stream = sys.stderr if stream is None else stream
    try:
        read = json.loads(summary.read_text(encoding="utf-8"))
        lines = last_words(read, page if page.is_file() else summary)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        lines = [f"The results are there, but {summary} could not be read: {type(error).__name__}."]
    try:
        print(*lines, sep="\n", file=stream, flush=True)
    except (OSError, ValueError):  # whoever read along has gone
        return


def _came_out(
    estimates: Sequence[Mapping[str, Any]], structures: Mapping[str, Any] | None, pairs: Mapping[str, Any] | None
) -> Iterable[str]:
    if estimates:
        computed, found = (sum(each[name] or 0 for each in estimates) for name in ("n_computed", "n_significant_holm"))
        models = {model for method in estimates for model in method["models"]}
        yield f"{_many(computed, 'effect')} of {_many(len(models), 'model')}, {found or 'none'} significant by Holm"
    if pairs is not None:
        found = pairs["n_significant_holm"]
        verb = "differ" if found and found > 1 else "differs"
        yield f"{_many(pairs['n_computed'], 'bias percentage')}, {found or 'none'} {verb} from 50"
    if structures is not None:
        yield f"traits in {_many(len(structures['structures']), 'sentence structure')}"


def _left_out(
    summary: Mapping[str, Any], estimates: Sequence[Mapping[str, Any]], pairs: Mapping[str, Any] | None
) -> Iterable[str]:
    """Yield what was left out; what an unfinished study lacks comes first: it can be made yet."""
    missing = summary["missing"]
    if missing:
        yield f"{_many(len(missing), 'result')} not made yet"
    if lost := sum(method["n_not_computed"] for method in estimates):
        yield _many(lost, "effect size")
    if pairs is not None and (lost := pairs["n_not_computed"]):
        yield _many(lost, "bias percentage")
    if pairs is not None and (lost := sum(row["n"] for row in pairs["left_out"])):
        yield f"{_many(lost, 'score')} of pairs"
    coverage = summary["coverage"]
    if coverage is not None and (lost := coverage["n_without_contexts"]):
        yield f"{_many(lost, 'stimulus', 'stimuli')} without contexts"


def _much_left_out(coverage: Mapping[str, Any] | None, pairs: Mapping[str, Any] | None) -> Iterable[str]:
    if coverage is not None and (lost := coverage["n_without_contexts"]) > MUCH * coverage["n_stimuli"]:
        whole = coverage["n_stimuli"]
        yield f"Warning: {lost:,} of {_many(whole, 'stimulus', 'stimuli')} lack contexts: the page's section on texts."
    for row in () if pairs is None else pairs["overall"]:
        if row["n_left_out"] > MUCH * row["n_pairs"]:
            yield (
                f"Warning: {row['n_left_out']:,} of {_many(row['n_pairs'], 'pair')} of {row['set']} in"
                f" {LANGUAGES[row['language']]} have no score by {row['model']}: results/{PAIRS.tables[0].path}.csv."
            )


def _many(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def _from_here(path: Path) -> str:
    """Return a path as a person in the working directory would open it, in one line."""
    whole = path.absolute()
    shown = whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole
    return "".join(sign if sign.isprintable() else "?" for sign in str(shown))
