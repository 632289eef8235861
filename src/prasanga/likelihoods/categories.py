"""Log-probability bias of categories of words (Sadhu et al. 2024, section 3.3 and the last column of Table 4)."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from prasanga.associations.estimates import (
    NO_INTERVAL_ASKED,
    Category,
    TestSettings,
    describe_category,
    difference_of,
    find_small_set,
    interval_of,
    measure_cosines,
    range_columns,
    test_words,
    word_rows,
)
from prasanga.associations.robustness import TEMPLATES_SCHEMA, measure_templates
from prasanga.base.seeds import generator
from prasanga.likelihoods.log_probability import (
    SCORE_NOISE,
    TERMS,
    KnownScores,
    LogProbabilityItem,
    Score,
    TermScores,
    score_items,
)
from prasanga.likelihoods.templates import CategorySentence, FilledCategory
from prasanga.losses import Loss, Reason, describe_missing_effect
from prasanga.schema import TABLES
from prasanga.stats.arguments import FloatArray, choice
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import ConstantScoresError
from prasanga.stats.permutation import permutation_test_of_scores

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Scorer

# --------------------
# Which words and sentences of a category a model could score, and why it could not score the others.


Scores: TypeAlias = Mapping[tuple[str, str, str], Score]
"""The score of each attribute word, template and target word."""


class UsableSentences(NamedTuple):
    """What of a category can be measured.

    Attributes:
        words: X, Y, A and B, as far as they are left.
        sentences: attribute word and template, those of A before those of B.
        scores: of all that was asked.
        lost: what was left out, and why.
        reasons: of each word that was left out.
    """

    words: tuple[list[str], list[str], list[str], list[str]]
    sentences: list[tuple[str, str]]
    scores: Scores
    lost: list[Loss]
    reasons: dict[str, str]

    def why_left_out(self, attribute: str, template: str) -> str:
        """Return why a sentence has no score."""
        if attribute in self.reasons:
            return self.reasons[attribute]
        found = dict.fromkeys(
            score.left_out
            for (of_attribute, of_template, target), score in self.scores.items()
            if (of_attribute, of_template) == (attribute, template) and target not in self.reasons and score.left_out
        )
        return ", ".join(map(str, found)) or "no target left"


def usable_sentences(category: Category, scores: Scores) -> UsableSentences:
    """Return the targets that have a score in every sentence, and the sentences in which all of these have one.

    The score of a sentence is that of a set of terms, which must be the same in all sentences: a target with an unknown
    piece in one template is left out of all. An attribute word, or a sentence that is too long, is left out by itself.
    """
    x, y, a, b = category.sets
    templates = dict.fromkeys(template for _, template, _ in scores)
    reasons: dict[str, dict[str, None]] = {}
    for (attribute, _, target), score in scores.items():
        if score.left_out_role is not None:
            word = target if score.left_out_role == "target" else attribute
            reasons.setdefault(word, {})[str(score.left_out)] = None
    unscored = {word: ", ".join(found) for word, found in reasons.items()}
    targets = [word for word in dict.fromkeys((*x, *y)) if word not in unscored]
    attributes = [word for word in dict.fromkeys((*a, *b)) if word not in unscored]
    sentences = [
        (attribute, template)
        for attribute in attributes
        for template in templates
        if all(scores[attribute, template, target].left_out is None for target in targets)
    ]
    lost = [category.lose(word, Reason.NO_SCORE, found) for word, found in unscored.items()]
    n_of = {word: sum(attribute == word for attribute, _ in sentences) for word in attributes}
    for word, n in n_of.items():
        if n < len(templates):
            of_word = (
                score.left_out
                for (attribute, _, target), score in scores.items()
                if attribute == word and target in targets and score.left_out is not None
            )
            detail = f"{n} of its {len(templates)} sentences ({', '.join(dict.fromkeys(of_word))})"
            lost.append(category.lose(word, Reason.IN_PART, detail))
    words = (
        [word for word in targets if word in x],
        [word for word in targets if word in y],
        [word for word in attributes if word in a and n_of[word]],
        [word for word in attributes if word in b and n_of[word]],
    )
    return UsableSentences(words, sentences, scores, lost, unscored)


def term_scores_of(usable: UsableSentences, terms: str) -> TermScores:
    """Return the log-probabilities of all targets that are left, in all sentences that are left."""
    x, y, a, b = usable.words
    number = {word: i for i, word in enumerate((*a, *b))}
    table = np.array(
        [
            [(score.fill, score.prior) for target in (*x, *y) for score in [usable.scores[attribute, template, target]]]
            for attribute, template in usable.sentences
        ],
        dtype=np.float64,
    )
    words = np.array([number[attribute] for attribute, _ in usable.sentences], dtype=np.int64)
    return TermScores(table[..., 0], table[..., 1], words, len(x), len(a), len(b), terms)


# --------------------
# What is said of a category by log-probability: the columns that WEAT, SEAT and CEAT have, from scores of
# sentences.
#
# Effect and test come from `measure_cosines`, with the attribute words, and their sentences as items, in the place
# of its targets. What depends on the terms - the interval, dealt terms, the effect without one of them - is linear
# in them for the mean alone; for log-sum-exp it is computed anew (`TermScores`). There the studentized interval
# takes the terms' shares to first order.


def category_numbers(
    category: Category, model: str, usable: UsableSentences, terms: TermScores, settings: TestSettings, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the columns of the estimate, the rows of words, and those of templates.

    Raises:
        ConstantScoresError: all sentences have the same score.
    """
    if float(terms.sentence_scores.std()) <= SCORE_NOISE:
        raise ConstantScoresError("all sentences have the same score, so that there is no effect size")
    crossed = terms.crossed_scores()
    x, y, a, b = usable.words
    permuted, names = (a, b, x, y), ("log_probability", model)
    linear = terms.terms == "mean"
    tests = test_words(crossed, settings, category=category.name, seed=seed, names=names)
    if not linear:
        rng = generator(seed, "p_attributes", *names, category.name)
        tests = tests._replace(attributes=terms.test_terms(settings, rng))
    known = measure_cosines(
        crossed,
        settings if linear else replace(settings, n_resamples=0, n_shuffles=0),
        category=category.name,
        words=permuted,
        seed=seed,
        names=names,
        tests=tests,
    )
    columns, without = dict(known.columns), known.without
    if not linear:
        without = terms.without_each(settings.std)
        columns |= range_columns("leave_out", without)
        columns |= interval_of_terms(terms, crossed, category.name, permuted, settings, seed)
        if settings.n_shuffles:
            rng = generator(seed, "shuffles", *names, category.name)
            columns |= terms.shuffled(settings.n_shuffles, rng, settings.std).columns()
    columns["difference"] = difference_of(crossed)
    columns["interval_note"] = _in_roles(columns["interval_note"], category)
    of_a = terms.words < terms.n_a
    columns["p_sentences"] = permutation_test_of_scores(
        terms.sentence_scores[of_a],
        terms.sentence_scores[~of_a],
        alternative=settings.alternative,
        n_resamples=settings.n_permutations,
        rng=generator(seed, "p_sentences", *names, category.name),
        statistic="difference",
    ).p_value
    names_of_templates = list(dict.fromkeys(template for _, template in usable.sentences))
    places = np.array([names_of_templates.index(template) for _, template in usable.sentences])
    of_templates, templates = measure_templates(
        lambda words, terms_, counts, std: terms.effects(words, terms_, std, template_counts=counts, places=places),
        names_of_templates,
        crossed,
        settings,
        category=category.name,
        words=permuted,
        seed=seed,
    )
    of_templates["templates_note"] = _in_roles(of_templates["templates_note"], category)
    words = _word_rows(crossed, terms, permuted, category, without)
    return {**columns, **of_templates}, words, templates


