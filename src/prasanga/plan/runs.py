"""Answer the rules' questions about a run: its targets, the resources of its jobs, its config, and its results."""

from __future__ import annotations

import json
import math
import re
import sys
from argparse import Namespace
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import starmap
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from prasanga.base.errors import InputError
from prasanga.base.io import write_text
from prasanga.base.logs import said_of_failure
from prasanga.base.places import NAMED, SUMMARY, named
from prasanga.base.results import fingerprints, read_record
from prasanga.config import complete, read_config
from prasanga.embeddings.shards import shard_paths
from prasanga.lexicon.model import stimuli_of
from prasanga.methods import FAMILY
from prasanga.plan import StudyPlan, recall
from prasanga.plan.models import estimate_memory
from prasanga.stats.permutation import ALPHA, find_detectable_shift

if TYPE_CHECKING:
    from prasanga.plan.jobs import Files, Settings

_KEPT = Path("results/config.yaml")
"""The complete config that the results were made with."""
_BEGUN = "# A run with this config, all defaults in it, began here."
_MIXED = "# A run with this config, all defaults in it, began here on results of another config."
_FINISHED = "# All results were made with this config, all defaults in it."
_NOTES_ON_PAGE = tuple(b64encode(path).decode() for path in (b"results/report/", b"results/summary.js"))
_DRAW = (
    " To draw tables, figures and page from these results, type `prasanga figures`: nothing else is needed or computed."
)
_WITH_VECTORS = re.compile(r"results/([a-z]{2,3}(-\w+)*/)?(samples|embeddings|likelihoods)/")


def asks_only_for(target: str, arguments: Sequence[str], targets: Callable[[], Collection[str]]) -> bool:
    """Return whether a run is only for a target, or for files in the report's folder of that name.

    Args:
        target: `figures`.
        arguments: on Snakemake's command line.
        targets: gives the targets among them; its parser is slow to make, and called only if necessary.
    """
    mentioned = any(target in argument for argument in arguments)
    drawn = re.compile(rf"{target}$|results/([\w-]+/)?report/{target}/")
    return mentioned and all(map(drawn.match, targets()))


def vectors_at_hand(config: Mapping[str, Any], results: str) -> bool:
    """Return whether the study uses cached vectors, and has some."""
    return config["embeddings"]["source"] == "cached" and any(Path(results, "embeddings").glob("*/*.json"))


def name_in(names: Iterable[str]) -> str:
    """Return a pattern of exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


class Machine(NamedTuple):
    """The resources of jobs that run a model: functions of a job's wildcards."""

    threads: Callable[[Any], int]
    resources: dict[str, Callable[..., int]]


def machine_for(models: Mapping[str, Mapping[str, Any]], cores: int, *, on_cpu: bool) -> Machine:
    """Return the resources of jobs that run one of these models.

    Args:
        models: the settings of each.
        cores: of a job without a GPU; a job with a GPU has two.
        on_cpu: whether no job gets a GPU.
    """

    def gpus(wildcards: Any) -> int:
        return int(models[wildcards.model]["cards"])

    def cards(wildcards: Any) -> int:
        return 0 if on_cpu else gpus(wildcards)

    def megabytes(wildcards: Any, attempt: int) -> int:
        return attempt * estimate_memory(models[wildcards.model])

    resources: dict[str, Callable[..., int]] = {"gpu": gpus, "cards": cards, "mem_mb": megabytes}
    return Machine(lambda wildcards: 2 if cards(wildcards) else max(1, cores), resources)


def keep_vectors(outputs: Iterable[str]) -> bool:
    """Return whether jobs with these outputs, or later jobs, store vectors or scores."""
    return any(map(_WITH_VECTORS.match, outputs))


# ---- the config that results were made with


_DRAWN_ONLY = re.compile(
    r"(languages\.[\w-]+\.)?((study|title|note|report|comparison|construction"
    r"|corpus\.(root|shard_megabytes)|embeddings\.(source|audit|buckets|shard_size)"
    r"|(pairs|log_probability)\.buckets|lexicon\.(candidates|top)|sentences\.concordance|models\..+\.(cards|kind))(\.|$)|languages$)"
)
"""Keys that figures may change: they change no number, or only the source of numbers."""


def begin_config(config: Mapping[str, Any]) -> None:
    """Note at the start of a run its complete config."""
    head, before = _read_kept()
    _keep(_MIXED if head == _MIXED or (before and _name_differing(before, config)) else _BEGUN, config)


