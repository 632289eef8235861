"""The pairs browser: every pair of sentences with its scores by all models, as data that a script of the page unpacks.

The data are JSON by columns. What repeats is kept once: names as numbers into a list, a sentence that stands in several
pairs once. Scores are whole numbers of `UNIT`: that of the second sentence as what is to be added to the first's, the
difference as what rounding adds to that of the two. So 100,000 pairs by ten models remain a page that can be mailed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from markupsafe import Markup
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.parquet import remade_by, require_columns
from prasanga.pairs.alignment import Punctuation, align_spans
from prasanga.pairs.preferences import LABELS, OVERALL, PREFERENCES, REASONS, add_differences
from prasanga.report.grid import LANGUAGES, name_of_language, name_of_type, sort_types
from prasanga.report.section import PLAIN_BYTES, Section, count, inline_data, render, utf16_length, with_code
from prasanga.report.sheet import html

DECIMALS = 3
"""Of scores and differences, shown and kept."""

UNIT = 10**-DECIMALS

NOT_ASKED = "not-asked"
"""The state of a pair that a model has no row for."""

_KEY = ("set", "language", "pair_id")
_NEEDED = ("model", *_KEY, "bias_type", "label", "score_first", "score_second")
_TEXTS = ("first", "second")
_CONVENTIONS = ("measure", "reduction")
_TWIN = "-random"


class PairBrowser(NamedTuple):
    """What the template shows before the script has unpacked anything.

    Attributes:
        n_pairs: pairs, each once for all models.
        n_models: models, without twins.
        has_twins: whether there are twins with random weights.
        sets: their names.
        texts: whether the sentences are in the data.
        decimals: of the scores.
        kind: `json` or `gzip`: how `payload` is written.
        payload: what stands in the script element; safe there.
    """

    n_pairs: int
    n_models: int
    has_twins: bool
    sets: list[str]
    texts: bool
    decimals: int
    kind: str
    payload: Markup


def pair_browser(
    scores: Sequence[pl.DataFrame], *, texts: bool = True, plain_bytes: int = PLAIN_BYTES
) -> PairBrowser | None:
    """Return the pairs browser of a study.

    Args:
        scores: tables of `prasanga.likelihoods.score_pairs` with the columns set and model, in any number and order;
            a twin with random weights is called as its model with `-random` after it.
        texts: whether the sentences go into the page. Without them no word of a sentence does.
        plain_bytes: see `PLAIN_BYTES`.

    Returns:
        None if there is no pair.

    Raises:
        InputError: a column is missing, a label is not known, a model has a pair twice, or the tables differ in what a
            pair is.
    """
    tables = [_prepared(table, texts=texts) for table in scores if len(table)]
    if not tables:
        return None
    rows = pl.concat(tables, how="diagonal_relaxed")
    pairs = _pairs_of(rows, texts=texts)
    names = dict.fromkeys(rows["model"].to_list())
    models = sorted(names, key=lambda name: _is_twin(name, names))
    data = {
        "decimals": DECIMALS,
        "texts": texts,
        **_columns_of(pairs),
        **(_sentences_of(pairs) if texts else {}),
        **_scores_of(rows, pairs, models),
    }
    twins = [name for name in models if _is_twin(name, models)]
    sets = pairs["set"].unique(maintain_order=True).to_list()
    n_models = len(models) - len(twins)
    return PairBrowser(len(pairs), n_models, bool(twins), sets, texts, DECIMALS, *inline_data(data, plain_bytes))


def browser_part(browser: PairBrowser | None, *, scored: bool) -> Section:
    """Return the part of the page in which every pair can be looked through.

    Args:
        browser: what `pair_browser` returns.
        scored: whether there are percentages, though the scores behind them may be missing.
    """
    if browser is None:
        nothing = "No model has scored a pair yet: once one has, all pairs can be looked through here."
        if scored:
            nothing = "The scores of single pairs are not there, so they cannot be looked through here."
        return Section("Every pair and its scores", "pair-browser-title", text=[nothing])
    text = (
        f"{count(browser.n_pairs, 'pair')} of the set{'' if len(browser.sets) == 1 else 's'} {', '.join(browser.sets)},"
        f" scored by {count(browser.n_models, 'model')}{' and their twins with random weights' * browser.has_twins}: to"
        " be sorted, filtered and searched."
    )
    if not browser.texts:
        hidden = "The sentences are not in this file (`report: {texts: hidden}`); ids, types, labels and scores are."
        text = html("{} {}", text, with_code(hidden))
    widget = render("pair_browser", pair_browser=browser)
    return Section("Every pair and its scores", "pair-browser-title", text=[text], widget=widget)


def common_beginning(first: str, second: str) -> int:
    """Return how many characters both texts begin with."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _prepared(table: pl.DataFrame, *, texts: bool) -> pl.DataFrame:
    """Return the columns that are needed, with differences."""
    needed = (*_NEEDED, *(_TEXTS if texts else ()))
    require_columns("scores of pairs", table, needed, remade_by("likelihoods"))
    extra = [name for name in (*_CONVENTIONS, "punctuation", "left_out") if name in table.columns]
    names = [name for name in (*needed, *extra) if name not in ("score_first", "score_second")]
    columns = [pl.col(name).cast(pl.String) for name in names]
    numbers = [pl.col(name).cast(pl.Float64) for name in ("score_first", "score_second")]
    table = table.select(*columns, *numbers).with_columns(pl.col(*_KEY, "model", "bias_type").fill_null(""))
    return add_differences(table)


