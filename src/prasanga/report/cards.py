"""The methods card and the data card of a study: what was measured on what, how, and how far it goes, as Markdown.

Their numbers come from the summary (`prasanga.report.summary`), the meanings of choices from the models of the config,
and what numbers say from `wording/methods.yaml`; the page shows these as well. They have no text of the corpus and of
no pair. The templates escape everything that comes from a study, so that no name makes a heading, a link or a tag.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

import polars as pl
from jinja2 import PackageLoader
from markupsafe import Markup

from prasanga.base.io import escape_markdown, read_rows
from prasanga.base.places import named, said, shareable
from prasanga.base.yaml import load_yaml
from prasanga.config import find_part
from prasanga.pairs.preferences import OVERALL
from prasanga.report import wording
from prasanga.report.findings import tell
from prasanga.report.grid import METHODS, interval, name_of_language
from prasanga.report.sheet import MISSING, TEMPLATES
from prasanga.report.study import Results, losses_of, without_places

NOT_STATED = "not stated"

OWN_FOLDER = "resources"
OWN_WORDS = "written for this project, Apache-2.0 (resources/README.md), where the file is the project's own"
"""The source of a file in the project's folder of resources. A user may have put other files there."""

LONGEST_LIST = 60
"""Of the corpus files so many are listed at most; the others are counted."""

NAMES = {**METHODS, "structures": "Sentence structures", "pairs": "Sentence pairs"}
"""The names of the methods in a card, in its order."""

_JOINERS = "\u200c\u200d"
"""No printable signs, but letters of words in Bangla and Hindi."""


def methods_card(
    *, config: Mapping[str, Any], summary: Mapping[str, Any], inputs: Mapping[str, str] | None = None
) -> str:
    """Return the methods card as Markdown.

    Args:
        config: the study's config, defaults filled in.
        summary: `prasanga.report.summary.study_summary`, or its file as read.
        inputs: SHA-256 of the results that the card and the page are made from, by path.
    """
    config = shareable(config, config)
    measured = {name: summary["methods"][name] for name in NAMES if summary["methods"][name] is not None}
    return _render(
        "methods_card.md.j2",
        summary,
        measured=measured,
        choices=choices(config),
        vectors=vector_conventions(config.get("models") or {}),
        fixed=[each["text"] for each in find_wording("fixed", measured)],
        quantities=find_wording("quantities", measured),
        references=find_wording("publications", measured),
        inputs=dict(sorted((inputs or {}).items())),
    )


