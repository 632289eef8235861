"""Log-probability bias of the categories C1 to C9 (Sadhu et al. 2024, section 3.3 and the last column of Table 4).

A sentence is a template with an attribute word in it. Its score s is the corrected score of the first target set minus
that of the second, each over its terms (`term_scores`). With A and B the attribute sets,

    d = (mean of s over the sentences of A - mean of s over those of B) / standard deviation of s over both

The sentences of a word are nearly the same sentence, so the test moves an attribute word with all its sentences
(`p_stimuli`). The program of the paper moves single sentences (`p_sentences`); that p is below .05 far too often where
there is no effect. Everything else is as for SEAT, with the roles of targets and attributes exchanged: intervals
resample attribute words, and the terms of the targets.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from prasanga.associations.categories import Category
from prasanga.associations.checking import choice
from prasanga.associations.effects import ConstantScoresError
from prasanga.associations.estimates import (
    CATEGORY_FIELDS,
    CONVENTION_FIELDS,
    EFFECT_FIELDS,
    TEST_FIELDS,
    WORD_FIELDS,
    WORDS_FIELDS,
    TestSettings,
    describe_category,
    not_computed,
)
from prasanga.lexicon.model import Lexicon
from prasanga.likelihoods.category_numbers import category_numbers
from prasanga.likelihoods.log_probability import LogProbabilityItem, Score, ScoresMasks, score_items
from prasanga.likelihoods.masking import HOW
from prasanga.likelihoods.templates import (
    CategorySentence,
    CategoryTemplates,
    fill_categories,
)
from prasanga.likelihoods.term_scores import TERMS, TermScores
from prasanga.likelihoods.usable_sentences import UsableSentences, term_scores_of, too_few_words, usable_sentences

_TEXT, _NUMBER, _COUNT, _FLAG = pa.string(), pa.float64(), pa.int64(), pa.bool_()

ESTIMATES_SCHEMA = pa.schema(
    [
        *CATEGORY_FIELDS,
        ("model", _TEXT),
        *EFFECT_FIELDS,
        *TEST_FIELDS,
        *WORDS_FIELDS,
        *((f"n_sentences_{side}", _COUNT) for side in "ab"),
        ("n_templates", _COUNT),
        ("n_masked_as_one", _COUNT),
        ("masked_as_one", _TEXT),
        ("exchanged", _FLAG),
        *((name, _TEXT) for name in ("pieces", "terms")),
        ("p_sentences", _NUMBER),
        *CONVENTION_FIELDS,
        ("seed", _COUNT),
    ]
)
"""Columns of the table of estimates, those of SEAT as far as they mean the same.

