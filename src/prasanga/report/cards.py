"""The methods card and the data card of a study: what was measured on what, how, and how far it goes, as Markdown.

What the cards say of numbers comes from the summary (`prasanga.report.summary`), of conventions from
`wording/methods.yaml`, which the page shows as well. No text of the corpus and of no pair is in them. Whatever comes
from a study is escaped as the template writes it, so that no name makes a heading, a link or a tag.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prasanga.base.documents import escape_markdown
from prasanga.base.errors import InputError
from prasanga.base.places import named, said, shareable
from prasanga.base.yaml import load_yaml
from prasanga.pairs.preferences import OVERALL
from prasanga.report import wording
from prasanga.report.grid import METHODS, interval, name_of_language
from prasanga.report.sheet import MISSING, equals_probability, one_decimal, two
from prasanga.report.study import Results, losses_of, without_places

NOT_STATED = "not stated"

OWN_FOLDER = "resources"
OWN_WORDS = "written for this project, Apache-2.0 (resources/README.md), where the file is the project's own"
"""The source of a file in the project's folder of resources. A user may have put other files there."""

LONGEST_LIST = 60
"""Of files at most so many are listed; the rest are counted."""

NAMES = {**METHODS, "structures": "Sentence structures", "pairs": "Sentence pairs"}
"""How a card calls the methods, in its order."""

COUNTS = (
    *("bytes", "lines", "skipped_lines", "documents", "sentences", "cut_sentences", "matched_sentences"),
    *("shorter_matches", "occurrences", "unknown_stimuli"),
)
"""What is known of each part of the corpus, by the names in `results/sentences/*.json`."""

_JOINERS = "\u200c\u200d"
"""No printable signs, but letters of words in Bangla and Hindi."""


class CorpusFile(NamedTuple):
    """A file of the corpus, its digest (xxh3_128) if known, and the names of its parts in `results/sentences`."""

    path: str
    digest: str
    parts: tuple[str, ...]


_Entry: TypeAlias = dict[str, Any]
"""What a template has of a text, a file, a source, a set of words, a set of pairs, or a method."""


def methods_card(
    *, config: Mapping[str, Any], summary: Mapping[str, Any], inputs: Mapping[str, str] | None = None
) -> str:
    """Return the methods card as Markdown.

    Args:
        config: the study's config, defaults filled in.
        summary: `prasanga.report.summary.study_summary`, or what was read from its file.
        inputs: SHA-256 of the results that the card and the page are made from, by path, as far as it is to be told.
    """
    config = shareable(config, config)
    measured = [name for name in NAMES if summary["methods"][name] is not None]
    models = [{"name": name, **settings} for name, settings in (config.get("models") or {}).items()]
    return _render(
        "methods_card.md.j2",
        summary=summary,
        language=name_of_language(summary["language"]),
        methods=[_method(name, summary["methods"][name]) for name in measured],
        not_computed=[
            (NAMES[name], each["n"], each["reason"])
            for name in measured
            for each in summary["methods"][name].get("not_computed", ())
        ],
        findings=[finding["text"] for finding in summary["findings"]],
        trained=_trained(summary),
        choices=choices(config),
        vectors=vector_conventions(models),
        fixed=fixed_choices(measured),
        per_method=[(NAMES[name], _conventions(summary["methods"][name]["conventions"])) for name in measured],
        quantities=[each for each in quantities() if set(each.methods) & set(measured)],
        references=references_of(measured),
        inputs=dict(sorted((inputs or {}).items())),
    )


