"""Several studies beside each other, from their summaries alone: one table, ranks with their intervals, a page.

What may be compared stands in one block: the same method, category, words or pairs, language, segment length, sample
mode and conventions. Nothing is ranked across blocks, and nothing is added up to one score.

Ranks are of the distance from no bias (0 for effects, 50 for percentages), 1 the farthest. Their intervals come from a
parametric bootstrap (as Goldstein and Spiegelhalter 1996 do for league tables): each estimate is drawn anew from a
normal distribution around it, whose spread below and above is that of its 95 % interval, and all are ranked again. The
estimates of a block are drawn independently. Where they share their words, the truth is surer than these intervals.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jsonschema import Draft202012Validator

from prasanga.base.documents import guarded_text
from prasanga.base.errors import InputError, reason
from prasanga.base.places import installation
from prasanga.base.seeds import generator
from prasanga.methods import FAMILY, METHODS, PAIRS, method_named
from prasanga.report.grid import ALPHA, interval, name_of_language, name_of_type, natural_order
from prasanga.report.section import ENGLISH, Section, View, conventions_note, page_to_html, prose, with_code
from prasanga.report.sheet import (
    MARK,
    MISSING,
    Cell,
    Row,
    Sheet,
    html,
    numbers,
    one_decimal,
    probability,
    show_value,
    tabulate,
    with_sign,
    write_csv,
)
from prasanga.report.summary import SCHEMA
from prasanga.stats.permutation import holm

SEED, N_RESAMPLES = 0, 10_000
"""Of the intervals of ranks; the seed is named, for each estimate, by what it is of."""

AMOUNTS = ("n_resamples", "n_shuffles", "n_permutations", "n_samples", "seed", "band")
"""Conventions that say how often something is drawn: with others a number is more or less sure, and is the same."""

OF_MODELS = ("sentence_vector", "kind", "method", "vectors")
"""Conventions that go by the model: models that differ in them are compared all the same, and it is told."""

_NORMAL = 1.96
_PLACE = "results/summary.json"
_LAYOUT = "workflow/schemas/summary.schema.json"


# --------------------
# Summaries, which somebody may have sent.


class Study(NamedTuple):
    """A study: what it is called here, the digest of its summary, and the summary."""

    label: str
    digest: str
    summary: Mapping[str, Any]


def read_studies(paths: Sequence[str | Path]) -> list[Study]:
    """Read the summaries of studies.

    Args:
        paths: folders of studies, or summary files; at least one.

    Raises:
        InputError: as `read_summary`; a folder without a summary, one that is named twice.
    """
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for path in map(str, paths):
        file = _file_of(Path(path))
        summary = read_summary(file)
        digest = hashlib.sha256(json.dumps(summary, sort_keys=True).encode()).hexdigest()
        if digest in found:
            raise InputError(f"{file}: the same summary as that of {found[digest][0]}. Name each study once.")
        found[digest] = path, summary
    names = [str(summary["study"]) for _, summary in found.values()]
    return [
        Study(name if names.count(name) == 1 else f"{name} ({path})", digest, summary)
        for name, (digest, (path, summary)) in zip(names, found.items(), strict=True)
    ]


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    for file in (path / _PLACE, path / Path(_PLACE).name):
        if file.is_file():
            return file
    raise InputError(
        f"{path}: no {_PLACE} there. `prasanga run` makes it, and `prasanga figures` from results that are there; or"
        " name the file itself."
    )


def read_summary(file: Path) -> dict[str, Any]:
    """Read a summary, which somebody may have sent.

    Raises:
        InputError: one that cannot be read, is damaged or none, or was made by a later or an earlier version.
    """
    try:
        text = file.read_bytes()
        summary: dict[str, Any] = json.loads(text, parse_constant=_number, parse_float=_number, parse_int=_number)
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read ({error.strerror}). Name a study's folder, or its summary.json."
        ) from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        said = "it is no summary" if isinstance(error, RecursionError) else reason(error)
        raise InputError(f"{file}: damaged, or no summary of a study ({said}). Have it sent or made again.") from None
    program = summary.get("program") if isinstance(summary, dict) else None
    if not isinstance(program, dict) or program.get("name") != "prasanga":
        raise InputError(f"{file}: no summary of a study. Name a study's folder, or its summary.json.")
    layout, version = summary.get("schema"), program.get("version")
    if layout == 1:  # it has one key more, a fingerprint of the code
        summary = {**summary, "schema": SCHEMA}
    elif layout != SCHEMA:
        later = isinstance(layout, int) and layout > SCHEMA
        what = "Install that version" if later else "Make it again with this one: `prasanga figures`"
        raise InputError(f"{file}: layout {layout!r} of prasanga {version}; this version reads {SCHEMA}. {what}.")
    if "words" not in summary:
        raise InputError(
            f"{file}: made by an earlier prasanga ({version}), without the single estimates that are compared. Make it"
            " again with this one: `prasanga figures` in its folder."
        )
    schema = _open_ended(json.loads((installation() / _LAYOUT).read_text(encoding="utf-8")))
    problem = next(Draft202012Validator(schema).iter_errors(summary), None)
    if problem is not None:
        place = ".".join(map(str, problem.absolute_path)) or "the whole"
        raise InputError(f"{file}: damaged at `{place}` ({problem.message:.200}). Have it sent or made again.")
    return summary


def _number(text: str) -> int | float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return int(text) if text.lstrip("-").isdigit() else value


def _open_ended(schema: Any) -> Any:
    """Return a schema that passes over keys which it does not know, as those of later versions."""
    if isinstance(schema, dict):
        return {
            key: _open_ended(part) for key, part in schema.items() if (key, part) != ("additionalProperties", False)
        }
    return [_open_ended(part) for part in schema] if isinstance(schema, list) else schema


# --------------------
# Numbers: what may be compared, and who is how far from no bias.


@dataclass
class Number:
    """An estimate or a percentage of a study, with what it may be compared by, and what comes out of comparing it.

    Attributes:
        study: what the study is called here.
        model, method, language, category, category_title, set, segment_length, sample_mode: where it belongs; empty
            where it has none.
        value: effect size, or percentage; None where there is none, with the reason in `note`.
        ci_low, ci_high: 95 % interval.
        p: of the association, or of the difference from 50; `p_holm_of_study` is corrected over the tests of its study.
        twin: the mean of the same numbers of the model's twins with random weights.
        few_words: words used of words listed, where they are few.
        conventions: by name.
        material: digest of words, or of the file of pairs; empty where it is not known.
        seed: names of its draws.
        p_holm: p corrected over all tests that are compared.
        block: number of the block of what it may be compared with.
        rank, rank_low, rank_high, n_ranked: its rank in the block, the 95 % interval, and of how many.
    """

    study: str
    model: str
    method: str
    language: str
    category: str
    category_title: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_holm_of_study: float | None
    twin: float | None
    conventions: Mapping[str, Any]
    material: str
    note: str
    seed: tuple[str, ...]
    set: str = ""
    segment_length: str = ""
    sample_mode: str = ""
    few_words: str = ""
    p_holm: float | None = None
    block: int = 0
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    n_ranked: int = 0

    @property
    def distance(self) -> float:
        """How far it is from no bias; there is a value."""
        assert self.value is not None
        return abs(self.value - _without_bias(self.method))

    @property
    def deciding(self) -> tuple[tuple[str, str], ...]:
        """The conventions without which it is another number."""
        aside = (*AMOUNTS, *OF_MODELS)
        return tuple(sorted((name, str(value)) for name, value in self.conventions.items() if name not in aside))

    @property
    def test(self) -> tuple[str, ...]:
        """The test that its p is of: that of both sample modes."""
        where = (self.study, self.method, self.model, self.set)
        return (*where, self.language, self.category, self.segment_length)

    @property
    def has_interval(self) -> bool:
        """Whether it can be ranked."""
        return None not in (self.value, self.ci_low, self.ci_high)


def compared(studies: Sequence[Study]) -> list[Number]:
    """Return every number of these studies, block by block, the farthest from no bias first, ranked and corrected."""
    found = [number for study in studies for number in _numbers_of(study)]
    order = {method.name: place for place, method in enumerate(METHODS)}

    def block(number: Number) -> tuple[Any, ...]:
        place = (order[number.method], natural_order(number.category), number.language)
        length = (natural_order(number.segment_length.lstrip(">")), number.segment_length.startswith(">"))
        return (*place, length, number.sample_mode, number.material or number.study, number.deciding)

    found.sort(key=lambda n: (block(n), n.value is None, -n.distance if n.value is not None else 0, n.study, n.model))
    for place, (_, members) in enumerate(groupby(found, key=block), start=1):
        together = list(members)
        for number in together:
            number.block = place
        _rank([number for number in together if number.has_interval])
    for family in ([method.name for method in FAMILY], [PAIRS.name]):
        _correct([number for number in found if number.method in family])
    return found


def _without_bias(method: str) -> float:
    return 50.0 if method == PAIRS.name else 0.0


def _numbers_of(study: Study) -> Iterator[Number]:
    summary = study.summary
    methods, words = summary["methods"], summary["words"]
    templates = sorted(digest for path, digest in summary["sources"].items() if "/templates/" in path)
    for method in (each.name for each in FAMILY if methods[each.name] is not None):
        common = {name: values[0] for name, values in methods[method]["conventions"].items() if len(values) == 1}
        for row in methods[method]["estimates"]:
            material = words.get(row["category"], "")
            if material and method in ("seat", "log_probability"):
                material = "-".join([material, *templates])
            yield Number(
                method=method,
                language=summary["language"],
                segment_length=row["segment_length"] or "",
                sample_mode=row["sample_mode"] or "",
                conventions={**common, **row["conventions"]},
                material=material,
                **{name: row[name] for name in ("category", "category_title", "few_words")},
                **_of_row(study, method, row, _EFFECT, ("category", "segment_length", "sample_mode")),
            )
    for row in (methods[PAIRS.name] or {"percentages": ()})["percentages"]:
        name = row["set"] or ""
        yield Number(
            method=PAIRS.name,
            category=row["bias_type"],
            category_title=name_of_type(row["bias_type"]),
            set=name,
            material=methods[PAIRS.name]["digests"].get(name, ""),
            **{key: row[key] for key in ("language", "conventions")},
            **_of_row(study, PAIRS.name, row, _PERCENTAGE, ("bias_type", "language", "set")),
        )


_EFFECT = ("effect_size", "p_association", "p_association_holm", "twin_effect_size")
_PERCENTAGE = ("bias_percentage", "p_binomial", "p_binomial_holm", "twin_bias_percentage")
"""What a summary calls value, p, p after correction and twin of an effect, and of a percentage."""


def _of_row(
    study: Study, method: str, row: Mapping[str, Any], names: Sequence[str], named_by: Sequence[str]
) -> dict[str, Any]:
    """Return what an effect and a percentage have alike; draws are named by the columns `named_by`."""
    reasons = row["reasons"]
    note = f"no rank, since no interval: {reasons['ci_low']}" if "ci_low" in reasons else ""
    return {
        "study": study.label,
        **{name: row[name] for name in ("model", "ci_low", "ci_high")},
        **dict(zip(("value", "p", "p_holm_of_study", "twin"), map(row.__getitem__, names), strict=True)),
        "note": reasons.get(names[0]) or note,
        "seed": ("rank", study.digest, method, row["model"], *(str(row[key]) for key in named_by)),
    }


def _rank(block: Sequence[Number]) -> None:
    """Rank the numbers of a block by their distance from no bias; one alone has no rank."""
    if len(block) < 2:
        return
    drawn = np.empty((len(block), N_RESAMPLES))
    for place, number in enumerate(block):
        assert number.value is not None
        assert number.ci_low is not None
        assert number.ci_high is not None
        z = generator(SEED, *number.seed).standard_normal(N_RESAMPLES)
        spread = np.where(z < 0, number.value - number.ci_low, number.ci_high - number.value).clip(min=0) / _NORMAL
        values = number.value + z * spread
        if number.method == PAIRS.name:
            values = values.clip(0, 100)
        drawn[place] = np.abs(values - _without_bias(number.method))
    distances = np.array([number.distance for number in block])
    for place, number in enumerate(block):
        ranks = 1 + (drawn > drawn[place]).sum(axis=0)
        number.rank, number.n_ranked = 1 + int((distances > distances[place]).sum()), len(block)
        low, high = np.quantile(ranks, [0.025, 0.975], method="inverted_cdf")
        number.rank_low, number.rank_high = int(low), int(high)


def _correct(family: Sequence[Number]) -> None:
    """Correct p over all tests that are compared; the sample modes of an estimate have one test."""
    tests = {number.test: number.p for number in family if number.p is not None}
    adjusted = dict(zip(tests, holm(np.array(list(tests.values()), dtype=np.float64)).tolist(), strict=True))
    for number in family:
        number.p_holm = None if number.p is None else adjusted[number.test]


def comparison_to_csv(found: Sequence[Number]) -> str:
    """Return all numbers as CSV, one a row; those of the same `block` may be compared."""
    names = (
        *("study", "model", "language", "method", "category", "category_title", "set", "segment_length", "sample_mode"),
        *("value", "ci_low", "ci_high", "p", "p_holm", "p_holm_of_study", "twin", "few_words"),
        *("block", "rank", "rank_low", "rank_high", "n_ranked", "note"),
    )
    lines = [
        [
            *(_cell(getattr(number, name)) for name in names),
            json.dumps(dict(number.conventions), ensure_ascii=False, sort_keys=True),
        ]
        for number in found
    ]
    return write_csv([[*names, "conventions"], *lines])


def _cell(value: Any) -> str:
    return "" if value is None else guarded_text(value) if isinstance(value, str) else repr(value)


# --------------------
# The page.


def render_comparison(studies: Sequence[Study], found: Sequence[Number]) -> str:
    """Render the page: what differs, then a table for each method, block by block."""
    methods = [method for method in METHODS if any(number.method == method.name for number in found)]
    title = f"{len(studies)} studies beside each other" if len(studies) > 1 else f"One study: {studies[0].label}"
    views = [
        View("view-differences", "What differs", "What differs", [_differences(studies, found)]),
        *(View(f"view-{m.name}", "By method", m.label, [_section(m.name, found)]) for m in methods),
    ]
    return page_to_html(title, views, language=ENGLISH, scripts={number.language for number in found})


def what_differs(studies: Sequence[Study], found: Sequence[Number]) -> list[str]:
    """Return what sets numbers of these studies apart, a sentence each: first what forbids to compare them."""
    forbid, only_told = [], []
    for method in METHODS:
        of_method = [number for number in found if number.method == method.name]
        for name in dict.fromkeys(name for number in of_method for name in number.conventions):
            values = _by_value(studies, of_method, name)
            if len(values) < 2:
                continue
            said = "; ".join(f"{value} in {' and '.join(labels)}" for value, labels in values.items())
            sentence = f"{method.label}: `{name}` is {said}"
            if name in AMOUNTS:
                only_told.append(f"{sentence}. Numbers are more or less sure for it, and may be compared.")
            elif name in OF_MODELS:
                only_told.append(f"{sentence}. It goes by the model.")
            else:
                forbid.append(f"{sentence}. Such numbers are not comparable, and stand in blocks of their own.")
        forbid += _other_material(of_method, method.label)
    if any(each.summary["methods"]["structures"] is not None for each in studies):
        only_told.append("Traits in sentence structures are not compared: see the pages of the studies.")
    trained = [
        f"{model['name']} ({each.label})" for each in studies for model in each.summary["models"] if model["trained"]
    ]
    if trained:
        only_told.append(f"Trained by a study on its own text, and no models of a language: {', '.join(trained)}.")
    return [*forbid, *only_told]


def _by_value(studies: Sequence[Study], found: Sequence[Number], name: str) -> dict[str, list[str]]:
    """Return the studies that have numbers by what a convention is in them."""
    values: dict[str, list[str]] = {}
    for label in (study.label for study in studies):
        own = [number.conventions for number in found if number.study == label]
        if own:
            said = ", ".join(sorted({str(each[name]) for each in own if name in each})) or "not stated"
            values.setdefault(said, []).append(label)
    return values


def _other_material(found: Iterable[Number], label: str) -> Iterator[str]:
    """Yield a sentence for each category that studies measure on other words, templates or pairs."""
    materials: dict[tuple[str, str], dict[str, set[str]]] = {}
    for number in found:
        of_category = materials.setdefault((number.category, number.language), {})
        of_category.setdefault(number.material or "not stated", set()).add(number.study)
    apart: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (category, language), of_category in materials.items():
        studies = tuple(sorted({study for each in of_category.values() for study in each}))
        if len(studies) > 1 and (len(of_category) > 1 or "not stated" in of_category):
            apart.setdefault((language, studies), []).append(category)
    what = "sentence pairs" if label == PAIRS.label else "words or templates"
    for (language, studies), categories in apart.items():
        yield (
            f"{label}, {name_of_language(language)}, {', '.join(categories)}: other {what}, or"
            f" ones that are not stated, in {' and '.join(studies)}. Such numbers are not comparable, and stand in"
            " blocks of their own."
        )


def _differences(studies: Sequence[Study], found: Sequence[Number]) -> Section:
    columns = ("title", "language", "preset", "seed", "version", "models", "finished")
    rows = [
        (
            *(label, said["title"], name_of_language(said["language"]), said["preset"], str(said["seed"])),
            str(said["program"]["version"]),
            "; ".join(_said_of_model(model) for model in said["models"]) or MISSING,
            show_value("complete", said["complete"]),
        )
        for label, _, said in studies
    ]
    sheet = tabulate("The studies", {"study": "", **dict.fromkeys(columns, "text")}, rows, look="plain")
    differs = what_differs(studies, found)
    return Section(
        "What differs",
        "differences",
        text=[
            f"Compared: {', '.join(study.label for study in studies)}.",
            "Numbers may be compared within a block of a table: the same method, category, words or pairs, language,"
            " length, sample mode and conventions. What keeps numbers of these studies apart:"
            if differs
            else "The studies name the same conventions, words and pairs, wherever they measure the same.",
        ],
        findings=[with_code(text) for text in differs],
        items=[
            html("<strong>Not finished</strong>, {}: {}", each.label, with_code(text))
            for each in studies
            for text in each.summary["missing"]
        ],
        sheets=[sheet],
        notes=[prose("compared", n=f"{N_RESAMPLES:,}", seed=SEED, level=f"{ALPHA:g}")],
        files=[("comparison.csv", "All numbers as CSV")],
        files_text="For programs:",
    )


def _said_of_model(model: Mapping[str, Any]) -> str:
    version = model["commit"] or model["revision"] or model["sha256"]
    return f"{model['name']}: {model['source']}{f' at {version:.12}' if version else ''}"


def _section(method: str, found: Sequence[Number]) -> Section:
    of_method = [number for number in found if number.method == method]
    in_percent = method == PAIRS.name
    columns = ("percentage" if in_percent else "effect", "95 % interval", "p", "twin", "rank", "its interval")
    heads = _heads(of_method)
    # a head stands above the first row of its block
    rows = [_row(number, heads.pop(number.block, None), in_percent=in_percent) for number in of_method]
    label = method_named(method).label
    return Section(
        label,
        method.replace("_", "-"),
        sheets=[Sheet(("model", "study"), numbers(*columns), rows, f"{label}, block by block", look="plain")],
        notes=[
            conventions_note(
                sorted({f"{name} {value}" for number in of_method for name, value in number.deciding}),
                "Whichever of these has two values separates blocks.",
            )
        ],
    )


def _heads(found: Iterable[Number]) -> dict[int, str]:
    """Return the head of each block: where it belongs and, where several belong there, what sets them apart."""
    firsts: dict[int, Number] = {}
    for number in found:
        firsts.setdefault(number.block, number)
    places: dict[str, list[Number]] = {}
    for number in firsts.values():
        length = f"{number.segment_length} words" if number.segment_length else ""
        title = f"{number.category}, {number.category_title}" if number.method != PAIRS.name else number.category_title
        said = " · ".join(filter(None, [title, name_of_language(number.language), length, number.sample_mode]))
        places.setdefault(said, []).append(number)
    heads = {}
    for said, there in places.items():
        differ = {item for number in there for item in number.deciding if any(item not in n.deciding for n in there)}
        for number in there:
            own = [f"{name} {value}" for name, value in number.deciding if (name, value) in differ]
            materials = list(dict.fromkeys(each.material or each.study for each in there))
            if len(materials) > 1:
                what = "pairs" if number.method == PAIRS.name else "words"
                own.append(f"{what} {number.material[:8] or f'of {number.study}'}")
            heads[number.block] = " · ".join([said, *own])
    return heads


def _row(number: Number, block: str | None, *, in_percent: bool) -> Row:
    shown = one_decimal if in_percent else with_sign
    ranks = MISSING if number.rank is None else f"{number.rank_low}"
    if number.rank_high != number.rank_low:
        ranks += f" to {number.rank_high}"
    found = number.p_holm is not None and number.p_holm < ALPHA
    value = Cell(shown(number.value), MARK * found, bold=found, words=number.few_words)
    between, p, twin = interval(number.ci_low, number.ci_high, shown), probability(number.p_holm), shown(number.twin)
    rank = MISSING if number.rank is None else f"{number.rank} of {number.n_ranked}"
    cells = (value, *map(Cell, (between, p, twin, rank, ranks)))
    return Row((number.model, number.study), cells, note=number.note, block=block, hover=number.note)
