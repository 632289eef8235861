"""What twins tell: `python tests/benchmarks/twins.py [--studies N | --twins K] [--texts FILE ...] [--json FILE]`.

With `--studies`, prints how often simulated models differ from their twins at .05 (docs/simulations.md), with the
twins' deviation of each effect alone, with moderated ones, and with all moderated, whatever their own: of 12
categories, of 4 categories at 4 lengths, and of sentence pairs of bias types of 25 to 500 pairs. Half an hour with
1,000 studies.

Otherwise prints how many contexts a twin needs: how much the effect of twins with random weights (the architecture of
multilingual-e5-small) differs with the weights, and how much with the contexts that a twin has read, by their number:
of C6 in the demo's text, up to 8 contexts; or, of large `--texts`, up to 256 contexts of their 32 most frequent words
of three letters or more, dealt by rank into four sets, since few words of a category are so frequent. Minutes on two
cores; the package of the model is fetched if it is not there.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import regex
from measured import write_measured

from prasanga.associations import ceat
from prasanga.base.seeds import generator
from prasanga.embeddings import load_encoder
from prasanga.lexicon import load_lexicon
from prasanga.likelihoods.bias import LabelCounts, balance
from prasanga.models import ModelOptions
from prasanga.models.packaged import write_packaged_model
from prasanga.samples import Segment, cut
from prasanga.sentences import Matcher
from prasanga.stats import intervals
from prasanga.stats.effects import Z_95
from prasanga.stats.intervals import BesideTwins, compare_with_twins
from prasanga.text import WORD, normalize

LETTER = regex.compile(r"\p{L}")
PROJECT = Path(__file__).parents[2]
LENGTH, MOST, MOST_OF_TEXTS, WORDS = 9, 16, 512, 32
CATEGORY = "C6"
Sets = list[list[str]]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--twins", type=int, default=5)
    parser.add_argument("--studies", type=int, default=0, help="simulated studies in each row")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="large texts, one document a line")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    arguments = parser.parse_args()
    if arguments.studies:
        rows_of_studies = simulate_studies(arguments.studies)
        if arguments.json:
            write_measured(arguments.json, {"studies": arguments.studies, "rows": rows_of_studies}, constants={})
        return
    if arguments.texts:
        most, contexts, sets = MOST_OF_TEXTS, *frequent_words(arguments.texts)
    else:
        most, contexts, sets = MOST, *words_of_demo()
    with TemporaryDirectory(prefix="prasanga-twins-") as folder:
        write_packaged_model("multilingual-e5-small", Path(folder))
        rows = table([effects_of(Path(folder), seed, contexts, sets, most) for seed in range(arguments.twins)], most)
    print(f"{arguments.twins} twins, {len(contexts)} words, segments of {LENGTH} words.\n")
    print("| contexts a word | sd with the contexts | sd with the weights | interval wider by |")
    print("| --- | --- | --- | --- |")
    for n, row in rows.items():
        print(f"| {n} | {row['contexts']:.3f} | {row['weights']:.3f} | {row['wider']:.1%} |")
    if arguments.json:
        write_measured(arguments.json, {"twins": arguments.twins, "contexts": rows}, constants={})


def words_of_demo() -> tuple[dict[str, list[Segment]], Sets]:
    """The first `MOST` segments of each word of the category in the demo's text, and its four sets."""
    lexicon = load_lexicon(PROJECT / "resources/stimuli/bn", PROJECT / "resources/suffix_groups/bn.yaml")
    category, matcher = lexicon.categories[CATEGORY], Matcher(lexicon)
    sets = [list(side.stimuli) for side in (*category.targets, *category.attributes)]
    found: dict[str, list[Segment]] = {word: [] for word in sorted({word for words in sets for word in words})}
    for file in sorted((PROJECT / "resources/demo/corpus/bn").glob("*.txt")):
        for document in file.read_text(encoding="utf-8").split("\n\n"):
            text = normalize(" ".join(document.split()))
            for hit in matcher.find(text):
                if len(found.get(hit.stimulus, range(MOST))) < MOST:
                    segment = cut(text, hit.start, hit.end, LENGTH)
                    found[hit.stimulus] += [segment] if segment else []
    return found, sets