Sets stand as they were measured: with `exchanged`, those of the category's attributes are the targets. `p_stimuli`
moves attribute words, `p_sentences` sentences. `masked_as_one` names the attributes of several pieces that one mask
stood for (`pieces` first).
"""
WORDS_SCHEMA = pa.schema([("category", _TEXT), ("model", _TEXT), *WORD_FIELDS])
"""Columns of the table of words. Of an attribute (a, b) the association is the mean of s over its sentences; of a
target (x, y) its mean corrected score in the sentences of A minus that in those of B."""

SENTENCES_SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("category", "model", "role", "attribute", "template", "text")),
        *((f"{what}_{side}", _NUMBER) for side in "xy" for what in ("fill", "prior", "corrected")),
        ("score", _NUMBER),
        *((name, _COUNT) for name in ("n_pieces", "n_attribute_pieces")),
        ("left_out", _TEXT),
    ]
)
"""Columns of the table of sentences, one row a template and attribute word. `text` has the first target in it,
`n_pieces` is the number of pieces of all targets together, `score` is s."""

_LOG = logging.getLogger(__name__)


class CategoryTables(NamedTuple):
    """What one model comes to."""

    estimates: pa.Table
    """`ESTIMATES_SCHEMA`"""
    words: pa.Table
    """`WORDS_SCHEMA`"""
    sentences: pa.Table
    """`SENTENCES_SCHEMA`"""


def score_categories(
    scorer: ScoresMasks,
    categories: Mapping[str, Mapping[str, Any]],
    templates: CategoryTemplates,
    lexicon: Lexicon,
    *,
    model: str,
    settings: TestSettings,
    exchanged: Collection[str] = (),
    pieces: str = "all",
    terms: str = "log-sum-exp",
    seed: int = 47,
) -> CategoryTables:
    """Log-probability bias of all `categories` in one model.

    Args:
        scorer: an encoder.
        categories: names to the layout of `categories.json`.
        templates: the sentences of each category.
        lexicon: where words are inflected.
        model: its name, for the tables.
        settings: how effects are tested.
        exchanged: categories whose targets and attributes change places.
        pieces: how a target of several pieces is scored (`log_probability`).
        terms: how the terms of a set become one score (`term_scores`).
        seed: of the study.

    Returns:
        A row per category; one per category and word; one per category, template and attribute word. A target that the
        model cannot score in some template is left out altogether, an attribute word or sentence by itself, each named
        in `dropped`; a category that cannot be computed is a row without numbers that says why.

    Raises:
        InputError: as `score_log_probability`; a category without sentences; a word without a form that is asked for.
    """
    choice("log_probability.pieces", pieces, HOW)
    choice("log_probability.terms", terms, TERMS)
    filled = fill_categories(categories, templates, lexicon, exchanged)
    items = [LogProbabilityItem(row.text, row.target, row.attribute) for _, rows in filled for row in rows]
    scores = iter(score_items(scorer, items, pieces=pieces))
    tables: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for category, rows in filled:
        of_rows = [next(scores) for _ in rows]
        conventions = {"exchanged": category.name in exchanged, "pieces": pieces, "terms": terms}
        found = _measure(category, model, rows, of_rows, settings, conventions, seed)
        for table, more in zip(tables, found, strict=True):
            table += more
    schemas = ESTIMATES_SCHEMA, WORDS_SCHEMA, SENTENCES_SCHEMA
    return CategoryTables(*(pa.Table.from_pylist(table, schema=s) for table, s in zip(tables, schemas, strict=True)))


def _measure(
    category: Category,
    model: str,
    rows: Sequence[CategorySentence],
    of_rows: Sequence[Score],
    settings: TestSettings,
    conventions: Mapping[str, Any],
    seed: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The row of a category, those of its words, and those of its sentences."""
    scores = {
        (row.attribute_word, row.template, row.target_word): score for row, score in zip(rows, of_rows, strict=True)
    }
    usable = usable_sentences(category, scores)
    notes = list(usable.notes)
    terms = term_scores_of(usable, str(conventions["terms"])) if usable.sentences and all(usable.words) else None
    numbers: dict[str, Any] = {}
    words: list[dict[str, Any]] = []
    if reason := too_few_words(category, usable):
        notes.append(reason)
    elif terms is not None:
        try:
            numbers, words = category_numbers(category, model, usable, terms, settings, seed)
        except ConstantScoresError as error:
            notes.append(not_computed(error))
    one_mask = {
        row.attribute_word: row.text[slice(*row.attribute)]
        for row, score in zip(rows, of_rows, strict=True)
        if conventions["pieces"] == "first" and score.n_attribute_pieces > 1
    }
    key = {"category": category.name, "model": model}
    n_a = sum(attribute in usable.words[2] for attribute, _ in usable.sentences)
    estimate = {
        **describe_category(category, usable.words, notes),
        "model": model,
        **numbers,
        "n_sentences_a": n_a,
        "n_sentences_b": len(usable.sentences) - n_a,
        "n_templates": len({row.template for row in rows}),
        "n_masked_as_one": len(one_mask),
        "masked_as_one": ", ".join(one_mask),
        **conventions,
        **settings.conventions(),
        "seed": seed,
    }
    if reason:
        _LOG.warning("%s, %s: %s", model, category.name, reason)
    sentences = [{**key, **row} for row in _sentence_rows(category, rows, usable, terms)]
    return [estimate], [{**key, **word} for word in words], sentences


def _sentence_rows(
    category: Category, rows: Sequence[CategorySentence], usable: UsableSentences, terms: TermScores | None
) -> list[dict[str, Any]]:
    """A row for each template and attribute word, without numbers where the sentence could not be used."""
    numbers: dict[tuple[str, str], dict[str, float]] = {}
    if terms is not None:
        columns = {
            f"{what}_{side}": values
            for what in ("fill", "prior", "corrected")
            for side, values in zip("xy", terms.set_scores(what), strict=True)
        }
        columns["score"] = terms.sentence_scores
        for number, sentence in enumerate(usable.sentences):
            numbers[sentence] = {name: float(values[number]) for name, values in columns.items()}
    first: dict[tuple[str, str], CategorySentence] = {}
    for row in rows:
        first.setdefault((row.attribute_word, row.template), row)
    targets = [*usable.words[0], *usable.words[1]]
    found = []
    for (attribute, template), row in first.items():
        of_targets = [usable.scores[attribute, template, target] for target in targets]
        found.append(
            {
                "role": "a" if attribute in category.sets[2] else "b",
                "attribute": attribute,
                "template": template,
                "text": row.text,
                **numbers.get((attribute, template), {}),
                "n_pieces": sum(score.n_pieces for score in of_targets),
                "n_attribute_pieces": usable.scores[attribute, template, row.target_word].n_attribute_pieces,
                "left_out": None if (attribute, template) in numbers else usable.why_left_out(attribute, template),
            }
        )
    return found
