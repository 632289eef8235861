"""WEAT, SEAT and CEAT of a whole study: from vectors to tables with one row per estimate.

Nothing here stops a study because of one category: one that cannot be computed is a row without numbers that says why.
A word without vectors is left out and listed in `lost`. Vectors that cannot be right (NaN, zero)
are refused with `InputError`: these need mending, not leaving out.

CEAT has draws in one or two sample modes. In mode `fixed` they are the same for all models: they index only the
contexts that all models have, and their seed does not contain the model. In mode `random` they index all contexts of
this model, with a seed of its own. Neither contains the segment length: where all lengths are cut from the same
occurrences, they draw the same. Contexts are ordered by occurrence_id, so that the order of files and rows makes no
difference.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.ceat import (
    combine_scores,
    contexts_enough,
    convergence,
    count_turns,
    draw_scores,
    draws_settled,
    named_draws,
    sizes_up_to,
    spread_draws,
)
from prasanga.associations.effects import compute_sentence_cosines
from prasanga.associations.estimates import (
    Category,
    Cell,
    Estimand,
    Estimate,
    Rows,
    TestSettings,
    category_of,
    count_mean_vectors,
    count_sentences,
    measure_cells,
    measure_cosines,
    measure_templates,
    select_words,
)
from prasanga.associations.vectors import (
    VECTORS,
    Change,
    DirectedVectors,
    Moments,
    Words,
    compute_mean_cosines,
    compute_moments,
    directed_vectors,
    draw_cosines,
    embed_again,
    mean_direction,
    to_floating,
)
from prasanga.base.errors import InputError
from prasanga.base.io import digest_of
from prasanga.schema.registry import Loss, Reason
from prasanga.stats.crossed import CrossedScores, leave_one_out, variance_components
from prasanga.stats.effects import (
    ConstantScoresError,
    FloatArray,
    IndexArray,
    RandomEffects,
    combine,
    hedges_variance,
    to_array,
)
from prasanga.stats.intervals import replicate_effects
from prasanga.stats.permutation import PermutationTest

SAMPLE_MODES = ("fixed", "random")
ItemVectors: TypeAlias = Mapping[str, tuple[Sequence[str], npt.ArrayLike]]
"""Each stimulus with the ids of its sentences or occurrences and their (n, d) vectors."""

Layouts: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Categories by name, in the layout of `categories.json`."""


# --------------------
# WEAT and SEAT: one vector per word, or per sentence.


def _measure_items(
    vectors: Mapping[str, npt.NDArray[Any]], moments: Moments, estimand: Estimand, average: str = "associations"
) -> tuple[CrossedScores, Estimate]:
    """Return the cosines of a category's words or sentences, and what they say; `vectors` has (n_items, d) per word."""

    def compute(change: Change = lambda vectors, _: vectors) -> CrossedScores:
        sets = [[change(vectors[word], moments) for word in side] for side in estimand.words]
        return compute_sentence_cosines(sets, average)

    cosines, n_items = compute(), [len(vectors[word]) for side in estimand.words for word in side]
    return cosines, measure_cosines(cosines, estimand, n_items=n_items, rescale=compute)


