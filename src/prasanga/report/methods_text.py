"""The methods in words: every choice of the config and what it means, what numbers say, and whom to cite.

The sentences stand in `wording/methods.yaml`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from prasanga.base.places import said
from prasanga.base.yaml import load_yaml
from prasanga.report import wording
from prasanga.report.grid import METHODS


class Choice(NamedTuple):
    """A key of the config, its value as text, and what it means (empty if the value speaks for itself)."""

    key: str
    value: str
    meaning: str


class Model(NamedTuple):
    """A model: its name, where it comes from, and the size of its vectors if known."""

    name: str
    source: str
    details: str
    dimensions: str


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
    return [each["text"] for each in _texts()["fixed"] if found & set(each["methods"])]


def choices(config: Mapping[str, Any]) -> list[Choice]:
    """Return all keys of a study's config with their values, and in words what is meant."""
    return [Choice(key, _value_text(value), _meaning(key, value)) for key, value in _flatten(config)]


def vector_conventions(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how the models' vectors are made, a sentence for each choice; where models differ, with their names.

    A model is a mapping with `name` and what the config says of it; a choice that it does not state is left out.
    """
    sentences = []
    for key, about in _texts()["vectors"].items():
        named: dict[str, list[str]] = {}
        for model in models:
            if key in model:
                value = _value_text(model[key])
                named.setdefault(about["values"].get(value, value), []).append(str(model["name"]))
        said = [*named] if len(named) == 1 else [f"{value} ({', '.join(names)})" for value, names in named.items()]
        sentences += [f"{about['title']}: {'; '.join(said)}."] if said else []
    return sentences


def describe_models(models: Sequence[Mapping[str, Any]]) -> list[Model]:
    """Return one row for each model.

    A model is a mapping with `name`, and `path` (with `revision`, `layer`, `dtype`), `package` or `train` (the
    settings of its training); `dimensions` if the size of its vectors is known.
    """
    return [_model(model) for model in models]


def _model(model: Mapping[str, Any]) -> Model:
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
    return Model(str(model["name"]), source, listed, "not known" if dimensions is None else str(dimensions))


def _flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if (not prefix and key in _SHOWN_ELSEWHERE | _NO_NUMBERS) or f"{prefix}{key}" in _NO_CHOICE:
            continue
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _meaning(key: str, value: Any) -> str:
    meaning: str | Mapping[str, str] = _texts()["meanings"].get(key, "")
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
    return [Quantity(**each) for each in _texts()["quantities"]]


def publications() -> list[Reference]:
    """Return what whoever publishes numbers made this way should cite."""
    return [Reference(**each) for each in _texts()["references"]]


@functools.cache
def _texts() -> Mapping[str, Any]:
    file = files(wording.__name__) / "methods.yaml"
    texts: dict[str, Any] = load_yaml(file.name, file.read_text(encoding="utf-8"))
    for each in (*texts["fixed"], *texts["quantities"], *texts["references"]):
        of_words = METHODS if "words" in each["methods"] else ()
        each["methods"] = (*of_words, *(name for name in each["methods"] if name != "words"))
    return texts
