"""CEAT of a whole study, one model and one segment length at a time: a table with a row per category and sample mode.

In mode `fixed` the draws are the same for all models: they index only the contexts that all models have, and their
seed does not contain the model. In mode `random` they index all contexts of this model, with a seed of its own.
Contexts are ordered by segment_id, so that the order of files and rows makes no difference. Nothing here stops a study
because of one category: what cannot be computed is a row without numbers that says why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.categories import Category, category_of
from prasanga.associations.ceat import VARIANCES, Ceat, ceat_of_draws
from prasanga.associations.effects import STD_CONVENTIONS, ConstantScoresError
from prasanga.associations.random_effects import TAU2_METHODS
from prasanga.associations.sampling import REPLACEMENTS, IndexArray, named_draws
from prasanga.associations.vectors import DirectedVectors, directed_vectors, require_one_dimension
from prasanga.errors import InputError
from prasanga.seeds import generator

SAMPLE_MODES = ("fixed", "random")
POOLS = ("shared", "per_length")

_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()

CEAT_SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("category", "category_title", "target_x", "target_y", "attribute_a")),
        *((name, _TEXT) for name in ("attribute_b", "model", "segment_length", "sample_mode")),
        *((name, _NUMBER) for name in ("effect_size", "standard_error", "ci_low", "ci_high", "p_draws")),
        *((name, _NUMBER) for name in ("log_p_draws", "tau2", "q", "i2", "p_stimuli")),
        ("n_partitions", _COUNT),
        ("p_stimuli_exact", pa.bool_()),
        *((name, _COUNT) for name in ("n_samples", "n_x", "n_y", "n_a", "n_b")),
        *((name, _COUNT) for name in ("listed_x", "listed_y", "listed_a", "listed_b")),
        ("dropped", _TEXT),
        ("contexts_min", _COUNT),
        *((name, _TEXT) for name in ("std", "variance", "tau2_method", "draws", "pool")),
        ("seed", _COUNT),
    ]
)
"""Columns of the CEAT table.

`tau2`, `q` and `i2` are those of V = hedges, whatever `variance` says (docs/statistics.md). `n_partitions` are the
partitions that `p_stimuli` was counted over: all that there are if `p_stimuli_exact`, else those drawn.
"""


@dataclass(frozen=True)
class CeatSettings:
    """The choices of a study, as in its config; a value that is not allowed is an `InputError` that names the key."""

    n_samples: int = 1000
    sample_modes: Sequence[str] = SAMPLE_MODES
    std: str = "union_ddof1"
    variance: str = "association"
    tau2: str = "dl"
    draws: str = "without-replacement"
    n_permutations: int = 10_000
    pool: str = "shared"
    seed: int = 47

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample_modes", tuple(self.sample_modes))
        if not self.sample_modes:
            raise InputError(f"associations.sample_modes: empty. Write at least one of {', '.join(SAMPLE_MODES)}.")
        choices = {
            "associations.std": (self.std, STD_CONVENTIONS),
            "associations.variance": (self.variance, VARIANCES),
            "associations.tau2": (self.tau2, TAU2_METHODS),
            "associations.draws": (self.draws, REPLACEMENTS),
            "samples.pool": (self.pool, POOLS),
        }
        choices |= {f"associations.sample_modes[{i}]": (m, SAMPLE_MODES) for i, m in enumerate(self.sample_modes)}
        for key, (value, allowed) in choices.items():
            if value not in allowed:
                raise InputError(f"{key}: {value!r} is not allowed. Write {' or '.join(allowed)}.")
        for key in ("n_samples", "n_permutations"):
            count = getattr(self, key)
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise InputError(f"associations.{key}: {count!r}. Write a whole number of at least 1.")


class _Cell(NamedTuple):
    """Where in the study's table a row belongs, besides its category."""

    model: str
    segment_length: str
    sample_mode: str


class _Contexts(NamedTuple):
    """One stimulus in one sample mode: its vectors, and the rows that may be drawn, ordered by segment_id."""

    vectors: DirectedVectors
    rows: IndexArray


def measure(
    categories: Mapping[str, Mapping[str, Any]],
    vectors: Mapping[str, tuple[Sequence[str], npt.ArrayLike]],
    *,
    model: str,
    segment_length: str,
    settings: CeatSettings,
    common: Mapping[str, Collection[str]] | None = None,
) -> pa.Table:
    """CEAT of all `categories` and sample modes for one model and segment length: rows of `CEAT_SCHEMA`.

    `categories` maps names to the layout of `categories.json`. `vectors` maps each stimulus to its segment ids and
    their (n_contexts, d) vectors. `common` maps each stimulus to the segment ids that all models of the study have,
    needed for the mode `fixed` with several models; without it, all contexts count as common.

    A stimulus without contexts is left out and named in `dropped`. Raises `InputError` for vectors that cannot be
    right (NaN, zero, different dimensions, ids that do not fit): these need mending, not leaving out.
    """
    parsed = [category_of(name, layout) for name, layout in categories.items()]
    stimuli = {word for category in parsed for words in category.sets for word in words}
    directed = {}
    for word in sorted(stimuli & vectors.keys()):
        segment_ids, array = vectors[word][0], np.asarray(vectors[word][1])
        whose = f"{model}, segment length {segment_length}, {word}"
        if len(segment_ids) != len(array):
            raise InputError(f"{whose}: {len(segment_ids)} segment ids for {len(array)} vectors. Embed it again.")
        if len(array):
            directed[word] = directed_vectors(whose, array)
    require_one_dimension({f"{model}, {word}": v.vectors.shape[1] for word, v in directed.items()})

    ordered = {word: _Contexts(v, _order(vectors[word][0])) for word, v in directed.items()}
    drawable = {"random": ordered, "fixed": _shared(ordered, vectors, common) if common is not None else ordered}
    rows = [
        _row(category, _Cell(model, segment_length, mode), drawable[mode], directed.keys(), settings)
        for category in parsed
        for mode in settings.sample_modes
    ]
    return pa.Table.from_pylist(rows, schema=CEAT_SCHEMA)