def finish_config() -> None:
    """Note at the end of a run that all results have its config."""
    if config := _read_kept()[1]:
        _keep(_FINISHED, config)


def require_config_of_results(config: Mapping[str, Any]) -> None:
    """Refuse to draw results under a config that did not make them; `_DRAWN_ONLY` keys may differ.

    Raises:
        InputError: with the differences, and what to do.
    """
    head, made = _read_kept()
    if head == _MIXED:
        raise InputError(
            f"results/ may mix two configs: a run with a changed config did not end ({_KEPT}). Run it first."
        )
    if differing := _name_differing(made, config):
        raise InputError(
            f"results/ was made with another config: {differing}. To draw them with that config, type `prasanga"
            f" figures`, or `snakemake figures --configfile {_KEPT}`. For results of this config, run it."
        )


def list_unnoticed_changes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for results without Snakemake's notes, because a run does not notice changes."""
    if _came_alone():
        differing = _name_differing(_read_kept()[1], config)
        made = f"results/ was made with another config: {differing}. " if differing else ""
        yield (
            f"{made}results/ came without the folder .snakemake of its run. So a run compares only times of files: it"
            " makes missing or older files, and does not notice changes of config or code. It uses stored vectors and"
            f" scores again.{_DRAW} To make everything again, type `prasanga run -- --forceall`."
        )


def _came_alone() -> bool:
    """Return whether there are results without Snakemake's notes, except on the page."""
    names = (note.name for note in Path(".snakemake/metadata").glob("*"))
    return (SUMMARY.is_file() or _KEPT.is_file()) and all(name.startswith(_NOTES_ON_PAGE) for name in names)


def _read_kept() -> tuple[str, dict[str, Any]]:
    """Return the first line of the config with the results, and the config; both may be empty."""
    return (_KEPT.read_text(encoding="utf-8").partition("\n")[0], read_config(_KEPT)) if _KEPT.is_file() else ("", {})


