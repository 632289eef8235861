"""How often p is below .05, and the interval includes 0, where there is no effect; see docs/methods.md.

    .venv/bin/python tests/benchmarks/log_probability_tests.py          about two minutes

Both attribute sets have 10 words, each in 4 sentences. A word and a term have a normal number each, whose product is
what the one adds to the log-probability of the other; each pair adds something of its own, and each sentence a little.
The sets are alike, so that the true effect is 0.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from prasanga.associations.estimates import Estimand, TestSettings, measure_cosines
from prasanga.likelihoods.categories import AGGREGATIONS, TermScores
from prasanga.stats.permutation import Units, permutation_test_of_scores

CASES = ((10, 1.0), (10, 3.0), (30, 1.0))
_WORDS, _SENTENCES = 10, 4


class Shares(NamedTuple):
    """Of the runs: p of words and p of sentences below .05, intervals that hold 0."""

    words: float
    sentences: float
    held: float


def made(terms: str, n_terms: int, spread: float, rng: np.random.Generator) -> TermScores:
    """Scores without an effect; `spread` is the deviation of the terms' prior log-probabilities."""
    prior = rng.normal(-6, spread, 2 * n_terms) + rng.normal(0, 0.1, (2 * _WORDS * _SENTENCES, 2 * n_terms))
    of_terms, of_words = rng.normal(size=2 * n_terms), rng.normal(size=2 * _WORDS)
    words = np.repeat(np.arange(2 * _WORDS), _SENTENCES)
    of_pairs = rng.normal(0, 0.5, (2 * _WORDS, 2 * n_terms))[words]
    fill = prior + 0.5 * np.outer(of_words[words], of_terms) + of_pairs + rng.normal(0, 0.3, prior.shape)
    return TermScores(fill, prior, words, n_terms, _WORDS, _WORDS, terms)


def shares(terms: str, n_terms: int, spread: float, runs: int) -> Shares:
    """What is expected to be 5 %, 5 % and 95 %."""
    settings, counts = TestSettings(n_resamples=400, n_shuffles=0, n_permutations=1), np.zeros(3)
    names = tuple([f"{side}{i}" for i in range(n)] for side, n in zip("abxy", (10, 10, n_terms, n_terms), strict=True))
    units = Units.from_sizes(_WORDS, _WORDS), Units.from_sizes(n_terms, n_terms)
    for run in range(runs):
        found = made(terms, n_terms, spread, np.random.default_rng(run))
        scores = found.sentence_scores
        means = scores.reshape(2 * _WORDS, _SENTENCES).mean(axis=1)
        for place, values in enumerate((means, scores)):
            half, rng = len(values) // 2, np.random.default_rng(run)
            counts[place] += (
                permutation_test_of_scores(values[:half], values[half:], n_resamples=999, rng=rng).p_value < 0.05
            )
        ends = measure_cosines(
            found.crossed_scores(), Estimand("C", names, units, settings, run), counted=found
        ).columns
        counts[2] += ends["ci_low"] <= 0 <= ends["ci_high"]
    return Shares(*(counts / runs))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print("| terms | terms in each set | spread of their priors | p_stimuli | p_sentences | intervals that hold 0 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for terms in AGGREGATIONS[:2]:
        for n_terms, spread in CASES:
            found = shares(terms, n_terms, spread, runs)
            print(f"| {terms} | {n_terms} | {spread} | {found.words:.1%} | {found.sentences:.0%} | {found.held:.1%} |")


if __name__ == "__main__":
    main()