def data_card(
    *,
    config: Mapping[str, Any],
    summary: Mapping[str, Any],
    results: Results,
    corpus: Sequence[CorpusFile] = (),
    counts: Mapping[str, Mapping[str, int]] | None = None,
) -> str:
    """Return the data card as Markdown.

    Args:
        config: the study's config, defaults filled in.
        summary: as in `methods_card`.
        results: what is there of the results; of pairs and hits only their numbers are read.
        corpus: the files of the corpus, as far as they are known.
        counts: what was read and left out of each part of the corpus, by the part's name.
    """
    counts = counts or {}
    files = [_file(each._replace(path=shareable(each.path, config)), counts) for each in corpus]
    config, results = without_places(config, results)
    listed = files[:LONGEST_LIST]
    return _render(
        "data_card.md.j2",
        summary=summary,
        language=name_of_language(summary["language"]),
        texts=config.get("corpus") or {},
        counts=[name for name in COUNTS if any(file["counts"][name] != MISSING for file in listed)],
        files=listed,
        n_files=len(files),
        corpus=_totals(summary["corpus"]),
        losses=losses_of(results),
        sets=_sets(results.categories),
        sources=_sources(config, summary["sources"]),
        pairs=_pairs(config, summary["sources"], results),
        oddities=[
            (name, kind, n)
            for name, table in results.pair_oddities.items()
            for kind, n in sorted(Counter(table["kind"].to_list()).items())
        ],
        trained=_trained(summary),
    )


def escape(value: object) -> Markup:
    """Return plain text that Markdown shows as it is, in one line, wherever it stands; a dash for none."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup(MISSING)
    shown = "".join(sign if sign.isprintable() or sign.isspace() or sign in _JOINERS else "?" for sign in str(value))
    text = re.sub(r"([&~$!])", r"\\\1", escape_markdown(shown))
    # what begins a line may make a heading, a list or a quotation of it
    return Markup(re.sub(r"^(\d*)((?<=\d)[.)](?=\s|$)|(?<!\d)[#>]|(?<!\d)[-+=](?=[-+=\s]|$))", r"\1\\\2", text))


def _render(template: str, **context: Any) -> str:
    environment = Environment(
        loader=PackageLoader(wording.__name__, ""),
        autoescape=True,
        finalize=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return re.sub(r"\n{3,}", "\n\n", environment.get_template(template).render(**context))


def _trained(summary: Mapping[str, Any]) -> str:
    """Return what is to be known of the models and static vectors that the study trained itself."""
    found = (*summary["models"], *summary["static_vectors"])
    return no_model_of_a_language([each["name"] for each in found if each["trained"]])


def _method(name: str, of_method: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a line on what a method measured and found: models, what, computed, significant, and the farthest."""
    far, found = MISSING, _of_tests(of_method)
    if name == "structures":
        measured = f"{', '.join(of_method['structures'])}; {of_method['n_traits_most']} traits at most"
        computed = f"{of_method['n_traits_scored']:,} of {of_method['n_traits']:,}"
        apart, compared = (of_method[name] for name in ("n_comparisons_apart", "n_comparisons"))
        found = f"{apart} of {compared} comparisons, not corrected" if compared else MISSING
    elif name == "pairs":
        languages = ", ".join(map(name_of_language, of_method["languages"]))
        measured = f"{', '.join(of_method['sets'])}; {languages}; {len(of_method['bias_types'])} bias types"
        computed, row = f"{of_method['n_computed']} of {of_method['n_percentages']}", of_method["farthest"]
        far = of_method["reasons"]["farthest"] if row is None else _percentage(row, of_method["sets"])
    else:
        measured, lengths = ", ".join(of_method["categories"]), of_method["segment_lengths"]
        if lengths:
            measured += f"; {', '.join(lengths)} words; {' and '.join(of_method['sample_modes'])} draws"
        computed, row = f"{of_method['n_computed']} of {of_method['n_estimates']}", of_method["largest"]
        far = MISSING if row is None else _effect(row)
    return NAMES[name], ", ".join(of_method["models"]), measured, computed, found, far


def _effect(row: Mapping[str, Any]) -> str:
    where = [row["category"], row["model"], *([f"{row['segment_length']} words"] if row["segment_length"] else [])]
    between, holm = interval(row["ci_low"], row["ci_high"], two), row["p_association_holm"]
    between = "no interval" if between == MISSING else f"95 % interval {between}"
    corrected = "no p after correction" if holm is None else f"p {equals_probability(holm)} by Holm"
    return f"{two(row['effect_size'])} ({', '.join(where)}; {between}; {corrected})"