def measure_weat(
    categories: Layouts,
    vectors: Mapping[str, npt.ArrayLike],
    missing: Mapping[str, str],
    *,
    name: str,
    settings: TestSettings,
    seed: int,
    source: str = "",
    method: str = "",
    forms: str = "",
) -> list[pa.Table]:
    """Compute the WEAT of all `categories` by one set of vectors: the tables `weat` and `weat_words`.

    A word without a vector, or with a zero vector, is left out and listed in `lost`.

    Args:
        categories: by name, in the layout of `categories.json`.
        vectors: of each stimulus that has one, (d,).
        missing: why each of the others has none.
        name: of the vectors, the tables' `model`.
        settings: how effects are tested.
        seed: of the study.
        source: the tables' `vectors`.
        method: how the vectors were trained or the format of their file.
        forms: how words were looked up (dictionary, pooled).

    Raises:
        InputError: a vector with NaN or infinity.
    """
    parsed = [category_of(each, layout) for each, layout in categories.items()]
    usable: dict[str, FloatArray] = {}
    reasons = {word: missing.get(word) or "no vector" for category in parsed for word in category.words}
    for word in [word for word in reasons if word in vectors]:
        vector = np.asarray(vectors[word], dtype=np.float64)[None]
        if not vector.any():
            reasons[word] = "zero vector"
        else:
            usable[word] = vector
    about = {"vectors": source, "method": method, "forms": forms, **settings.conventions(), "seed": seed}
    cells = []
    for category in parsed:
        lost = [category.lose(word, Reason.NO_VECTOR, reasons[word]) for word in category.words if word not in usable]
        used, partners = select_words(category, usable)
        cells.append(Cell(category, {"model": name}, used, lost + partners, about))
    moments = compute_moments(usable.values())

    def measure(cell: Cell) -> tuple[dict[str, Any], Rows]:
        estimand = cell.estimate(settings, seed, "weat", name)
        found = _measure_items(usable, moments, estimand)[1]
        return found.columns, found.words

    return measure_cells(f"WEAT of {name}", cells, measure, "weat", "weat_words")


class SeatTables(NamedTuple):
    """The tables of one model, by their names in the schema: `seat`, `seat_words` and `seat_templates`."""

    estimates: pa.Table
    words: pa.Table
    templates: pa.Table


def measure_seat(
    categories: Layouts,
    sentences: pa.Table,
    vectors: ItemVectors,
    *,
    model: str,
    settings: TestSettings,
    unit: str = "word",
    average: str = "associations",
    sentence_vector: str = "",
    seed: int = 47,
) -> SeatTables:
    """Compute the SEAT of all `categories` for one model.

    Args:
        categories: by name, in the layout of `categories.json`.
        sentences: the filled templates (`prasanga.samples.fill_templates`): columns occurrence_id, stimulus, template.
        vectors: of each stimulus, the occurrence ids of its sentences and their (n_sentences, d) vectors. A sentence
            that the model has no vector for is absent, a stimulus without any likewise.
        model: its name.
        settings: how effects are tested.
        unit: see `seat`; `p_stimuli` moves words in any case, and `sentence` adds `p_sentences`.
        average: see `seat`.
        sentence_vector: what a sentence's vector is (cls, mean, last, word, position), for the table.
        seed: of the study.

    Returns:
        A row per category, one per category and word, and one per category and template.

    Raises:
        InputError: vectors that cannot be right (NaN, zero, two of one sentence, those of
            sentences that are not among the templates).
    """
    parsed = [category_of(name, layout) for name, layout in categories.items()]
    listed: dict[str, dict[str, tuple[int, str]]] = {}
    for sentence in sentences.select(["stimulus", "occurrence_id", "template"]).to_pylist():
        of_word = listed.setdefault(sentence["stimulus"], {})  # a template is known by its place in its class
        of_word[sentence["occurrence_id"]] = len(of_word), sentence["template"]
    wanted = sorted({word for category in parsed for word in category.words} & vectors.keys())
    ordered = {word: _order_sentences(model, word, listed.get(word, {}), *vectors[word]) for word in wanted}
    arrays = {word: array for word, (array, _) in ordered.items() if len(array)}
    places = {word: ordered[word][1] for word in arrays}
    how = {"sentence_vector": sentence_vector, "unit": unit, "average": average, **settings.conventions(), "seed": seed}
    cells = []
    for category in parsed:
        used, partners = select_words(category, arrays)
        counts = {f"n_sentences_{side}": sum(len(arrays[w]) for w in of) for side, of in zip("xyab", used, strict=True)}
        lost = [loss for word in category.words if (loss := _lose_sentences(category, word, listed, arrays))]
        cells.append(Cell(category, {"model": model}, used, lost + partners, {**how, **counts}))
    moments = compute_moments(arrays.values())

    def measure(cell: Cell) -> tuple[dict[str, Any], Rows, Rows]:
        used = cell.used
        estimand = cell.estimate(settings, seed, "seat", model)
        cosines, (columns, words) = _measure_items(arrays, moments, estimand, average)
        if unit == "sentence":
            columns["p_sentences"] = estimand.test_sentences(cosines.split("sentence")[0]).p_value
        names: dict[int, dict[str, None]] = {}  # of a place in several classes, those that it has in them
        for place, template in (each for side in used for word in side for each in listed[word].values()):
            names.setdefault(place, {})[template] = None
        templates, listed_words = (
            [", ".join(names[place]) for place in sorted(names)],
            [w for side in used for w in side],
        )
        of_words = [places[word] for word in listed_words]
        if average == "vectors":
            vectors_of = [arrays[word] for word in listed_words]
            effects = count_mean_vectors(vectors_of, of_words, len(templates), cosines.sizes, settings.std)
        else:
            effects = count_sentences(cosines, of_words, settings.std)
        of_templates, rows = measure_templates(effects, templates, cosines, estimand)
        return {**columns, "n_templates": len(templates), **of_templates}, words, rows

    return SeatTables(*measure_cells(f"SEAT of {model}", cells, measure, "seat", "seat_words", "seat_templates"))