def interval_of_terms(
    terms: TermScores,
    crossed: CrossedScores,
    category: str,
    words: tuple[list[str], list[str], list[str], list[str]],
    settings: TestSettings,
    seed: int,
) -> dict[str, Any]:
    """Return the interval, from replicates in which the terms' probabilities are added anew."""
    if not settings.n_resamples:
        return {"interval_note": NO_INTERVAL_ASKED}
    resampling = settings.resampled(words, 1, seed=seed, category=category)
    replicates = terms.effects(resampling.target_counts, resampling.attribute_counts, settings.std)
    return interval_of(crossed, resampling, replicates, settings)


def _in_roles(note: str | None, category: Category) -> str | None:
    """Return a note on the sets of `measure_cosines`, X to B, in the names of the category's sets."""
    x, y, a, b = category.set_names
    names = dict(zip("XYAB", (a, b, x, y), strict=True))
    return note and re.sub(r"\bset ([XYAB])\b", lambda found: f"the set {names[found[1]]}", note)


def _word_rows(
    crossed: CrossedScores,
    terms: TermScores,
    permuted: tuple[list[str], list[str], list[str], list[str]],
    category: Category,
    without: FloatArray,
) -> list[dict[str, Any]]:
    """Return rows of targets, then of attributes: `word_rows` in the category's own roles."""
    x, y, a, b = category.set_names
    rows = word_rows(crossed, permuted, (a, b, x, y), without)
    n_words = terms.n_words
    for row, association in zip(rows[n_words:], terms.term_associations(), strict=True):
        row |= {"association": float(association), "n_items": len(terms.words)}
    for row in rows:
        row["role"] = {"x": "a", "y": "b", "a": "x", "b": "y"}[row["role"]]
    return [*rows[n_words:], *rows[:n_words]]


