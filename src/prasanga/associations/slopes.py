"""Whether an association changes with the length of the context: slopes of word scores on log2 of the length.

The effect sizes of single contexts change with length even where no association does: they are divided by the scatter
of contexts, which depends on the length. So a word is here the direction of its mean vector over the occurrences that
all lengths share. With s_l(w) the association of word w at length l, from these directions, and S_l the spread of the
target words' associations there (the denominator of the effect size d_l), a word has the slope

    b(w) = sum over l of (x_l - mean x) s_l(w) / S_l  /  sum over l of (x_l - mean x)^2,    x_l = log2(l)

and the mean b over X minus that over Y is the slope of d_l on x_l: the change of the effect per doubling of the
length. The test permutes words by their slopes, on both sides; the hypothesis is that slopes are exchangeable between
the sets. Dividing by S_l matters: cosines of mean directions shrink with the scatter of contexts, and do so in
proportion to the association, so that without it an association that stays the same would have a slope.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from prasanga.associations.estimates import Estimand
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import FloatArray
from prasanga.stats.intervals import Omitted


def measure_slope(lengths: Sequence[str], cosines: Sequence[FloatArray], estimand: Estimand) -> dict[str, Any]:
    """Return the columns of the slope of an effect: the change of d per doubling of the length, interval and p.

    Args:
        lengths: two fixed segment lengths or more, in words.
        cosines: at each length, (n_targets, n_attributes) cosines of the words' mean directions.
        estimand: what is measured; `names` say whose slope it is.

    Raises:
        ConstantScoresError: at some length, all words have the same association.
    """
    x = np.log2([int(length) for length in lengths])
    weights = (x - x.mean()) / np.square(x - x.mean()).sum()
    sizes, std = [len(side) for side in estimand.words], estimand.settings.std
    crossed = [CrossedScores.of_words(values[None], sizes) for values in cosines]
    slope = float(weights @ [each.effect(std) for each in crossed])
    spreads = [float(each.spreads(std)[0]) for each in crossed]
    scaled = [weight * values / spread for weight, values, spread in zip(weights, cosines, spreads, strict=True)]
    slopes = CrossedScores.of_words(np.sum(scaled, axis=0)[None], sizes)
    tests = replace(estimand, names=(*estimand.names, "slope")).test_words(slopes)
    omitted = []
    for samples in zip(*(estimand.omit(each, each) for each in crossed), strict=True):
        without = weights @ [sample.effects for sample in samples]
        omitted.append(Omitted(without, np.full(without.size, math.inf), math.inf))
    found = estimand.find_interval(slope, omitted)
    return {
        **{"slope": slope, "slope_low": found.low, "slope_high": found.high, "slope_note": found.note or None},
        "p_slope": max(test.p_value for test in tests),
    }
