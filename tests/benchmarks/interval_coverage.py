"""How often the 95 % intervals hold what they should, in simulated studies, and how long they take.

    .venv/bin/python tests/benchmarks/interval_coverage.py            some minutes; the tables of docs/statistics.md
    .venv/bin/python tests/benchmarks/interval_coverage.py --templates  the table of templates alone, some ten minutes
    .venv/bin/python tests/benchmarks/interval_coverage.py --quick    a few studies, to see that it runs

A study has n words in each of X, Y, A and B. A word has a vector of its own, its set's center plus noise; in each draw
another context moves it. Vectors have 32 dimensions and length 1. Words are normal, or skewed (exponential), around the
centers. The estimand is the effect size of a population of words, computed from 100 000 words of each set:

- attributes resampled: infinitely many words in all four sets; then the contexts of attribute words average out
- attributes fixed: infinitely many words of X and Y, the study's own words of A and B, the mean over draws of contexts

The reported effect has only n attribute words, whose noise makes target words differ more than they do in the
population: on average it lies nearer to zero. The interval has to allow for that.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from prasanga.associations.estimates import Effects, Estimand, TestSettings, count_sentences, measure_templates
from prasanga.base.seeds import generator
from prasanga.stats.controls import shuffled_control
from prasanga.stats.crossed import CrossedScores, leave_one_out
from prasanga.stats.effects import STD_CONVENTIONS
from prasanga.stats.intervals import (
    INTERVALS,
    Resampling,
    difference_interval,
    draw_resampling,
    interval,
    replicate_effects,
)

Vectors = npt.NDArray[np.float64]

DIMENSIONS, WORD_NOISE, CONTEXT_NOISE = 32, 0.5, 0.35
SIDES = "xyab"
HEAD = "covers above below width"
# Share of a word's and a context's noise that two models have in common (its square root is the weight).
SHARED = 0.5
POPULATION = 100_000
DRAWS = 8


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

    def effect(self, axes: Vectors | None = None) -> float:
        """With infinitely many words of X and Y; the mean over (n_draws, d) `axes`, mean A minus mean B."""
        axes = self.axis[None] if axes is None else axes
        return float(np.mean(axes @ self.between / np.sqrt(np.einsum("ki,ij,kj->k", axes, self.spread, axes))))


def one_study(population: Population, n: int, rng: np.random.Generator) -> tuple[CrossedScores, float]:
    """A study, and its estimand if its attribute words stay as they are."""
    words = {side: population.words(side, population.noise(n, rng)) for side in SIDES}
    drawn = {s: population.contexts(w, rng.standard_normal((DRAWS, *w.shape))) for s, w in words.items()}
    others = {s: population.contexts(words[s], rng.standard_normal((64, *words[s].shape))).mean(axis=1) for s in "ab"}
    return _cosines(drawn, n), population.effect(others["a"] - others["b"])


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


class Line:
    """Of one kind of study: estimands, effects, and the tally of either method."""

    def __init__(self) -> None:
        self.truths: list[float] = []
        self.effects: list[float] = []
        self.tallies = {method: Tally() for method in INTERVALS}

    def add(self, cosines: CrossedScores, resampling: Resampling, truth: float, std: str) -> None:
        replicates = replicate_effects(cosines, resampling, std)
        for method, tally in self.tallies.items():
            found = interval(cosines, resampling, replicates, method=method, std=std)
            assert found.low is not None
            assert found.high is not None
            tally.add(found.low, found.high, truth)
        self.truths.append(truth)
        self.effects.append(cosines.effect(std))

    def __str__(self) -> str:
        both = " | ".join(f"{tally!s:>{len(method) + 29}}" for method, tally in self.tallies.items())
        return f"{np.mean(self.truths):9.2f} {np.mean(self.effects):12.2f} | {both}"


def print_intervals(
    sizes: list[int], shifts: list[float], n_studies: int, n_resamples: int, seed: int, std: str
) -> None:
    """The table of single effects."""
    head = "covers  above  below  width"
    print(f"Single effects, {n_studies} studies a line, {n_resamples} resamples, {DRAWS} draws. above: interval above")
    print("the estimand; below: below it.")
    print(f"{'words':>5} {'noise':>7} {'attributes':>11} {'estimand':>9} {'mean effect':>12} | ", end="")
    print(" | ".join(f"{method + ': ' + head:>{len(method) + 29}}" for method in INTERVALS))
    for shift in shifts:
        for skewed in (False, True):
            population = Population(shift, skewed, seed, std=std)
            for n in sizes:
                lines = {resampled: Line() for resampled in (True, False)}
                for study in range(n_studies):
                    names = ("study", shift, skewed, n, study)
                    cosines, fixed = one_study(population, n, generator(seed, *names))
                    for resampled, line in lines.items():
                        resampling = draw_resampling(
                            _names(n),
                            DRAWS,
                            n_resamples=n_resamples,
                            seed=seed,
                            category=str(names),
                            resample_attributes=resampled,
                        )
                        line.add(cosines, resampling, population.effect() if resampled else fixed, population.std)
                for resampled, line in lines.items():
                    words = f"{n:5} {'skewed' if skewed else 'normal':>7} {'resampled' if resampled else 'fixed':>11}"
                    print(words, line, flush=True)


def in_templates(
    population: Population, n: int, n_templates: int, moved: float, rng: np.random.Generator
) -> tuple[CrossedScores, Effects]:
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
    return cosines, count_sentences(cosines, [np.arange(n_templates)] * (4 * n))


def _in_frames(side: str, words: Vectors, frames: Vectors, apart: Vectors, rng: np.random.Generator) -> Vectors:
    """Vectors of length 1 of words (n, 1 or T, d) in templates (T, d), (n, T, d)."""
    sentences = words + frames + CONTEXT_NOISE * rng.standard_normal(np.broadcast_shapes(words.shape, frames.shape))
    sentences[..., 1] += {"x": 0.5, "y": -0.5}.get(side, 0.0) * apart
    return np.asarray(sentences / np.linalg.norm(sentences, axis=-1, keepdims=True))


def effect_in_templates(population: Population, moved: float, rng: np.random.Generator) -> float:
    """The effect of infinitely many words in infinitely many templates: each word here in one of its own."""
    found = {}
    for side in SIDES:
        frames = 0.3 * rng.standard_normal((1, POPULATION, DIMENSIONS))
        apart = moved * rng.standard_normal(POPULATION)
        words = population.words(side, population.noise(POPULATION, rng))
        found[side] = _in_frames(side, words[None], frames, apart, rng)[0]
    axis = found["a"].mean(axis=0) - found["b"].mean(axis=0)
    scores = found["x"] @ axis, found["y"] @ axis
    return float((scores[0].mean() - scores[1].mean()) / np.concatenate(scores).std())


def print_templates(sizes: list[int], templates: list[int], n_studies: int, n_resamples: int, seed: int) -> None:
    """The table of intervals over words alone, and over words and templates."""
    print("\nWords in templates, attributes resampled: intervals over words (bca), and over words and templates")
    print(f"{'words':>5} {'templates':>9} {'moved':>5} {'estimand':>9} | {'words alone: ' + HEAD:>34} | both")
    population = Population(0.6, False, seed)
    for moved in (0.0, 0.3, 0.6):
        truth = effect_in_templates(population, moved, generator(seed, "in templates", moved))
        for n in sizes:
            for n_templates in templates:
                tallies = Tally(), Tally()
                for study in range(n_studies):
                    names = ("templates", moved, n, n_templates, study)
                    cosines, effects = in_templates(population, n, n_templates, moved, generator(seed, *names))
                    estimand = Estimand(str(names), _names(n), TestSettings(n_resamples=n_resamples), seed)
                    resampling = estimand.resample()
                    words = interval(cosines, resampling, replicate_effects(cosines, resampling))
                    both, _ = measure_templates(effects, list(map(str, range(n_templates))), cosines, estimand)
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
                    resampling = draw_resampling(
                        _names(n), DRAWS, n_resamples=n_resamples, seed=seed, category=str(names)
                    )
                    effects = [cosines.effect() for cosines in both]
                    replicates = [replicate_effects(cosines, resampling) for cosines in both]
                    ends = difference_interval(replicates[0], replicates[1], effects[0], effects[1])
                    assert ends.low is not None
                    assert ends.high is not None
                    tally.add(ends.low, ends.high, truth)
                    found.append(effects[0] - effects[1])
                noise = "skewed" if skewed else "normal"
                print(f"{n:5} {noise:>7} {truth:9.2f} {np.mean(found):12.2f} | {tally}", flush=True)


def print_times(seed: int) -> None:
    """Seconds of one category of 26 target and 50 attribute words, 128 draws."""
    rng = np.random.default_rng(seed)
    values = np.clip(0.3 + 0.1 * rng.standard_normal((128, 26, 50)), -1, 1)
    cosines = CrossedScores(values, np.arange(26), np.arange(50), 13, 13, 25, 25)
    words = _names(13)[:2] + _names(25)[2:]
    replicate_effects(cosines, draw_resampling(words, 128, n_resamples=10, seed=seed, category="first"))
    print("\n13, 13, 25, 25 words, 128 draws, 2000 resamples, 1000 shuffles: seconds")
    for method in INTERVALS:
        start = time.perf_counter()
        resampling = draw_resampling(words, 128, n_resamples=2000, seed=seed, category="time")
        interval(cosines, resampling, replicate_effects(cosines, resampling), method=method)
        interval_done = time.perf_counter()
        leave_one_out(cosines)
        left_out = time.perf_counter()
        shuffled_control(cosines, n_shuffles=1000, rng=seed)
        end = time.perf_counter()
        print(
            f"  {method}: {interval_done - start:.3f} interval + {left_out - interval_done:.3f} leave-one-word-out"
            f" + {end - left_out:.3f} shuffles = {end - start:.3f}"
        )


def _names(n: int) -> list[list[str]]:
    return [[f"{side}{i}" for i in range(n)] for side in SIDES]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few studies, to see that it runs")
    parser.add_argument("--seed", type=int, default=5, help="of everything drawn; 5 in docs/statistics.md")
    parser.add_argument("--studies", type=int, default=500, help="simulated studies a line")
    parser.add_argument("--templates", action="store_true", help="the table of templates alone")
    parser.add_argument("--std", choices=STD_CONVENTIONS, default="union_ddof1", help="denominator, of single effects")
    options = parser.parse_args()
    start = time.perf_counter()
    if options.templates:
        print_templates([8, 25], [4, 8], options.studies, 400, options.seed)
        return
    if options.quick:
        print_templates([8], [4], 4, 50, options.seed)
        print_intervals([8], [0.6], 4, 100, options.seed, options.std)
        print_differences([8], [(0.6, 0.6)], 4, 100, options.seed)
    else:
        print_intervals([8, 13, 25], [0.0, 0.6, 1.5], options.studies, 1000, options.seed, options.std)
        print_differences([8, 13, 25], [(0.6, 0.6), (1.5, 0.6)], options.studies, 1000, options.seed)
    print_times(options.seed)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
