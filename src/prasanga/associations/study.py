"""WEAT and SEAT of a whole study: from vectors to tables with one row per estimate.

Nothing here stops a study because of one category: one that cannot be computed is a row without numbers that says why.
A word without vectors is left out and listed in `lost`. Vectors that cannot be right (NaN, zero)
are refused with `InputError`: these need mending, not leaving out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.effects import compute_sentence_cosines
from prasanga.associations.estimates import (
    Category,
    Cell,
    Estimand,
    Estimate,
    Rows,
    TestSettings,
    category_of,
    measure_cells,
    measure_cosines,
    measure_templates,
    select_words,
)
from prasanga.associations.vectors import (
    VECTORS,
    Change,
    Moments,
    compute_moments,
    directed_vectors,
    embed_again,
)
from prasanga.base.errors import InputError
from prasanga.schema import Loss, Reason
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import (
    FloatArray,
    IndexArray,
    to_array,
)

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
        templates = [", ".join(names[place]) for place in sorted(names)]

        def measure_in(kept: npt.NDArray[np.bool_]) -> float:
            sets = [[arrays[word][rows] for word in side if (rows := kept[places[word]]).any()] for side in used]
            return (
                float(compute_sentence_cosines(sets, average).effects(std=settings.std)[0]) if all(sets) else math.nan
            )

        of_templates, rows = measure_templates(measure_in, templates, cosines, estimand)
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