def _order(segment_ids: Sequence[str]) -> IndexArray:
    return np.argsort(np.asarray(segment_ids), kind="stable").astype(np.int64)


def _shared(
    ordered: Mapping[str, _Contexts],
    vectors: Mapping[str, tuple[Sequence[str], npt.ArrayLike]],
    common: Mapping[str, Collection[str]],
) -> dict[str, _Contexts]:
    """Only the contexts that are `common` to all models, and only the stimuli that have some."""
    shared = {}
    for word, (directed, order) in ordered.items():
        segment_ids, wanted = vectors[word][0], set(common.get(word, ()))
        rows = order[[segment_ids[row] in wanted for row in order]]
        if rows.size:
            shared[word] = _Contexts(directed, rows)
    return shared


def _row(
    category: Category,
    cell: _Cell,
    contexts: Mapping[str, _Contexts],
    embedded: Collection[str],
    settings: CeatSettings,
) -> dict[str, Any]:
    """One row of the table, without numbers if the category cannot be computed."""
    used = [[word for word in words if word in contexts] for words in category.sets]
    missing = dict.fromkeys(word for words in category.sets for word in words if word not in contexts)
    notes = [f"{w}: {'no context that all models have' if w in embedded else 'no contexts'}" for w in missing]
    too_few = _too_few(category, used)
    numbers: dict[str, Any] = {}
    if too_few:
        notes.append(too_few)
    else:
        try:
            result = _draw_and_measure(category.name, cell, used, contexts, settings)
            rng = generator(settings.seed, "p_stimuli", *cell, category.name)
            numbers = _numbers(result, settings.n_permutations, rng)
        except ConstantScoresError as error:
            notes.append(f"not computed: {error}")
    target_x, target_y, attribute_a, attribute_b = category.set_names
    return {
        "category": category.name,
        "category_title": category.title,
        "target_x": target_x,
        "target_y": target_y,
        "attribute_a": attribute_a,
        "attribute_b": attribute_b,
        "model": cell.model,
        "segment_length": cell.segment_length,
        "sample_mode": cell.sample_mode,
        **numbers,
        "n_samples": settings.n_samples,
        **{f"n_{side}": len(words) for side, words in zip("xyab", used, strict=True)},
        **{f"listed_{side}": len(words) for side, words in zip("xyab", category.sets, strict=True)},
        "dropped": "; ".join(notes),
        "contexts_min": min((contexts[word].rows.size for words in used for word in words), default=0),
        "std": settings.std,
        "variance": settings.variance,
        "tau2_method": settings.tau2,
        "draws": settings.draws,
        "pool": settings.pool,
        "seed": settings.seed,
    }


def _too_few(category: Category, used: Sequence[Sequence[str]]) -> str:
    kinds = (("a target set", 2), ("a target set", 2), ("an attribute set", 1), ("an attribute set", 1))
    for name, listed, kept, (kind, least) in zip(category.set_names, category.sets, used, kinds, strict=True):
        if len(kept) < least:
            return f"not computed: {name} has {len(kept)} of {len(listed)} stimuli left, and {kind} needs {least}"
    return ""


def _draw_and_measure(
    category: str,
    cell: _Cell,
    used: Sequence[Sequence[str]],
    contexts: Mapping[str, _Contexts],
    settings: CeatSettings,
) -> Ceat:
    columns = [contexts[word] for words in used for word in words]
    # Without the model's name, models that have the same contexts draw the same.
    whose = (cell.model,) if cell.sample_mode == "random" else ()
    drawn = named_draws(
        [word for words in used for word in words],
        [column.rows.size for column in columns],
        settings.n_samples,
        seed=settings.seed,
        names=(cell.sample_mode, *whose, cell.segment_length, category),
        replacement=settings.draws,
    )
    n_x, n_y, n_a, n_b = map(len, used)
    return ceat_of_draws(
        [column.vectors for column in columns],
        np.stack([column.rows[drawn[:, j]] for j, column in enumerate(columns)], axis=1),
        (n_x, n_y, n_a, n_b),
        variance=settings.variance,
        tau2=settings.tau2,
        std=settings.std,
    )


def _numbers(result: Ceat, n_permutations: int, rng: np.random.Generator) -> dict[str, Any]:
    combined, heterogeneity = result.combined, result.heterogeneity
    test = result.test_stimuli(n_resamples=n_permutations, rng=rng)
    return {
        "effect_size": combined.effect,
        "standard_error": combined.standard_error,
        "ci_low": combined.ci_low,
        "ci_high": combined.ci_high,
        "p_draws": combined.p_value,
        "log_p_draws": combined.log_p_value,
        "tau2": heterogeneity.tau2,
        "q": heterogeneity.q,
        "i2": heterogeneity.i2,
        "p_stimuli": test.p_value,
        "n_partitions": test.n_partitions if test.exact else n_permutations,
        "p_stimuli_exact": test.exact,
    }
