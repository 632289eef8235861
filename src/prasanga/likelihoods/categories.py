"""Log-probability bias of categories of words (Sadhu et al. 2024, section 3.3 and the last column of Table 4)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from prasanga.associations.comparisons import of_twins
from prasanga.associations.estimates import (
    AskedEstimate,
    CategoryWords,
    Estimand,
    Rows,
    TestSettings,
    category_of,
    measure_cells,
    measure_cosines,
    measure_templates,
    select_words,
)
from prasanga.associations.vectors import Words
from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_distinct
from prasanga.lexicon.model import AUTHORS_LANGUAGE as LANGUAGE
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.lexicon.notebook import NOTEBOOK, NotebookTest, read_notebook
from prasanga.lexicon.templates import (
    ATTRIBUTE,
    TARGET,
    SentenceTemplate,
    fill_sentence,
    read_entry_sentence,
    read_sentence,
)
from prasanga.pairs.preferences import SPANS
from prasanga.schema import TABLES, Loss, Reason
from prasanga.stats.crossed import Counts, CrossedScores, deal, effects_of_items, weigh_items
from prasanga.stats.effects import ConstantScoresError, FloatArray, IndexArray, choice, generator_from
from prasanga.stats.permutation import Flags, PermutationTest, Units, assess_statistics

# --------------------
# Sentences of the categories for log-probability (`resources/templates/<language>/log_probability.yaml`).
#
# A category's target is in one slot and its attribute in the other, every target with every attribute in every
# sentence. In an exchanged category, such as C6 to C9 of the Bangla paper's authors, the attributes (male and female
# terms) take the place of the targets, with other sentences.


SentenceItems: TypeAlias = Iterable[tuple[tuple[Any, ...], SentenceTemplate, str, str]]
"""The first columns of rows, with template, target and attribute."""


def fill_sentences(items: SentenceItems, schema: pl.Schema, lexicon: Lexicon) -> pl.DataFrame:
    """Return a table of filled sentences: the first columns of each item, then `SPANS`."""
    spelling = spelling_of(lexicon.language, lexicon.normalization)
    rows = [
        (*names, text, *spans)
        for names, template, target, attribute in items
        for text, spans in [fill_sentence(template, {TARGET: target, ATTRIBUTE: attribute}, lexicon, spelling)]
    ]
    columns = dict(zip(schema, zip(*rows, strict=True), strict=True)) if rows else {}
    # spans go through arrays, because Polars would make a series of each
    spans = {role: pl.Series(np.array(columns[role])).cast(SPANS[role]) for role in (TARGET, ATTRIBUTE) if rows}
    return pl.DataFrame({**columns, **spans}, schema=schema)


CATEGORY_SENTENCES = pl.Schema(
    {**dict.fromkeys(("category", "template", "target_word", "attribute_word"), pl.String()), **SPANS}
)
"""Columns of the filled sentences of categories."""

_Sections: TypeAlias = Mapping[str, Mapping[str, tuple[SentenceTemplate, ...]]]
"""Templates by section, `categories` or `exchanged`, and category."""


def read_category_sentences(
    settings: Mapping[str, Any], categories: Mapping[str, Mapping[str, Any]], lexicon: Lexicon
) -> pl.DataFrame:
    """Put every target of each category with every attribute into every sentence.

    Args:
        settings: plain values: the file `templates`, and the `exchanged` categories, whose targets and attributes
            change places. The file is YAML, or the notebook of Sadhu et al. (`prasanga.lexicon.notebook`).
        categories: names to the layout of `categories.json`.
        lexicon: where words are inflected.

    Returns:
        `CATEGORY_SENTENCES`, by category, then attribute, sentence and target.

    Raises:
        InputError: a missing file, or one of another kind; an unknown key; an id or a text twice in a category; a
            sentence without its two slots; categories without sentences, one line per category; as `fill_sentence`.
    """
    path, exchanged = Path(settings["templates"]), settings["exchanged"]
    read = _read_notebook if path.suffix == NOTEBOOK else _read_category_file
    sections = read(path, lexicon.normalization)
    section_of = {name: "exchanged" if name in exchanged else "categories" for name in categories}
    problems = [
        f"{path}: no sentences for {name} under `{section}`, but `log_probability` asks for it. It has"
        f" {', '.join(sections[section]) or 'none'}. Write `{name}: [{{id: ..., text: ...}}]` there, or leave it out."
        for name, section in section_of.items()
        if not sections[section].get(name)
    ]
    if problems:
        raise InputError("\n".join(problems))

    def items() -> SentenceItems:
        for category in read_categories(categories, exchanged):
            x, y, a, b = map(dict.fromkeys, category.sets)
            templates = sections[section_of[category.name]][category.name]
            for attribute, template, target in product(a | b, templates, x | y):
                yield (category.name, template.name, target, attribute), template, target, attribute

    return fill_sentences(items(), CATEGORY_SENTENCES, lexicon)


def read_categories(categories: Mapping[str, Mapping[str, Any]], exchanged: Collection[str]) -> Iterator[CategoryWords]:
    """Yield the categories as measured: in exchanged ones, the attributes are the targets."""
    for name, layout in categories.items():
        category = category_of(name, layout)
        yield category.exchange() if name in exchanged else category


def _read_category_file(path: Path, normalization: str | None) -> _Sections:
    content = read_yaml(path, normalization=normalization)
    content.require("a file of sentences by category", required=["language", "categories"], optional=["exchanged"])
    language = content.text("language")

    def read(category: str, by_name: Entry) -> tuple[SentenceTemplate, ...]:
        def read_one(entry: Entry) -> SentenceTemplate:
            entry.require(f"a sentence of the category `{category}`", required=["id", "text"], optional=["gloss"])
            return read_entry_sentence(entry, entry.text("id"), language)

        return read_distinct(f"the category `{category}`", by_name.entries_of(category), read_one)

    by_section = {section: content.entry_of(section) for section in ("categories", "exchanged")}
    return {section: {name: read(name, by_name) for name in by_name} for section, by_name in by_section.items()}


def _read_notebook(path: Path, normalization: str | None) -> _Sections:
    place = f"{path} (GGG is {{target}}, XXX is {{attribute}})"

    def read(test: NotebookTest) -> Iterator[SentenceTemplate]:
        for number, text in enumerate(test.sentences, start=1):
            slots = text.replace("GGG", "{target}").replace("XXX", "{attribute}")
            yield read_sentence(slots, name=str(number), place=place, language=LANGUAGE)

    tests = read_notebook(path, normalization)
    return {section: {name: tuple(read(each)) for name, each in named.items()} for section, named in tests.items()}


# --------------------
# Scores of sentences from the scores of their terms, and their change with the terms.
#
# A set of terms has one score in a sentence. With `log-sum-exp` the terms' probabilities are added, fill and prior
# alike, and the logarithm of the ratio is taken; with `mean` the corrected scores, which are logarithms, are
# averaged; `raw_logits` adds logits instead of probabilities, as the notebook behind Table 4 does:
#
#     log-sum-exp    log(sum of p_target over the terms) - log(sum of p_prior over the terms)
#     mean           mean over the terms of log(p_target / p_prior)
#     raw_logits     log(sum of the terms' logits + 1e-10) of the fill, minus the same of the prior
#
# The score of a sentence is the first set's score minus the second's. The test permutes words of the attributes, with
# all their sentences. Terms may be resampled, dealt into other sets or left out, with other counts: a term that counts
# twice has twice the probability.


AGGREGATIONS = ("log-sum-exp", "mean", "raw_logits")
"""How the terms of a set become one score (`log_probability.aggregation`)."""

SCORE_NOISE = 1e-5
"""Models give log-probabilities to about 1e-6: a spread of scores as small as this is rounding."""

_RELATIVE_NOISE = 1e-13
"""A spread of sums as small as this, relative to the largest score, is rounding."""

_BLOCK = 2**21  # numbers of one block of replicates

_ADDED = 1e-10  # to a sum of logits, as in the notebook


@dataclass(frozen=True, eq=False)
class TermScores:
    """Log-probabilities of all terms in all sentences of a category.

    Attributes:
        fill: (n_sentences, n_terms); the first attribute set's sentences and the first target set's terms come first.
        prior: the same, with the attribute masked as well.
        words: (n_sentences,) the attribute word of each sentence, numbered from the first set on.
        n_first: terms of the first target set.
        n_a: words of the first attribute set; likewise `n_b` of the second.
        aggregation: one of `AGGREGATIONS`; with raw_logits `fill` and `prior` are logits.
    """

    fill: FloatArray
    prior: FloatArray
    words: IndexArray
    n_first: int
    n_a: int
    n_b: int
    aggregation: str = "log-sum-exp"

    @property
    def n_targets(self) -> int:
        """Attribute words of both sets, which the test permutes."""
        return self.n_a + self.n_b

    @property
    def n_attributes(self) -> int:
        """Terms of both sets."""
        return int(self.fill.shape[1])

    @cached_property
    def sentence_scores(self) -> FloatArray:
        """(n_sentences,), the score of the first set minus the score of the second."""
        return np.asarray(self.scores_of(np.ones((1, self.n_attributes)))[0])

    def set_columns(self) -> dict[str, FloatArray]:
        """Return (n_sentences,) scores: `fill`, `prior` and `corrected` of both sets, x and y, and their `score`."""
        columns: dict[str, FloatArray] = {}
        for name, side in zip("xy", self._sides, strict=True):
            ones = np.ones((1, self.fill[:, side].shape[1]))
            fill, prior = (self._combine(scores[:, side], ones)[0] for scores in (self.fill, self.prior))
            columns |= {f"fill_{name}": fill, f"prior_{name}": prior, f"corrected_{name}": fill - prior}
        return {**columns, "score": self.sentence_scores}

    def scores_of(self, counts: Counts) -> FloatArray:
        """Return (n_replicates, n_sentences) scores with the terms counted as (n_replicates, n_terms) says."""
        first, second = (self._score(self.fill[:, side], self.prior[:, side], counts[:, side]) for side in self._sides)
        return first - second

    def dealt(self, in_first: Flags, kept: Flags | bool = True) -> FloatArray:
        """Return (n_replicates, n_sentences) scores with the terms dealt into two sets, (n_replicates, n_terms).

        Neither set has terms that are not `kept`, (n_replicates, n_terms).
        """
        first, second = ((side & kept).astype(np.float64) for side in (in_first, ~in_first))
        return self._score(self.fill, self.prior, first) - self._score(self.fill, self.prior, second)

    def crossed_scores(self) -> CrossedScores:
        """Return the scores of sentences with terms, in nats.

        X and Y are the two attribute sets, each word with its sentences, A and B the two target sets. With `mean` the
        values are the terms' corrected scores. With `log-sum-exp` they are each term's share in the score, s + n
        (p_fill / sum of p_fill - p_prior / sum of p_prior) for a set of n terms with score s: their mean is the score,
        and to first order they give its change with the counts of terms (empirical influence values, Efron 1982).
        """
        parts = []
        for side in self._sides:
            fill, prior = self.fill[:, side], self.prior[:, side]
            if self.aggregation == "mean":
                parts.append(fill - prior)
            else:
                score = self._score(fill, prior, np.ones((1, fill.shape[1])))[0]
                parts.append(score[:, None] + fill.shape[1] * (self._shares(fill) - self._shares(prior)))
        values = np.concatenate(parts, axis=1)
        noise = _RELATIVE_NOISE * float(np.abs(values).max())
        sizes = (self.n_a, self.n_b, self.n_first, self.n_attributes - self.n_first)
        return CrossedScores(values[None], self.words, np.arange(self.n_attributes), *sizes, noise)

    def effects(
        self, target_counts: Counts | None = None, attribute_counts: Counts | None = None, *, std: str = "union_ddof1"
    ) -> FloatArray:
        """Return (n_replicates,) effect sizes with attribute words and terms counted several times or not at all.

        Every word has the same weight, however many sentences it has, as in `CrossedScores.effects`, which gives the
        same for `mean`; NaN if an effect does not exist.
        """
        sizes = ((target_counts, self.n_targets), (attribute_counts, self.n_attributes))
        words, terms = (np.ones((1, n)) if given is None else given for given, n in sizes)
        n_first = int((self.words < self.n_a).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            scores, weights = self.scores_of(terms)[:, None], weigh_items(self.words, words)
            return effects_of_items(scores, weights, n_first, std)[0][:, 0]

    def select_sentences(self, kept: Flags) -> TermScores | None:
        """Return the scores in the `kept` sentences; None if a set of attribute words loses all of its sentences."""
        listed, words = np.unique(self.words[kept], return_inverse=True)
        n_a = int((listed < self.n_a).sum())
        n_b = listed.size - n_a
        return (
            replace(self, fill=self.fill[kept], prior=self.prior[kept], words=words, n_a=n_a, n_b=n_b)
            if n_a and n_b
            else None
        )

    def shuffled_effects(
        self, n_shuffles: int, rng: np.random.Generator | int | None = None, std: str = "union_ddof1"
    ) -> FloatArray:
        """Return (n_shuffles,) effects with the terms dealt into sets of the same sizes, over the real spread.

        If an effect belongs to what the two target sets mean, it should vanish when their terms are mixed.
        """
        spread = self._difference(self.sentence_scores[None])[0] / self.effects(std=std)[0]
        dealt = deal(self.n_first, self.n_attributes - self.n_first, n_shuffles, generator_from(rng))
        return np.asarray(self._difference(self.dealt(dealt)) / spread)

    def test_terms(self, units: Units, settings: TestSettings, rng: np.random.Generator) -> PermutationTest:
        """Test whether other terms have the same effect, by dealing their units into sets of the same sizes.

        Members of matched pairs change places. Each deal adds the probabilities of its sets. All deals are counted if
        there are at most as many as would be drawn.
        """
        n_drawn, total = settings.n_permutations, units.n_partitions
        exact = total <= n_drawn
        in_first = units.label_words(units.list_partitions() if exact else units.draw_partitions(n_drawn, rng))
        rows = max(1, _BLOCK // len(self.fill))
        starts = range(0, len(in_first), rows)
        differences = [self._difference(self.dealt(in_first[start : start + rows])) for start in starts]
        observed = float(self._difference(self.sentence_scores[None])[0])
        mirrored = units.matched or units.sizes[0] == units.sizes[1]
        found = np.concatenate(differences)
        found[np.isnan(found)] = observed  # a deal without a score counts against an effect
        return assess_statistics(found, observed, total, settings.alternative, exact=exact, mirrored=mirrored)

    def term_associations(self) -> FloatArray:
        """Return the association of each term, (n_terms,).

        It is the term's mean corrected score over the first attribute set's words minus the mean over the second's.
        """
        return np.asarray(self._difference((self.fill - self.prior).T))

    @property
    def _sides(self) -> tuple[slice, slice]:
        return slice(None, self.n_first), slice(self.n_first, None)

    def _score(self, fill: FloatArray, prior: FloatArray, counts: Counts) -> FloatArray:
        return self._combine(fill, counts) - self._combine(prior, counts)

    def _combine(self, scores: FloatArray, counts: Counts) -> FloatArray:
        """Return (n_replicates, n_sentences) from the (n_sentences, n) log-probabilities of a set's terms."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.aggregation == "mean":
                return np.asarray(counts @ scores.T / counts.sum(axis=1, keepdims=True))
            if self.aggregation == "raw_logits":
                logs = np.log(counts @ scores.T + _ADDED)
                return np.where(counts.any(axis=1, keepdims=True), logs, np.nan)
            largest = scores.max(axis=1)
            logs = np.log(counts @ np.exp(scores - largest[:, None]).T) + largest
        return np.asarray(np.where(np.isfinite(logs), logs, np.nan))

    def _shares(self, scores: FloatArray) -> FloatArray:
        """Return (n_sentences, n) shares of the terms in the sum of their probabilities or logits."""
        is_raw = self.aggregation == "raw_logits"
        added = scores if is_raw else np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(added / added.sum(axis=1, keepdims=True))

    def _difference(self, scores: FloatArray) -> FloatArray:
        """Return (n,) mean over the words of the first attribute set minus the second's, of (n, n_sentences) scores."""
        belongs = self.words[:, None] == np.arange(self.n_targets)
        of_words = scores @ (belongs / belongs.sum(axis=0))
        return np.asarray(of_words[:, : self.n_a].mean(axis=1) - of_words[:, self.n_a :].mean(axis=1))


