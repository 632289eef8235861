"""How often the 95 % intervals hold what they should, in simulated studies.

    .venv/bin/python tests/benchmarks/interval_coverage.py            some minutes; docs/measured/simulations.md
    .venv/bin/python tests/benchmarks/interval_coverage.py --quick    a few studies, to see that it runs

A study has n words in each of X, Y, A and B. A word has a vector of its own, its set's center plus noise; in each draw
another context moves it. Vectors have 32 dimensions and length 1. Words are normal, or skewed (exponential), around the
centers. The estimand is the mean effect of studies with other words, as many in each set, taken from 4,000 of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from prasanga.associations.estimates import Estimand, TestSettings, measure_templates
from prasanga.associations.vectors import Words
from prasanga.base.seeds import generator
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import STD_CONVENTIONS
from prasanga.stats.intervals import difference_interval, draw_resampling, interval, omit_units
from prasanga.stats.permutation import Units

Vectors = npt.NDArray[np.float64]

DIMENSIONS, WORD_NOISE, CONTEXT_NOISE = 32, 0.5, 0.35
SIDES = "xyab"
HEAD = "covers above below width"
# Share of the noise that two models, two words of a cluster, or a matched pair have in common.
SHARED = 0.5
POPULATION = 100_000
DRAWS = 8
N_TRUTH = 4000
UNITS = ("words", "twos", "pairs")
"""What the words of a set are: independent, clusters of two, or matched with those of the other set."""


@dataclass
class Population:
    """Words around the centers of X and Y, `shift` apart on the axis of A and B."""

    shift: float
    skewed: bool
    seed: int
    paired: bool = False
    std: str = "union_ddof1"
    axis: Vectors = field(init=False)
    between: Vectors = field(init=False)
    spread: Vectors = field(init=False)

    def __post_init__(self) -> None:
        rng = generator(self.seed, "population", self.shift, self.skewed)
        means, within = {}, np.zeros((DIMENSIONS, DIMENSIONS))
        for side in SIDES:
            words = self.words(side, self.noise(POPULATION, rng))
            vectors = self.contexts(words, rng.standard_normal((1, *words.shape)))[0]
            means[side] = vectors.mean(axis=0)
            if side in "xy":
                within += np.cov(vectors.T) / 2
        self.axis, self.between = means["a"] - means["b"], means["x"] - means["y"]
        # Of X and Y together, half of the words each.
        among = np.outer(self.between, self.between) / 4
        self.spread = within if self.std == "pooled" else within + among

    def noise(self, n: int, rng: np.random.Generator) -> Vectors:
        if self.skewed and not self.paired:
            return np.asarray(rng.standard_exponential((n, DIMENSIONS)) - 1)
        if self.skewed:
            # Two models have one part in common, and each its own.
            parts = rng.standard_exponential((2, n, DIMENSIONS)) - 1
            return np.asarray(np.sqrt(SHARED) * parts[0] + np.sqrt(1 - SHARED) * parts[1])
        return rng.standard_normal((n, DIMENSIONS))

    def words(self, side: str, noise: Vectors) -> Vectors:
        words = WORD_NOISE * noise
        words[:, 0] += 1
        words[:, 1] += {"x": self.shift / 2, "y": -self.shift / 2, "a": 1.0, "b": -1.0}[side]
        return words

    def contexts(self, words: Vectors, noise: Vectors) -> Vectors:
        vectors = words + CONTEXT_NOISE * noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=2, keepdims=True))

    def effect(self) -> float:
        """With infinitely many words of all sets."""
        return float(self.axis @ self.between / np.sqrt(self.axis @ self.spread @ self.axis))


def draw_study(population: Population, n: int, units: str, rng: np.random.Generator) -> CrossedScores:
    """A study of n words a set."""
    noise = {side: population.noise(n, rng) for side in SIDES}
    own, common = np.sqrt(1 - SHARED), np.sqrt(SHARED)
    if units == "pairs":
        shared = population.noise(n, rng)
        noise |= {side: common * shared + own * noise[side] for side in "xy"}
    if units == "twos":
        noise = {
            side: common * np.repeat(of[: (n + 1) // 2], 2, axis=0)[:n] + own * population.noise(n, rng)
            for side, of in noise.items()
        }
    words = {side: population.words(side, noise[side]) for side in SIDES}
    return _cosines({s: population.contexts(w, rng.standard_normal((DRAWS, *w.shape))) for s, w in words.items()}, n)


def list_units(n: int, units: str) -> tuple[Units, Units]:
    """The units of targets and attributes."""
    each, twos = tuple(range(n)), tuple(word // 2 for word in range(n))
    if units == "twos":
        return Units(twos, twos), Units(twos, twos)
    return Units(each, each, matched=units == "pairs"), Units(each, each)


def two_models(
    first: Population, second: Population, n: int, rng: np.random.Generator
) -> tuple[CrossedScores, CrossedScores]:
    """Two models with the same words and contexts, which have half the variance of their noise in common."""
    drawn: list[dict[str, Vectors]] = [{}, {}]
    for side in SIDES:

        def own(*shape: int) -> Vectors:
            return rng.standard_exponential(shape) - 1 if first.skewed else rng.standard_normal(shape)

        word, context = own(n, DIMENSIONS), rng.standard_normal((DRAWS, n, DIMENSIONS))
        for vectors, population in zip(drawn, (first, second), strict=True):
            words = population.words(side, np.sqrt(SHARED) * word + np.sqrt(1 - SHARED) * own(n, DIMENSIONS))
            noise = np.sqrt(SHARED) * context + np.sqrt(1 - SHARED) * rng.standard_normal(context.shape)
            vectors[side] = population.contexts(words, noise)
    return _cosines(drawn[0], n), _cosines(drawn[1], n)


def _cosines(drawn: dict[str, Vectors], n: int) -> CrossedScores:
    targets = np.concatenate([drawn["x"], drawn["y"]], axis=1)
    attributes = np.concatenate([drawn["a"], drawn["b"]], axis=1)
    words = np.arange(2 * n)
    return CrossedScores(targets @ attributes.transpose(0, 2, 1), words, words, n, n, n, n)


class Tally:
    """Of many intervals: the share that held the estimand, of those above and below it, and the mean width."""

    def __init__(self) -> None:
        self.above = self.below = self.n = 0
        self.width = 0.0

    def add(self, low: float, high: float, truth: float) -> None:
        self.above += low > truth
        self.below += high < truth
        self.width += high - low
        self.n += 1

    def __str__(self) -> str:
        held = 1 - (self.above + self.below) / self.n
        return f"{held:6.1%} {self.above / self.n:6.1%} {self.below / self.n:6.1%} {self.width / self.n:6.2f}"


def print_intervals(sizes: list[int], shifts: list[float], n_studies: int, seed: int, std: str) -> None:
    """The table of single effects."""
    print(f"Single effects, {n_studies} studies a line, {DRAWS} draws, denominator {std}. above: interval above the")
    print("estimand; below: below it.")
    print(f"{'units':>5} {'words':>5} {'noise':>7} {'estimand':>9} | {HEAD}")
    for units in UNITS:
        for shift in shifts:
            for skewed in (False, True):
                population = Population(shift, skewed, seed, std=std)
                for n in [n if units != "twos" else 2 * n for n in sizes]:
                    names, tally, sampled = (units, shift, skewed, n), Tally(), list_units(n, units)
                    rng = generator(seed, "truth", *names)
                    truth = float(np.mean([draw_study(population, n, units, rng).effect(std) for _ in range(N_TRUTH)]))
                    rng = generator(seed, "study", *names)
                    for _ in range(n_studies):
                        cosines = draw_study(population, n, units, rng)
                        omitted = omit_units(cosines, cosines, sampled, std)
                        found = interval(cosines.effect(std), sampled, omitted)
                        assert found.low is not None
                        assert found.high is not None
                        tally.add(found.low, found.high, truth)
                    noise = "skewed" if skewed else "normal"
                    print(f"{units:>5} {n:5} {noise:>7} {truth:9.2f} | {tally}", flush=True)


def in_templates(
    population: Population, n: int, n_templates: int, moved: float, rng: np.random.Generator
) -> tuple[CrossedScores, Callable[[npt.NDArray[np.bool_]], float]]:
    """A study of n words a set in templates, which move X and Y apart or together, by `moved`, and turn all words."""
    frames = 0.3 * rng.standard_normal((n_templates, DIMENSIONS))
    apart = moved * rng.standard_normal(n_templates)
    sides = [
        _in_frames(side, population.words(side, population.noise(n, rng))[:, None], frames, apart, rng)
        for side in SIDES
    ]
    targets, attributes = (np.concatenate(pair).reshape(-1, DIMENSIONS) for pair in (sides[:2], sides[2:]))
    words = np.repeat(np.arange(2 * n), n_templates)
    cosines = CrossedScores((targets @ attributes.T)[None], words, words, n, n, n, n)

    def measure(kept: npt.NDArray[np.bool_]) -> float:
        rows = np.tile(kept, 2 * n)
        return CrossedScores(cosines.values[:, rows][:, :, rows], words[rows], words[rows], n, n, n, n).effect()

    return cosines, measure


def _in_frames(side: str, words: Vectors, frames: Vectors, apart: Vectors, rng: np.random.Generator) -> Vectors:
    """Vectors of length 1 of words (n, 1 or T, d) in templates (T, d), (n, T, d)."""
    sentences = words + frames + CONTEXT_NOISE * rng.standard_normal(np.broadcast_shapes(words.shape, frames.shape))
    sentences[..., 1] += {"x": 0.5, "y": -0.5}.get(side, 0.0) * apart
    return np.asarray(sentences / np.linalg.norm(sentences, axis=-1, keepdims=True))


def print_templates(sizes: list[int], templates: list[int], n_studies: int, n_truth: int, seed: int) -> None:
    """The table of intervals over words alone, and over words and templates."""
    print("\nWords in templates: intervals over words, and over words and templates")
    print(f"{'words':>5} {'templates':>9} {'moved':>5} {'estimand':>9} | {'words alone: ' + HEAD:>34} | both")
    population = Population(0.6, False, seed)
    for moved in (0.0, 0.3, 0.6):
        for n in sizes:
            for n_templates in templates:
                rng = generator(seed, "templates", moved, n, n_templates)
                drawn = (in_templates(population, n, n_templates, moved, rng)[0].effect() for _ in range(n_truth))
                tallies, truth = (Tally(), Tally()), float(np.mean(list(drawn)))
                units = list_units(n, "words")
                for _ in range(n_studies):
                    cosines, measure = in_templates(population, n, n_templates, moved, rng)
                    estimand = Estimand("C", _names(n), units, TestSettings(), seed)
                    words = estimand.find_interval(cosines.effect(), estimand.omit(cosines, cosines))
                    both, _ = measure_templates(measure, list(map(str, range(n_templates))), cosines, estimand)
                    ends = (words.low, words.high), (both["ci_templates_low"], both["ci_templates_high"])
                    for tally, (low, high) in zip(tallies, ends, strict=True):
                        assert low is not None
                        assert high is not None
                        tally.add(low, high, truth)
                print(f"{n:5} {n_templates:9} {moved:5} {truth:9.2f} | {tallies[0]!s:>34} | {tallies[1]}", flush=True)


def print_differences(
    sizes: list[int], pairs: list[tuple[float, float]], n_studies: int, n_resamples: int, seed: int
) -> None:
    """The table of paired differences."""
    print("\nPaired differences of two models, attributes resampled")
    print(f"{'words':>5} {'noise':>7} {'estimand':>9} {'mean effect':>12} | covers  above  below  width")
    for first, second in pairs:
        for skewed in (False, True):
            models = Population(first, skewed, seed, paired=True), Population(second, skewed, seed, paired=True)
            truth = models[0].effect() - models[1].effect()
            for n in sizes:
                tally, found = Tally(), []
                for study in range(n_studies):
                    names = ("pair", first, second, skewed, n, study)
                    both = two_models(*models, n, generator(seed, *names))
                    how = {"n_resamples": n_resamples, "seed": seed, "category": str(names)}
                    resampling = draw_resampling(_names(n), list_units(n, "words"), DRAWS, **how)  # type: ignore[arg-type]
                    effects = [cosines.effect() for cosines in both]
                    replicates = [cosines.effects(*resampling) for cosines in both]
                    ends = difference_interval(replicates[0], replicates[1], effects[0], effects[1])
                    assert ends.low is not None
                    assert ends.high is not None
                    tally.add(ends.low, ends.high, truth)
                    found.append(effects[0] - effects[1])
                noise = "skewed" if skewed else "normal"
                print(f"{n:5} {noise:>7} {truth:9.2f} {np.mean(found):12.2f} | {tally}", flush=True)


def _names(n: int) -> Words:
    x, y, a, b = (tuple(f"{side}{i}" for i in range(n)) for side in SIDES)
    return x, y, a, b


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few studies, to see that it runs")
    parser.add_argument("--seed", type=int, default=5, help="of everything drawn; 5 in docs/measured/simulations.md")
    parser.add_argument("--studies", type=int, default=500, help="simulated studies a line")
    parser.add_argument("--std", choices=STD_CONVENTIONS, default="union_ddof1", help="denominator, of single effects")
    options = parser.parse_args()
    if options.quick:
        print_intervals([8], [0.6], 4, options.seed, options.std)
        print_templates([8], [4], 4, 20, options.seed)
        print_differences([8], [(0.6, 0.6)], 4, 100, options.seed)
    else:
        print_intervals([8, 13, 25], [0.0, 0.6, 1.5], options.studies, options.seed, options.std)
        print_templates([8, 25], [4, 8], options.studies, N_TRUTH, options.seed)
        print_differences([8, 13, 25], [(0.6, 0.6), (1.5, 0.6)], options.studies, 1000, options.seed)


if __name__ == "__main__":
    main()
