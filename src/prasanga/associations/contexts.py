"""CEAT of a whole study: from the vectors of contexts at every length to tables with one row per estimate.

CEAT has draws in one or two sample modes. In mode `fixed` they are the same for all models: they index only the
contexts that all models have, and their seed does not depend on the model. In mode `random` they index all contexts of
a model, with the model's own seed. Neither seed depends on the segment length: lengths that are cut from the same
occurrences have the same draws. Contexts are ordered by occurrence_id, so the order of files and rows does not matter.
With both modes, estimates and tests use fixed draws, and the effect of random draws has separate columns.

Each category has one primary row per model, `segment_length` = mean, over the fixed lengths together. Only primary rows
are corrected for the number of tests; the rows of single lengths describe.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from prasanga.associations.ceat import (
    SPREAD,
    Combined,
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
from prasanga.associations.comparisons import MEAN, fixed_lengths
from prasanga.associations.effects import ItemVectors, Layouts
from prasanga.associations.estimates import (
    AskedEstimate,
    CategoryWords,
    Estimand,
    Rows,
    TestSettings,
    category_of,
    find_small_set,
    measure_cells,
    measure_cosines,
    measure_slope,
    select_words,
)
from prasanga.associations.vectors import (
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
from prasanga.base.io import digest_of
from prasanga.schema import Reason
from prasanga.stats.crossed import CrossedScores, leave_one_out, variance_components
from prasanga.stats.effects import ConstantScoresError, FloatArray, IndexArray, RandomEffects, combine, hedges_variance

SAMPLE_MODES = ("fixed", "random")


@dataclass(frozen=True)
class CeatSettings:
    """The choices of a study, as in its config.

    `pool`, `match`, `neighbours`, `window` and `pieces` are settings of earlier stages, for the table. `effects_only`
    is for twins, whose other numbers are not shown.
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
    effects_only: bool = False
    seed: int = 47
    repeated_words: str = "once"

    @property
    def modes(self) -> list[str]:
        """The sample modes; estimates use the first, which is `fixed` if given."""
        return sorted(self.sample_modes)

    @property
    def combining(self) -> dict[str, str]:
        """How the effects of draws are combined, as arguments of `combine_scores`."""
        return {"variance": self.variance, "tau2": self.tau2, "std": self.test.std}

    @property
    def sizes(self) -> list[int]:
        """Numbers of draws, ascending; a smaller number means the first draws of the greatest."""
        return [self.n_samples] if isinstance(self.n_samples, int) else sorted(self.n_samples)

    def measures_slopes(self, lengths: Sequence[str]) -> bool:
        """Return whether slopes are measured, which needs several fixed lengths with the same texts."""
        return len(lengths) > 1 and self.pool == "shared" and not self.effects_only

    def conventions(self) -> dict[str, Any]:
        """Return the settings as the columns that have their names."""
        names = ("variance", "repeated_words", "pool", "match", "neighbours", "window", "pieces", "band", "seed")
        named = {name: getattr(self, name) for name in names}
        named |= {"n_samples": self.sizes[-1], "sample_mode": self.modes[0], "tau2_method": self.tau2}
        return {**self.test.conventions(), **named}


class CeatTables(NamedTuple):
    """The tables of one model, by their names in the schema.

    `ceat`, `ceat_words`, `resamples` (effects with words and contexts resampled, and before that) and `convergence`.
    """

    estimates: pa.Table
    words: pa.Table
    resamples: pa.Table
    convergence: pa.Table


class _AtLength(NamedTuple):
    """A category at one length: the columns, and the arrays for the mean over lengths.

    Attributes:
        columns: of the estimate.
        cosines: (n_draws, n_targets, n_attributes) in some draws. With `effects_only` all arrays are empty.
        all_contexts: (1, n_targets, n_attributes) mean cosines over all contexts.
        n_contexts: (n_words,).
        effects: (n_samples,) of the draws.
        scores: (n_targets,) mean associations over the draws.
        without: (n_words,) effects without each word.
        halves: (n_targets, n_attributes) mean cosines over the occurrences that all fixed lengths have, for either half
            of the targets' occurrences; None if a word has too few.
    """

    columns: dict[str, Any]
    cosines: FloatArray = np.empty(0)
    all_contexts: FloatArray = np.empty(0)
    n_contexts: Sequence[int] = ()
    effects: FloatArray = np.empty(0)
    scores: FloatArray = np.empty(0)
    without: FloatArray = np.empty(0)
    halves: tuple[FloatArray, FloatArray] | None = None