def _order_sentences(
    model: str, word: str, listed: Mapping[str, tuple[int, str]], ids: Sequence[str], vectors: npt.ArrayLike
) -> tuple[npt.NDArray[Any], IndexArray]:
    """Return the checked vectors of a word, in the order of the templates, and the templates' places."""
    whose = f"{model}, {word}"
    array = to_array(whose, vectors, VECTORS)
    if len(set(ids)) != len(ids):
        raise InputError(f"{whose}: {len(ids)} vectors of {len(set(ids))} sentences. Embed its sentences again.")
    for sentence in ids:
        if sentence not in listed:
            raise InputError(
                f"{whose}: the vector of sentence {sentence} belongs to none of the templates' sentences. They have"
                " changed, or the vectors are another study's. Embed the sentences again."
            )
    places = np.array([listed[each][0] for each in ids], dtype=np.int64)
    if len(array):
        directed_vectors(whose, array, ids=ids, mend=embed_again(model))
    order = np.argsort(places)
    return array[order], places[order]


def _lose_sentences(
    category: Category, word: str, listed: Mapping[str, Collection[str]], arrays: Mapping[str, npt.NDArray[Any]]
) -> Loss | None:
    """Return the loss of a word that lost sentences, or all of them."""
    n, kept = len(listed.get(word, ())), len(arrays.get(word, ()))
    if not n:
        return category.lose(word, Reason.NO_CONTEXTS, "in no template")
    if not kept:
        return category.lose(word, Reason.NO_VECTOR, f"no vector of its {n} sentences")
    return category.lose(word, Reason.IN_PART, f"vectors of {kept} of its {n} sentences") if kept < n else None


# --------------------
# CEAT: the vectors of a word's contexts.


@dataclass(frozen=True)
class CeatSettings:
    """The choices of a study, as in its config.

    `pool`, `match`, `neighbours`, `window` and `pieces` are those of earlier stages, for the table.
    With `effects_alone` only effects are computed, as of twins, of which nothing else is shown.
    """

    n_samples: int | Sequence[int] = 5000
    sample_modes: Sequence[str] = SAMPLE_MODES
    variance: str = "association"
    tau2: str = "dl"
    draws: str = "without-replacement"
    pool: str = "shared"
    match: str = "anywhere"
    neighbours: str = "exclude"
    window: str = "exact"
    pieces: str = "all"
    band: float = 0.1
    test: TestSettings = field(default_factory=TestSettings)
    effects_alone: bool = False
    seed: int = 47
    repeated_words: str = "once"

    @property
    def sizes(self) -> list[int]:
        """Numbers of draws, rising; the smaller ones are the first of the greatest."""
        return [self.n_samples] if isinstance(self.n_samples, int) else sorted(self.n_samples)

    def conventions(self) -> dict[str, Any]:
        """Return the settings as the columns that have their names."""
        names = ("variance", "repeated_words", "pool", "match", "neighbours", "window", "pieces", "band", "seed")
        named = {name: getattr(self, name) for name in names}
        return {**self.test.conventions(), **named, "n_samples": self.sizes[-1], "tau2_method": self.tau2}


