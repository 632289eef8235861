"""What the rules ask about a run: what was asked for, what its jobs need and cost, where they write, what came out."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from prasanga.base.errors import InputError
from prasanga.base.logs import EVENTS
from prasanga.base.parquet import write_text
from prasanga.base.places import installation
from prasanga.config import read_config
from prasanga.lexicon.model import stimuli_of
from prasanga.methods import MOST_OF_A_TWIN
from prasanga.plan.study import StudyPlan
from prasanga.samples import parse_length

if TYPE_CHECKING:
    from prasanga.plan.files import Files

_KEPT = Path("results/config.yaml")
"""The complete config that the results were made with."""
_BEGUN = "# A run with this config, all defaults in it, began here."
_MIXED = "# A run with this config, all defaults in it, began here on results of another config."
_FINISHED = "# All results were made with this config, all defaults in it."
PAGE = Path("results/report/index.html")
_SUMMARY = Path("results/summary.json")
_WITH_VECTORS = tuple(f"results/{stage}/" for stage in ("samples", "embeddings", "likelihoods"))


def asks_only_for(target: str, arguments: Sequence[str], targets: Callable[[], Collection[str]]) -> bool:
    """Return whether a run is for a target, or files in the report's folder of that name, and for nothing else.

    Args:
        target: `figures`.
        arguments: on Snakemake's command line.
        targets: those among them; the parser that knows them is slow to make, and asked only if it may matter.
    """
    if not any(target in argument for argument in arguments):
        return False
    return all(name == target or name.startswith(f"results/report/{target}/") for name in targets())


def vectors_at_hand(config: Mapping[str, Any]) -> bool:
    """Return whether statistics are to be made from cached vectors, and there are any."""
    return config["embeddings"]["source"] == "cached" and any(Path("results/embeddings").glob("*/*.json"))


def name_in(names: Iterable[str]) -> str:
    """Return a pattern of these names and no other."""
    return "|".join(map(re.escape, names)) or "(?!)"


def machine_for(
    study: StudyPlan,
    models: Mapping[str, Mapping[str, Any]],
    buckets: Callable[[Any], Sequence[Any]] = lambda _: (),
) -> dict[str, Callable[..., int]]:
    """Return what jobs ask of a machine or a cluster that run one of `models`, which has the settings of each.

    A job that only puts `buckets` together asks for no card.
    """

    def cards(wildcards: Any) -> int:
        return 0 if buckets(wildcards) else int(models[wildcards.model]["cards"])

    def megabytes(wildcards: Any, attempt: int) -> int:
        return attempt * study.memory(models[wildcards.model]["family"])

    return {"gpu": cards, "cards": cards, "mem_mb": megabytes}


def cores_beside(cards: int, models: int = 1, cores: int | None = None) -> int:
    """Return the cores of a job that runs a model.

    Args:
        cards: GPUs of the job; beside them two cores are enough.
        models: number of models, between whose jobs the cores of this machine are divided; may be 0.
        cores: cores that Snakemake may use; None on a cluster, where a job has one.
    """
    return 2 if cards else max(1, (cores or 1) // max(1, models))


def keep_vectors(outputs: Iterable[str]) -> bool:
    """Return whether vectors or scores are kept of what jobs with these outputs do, or of what others do after them."""
    return any(output.startswith(_WITH_VECTORS) for output in outputs)


def require_writable(outputs: Iterable[str]) -> None:
    """Refuse to start jobs where they could not write; Snakemake, which removes old results first, would only crash.

    Raises:
        InputError: naming the folder.
    """
    paths = {Path(output).parent for output in outputs}
    for folder in sorted({next(each for each in (path, *path.parents) if each.is_dir()) for path in paths}):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(
                f"{folder}: you may not write there, and jobs write results there. Let yourself write"
                f" (`chmod u+rwx {shlex.quote(str(folder))}`), or have it made yours, and run again; no job that"
                " is done runs again."
            )


class LastWords:
    """What came out of a run, in three lines, if it made summary or page; the command says it itself."""

    def __init__(self) -> None:
        """Remember what is there before."""
        self._before = self._times()

    def say(self) -> None:
        """Print them; that it cannot be said is no failure."""
        try:
            if EVENTS in os.environ or self._times() == self._before:
                return
        except OSError:  # a folder that can no longer be read
            return
        from prasanga.report.summary import print_last_words  # polars and the page's libraries: not while planning

        print_last_words(_SUMMARY, PAGE)

    @staticmethod
    def _times() -> list[int | None]:
        return [path.stat().st_mtime_ns if path.exists() else None for path in (_SUMMARY, PAGE)]


def begin_config(config: Mapping[str, Any]) -> None:
    """Note at the start of a run the complete config that it makes results with."""
    head, before = _read_kept()
    is_mixed = head == _MIXED or (before is not None and bool(_differing(before, config)))
    _keep(_MIXED if is_mixed else _BEGUN, config)


def finish_config() -> None:
    """Note at the end of a run that it has made all results with its config."""
    _, config = _read_kept()
    if config is not None:
        _keep(_FINISHED, config)


def require_config_of_results(config: Mapping[str, Any]) -> None:
    """Refuse to draw results under a config that did not make them.

    What changes nothing but the drawing (titles, `report`, `comparison`) may differ.

    Raises:
        InputError: with what differs, and what to do.
    """
    head, made = _read_kept()
    if made is None:  # results of an older version
        return
    if head == _MIXED:
        raise InputError(
            f"results/ may have tables of two configs: a run with another config than before began and did not end"
            f" ({_KEPT}). Run the study to its end first."
        )
    if named := _name_differing(made, config):
        raise InputError(
            f"results/ was made with another config than this one: {named}. To draw the results as they were"
            f" made: `prasanga figures`, or `snakemake figures --configfile {_KEPT}`. To have results of this config,"
            " run it first, best in a folder of its own."
        )


def unnoticed_changes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence if results were made with another config and Snakemake, without its notes, cannot notice it."""
    _, made = _read_kept()
    notes = Path(".snakemake/metadata")
    if made is not None and not (notes.is_dir() and any(notes.iterdir())) and (named := _name_differing(made, config)):
        yield (
            f"results/ was made with another config than this one: {named}. Without the folder .snakemake of that run,"
            " Snakemake does not notice it. Write `--forceall` once; vectors and scores in the stores are used again."
        )


