"""Simulate the strength that is reported: `python tests/benchmarks/strength.py [--studies N] [--seed S]`.

Prints two tables (docs/measured/simulations.md): of vectors, and of log-probabilities. Both are drawn from one
population, so that nothing differs but by chance. For each design, `shift_80` is found from one study in the way of the
workflow; then the rule of a finding is applied to further relabelings of its words at that shift, and to studies with
other words of the same population."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from prasanga.associations.strength import CosineStudies, Roles, Space
from prasanga.likelihoods.categories import TermScores
from prasanga.likelihoods.strength import TermStudies
from prasanga.stats.permutation import Units
from prasanga.stats.strength import Rule, measure_strength

SHIFTS = (0.1, 0.25, 0.5, 1.0, 1.5)
DIMENSIONS = 100
DESIGNS = (
    # words of a set, words in the study besides, copies, pairs, level
    (13, 80, 0, False, 0.05),
    (25, 80, 0, False, 0.05),
    (25, 80, 0, True, 0.05),
    (25, 80, 8, False, 0.05),
    (50, 80, 0, False, 0.05),
    (50, 80, 8, False, 0.05),
    (50, 80, 0, False, 0.003),
    (50, 80, 8, False, 0.003),
)


def draw_space(n: int, rng: np.random.Generator, matched: int) -> Space:
    """Draw the vectors of n words; the first 2 * `matched` are pairs of words that have much in common."""
    vectors = rng.normal(size=(n, DIMENSIONS)) + 2 * rng.normal(size=DIMENSIONS)
    vectors[:, :8] *= 2
    vectors[matched : 2 * matched] += vectors[:matched]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Space(vectors @ vectors.T)


def simulate(design: tuple[Any, ...], studies: int, rng: np.random.Generator) -> list[float]:
    """Return `shift_80`, and of the shares found: further relabelings, other words, and the false alarms."""
    n, n_others, n_twins, matched, level = design
    words = np.arange(4 * n + n_others)
    spelled = rng.integers(2, 10, size=words.size).astype(float)
    targets = Units(tuple(range(n)), tuple(range(n)), matched)
    roles = Roles(words[: 2 * n], words[2 * n : 4 * n], targets, Units.from_sizes(n, n), words[2 * n :], spelled)

    def draw() -> tuple[list[Space], list[list[Space]]]:
        drawn = [[draw_space(words.size, rng, n * matched)] for _ in range(1 + n_twins)]
        return drawn[0], drawn[1:]

    rule, study = Rule(level), draw()
    said = measure_strength(CosineStudies(*study, roles, rule, rng), shifts=SHIFTS, repetitions=500)
    false = [said["shares_found"][0], *(said[f"false_{name}"] for name in ("attributes", "spelling", "scatter"))]
    if (shift := said["shift_80"]) is None:
        return [np.nan, np.nan, np.nan, *false]
    again = CosineStudies(*study, roles, rule, rng)
    same = np.concatenate([again.shift(50, (shift,))[:, 1] for _ in range(studies // 50)])
    others = [CosineStudies(*draw(), roles, rule, rng).shift(1, (shift,))[0, 1] for _ in range(studies // 4)]
    return [shift, float(same.mean()), float(np.mean(others)), *false]


TERM_DESIGNS = (
    # words of a set, terms of a set, templates, copies, how terms become one score
    (13, 10, 3, 0, "log-sum-exp"),
    (25, 8, 5, 0, "log-sum-exp"),
    (25, 13, 5, 4, "log-sum-exp"),
    (25, 25, 3, 4, "log-sum-exp"),
    (25, 13, 5, 4, "mean"),
)


def simulate_terms(design: tuple[Any, ...], studies: int, rng: np.random.Generator) -> list[float]:
    """Return the same of log-probability bias: words and terms that go together by chance, without a bias."""
    n, n_terms, n_templates, n_twins, terms = design
    words, places = np.repeat(np.arange(2 * n), n_templates), np.tile(np.arange(n_templates), 2 * n)
    units = Units.from_sizes(n, n), Units.from_sizes(n_terms, n_terms)

    def draw() -> TermScores:
        prior = rng.normal(-6, 1, 2 * n_terms) + rng.normal(0, 0.1, (words.size, 2 * n_terms))
        together = 0.5 * np.outer(rng.normal(size=2 * n), rng.normal(size=2 * n_terms))
        of_pairs = together + rng.normal(0, 0.5, together.shape)
        of_templates = rng.normal(0, 0.1, (n_templates, 2 * n_terms))
        fill = prior + of_pairs[words] + of_templates[places] + rng.normal(0, 0.2, prior.shape)
        return TermScores(fill, prior, words, n_terms, n, n, terms)

    def build() -> TermStudies:
        spelled = rng.integers(2, 10, 2 * n).astype(float), rng.integers(2, 10, 2 * n_terms).astype(float)
        return TermStudies(draw(), places, [draw() for _ in range(n_twins)], units, spelled, Rule(0.05), rng)

    study = build()
    said = measure_strength(study, shifts=(*SHIFTS, 2.0, 3.0), repetitions=500)
    nulls = [said.get(f"false_{name}", np.nan) for name in ("attributes", "spelling", "scatter", "templates")]
    false = [said["shares_found"][0], *nulls]
    if (shift := said["shift_80"]) is None:
        return [np.nan, np.nan, np.nan, *false]
    same = np.concatenate([study.shift(50, (shift,))[:, 1] for _ in range(studies // 50)])
    others = [build().shift(1, (shift,))[0, 1] for _ in range(studies // 20)]
    return [shift, float(same.mean()), float(np.mean(others)), *false]


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Print a table in Markdown, row by row."""
    print("|", " | ".join(heads), "|")
    print("|", " | ".join(["---"] * len(heads)), "|")
    for row in rows:
        cells = (each if isinstance(each, str) else "-" if np.isnan(each) else f"{each:.3f}" for each in row)
        print("|", " | ".join(cells), "|", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000, help="further studies in each design")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    seed, studies = arguments.seed, arguments.studies
    found = ("`shift_80`", "found at it", "with other words", "relabeled", "attributes", "spelling", "scatter")

    def list_rows() -> Iterator[list[str | float]]:
        for number, design in enumerate(DESIGNS):
            n, _, copies, matched, level = design
            about = [f"{n} and {n}{', pairs' * matched}", str(copies), str(level)]
            yield [*about, *simulate(design, studies, np.random.default_rng([seed, number]))]

    def list_rows_of_terms() -> Iterator[list[str | float]]:
        for number, design in enumerate(TERM_DESIGNS):
            n, n_terms, n_templates, copies, terms = design
            about = [f"{n} and {n}", f"{n_terms} and {n_terms}, {terms}", str(n_templates), str(copies)]
            yield [*about, *simulate_terms(design, studies, np.random.default_rng([seed, 100 + number]))]

    print_table(("words", "copies", "level", *found), list_rows())
    print_table(("words", "terms", "templates", "copies", *found, "templates"), list_rows_of_terms())


if __name__ == "__main__":
    main()