def _keep(head: str, config: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(dict(config), allow_unicode=True, sort_keys=False, width=120)
    write_text(_KEPT, f"{head}\n{text}")


def _name_differing(made: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return the settings for numbers that differ, with both values; may be empty."""
    # results of an earlier version lack its newer keys, whose defaults are what it did
    there, here = _select_deciding(complete(made) if made else made), _select_deciding(config)
    keys = [key for key in there | here if there.get(key) != here.get(key)] if made else []
    shown = [f"{key} ({_shorten(there.get(key))} there, {_shorten(here.get(key))} here)" for key in keys[:3]]
    return ", ".join(shown) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")


def _select_deciding(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that change numbers, by path; the names of models, pairs and vectors come first."""
    named = {"models": config, "pairs.sets": config.get("pairs", {}), "static.vectors": config.get("static", {})}
    names = {key: sorted(section.get(key.rpartition(".")[2], ())) for key, section in named.items()}
    return names | {name: value for name, value in _list_leaves(config) if not _DRAWN_ONLY.match(name)}


def _list_leaves(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings below others by their paths, such as `samples.pool`."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _list_leaves(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _shorten(value: Any) -> str:
    text = "nothing" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def require_results(files: Files) -> None:
    """Refuse to draw figures without results.

    Raises:
        InputError: with the first missing results, and what to do.
    """
    if not files.results:
        raise InputError(
            "`figures` needs results, and this study has no"
            f" {' or '.join(list(files.finished().values())[:3]) or 'method in the config'}. Run the study, or bring"
            " the folder results/ of a finished run. With only cached vectors, write `embeddings: {source: cached}`."
        )


# ---- inputs, checked before a job runs


def require_inputs(study: StudyPlan, settings: Settings) -> None:
    """Refuse a study with unusable texts, models or pairs.

    A plan checks the first record of up to `MOST_SAMPLED` files of texts, the files of models with the names of their
    weights, the beginnings of files of vectors, and all pairs.

    Raises:
        InputError: all mistakes.
    """
    # here, because few plans need them
    from prasanga.models import ModelOptions, check_files
    from prasanga.sentences import find_faults
    from prasanga.static import find_format

    faults = find_faults(study.texts.sampled_files(), study.config["corpus"]["errors"])
    looks: list[Callable[[], object]] = []
    for name, model in study.config["models"].items():
        if not model.get("path"):  # a job makes it
            continue
        asked = settings.check(name)
        which = {"stages": asked["stages"], "sentence_vector": asked["sentence_vector"]}
        looks.append(partial(check_files, asked["model"], options=ModelOptions(**asked["options"]), **which))
    for name, path in study.vectors.items():
        looks.append(partial(find_format, path, study.config["static"]["vectors"][name]["format"]))
    for look in looks:
        try:
            look()
        except InputError as error:
            faults.append(str(error))
    for pairs in _look_into_pairs(study):
        faults += pairs["faults"]
    if faults:
        several = [f"{len(faults)} inputs cannot be used.", *(f"- {fault}" for fault in faults)]
        raise InputError("\n".join(several if len(faults) > 1 else faults))


def _look_into_pairs(study: StudyPlan) -> Iterator[dict[str, Any]]:
    """Yield the number of pairs and the mistakes of each set."""
    for pairs in study.sets.values():
        given = [pairs["path"], pairs["languages"], pairs["layout"], study.config["language"]]
        yield recall(_read_pairs, given, given[:1])


def _read_pairs(path: str, languages: Sequence[str] | None, layout: str, spoken: str) -> dict[str, Any]:
    from prasanga.pairs import read_pair_file

    try:
        return {"faults": [], "n_pairs": read_pair_file(path, languages, layout=layout, spoken=spoken).pairs.height}
    except InputError as error:
        return {"faults": [str(error)], "n_pairs": 0}


# ---- cached vectors and scores


def require_cached(files: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to begin if cached vectors or scores are missing, or do not fit the config.

    Args:
        files: lists of vectors and tables of scores, each with its settings in the config. A setting that the file or
            the config lacks, and `auto`, are not compared.

    Raises:
        InputError: the first misfit, their number, and what to do.
    """
    problems = list(filter(None, starmap(_find_misfit, files.items())))
    if problems:
        more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
        raise InputError(
            f"embeddings.source is 'cached', but vectors or scores are missing or do not fit: {problems[0]}{more} Copy"
            " the right ones under results/embeddings and results/likelihoods, or let the models compute them: write"
            " `embeddings: {source: computed}`."
        )


def _find_misfit(path: str, asked: Mapping[str, Any]) -> str:
    """Return the problem with a cached file as a sentence; empty if it fits."""
    try:
        if path.endswith(".json"):
            shard_paths(path)
        record = read_record(Path(path))
    except InputError as error:
        return str(error)
    recorded = dict(_list_leaves({**record.get("settings", {}), **json.loads(record.get("sampling", "{}"))}))
    for key, value in _list_leaves(asked):
        there, said = _write_setting(recorded.get(key, value)), _write_setting(value)
        if said not in (there, '"auto"'):
            return f"{path} was made with {key} {there}, but the config says {said}."
    return ""


def _write_setting(value: Any) -> str:
    """Return a setting as text; shipped files have their names in the config."""
    return NAMED.sub(lambda path: named(path[0]), json.dumps(value, ensure_ascii=False))


# ---- the most that models read


_PACKAGED_WIDTHS = {"multilingual-e5-small": 384, "smollm2-135m-instruct": 576}
_WIDTHS = ("hidden_size", "n_embd", "d_model")
_BYTES_PER_VALUE = 2


_WITHOUT_CONTEXTS = re.compile(
    r"results/([a-z]{2,3}(-\w+)*/)?((associations/|report/comparison_)(seat|weat)\b|(likelihoods|pairs)/)"
)
"""Targets that need no context of a corpus."""


def count_texts(study: StudyPlan, targets: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence per model: the most texts and pairs that it and its random copies read, and megabytes.

    Args:
        study: planned, in its folder.
        targets: of the run; none for the whole study.
    """
    config, words = study.config, study.words
    most = config["samples"]["contexts_per_stimulus"]
    reads_contexts = not targets or not all(map(_WITHOUT_CONTEXTS.match, targets))
    n_contexts = len(words.stimuli) * most * len(study.labels) * reads_contexts
    by_class = words.template_texts.get("classes", {})  # each word has the sentences of its class
    n_sentences = sum(len(by_class[words.lexicon.classes[name][0]]) for name in stimuli_of(words.chosen["seat"]))
    n_pairs = sum(pairs["n_pairs"] for pairs in _look_into_pairs(study))
    for family, settings in config["models"].items():
        n_layers = sum(each["family"] == family for each in study.embedded.models.values())
        is_scored = family in study.scored.models
        n_copies = settings.get("random_twins", config["associations"]["random_twins"]) if n_layers or is_scored else 0
        share = min(
            1, n_copies * config["associations"]["contexts_per_twin"] / most
        )  # of the contexts that the model reads
        n_texts = round(n_contexts * (1 + share)) + n_sentences * (1 + (n_copies > 0)) if n_layers else 0
        said = f"Model {family}: at most {n_texts:,} texts and {n_pairs * is_scored * (1 + n_copies):,} pairs"
        said += f", with its {n_copies} random copies" if n_copies else ""
        if width := n_layers and _find_width(family, settings, study.results):
            said += f"; {n_texts * n_layers * width * _BYTES_PER_VALUE / 1e6:,.0f} MB of vectors"
        yield f"{said}."


def _find_width(name: str, settings: Mapping[str, Any], results: str) -> int:
    """Return the width of a model's vectors; 0 if only the check of the model will know it."""
    if "train" in settings:
        return int(settings["train"]["hidden_size"])
    if settings.get("package") in _PACKAGED_WIDTHS:
        return _PACKAGED_WIDTHS[settings["package"]]
    for path in (Path(settings.get("path", ""), "config.json"), Path(results, f"models/{name}.json")):
        with suppress(OSError, ValueError, AttributeError):  # the check of the model reports a broken file
            known = json.loads(path.read_text(encoding="utf-8"))
            return next((int(known[key]) for key in _WIDTHS if isinstance(known.get(key), int)), 0)
    return 0


# ---- the value of more words and contexts

_WORDS, _CONTEXTS = (8, 13, 25, 50), (4, 24, 100, 1200)


def tabulate_shifts(study: StudyPlan) -> Iterator[str]:
    """Yield the lines of a table of the shift that more words or contexts would find, from CEAT's variance components.

    It needs results in this folder. Components are of single words, so categories with pairs or clusters are left out.
    """
    path = Path(study.results, "associations/ceat.parquet")
    if not path.exists():
        return
    import polars as pl  # here, because it takes long to import, and few plans need it

    from prasanga.schema import read_table

    dependent = {
        name
        for name, category in study.words.chosen["ceat"].items()
        if "matched" in category or any("clusters" in of for of in (*category["targets"], *category["attributes"]))
    }
    rows: list[dict[str, Any]] = []
    with suppress(InputError):  # results of an earlier version
        tested = read_table(path).filter(pl.col("n_tests").is_not_null() & pl.col("variance_words").is_not_null())
        rows = [row for row in tested.rows(named=True) if row["category"] not in dependent]
    if not rows:
        return
    yield f"CEAT: the shift that 80% of studies find, by words per set and contexts per word (median of {len(rows)}"
    yield "estimates; in standard deviations of word scores; without the comparison with random copies):"
    yield "words" + "".join(f"{n:>8,}" for n in _CONTEXTS)
    alternative = study.config["associations"]["alternative"]
    for n in _WORDS:
        shifts = [
            [find_detectable_shift(row, n, m, alternative=alternative, alpha=ALPHA / row["n_tests"]) for row in rows]
            for m in _CONTEXTS
        ]
        known = [[shift for shift in each if shift is not None] for each in shifts]
        yield f"{n:>5}" + "".join(f"{median(each):>8.2f}" if each else f"{'none':>8}" for each in known)


# ---- the smallest p of pairs


def name_unreachable(study: StudyPlan) -> Iterator[str]:
    """Yield a sentence for matched categories with too few pairs for a finding among the study's tests.

    n pairs can be exchanged in 2^n ways, so their smallest two-sided p is 2 / 2^n. Holm's method (1979) multiplies it
    by the number of tests whose p is not smaller, so other findings may make it small enough.

    Args:
        study: planned, in its folder.
    """
    alternative = study.config["associations"]["alternative"]
    tests = [
        (name, _smallest_p(category, alternative))
        for method in FAMILY
        for _ in study.find_measured(method)[0]
        for name, category in study.words.chosen[method.name].items()
        if not category["targets"][0].get("as_published")  # not a test of a finding
    ]
    for least in sorted({p for _, p in tests if p * len(tests) > ALPHA}, reverse=True):
        names = sorted({name for name, p in tests if p == least})
        n_first = len(tests) - int(ALPHA / least)
        can_be = sum(p < least for _, p in tests) >= n_first
        after = f"these can be found only after {n_first} other{'s' * (n_first > 1)}" if can_be else "none can be found"
        n_pairs, said = round((alternative == "two-sided") - math.log2(least)), f"{least:.2g}".removeprefix("0")
        pairs = f"with {n_pairs} matched pairs, p is at least {said}"
        yield f"{', '.join(names)}: {pairs}. With {len(tests)} tests, {after}."


def _smallest_p(category: Mapping[str, Any], alternative: str) -> float:
    """Return the smallest p that the pairs of a category allow, the larger of both sides; 0 without pairs."""
    matched = category.get("matched")
    sides = [category[role][0] for role in ("targets", "attributes") if matched in (role, "both")]
    units = (len({side.get("clusters", {}).get(word, (word,)) for word in side["stimuli"]}) for side in sides)
    return max((2.0 ** ((alternative == "two-sided") - n) for n in units), default=0)


# --------------------
# The rules' use of Snakemake objects: messages, targets, checkpoints, fingerprints.


def call_readably(
    error: type[Exception], is_main: bool, language: str, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Call a function; any error ends the run with a sentence, before a job runs with exit status 2.

    Args:
        error: the exception that Snakemake reports as a message, for the jobs of a run.
        is_main: whether this is the run itself, not a job.
        language: of the plan, in a study of several languages; else "".
        function: to call with `arguments`.
        arguments: of the function.
    """
    try:
        return function(*arguments)
    except Exception as failure:
        sentence = str(failure) if isinstance(failure, InputError) else said_of_failure(failure, "logs/planning.log")
        sentence = f"{language}: {sentence}" if language else sentence
        if not is_main:
            raise error(sentence) from None
    print(sentence + (_DRAW if _came_alone() else ""), file=sys.stderr)
    sys.exit(2)


@cache
def read_arguments(make_parser: Callable[[], Any]) -> Any:
    """Return Snakemake's arguments, by its parser, because the rules are read before Snakemake provides them.

    Args:
        make_parser: makes the parser, which takes time.
    """
    try:
        return make_parser().parse_known_args(sys.argv[1:])[0]
    except SystemExit:  # it was not started from its own command line
        return Namespace(targets=None, dryrun=False)


class Checkpoints:
    """Inputs that are known once a checkpoint is done."""

    def __init__(self, checkpoints: Any, incomplete: type[Exception]) -> None:
        """Take Snakemake's checkpoints, and its exception for an unfinished one."""
        self._checkpoints = checkpoints

        @cache
        def undrawn(_: int) -> Exception | None:
            try:
                checkpoints.draw_samples.get()
            except incomplete as error:
                return error
            return None

        # Snakemake searches all lengths and buckets for the answer, which depends on the known outputs of checkpoints.
        # Their number only grows, so it is a sufficient key.
        self._undrawn = undrawn

    def once_drawn(self, path: str) -> str:
        """Return a path once samples are drawn; until then, ask Snakemake to come back."""
        if error := self._undrawn(len(self._checkpoints.created_output)):
            raise error.with_traceback(None)
        return path

    def wait_for_check(self, models: Mapping[str, Mapping[str, Any]]) -> Callable[[Any], str]:
        """Return an input function that waits for the check of a job's model, and returns its report.

        Args:
            models: settings by the name of the model.
        """
        checked = self._checkpoints.check_model
        return lambda wildcards: str(checked.get(family=models[wildcards.model]["family"]).output[0])

    def wait_for_audit(self, _: Any) -> str:
        """Wait for the audit of all tokenizers; an audit that runs again embeds nothing again."""
        return str(self._checkpoints.audit_tokenizers.get().output.counts)


def attach_fingerprints(workflow: Any, installation: Path) -> None:
    """Give each rule the fingerprint of its script's code as a parameter, unless it has a version constant.

    Scripts of a workflow that includes this one are ignored.
    """
    scripts = {}
    for rule in workflow.rules:
        script = Path(rule.basedir.get_path_or_uri(secret_free=True), str(rule.script)) if rule.script else None
        if script and script.is_relative_to(installation) and "version" not in dict(rule.params.items()):
            scripts[rule] = script.resolve()
    found = fingerprints(scripts.values())
    for rule, script in scripts.items():
        rule.set_params(f"{script.name} {found[script]}")
