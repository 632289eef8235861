"""Compare several studies by their summaries: one table, ranks with their intervals, a page.

Comparable numbers share a block: the same method, category, words or pairs, language, segment length, sample mode and
conventions. There are no ranks across blocks, and no total score.

Ranks order the distance from no bias (0 for effects, 50 for percentages), 1 is the farthest. Their intervals come from
a parametric bootstrap (as Goldstein and Spiegelhalter 1996 do for league tables): each estimate is drawn from a normal
distribution around it, as wide below and above as its 95% interval, and all are ranked again. The estimates of a block
are drawn independently, so intervals are too wide for estimates that share words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from jsonschema import Draft202012Validator

from prasanga.associations.comparisons import MEAN, is_primary
from prasanga.base.errors import InputError, reason
from prasanga.base.io import guarded
from prasanga.base.places import LANGUAGE_TAG, installation
from prasanga.base.seeds import generator
from prasanga.config import CONFIGS
from prasanga.methods import FAMILY, METHODS, PAIRS, method_named
from prasanga.report import section as pages
from prasanga.report import sheet as sheets
from prasanga.report.grid import (
    is_significant,
    name_length,
    name_of_language,
    name_of_type,
    natural_order,
    write_interval,
)
from prasanga.report.method_views import EFFECT_STEPS, PERCENT_STEPS, shade_of
from prasanga.report.summary import SCHEMA
from prasanga.stats.permutation import ALPHA, holm

SEED, N_RESAMPLES = 0, 10_000
"""For the intervals of ranks; each estimate's seed is named by its study, method, model and category."""

_OFTEN = ("n_resamples", "n_shuffles", "n_permutations", "n_samples", "seed", "band")
_COMPARABLE = {
    **dict.fromkeys(_OFTEN, ". This changes only their precision, and they are comparable."),
    **dict.fromkeys(("sentence_vector", "kind", "method", "vectors"), ". It depends on the model."),
}
"""Conventions in which comparable numbers may differ: numbers of draws, and properties of a model."""

_APART = ". Such numbers are not comparable, and have separate rows."


# --------------------
# Summaries, which may come from other people.


class ComparedStudy(NamedTuple):
    """A study: its label, the digest of its summary, and the summary."""

    label: str
    digest: str
    summary: Mapping[str, Any]


def read_studies(paths: Sequence[str | Path]) -> list[ComparedStudy]:
    """Read the summaries of studies.

    Args:
        paths: folders of studies or their configs, folders of results, or summary files; at least one.

    Raises:
        InputError: as `read_summary`; a study named twice.
    """
    found: dict[str, tuple[str, str, Mapping[str, Any]]] = {}
    for path in map(str, paths):
        named = Path(path)
        folder = named
        if named.suffix in {".yaml", ".yml"}:  # as `prasanga run` finds a study
            folder = named.parent if named.name in CONFIGS else named.with_suffix("")
        elif named.suffix == ".html":  # results/report/index.html
            folder = named.parent.parent
        inside = [folder / name for name in ("results/summary.json", "summary.json")]
        file = next(filter(Path.is_file, inside), inside[0]) if folder.is_dir() else named
        for language, part in _list_parts(file).items():
            summary = read_summary(part)
            digest = hashlib.sha256(json.dumps(summary, sort_keys=True).encode()).hexdigest()
            if digest in found:
                raise InputError(f"{part}: the same summary as {found[digest][0]}. Name each study once.")
            found[digest] = path, f"{summary['study']}{language}", summary
    names = [name for _, name, _ in found.values()]
    return [
        ComparedStudy(name if names.count(name) == 1 else f"{name} ({path})", digest, summary)
        for digest, (path, name, summary) in found.items()
    ]


def _list_parts(file: Path) -> dict[str, Path]:
    """Return the summaries of the languages of a study, by `, <language>`; the file itself if it has one language."""
    with suppress(OSError, ValueError, RecursionError, AttributeError):  # read_summary reports it
        if named := json.loads(file.read_bytes()).get("languages"):
            return {f", {name}": file.parent / name / file.name for name in named if re.search(LANGUAGE_TAG, str(name))}
    return {"": file}


