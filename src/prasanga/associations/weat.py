"""WEAT: associations of words by their static vectors (Caliskan, Bryson and Narayanan 2017).

One vector a word, so one draw of one item a word; everything else is as in SEAT and CEAT (`estimates`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.cosines import Cosines
from prasanga.associations.effects import COSINE_NOISE, ConstantScoresError, effect_size_of_scores, target_scores
from prasanga.associations.estimates import (
    CATEGORY_FIELDS,
    CONVENTION_FIELDS,
    EFFECT_FIELDS,
    RAW_FIELDS,
    TEST_FIELDS,
    WORD_FIELDS,
    WORDS_FIELDS,
    Category,
    TestSettings,
    category_of,
    describe_category,
    measure_cosines,
    not_computed,
    raw_columns,
    too_few,
    used_words,
    word_rows,
)
from prasanga.associations.intervals import Shown
from prasanga.associations.permutation import PermutationTest, permutation_test_of_scores
from prasanga.associations.vectors import (
    SMALLEST_LENGTH,
    Change,
    FloatArray,
    Moments,
    generator_from,
    moments_of,
    require_one_dimension,
    to_array,
)
from prasanga.base.errors import InputError
from prasanga.base.progress import progress

_TEXT = pa.string()

WEAT_SCHEMA = pa.schema(
    [
        *CATEGORY_FIELDS,
        ("model", _TEXT),
        *EFFECT_FIELDS,
        *RAW_FIELDS,
        *TEST_FIELDS,
        *WORDS_FIELDS,
        *((name, _TEXT) for name in ("vectors", "method", "forms")),
        *CONVENTION_FIELDS,
        ("seed", pa.int64()),
    ]
)
"""One row per category. `model` is the name of the vectors, `vectors` where they come from, `method` how they were
trained or the format of their file, `forms` how words were looked up (dictionary, pooled)."""

WEAT_WORDS_SCHEMA = pa.schema([("category", _TEXT), ("model", _TEXT), *WORD_FIELDS])
"""One row per category, set and word that has a vector."""


@dataclass(frozen=True, eq=False, repr=False)
class Weat(Shown):
    """Result of `weat`.

    Attributes:
        effect_size: d, positive if X is nearer to A than Y is.
        scores_x: (nx,) association s(w, A, B) of each word of X.
        scores_y: (ny,) the same of Y.
        test: the permutation test of the target words (`p_value`, `exact`, `n_partitions`, ...).
        test_attributes: the same of the attribute words.
        std: the convention of the effect size.
        vectors: of X, Y, A and B.
    """

    effect_size: float
    scores_x: FloatArray
    scores_y: FloatArray
    test: PermutationTest
    test_attributes: PermutationTest
    std: str
    vectors: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]

    def shown(self) -> tuple[str, float, str, Callable[[], Cosines]]:
        """Return what a notebook shows."""
        sets = [np.asarray(each)[:, None] for each in self.vectors]  # a word is one item
        return "WEAT", self.effect_size, self.std, lambda: Cosines.of_vectors(*map(list, sets))

    @property
    def p_association(self) -> float:
        """The larger p of both tests: whether other words would do, on either side."""
        return max(self.test.p_value, self.test_attributes.p_value)


def weat(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    A: npt.ArrayLike,
    B: npt.ArrayLike,
    *,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    statistic: str = "studentized",
) -> Weat:
    """Compute the WEAT of target sets `X`, `Y` and attribute sets `A`, `B`, each (n, d), one vector a word.

    Hypothesis of no association: the words of X and Y do not differ in their association with A rather than B, or those
    of A and B do not differ in theirs with X rather than Y, so that every way to part them into sets of these sizes is
    as likely as the one observed. With

        s(w, A, B) = mean over a in A of cos(w, a)  -  mean over b in B of cos(w, b)

    the effect size is d = (mean of s over X - mean of s over Y) / std of s over X and Y, and p is the share of
    partitions whose difference of means is at least as extreme (Caliskan, Bryson and Narayanan 2017, Science 356; Sadhu
    et al. 2024, appendix B.1). They part the target words alone (`test`); that other attribute words would do as well
    is asked by `test_attributes`, and of both by `p_association`.

    Args:
        X: target vectors (nx, d), nx >= 1; the sets may differ in size.
        Y: target vectors (ny, d).
        A: attribute vectors (na, d).
        B: attribute vectors (nb, d).
        std: convention of the denominator: union_ddof1 (Caliskan et al.), union_ddof0, pooled (`effects`).
        alternative: two-sided, greater or less.
        method: auto, exact or sampled (`permutation`).
        n_resamples: partitions drawn where they are sampled.
        rng: their generator, or a seed.
        statistic: what partitions are compared by, studentized or difference (`permutation_test`).

    Raises:
        InputError: NaN, zero vectors, different dimensions, sets without words, an unknown name; `ConstantScoresError`
            if all words have the same association.
    """
    x, y = target_scores(X, Y, A, B)
    rng = generator_from(rng)
    test, test_attributes = (
        permutation_test_of_scores(
            *scores,
            alternative=alternative,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
            statistic=statistic,
            noise=COSINE_NOISE,
        )
        for scores in ((x, y), target_scores(A, B, X, Y))
    )
    return Weat(effect_size_of_scores(x, y, std, noise=COSINE_NOISE), x, y, test, test_attributes, std, (X, Y, A, B))


def measure_weat(
    categories: Mapping[str, Mapping[str, Any]],
    vectors: Mapping[str, npt.ArrayLike],
    missing: Mapping[str, str],
    *,
    name: str,
    settings: TestSettings,
    seed: int,
    source: str = "",
    method: str = "",
    forms: str = "",
) -> tuple[pa.Table, pa.Table]:
    """Compute the WEAT of all `categories` by one set of vectors.

    The result has rows of `WEAT_SCHEMA`, and of `WEAT_WORDS_SCHEMA`.

    A word without a vector, or with a zero vector, is left out and named in `dropped`. A category in which fewer than
    two words of a target set or no word of an attribute set are left has a row without numbers, and the reason.

    Args:
        categories: by name, in the layout of `categories.json`.
        vectors: of each stimulus that has one, (d,).
        missing: why each of the others has none.
        name: of the vectors, the tables' `model`.
        settings: how effects are tested.
        seed: of the study.
        source: the tables' `vectors`.
        method: likewise.
        forms: likewise.

    Raises:
        InputError: a vector that cannot be right (NaN, another shape or dimension): this needs mending.
    """
    parsed = [category_of(each, layout) for each, layout in categories.items()]
    stimuli = dict.fromkeys(word for category in parsed for words in category.sets for word in words)
    usable, reasons = _usable(name, stimuli, vectors, missing)
    moments = moments_of([np.stack(list(usable.values()))] if usable else [])
    about = {"vectors": source, "method": method, "forms": forms}
    about |= settings.conventions()
    rows: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    with progress(f"WEAT of {name}", len(parsed), "categories") as done:
        for category in done.over(parsed):
            estimate, of_words = _estimate(category, name, usable, moments, reasons, settings, seed)
            rows.append({**estimate, **about, "seed": seed})
            words += [{"category": category.name, "model": name, **row} for row in of_words]
    return pa.Table.from_pylist(rows, schema=WEAT_SCHEMA), pa.Table.from_pylist(words, schema=WEAT_WORDS_SCHEMA)


def _usable(
    name: str,
    stimuli: Iterable[str],
    vectors: Mapping[str, npt.ArrayLike],
    missing: Mapping[str, str],
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return the vectors with a direction, and why the other words have none."""
    usable: dict[str, FloatArray] = {}
    reasons: dict[str, str] = {}
    for word in stimuli:
        if word not in vectors:
            reasons[word] = missing.get(word) or "no vector"
            continue
        given = to_array(f"{name}, {word}", vectors[word], "(d,) numbers, one vector a word")
        if given.dtype.kind not in "fiu":
            raise InputError(f"{name}, {word}: a vector of type {given.dtype}. Give (d,) numbers, for example float32.")
        vector = given.astype(np.float64)
        if vector.ndim != 1 or not vector.size:
            raise InputError(f"{name}, {word}: a vector of shape {vector.shape}. Give (d,), one vector a word.")
        if not np.isfinite(vector).all():
            place = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise InputError(
                f"{name}, {word}: number {place} is {vector[place]}. Make this vector again, or leave it out."
            )
        if np.abs(vector).max() >= SMALLEST_LENGTH:
            usable[word] = vector
        else:
            reasons[word] = "zero vector"
    require_one_dimension({f"{name}, {word}": vector.size for word, vector in usable.items()})
    return usable, reasons


def _estimate(
    category: Category,
    name: str,
    usable: Mapping[str, FloatArray],
    moments: Moments,
    reasons: Mapping[str, str],
    settings: TestSettings,
    seed: int,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    used = used_words(category.sets, usable)
    left_out = dict.fromkeys(word for words in category.sets for word in words if word not in usable)
    notes = [f"{word}: {reasons[word]}" for word in left_out]
    columns: dict[str, Any] = {}
    words: list[dict[str, Any]] = []
    if problem := too_few(category.set_names, category.sets, used):
        notes.append(problem)
    else:
        cosines = Cosines.of_vectors(*([usable[word] for word in side] for side in used))

        def scaled(change: Change) -> Cosines:
            return Cosines.of_vectors(*([change(usable[word], moments) for word in side] for side in used))

        try:
            found = measure_cosines(
                cosines, settings, category=category.name, words=used, seed=seed, names=("weat", name)
            )
            columns |= found.columns | raw_columns(cosines, scaled, settings, effect=found.columns["effect_size"])
            words = word_rows(cosines, used, category.set_names, found.without)
        except ConstantScoresError as error:
            notes.append(not_computed(error))
    return {**describe_category(category, used, notes), "model": name, **columns}, words