# --------------------
# Log-probability bias of the categories C1 to C9 (Sadhu et al. 2024, section 3.3 and the last column of Table 4).
#
# A sentence is a template with an attribute word in it. Its score s is the corrected score of the first target set
# minus the score of the second, each over its terms (`TermScores`). With A and B the attribute sets,
#
#     d = (mean of s over the sentences of A - mean over the sentences of B) / standard deviation of s over both
#
# The sentences of a word are nearly the same sentence, so the test moves an attribute word with all its sentences
# (`p_stimuli`). The program of the paper moves single sentences (`p_sentences`); without an effect, that p is below .05
# far too often. Everything else is as for SEAT, with the roles of targets and attributes exchanged: intervals resample
# attribute words and the terms of the targets, and `p_attributes` deals these terms.
#
# Effect and test come from `measure_cosines`, with the attribute words, and their sentences as items, in the place
# of its targets. Only with `mean` are interval, dealt terms and effects without a term linear in the terms; with
# log-sum-exp they are computed from counted terms (`TermScores`).


class CategoryTables(NamedTuple):
    """The tables of one model, or of its twins with the column `twin`, by their names in the schema.

    `log_probability`, `log_probability_words`, `log_probability_sentences`, `seat_templates` and
    `log_probability_terms`. Sets are given as measured: with `exchanged`, the category's attributes are the targets.
    """

    estimates: pa.Table
    words: pa.Table
    sentences: pa.Table
    templates: pa.Table
    terms: pa.Table


