"""What the numbers of a study say, and what they do not: one text for cards and page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prasanga.report.method_names import METHODS

_OF_WORDS = tuple(METHODS)


class Quantity(NamedTuple):
    """A number that the study reports: the methods that have it, what it says, and what it does not say."""

    name: str
    methods: tuple[str, ...]
    meaning: str
    limit: str


QUANTITIES = (
    Quantity(
        "Effect size",
        _OF_WORDS,
        "The difference of two target sets in their association with two attribute sets, in standard deviations.",
        "Effects of different methods are no measurements of the same thing. The largest of many is likely to be"
        " overestimated.",
    ),
    Quantity(
        "p_draws",
        ("ceat",),
        "Whether other draws from the same contexts of the same words would agree; the p that Sadhu et al. report.",
        "No test of bias: it falls as the number of draws grows, and with no effect at all it is below .05 most of the"
        " time.",
    ),
    Quantity(
        "p_stimuli",
        _OF_WORDS,
        "Whether other words would do: permutation of the words. This is the p to call an effect significant by.",
        "The words were chosen, not drawn at random, and with few of them p cannot be small: four and four have 70"
        " partitions.",
    ),
    Quantity(
        "Interval over words",
        _OF_WORDS,
        "How large the effect might be with other words of the same kind, and other contexts of them.",
        "In simulated studies BCa intervals held their level of 95 % in 95 to 99 % of cases, studentized ones in 93 to"
        " 99 %; with other seeds and skewed words BCa fell to 92 %, and near the largest effect there is to 91 %. Sets"
        " of fewer than eight words have none.",
    ),
    Quantity(
        "Random twin",
        (*_OF_WORDS[:2], "log_probability", "structures", "pairs"),
        "The same model with random weights on the same texts: what comes from spelling, tokenizer and texts alone.",
        "A control by one set of random weights, and no test: that an effect is larger than its twin's does not make it"
        " significant.",
    ),
    Quantity(
        "Attributes dealt anew",
        _OF_WORDS,
        "The range of effects when the words of both attribute sets are shuffled and dealt into two sets. Where the"
        " test moves attribute words (log-probability bias), the targets are dealt.",
        "An effect outside of it is about the division of these words; it is no test over other words.",
    ),
    Quantity(
        "Corrections",
        (*_OF_WORDS, "pairs"),
        "Holm: no false find among all tests of the family. Benjamini-Hochberg: few false ones among those found.",
        "There are two families: all tests of words (CEAT, SEAT, WEAT, log-probability bias) together, and all bias"
        " percentages. Intervals of differences and comparisons of structures are not corrected.",
    ),
    Quantity(
        "Differences and settling",
        ("ceat",),
        "Paired differences between lengths and between models, and the length from which an effect stays.",
        "The contexts of more words than the longest fixed length are others, so that part of such a difference may"
        " come from other texts; with a pool for each length this holds of all differences.",
    ),
    Quantity(
        "Spread of traits",
        ("structures",),
        "How far the log-probability bias of traits spreads in a sentence structure, and paired comparisons of two.",
        "A structure is one frame or a context of each trait's own: what holds of it may not hold of other sentences of"
        " that length.",
    ),
    Quantity(
        "Bias percentage",
        ("pairs",),
        "The share of the pairs whose stereotypical sentence the model finds more likely; 50 is no preference.",
        "Below 20 pairs only the exact interval can be relied on. The deviation over runs on samples of the pairs is no"
        " standard error. A percentage says nothing of how a model behaves in use.",
    ),
)
"""What is reported, and how far it goes. The studies behind these numbers: docs/statistics.md, docs/uncertainty.md,
docs/bias_percentage.md."""


def no_model_of_a_language(trained: Sequence[str]) -> str:
    """What is to be known of tiny models that a study trains itself, as a sentence; empty for none."""
    if not trained:
        return ""
    *first, last = trained
    names = f"{', '.join(first)} and {last}" if first else last
    were, models = ("were", "models") if first else ("was", "model")
    return (
        f"{names} {were} trained in this study on its own text: no {models} of a language, and no ground for a"
        " statement about one."
    )
