"""How many contexts the words of a study have, and what the study left out, stage by stage: how many of how many, why.

Only what the tables of the stages count. Nothing is listed here: a list stands where its stage has its section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.base.parquet import remade_by, require_columns
from prasanga.methods import METHODS as ALL_METHODS
from prasanga.pairs.preferences import OVERALL
from prasanga.pairs.preferences import REASONS as PAIR_REASONS
from prasanga.report.grid import (
    METHODS,
    Estimate,
    is_number,
    pair_grid_of,
    pairs_left_out,
    sort_lengths,
    why_missing,
    words_left_out,
)
from prasanga.report.study import EmbeddingFiles, Results, families_of

REASONS = {
    "no-occurrence": "does not occur in the corpus",
    "no-context-long-enough": "occurs, but in no context long enough",
    "no-context-for-all-lengths": "occurs, but in no context long enough for all lengths of the pool",
    "target-too-long": "occurs, but its forms have more words than the segment",
}
"""Why a stimulus has no contexts, by the words of the table."""

VECTOR_REASONS = {"unknown": "the tokenizer does not know a piece of it", "cut": "more pieces than the model reads"}
"""Why a target has no vector, or one of a part of its context."""

_NEEDED_OF_ESTIMATES = (
    *("category", "model", "effect_size", "dropped", "ci_low"),
    *(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab"),
)
"""The columns of a table of estimates without which it cannot be told what was left out."""

_OF_FILES = (
    *("lines", "skipped_lines", "unknown_stimuli", "sentences", "cut_sentences", "shorter_matches", "occurrences"),
)
_OF_MINIMUM = ("short", "from_supplement")
_LEFT_OUT = "left out"

_FEW = 4
_CONTEXTS = {
    "copies": "they have the text of another context",
    "too_short": "they have fewer words than the segment",
    "target_too_long": "the target has more words than the segment",
    "outside_pool": "they are not long enough for all lengths of the pool",
    "over_cap": "so many were not needed: samples.contexts_per_stimulus were drawn",
}
_TRAITS = {
    "dropped-word": "the tokenizer has no piece for the trait or a term",
    "unknown-piece": "the trait or a term has a piece that the tokenizer does not know",
    "shared-piece": "one piece belongs to the trait and to a term",
    "too-long": "the sentence is longer than the model reads",
}
_PLACES = {
    "corpus": ("#coverage", "Coverage"),
    "samples": ("#coverage", "Coverage"),
    "embeddings": ("#embeddings", "Embeddings"),
    **{method.name: (f"#{method.name}", method.label) for method in ALL_METHODS},
    "ceat": ("#coverage", "Coverage"),
}


class Missing(NamedTuple):
    """A stimulus without contexts at some lengths."""

    stimulus: str
    lengths: str
    reason: str


class Loss(NamedTuple):
    """Something that a stage lost: `n` of `of` things (`what`) are so (`lost`), and why.

    `link` and `place` say where each is listed.
    """

    stage: str
    what: str
    lost: str
    n: int
    of: int
    why: str
    link: str
    place: str

    @property
    def share(self) -> str:
        """Return the share in per cent, never rounded to all or nothing."""
        if not 0 < self.n < self.of:
            return f"{100 if self.n else 0} %"
        percent = 100 * self.n / self.of
        return "< 0.1 %" if percent < 0.05 else "> 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"


class Losses(NamedTuple):
    """The section of the page: what was left out, and by stage of what nothing was, with how much there is of it."""

    rows: list[Loss]
    nothing: list[tuple[str, str]]


def coverage_by_length(coverage: pl.DataFrame) -> list[dict[str, Any]]:
    """Summarize the coverage table (one row per stimulus and segment length) by length, by the names of the summary.

    `n_short` are the stimuli with fewer contexts than the study's minimum, `n_from_supplement` the contexts drawn that
    stand in the supplement alone; None where the table does not say. `fewest` and `median` are of stimuli with any.
    """
    lengths = sort_lengths(coverage["segment_length"].to_list())
    return [_of_length(coverage.filter(pl.col("segment_length") == length), length) for length in lengths]


def stimuli_without_contexts(coverage: pl.DataFrame) -> list[Missing]:
    """Return the stimuli that have no contexts at some length, each with these lengths and the reason."""
    lengths = sort_lengths(coverage["segment_length"].to_list())
    missing: dict[tuple[str, str], list[str]] = {}
    for row in coverage.sort("stimulus").filter(sampled=0).iter_rows(named=True):
        missing.setdefault((row["stimulus"], row["reason"]), []).append(row["segment_length"])
    return [
        Missing(
            stimulus,
            "all lengths" if len(where) == len(lengths) else ", ".join(sort_lengths(where)),
            REASONS.get(reason, reason),
        )
        for (stimulus, reason), where in missing.items()
    ]


def totals(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums over all corpus files of what was read and left out, and their number as `files`."""
    if not counts:
        return {}
    return {"files": len(counts), **{key: sum(count.get(key, 0) for count in counts) for key in counts[0]}}


