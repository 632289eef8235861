"""CEAT of a whole study, one model and one segment length at a time: tables with a row per category and sample mode.

In mode `fixed` the draws are the same for all models: they index only the contexts that all models have, and their
seed does not contain the model. In mode `random` they index all contexts of this model, with a seed of its own. Neither
contains the segment length: where all lengths are cut from the same occurrences, they draw the same. Contexts are
ordered by occurrence_id, so that the order of files and rows makes no difference. Nothing here stops a study because of
one category: what cannot be computed is a row without numbers that says why.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.ceat import (
    Ceat,
    ceat_of_draws,
    combine_scores,
    contexts_enough,
    convergence,
    draw_scores,
    draws_settled,
    named_draws,
    sizes_up_to,
    spread_draws,
    turns,
)
from prasanga.associations.cosines import compute_mean_cosines, draw_cosines
from prasanga.associations.estimates import (
    Category,
    Rows,
    TestSettings,
    WordTests,
    category_of,
    computed,
    describe_category,
    find_small_set,
    measure_cosines,
    measured,
    raw_columns,
    test_words,
    used_words,
    word_rows,
)
from prasanga.associations.vectors import (
    Change,
    DirectedVectors,
    Moments,
    Words,
    directed_vectors,
    embed_again,
    floating,
    mean_direction,
    moments_of,
    require_one_dimension,
)
from prasanga.base.documents import digest_of
from prasanga.base.errors import InputError
from prasanga.losses import Reason
from prasanga.schema import TABLES
from prasanga.stats.arguments import FloatArray, IndexArray
from prasanga.stats.crossed import CrossedScores, variance_components
from prasanga.stats.effects import ConstantScoresError

SAMPLE_MODES = ("fixed", "random")
POOLS = ("shared", "per_length")

_OF_EARLIER_STAGES = ("pool", "match", "neighbours", "window", "pieces")

CEAT_SCHEMA = TABLES["ceat"].arrow()
"""Columns of the table of estimates.

`tau2`, `q` and `i2` are those of V = hedges, whatever `variance` says (docs/statistics.md). `n_partitions` are the
partitions that `p_stimuli` was counted over: all that there are if `p_stimuli_exact`, else those drawn; likewise those
of `p_attributes`. The tests rest on all contexts of the model and are the same in all sample modes. What needs other
tables (`p_association_holm`, `p_association_bh`, `n_tests`, the columns of twins) is null here and
filled when the tables of a study are gathered.
"""
CEAT_WORDS_SCHEMA = TABLES["ceat_words"].arrow()
"""Columns of the table of words; `n_items` is the number of contexts that may be drawn."""
RESAMPLES_SCHEMA = TABLES["resamples"].arrow()
"""Effects with words and contexts resampled, and before that (`effect_size`, of the draws that are resampled).

`words` is a digest; rows with the same one are compared in pairs.
"""
_STEP = ("n", "effect_size", "standard_error")
CONVERGENCE_SCHEMA = TABLES["convergence"].arrow()
"""The combined effect of the first `n` draws."""

# Draws from which intervals and controls are computed, whatever contexts there are, so that all estimates of a category
# have the same resamples. More would shorten intervals where contexts are much noisier than words differ, and take
# longer.
_SPREAD = 256

ContextVectors: TypeAlias = Mapping[str, tuple[Sequence[str], npt.ArrayLike]]
"""Each stimulus with the ids of its occurrences and their (n_contexts, d) vectors."""


@dataclass(frozen=True)
class CeatSettings:
    """The choices of a study, as in its config.

    `pool`, `match`, `neighbours`, `window` and `pieces` are those of earlier stages, in the table for who reads it.
    With `effects_alone` nothing but effects is computed, as of twins, of which nothing else is shown.
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
    def fewer(self) -> list[int]:
        """Numbers of draws besides the greatest, which are the first of these."""
        return [] if isinstance(self.n_samples, int) else sorted(self.n_samples)[:-1]

    @property
    def most(self) -> int:
        """Draws of an estimate."""
        return self.n_samples if isinstance(self.n_samples, int) else max(self.n_samples)


class CeatTables(NamedTuple):
    """What one model and segment length comes to."""

    estimates: pa.Table
    """`CEAT_SCHEMA`"""
    words: pa.Table
    """`CEAT_WORDS_SCHEMA`"""
    resamples: pa.Table
    """`RESAMPLES_SCHEMA`"""
    convergence: pa.Table
    """`CONVERGENCE_SCHEMA`"""


class _Cell(NamedTuple):
    """Where in the study's tables a row belongs, besides its category."""

    model: str
    segment_length: str
    sample_mode: str

    @property
    def whose(self) -> tuple[str, ...]:
        """What draws are named by; without the model, models that have the same contexts draw the same."""
        return (self.sample_mode, self.model) if self.sample_mode == "random" else (self.sample_mode,)


