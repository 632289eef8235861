"""The pairs browser: a table of all pairs with the difference of their scores by every model.

The page unpacks the table when a reader opens it, and then sorts, filters, searches and saves it as any long table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.pairs.alignment import align_spans
from prasanga.pairs.preferences import REASONS, add_differences
from prasanga.report.grid import name_of_language, name_of_type
from prasanga.report.section import Section, count, html, prose, with_code
from prasanga.report.sheet import MISSING, Cell, Row, Sheet, numbers, shown, signed

MOST_PAIRS = 5000
"""The page has the first pairs, up to this number; the file of scores has all of them."""

_SHOWN_MODELS = 4
_PAIR = ("set", "language", "pair_id", "bias_type", "label")
_HEADS = {"set": "Set", "language": "Language", "bias_type": "Type", "label": "Label"}
_TWIN = "-random"


def pair_browser(scores: Sequence[pl.DataFrame], *, texts: bool, scored: bool) -> Section:
    """Return the part of the page in which every pair can be looked through.

    Args:
        scores: tables of `prasanga.likelihoods.score_pairs` with the columns set and model; a random-weight copy is
            called as its model with `-random` after it.
        texts: whether the sentences go into the page. Without them no word of a sentence does.
        scored: whether there are percentages, though the scores behind them may be missing.

    Raises:
        InputError: a column is missing, or a label is neither stereo nor antistereo.
    """
    title, anchor = "Every pair and its scores", "pair-browser-title"
    tables = [add_differences(table) for table in scores if len(table)]
    if not tables:
        nothing = "No model has scored a pair yet: once one has, all pairs can be looked through here."
        if scored:
            nothing = "The scores of single pairs are not there, so they cannot be looked through here."
        return Section(title, anchor, text=[nothing])
    rows = pl.concat(tables, how="diagonal_relaxed").with_columns(pl.col(*_PAIR).fill_null(""))
    n_pairs, models = rows.n_unique(_PAIR), rows["model"].unique(maintain_order=True).to_list()
    trained = [model for model in models if not _is_twin(model, models)]
    sets = rows["set"].unique(maintain_order=True).to_list()
    text = (
        f"{count(n_pairs, 'pair')} of the set{'' if len(sets) == 1 else 's'} {', '.join(sets)},"
        f" scored by {count(len(trained), 'model')}"
        f"{' and their twins with random weights' * (len(trained) < len(models))}: to be sorted, filtered and searched."
    )
    if not texts:
        hidden = "The sentences are not in this file (`report: {texts: hidden}`); ids, types, labels and scores are."
        text = html("{} {}", text, with_code(hidden))
    browser = Section(
        prose("pairs_warning" if texts else "pairs_without_texts"),
        "pair-browser",
        folded=True,
        sheets=[_list_pairs(rows, models, texts=texts)],
        notes=[prose("pairs_differences", texts=texts, n_more=f"{n_pairs - MOST_PAIRS:,}" * (n_pairs > MOST_PAIRS))],
        packed=prose("pairs_unscripted"),
        look="pair-browser",
    )
    return Section(title, anchor, text=[text], parts=[browser])


def _list_pairs(rows: pl.DataFrame, models: Sequence[str], *, texts: bool) -> Sheet:
    """Return the table of pairs, a column for each model."""
    heads = {name: head for name, head in _HEADS.items() if name in ("bias_type", "label") or rows[name].n_unique() > 1}
    sentences = {"first": "First sentence", "second": "Second sentence"} if texts else {}
    lines: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        key = tuple(row[name] for name in _PAIR)
        if key in lines or len(lines) < MOST_PAIRS:
            lines.setdefault(key, {})[row["model"]] = row
    found = []
    for by_model in lines.values():
        pair = next(iter(by_model.values()))
        cells = [*(_name(name, pair[name]) for name in heads), *(_mark_words(pair) if texts else ())]
        differences = [_difference(by_model.get(model)) for model in models]
        found.append(Row((pair["pair_id"],), (*map(Cell, cells), *differences)))
    kinds = {"Pair": "text", **dict.fromkeys(heads.values(), "list"), **dict.fromkeys(sentences.values(), "text")}
    return Sheet(
        ("Pair",),
        numbers(*heads.values(), *sentences.values(), *models),
        found,
        "Difference of the scores of each pair, by model",
        "explorable",
        kinds,
        [model for n, model in enumerate(models) if n >= _SHOWN_MODELS or _is_twin(model, models)],
    )


def _name(column: str, value: str) -> str:
    names = {"language": name_of_language, "bias_type": name_of_type}
    return names[column](value) if column in names else value


def _mark_words(pair: dict[str, Any]) -> list[Markup]:
    """Return both sentences with the words in which they differ marked."""
    first, second = pair["first"], pair["second"]
    found = align_spans(first, second, punctuation=pair.get("punctuation") or "apart")
    marked = []
    for text, spans in ((first, found.modified_first), (second, found.modified_second)):
        parts, end = [], 0
        for start, stop in spans:
            parts += [shown(text[end:start]), html("<mark>{}</mark>", text[start:stop])]
            end = stop
        marked.append(Markup("").join([*parts, shown(text[end:])]))
    return marked


def _difference(row: dict[str, Any] | None) -> Cell:
    if row is None:
        return Cell(MISSING, hover="this model has no score for this set and language")
    if row["left_out"]:
        return Cell(row["left_out"], hover=REASONS.get(row["left_out"], ""), order="")
    return Cell(signed(row["difference"]))


def _is_twin(name: str, models: Sequence[str]) -> bool:
    return name.endswith(_TWIN) and name.removesuffix(_TWIN) in models