def losses_of(results: Results) -> Losses | None:
    """Return what a study left out, as far as its results tell (`losses`)."""
    return losses(
        corpus=results.corpus,
        coverage=results.coverage,
        embeddings=results.embeddings,
        estimates=results.estimates,
        traits=results.traits,
        pairs=results.bias_percentages,
    )


def losses(
    *,
    corpus: Sequence[Mapping[str, int]] = (),
    coverage: pl.DataFrame | None = None,
    embeddings: EmbeddingFiles | None = None,
    estimates: Mapping[str, pl.DataFrame] | None = None,
    traits: pl.DataFrame | None = None,
    pairs: pl.DataFrame | None = None,
) -> Losses | None:
    """Return what a study left out.

    Args:
        corpus: what was read and left out of each corpus file (`results/sentences/*.json`).
        coverage: one row for each stimulus and segment length.
        embeddings: what the embeddings stage says of models and vectors.
        estimates: tables of estimates by method: ceat, seat, weat, log_probability.
        traits: the scores of every trait in every structure.
        pairs: bias percentages of sentence pairs.

    Returns:
        The rows, from corpus to likelihoods; None if none of the tables is there.

    Raises:
        InputError: a table lacks a column.
    """
    found: list[Loss] = [
        *_of_corpus(totals(corpus)),
        *([] if coverage is None or coverage.is_empty() else _of_samples(coverage)),
        *([] if embeddings is None else _of_embeddings(embeddings)),
    ]
    for method, table in (estimates or {}).items():
        require_columns(METHODS[method], table, _NEEDED_OF_ESTIMATES, remade_by("associations"))
        found += _of_estimates(method, table.rows(named=True))
    found += [] if traits is None else _of_traits(traits)
    found += [] if pairs is None or pairs.is_empty() else _of_pairs(pairs)
    if not found:
        return None
    nothing: dict[str, list[str]] = {}
    for loss in found:
        if loss.of and not loss.n:
            noun, comma, counted = loss.what.partition(", ")
            nothing.setdefault(loss.stage, []).append(f"0 of {loss.of:,} {noun} {loss.lost}{comma}{counted}")
    return Losses([loss for loss in found if loss.n], [(stage, "; ".join(said)) for stage, said in nothing.items()])


def _of_length(rows: pl.DataFrame, length: str) -> dict[str, Any]:
    counts = rows["sampled"].filter(rows["sampled"] > 0)
    return {
        "segment_length": length,
        "n_stimuli": rows.height,
        "n_with_contexts": len(counts),
        "n_contexts": int(counts.sum()),
        "fewest": min(counts, default=0),
        "median": counts.median() or 0.0,
        **{f"n_{name}": int(rows[name].sum()) if name in rows.columns else None for name in _OF_MINIMUM},
    }


def _of_corpus(read: Mapping[str, int]) -> Iterator[Loss]:
    if not read:
        return
    lines, skipped, unknown, sentences, cut, shorter, kept = (read.get(name, 0) for name in _OF_FILES)
    found = (
        ("lines or records", _LEFT_OUT, skipped, lines, "they are not UTF-8, or hold no text where it should be"),
        ("lines of a table of sentences", _LEFT_OUT, unknown, lines, "their stimulus is none of the lexicon's"),
        ("sentences", "divided", cut, sentences, "they are of extreme length; no text is lost"),
        ("matches", _LEFT_OUT, shorter, shorter + kept, "a longer form of the same stimulus begins at the same place"),
    )
    for place, loss in enumerate(found):
        if place == 0 or loss[2]:
            yield Loss("Corpus", *loss, *_PLACES["corpus"])


def _of_samples(coverage: pl.DataFrame) -> Iterator[Loss]:
    place, contexts = _PLACES["samples"], int(coverage["contexts"].sum())
    what = "contexts, each counted for every stimulus and length"
    counts = {why: int(coverage[name].sum()) for name, why in _CONTEXTS.items() if name in coverage.columns}
    yield from _by_reason("Samples", what, _LEFT_OUT, contexts, counts, place)
    what = "stimuli, each counted for every length"
    without = Counter(REASONS.get(reason, reason) for reason in coverage.filter(sampled=0)["reason"])
    yield from _by_reason("Samples", what, "without contexts", len(coverage), without, place)