class CeatTables(NamedTuple):
    """The tables of one model and segment length, by their names in the schema.

    `ceat`, `ceat_words`, `resamples` (effects with words and contexts resampled, and before that) and `convergence`.
    """

    estimates: pa.Table
    words: pa.Table
    resamples: pa.Table
    convergence: pa.Table


_SPREAD = 256
"""Draws from which intervals and controls are computed, whatever contexts there are, so that all estimates of a
category have the same resamples. More would shorten intervals where contexts are much noisier than words differ, and
take longer."""


def measure_ceat(
    categories: Layouts,
    vectors: ItemVectors,
    *,
    model: str,
    segment_length: str,
    settings: CeatSettings,
    common: Mapping[str, Collection[str]] | None = None,
) -> CeatTables:
    """Compute the CEAT of all `categories` and sample modes for one model and segment length.

    `categories` maps names to the layout of `categories.json`. `vectors` may be a mapping that reads them when asked
    (`prasanga.embeddings.shards.StoredEmbeddings`); then no more than some words are in memory at a time. `common`
    maps each stimulus to the ids of the occurrences that all models of the study have, needed for the mode `fixed` with
    several models; without it, all contexts count as common.

    Raises `InputError` for vectors that cannot be right (NaN, zero, two of one occurrence).
    """
    parsed = [category_of(name, layout, settings.repeated_words) for name, layout in categories.items()]
    stimuli = {word for category in parsed for word in category.words}
    contexts = _Contexts(vectors, model, segment_length, stimuli, common, settings)
    cells = []
    for category in parsed:
        for mode in settings.sample_modes:
            drawable = contexts.rows[mode]
            used, partners = select_words(category, drawable)
            lost = [
                category.lose(word, Reason.NO_COMMON_CONTEXTS, "no context that all models have")
                if word in contexts.rows["random"]
                else category.lose(word, Reason.NO_CONTEXTS, "no contexts")
                for word in category.words
                if word not in drawable
            ]
            key = {"model": model, "segment_length": segment_length, "sample_mode": mode}
            fewest = min((drawable[word].size for side in used for word in side), default=0)
            about = {**settings.conventions(), "contexts_min": fewest}
            cells.append(Cell(category, key, used, lost + partners, about))
    tables = ("ceat", "ceat_words", "resamples", "convergence")
    return CeatTables(*measure_cells(f"CEAT of {model}, length {segment_length}", cells, contexts.measure, *tables))


