"""How many contexts a twin needs: `python tests/benchmarks/twins.py [--twins K] [--json FILE]`.

Prints Markdown: how much the effect of twins with random weights (the architecture of multilingual-e5-small) differs
with the weights, and how much with the contexts of the demo's text that a twin has read, by their number. Minutes on
two cores; the package of the model is fetched if it is not there.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from measured import write_measured

from prasanga.associations import ceat
from prasanga.embeddings import load_encoder
from prasanga.lexicon import load_lexicon
from prasanga.models import ModelOptions
from prasanga.models.packaged import write_packaged_model
from prasanga.samples import Segment, cut
from prasanga.sentences import Matcher
from prasanga.text import normalize

PROJECT = Path(__file__).parents[2]
LENGTH, MOST = 9, 16
CONTEXTS = (1, 2, 4, 8, 16)
CATEGORIES = ("C6",)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--twins", type=int, default=5)
    parser.add_argument("--json", type=Path, help="file for the numbers")
    arguments = parser.parse_args()
    lexicon = load_lexicon(PROJECT / "resources/stimuli/bn", PROJECT / "resources/suffix_groups/bn.yaml")
    sets = {
        name: [list(side.stimuli) for side in (*lexicon.categories[name].targets, *lexicon.categories[name].attributes)]
        for name in CATEGORIES
    }
    contexts = contexts_of({word for sides in sets.values() for words in sides for word in words}, Matcher(lexicon))
    with TemporaryDirectory(prefix="prasanga-twins-") as folder:
        write_packaged_model("multilingual-e5-small", Path(folder))
        effects = [effects_of(Path(folder), seed, contexts, sets) for seed in range(arguments.twins)]
    rows = table({name: np.array([of_twin[name] for of_twin in effects]) for name in CATEGORIES})
    print(f"{arguments.twins} twins, {len(contexts)} words, segments of {LENGTH} words.\n")
    print("| contexts a word | sd with the contexts | sd with the weights | interval wider by |")
    print("| --- | --- | --- | --- |")
    for n, row in rows.items():
        print(f"| {n} | {row['contexts']:.3f} | {row['weights']:.3f} | {row['wider']:.1%} |")
    if arguments.json:
        write_measured(arguments.json, {"twins": arguments.twins, "contexts": rows}, constants={})


def contexts_of(words: set[str], matcher: Any) -> dict[str, list[Segment]]:
    """The first `MOST` segments of each word in the demo's text."""
    found: dict[str, list[Segment]] = {word: [] for word in sorted(words)}
    for file in sorted((PROJECT / "resources/demo/corpus/bn").glob("*.txt")):
        for document in file.read_text(encoding="utf-8").split("\n\n"):
            text = normalize(" ".join(document.split()))
            for hit in matcher.find(text):
                if len(found.get(hit.stimulus, range(MOST))) < MOST:
                    segment = cut(text, hit.start, hit.end, LENGTH)
                    found[hit.stimulus] += [segment] if segment else []
    return found


def effects_of(
    folder: Path, seed: int, contexts: dict[str, list[Segment]], sets: dict[str, list[list[str]]]
) -> dict[str, dict[int, list[float]]]:
    """The effects of one twin by category and number of contexts, one for each share of all contexts."""
    encoder = load_encoder(folder, device="cpu", threads=os.cpu_count(), options=ModelOptions(random_weights=seed))
    flat = [segment for of_word in contexts.values() for segment in of_word]
    vectors = encoder.embed([each.text for each in flat], [(each.start, each.end) for each in flat])
    places = np.cumsum([0, *(len(of_word) for of_word in contexts.values())])
    of_word = {word: vectors[places[i] : places[i + 1]] for i, word in enumerate(contexts)}
    return {
        name: {
            n: [
                ceat(
                    {word: of_word[word][first : first + n] for words in sides for word in words},
                    (sides[0], sides[1]),
                    (sides[2], sides[3]),
                    n_samples=256 if n > 1 else 1,
                    rng=first,
                ).combined.effect
                for first in range(0, MOST, n)
            ]
            for n in CONTEXTS
        }
        for name, sides in sets.items()
    }


def table(effects: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Standard deviations by number of contexts, over shares and over twins: roots of mean variances of categories."""
    whole = np.mean([np.var([twin[MOST][0] for twin in twins], ddof=1) for twins in effects.values()])
    rows = {}
    for n in CONTEXTS[:-1]:
        within = np.mean([np.var(twin[n], ddof=1) for twins in effects.values() for twin in twins])
        rows[str(n)] = {
            "contexts": round(float(within**0.5), 4),
            "weights": round(float(whole**0.5), 4),
            "wider": round(float((1 + within / whole) ** 0.5 - 1), 4),
        }
    return rows


if __name__ == "__main__":
    main()