def data_card(
    *,
    config: Mapping[str, Any],
    summary: Mapping[str, Any],
    results: Results,
    corpus: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the data card as Markdown.

    Args:
        config: the study's config, defaults filled in.
        summary: as in `methods_card`.
        results: the results that are there; of pairs and hits only their numbers are read.
        corpus: path and digest (xxh3_128) of the files of the corpus, as far as they are known.
    """
    corpus = shareable(list(corpus), config)
    config, results = without_places(config, results)
    sets: dict[str, dict[str, Any]] = {}
    for name, category in results.categories.items():
        for each in (*category.get("targets", ()), *category.get("attributes", ())):
            sets.setdefault(each["name"], {**each, "used_in": []})["used_in"].append(name)
    return _render(
        "data_card.md.j2",
        summary,
        texts=config.get("corpus") or {},
        corpus=[(said(path), digest) for path, digest in corpus[:LONGEST_LIST]],
        n_files=len(corpus),
        losses=losses_of(results),
        sets=list(sets.values()),
        sources=_list_sources(config, summary["sources"]),
        pairs=_list_pairs(config, summary["sources"], results["pair_statistics"]),
        oddities=results["pair_oddities"].group_by("set", "kind").len().sort("set", "kind").rows(),
    )


def escape(value: object) -> Markup:
    """Return plain text that Markdown shows as it is, in one line, wherever it is used; a dash for None."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup(MISSING)
    shown = "".join(sign if sign.isprintable() or sign.isspace() or sign in _JOINERS else "?" for sign in str(value))
    text = re.sub(r"([&~$!])", r"\\\1", escape_markdown(shown))
    # what begins a line may make a heading, a list or a quotation of it
    return Markup(re.sub(r"^(\d*)((?<=\d)[.)](?=\s|$)|(?<!\d)[#>]|(?<!\d)[-+=](?=[-+=\s]|$))", r"\1\\\2", text))


def _render(template: str, summary: Mapping[str, Any], **context: Any) -> str:
    trained = [each["name"] for each in (*summary["models"], *summary["static_vectors"]) if each["trained"]]
    named = {"NAMES": NAMES, "OVERALL": OVERALL, "trained": tell("trained", names=trained), "summary": summary}
    loader = PackageLoader(wording.__name__, "")
    environment = TEMPLATES.overlay(loader=loader, finalize=escape, keep_trailing_newline=True)
    return re.sub(r"\n{3,}", "\n\n", environment.get_template(template, globals=named).render(**context))


TEMPLATES.filters |= {"language": name_of_language, "between": interval}


def _list_sources(config: Mapping[str, Any], digests: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the files of words, endings, templates and traits that the config names and results were made from.

    `sources.tsv` says where the config names them, and the key without which a file is not used.
    """
    found = []
    for what, section, key, needed in map(dict.values, read_rows(files(wording.__name__) / "sources.tsv")):
        paths = (config.get(section) or {}).get(key) or []
        for path in [paths] if isinstance(paths, str) else paths:
            if not needed or config[section].get(needed):
                listed = _list_digests(path, digests)
                found.append({"what": what, "path": said(path), "source": _find_origin(path), "digests": listed})
    return found


def _list_digests(path: str, digests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the digests of a file, or of the files in a folder."""
    file = named(path.rstrip("/"))
    return [(said(each), digest) for each, digest in digests.items() if f"{named(each)}/".startswith(f"{file}/")]


def _find_origin(path: str) -> str:
    """Return the known origin of a file of words, sentences or pairs."""
    return OWN_WORDS if PurePosixPath(named(path)).parts[:1] == (OWN_FOLDER,) else NOT_STATED


def _list_pairs(
    config: Mapping[str, Any], digests: Mapping[str, str], statistics: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the sets of pairs, with how many each language has."""
    counts: dict[str, list[str]] = {}
    rows = statistics.filter(subset=OVERALL, statistic="mean_words", category=OVERALL)
    for name, language, n in rows.select("set", "language", "n_pairs").iter_rows():
        counts.setdefault(name, []).append(f"{name_of_language(language)} {n:,}")
    return [
        {
            "name": name,
            "path": said(path := str(settings.get("path"))),
            "source": str(settings.get("title") or _find_origin(path)),
            "licence": str(settings.get("licence") or _find_origin(path)),
            "counts": ", ".join(counts.get(name, ())) or "not known",
            "sha256": next((digest for _, digest in _list_digests(path, digests)), "not known"),
        }
        for name, settings in ((config.get("pairs") or {}).get("sets") or {}).items()
    ]


# --------------------
# The methods in words: every choice of the config and what it means, what numbers say, and whom to cite.


_SHOWN_ELSEWHERE = {"study", "title", "note", "models"}
_NO_NUMBERS = {"construction", "report"}
"""Sections of the config that change no number of the page."""
_NO_CHOICE = {
    *("embeddings.source", "embeddings.buckets", "pairs.buckets", "log_probability.buckets"),
    *("comparison.paper", "comparison.models", "static.vectors"),
}
"""Keys that change no number of the page, or (static vectors) have a table of their own."""


def choices(config: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return all keys of a study's config with their values and their meanings in the reference of the config."""
    return [
        (key, _value_text(value), " ".join(find_part(tuple(key.split("."))).get("description", "").split()))
        for key, value in _flatten(config)
    ]


def vector_conventions(models: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return how the vectors of models are made, a sentence for each choice; where models differ, with their names.

    A choice that the config of a model does not state is left out.
    """
    sentences = []
    for key, about in _wording()["vectors"].items():
        named: dict[str, list[str]] = {}
        for name, settings in models.items():
            if key in settings:
                value = _value_text(settings[key])
                named.setdefault(about["values"].get(value, value), []).append(name)
        said = [*named] if len(named) == 1 else [f"{value} ({', '.join(names)})" for value, names in named.items()]
        sentences += [f"{about['title']}: {'; '.join(said)}."] if said else []
    return sentences


def _flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if (not prefix and key in _SHOWN_ELSEWHERE | _NO_NUMBERS) or f"{prefix}{key}" in _NO_CHOICE:
            continue
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


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


def find_wording(kind: str, measured: Iterable[str]) -> list[dict[str, Any]]:
    """Return the entries of a kind that are about any of these methods.

    Args:
        kind: `fixed`, conventions of every study: text; `quantities`, the numbers that studies report: name,
            meaning, and limit; `publications`: authors, year, title, venue, url, link and used.
        measured: names of methods.
    """
    found = set(measured)
    return [each for each in _wording()[kind] if found & each["methods"]]


def list_references(measured: Iterable[str]) -> list[dict[str, Any]]:
    """Return the publications of these methods, and the two papers, whose tests, tables and figures these are."""
    found = find_wording("publications", measured)
    return [each for n, each in enumerate(_wording()["publications"]) if n < 2 or each in found]


@functools.cache
def _wording() -> Mapping[str, Any]:
    file = files(wording.__name__) / "methods.yaml"
    texts: dict[str, Any] = load_yaml(file.name, file.read_text(encoding="utf-8"))
    rows = read_rows(files(wording.__name__) / "references.tsv")
    texts["publications"] = [{**row, "methods": row["methods"].split()} for row in rows]
    for each in (*texts["fixed"], *texts["quantities"], *texts["publications"]):
        # `words` is every method of word associations
        each["methods"] = {*each["methods"], *(METHODS if "words" in each["methods"] else ())}
    return texts