class _Contexts(Mapping[str, DirectedVectors]):
    """The vectors of each stimulus, read and checked when first used, and the numbers computed from them once."""

    def __init__(
        self,
        vectors: ItemVectors,
        model: str,
        segment_length: str,
        stimuli: Collection[str],
        common: Mapping[str, Collection[str]] | None,
        settings: CeatSettings,
    ) -> None:
        self.vectors, self.model, self.settings = vectors, model, settings
        self.whose = f"{model}, segment length {segment_length}"
        self.ids = {word: self._read_ids(word) for word in sorted(vectors.keys() & stimuli)}
        ordered = {word: np.argsort(np.asarray(ids), kind="stable") for word, ids in self.ids.items() if ids}
        shared = ordered if common is None else {}
        for word in ordered if common is not None else ():
            wanted = set((common or {}).get(word, ()))
            if kept := [row for row in ordered[word] if self.ids[word][row] in wanted]:
                shared[word] = np.array(kept)
        self.rows = {"random": ordered, "fixed": shared}
        """By sample mode, of each word with contexts to draw, their rows in its vectors in the order of their ids."""
        self.inverse_norms: dict[str, FloatArray] = {}
        self.direction: Callable[[str], FloatArray] = cache(lambda word: mean_direction(self[word]))
        self.spread = cache(self._spread)
        # kept until other words are asked for: sample modes in which these have as many contexts share them
        self.cosines = lru_cache(3)(self._compute_cosines)
        self.tests = cache(self._test)

    def _read_ids(self, word: str) -> list[str]:
        """Return the ids of a stimulus's occurrences; its vectors are read only if nothing else has the ids."""
        known = getattr(self.vectors, "ids", None)
        ids = list(known(word) if known else self.vectors[word][0])
        if len(set(ids)) != len(ids):
            raise InputError(
                f"{self.whose}, {word}: {len(ids)} vectors of {len(set(ids))} occurrences. Embed it again."
            )
        return ids

    def __getitem__(self, word: str) -> DirectedVectors:
        whose = f"{self.whose}, {word}"
        ids, array = self.vectors[word]
        if word in self.inverse_norms:  # read before, and checked
            return DirectedVectors(to_floating(whose, array), self.inverse_norms[word])
        directed = directed_vectors(whose, array, ids=ids, mend=embed_again(self.model))
        self.inverse_norms[word] = directed.inverse_norms
        return directed

    def __iter__(self) -> Iterable[str]:  # type: ignore[override]
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def moments(self) -> Moments:
        """Mean and spread of each dimension over all contexts of the study."""
        return compute_moments(self[word].vectors for word in sorted(self.rows["random"]))

    def _rows_of(self, word: str, size: int) -> IndexArray:
        """Return the rows of a word in the mode that has this many; the rows of `fixed` are some of `random`."""
        fixed = self.rows["fixed"].get(word)
        return fixed if fixed is not None and fixed.size == size else self.rows["random"][word]

    def _spread(self, word: str, turn: int, size: int) -> IndexArray:
        """Return the rows of a word in the draws that intervals rest on, the same for all categories."""
        rows, ids = self._rows_of(word, size), self.ids[word]
        names = (word, turn)
        return rows[spread_draws([ids[row] for row in rows], _SPREAD, seed=self.settings.seed, names=names)]

    def _compute_cosines(self, words: Words, sizes: tuple[int, ...], change: Change | None = None) -> CrossedScores:
        """Return the cosines in these draws, of the vectors as they are or after a `change`; all arguments hashable."""
        listed = [word for side in words for word in side]
        rows = np.stack(
            [self.spread(*turn, size) for turn, size in zip(count_turns(listed), sizes, strict=True)], axis=1
        )
        if change is None:
            return draw_cosines(self, words, rows)
        changed = {
            str(j): directed_vectors(word, change(self[word].vectors[rows[:, j]], self.moments))
            for j, word in enumerate(listed)
        }
        numbers = iter(changed)
        renamed = tuple([next(numbers) for _ in side] for side in words)
        return draw_cosines(changed, renamed, np.tile(np.arange(len(rows))[:, None], len(listed)))  # type: ignore[arg-type]

    def _test(self, estimand: Estimand) -> tuple[PermutationTest, PermutationTest]:
        """Test the words of a category by all contexts that the model has.

        No draw has a part in it, so that sample modes with the same words have one test.
        """
        directions = {word: self.direction(word) for side in estimand.words for word in side}
        return estimand.test_words(compute_mean_cosines(directions, estimand.words))

    def measure(self, cell: Cell) -> tuple[dict[str, Any], *tuple[Rows, ...]]:
        """Return the columns of an estimate, and the rows of words, resamples and steps of the draws.

        Intervals, and differences with vectors as they are, rest on some draws, and are put around the effect of all.
        """
        settings, test, used, mode = self.settings, self.settings.test, cell.used, cell.key["sample_mode"]
        category, length = cell.category.name, cell.key["segment_length"]
        listed, n_x = [word for side in used for word in side], len(used[0])
        contexts = [self.rows[mode][word] for word in listed]
        sizes = tuple(rows.size for rows in contexts)
        # draws are named without the model in the mode in which models that have the same contexts draw the same
        names = (mode, self.model, category) if mode == "random" else (mode, category)
        drawn = named_draws(
            listed, sizes, settings.sizes[-1], seed=settings.seed, names=names, replacement=settings.draws
        )
        drawn = np.stack([rows[drawn[:, j]] for j, rows in enumerate(contexts)], axis=1)
        scores = draw_scores(self, used, drawn)
        options = {"variance": settings.variance, "tau2": settings.tau2, "std": test.std}
        effects, variances, combined = combine_scores(scores, n_x, drawn, **options)
        columns: dict[str, Any] = {"draws": _describe_draws(settings, sizes)}
        if settings.effects_alone:
            return {**columns, "effect_size": combined.effect}, [], [], []
        cosines, estimand = self.cosines(used, sizes), cell.estimate(test, settings.seed)
        without = leave_one_out(cosines, test.std) - cosines.effect(test.std) + combined.effect
        without[: scores.shape[1]] = _leave_out_targets(scores, n_x, drawn, options)
        found = measure_cosines(
            cosines,
            replace(estimand, names=(self.model, length, mode)),
            tests=self.tests(replace(estimand, names=(self.model, length))),
            effect=combined.effect,
            scores=scores.mean(axis=0),
            without=without,
            n_items=sizes,
            rescale=partial(self.cosines, used, sizes),
        )
        usual = sizes_up_to(settings.sizes[-1])
        steps = convergence(effects, variances, settings.tau2, sorted({*usual, *settings.sizes}))
        heterogeneity = combine(effects, hedges_variance(effects, n_x, len(used[1])), tau2=settings.tau2)
        columns |= {
            **found.columns,
            **_describe_combined(combined, heterogeneity),
            **_split_variance(cosines, used, sizes),
            "contexts_enough": contexts_enough(effects, settings.band, contexts_min=min(sizes)),
            "draws_settled": draws_settled([step for step in steps if step.n in usual], settings.band),
        }
        digest = digest_of([list(side) for side in used])
        replicates: FloatArray = np.empty(0)
        if test.n_resamples:
            replicates = replicate_effects(cosines, estimand.resample(_SPREAD), test.std)
        resamples = {"effect_size": cosines.effect(test.std), "words": digest, "replicates": replicates}
        rows = [dict(zip(("n", "effect_size", "standard_error"), step, strict=True)) for step in steps]
        return columns, found.words, [resamples], rows