def measure_ceat(
    categories: Layouts,
    vectors: Mapping[str, ItemVectors],
    *,
    model: str,
    settings: CeatSettings,
    common: Mapping[str, Mapping[str, Collection[str]]] | None = None,
) -> CeatTables:
    """Compute the CEAT of all `categories` for one model, over the fixed segment lengths together and at each length.

    `categories` maps names to the layout of `categories.json`. `vectors` maps segment lengths to vectors. A mapping
    that reads on demand (`prasanga.embeddings.shards.StoredEmbeddings`) keeps only a few words in memory. `common` maps
    segment lengths and stimuli to the ids of the occurrences that all models of the study have, needed for the mode
    `fixed` with several models; without it, all contexts count as common.

    Raises `InputError` for vectors that cannot be right (NaN, zero, two of one occurrence).
    """
    parsed = [category_of(name, layout, settings.repeated_words) for name, layout in categories.items()]
    stimuli = {word for category in parsed for word in category.words}
    waiting = {
        length: _Contexts(given, model, length, stimuli, common and common[length], settings)
        for length, given in vectors.items()
    }
    del vectors  # so that a length leaves memory once it is measured
    fixed, names = fixed_lengths(waiting), ("ceat", "ceat_words", "resamples", "convergence")
    of_fixed = [waiting[length] for length in fixed]
    if settings.measures_slopes(fixed):
        for contexts in of_fixed:
            known = {word: [set(each.ids.get(word, ())) for each in of_fixed] for word in contexts.ids}
            contexts.everywhere = {word: set.intersection(*found) for word, found in known.items()}
    primary, at_lengths, tables = _list_primary_cells(parsed, of_fixed), {}, []
    del of_fixed
    for length in [*waiting]:
        contexts = waiting.pop(length)

        def measure(cell: AskedEstimate, contexts: _Contexts = contexts) -> tuple[dict[str, Any], *tuple[Rows, ...]]:
            found, *rows = contexts.measure(cell)
            if contexts.length in fixed:
                at_lengths[cell.category.name, contexts.length, cell.used] = found
            return found.columns, *rows

        cells = contexts.list_cells(parsed)
        tables.append(measure_cells(f"CEAT of {model}, length {length}", cells, measure, *names))
        for cell in primary:
            key = cell.category.name, length, cell.used
            if length in fixed and key not in at_lengths and find_small_set(cell.category, cell.used) is None:
                with contextlib.suppress(ConstantScoresError):
                    at_lengths[key] = contexts.measure(cell)[0]

    def measure_mean(cell: AskedEstimate) -> tuple[dict[str, Any], *tuple[Rows, ...]]:
        found = [at_lengths.get((cell.category.name, length, cell.used)) for length in fixed]
        if None in found:
            raise ConstantScoresError(f"At {fixed[found.index(None)]} words, all words have the same association.")
        return _measure_mean(cell, fixed, list(filter(None, found)), settings)

    tables.insert(0, measure_cells(f"CEAT of {model}, mean over lengths", primary, measure_mean, *names))
    return CeatTables(*map(pa.concat_tables, zip(*tables, strict=True)))