# --------------------
# Log-probability bias of the categories C1 to C9 (Sadhu et al. 2024, section 3.3 and the last column of Table 4).
#
# A sentence is a template with an attribute word in it. Its score s is the corrected score of the first target set
# minus that of the second, each over its terms (`TermScores`). With A and B the attribute sets,
#
#     d = (mean of s over the sentences of A - mean of s over those of B) / standard deviation of s over both
#
# The sentences of a word are nearly the same sentence, so the test moves an attribute word with all its sentences
# (`p_stimuli`). The program of the paper moves single sentences (`p_sentences`); that p is below .05 far too often
# where there is no effect. Everything else is as for SEAT, with the roles of targets and attributes exchanged:
# intervals resample attribute words, and the terms of the targets, and `p_attributes` deals these terms.


LOG_PROBABILITY_SCHEMA = TABLES["log_probability"].arrow()
"""Columns of the table of estimates, those of SEAT as far as they mean the same.

Sets stand as they were measured: with `exchanged`, those of the category's attributes are the targets. `p_stimuli`
moves attribute words, `p_attributes` the terms of the targets, `p_sentences` sentences. `masked_as_one` names the
attributes of several pieces that one mask stood for (`pieces` first).
"""
WORDS_SCHEMA = TABLES["log_probability_words"].arrow()
"""Columns of the table of words. Of an attribute (a, b) the association is the mean of s over its sentences; of a
target (x, y) its mean corrected score in the sentences of A minus that in those of B."""

SENTENCES_SCHEMA = TABLES["log_probability_sentences"].arrow()
"""Columns of the table of sentences, one row a template and attribute word. `text` has the first target in it,
`n_pieces` is the number of pieces of all targets together, `score` is s."""

_LOG = logging.getLogger(__name__)


class CategoryTables(NamedTuple):
    """What one model comes to."""

    estimates: pa.Table
    """`LOG_PROBABILITY_SCHEMA`"""
    words: pa.Table
    """`WORDS_SCHEMA`"""
    sentences: pa.Table
    """`SENTENCES_SCHEMA`"""
    templates: pa.Table
    """`TEMPLATES_SCHEMA`"""