def _of_embeddings(files: EmbeddingFiles) -> Iterator[Loss]:
    place = _PLACES["embeddings"]
    for family, name in families_of(files).items():
        said = [each for (model, _), each in files.lists.items() if model == name and "left_out" in each]
        if not said:
            continue
        left_out = sum((Counter(reasons) for each in said for reasons in each["left_out"].values()), Counter[str]())
        vectors = sum(listed["n_segments"] for listed in said)
        reasons = {VECTOR_REASONS.get(reason, reason): n for reason, n in left_out.items()}
        whole = vectors + left_out.total()
        yield from _by_reason("Embeddings", f"targets of {family}", _LEFT_OUT, whole, reasons, place)
        if cut := sum(sum(listed.get("cut", {}).values()) for listed in said):
            why = f"{VECTOR_REASONS['cut']}; the vector is of a part of the context"
            yield Loss("Embeddings", f"contexts of {family}", "cut", cut, vectors, why, *place)


def _of_estimates(method: str, rows: Sequence[Estimate]) -> Iterator[Loss]:
    stage, place = METHODS[method], _PLACES[method]
    missing = [row for row in rows if not is_number(row["effect_size"])]
    listed, used = (sum(row[f"{kind}_{side}"] or 0 for row in rows for side in "xyab") for kind in ("listed", "n"))
    why = _in_short(Counter(reason for row in rows for reason, words in words_left_out(row).items() for _ in words))
    # contexts or sentences of a word may be missing where the word itself is not
    yield Loss(stage, "words, each counted for every estimate", _LEFT_OUT, listed - used, listed, why, *place)
    where = ("#numbers", "All numbers") if method == "ceat" else place
    why = _in_short(Counter(map(why_missing, missing)))
    yield Loss(stage, "estimates", "not computed", len(missing), len(rows), why, *where)
    bare = [row for row in rows if is_number(row["effect_size"]) and not is_number(row["ci_low"])]
    why = _in_short(Counter(str(row.get("interval_note") or "the table does not say why") for row in bare))
    yield Loss(stage, "computed estimates", "without an interval", len(bare), len(rows) - len(missing), why, *where)


def _of_traits(traits: pl.DataFrame) -> Iterator[Loss]:
    require_columns("traits", traits, ("fill", "left_out"), remade_by("likelihoods"))
    rows = traits.select("fill", "left_out").iter_rows(named=True)
    without = Counter(_why_no_score(row["left_out"]) for row in rows if not is_number(row["fill"]))
    what = "traits, each counted for every model and structure"
    yield from _by_reason("Sentence structures", what, "without a score", len(traits), without, _PLACES["structures"])


def _why_no_score(left_out: str | None) -> str:
    """Return why a trait has no score: codes, each with the word that it is about, in words and without these."""
    codes = dict.fromkeys(each.split(" ")[0] for each in (left_out or "").split("; "))
    return "; ".join(_TRAITS.get(code, code) for code in codes if code) or "no reason is given"


def _of_pairs(pairs: pl.DataFrame) -> Iterator[Loss]:
    place = _PLACES["pairs"]
    grid = pair_grid_of(pairs)
    for model in grid.models:
        rows = [row for key, row in grid.rows.items() if key[2] == model and key[3] == OVERALL]
        found = (each for row in rows for each in pairs_left_out(row).items())
        reasons = Counter(PAIR_REASONS.get(reason, reason) for reason, listed in found for _ in listed)
        n_pairs, ties = (sum(row[name] for row in rows) for name in ("n_pairs", "n_ties"))
        yield from _by_reason("Sentence pairs", f"pairs of {model}", _LEFT_OUT, n_pairs, reasons, place)
        if ties:
            counted = "they count as not stereotypical" if rows[0]["ties"] == "against" else "no preference"
            why = f"both sentences have the same score: {counted}"
            yield Loss("Sentence pairs", f"pairs of {model}", "not in the test against 50", ties, n_pairs, why, *place)


def _by_reason(
    stage: str, what: str, lost: str, of: int, reasons: Mapping[str, int], place: tuple[str, str]
) -> Iterator[Loss]:
    """Yield a row for each reason, the most frequent first; one of none where there is no loss."""
    found = sorted(((n, why) for why, n in reasons.items() if n), key=lambda pair: (-pair[0], pair[1]))
    for n, why in found or [(0, "")]:
        yield Loss(stage, what, lost, n, of, why, *place)


def _in_short(reasons: Counter[str]) -> str:
    """Return the most frequent reasons, with their numbers where there are several."""
    if len(reasons) == 1:
        return next(iter(reasons))
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    said = [f"{reason} ({n:,})" for reason, n in ordered[:_FEW]]
    more = len(ordered) - _FEW
    return "; ".join(said + ([f"and {more} more reasons"] if more > 0 else []))