def _list_primary_cells(categories: Sequence[CategoryWords], fixed: Sequence[_Contexts]) -> list[AskedEstimate]:
    """Return the primary estimates: over the words that all fixed lengths have; losses are the first length's."""
    of_lengths = [contexts.list_cells(categories) for contexts in fixed]
    cells = []
    for category, *of_category in zip(categories, *of_lengths, strict=True):
        words = set.intersection(*({*category.words} - {loss.word for loss in cell.lost} for cell in of_category))
        found = {loss.word: loss for cell in reversed(of_category) for loss in cell.lost}
        lost = [found[word] for word in category.words if word in found]
        first, fewest = of_category[0], min(cell.about["contexts_min"] for cell in of_category)
        key, about = {**first.key, "segment_length": MEAN}, {**first.about, "contexts_min": fewest}
        cells.append(AskedEstimate(category, key, select_words(category, words)[0], lost, about))
    return cells


_AVERAGED = (
    *("effect_size", "effect_random", "difference"),
    *("difference_centered", "effect_centered", "difference_standardized", "effect_standardized"),
)


def _measure_mean(
    cell: AskedEstimate, lengths: Sequence[str], at_lengths: Sequence[_AtLength], settings: CeatSettings
) -> tuple[dict[str, Any], *tuple[Rows, ...]]:
    """Return the columns of a primary estimate, and its rows of words and resamples."""
    averaged = {
        name: float(np.mean([found.columns[name] for found in at_lengths]))
        for name in _AVERAGED
        if all(found.columns.get(name) is not None for found in at_lengths)
    }
    if settings.effects_only:
        return averaged, [], [], []
    columns, words, resamples = _measure_over(cell, at_lengths, settings)
    how = {found.columns["draws"] for found in at_lengths}
    columns |= {**averaged, "draws": how.pop() if len(how) == 1 else "mixed"}
    columns |= _measure_slope(lengths, [found.halves for found in at_lengths], cell, settings)
    return columns, words, resamples, []


def _measure_over(
    cell: AskedEstimate, at_lengths: Sequence[_AtLength], settings: CeatSettings, **how: Any
) -> tuple[dict[str, Any], Rows, Rows]:
    """Return the columns, the words and the resamples of an estimate over one or more lengths.

    The effect is the mean of the lengths' effects, as a length's effect is a mean over draws. The tests relabel each
    word at all lengths at once, so they use the mean of the lengths' cosines. `how` are other arguments of
    `measure_cosines`.
    """

    def average(name: str) -> FloatArray:
        return np.asarray(np.mean([getattr(found, name) for found in at_lengths], axis=0))

    sizes, fewest = [*map(len, cell.used)], np.min([found.n_contexts for found in at_lengths], axis=0).tolist()
    each = [CrossedScores.of_words(found.cosines, sizes) for found in at_lengths]
    estimand = cell.estimate(settings.test, settings.seed, cell.key["model"])
    found = measure_cosines(
        CrossedScores.of_words(np.concatenate([cosines.values for cosines in each]), sizes),
        estimand,
        tests=estimand.test_words(CrossedScores.of_words(average("all_contexts"), sizes)),
        effect=float(np.mean([found.columns["effect_size"] for found in at_lengths])),
        scores=average("scores"),
        without=average("without"),
        n_items=fewest,
        **how,
    )
    columns = {
        **found.columns,
        **_split_variance(CrossedScores.of_words(average("cosines"), sizes), cell.used, fewest),
        "contexts_min": min(fewest),
        "contexts_enough": contexts_enough(average("effects"), settings.band, contexts_min=min(fewest)),
    }
    return columns, found.words, [_describe_resamples(each, estimand)]


def _measure_slope(
    lengths: Sequence[str],
    halves: Sequence[tuple[FloatArray, FloatArray] | None],
    cell: AskedEstimate,
    settings: CeatSettings,
) -> dict[str, Any]:
    """Return the columns of the slope on the length, or why it is missing."""
    known = [each for each in halves if each is not None]
    if not settings.measures_slopes(lengths):
        why = "one fixed length" if len(lengths) < 2 else "lengths have texts of their own (samples.pool is per_length)"
        return {"slope_note": f"no slope: {why}"}
    if len(known) < len(lengths):
        return {"slope_note": "no slope: a word has fewer than two occurrences that all fixed lengths share"}
    return measure_slope(lengths, known, cell.estimate(settings.test, settings.seed, cell.key["model"]))