_SENTENCE = ("attribute_word", "template")


def measure_categories(
    scored: pl.DataFrame,
    categories: Mapping[str, Mapping[str, Any]],
    *,
    model: str,
    settings: TestSettings,
    exchanged: Collection[str] = (),
    pieces: str = "all",
    aggregation: str = "log-sum-exp",
    seed: int = 47,
) -> CategoryTables:
    """Return the log-probability bias of all categories in one model, or in each of its twins.

    Args:
        scored: `CATEGORY_SENTENCES` with the columns `SENTENCE_SCORES`; of twins also `twin`.
        categories: names to the layout of `categories.json`.
        model: its name, for the tables.
        settings: how effects are tested.
        exchanged: categories whose targets and attributes change places.
        pieces: how a target of several pieces is scored (`log_probability`).
        aggregation: how the terms of a set become one score (`AGGREGATIONS`).
        seed: of the study.

    Returns:
        A row per category; per category and word; per category, template and attribute word; per category and template.
        A target without a score in some template is left out everywhere, an attribute word or sentence only itself;
        `lost` lists both. The row of a category that cannot be computed has the reason instead of numbers.

    Raises:
        InputError: an unknown aggregation.
    """
    choice("log_probability.aggregation", aggregation, AGGREGATIONS)
    if "twin" in scored.columns:
        how: dict[str, Any] = {"exchanged": exchanged, "pieces": pieces, "aggregation": aggregation, "seed": seed}
        return of_twins(
            scored["twin"].n_unique(),
            lambda twin: measure_categories(
                scored.filter(twin=twin).drop("twin"), categories, model=model, settings=settings, **how
            ),
        )
    cells, terms_of, sentences, of_terms = [], {}, [], []
    for category in read_categories(categories, exchanged):
        rows = scored.filter(category=category.name)
        words, table, scores, lost = _find_usable(category, rows, aggregation)
        usable = table.filter("is_usable")
        one_mask = rows.filter(pl.col("n_attribute_pieces") > 1)["attribute_word"].unique(maintain_order=True)
        one_mask = one_mask if pieces == "first" else one_mask.clear()
        n_a = usable["attribute_word"].is_in(words[2]).sum()
        about = {"exchanged": category.name in exchanged, "pieces": pieces, "aggregation": aggregation, "seed": seed}
        about |= {"n_sentences_a": n_a, "n_sentences_b": len(usable) - n_a, "n_templates": rows["template"].n_unique()}
        about |= {"n_masked_as_one": len(one_mask), "masked_as_one": ", ".join(one_mask), **settings.conventions()}
        cells.append(AskedEstimate(category, {"model": model}, words, lost, about))
        terms_of[category.name] = scores, usable["template"].to_list()
        table = table.with_columns(pl.col("left_out").replace("", "no target left"))
        if scores is not None:
            table = table.join(
                usable.select(_SENTENCE).with_columns(**scores.set_columns()),
                on=_SENTENCE,
                how="left",
                maintain_order="left",
            ).with_columns(left_out=pl.when(~pl.col("is_usable")).then("left_out"))
            of_terms.append(_list_terms(category.name, model, usable, [*words[0], *words[1]], scores))
        is_a = pl.col("attribute_word").is_in(category.sets[2])
        role, key = pl.when(is_a).then(pl.lit("a")).otherwise(pl.lit("b")), {"category": category.name, "model": model}
        sentences += [
            key | row for row in table.with_columns(attribute="attribute_word", role=role).iter_rows(named=True)
        ]

    def measure(cell: AskedEstimate) -> tuple[dict[str, Any], Rows, Rows]:
        scores, templates = terms_of[cell.category.name]
        assert scores is not None  # no set is empty
        x, y, a, b = cell.used
        targets, attributes = cell.category.units(cell.used)
        names = ("log_probability", model)
        permuted = Estimand(cell.category.name, (a, b, x, y), (attributes, targets), settings, seed, names)
        return _measure_terms(scores, templates, permuted, cell.category.set_names)

    # the test permutes attribute words, so each set needs two
    names = ("log_probability", "log_probability_words", "seat_templates")
    what = f"log-probability bias of {model}"
    estimates, of_words, templates = measure_cells(what, cells, measure, *names, needed="1122", noun="words")
    listed = pa.Table.from_pylist(sentences, schema=TABLES["log_probability_sentences"].arrow())
    by_term = pl.concat([TABLES["log_probability_terms"].polars.to_frame(), *of_terms])
    return CategoryTables(estimates, of_words, listed, templates, by_term.to_arrow())