def score_categories(
    scorer: Scorer | KnownScores,
    filled: Sequence[FilledCategory],
    *,
    model: str,
    settings: TestSettings,
    exchanged: Collection[str] = (),
    pieces: str = "all",
    terms: str = "log-sum-exp",
    seed: int = 47,
) -> CategoryTables:
    """Compute the log-probability bias of all categories in one model.

    Args:
        scorer: an encoder, or what it gave all sentences.
        filled: the categories with their sentences (`fill_categories`).
        model: its name, for the tables.
        settings: how effects are tested.
        exchanged: categories whose targets and attributes change places.
        pieces: how a target of several pieces is scored (`log_probability`).
        terms: how the terms of a set become one score (`combined`).
        seed: of the study.

    Returns:
        A row per category; one per category and word; one per category, template and attribute word; one per category
        and template. A target that the model cannot score in some template is left out altogether, an attribute word or
        sentence by itself, each listed in `lost`; a category that cannot be computed is a row without numbers that
        says why.

    Raises:
        InputError: as `score_log_probability`.
    """
    choice("log_probability.terms", terms, TERMS)
    items = [LogProbabilityItem(row.text, row.target, row.attribute) for _, rows in filled for row in rows]
    scores = iter(score_items(scorer, items, pieces=pieces))
    tables: tuple[list[Any], ...] = ([], [], [], [])
    for category, rows in filled:
        of_rows = [next(scores) for _ in rows]
        conventions = {"exchanged": category.name in exchanged, "pieces": pieces, "terms": terms}
        found = _measure(category, model, rows, of_rows, settings, conventions, seed)
        for table, more in zip(tables, found, strict=True):
            table += more
    schemas = LOG_PROBABILITY_SCHEMA, WORDS_SCHEMA, SENTENCES_SCHEMA, TEMPLATES_SCHEMA
    return CategoryTables(*(pa.Table.from_pylist(table, schema=s) for table, s in zip(tables, schemas, strict=True)))


def _measure(
    category: Category,
    model: str,
    rows: Sequence[CategorySentence],
    of_rows: Sequence[Score],
    settings: TestSettings,
    conventions: Mapping[str, Any],
    seed: int,
) -> tuple[list[dict[str, Any]], ...]:
    """Return the row of a category, those of its words, of its sentences, and of its templates."""
    scores = {
        (row.attribute_word, row.template, row.target_word): score for row, score in zip(rows, of_rows, strict=True)
    }
    usable = usable_sentences(category, scores)
    lost = list(usable.lost)
    terms = term_scores_of(usable, str(conventions["terms"])) if usable.sentences and all(usable.words) else None
    numbers: dict[str, Any] = {}
    words: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    # attribute words are what the test permutes, so that there must be two of each set
    if small := find_small_set(category, usable.words, needed="1122", words="words"):
        lost.append(small)
        _LOG.warning("%s, %s: not computed: %s", model, category.name, describe_missing_effect([small.columns()]))
    elif terms is not None:
        try:
            numbers, words, templates = category_numbers(category, model, usable, terms, settings, seed)
        except ConstantScoresError as error:
            lost.append(Loss(None, None, Reason.EQUAL_SCORES, str(error)))
    one_mask = dict.fromkeys(
        row.attribute_word
        for row, score in zip(rows, of_rows, strict=True)
        if conventions["pieces"] == "first" and score.n_attribute_pieces > 1
    )
    key = {"category": category.name, "model": model}
    n_a = sum(attribute in usable.words[2] for attribute, _ in usable.sentences)
    estimate = {
        **describe_category(category, usable.words, lost),
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
    sentences = [{**key, **row} for row in _sentence_rows(category, rows, usable, terms)]
    return [estimate], [{**key, **word} for word in words], sentences, [{**key, **each} for each in templates]


def _sentence_rows(
    category: Category, rows: Sequence[CategorySentence], usable: UsableSentences, terms: TermScores | None
) -> list[dict[str, Any]]:
    """Return a row for each template and attribute word, without numbers where the sentence could not be used."""
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