def _percentage(row: Mapping[str, Any], sets: Sequence[str]) -> str:
    between = interval(row["exact_low"], row["exact_high"], one_decimal)
    between = "no interval" if between == MISSING else f"exact 95 % interval {between}"
    bias_type = "all pairs" if row["bias_type"] == OVERALL else row["bias_type"]
    where = [bias_type, *([row["set"]] if len(sets) > 1 else []), name_of_language(row["language"]), row["model"]]
    counted = f"{row['n_counted']} pair{'' if row['n_counted'] == 1 else 's'}"
    return f"{row['bias_percentage']:.1f} %, {between} ({', '.join(where)}; {counted})"


def _of_tests(of_method: Mapping[str, Any]) -> str:
    """Return how many of the method's own tests, and how many were corrected together with them."""
    if not of_method.get("n_tested"):
        return MISSING
    family = "" if of_method["n_tests"] is None else f" (Holm over {of_method['n_tests']} tests)"
    return f"{of_method['n_significant_holm']} of {of_method['n_tested']}{family}"


def _conventions(found: Mapping[str, Sequence[Any]] | Sequence[str]) -> list[str]:
    """Return conventions by name with every value that the results have, or the texts that name them."""
    if isinstance(found, Mapping):
        return [f"{name}: {', '.join(map(str, values))}" for name, values in found.items()]
    return list(found)


def _file(file: CorpusFile, counts: Mapping[str, Mapping[str, int]]) -> _Entry:
    """Return a file with the sums over its parts; a dash where nothing is known of one of them."""
    parts = [counts.get(part) for part in file.parts]
    known = [part for part in parts if part is not None]
    whole = bool(parts) and len(known) == len(parts)
    sums = {name: f"{sum(part.get(name, 0) for part in known):,}" if whole else MISSING for name in COUNTS}
    return {"path": said(file.path), "digest": file.digest or "not known", "counts": sums}


def _totals(corpus: Mapping[str, int] | None) -> str:
    """Return what was read of the whole corpus, in words; empty if it is not known."""
    if corpus is None:
        return ""
    parts = f"{corpus['files']:,} part{'' if corpus['files'] == 1 else 's'}"
    return ", ".join([parts, *(f"{corpus[name]:,} {name.replace('_', ' ')}" for name in COUNTS if name in corpus)])


def _sets(categories: Mapping[str, Any]) -> list[tuple[str, str, int, str]]:
    """Return the word sets of all categories, each once: its name, gloss, number of words, and the categories."""
    sets: dict[str, tuple[str, int]] = {}
    users: dict[str, list[str]] = {}
    for category, found in categories.items():
        for each in (*found.get("targets", ()), *found.get("attributes", ())):
            sets.setdefault(each["name"], (str(each.get("gloss") or ""), len(each.get("stimuli", ()))))
            users.setdefault(each["name"], []).append(category)
    return [(name, *about, ", ".join(users[name])) for name, about in sets.items()]


def _sources(config: Mapping[str, Any], digests: Mapping[str, str]) -> list[_Entry]:
    """Return the files of words, endings, templates and traits that the config names and results were made from."""
    asked, seat, lexicon = (config.get(name) or {} for name in ("log_probability", "seat", "lexicon"))
    stimuli = lexicon.get("stimuli") or []
    named = [
        *(("Word sets and categories", path) for path in ([stimuli] if isinstance(stimuli, str) else stimuli)),
        ("Endings of words", lexicon.get("suffix_groups")),
        *([("Sentences of SEAT", seat.get("templates"))] if seat.get("categories") else []),
        *([("Templates of log-probability bias", asked.get("templates"))] if asked.get("categories") else []),
        *([("Sentence structures", asked.get("structures"))] if asked.get("traits") else []),
        *(("Traits", path) for path in asked.get("traits") or ()),
    ]
    return [
        {"what": what, "path": said(str(path)), "source": origin(str(path)), "digests": _under(str(path), digests)}
        for what, path in named
        if path is not None
    ]