def _list_terms(
    category: str, model: str, sentences: pl.DataFrame, terms: Sequence[str], scores: TermScores
) -> pl.DataFrame:
    """Return the rows of the table `log_probability_terms`: sentences by terms."""
    schema = TABLES["log_probability_terms"].polars
    keys = product([category], [model], sentences.select(_SENTENCE).iter_rows(), terms)
    rows = [(category, model, *sentence, term) for category, model, sentence, term in keys]
    frame = pl.DataFrame(rows, schema=dict([*schema.items()][:5]), orient="row")
    return frame.with_columns(fill=scores.fill.ravel(), prior=scores.prior.ravel())


def _find_usable(
    category: CategoryWords, scored: pl.DataFrame, aggregation: str
) -> tuple[Words, pl.DataFrame, TermScores | None, list[Loss]]:
    """Return the targets that have a score in every sentence, and the sentences in which all of these have one.

    The score of a sentence needs the same set of terms in all sentences: a target with an unknown piece in one template
    is left out everywhere. An attribute word, or a sentence that is too long, is left out alone.

    Returns:
        The remaining words of X, Y, A and B. One row per attribute word and template, with `is_usable`, whether all
        remaining targets have a score, and `left_out`, why not. The scores of the targets in the usable sentences, None
        with an empty set. The losses.
    """
    role = pl.col("left_out_role")
    word = pl.when(role == "target").then("target_word").when(role == "attribute").then("attribute_word")
    reasons = pl.col("left_out").drop_nulls().unique(maintain_order=True).str.join(", ")
    blamed = scored.filter(role.is_not_null()).group_by(word.alias("word"), maintain_order=True)
    unscored = dict(blamed.agg(reasons).iter_rows())
    targets, attributes = (
        [word for word in dict.fromkeys(first + second) if word not in unscored]
        for first, second in (category.sets[:2], category.sets[2:])
    )
    known = scored.filter(pl.col("target_word").is_in(targets))
    table = scored.group_by(_SENTENCE, maintain_order=True).agg(pl.col("text", "n_attribute_pieces").first())
    of_sentence = known.group_by(_SENTENCE).agg(pl.col("n_pieces").sum(), reasons)
    table = table.join(of_sentence, on=_SENTENCE, how="left", maintain_order="left")
    table = table.with_columns(pl.col("n_pieces").fill_null(0), pl.col("left_out").fill_null(""))
    table = table.with_columns(
        is_usable=pl.col("attribute_word").is_in(attributes) & (pl.col("left_out") == ""),
        left_out=pl.col("attribute_word").replace_strict(unscored, default=pl.col("left_out"), return_dtype=pl.String),
    )
    usable = table.filter("is_usable")
    lost = [category.lose(word, Reason.NO_SCORE, found) for word, found in unscored.items()]
    n_templates, n_of = scored["template"].n_unique(), dict(usable["attribute_word"].value_counts().iter_rows())
    for attribute in attributes:
        if (n := n_of.get(attribute, 0)) < n_templates:
            found = known.filter(attribute_word=attribute).select(reasons).item()
            lost.append(category.lose(attribute, Reason.IN_PART, f"{n} of its {n_templates} sentences ({found})"))
    words, partners = select_words(category, {*targets, *n_of})
    x, y, a, b = words
    if partners:
        lost, kept = lost + partners, pl.col("attribute_word").is_in([*a, *b])
        table = table.with_columns(pl.col("is_usable") & kept)
        usable = table.filter("is_usable")
    if not all(words):
        return words, table, None, lost
    scores = known.join(usable, on=_SENTENCE, how="semi", maintain_order="left")
    shape, order = (len(usable), len(targets)), [targets.index(word) for word in (*x, *y)]
    fill, prior = (scores[name].to_numpy().reshape(shape)[:, order] for name in ("fill", "prior"))
    places = np.array([[*a, *b].index(word) for word in usable["attribute_word"]], dtype=np.int64)
    found = TermScores(fill, prior, places, len(x), len(a), len(b), aggregation)
    if (unknown := np.isnan(found.sentence_scores)).any():  # logits add up to less than 0
        sentences = usable.filter(unknown).select(_SENTENCE).with_columns(negative=pl.lit("negative-sum"))
        scored = scored.join(sentences, on=_SENTENCE, how="left", maintain_order="left")
        scored = scored.with_columns(left_out=pl.coalesce("left_out", "negative")).drop("negative")
        return _find_usable(category, scored, aggregation)
    return words, table, found, lost


