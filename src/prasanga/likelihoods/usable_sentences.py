"""Which words and sentences of a category a model could score, and why it could not score the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from prasanga.associations.categories import Category
from prasanga.likelihoods.log_probability import Score
from prasanga.likelihoods.term_scores import TermScores

Scores: TypeAlias = Mapping[tuple[str, str, str], Score]
"""The score of each attribute word, template and target word."""


class UsableSentences(NamedTuple):
    """What of a category can be measured.

    Attributes:
        words: X, Y, A and B, as far as they are left.
        sentences: attribute word and template, those of A before those of B.
        scores: of all that was asked.
        notes: what was left out, and why.
        reasons: of each word that was left out.
    """

    words: tuple[list[str], list[str], list[str], list[str]]
    sentences: list[tuple[str, str]]
    scores: Scores
    notes: list[str]
    reasons: dict[str, str]

    def why_left_out(self, attribute: str, template: str) -> str:
        """Why a sentence has no score."""
        if attribute in self.reasons:
            return self.reasons[attribute]
        found = dict.fromkeys(
            score.left_out
            for (of_attribute, of_template, target), score in self.scores.items()
            if (of_attribute, of_template) == (attribute, template) and target not in self.reasons and score.left_out
        )
        return ", ".join(map(str, found)) or "no target left"


def usable_sentences(category: Category, scores: Scores) -> UsableSentences:
    """Targets that have a score in every sentence, and the sentences in which all of these have one.

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
    lost = {word: ", ".join(found) for word, found in reasons.items()}
    targets = [word for word in dict.fromkeys((*x, *y)) if word not in lost]
    attributes = [word for word in dict.fromkeys((*a, *b)) if word not in lost]
    sentences = [
        (attribute, template)
        for attribute in attributes
        for template in templates
        if all(scores[attribute, template, target].left_out is None for target in targets)
    ]
    notes = [f"{word}: {found}" for word, found in lost.items()]
    for words_of_set in category.sets:
        twice = dict.fromkeys(word for word in words_of_set if words_of_set.count(word) > 1)
        notes += [f"{word}: listed twice, counted once" for word in twice]
    n_of = {word: sum(attribute == word for attribute, _ in sentences) for word in attributes}
    for word, n in n_of.items():
        if n < len(templates):
            of_word = (
                score.left_out
                for (attribute, _, target), score in scores.items()
                if attribute == word and target in targets and score.left_out is not None
            )
            notes.append(f"{word}: {n} of its {len(templates)} sentences ({', '.join(dict.fromkeys(of_word))})")
    words = (
        [word for word in targets if word in x],
        [word for word in targets if word in y],
        [word for word in attributes if word in a and n_of[word]],
        [word for word in attributes if word in b and n_of[word]],
    )
    return UsableSentences(words, sentences, scores, notes, lost)


def too_few_words(category: Category, usable: UsableSentences) -> str:
    """Why a category cannot be computed with the words that are left; empty if it can.

    Attribute words are what the test permutes, so that there must be two of each set.
    """
    kinds = (("a target set", 1), ("a target set", 1), ("an attribute set", 2), ("an attribute set", 2))
    for name, listed, kept, (kind, least) in zip(category.set_names, category.sets, usable.words, kinds, strict=True):
        if len(kept) < least:
            return f"not computed: {name} has {len(kept)} of {len(listed)} words left, and {kind} needs {least}"
    return ""


def term_scores_of(usable: UsableSentences, terms: str) -> TermScores:
    """The log-probabilities of all targets that are left, in all sentences that are left."""
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