def _pairs_of(rows: pl.DataFrame, *, texts: bool) -> pl.DataFrame:
    """Return each pair once, in the order of the tables, with its number in `row`."""
    what = ["bias_type", "label", *(_TEXTS if texts else ())]
    extra = ["punctuation"] if "punctuation" in rows.columns else []
    different = rows.unique([*_KEY, *what], keep="first", maintain_order=True)
    pairs = different.unique([*_KEY], keep="first", maintain_order=True)
    if len(pairs) < len(different):
        twice = different.filter(pl.struct(_KEY).is_duplicated()).row(0, named=True)
        raise InputError(
            f"scores of pairs: pair {_named(twice)} is not the same to all models: its bias type, label or sentences"
            f" differ. {remade_by('likelihoods')}"
        )
    again = rows.filter(pl.struct("model", *_KEY).is_duplicated())
    if len(again):
        row = again.row(0, named=True)
        raise InputError(
            f"scores of pairs: {row['model']} has pair {_named(row)} twice. Give each table of scores once, and each"
            " pair an id of its own."
        )
    return pairs.select(*_KEY, *what, *extra).with_row_index("row")


def _named(row: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (row["pair_id"], row["set"], row["language"])))


def _columns_of(pairs: pl.DataFrame) -> dict[str, Any]:
    """Return set, language, type and label as codes with their names, and the ids."""
    order = list(LANGUAGES)
    languages = sorted(
        pairs["language"].unique(maintain_order=True),
        key=lambda code: order.index(code) if code in order else len(order),
    )
    # no file has OVERALL, but a table may come from elsewhere
    types = [*sort_types(pairs["bias_type"]), *([OVERALL] if OVERALL in pairs["bias_type"] else [])]
    return {
        "ids": pairs["pair_id"].to_list(),
        "set": _coded(pairs["set"], pairs["set"].unique(maintain_order=True)),
        "language": _coded(pairs["language"], languages, name_of_language),
        "type": _coded(pairs["bias_type"], types, name_of_type),
        "label": _coded(pairs["label"], LABELS),
    }


def _coded(column: pl.Series, values: Iterable[str], name: Callable[[str], str] = str) -> dict[str, Any]:
    """Return a column of few values: the values, what a reader sees of them, and the number of each row's."""
    numbers = {value: number for number, value in enumerate(values)}
    return {
        "values": list(numbers),
        "names": list(map(name, numbers)),
        "codes": [numbers[value] for value in column.to_list()],
    }