def _measure_terms(
    terms: TermScores, templates: Sequence[str], permuted: Estimand, set_names: Sequence[str]
) -> tuple[dict[str, Any], Rows, Rows]:
    """Return the columns of an estimate, the rows of words, and the rows of templates.

    Args:
        terms: scores of the terms.
        templates: (n_sentences,), the template of each sentence.
        permuted: the estimand, with the words of A and B in place of X and Y.
        set_names: of X, Y, A and B.

    Raises:
        ConstantScoresError: all sentences have the same score.
    """
    if float(terms.sentence_scores.std()) <= SCORE_NOISE:
        raise ConstantScoresError("all sentences have the same score, so that there is no effect size")
    cosines, is_linear = terms.crossed_scores(), terms.aggregation == "mean"
    tests = permuted.test_words(cosines)
    if not is_linear:
        tests = tests[0], terms.test_terms(permuted.units[1], permuted.settings, permuted.generator("p_attributes"))
    counted = cosines if is_linear else terms
    columns, rows = measure_cosines(cosines, permuted, counted=counted, tests=tests)
    of_a = terms.words < terms.n_a
    of_sentences = [terms.sentence_scores[of_a], terms.sentence_scores[~of_a]]
    columns["p_sentences"] = permuted.test_sentences(of_sentences).p_value
    names = list(dict.fromkeys(templates))
    places = np.array([names.index(name) for name in templates])

    def measure_in(kept: Flags) -> float:
        part = terms.select_sentences(kept[places])
        return math.nan if part is None else float(part.effects(std=permuted.settings.std)[0])

    of_templates, template_rows = measure_templates(measure_in, names, cosines, permuted, counted=counted)
    columns |= of_templates
    for note in ("interval_note", "templates_note"):
        columns[note] = columns[note] and _name_sets(columns[note], (*set_names[2:], *set_names[:2]))
    for row, association in zip(rows[terms.n_targets :], terms.term_associations(), strict=True):
        row |= {"association": float(association), "n_items": len(terms.words)}
    for row in rows:
        row["role"] = {"x": "a", "y": "b", "a": "x", "b": "y"}[row["role"]]
    return columns, [*rows[terms.n_targets :], *rows[: terms.n_targets]], template_rows


def _name_sets(note: str, set_names: Sequence[str]) -> str:
    """Return a note on the sets X to B of `measure_cosines` with the names of the category's sets."""
    names = dict(zip("XYAB", set_names, strict=True))
    return re.sub(r"\bset ([XYAB])\b", lambda found: f"the set {names[found[1]]}", note)