def _under(path: str, digests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the digests of a file, or of the files in a folder."""
    file = named(path.rstrip("/"))
    found = [(each, digest) for each, digest in digests.items() if f"{named(each)}/".startswith(f"{file}/")]
    return [(said(each), digest) for each, digest in found]


def origin(path: str) -> str:
    """Return what is known of where a file of words, sentences or pairs comes from."""
    return OWN_WORDS if PurePosixPath(named(path)).parts[:1] == (OWN_FOLDER,) else NOT_STATED


def _pairs(config: Mapping[str, Any], digests: Mapping[str, str], results: Results) -> list[_Entry]:
    return [
        {
            "name": name,
            "path": said(path := str(settings.get("path"))),
            "source": str(settings.get("title") or origin(path)),
            "licence": str(settings.get("licence") or origin(path)),
            "counts": _count_of_pairs(name, results) or "not known",
            "sha256": next((digest for _, digest in _under(path, digests)), "not known"),
        }
        for name, settings in ((config.get("pairs") or {}).get("sets") or {}).items()
    ]


def _count_of_pairs(name: str, results: Results) -> str:
    """Return how many pairs each language of a set has."""
    table = results.pair_statistics
    if table is None or "n_pairs" not in table.columns:
        return ""
    rows = table.filter(set=name, subset=OVERALL, statistic="mean_words", category=OVERALL)
    return ", ".join(f"{name_of_language(row['language'])} {row['n_pairs']:,}" for row in rows.iter_rows(named=True))


def files_of_manifest(path: str | Path) -> list[CorpusFile]:
    """Return the files that `results/corpus.json` knows, where the corpus is not at hand.

    Raises:
        InputError: it is not such a file.
    """
    try:
        entries = json.loads(Path(path).read_text(encoding="utf-8"))["files"]
        return [CorpusFile(name, str(entry["digest"]), ()) for name, entry in sorted(entries.items())]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError(f"{path}: not a list of corpus files. Delete it; the next run reads them again.") from None


def counts_by_name(paths: Iterable[str], counts: Iterable[Mapping[str, int]]) -> dict[str, Mapping[str, int]]:
    """Return what was read of each part, by the part's name: that of its file `results/sentences/<part>.json`."""
    return {PurePosixPath(path).name.removesuffix(".json"): each for path, each in zip(paths, counts, strict=True)}


# --------------------
# The methods in words: every choice of the config and what it means, what numbers say, and whom to cite.


class Choice(NamedTuple):
    """A key of the config, its value as text, and what it means (empty if the value speaks for itself)."""

    key: str
    value: str
    meaning: str


_SHOWN_ELSEWHERE = {"study", "title", "note", "models"}
_NO_NUMBERS = {"construction", "report"}
"""Sections of the config that change no number of the page."""
_NO_CHOICE = {
    *("embeddings.source", "embeddings.buckets", "pairs.buckets", "log_probability.buckets"),
    *("comparison.paper", "comparison.models", "static.vectors"),
}
"""What changes no number of the page, or (static vectors) stands in a table of its own."""


def fixed_choices(measured: Iterable[str]) -> list[str]:
    """Return what is the same in every study, a sentence each, as far as these methods have to do with it."""
    found = set(measured)
    return [each["text"] for each in _wording()["fixed"] if found & set(each["methods"])]


def choices(config: Mapping[str, Any]) -> list[Choice]:
    """Return all keys of a study's config with their values, and in words what is meant."""
    return [Choice(key, _value_text(value), _meaning(key, value)) for key, value in _flatten(config)]


def vector_conventions(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how the models' vectors are made, a sentence for each choice; where models differ, with their names.

    A model is a mapping with `name` and what the config says of it; a choice that it does not state is left out.
    """
    sentences = []
    for key, about in _wording()["vectors"].items():
        named: dict[str, list[str]] = {}
        for model in models:
            if key in model:
                value = _value_text(model[key])
                named.setdefault(about["values"].get(value, value), []).append(str(model["name"]))
        said = [*named] if len(named) == 1 else [f"{value} ({', '.join(names)})" for value, names in named.items()]
        sentences += [f"{about['title']}: {'; '.join(said)}."] if said else []
    return sentences


def describe_model(model: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the name of a model, where it comes from, the size of its vectors if known, and its other settings.

    A model is a mapping with `name`, and `path` (with `revision`, `layer`, `dtype`), `package` or `train` (the
    settings of its training); `dimensions` if the size of its vectors is known.
    """
    training = model.get("train")
    dimensions = model.get("dimensions")
    if training is not None:
        dimensions = dimensions or training.get("hidden_size")
        source, details = "trained in this study, on its corpus", training
    else:
        revision = model.get("revision")
        source = str(model.get("path", "not stated")) + (f" at {revision}" if revision else "")
        if "package" in model:
            source = f"{model['package']}, from a package, which keeps its weights in four bits"
        shown = {"name", "path", "package", "revision", "dimensions"}
        details = {key: value for key, value in model.items() if key not in shown}
    stated = {key.replace("_", " "): value for key, value in details.items() if value not in (None, {})}
    listed = ", ".join(f"{key} {_value_text(value)}" for key, value in stated.items())
    return str(model["name"]), source, "not known" if dimensions is None else str(dimensions), listed


def _flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if (not prefix and key in _SHOWN_ELSEWHERE | _NO_NUMBERS) or f"{prefix}{key}" in _NO_CHOICE:
            continue
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _meaning(key: str, value: Any) -> str:
    meaning: str | Mapping[str, str] = _wording()["meanings"].get(key, "")
    return meaning if isinstance(meaning, str) else meaning.get(str(value), "")


def _value_text(value: Any) -> str:
    """Return parts with commas between them, entries of several parts with semicolons; "none" for nothing."""
    if isinstance(value, Mapping):
        parts = {
            key: f"({_value_text(part)})" if isinstance(part, Mapping) else _value_text(part)
            for key, part in value.items()
        }
        return ", ".join(f"{key}: {part}" for key, part in parts.items()) or "none"
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(part, Mapping) for part in value) else ", "
        return between.join(map(_value_text, value)) or "none"
    return "none" if value is None or value == "" else said(str(value))


class Quantity(NamedTuple):
    """A number that the study reports: the methods that have it, what it says, and what it does not say."""

    name: str
    methods: tuple[str, ...]
    meaning: str
    limit: str


def no_model_of_a_language(trained: Sequence[str]) -> str:
    """Return what is to be known of tiny models that a study trains itself, as a sentence; empty for none."""
    if not trained:
        return ""
    *first, last = trained
    names = f"{', '.join(first)} and {last}" if first else last
    were, models = ("were", "models") if first else ("was", "model")
    return (
        f"{names} {were} trained in this study on its own text: no {models} of a language, and no ground for a"
        " statement about one."
    )


_ARXIV = "https://arxiv.org/abs/"
_DOI = "https://doi.org/"


class Reference(NamedTuple):
    """A publication, the methods that it is to be cited for, and what of it is used."""

    methods: tuple[str, ...]
    authors: str
    year: int
    title: str
    venue: str
    url: str
    used: str

    @property
    def link(self) -> str:
        """Return the address as a reader knows it, arXiv:<number> or doi:<name>; empty where there is none."""
        return self.url.replace(_ARXIV, "arXiv:").replace(_DOI, "doi:")


def references_of(measured: Iterable[str], *, with_papers: bool = False) -> list[Reference]:
    """Return what a study that measured these methods should cite.

    Args:
        measured: names of methods.
        with_papers: whether the two papers, whose tests, tables and figures these are, stand there in any case.
    """
    found, every = set(measured), publications()
    return [each for each in every if found & set(each.methods) or (with_papers and each in every[:2])]


def quantities() -> list[Quantity]:
    """Return the numbers that studies report, with how far each goes."""
    return [Quantity(**each) for each in _wording()["quantities"]]


def publications() -> list[Reference]:
    """Return what whoever publishes numbers made this way should cite."""
    return [Reference(**each) for each in _wording()["references"]]


@functools.cache
def _wording() -> Mapping[str, Any]:
    file = files(wording.__name__) / "methods.yaml"
    texts: dict[str, Any] = load_yaml(file.name, file.read_text(encoding="utf-8"))
    for each in (*texts["fixed"], *texts["quantities"], *texts["references"]):
        of_words = METHODS if "words" in each["methods"] else ()
        each["methods"] = (*of_words, *(name for name in each["methods"] if name != "words"))
    return texts