def _leave_out_targets(scores: FloatArray, n_x: int, draws: IndexArray, options: Mapping[str, str]) -> FloatArray:
    """Return the combined effect of the same draws without each target word; NaN where it does not exist."""
    effects = np.full(scores.shape[1], np.nan)
    for word in range(effects.size):
        left = n_x - (word < n_x)
        if 0 < left < effects.size - 1:
            with contextlib.suppress(ConstantScoresError):
                effects[word] = combine_scores(np.delete(scores, word, axis=1), left, draws, **options)[2].effect
    return effects


def _describe_draws(settings: CeatSettings, n_contexts: Sequence[int]) -> str:
    """Return how contexts were drawn.

    `without-replacement` draws a word with replacement that has fewer contexts than draws.
    """
    if settings.draws == "with-replacement" or max(n_contexts) < settings.sizes[-1]:
        return "with-replacement"
    return "mixed" if min(n_contexts) < settings.sizes[-1] else "without-replacement"


def _describe_combined(combined: RandomEffects, heterogeneity: RandomEffects) -> dict[str, Any]:
    """Return the columns of the combined effect; tau2, Q and I2 are those of V = hedges, whatever `variance` says."""
    names = {"standard_error": "standard_error", "draws_low": "ci_low", "draws_high": "ci_high"}
    names |= {"p_draws": "p_value", "log_p_draws": "log_p_value"}
    known = {column: value for column, name in names.items() if not np.isnan(value := getattr(combined, name))}
    return {**known, "tau2": heterogeneity.tau2, "q": heterogeneity.q, "i2": heterogeneity.i2}


def _split_variance(cosines: CrossedScores, used: Words, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the components of variance of the words that have two contexts or more, from draws that share none.

    A word uses each of its contexts once before it uses one again, so that the first draws share none, as many as the
    fewest contexts.
    """
    several = np.array(sizes) > 1
    kept = np.split(several, np.cumsum([len(side) for side in used])[:-1])
    n_kept = [int(side.sum()) for side in kept]
    if min(n_kept) < 2:
        return {"variance_note": "no components of variance: they take two words a set with two contexts each"}
    values = cosines.values[: min(size for size in sizes if size > 1)]
    values = values[:, np.concatenate(kept[:2])][:, :, np.concatenate(kept[2:])]
    found = variance_components(CrossedScores.of_words(values, n_kept))
    left = int((~several).sum())
    note = f"without {left} words of one context, from {len(values)} draws" if left else f"from {len(values)} draws"
    return {**{f"variance_{name}": value for name, value in found._asdict().items()}, "variance_note": note}