def _describe_resamples(at_lengths: Sequence[CrossedScores], estimand: Estimand) -> dict[str, Any]:
    """Return the row of an estimate in the table `resamples`: words and draws are resampled once for all lengths."""
    std, replicates = estimand.settings.std, np.empty((1, 0))
    if estimand.settings.n_resamples:
        resampling = estimand.resample(SPREAD)
        replicates = np.stack([each.effects(*resampling, std) for each in at_lengths])
    effect = float(np.mean([each.effect(std) for each in at_lengths]))
    words = digest_of([list(side) for side in estimand.words])
    return {"effect_size": effect, "words": words, "replicates": replicates.mean(axis=0)}


class _Contexts(Mapping[str, DirectedVectors]):
    """The vectors of each stimulus, read and checked on first use, and numbers that are computed from them once."""

    def __init__(
        self,
        vectors: ItemVectors,
        model: str,
        segment_length: str,
        stimuli: Collection[str],
        common: Mapping[str, Collection[str]] | None,
        settings: CeatSettings,
    ) -> None:
        self.vectors, self.model, self.length, self.settings = vectors, model, segment_length, settings
        self.whose = f"{model}, segment length {segment_length}"
        self.ids = {word: self._read_ids(word) for word in sorted(vectors.keys() & stimuli)}
        ordered = {word: np.argsort(np.asarray(ids), kind="stable") for word, ids in self.ids.items() if ids}
        self.rows = {"random": ordered, "fixed": ordered}
        if common is not None:
            shared = {word: self._select_rows(word, common.get(word, ())) for word in ordered}
            self.rows["fixed"] = {word: rows for word, rows in shared.items() if rows.size}
        """By sample mode and word, the rows of its contexts in its vectors, in the order of their ids."""
        self.everywhere: Mapping[str, Collection[str]] = {}
        """By word, the ids of the occurrences that all fixed lengths have, if slopes are measured."""
        self.inverse_norms: dict[str, FloatArray] = {}
        self.direction: Callable[[str], FloatArray] = cache(lambda word: mean_direction(self[word]))
        self.halves = cache(self._halves)
        self.spread = cache(self._spread)

    def _read_ids(self, word: str) -> list[str]:
        """Return the ids of a stimulus's occurrences, without reading its vectors if possible."""
        known = getattr(self.vectors, "ids", None)
        return list(known(word) if known else self.vectors[word][0])

    def _select_rows(self, word: str, wanted: Collection[str]) -> IndexArray:
        """Return the rows of a word whose occurrences are `wanted`, in the order of their ids."""
        known = set(wanted)
        return np.array([row for row in self.rows["random"][word] if self.ids[word][row] in known], dtype=np.int64)

    def __getitem__(self, word: str) -> DirectedVectors:
        whose = f"{self.whose}, {word}"
        ids, array = self.vectors[word]
        if word in self.inverse_norms:  # read before, and checked
            return DirectedVectors(to_floating(whose, array), self.inverse_norms[word])
        directed = directed_vectors(whose, array, ids=ids, cure=embed_again(self.model))
        self.inverse_norms[word] = directed.inverse_norms
        return directed

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def list_cells(self, categories: Sequence[CategoryWords]) -> list[AskedEstimate]:
        """Return the estimates at this length."""
        drawable, cells = self.rows[self.settings.modes[0]], []
        for category in categories:
            used, partners = select_words(category, drawable)
            lost = [
                category.lose(word, Reason.NO_COMMON_CONTEXTS, "no context that all models have")
                if word in self.rows["random"]
                else category.lose(word, Reason.NO_CONTEXTS, "no contexts")
                for word in category.words
                if word not in drawable
            ]
            fewest = min((drawable[word].size for side in used for word in side), default=0)
            about = {**self.settings.conventions(), "contexts_min": fewest}
            key = {"model": self.model, "segment_length": self.length}
            cells.append(AskedEstimate(category, key, used, lost + partners, about))
        return cells

    def compute_halves(self, words: Words) -> tuple[FloatArray, FloatArray] | None:
        """Return mean cosines over the occurrences that all fixed lengths have, for either half of the targets'."""
        if not all(len(self.everywhere.get(word, ())) > 1 for side in words for word in side):
            return None
        x, y, *attributes = words
        whole = {word: np.mean(self.halves(word), axis=0) for side in attributes for word in side}
        first, second = (
            compute_mean_cosines({word: self.halves(word)[half] for word in (*x, *y)} | whole, words).values[0]
            for half in (0, 1)
        )
        return first, second

    def _halves(self, word: str) -> tuple[FloatArray, FloatArray]:
        """Return the means of the unit vectors of either half of these occurrences, by turns in the order of ids."""
        (array, inverse_norms), rows = self[word], self._select_rows(word, self.everywhere[word])
        first, second = (
            mean_direction(DirectedVectors(array[part], inverse_norms[part])) for part in (rows[::2], rows[1::2])
        )
        return first, second

    @cached_property
    def moments(self) -> Moments:
        """Mean and spread of each dimension over all contexts of the study."""
        return compute_moments(self[word].vectors for word in sorted(self.rows["random"]))

    def _spread(self, word: str, turn: int) -> IndexArray:
        """Return the rows of a word in the draws for intervals, the same for all categories."""
        rows, ids = self.rows[self.settings.modes[0]][word], self.ids[word]
        names = (word, turn)
        return rows[spread_draws([ids[row] for row in rows], SPREAD, seed=self.settings.seed, names=names)]

    def compute_cosines(self, words: Words, change: Change | None = None) -> CrossedScores:
        """Return the cosines in these draws, of the vectors as they are or after a `change`."""
        listed = [word for side in words for word in side]
        rows = np.stack([self.spread(*turn) for turn in count_turns(listed)], axis=1)
        if change is None:
            return draw_cosines(self, words, rows)
        changed = {
            str(j): directed_vectors(word, change(self[word].vectors[rows[:, j]], self.moments))
            for j, word in enumerate(listed)
        }
        numbers = iter(changed)
        renamed = tuple([next(numbers) for _ in side] for side in words)
        return draw_cosines(changed, renamed, np.tile(np.arange(len(rows))[:, None], len(listed)))  # type: ignore[arg-type]

    def draw(self, category: str, used: Words, mode: str) -> _Draws:
        """Return the draws of a category in a sample mode."""
        settings, listed = self.settings, [word for side in used for word in side]
        contexts = [self.rows[mode][word] for word in listed]
        # in mode `fixed`, draws are named without the model, so models with the same contexts draw the same
        names = (mode, self.model, category) if mode == "random" else (mode, category)
        n_contexts = tuple(rows.size for rows in contexts)
        drawn = named_draws(
            listed, n_contexts, settings.sizes[-1], seed=settings.seed, names=names, replacement=settings.draws
        )
        drawn = np.stack([rows[drawn[:, j]] for j, rows in enumerate(contexts)], axis=1)
        scores = draw_scores(self, used, drawn)
        return _Draws(n_contexts, drawn, scores, *combine_scores(scores, len(used[0]), drawn, **settings.combining))

    def list_steps(self, drawn: _Draws) -> list[Combined]:
        """Return the combined effect after increasing numbers of draws."""
        sizes = sorted({*sizes_up_to(self.settings.sizes[-1]), *self.settings.sizes})
        return convergence(drawn.effects, drawn.variances, self.settings.tau2, sizes)

    def leave_out_targets(self, drawn: _Draws, n_x: int) -> FloatArray:
        """Return the combined effect of the same draws without each target word; NaN if it does not exist."""
        effects = np.full(drawn.scores.shape[1], np.nan)
        for word in range(effects.size):
            left = n_x - (word < n_x)
            if 0 < left < effects.size - 1:
                with contextlib.suppress(ConstantScoresError):
                    kept = np.delete(drawn.scores, word, axis=1)
                    effects[word] = combine_scores(kept, left, drawn.rows, **self.settings.combining)[2].effect
        return effects

    def measure(self, cell: AskedEstimate) -> tuple[_AtLength, *tuple[Rows, ...]]:
        """Return an estimate at this length, and its rows of words, resamples and steps of the draws.

        Intervals, and differences without rescaling, use some draws, and are centered on the effect of all. Tests use
        all contexts that the model has, whatever the draws.
        """
        settings, std, used = self.settings, self.settings.test.std, cell.used
        drawn = self.draw(cell.category.name, used, settings.modes[0])
        combined, n_contexts = drawn.combined, drawn.n_contexts
        columns: dict[str, Any] = {"draws": _describe_draws(settings, n_contexts), "effect_size": combined.effect}
        if settings.effects_only:
            return _AtLength(columns), [], [], []
        combined_steps, usual = self.list_steps(drawn), sizes_up_to(settings.sizes[-1])
        columns["draws_settled"] = draws_settled([step for step in combined_steps if step.n in usual], settings.band)
        steps = [step._asdict() for step in combined_steps]
        for mode in settings.modes[1:]:
            random = self.draw(cell.category.name, used, mode)
            described = _describe_combined(random.combined) | {"effect": random.combined.effect}
            columns |= {f"{name}_random": described.get(name) for name in ("effect", "standard_error", "p_draws")}
            for step, other in zip(steps, self.list_steps(random), strict=True):
                step |= {"effect_random": other.effect_size, "standard_error_random": other.standard_error}
        cosines, scores = self.compute_cosines(used), drawn.scores.mean(axis=0)
        all_contexts = compute_mean_cosines({word: self.direction(word) for side in used for word in side}, used)
        without = leave_one_out(cosines, std) - cosines.effect(std) + combined.effect
        without[: scores.size] = self.leave_out_targets(drawn, len(used[0]))
        variances = hedges_variance(drawn.effects, len(used[0]), len(used[1]))
        heterogeneity = combine(drawn.effects, variances, tau2=settings.tau2)
        columns |= _describe_combined(combined)
        columns |= {"tau2": heterogeneity.tau2, "q": heterogeneity.q, "i2": heterogeneity.i2}
        arrays = (cosines.values, all_contexts.values, n_contexts, drawn.effects, scores, without)
        at_length = _AtLength(columns, *arrays, self.compute_halves(used))
        rescale = partial(self.compute_cosines, used)
        more, words, resamples = _measure_over(cell, [at_length], settings, rescale=rescale)
        columns |= more
        return at_length, words, resamples, steps


