"""How many contexts a twin needs: `python tests/benchmarks/twins.py [--twins K] [--texts FILE ...] [--json FILE]`.

Prints Markdown: how much the effect of twins with random weights (the architecture of multilingual-e5-small) differs
with the weights, and how much with the contexts that a twin has read, by their number: of C6 in the demo's text, up to
8 contexts; or, of large `--texts`, up to 256 contexts of their 32 most frequent words of three letters or more, dealt
by rank into four sets, since few words of a category are so frequent. Minutes on two cores; the package of the model is
fetched if it is not there.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import regex
from measured import write_measured

from prasanga.associations import ceat
from prasanga.base.seeds import generator
from prasanga.embeddings import load_encoder
from prasanga.lexicon import load_lexicon
from prasanga.models import ModelOptions
from prasanga.models.packaged import write_packaged_model
from prasanga.samples import Segment, cut
from prasanga.sentences import Matcher
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
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="large texts, one document a line")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    arguments = parser.parse_args()
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


if __name__ == "__main__":
    main()