def read_summary(file: Path) -> dict[str, Any]:
    """Read a summary, perhaps of other people; keys of later versions are ignored.

    Raises:
        InputError: it cannot be read, is damaged, is not a summary, or has the layout of another version.
    """
    try:
        summary = json.loads(file.read_bytes())
        json.dumps(summary, allow_nan=False, ensure_ascii=False).encode()  # no NaN, no half of a character
    except (OSError, ValueError, RecursionError) as error:
        fault = f"{file}: not a readable summary of a study ({reason(error)})"
        raise InputError(f"{fault}. Name a study's folder or its summary.json; `prasanga figures` makes it.") from None
    program = summary.get("program") if isinstance(summary, dict) else None
    if not isinstance(program, dict) or program.get("name") != "prasanga":
        raise InputError(f"{file}: not a summary of a study. Name a study's folder, or its summary.json.")
    layout, version = summary.get("schema"), program.get("version")
    if layout != SCHEMA:
        fault = f"{file}: layout {layout!r} of prasanga {version}, but this version reads {SCHEMA}"
        raise InputError(f"{fault}. Make it again with `prasanga figures`.")
    schema = json.loads((installation() / "workflow/schemas/summary.schema.json").read_text("utf-8"), object_hook=_open)
    problem = next(Draft202012Validator(schema).iter_errors(summary), None)
    if problem is not None:
        place = ".".join(map(str, problem.absolute_path)) or "the whole"
        raise InputError(f"{file}: damaged at `{place}` ({problem.message:.200}). Make it again: `prasanga figures`.")
    return dict(summary)


