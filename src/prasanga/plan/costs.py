"""What a study will cost at most: texts by model, time and room on the disk, computed from what was measured.

The speeds stand in docs/measured; docs/scaling.md is computed from the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.places import installation
from prasanga.lexicon.model import stimuli_of
from prasanga.plan.study import Study
from prasanga.samples import parse_length

LONGER = 2
"""Words that a context of more than the longest length is taken to have, in multiples of that length."""
_PACKAGED = {"multilingual-e5-small": (384, 12), "smollm2-135m-instruct": (576, 30)}
_WIDTHS, _BLOCKS = ("hidden_size", "n_embd", "d_model"), ("num_hidden_layers", "n_layer", "num_layers", "blocks")


class Shape(NamedTuple):
    """A transformer: width, blocks, and all parameters that are loaded."""

    width: int
    blocks: int
    parameters: float

    def flop(self, pieces: float) -> float:
        """Multiplications and additions of the blocks for a text of so many pieces, as the benchmark counts them."""
        of_a_block = 12 * self.width**2 + 13 * self.width
        return pieces * self.blocks * (2 * of_a_block + 4 * self.width * pieces)


BASE = Shape(768, 12, 110e6)
"""The model that most was measured with."""


class Constants:
    """What was measured, by `file.name`, and what is assumed; `used` are the names that somebody asked for."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read the JSON files of a folder, by default docs/measured."""
        paths = sorted((folder or installation() / "docs/measured").glob("*.json"))
        files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
        self.assumed: dict[str, Any] = files.pop("assumed")
        self.files: dict[str, dict[str, Any]] = files
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> float:
        """Return what was measured."""
        file, _, key = name.partition(".")
        self.used.add(name)
        return float(self.files[file]["constants"][key])

    def get(self, name: str) -> float | None:
        """Return the same; None for what was not measured."""
        file, _, key = name.partition(".")
        return self[name] if key in self.files[file]["constants"] else None

    def guess(self, name: str) -> float:
        """Return an assumption."""
        return float(self.assumed[name]["value"])

    def pieces(self, words: float) -> float:
        """Return the pieces of a segment of so many words: the line through those of 9 and of 75 words."""
        few, many = self["embeddings.pieces_of_9_words"], self["embeddings.pieces_of_75_words"]
        return few + (many - few) / (75 - 9) * (words - 9)

    def core_flops(self, words: float) -> float:
        """Return FLOP/s of one core with a text of so many words; two were measured together."""
        return self[f"embeddings.teraflops_at_{75 if words >= 75 else 25 if words >= 25 else 9}_words"] * 1e12 / 2

    def scored_flops(self) -> float:
        """Return FLOP/s of one core with masked copies of pairs."""
        rate = self["pairs.copies_per_second_of_32000_entries_in_bfloat16"]
        return rate * BASE.flop(self["pairs.pieces_per_copy"]) / 2


class Cost(NamedTuple):
    """What a model is asked for at most, from nothing, without a card.

    Attributes:
        model: name in the config.
        texts: that are run through it for vectors, and once more through its twins, which share them.
        pairs: that it scores, and its twins likewise.
        n_twins: twins with random weights.
        core_seconds: of model and twins; None where width and depth are not known while planning.
        n_bytes: of the vectors of model and twins; None likewise.
    """

    model: str
    texts: int
    pairs: int
    n_twins: int
    core_seconds: float | None
    n_bytes: float | None

    @property
    def seconds_of_twins(self) -> float | None:
        """Core seconds of the twins alone: all of them together cost what their model costs."""
        return None if self.core_seconds is None else self.core_seconds / 2 * (self.n_twins > 0)


def costs_of(study: Study, known: Constants) -> Iterator[Cost]:
    """Yield what each model of a study costs.

    Args:
        study: planned, in its folder.
        known: speeds.
    """
    config = study.config
    per_length = len(stimuli_of(study.chosen)) * config["samples"]["contexts_per_stimulus"]
    lengths = [parse_length(label) for label in study.labels.values()]
    texts = [(length.words * (LONGER if str(length.label).startswith(">") else 1), per_length) for length in lengths]
    texts += [(9, _sentences(study))]  # a template is about as short
    n_pairs = sum(_rows(Path(settings["path"])) for settings in study.sets.values())
    layers = Counter(settings["family"] for settings in study.studied.values())
    scored = {settings["family"] for settings in study.scored.values()}
    for name, settings in config["models"].items():
        of_family = {model for model, each in {**study.studied, **study.scored}.items() if each["family"] == name}
        every = [*study.twins.values(), *study.scored_twins.values()]
        n_twins = max((len(each["random_weights"]) for each in every if each["twin_of"] in of_family), default=0)
        n_texts = sum(n for _, n in texts) if name in layers else 0
        pairs = n_pairs if name in scored else 0
        shape, seconds, n_bytes = _shape(name, settings), None, None
        if shape is not None:
            own = sum(n * shape.flop(known.pieces(words)) / known.core_flops(words) for words, n in texts if n_texts)
            masked = known["pairs.copies_of_sample"] / known["pairs.pairs_of_sample"]
            copies = pairs * (2 if {study.kinds.get(model) for model in of_family} & {"decoder"} else masked)
            own += copies * shape.flop(known["pairs.pieces_per_copy_of_sample"]) / known.scored_flops()
            with_twins = 2 if n_twins else 1
            seconds = with_twins * own
            n_bytes = with_twins * layers[name] * n_texts * shape.width * known["embeddings.bytes_per_value"]
        yield Cost(name, n_texts, pairs, n_twins, seconds, n_bytes)


def _sentences(study: Study) -> int:
    """Return how many sentences of templates there are: of each word those of its class."""
    if not study.template_texts or study.lexicon is None:
        return 0
    by_class = study.template_texts["classes"]
    return sum(len(by_class[study.lexicon.classes[name][0]]) for name in stimuli_of(study.seat_chosen))


def _rows(path: Path) -> int:
    """Return the rows of a file of pairs, about: a cell may have several lines."""
    with path.open("rb") as file:
        return max(sum(1 for _ in file) - 1, 0)


def _shape(name: str, settings: Mapping[str, Any]) -> Shape | None:
    """Return width and depth of a model, by its config.json, its training or its check; None if nothing tells them."""
    if "train" in settings:
        return Shape(settings["train"]["hidden_size"], settings["train"]["layers"], 0)
    if settings.get("package") in _PACKAGED:
        return Shape(*_PACKAGED[settings["package"]], 0)
    for path in (Path(settings.get("path", ""), "config.json"), Path(f"results/models/{name}.json")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            width = next(said[key] for key in _WIDTHS if isinstance(said.get(key), int))
            return Shape(width, next(said[key] for key in _BLOCKS if isinstance(said.get(key), int)), 0)
        except (OSError, ValueError, StopIteration, AttributeError):
            continue
    return None