def _sentences_of(pairs: pl.DataFrame) -> dict[str, Any]:
    """Return sentences once each, where each pair has its two, and what is marked in them.

    Sentences are sorted, so that their numbers sort them on the page, and of each only that is kept which does not
    begin the one before it: the two of a pair mostly stand side by side. `steps` are, pair by pair, from the first
    sentence of the pair before to this one's, and from this to the second.
    """
    sentences = sorted({*pairs["first"], *pairs["second"]})
    numbers = {text: number for number, text in enumerate(sentences)}
    shared, rest, before = [], [], ""
    for text in sentences:
        same = common_beginning(before, text)
        shared.append(utf16_length(text[:same]))
        rest.append(text[same:])
        before = text
    steps, marks, last = [], [], 0
    conventions = pairs["punctuation"] if "punctuation" in pairs.columns else pl.repeat(None, len(pairs), eager=True)
    for first, second, convention in zip(pairs["first"], pairs["second"], conventions, strict=True):
        steps += [numbers[first] - last, numbers[second] - numbers[first]]
        last = numbers[first]
        marks.append(_marks(first, second, convention or "apart"))
    return {"shared": shared, "sentences": rest, "steps": steps, "marks": marks}


def _marks(first: str, second: str, punctuation: Punctuation) -> str:
    """Start and length of each modified word of either sentence, in UTF-16 units: "4 3 12 5/4 2"."""
    found = align_spans(first, second, punctuation=punctuation)
    return "/".join(
        " ".join(f"{utf16_length(text[:start])} {utf16_length(text[start:end])}" for start, end in spans)
        for text, spans in ((first, found.modified_first), (second, found.modified_second))
    )


def _scores_of(rows: pl.DataFrame, pairs: pl.DataFrame, models: Sequence[str]) -> dict[str, Any]:
    """Return the columns of each model, and what states there are besides a preference that the difference shows."""
    reasons = list(dict.fromkeys([*REASONS, *sorted(rows["left_out"].drop_nulls().unique().to_list())]))
    states = [*PREFERENCES, NOT_ASKED, *reasons]
    places = pairs.select("row", *_KEY)
    found = []
    for model in models:
        own = places.join(rows.filter(model=model), on=_KEY, how="left", maintain_order="left")
        found.append(_model(own, model, states) | {"twin": _is_twin(model, models)})
    meanings = {NOT_ASKED: "this model has no score for this set and language", **REASONS}
    used = sorted({code for model in found for code in model["other_states"] if code >= len(PREFERENCES)})
    return {
        "states": states,
        "reasons": {states[code]: meanings.get(states[code], states[code]) for code in used},
        "models": found,
    }


def _model(own: pl.DataFrame, model: str, states: Sequence[str]) -> dict[str, Any]:
    """Return what one model says of every pair."""
    first, second = (_in_units(own[name]) for name in ("score_first", "score_second"))
    difference = _in_units(own["difference"])
    added = np.where(np.isnan(first), second, second - first)
    towards = np.where((own["label"] == "stereo").fill_null(False).to_numpy(), 1.0, -1.0)
    # a difference that cannot be had from the scores stays unknown, and so does the state with it
    rounding = difference - towards * (first - second)
    state = own.select(
        pl.when(pl.col("model").is_null())
        .then(pl.lit(NOT_ASKED))
        .otherwise(pl.coalesce("left_out", "preference"))
        .fill_null("no-score")
    ).to_series()
    numbers = {name: number for number, name in enumerate(states)}
    codes = np.array([numbers[name] for name in state.to_list()])
    shown = np.where(difference > 0, 0, np.where(difference < 0, 1, 2))
    other = np.flatnonzero(codes != shown)
    said = own.select(pl.col(name) for name in _CONVENTIONS if name in own.columns)
    return {
        "name": model,
        "conventions": [value for name in said.columns for value in said[name].drop_nulls().unique().sort().to_list()],
        "first": _whole(first),
        "added": _whole(added),
        "rounding": _whole(rounding),
        "other_steps": np.diff(other, prepend=0).tolist(),
        "other_states": codes[other].tolist(),
    }


def _in_units(values: pl.Series) -> NDArray[np.float64]:
    """Return numbers as multiples of `UNIT`, rounded; NaN for what is missing or not finite."""
    numbers = values.fill_null(float("nan")).to_numpy()
    with np.errstate(over="ignore"):
        units = np.rint(numbers * 10**DECIMALS)
    return np.where(np.isfinite(units), units, np.nan) + 0.0


def _whole(values: NDArray[np.float64]) -> str:
    """Return whole numbers as one text, which a browser need not take apart before it is asked for; "" for NaN."""
    return " ".join("" if value != value else str(int(value)) for value in values.tolist())


def _is_twin(name: str, models: Iterable[str]) -> bool:
    return name.endswith(_TWIN) and name.removesuffix(_TWIN) in models