class _Draws(NamedTuple):
    """Draws of contexts of a category's words, and the effects of these.

    Attributes:
        n_contexts: of each word, to draw from.
        rows: (n_samples, n_words) drawn rows.
        scores: (n_samples, n_targets) associations.
        effects, variances: (n_samples,).
        combined: the effects combined.
    """

    n_contexts: tuple[int, ...]
    rows: IndexArray
    scores: FloatArray
    effects: FloatArray
    variances: FloatArray
    combined: RandomEffects


def _describe_draws(settings: CeatSettings, n_contexts: Sequence[int]) -> str:
    """Return how contexts were drawn.

    `without-replacement` draws a word with fewer contexts than draws with replacement.
    """
    if settings.draws == "with-replacement" or max(n_contexts) < settings.sizes[-1]:
        return "with-replacement"
    return "mixed" if min(n_contexts) < settings.sizes[-1] else "without-replacement"


def _describe_combined(combined: RandomEffects) -> dict[str, float]:
    """Return the columns of the combined effect, those that are known."""
    names = {"standard_error": "standard_error", "draws_low": "ci_low", "draws_high": "ci_high"}
    names |= {"p_draws": "p_value", "log_p_draws": "log_p_value"}
    return {column: value for column, name in names.items() if not np.isnan(value := getattr(combined, name))}


def _split_variance(cosines: CrossedScores, used: Words, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the components of variance of the words that have two contexts or more, from draws that share none.

    A word uses each of its contexts once before it uses one again, so the first draws, as many as the fewest contexts,
    share none.
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