def _open(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a schema that allows unknown keys."""
    return {key: part for key, part in schema.items() if (key, part) != ("additionalProperties", False)}


# --------------------
# Numbers: which are comparable, and their distances from no bias.


Number = dict[str, Any]
"""An estimate or a percentage of a study, with its place, and the results of the comparison.

Keys are `_COLUMNS`, `conventions` by name, the conventions that make numbers incomparable (`deciding`), `material`
(digest of words or of the file of pairs; empty if unknown), `place` (the same for all numbers of a block), `test`
(names the test of p), `seed`, the names of its draws, `weights`, the digest of its model, if known, and `labels`, the
studies with this number. `value` is an effect size or a percentage, None with the reason in `note`; `twin` the mean of
the random-weight copies' numbers; `p_holm_of_study` is corrected over the tests of its study, `p_holm` over all
compared tests; `block` numbers the groups of comparable numbers; `few_words` has words used of words listed, if few.
"""

Row = dict[tuple[str, str], Number]
"""Comparable numbers by study and model."""

_COLUMNS = (
    *("study", "model", "language", "method", "category", "category_title", "set", "segment_length"),
    *("value", "ci_low", "ci_high", "p", "p_holm", "p_holm_of_study", "twin", "few_words"),
    *("block", "rank", "rank_low", "rank_high", "n_ranked", "note"),
)
_ORDER = {method.name: number for number, method in enumerate(METHODS)}
_NAMES = {
    False: ("effect_size", "p_association", "p_association_holm", "twin_effect_size"),
    True: ("bias_percentage", "p_binomial", "p_binomial_holm", "twin_bias_percentage"),
}
"""The names in a summary of value, p, p after correction and twin of an effect, and (True) of a percentage."""


def compared(studies: Sequence[ComparedStudy]) -> list[Number]:
    """Return every number of these studies, block by block, the farthest from no bias first, ranked and corrected."""
    found = [number for study in studies for number in _list_numbers(study)]
    found.sort(key=lambda number: (number["place"], number["value"] is None, -_distance(number), number["test"]))
    found = _merge_same(found)
    for block, (_, members) in enumerate(groupby(found, key=itemgetter("place")), start=1):
        together = list(members)
        for number in together:
            number["block"] = block
        _rank([number for number in together if None not in map(number.get, ("value", "ci_low", "ci_high"))])
    for is_pairs in (False, True):
        _correct([number for number in found if (number["method"] == PAIRS.name) == is_pairs])
    return found


def _merge_same(found: Iterable[Number]) -> list[Number]:
    """Return numbers, one for all studies that have it: the same weights and words, and the same value."""
    merged: dict[Any, Number] = {}
    for n, number in enumerate(found):
        same = (number["weights"] or n, number["model"], str(number["place"]), number["value"], number["ci_low"])
        kept = merged.setdefault(same, number)
        if kept is not number:
            kept["labels"] = (*kept["labels"], number["study"])
            kept["study"] = ", ".join(kept["labels"])
    return list(merged.values())


def _list_numbers(study: ComparedStudy) -> Iterator[Number]:
    summary = study.summary
    models = [(name, model["sha256"]) for model in summary["models"] for name in model["names_in_tables"]]
    templates = sorted(digest for path, digest in summary["sources"].items() if "/templates/" in path)
    for method in (method.name for method in (*FAMILY, PAIRS) if summary["methods"][method.name] is not None):
        found, is_pairs = summary["methods"][method], method == PAIRS.name
        named_by = ("bias_type", "language", "set") if is_pairs else ("category", "segment_length")
        common = {} if is_pairs else {k: each[0] for k, each in found["conventions"].items() if len(each) == 1}
        for row in found["percentages" if is_pairs else "estimates"]:
            category = row[named_by[0]]
            if is_pairs:
                title, material = name_of_type(category), found["digests"].get(row["set"] or "", "")
            else:
                words = summary["words"].get(category, "")
                used = templates if words and method in ("seat", "log_probability") else []
                title, material = row["category_title"], "-".join([words, *used])
            conventions = {**common, **row["conventions"]}
            deciding = sorted((k, str(value)) for k, value in conventions.items() if k not in _COMPARABLE)
            language, length = row.get("language", summary["language"]), row.get("segment_length") or ""
            words = (natural_order(length.lstrip(">")), length)
            place = (natural_order(category), language, *words, material or study.label, deciding)
            note = f"no rank without an interval: {row['interval_note']}" if row["ci_low"] is None else ""
            yield {
                **dict.fromkeys(_COLUMNS),
                **{name: row.get(name) or "" for name in ("set", "segment_length", "few_words")},
                **{name: row[name] for name in ("model", "ci_low", "ci_high")},
                **dict(zip(("value", "p", "p_holm_of_study", "twin"), map(row.get, _NAMES[is_pairs]), strict=True)),
                **({} if is_primary(row) else {"p": None}),
                **{"labels": (study.label,), "weights": dict(models).get(row["model"])},
                **{"study": study.label, "method": method, "category": category, "category_title": title},
                **{"language": language, "n_ranked": 0, "deciding": deciding, "place": (_ORDER[method], *place)},
                **{"material": material, "conventions": conventions, "note": row["reason"] or note},
                "test": (study.label, row["model"], method, row.get("set") or "", language, category, length),
                "seed": ("rank", study.digest, method, row["model"], *(str(row[key]) for key in named_by)),
            }


def _distance(number: Number) -> float:
    """Return how far a number is from no bias; 0 without a number."""
    return 0.0 if number["value"] is None else abs(float(number["value"]) - _without_bias(number["method"]))


def _without_bias(method: str) -> float:
    return 50.0 if method == PAIRS.name else 0.0


def _rank(block: Sequence[Number]) -> None:
    """Rank the numbers of a block by their distance from no bias, if there are several."""
    if len(block) < 2:
        return
    value, low, high = (np.array([[number[key]] for number in block]) for key in ("value", "ci_low", "ci_high"))
    z = np.stack([generator(SEED, *number["seed"]).standard_normal(N_RESAMPLES) for number in block])
    drawn = value + z * (np.where(z < 0, value - low, high - value).clip(min=0) / 1.96)  # ends of 95% intervals
    if block[0]["method"] == PAIRS.name:
        drawn = drawn.clip(0, 100)
    drawn = np.abs(drawn - _without_bias(block[0]["method"]))
    distances = np.array(list(map(_distance, block)))
    for number, distance, own in zip(block, distances, drawn, strict=True):
        ends = np.quantile(1 + (drawn > own).sum(axis=0), [0.025, 0.975], method="inverted_cdf")
        number["rank"], number["n_ranked"] = 1 + int((distances > distance).sum()), len(block)
        number["rank_low"], number["rank_high"] = map(int, ends)


def _correct(family: Sequence[Number]) -> None:
    """Correct p over all compared tests; the sample modes of an estimate share one test."""
    tests = {number["test"]: number["p"] for number in family if number["p"] is not None}
    adjusted = dict(zip(tests, holm(list(tests.values())).tolist(), strict=True))
    for number in family:
        number["p_holm"] = None if number["p"] is None else adjusted[number["test"]]


def comparison_to_csv(found: Sequence[Number]) -> str:
    """Return all numbers as CSV, one per row; numbers of one `block` are comparable."""
    rows = [
        {name: number[name] for name in _COLUMNS}
        | {"conventions": json.dumps(number["conventions"], ensure_ascii=False, sort_keys=True)}
        for number in found
    ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    return guarded(table).with_columns(pl.selectors.string().replace("", None)).write_csv(line_terminator="\n")


# --------------------
# The page.


def render_comparison(studies: Sequence[ComparedStudy], found: Sequence[Number]) -> str:
    """Render the page: the differences of studies, then a table per method, block by block."""
    methods = [method for method in METHODS if any(number["method"] == method.name for number in found)]
    title = f"{len(studies)} studies compared" if len(studies) > 1 else f"One study: {studies[0].label}"
    apart, differs = why_apart(studies, found), "What differs"
    views = [
        *(pages.View(f"view-{m.name}", "Findings", m.label, [_section(m.name, found, apart)]) for m in methods),
        pages.View("view-differences", differs, differs, [_differences(studies, found)]),
    ]
    return pages.page_to_html(title, views, language=pages.ENGLISH, scripts={number["language"] for number in found})


def why_apart(studies: Sequence[ComparedStudy], found: Sequence[Number]) -> list[str]:
    """Return a sentence if no two of these studies have comparable numbers; else an empty list."""
    pairs = {(number["block"], label) for number in found for label in number["labels"]}
    if len(studies) < 2 or len(pairs) > len({block for block, _ in pairs}):
        return []
    languages = {name_of_language(number["language"]) for number in found}
    why = f"they measure {len(languages)} languages" if len(languages) >= len(studies) else "see what differs"
    return [f"No number of these studies is comparable with one of another study: {why}."]


def what_differs(studies: Sequence[ComparedStudy], found: Sequence[Number]) -> list[str]:
    """Return a sentence per difference between these studies, first the differences that forbid a comparison."""
    forbid: list[str] = []
    harmless: list[str] = []
    for method in METHODS:
        of_method = [number for number in found if number["method"] == method.name]
        for name in dict.fromkeys(name for number in of_method for name in number["conventions"]):
            values: dict[str, list[str]] = {}
            for study in studies:
                own = [number["conventions"] for number in of_method if study.label in number["labels"]]
                stated = sorted({str(each[name]) for each in own if name in each})
                if own:
                    values.setdefault(", ".join(stated) or "not stated", []).append(study.label)
            if len(values) > 1:
                said = "; ".join(f"{value} in {' and '.join(labels)}" for value, labels in values.items())
                kind = harmless if name in _COMPARABLE else forbid
                kind.append(f"{method.label}: `{name}` is {said}{_COMPARABLE.get(name, _APART)}")
        forbid += _other_material(of_method, method.label)
    return [*why_apart(studies, found), *forbid, *harmless]


def _other_material(found: Iterable[Number], label: str) -> Iterator[str]:
    """Yield a sentence per category that studies measure with different words, templates or pairs."""
    materials: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for number in found:
        named = {(number["material"], label) for label in number["labels"]}
        materials.setdefault((number["category"], number["language"]), set()).update(named)
    apart: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (category, language), pairs in materials.items():
        studies = tuple(sorted({study for _, study in pairs}))
        if len(studies) > 1 and ("" in (stated := {material for material, _ in pairs}) or len(stated) > 1):
            apart.setdefault((language, studies), []).append(category)
    what = "sentence pairs" if label == PAIRS.label else "words or templates"
    for (language, studies), categories in apart.items():
        where = f"{label}, {name_of_language(language)}, {', '.join(categories)}"
        yield f"{where}: different or unknown {what} in {' and '.join(studies)}{_APART}"


def _differences(studies: Sequence[ComparedStudy], found: Sequence[Number]) -> pages.Section:
    rows = [
        [
            *(label, said["title"], name_of_language(said["language"]), said["preset"], str(said["seed"])),
            str(said["program"]["version"]),
            "; ".join(map(_name_model, said["models"])) or sheets.MISSING,
            sheets.show_value("complete", said["complete"]),
        ]
        for label, _, said in studies
    ]
    differs = what_differs(studies, found)
    return pages.Section(
        "What differs",
        "differences",
        text=[f"Compared: {', '.join(study.label for study in studies)}.", pages.prose("differing", differs=differs)],
        findings=[pages.with_code(text) for text in differs],
        items=[
            sheets.html("<strong>Not finished</strong>, {}: {}", each.label, pages.with_code(text))
            for each in studies
            for text in each.summary["missing"]
        ],
        sheets=[sheets.show_table("studies", rows)],
        notes=[pages.prose("compared", n=f"{N_RESAMPLES:,}", seed=SEED)],
        files=[("comparison.csv", "All numbers as CSV")],
        files_text="For programs:",
    )


def _name_model(model: Mapping[str, Any]) -> str:
    version = model["commit"] or model["revision"] or model["sha256"]
    return f"{model['name']}: {model['source']}{f' at {version:.12}' if version else ''}"


def _section(method: str, found: Sequence[Number], said: Sequence[str]) -> pages.Section:
    """Return the section of a method: the blocks against models and studies, and folded every number with its rank."""
    label, of_method = method_named(method).label, [number for number in found if number["method"] == method]
    of_method.sort(key=itemgetter("language"))
    titles, blocks, columns = _name_blocks(of_method), dict[int, Row](), dict[Any, list[str]]()
    for number in of_method:
        if number["segment_length"] in ("", MEAN):
            named = {(study, number["model"]): number for study in number["labels"]}
            blocks.setdefault(number["block"], {}).update(named)
    for study, model in sorted({place for row in blocks.values() for place in row}):
        # studies with the same numbers of a model share its column
        columns.setdefault((model, *(id(row.get((study, model))) for row in blocks.values())), []).append(study)
    rows = [
        (titles[block], *(_heat_cell(row.get((named[0], model))) for (model, *_), named in columns.items()))
        for block, row in blocks.items()
    ]
    heads = tuple((", ".join(named), model) for (model, *_), named in columns.items())
    heat = replace(sheets.show_table("compared", rows, method=label), columns=heads)
    numbers = sheets.show_table("compared_numbers", [_row(number, titles[number["block"]]) for number in of_method])
    deciding = sorted({f"{name} {value}" for number in of_method for name, value in number["deciding"]})
    steps = PERCENT_STEPS if method == PAIRS.name else EFFECT_STEPS
    key = pages.paragraphs("compared_key", steps=steps, middle=int(_without_bias(method)), level=f"{ALPHA:g}"[1:])
    return pages.Section(
        label,
        method.replace("_", "-"),
        text=said,
        sheets=[heat],
        key=key,
        parts=[pages.Section(f"{sheets.plural(len(of_method), 'number')} with ranks", sheets=[numbers], folded=True)],
        notes=[pages.conventions_note(deciding, "A row has numbers of the same conventions only.")],
    )


def _name_blocks(found: Sequence[Number]) -> dict[int, str]:
    """Return the name of each block: where it belongs, and what sets it apart from others of the method."""
    deciding = [set(number["deciding"]) for number in found]
    varying = set[tuple[str, str]]().union(*deciding) - deciding[0].intersection(*deciding)
    materials: dict[tuple[str, str], set[str]] = {}
    for number in found:
        place = number["category"], number["language"]
        materials.setdefault(place, set()).add(number["material"] or f"of {number['study']}")
    heads = {}
    for number in found:
        is_pairs, length = number["method"] == PAIRS.name, number["segment_length"]
        title = number["category_title"] if is_pairs else f"{number['category']}, {number['category_title']}"
        said = [title, name_of_language(number["language"]), name_length(length) if length else ""]
        said += [" ".join(item) for item in number["deciding"] if item in varying]
        if len(materials[number["category"], number["language"]]) > 1:
            what = number["material"][:8] or f"of {number['study']}"
            said.append(f"{'pairs' if is_pairs else 'words'} {what}")
        heads[number["block"]] = " · ".join(filter(None, said))
    return heads


def _show(number: Number) -> tuple[str, str]:
    show = sheets.one_decimal if number["method"] == PAIRS.name else sheets.with_sign
    return show(number["value"]), write_interval(number["ci_low"], number["ci_high"], show)


def _heat_cell(number: Number | None) -> sheets.Cell:
    """Return a number in its shade, with its interval below; bold with a mark if it is significant."""
    if number is None or number["value"] is None:
        return sheets.Cell(shade="missing", hover=number["note"] if number else "not measured")
    is_pairs, is_marked, written = number["method"] == PAIRS.name, is_significant(number["p_holm"]), _show(number)
    text = sheets.html('{}{}<span class="aside">{}</span>', written[0], sheets.MARK * is_marked, written[1])
    shade = shade_of(number["value"] - _without_bias(number["method"]), PERCENT_STEPS if is_pairs else EFFECT_STEPS)
    return sheets.Cell(text, bold=is_marked, shade=shade, hover=number["note"], words=number["few_words"])


def _row(number: Number, title: str) -> tuple[sheets.Cell | str, ...]:
    is_marked, (value, interval) = is_significant(number["p_holm"]), _show(number)
    rank, ranks = sheets.MISSING, sheets.MISSING
    if number["rank"] is not None:
        rank = f"{number['rank']} of {number['n_ranked']}"
        ranks = " to ".join(dict.fromkeys((f"{number['rank_low']}", f"{number['rank_high']}")))
    shown = sheets.Cell(value, sheets.MARK * is_marked, bold=is_marked, words=number["few_words"], hover=number["note"])
    twin = sheets.sortable("value", number["twin"], ".1f" if number["method"] == PAIRS.name else "+.3f")
    p = sheets.Cell(sheets.probability(number["p_holm"]))
    return title, number["model"], number["study"], shown, interval, p, twin, rank, ranks