def frequent_words(files: Sequence[Path]) -> tuple[dict[str, list[Segment]], Sets]:
    """Segments of the most frequent words, drawn at random, no text twice; and the words in four sets."""
    texts = [normalize(line.strip()) for file in files for line in file.open(encoding="utf-8")]
    counts = Counter(word for text in texts for word in WORD.findall(text) if len(LETTER.findall(word)) > 2)
    found: dict[str, dict[str, Segment]] = {word: {} for word, _ in counts.most_common(WORDS)}
    for text in texts:
        for hit in WORD.finditer(text):
            if hit[0] in found and (segment := cut(text, *hit.span(), LENGTH)):
                found[hit[0]].setdefault(segment.text, segment)
    rng = generator(47, "frequent words")
    drawn = {
        word: [list(each.values())[i] for i in rng.permutation(len(each))[:MOST_OF_TEXTS]]
        for word, each in found.items()
    }
    assert all(len(each) == MOST_OF_TEXTS for each in drawn.values())
    words = list(drawn)
    return drawn, [words[side::4] for side in range(4)]


def effects_of(
    folder: Path, seed: int, contexts: dict[str, list[Segment]], sets: Sets, most: int
) -> dict[int, list[float]]:
    """The effects of one twin by number of contexts, one for each share of all contexts."""
    encoder = load_encoder(folder, device="cpu", threads=os.cpu_count(), options=ModelOptions(random_weights=seed))
    flat = [segment for of_word in contexts.values() for segment in of_word]
    vectors = encoder.embed([each.text for each in flat], [(each.start, each.end) for each in flat])
    places = np.cumsum([0, *(len(of_word) for of_word in contexts.values())])
    of_word = {word: vectors[places[i] : places[i + 1]] for i, word in enumerate(contexts)}
    return {
        n: [
            ceat(
                {word: of_word[word][first : first + n] for words in sets for word in words},
                (sets[0], sets[1]),
                (sets[2], sets[3]),
                n_samples=5000 if n > 1 else 1,
                rng=first,
            ).combined.effect
            for first in range(0, most, n)
        ]
        for n in (2**power for power in range(int(np.log2(most)) + 1))
    }


def table(effects: Sequence[dict[int, list[float]]], most: int) -> dict[str, dict[str, float]]:
    """Standard deviations by number of contexts, over shares of a twin (root of the mean variance) and over twins."""
    whole = np.var([twin[most][0] for twin in effects], ddof=1)
    rows = {}
    for n in [n for n in effects[0] if n < most]:
        within = np.mean([np.var(twin[n], ddof=1) for twin in effects])
        rows[str(n)] = {
            "contexts": round(float(within**0.5), 4),
            "weights": round(float(whole**0.5), 4),
            "wider": round(float((1 + within / whole) ** 0.5 - 1), 4),
        }
    return rows


# --------------------
# Simulated studies of models and twins.

SPREADS = ("equal", "varying", "one twice as large", "one three times as large")
"""How deviations of 12 categories differ: not at all, as in an inverse chi-square of 4 degrees of freedom, or one."""
OF_WEIGHTS, OF_WORDS = 0.25, 0.25  # standard deviations of d over weights, and over words
VARIANTS = ("alone", "all moderated", "moderated")
_TRUTHS = {"one more copy": 0.0, "other words": 0.0, "d + .5": 0.5, "d + .8": 0.8}
Cells = list[BesideTwins]


def simulate_studies(studies: int) -> list[dict[str, str | int | float]]:
    """Print the tables, and return their rows: the share of tests with p_twins of at most .05."""
    columns = ("cells", "spreads", "K", "deviations", *_TRUTHS, "one more copy, there")
    print(f"{studies:,} studies a row.\n\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")
    rows: list[dict[str, str | int | float]] = []
    designs = [("12 categories", spread) for spread in SPREADS] + [("4 categories, 4 lengths", "equal"), PAIRS]
    for (cells, spread), k, variant in product(designs, (4, 8), VARIANTS):
        row: dict[str, str | int | float] = {"cells": cells, "spreads": spread, "K": k, "deviations": variant}
        for truth in _TRUTHS:
            rng = generator(4040, "twins", cells, spread, k, truth)
            drawn = [draw_cells(cells, spread, k, truth, rng) for _ in range(studies)]
            rejected = np.array([find_different(each, variant) for each in drawn])
            row[truth] = round(float(rejected.mean()), 3)
            if truth == "one more copy":
                row["one more copy, there"] = round(float(rejected[:, 0].mean()), 3)
        rows.append(row)
        print(
            "| "
            + " | ".join(f"{row[name]:.3f}" if name in (*_TRUTHS, columns[-1]) else str(row[name]) for name in columns)
            + " |"
        )
    return rows