def _name_differing(made: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return which settings differ, with both values; "" if none does."""
    differ = _differing(made, config)
    shown = [f"{key} ({_short(there)} there, {_short(here)} here)" for key, (there, here) in differ.items()]
    return ", ".join(shown[:3]) + (f" and {len(differ) - 3} more" if len(differ) > 3 else "")


def _read_kept() -> tuple[str, dict[str, Any] | None]:
    """Return the first line of the config that is kept with the results, and the config; None where none is kept."""
    if not _KEPT.is_file():
        return "", None
    return _KEPT.read_text(encoding="utf-8").partition("\n")[0], read_config(_KEPT)


def _keep(head: str, config: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(dict(config), allow_unicode=True, sort_keys=False, width=120)
    write_text(_KEPT, f"{head}\n{text}")


def _differing(there: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings that decide about numbers and differ, each with both values."""
    made, asked = dict(_deciding(there)), dict(_deciding(here))
    both = {key: (made.get(key), asked.get(key)) for key in dict.fromkeys([*made, *asked])}
    return {key: values for key, values in both.items() if values[0] != values[1]}


def _deciding(config: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a config that decide about numbers; of models and sets their names first."""
    for key, value in config.items():
        name = f"{before}{key}"
        if name in _DRAWN_ONLY or (before.startswith("models.") and key in ("cards", "kind")):
            continue
        if name in ("models", "pairs.sets", "static.vectors"):
            yield name, ", ".join(sorted(value))
        if isinstance(value, Mapping):
            yield from _deciding(value, f"{name}.")
        else:
            yield name, value


def _short(value: Any) -> str:
    text = "nothing" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_DRAWN_ONLY = {
    *("study", "title", "note", "languages", "outside", "report", "comparison", "construction"),
    *("corpus.root", "corpus.shard_megabytes", "embeddings.source", "embeddings.audit"),
    *("embeddings.buckets", "embeddings.shard_size"),
    *("pairs.buckets", "log_probability.buckets"),
    *("lexicon.candidates", "lexicon.top", "sentences.concordance"),
}
"""What may be another in figures than in the results: it changes no number, or only where numbers come from."""


def require_results(files: Files) -> None:
    """Refuse to draw figures where there is nothing to draw from.

    Raises:
        InputError: with the first results that are missing, and what to do.
    """
    if not files.results:
        raise InputError(
            "`snakemake figures` draws from results that are there, and there are none of this study: no"
            f" {' or '.join(list(files.finished().values())[:3]) or 'method in the config'}. Run `snakemake` first, or"
            " bring the folder results/ of a finished run here. With cached vectors alone write `embeddings: {source:"
            " cached}`."
        )


# --------------------
# What a study will cost at most: texts by model, time and room on the disk, computed from what was measured.
#
# The speeds stand in docs/measured; docs/performance.md is computed from the same.


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
        paths = sorted((folder or _measured()).glob("*.json"))
        files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
        self.assumed: dict[str, Any] = files.pop("assumed")
        self.files: dict[str, dict[str, Any]] = files
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> float:
        """Return what was measured."""
        file, _, key = name.partition(".")
        self.used.add(name)
        return float(self.files[file]["constants"][key])

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


def _measured() -> Path:
    return installation() / "docs/measured"


class Cost(NamedTuple):
    """What a model is asked for at most, from nothing, without a card.

    Attributes:
        model: name in the config.
        texts: that are run through it for vectors.
        pairs: that it scores.
        n_twins: twins with random weights, which share sentences and pairs; of contexts each has a few.
        core_seconds: of model and twins; None where width and depth are not known while planning.
        seconds_of_twins: those of all twins together; None likewise.
        n_bytes: of the vectors of model and twins; None likewise.
    """

    model: str
    texts: int
    pairs: int
    n_twins: int
    core_seconds: float | None
    seconds_of_twins: float | None
    n_bytes: float | None


def tell_costs(study: StudyPlan) -> bool:
    """Tell the command that began this run, if one did, what the study costs: it need not read the study again.

    Returns:
        Whether a command listens.
    """
    if EVENTS not in os.environ:
        return False
    if study.computed and _measured().is_dir():  # which a copy of the code without its docs has not
        known = Constants()
        costs = [cost._asdict() for cost in costs_of(study, known)]
        event = {"event": "costs", "machine": known.files["embeddings"]["machine"], "costs": costs}
        os.write(int(os.environ[EVENTS]), f"{json.dumps(event)}\n".encode())
    return True


def costs_of(study: StudyPlan, known: Constants) -> Iterator[Cost]:
    """Yield what each model of a study costs.

    Args:
        study: planned, in its folder.
        known: speeds.
    """
    config = study.config
    of_a_word = config["samples"]["contexts_per_stimulus"]
    per_length = len(stimuli_of(study.words.chosen)) * of_a_word
    lengths = [parse_length(label) for label in study.labels.values()]
    texts = [(length.words * (LONGER if str(length.label).startswith(">") else 1), per_length) for length in lengths]
    n_contexts, n_sentences = per_length * len(texts), _sentences(study)
    n_pairs = sum(_rows(Path(settings["path"])) for settings in study.sets.values())
    layers = Counter(settings["family"] for settings in study.models.studied.values())
    scored = {settings["family"] for settings in study.models.scored.values()}
    for name, settings in config["models"].items():
        of_family = {
            model for model, each in {**study.models.studied, **study.models.scored}.items() if each["family"] == name
        }
        every = [*study.models.twins.values(), *study.models.scored_twins.values()]
        n_twins = max((len(each["random_weights"]) for each in every if each["twin_of"] in of_family), default=0)
        n_texts = n_contexts + n_sentences if name in layers else 0
        pairs = n_pairs if name in scored else 0
        shape, seconds, of_twins, n_bytes = _shape(name, settings), None, None, None
        if shape is not None:
            few = min(1, n_twins * MOST_OF_A_TWIN / of_a_word)
            contexts, [sentences] = (
                [n * shape.flop(known.pieces(words)) / known.core_flops(words) * (n_texts > 0) for words, n in each]
                for each in (texts, [(9, n_sentences)])  # a template is about as short
            )
            masked = known["pairs.copies_of_sample"] / known["pairs.pairs_of_sample"]
            copies = pairs * (2 if {study.models.kinds.get(model) for model in of_family} & {"decoder"} else masked)
            sentences += copies * shape.flop(known["pairs.pieces_per_copy_of_sample"]) / known.scored_flops()
            of_twins = few * sum(contexts) + (n_twins > 0) * sentences
            seconds = sum(contexts) + sentences + of_twins
            n_vectors = ((1 + few) * n_contexts + (1 + (n_twins > 0)) * n_sentences) * (n_texts > 0)
            n_bytes = layers[name] * n_vectors * shape.width * known["embeddings.bytes_per_value"]
        yield Cost(name, n_texts, pairs, n_twins, seconds, of_twins, n_bytes)


def _sentences(study: StudyPlan) -> int:
    """Return how many sentences of templates there are: of each word those of its class."""
    if not study.words.template_texts or study.words.lexicon is None:
        return 0
    by_class = study.words.template_texts["classes"]
    return sum(len(by_class[study.words.lexicon.classes[name][0]]) for name in stimuli_of(study.words.seat_chosen))


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