def measure_ceat(
    categories: Mapping[str, Mapping[str, Any]],
    vectors: ContextVectors,
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

    A stimulus without contexts is left out and listed in `lost`. Raises `InputError` for vectors that cannot be
    right (NaN, zero, different dimensions, ids that do not fit): these need mending, not leaving out.
    """
    parsed = [category_of(name, layout, settings.repeated_words) for name, layout in categories.items()]
    stimuli = {word for category in parsed for word in category.words}
    checked = _CheckedVectors(vectors, model, segment_length, stimuli)
    drawable = {"random": checked.ordered, "fixed": checked.ordered if common is None else _shared(checked, common)}
    cells = [(category, mode) for category in parsed for mode in settings.sample_modes]
    tests: dict[tuple[Any, ...], WordTests | None] = {}

    def rows_of(place: tuple[Category, str]) -> tuple[Rows, Rows, Rows, Rows]:
        category, mode = place
        cell = _Cell(model, segment_length, mode)
        used = used_words(category.sets, drawable[mode])
        asked = _Asked(category, cell, used, drawable[mode], checked, settings)
        key = (category.name, *map(tuple, used))
        if key not in tests:  # the modes have words in common but where all models have no context of one
            tests[key] = _tests(asked)
        return _rows(asked, tests[key])

    schemas = (CEAT_SCHEMA, CEAT_WORDS_SCHEMA, RESAMPLES_SCHEMA, CONVERGENCE_SCHEMA)
    return CeatTables(*measured(f"CEAT of {model}, length {segment_length}", "estimates", cells, rows_of, schemas))


class _CheckedVectors(Mapping[str, DirectedVectors]):
    """The vectors of each stimulus, read and checked when they are asked for."""

    def __init__(self, vectors: ContextVectors, model: str, segment_length: str, stimuli: Collection[str]) -> None:
        self._vectors, self._model = vectors, model
        self._whose = f"{model}, segment length {segment_length}"
        self._first: tuple[str, int] | None = None
        self._spread: dict[tuple[str, int, int], IndexArray] = {}
        self._directions: dict[str, FloatArray] = {}
        self._inverse_norms: dict[str, FloatArray] = {}
        self._wanted: tuple[Any, ...] = ()
        self._cosines: dict[Change | None, CrossedScores] = {}
        # of each stimulus that has vectors, the ids of its occurrences; of each that has some, its rows in their order
        self.ids = {word: self._ids_of(word) for word in sorted(vectors.keys() & stimuli)}
        self.ordered = {word: np.argsort(np.asarray(ids), kind="stable") for word, ids in self.ids.items() if ids}

    def __getitem__(self, word: str) -> DirectedVectors:
        whose = f"{self._whose}, {word}"
        ids, array = self._vectors[word]
        if word in self._inverse_norms:  # read before, and checked
            return DirectedVectors(floating(whose, array), self._inverse_norms[word])
        directed = directed_vectors(whose, array, ids=ids, mend=embed_again(self._model))
        if len(ids) != len(directed.inverse_norms):
            raise InputError(f"{whose}: {len(ids)} ids for {len(directed.inverse_norms)} vectors. Embed it again.")
        self._first = self._first or (word, directed.vectors.shape[1])
        require_one_dimension(dict([self._first, (whose, directed.vectors.shape[1])]))
        self._inverse_norms[word] = directed.inverse_norms
        return directed

    def __iter__(self) -> Iterator[str]:
        return iter(self._vectors)

    def __len__(self) -> int:
        return len(self._vectors)

    def direction(self, word: str) -> FloatArray:
        """Return the mean of the unit vectors of all contexts of a word, computed once."""
        if word not in self._directions:
            self._directions[word] = mean_direction(self[word])
        return self._directions[word]

    @cached_property
    def moments(self) -> Moments:
        """Mean and spread of each dimension over all contexts of the study."""
        return moments_of(self[word].vectors for word in sorted(self.ordered))

    def spread(self, words: Sequence[str], contexts: Mapping[str, IndexArray], seed: int) -> IndexArray:
        """Return the rows of words in the draws that intervals rest on; a word in `words` twice is drawn twice.

        Those of a word are the same for all categories with these `contexts`.
        """
        columns = []
        for word, turn in turns(words):
            ids, rows = self.ids[word], contexts[word]
            key = word, turn, rows.size
            if key not in self._spread:
                drawn = spread_draws([ids[row] for row in rows], _SPREAD, seed=seed, names=(word, turn))
                self._spread[key] = rows[drawn]
            columns.append(self._spread[key])
        return np.stack(columns, axis=1)

    def spread_cosines(
        self, used: Words, contexts: Mapping[str, IndexArray], seed: int, change: Change | None = None
    ) -> CrossedScores:
        """Return the cosines in these draws, of the vectors as they are or after a `change`.

        They are kept until other words are asked for: sample modes in which these have as many contexts share them.
        """
        words = [word for side in used for word in side]
        wanted = tuple(map(tuple, used)), tuple(contexts[word].size for word in words)
        if wanted != self._wanted:
            self._wanted, self._cosines = wanted, {}
        if change not in self._cosines:
            rows, vectors = self.spread(words, contexts, seed), dict[str, DirectedVectors]()
            if change:
                for j, word in enumerate(words):
                    changed = change(self[word].vectors[rows[:, j]], self.moments)
                    vectors[str(j)] = directed_vectors(word, changed)
                rows = np.tile(np.arange(len(rows))[:, None], len(words))
            values = draw_cosines(vectors or self, [*vectors] or words, rows, len(used[0]) + len(used[1]))
            self._cosines[change] = CrossedScores.of_words(values, map(len, used))
        return self._cosines[change]

    def _ids_of(self, word: str) -> list[str]:
        """Return the ids of a stimulus's occurrences; its vectors are read only where there is no other way."""
        known = getattr(self._vectors, "ids", None)
        ids = list(known(word) if known else self._vectors[word][0])
        if len(set(ids)) != len(ids):
            raise InputError(
                f"{self._whose}, {word}: {len(ids)} vectors of {len(set(ids))} occurrences. Embed it again."
            )
        return ids


def _shared(vectors: _CheckedVectors, common: Mapping[str, Collection[str]]) -> dict[str, IndexArray]:
    """Return only the contexts that are `common` to all models, and only the stimuli that have some."""
    shared = {}
    for word, order in vectors.ordered.items():
        wanted = set(common.get(word, ()))
        rows = order[[vectors.ids[word][row] in wanted for row in order]]
        if rows.size:
            shared[word] = rows
    return shared


class _Asked(NamedTuple):
    """An estimate that is asked for."""

    category: Category
    cell: _Cell
    used: Words
    """The words that have contexts to draw."""
    contexts: Mapping[str, IndexArray]
    """Their rows in the word's vectors."""
    vectors: _CheckedVectors
    settings: CeatSettings


def _rows(asked: _Asked, tests: WordTests | None) -> tuple[Rows, Rows, Rows, Rows]:
    """Return rows of the four tables; one without numbers if the category cannot be computed."""
    category, cell, used, contexts, vectors, settings = asked
    missing = [word for word in category.words if word not in contexts]
    lost = [
        category.lose(word, Reason.NO_COMMON_CONTEXTS, "no context that all models have")
        if word in vectors.ordered
        else category.lose(word, Reason.NO_CONTEXTS, "no contexts")
        for word in missing
    ]
    found = computed(category, used, lost, lambda: _measure(asked, tests))
    columns, *others = found or ({}, [], [], [])
    counts = [contexts[word].size for side in used for word in side]
    row = {
        **describe_category(category, used, lost),
        **cell._asdict(),
        **columns,
        "n_samples": settings.most,
        "contexts_min": min(counts, default=0),
        **settings.test.conventions(),
        "tau2_method": settings.tau2,
        "draws": _how_drawn(settings, counts) if found else None,
        **{
            name: getattr(settings, name)
            for name in ("variance", "repeated_words", *_OF_EARLIER_STAGES, "band", "seed")
        },
    }
    key = {"category": category.name, **cell._asdict()}
    words, resamples, steps = ([{**key, **each} for each in rows] for rows in others)
    return [row], words, resamples, steps


def _tests(asked: _Asked) -> WordTests | None:
    """Test the words of a category by all contexts that the model has; None for too few words or effects alone.

    No draw has a part in it, so that sample modes with the same words have one test.
    """
    category, cell, used, _, vectors, settings = asked
    if settings.effects_alone or find_small_set(category, used):
        return None
    directions = {word: vectors.direction(word) for side in used for word in side}
    return test_words(
        compute_mean_cosines(directions, used),
        settings.test,
        category=category.name,
        seed=settings.seed,
        names=(cell.model, cell.segment_length),
    )


def _measure(asked: _Asked, tests: WordTests | None) -> tuple[dict[str, Any], Rows, Rows, Rows]:
    """Return the columns of the estimate, and the rows of words, resamples and steps of the draws.

    Intervals, and differences with vectors as they are, rest on some draws, and are put around the effect of all.
    """
    category, cell, used, contexts, vectors, settings = asked
    listed = [word for side in used for word in side]
    sizes = [contexts[word].size for word in listed]
    drawn = named_draws(
        listed, sizes, settings.most, seed=settings.seed, names=(*cell.whose, category.name), replacement=settings.draws
    )
    rows = np.stack([contexts[word][drawn[:, j]] for j, word in enumerate(listed)], axis=1)
    conventions: dict[str, Any] = {"variance": settings.variance, "tau2": settings.tau2, "std": settings.test.std}
    if settings.effects_alone:
        drawn_scores = draw_scores(vectors, listed, rows, len(used[0]) + len(used[1]), len(used[2]))
        return {"effect_size": combine_scores(drawn_scores, len(used[0]), **conventions)[2].effect}, [], [], []
    directions = {word: vectors.direction(word) for word in listed}
    result = ceat_of_draws(vectors, used, rows, compute_mean_cosines(directions, used), **conventions)
    effect, scores = result.combined.effect, result.target_scores
    cosines = vectors.spread_cosines(used, contexts, settings.seed)
    scaled = partial(vectors.spread_cosines, used, contexts, settings.seed)
    estimate = measure_cosines(
        cosines,
        settings.test,
        category=category.name,
        words=used,
        seed=settings.seed,
        names=cell,
        tests=tests,
        effect=effect,
        scores=scores,
        without_targets=_without_targets(result, settings),
    )
    usual = sizes_up_to(settings.most)
    steps = convergence(
        result.effect_sizes, result.variances, tau2=settings.tau2, sizes=sorted({*usual, *settings.fewer})
    )
    columns = {
        **estimate.columns,
        **raw_columns(cosines, scaled, settings.test, effect=effect, scores=scores),
        **_numbers(result),
        **_variances(cosines, used, contexts),
        "contexts_enough": contexts_enough(result.effect_sizes, settings.band, contexts_min=min(sizes)),
        "draws_settled": draws_settled([step for step in steps if step.n in usual], settings.band),
    }
    words = word_rows(cosines, used, category.set_names, estimate.without, scores)
    for row in words:
        row["n_items"] = contexts[row["stimulus"]].size
    resamples = {
        "effect_size": cosines.effect(settings.test.std),
        "words": digest_of([list(side) for side in used]),
        "replicates": estimate.replicates,
    }
    return columns, words, [resamples], [dict(zip(_STEP, step, strict=True)) for step in steps]


def _without_targets(result: Ceat, settings: CeatSettings) -> FloatArray:
    """Return the combined effect of the same draws without each target word; NaN where there is none."""
    effects = np.full(result.scores.shape[1], np.nan)
    for word in range(effects.size):
        n_x = result.n_x - (word < result.n_x)
        if 0 < n_x < effects.size - 1:
            with contextlib.suppress(ConstantScoresError):
                scores = np.delete(result.scores, word, axis=1)
                effects[word] = combine_scores(
                    scores, n_x, variance=settings.variance, tau2=settings.tau2, std=settings.test.std
                )[2].effect
    return effects


def _how_drawn(settings: CeatSettings, n_contexts: Sequence[int]) -> str:
    """Return what was done: `without-replacement` draws a word with replacement that has fewer contexts than draws."""
    if settings.draws == "with-replacement" or max(n_contexts) < settings.most:
        return "with-replacement"
    return "mixed" if min(n_contexts) < settings.most else "without-replacement"


def _numbers(result: Ceat) -> dict[str, Any]:
    combined, heterogeneity = result.combined, result.heterogeneity
    of_draws = {
        "standard_error": combined.standard_error,
        "draws_low": combined.ci_low,
        "draws_high": combined.ci_high,
        "p_draws": combined.p_value,
        "log_p_draws": combined.log_p_value,
    }
    return {
        **{name: None if np.isnan(value) else value for name, value in of_draws.items()},
        **{name: getattr(heterogeneity, name) for name in ("tau2", "q", "i2")},
    }


def _variances(cosines: CrossedScores, used: Words, contexts: Mapping[str, IndexArray]) -> dict[str, Any]:
    """Return the components of variance of the words that have two contexts or more, from draws that share none.

    A word uses each of its contexts once before it uses one again, so that the first draws share none, as many as the
    fewest contexts.
    """
    kept = [[contexts[word].size > 1 for word in side] for side in used]
    sizes = [sum(side) for side in kept]
    if min(sizes) < 2:
        return {"variance_note": "no components of variance: they take two words a set with two contexts each"}
    fewest = min(contexts[word].size for side in used for word in side if contexts[word].size > 1)
    targets, attributes = np.array(kept[0] + kept[1]), np.array(kept[2] + kept[3])
    values = cosines.values[:fewest][:, targets][:, :, attributes]
    found = variance_components(CrossedScores.of_words(values, sizes))
    left = int((~targets).sum() + (~attributes).sum())
    note = f"without {left} words of one context, from {len(values)} draws" if left else f"from {len(values)} draws"
    return {**{f"variance_{name}": value for name, value in found._asdict().items()}, "variance_note": note}