def find_different(cells: Cells, variant: str) -> list[bool]:
    """Whether p_twins of each cell is at most .05."""
    with patch.object(intervals, "_WIDE", -1.0 if variant == "all moderated" else intervals._WIDE):
        groups = [[cell] for cell in cells] if variant == "alone" else [cells]
        found = [row["p_twins"] for group in groups for row in compare_with_twins(group)]
    return [p is not None and p <= 0.05 for p in found]


def draw_cells(cells: str, spread: str, k: int, truth: str, rng: np.random.Generator) -> Cells:
    """The cells of one study; the model is one more copy, or has other words, or an effect besides."""
    if (cells, spread) == PAIRS:
        return draw_pairs(k, truth, rng)
    n_groups, n_lengths = (4, 4) if "lengths" in cells else (12, 1)
    shared = 0.8 if n_lengths > 1 else 0.0  # correlation of a category's effects at two lengths

    def draw(n: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        both = rng.normal(size=(n, n_groups, n_lengths)) * (1 - shared) ** 0.5
        both += rng.normal(size=(n, n_groups, 1)) * shared**0.5
        return both.reshape(n, -1)

    deviations = np.full(n_groups, OF_WEIGHTS)
    if spread == "varying":
        deviations *= (4 / rng.chisquare(4, n_groups)) ** 0.5
    elif spread != "equal":
        deviations[0] *= 2 if "twice" in spread else 3
    of_weights = np.repeat(deviations, n_lengths)
    twins = of_weights * draw(k)
    effects = (of_weights if truth == "one more copy" else OF_WORDS) * draw(1)[0] + _TRUTHS[truth]
    return [
        BesideTwins(
            float(effect), float(effect) - Z_95 * OF_WORDS, float(effect) + Z_95 * OF_WORDS, each.tolist(), str(n)
        )
        for effect, each, n in zip(effects, twins.T, np.repeat(np.arange(n_groups), n_lengths), strict=True)
    ]


PAIRS = ("sentence pairs", "by the number of pairs")
OF_TYPES = (500, 200, 100, 50, 25)


def draw_pairs(k: int, truth: str, rng: np.random.Generator) -> Cells:
    """Bias types and all pairs, a fifth of them antistereo; copies toss a coin that prefers a type's first sentences.

    The model is one more copy; with other words, one that tosses a fair coin, and the copies' mean is what it is; with
    an effect, it prefers the stereotype by 5 or 8 points.
    """
    more = _TRUTHS[truth] / 10

    def count(of_stereotype: float) -> list[LabelCounts]:
        first = (
            rng.normal(0.5, 0.1, len(OF_TYPES)).clip(0.1, 0.9)
            if truth != "other words"
            else np.full(len(OF_TYPES), 0.5)
        )
        sizes = [(4 * n // 5, n // 5) for n in OF_TYPES]
        return [
            LabelCounts(int(rng.binomial(s, p + of_stereotype)), s, int(rng.binomial(a, p - of_stereotype)), a)
            for (s, a), p in zip(sizes, first, strict=True)
        ]

    model, twins, cells = count(more), [count(0.0) for _ in range(k)], []
    for place in (*range(len(OF_TYPES)), slice(None)):
        own, *others = (balance([each[place]] if isinstance(place, int) else each[place]) for each in (model, *twins))
        assert own.low is not None
        assert own.high is not None
        group = str(place if isinstance(place, int) else 0)
        of_twins = [each.percentage or 0.0 for each in others]
        cells.append(BesideTwins(own.percentage, own.low, own.high, of_twins, group, 100, own.high - own.low))
    return cells


if __name__ == "__main__":
    main()
