"""The first screen of a study's page, and of the page over several languages: one finding, a figure, four answers.

It reads columns of tables. The sentences are in `templates/first_screen.yaml`. A title names one estimate, and never
sets what is significant against what is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, groupby
from typing import Any, NamedTuple, TypeAlias

from markupsafe import Markup

from prasanga.base.yaml import load_yaml
from prasanga.pairs.preferences import OVERALL
from prasanga.report import ASSETS, findings, grid
from prasanga.report.grid import HOLM, LANGUAGES, METHODS, EstimateRow, is_number, name_of_language
from prasanga.report.section import ENGLISH, Section, render, said
from prasanga.report.sheet import (
    Cell,
    Sheet,
    html,
    one_decimal,
    probability,
    select_columns,
    show_table,
    two,
    with_sign,
)
from prasanga.report.study import Results
from prasanga.stats.intervals import FEWEST_WORDS

SENTENCES: Mapping[str, str] = load_yaml("first_screen.yaml", (ASSETS / "first_screen.yaml").read_text("utf-8"))
"""Sentences by name."""

_MOST_COLUMNS = 4
"""Of a figure side by side; more go into further rows."""
_MOST_NAMED = 8
"""Sanity checks that are named."""


class Part(NamedTuple):
    """The results of one language.

    Attributes:
        language: of its words.
        results: its tables.
        categories: what `prasanga.report.study.describe_categories` returns.
        page: address of its page; empty for the page that the screen is on.
    """

    language: str
    results: Results
    categories: Mapping[str, Any]
    page: str = ""


# --------------------
# A figure: a table of which each cell is a point with its interval on an axis that all cells share.


class Ruler(NamedTuple):
    """The range of numbers of a figure, with the number that means nothing was found."""

    low: float
    high: float
    middle: float
    ticks: Sequence[float]

    def at(self, value: float) -> float:
        """Return a place in percent from the left."""
        return round(min(100.0, max(0.0, 100 * (value - self.low) / (self.high - self.low))), 2)


class Point(NamedTuple):
    """An estimate in a figure.

    Attributes:
        value: the number.
        ends: of its interval; numbers, or anything else where there is none.
        copies: mean and standard deviation of the random-weight copies, likewise.
        is_found: whether it is a finding.
        address: of what is behind it.
        told: what is said of it, a line each.
    """

    value: float
    ends: tuple[Any, Any]
    copies: tuple[Any, Any]
    is_found: bool
    address: str
    told: Sequence[str]

    @property
    def spans(self) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
        """Return the ends of the interval, and of mean ± SD of the copies, where there are numbers."""
        mean, sd = self.copies
        ends = self.ends if all(map(is_number, self.ends)) else None
        return ends, (mean - sd, mean + sd) if is_number(mean) and is_number(sd) else None


Column: TypeAlias = tuple[str, ...]


class Line(NamedTuple):
    """A row of a figure: its group, its label, a short name, and its points by column."""

    group: str
    label: str
    code: str
    points: Mapping[Column, Point]


class Forest(NamedTuple):
    """A figure of at most `_MOST_COLUMNS` columns: their heads, and lines by group."""

    caption: str
    heads: Sequence[str]
    groups: Sequence[tuple[str, Sequence[tuple[Line, Sequence[Point | None]]]]]
    axis: Ruler
    ticks: Sequence[tuple[float, str]]


def draw_forests(
    caption: str, heads: Mapping[Column, str], lines: Sequence[Line], middle: float, write: Callable[[float], str]
) -> list[Forest]:
    """Return the figures that have these columns, lines in their order; a line without a point in one is left out."""
    points = [point for line in lines for point in line.points.values()]
    if not points:
        return []
    spans = [span for point in points for span in point.spans if span]
    axis = _make_ruler([middle, *(point.value for point in points), *(end for span in spans for end in span)], middle)
    columns, forests = list(heads), []
    size = math.ceil(len(columns) / math.ceil(len(columns) / _MOST_COLUMNS))
    for start in range(0, len(columns), size):
        chosen = columns[start : start + size]
        shown = [line for line in lines if line.points.keys() & set(chosen)]
        groups = [
            (group, [(line, [line.points.get(column) for column in chosen]) for line in of_group])
            for group, of_group in groupby(shown, key=lambda line: line.group)
        ]
        ticks = [(axis.at(tick), write(tick)) for tick in axis.ticks]
        forests.append(Forest(caption, [heads[column] for column in chosen], groups, axis, ticks))
    return forests


def _make_ruler(numbers: Sequence[float], middle: float) -> Ruler:
    span = (max(numbers) - min(numbers)) or 1.0
    low, high = min(numbers) - 0.05 * span, max(numbers) + 0.05 * span
    step = next(step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50) if span / step <= 4 or step == 50)
    ticks = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return Ruler(low, high, middle, ticks)


# --------------------


@dataclass(frozen=True)
class Screen:
    """What the first screen says of the results of one language or several.

    Attributes:
        parts: results by language.
        language: of the page's own words.
    """

    parts: Sequence[Part]
    language: str = ENGLISH

    def say(self, name: str, **values: object) -> str:
        """Return a sentence in the language of the page."""
        return said(SENTENCES[name], self.language, **values)

    @cached_property
    def effects(self) -> list[dict[str, Any]]:
        """Return the primary estimates, each with its method, language, sets in words, label, and address."""
        found = []
        for part in self.parts:
            for method, table in part.results.estimates.items():
                for row in grid.select_primary(table).iter_rows(named=True):
                    known = part.categories.get(row["category"], {})
                    x, y, a, b = grid.names_of_sets(row)
                    label = self.say("row", x=x, y=y, a=a, b=b)
                    where = {"method": method, "language": part.language, "label": label[:1].upper() + label[1:]}
                    where["address"] = f"{part.page}#{grid.address_of_number(method, row)}"
                    is_check = known.get("sanity_check", False)
                    found.append({**row, **where, "sets": known.get("sets", (x, y, a, b)), "is_check": is_check})
        return found

    @cached_property
    def computed(self) -> list[dict[str, Any]]:
        """Return the estimates that have a number."""
        return [row for row in self.effects if is_number(row["effect_size"])]

    @cached_property
    def percentages(self) -> list[dict[str, Any]]:
        """Return the bias percentages that have a number, each with the address of their view."""
        return [
            {**row, "method": "pairs", "address": f"{part.page}#method-pairs"}
            for part in self.parts
            for row in part.results["bias_percentages"].iter_rows(named=True)
            if is_number(row["bias_percentage"])
        ]

    @cached_property
    def headline(self) -> tuple[str, dict[str, Any]]:
        """Return what kind of title the screen has, and the estimate or percentage that it names.

        The largest found effect about people comes first, then the farthest found percentage, then the largest found
        sanity check; where nothing was found, the largest effect of enough words, then all pairs, then any effect.
        """
        found = [row for row in self.computed if findings.is_found(row)]
        farthest = findings.farthest_percentage(filter(findings.is_found, self.percentages))
        candidates: tuple[tuple[str, Iterable[Any]], ...] = (
            ("found", (row for row in found if not row["is_check"])),
            ("found_pairs", [farthest] if farthest else []),
            ("found", found),
            ("not_found", filter(grid.may_be_found, self.computed)),
            ("pairs", (row for row in self.percentages if row["bias_type"] == OVERALL)),
            ("few_words", self.computed),
        )
        for kind, rows in candidates:
            if (largest := max(rows, key=_distance, default=None)) is not None:
                few = kind == "pairs" and not findings.is_ranked(largest)
                return "few_pairs" if few else kind, largest
        has = {
            "not_computed": bool(self.effects),
            "structures": any("structures" in part.results for part in self.parts),
        }
        return next((kind for kind, is_so in has.items() if is_so), "nothing"), {}

    # ---- sentences

    @property
    def title(self) -> str:
        """Return the title: a sentence that names one estimate."""
        kind, row = self.headline
        facts: dict[str, Any] = {}
        if kind in ("found", "found_pairs"):
            facts = {"where": self._name_language(row["language"]), "model": row["model"]}
        if kind == "found":
            x, y, *attributes = row["sets"]
            a, b = attributes if row["effect_size"] > 0 else reversed(attributes)
            facts |= {"x": x, "y": y, "a": a, "b": b}
        elif kind in ("found_pairs", "pairs", "few_pairs"):
            percent = row["balanced_percentage" if kind == "found_pairs" else "bias_percentage"]
            facts |= {"model": row["model"] or "", "percent": one_decimal(percent), "n": grid.pairs_counted(row)}
            facts["type"] = grid.name_of_type(row["bias_type"]).lower()
        elif kind == "structures":
            table = next(part.results["structures"] for part in self.parts if "structures" in part.results)
            facts = {"n": table["n"].max(), "k": table["structure"].n_unique()}
        return self.say(kind, **facts)

    @property
    def number(self) -> list[str]:
        """Return sentences on the number of the title: interval, p, copies, and why it is no finding."""
        kind, row = self.headline
        if not row:
            return []
        if "effect_size" in row:
            said_of = self._tell_effect(row)
            if kind != "found":
                said_of = [self.say("largest", label=row["label"], where=self._place(row)), *said_of]
        else:
            said_of = [*self._tell_percentage(row), self.say("even")]
        sentences = [f"{said_of[0][:1].upper()}{said_of[0][1:]} · {' · '.join(said_of[1:])}."]
        n_found = sum(map(findings.is_found, self.computed))
        if kind == "found" and n_found > 1:
            sentences.append(self.say("overestimated", k=n_found))
        if kind == "found" and "ci_templates_low" in row and not is_number(row["ci_templates_low"]):
            sentences.append(self.say("templates_only"))
        reason = row["not_found_because"]
        is_told = HOLM.marks(row) if "effect_size" in row else grid.differs_from_half(row)
        if reason and (is_told or reason == findings.UNREACHABLE):
            sentences.append(self.say("no_finding", reason=said(reason, self.language)))
        return sentences

    @property
    def sentences(self) -> list[dict[str, str]]:
        """Return the title and the sentences on its number, each with its method; none if nothing was measured."""
        kind, row = self.headline
        others = (*self.effects, *self.percentages, {"method": "structures"})
        method = (row or next(iter(others)))["method"]
        return [{"method": method, "text": text} for text in (self.title, *self.number) if kind != "nothing"]

    def _tell_effect(self, row: EstimateRow) -> list[str]:
        parts = [self.say("effect", effect=two(row["effect_size"]))]
        if is_number(row["ci_low"]) and is_number(row["ci_high"]):
            parts.append(self.say("interval", low=two(row["ci_low"]), high=two(row["ci_high"])))
        if is_number(row["p_association_holm"]):
            named = self._name_language(row["language"])
            p = probability(row["p_association_holm"])
            parts.append(self.say("p", p=p, where=named, n=row.get("n_tests") or len(self.tested)))
        copies = self._tell_copies(row["twin_effect_size"], row["twin_sd"], two) if row.get("n_twins") else ""
        return [*parts, copies or self.say("no_copies")]

    def _tell_percentage(self, row: EstimateRow) -> list[str]:
        parts = [self.say("percent", percent=one_decimal(row["bias_percentage"]), n=grid.pairs_counted(row))]
        parts.append(self.say("interval", low=one_decimal(row["exact_low"]), high=one_decimal(row["exact_high"])))
        if is_number(row["balanced_percentage"]):
            ends = f"{one_decimal(row['balanced_ci_low'])} to {one_decimal(row['balanced_ci_high'])}"
            balanced = f"{self.say('balanced', percent=one_decimal(row['balanced_percentage']))} ({ends})"
            parts.insert(0 if findings.is_found(row) else 2, balanced)
        copies = self._tell_copies(row["twin_balanced_percentage"], row["twin_sd"], one_decimal)
        return [*parts, copies or self.say("no_copies")]

    def _tell_copies(self, mean: object, sd: object, write: Callable[[float], str]) -> str:
        if not is_number(mean):
            return ""
        return self.say("copies", mean=write(mean), sd=write(sd).lstrip("+") if is_number(sd) else grid.MISSING)

    def _name_language(self, language: str) -> str:
        return said(name_of_language(language), self.language)

    def _place(self, row: EstimateRow) -> str:
        return ", ".join(
            [said(METHODS[row["method"]], self.language), self._name_language(row["language"]), row["model"]]
        )

    @property
    def tested(self) -> list[dict[str, Any]]:
        """Return the estimates that were tested."""
        return [row for row in self.computed if is_number(row["p_association_holm"])]

    def list_facts(self, study: str) -> list[str]:
        """Return the line of facts: models, methods, languages, number of tests, study."""
        rows = [*self.effects, *self.percentages, *self._structures]
        models = list(dict.fromkeys(row["model"] for row in rows if row["model"]))
        named = models if len(models) <= 3 else [self.say("n_models", n=len(models))]
        methods = [METHODS[name] for name in METHODS if any(row["method"] == name for row in self.effects)]
        methods += ["Sentence structures"] * bool(self._structures) + ["Sentence pairs"] * bool(self.percentages)
        n = len(self.tested)
        tests = [self.say("one_test") if n == 1 else self.say("n_tests", n=n)] * bool(n)
        languages = {str(row["language"]) for row in rows if row.get("language")}
        languages |= {part.language for part in self.parts if part.page}
        return [
            *named,
            *(said(method, self.language) for method in methods),
            *(self._link_language(language) for language in sorted(languages, key=_order_language)),
            *tests,
            html("<strong>{}</strong>", study),
        ]

    @cached_property
    def _structures(self) -> list[dict[str, Any]]:
        return [row for part in self.parts for row in part.results["structures"].iter_rows(named=True)]

    def _link_language(self, language: str) -> str:
        name = self._name_language(language)
        page = next((part.page for part in self.parts if part.language == language), "")
        return html('<a href="{}">{}</a>', page, name) if page else name

    # ---- figures and table

    def draw_effects(self) -> list[Forest]:
        """Return the figures of effect sizes: a line per category, a column per method, language and model."""
        lines: dict[tuple[bool, str, str], dict[Column, Point]] = {}
        for row in self.computed:
            points = lines.setdefault((not row["is_check"], row["label"], row["category"]), {})
            points[row["method"], row["language"], row["model"]] = Point(
                row["effect_size"],
                (row["ci_low"], row["ci_high"]),
                (row.get("twin_effect_size"), row.get("twin_sd")),
                findings.is_found(row),
                row["address"],
                [*self._tell_effect(row), self.say("click")],
            )
        has_checks = any(not is_other for is_other, *_ in lines)
        titles = [self.say("checks"), self.say("people" if has_checks else "associations")]
        listed = [
            (is_other, -max(point.value for point in points.values()), label, code, points)
            for (is_other, label, code), points in lines.items()
        ]
        written = [
            Line(titles[is_other], label, code, points)
            for is_other, _, label, code, points in sorted(listed, key=lambda each: each[:4])
        ]
        return draw_forests(self.say("caption"), self.columns, written, 0.0, _write_tick)

    @cached_property
    def columns(self) -> dict[Column, str]:
        """Return the columns of effects, the method of most categories first, with their heads."""
        n_categories = Counter(method for method, _ in {(row["method"], row["category"]) for row in self.computed})
        found = {(row["method"], row["language"], row["model"]): None for row in self.computed}
        order = sorted(
            found, key=lambda key: (-n_categories[key[0]], [*METHODS].index(key[0]), _order_language(key[1]))
        )
        names: dict[Column, Sequence[str]]
        names = {key: (said(METHODS[key[0]], self.language), self._link_language(key[1]), key[2]) for key in order}
        return _head_columns(names)

    def draw_percentages(self) -> list[Forest]:
        """Return the figures of bias percentages: all pairs, and each type of enough pairs."""
        shown = [row for row in self.percentages if row["bias_type"] == OVERALL or findings.is_ranked(row)]
        columns: list[Column] = [(row["model"] or "", row["language"], row["set"] or "") for row in shown]
        names = {key: (key[0], self._link_language(key[1]), key[2]) for key in columns}
        lines: dict[str, dict[Column, Point]] = {}
        for row in shown:
            is_balanced = is_number(row["balanced_percentage"])
            value, ends = ("balanced_percentage", "balanced_ci") if is_balanced else ("bias_percentage", "exact")
            lines.setdefault(row["bias_type"], {})[row["model"] or "", row["language"], row["set"] or ""] = Point(
                row[value],
                (row[f"{ends}_low"], row[f"{ends}_high"]),
                (row["twin_balanced_percentage"], row["twin_sd"]),
                findings.is_found(row),
                row["address"],
                self._tell_percentage(row),
            )
        order = [name for name in (OVERALL, *grid.sort_types(lines)) if name in lines]
        written = [Line("", grid.name_of_type(name), "", lines[name]) for name in order]
        return draw_forests(self.say("stereotypes"), _head_columns(names), written, 50.0, "{:.0f}".format)

    def list_effects(self) -> Sheet | None:
        """Return the sortable table of all effects; None if there are none."""
        if not self.computed:
            return None
        rows = []
        for row in sorted(self.computed, key=lambda row: -abs(row["effect_size"])):
            words = [row[f"n_{side}"] for side in "xyab"]
            effect = html('<a class="behind" href="{}">{}</a>', row["address"], two(row["effect_size"]))
            interval = grid.write_interval(row["ci_low"], row["ci_high"], two)
            rows.append(
                (
                    f"{row['label']} ({row['category']})",
                    said(METHODS[row["method"]], self.language),
                    self._name_language(row["language"]),
                    row["model"],
                    Cell(effect, order=repr(row["effect_size"])),
                    Cell(interval, order=_order(row["ci_low"])),
                    Cell(probability(row["p_association_holm"]), order=_order(row["p_association_holm"])),
                    Cell(two(row.get("twin_effect_size")), order=_order(row.get("twin_effect_size"))),
                    Cell("/".join(map(str, words)), order=repr(min(filter(is_number, words), default=0))),
                    said("yes" if findings.is_found(row) else "no", self.language),
                )
            )
        sheet = show_table("first_screen", rows)
        constant = [n for n in range(3) if len({row[n + 1] for row in rows}) == 1]
        return select_columns(sheet, [n for n in range(len(sheet.columns)) if n not in constant])

    # ---- the four answers

    def list_answers(self) -> list[tuple[str, list[str]]]:
        """Return the four questions with their answers, a sentence each."""
        answers = {
            "what": self._tell_what(),
            "sure": self._tell_sure(),
            "moves": self._tell_moves(),
            "next": self._tell_next(),
        }
        return [(self.say(name), found) for name, sentences in answers.items() if (found := list(sentences))]

    def _tell_what(self) -> Iterator[str]:
        lengths = ", ".join(dict.fromkeys(length for part in self.parts for length in part.results.ceat.lengths))
        for method, label in METHODS.items():
            if rows := [row for row in self.effects if row["method"] == method]:
                n = len({row["category"] for row in rows})
                counted = self.say("one_category") if n == 1 else self.say("categories", n=n)
                yield self._describe(label, self.say(f"of_{method}", lengths=lengths), counted, rows)
        if self._structures:
            yield self._describe("Sentence structures", self.say("of_structures"), "", self._structures)
        if overall := [row for row in self.percentages if row["bias_type"] == OVERALL]:
            counted = self.say("n_pairs", n=f"{max(row['n_pairs'] for row in overall):,}")
            yield self._describe("Sentence pairs", self.say("of_pairs"), counted, overall)

    def _describe(self, label: str, what: str, counted: str, rows: Iterable[EstimateRow]) -> Markup:
        languages = dict.fromkeys(row["language"] for row in rows if row.get("language"))
        named = ", ".join(map(self._name_language, sorted(languages, key=_order_language)))
        more = "; ".join(filter(None, [counted, named]))
        return html("<strong>{}</strong>: {}{}", said(label, self.language), what, f"; {more}" * bool(more))

    def _tell_sure(self) -> Iterator[str]:
        enough = list(filter(grid.may_be_found, self.computed))
        if enough:
            yield self.say("n_found", k=sum(map(findings.is_found, enough)), n=len(enough))
        if self.percentages:
            n_found = sum(map(findings.is_found, self.percentages))
            yield self.say("n_found_pairs", k=n_found, n=len(self.percentages))
        yield from self._tell_checks()
        yield from self._tell_detectable([row for row in enough if not findings.is_found(row)])
        if len(enough) < len(self.effects):
            yield self.say("enough", n=FEWEST_WORDS)
        for part in self.parts:
            lost = findings.describe_lost_words(part.results)
            if lost["words"]:
                kinds = ["lost", *(f"lost_{kind}" for kind in ("effects", "intervals") if lost[kind])]
                yield " ".join(self.say(kind, **lost) for kind in kinds)

    def _tell_checks(self) -> Iterator[str]:
        checks = [row for row in self.computed if row["is_check"]]
        if not checks:
            yield from [self.say("no_check")] if self.computed else []
            return
        failed = [row for row in checks if not (findings.is_found(row) and row["effect_size"] > 0)]
        values = [f"{row['category']} {two(row['effect_size'])}" for row in checks if row not in failed]
        passed = self.say("passed", k=len(values), n=len(checks))
        yield f"{passed.removesuffix('.')} ({', '.join(values)})." if 0 < len(values) <= _MOST_NAMED else passed
        if failed:
            places: dict[str, list[str]] = {}
            for row in failed:
                head = self.columns[row["method"], row["language"], row["model"]].replace("<br>", " ")
                value = f"{row['category']} {two(row['effect_size'])}"
                places.setdefault(Markup(head).striptags(), []).append(value)
            named = [f"{place}: {', '.join(values)}" for place, values in places.items()]
            yield self.say("failed", where="; ".join(named[:_MOST_NAMED]) + "; …" * (len(named) > _MOST_NAMED))

    def _tell_detectable(self, rows: Sequence[EstimateRow]) -> Iterator[str]:
        """Yield which shifts would have been found where nothing was."""
        wanted = {(row["method"], row["language"], row["category"], row["model"]) for row in rows}
        strengths = [
            row
            for part in self.parts
            for (method, category, model), row in part.results.strengths.items()
            if (method, part.language, category, model) in wanted
        ]
        limits = findings.find_detectable(rows, strengths)
        if sizes := limits.get("sizes"):
            low, middle, high = (f"{sizes[place]:.2f}" for place in (0, len(sizes) // 2, -1))
            yield self.say("detectable", low=low, middle=middle, high=high)
        n_beyond = (limits.get("n_beyond") or 0) + (limits.get("n_none") or 0)
        if n_beyond and limits["largest"]:
            yield self.say("beyond", largest=limits["largest"], k=n_beyond, n=limits["n"])
        elif n_beyond:
            yield self.say("none", k=n_beyond, n=limits["n"])

    def _tell_moves(self) -> Iterator[str]:
        _, row = self.headline
        is_told = False
        if row and is_number(row.get("leave_out_low")):
            ends = {"low": two(row["leave_out_low"]), "high": two(row["leave_out_high"])}
            yield html('{} <a href="{}">{}</a>', self.say("leave_out", **ends), row["address"], self.say("see"))
            is_told = True
        for part in self.parts:
            if len(part.results.ceat.lengths) > 1 and (changes := findings.list_changes(part.results.ceat)).found:
                yield self._tell_change(changes)
                is_told = True
        known = [row for row in self.effects if row.get("contexts_enough") and row["contexts_min"]]
        if known:
            enough, used = max(row["contexts_enough"] for row in known), min(row["contexts_min"] for row in known)
            yield self.say("contexts", used=used, enough=enough, band=f"{known[0]['band']:g}")
        elif row and not is_told:
            yield self.say("in_view")

    def _tell_change(self, changes: findings.Changes) -> str:
        if shown := changes.shown:
            (category, _), row = max(shown.items(), key=lambda each: abs(each[1]["slope"]))
            facts = {
                name: two(row[key]) for name, key in (("slope", "slope"), ("low", "slope_low"), ("high", "slope_high"))
            }
            return self.say("change", k=len(shown), n=len(changes.found), label=category, **facts)
        sentence = self.say("no_change", short=changes.shortest, long=changes.longest)
        if rest := changes.range_of_rest:
            sentence += " " + self.say("remains", low=two(rest[0]), high=two(rest[1]))
        return sentence

    def _tell_next(self) -> Iterator[str]:
        kind, row = self.headline
        if any(part.results.missing for part in self.parts):
            yield self._give("finish", "prasanga run")
        if self.computed and not any(each["is_check"] for each in self.computed):
            yield self._give("add_check", "seat: {categories: [C1, C2]}")
        known = [each for each in self.effects if each.get("contexts_enough") and each["contexts_min"]]
        most = max((each["contexts_enough"] for each in known), default=0)
        if most > min((each["contexts_min"] for each in known), default=0):
            yield self._give("more_contexts", f"samples: {{contexts_per_stimulus: {most}}}")
        if kind in ("not_found", "few_words", "not_computed"):
            yield self._give("more_words", "prasanga config categories")
        language = row.get("language") or self.parts[0].language
        measure = f"prasanga measure MODEL --language {language if language in LANGUAGES else ENGLISH}"
        yield self._give("own_model", measure)
        yield self._give("own_texts", f"{measure} --corpus 'texts/*.txt'")
        pages = {part.language: part.page for part in self.parts}
        page = pages.get(language, self.parts[0].page)
        yield html('<a href="{}#paper">{}</a>', page, self.say("to_paper"))

    def _give(self, name: str, command: str) -> Markup:
        return html("{} <code>{}</code>", self.say(name), command)


def _head_columns(names: Mapping[Column, Sequence[str]]) -> dict[Column, str]:
    """Return the head of each column: the names in which columns differ, or the first one if there is one column."""
    varied = [len(set(values)) > 1 for values in zip(*names.values(), strict=True)]
    kept = {key: list(compress(each, varied)) or each[:1] for key, each in names.items()}
    return {key: Markup("<br>").join(each) for key, each in kept.items()}


def _distance(row: EstimateRow) -> float:
    return abs(float(row["effect_size"] if "effect_size" in row else row["bias_percentage"] - 50))


def _order(value: object) -> str:
    return repr(value) if is_number(value) else ""


def _order_language(language: str) -> tuple[int, str]:
    order = list(LANGUAGES)
    return (order.index(language) if language in order else len(order)), language


def _write_tick(value: float) -> str:
    """Return a tick of an axis of effect sizes."""
    return with_sign(value, 0 if float(value).is_integer() else 1)


def fill_first_screen(screen: Screen, study: str, notes: Iterable[str]) -> Section:
    """Return the section of the first screen.

    Args:
        screen: what it says.
        study: name of the study.
        notes: of the study, for the reader who wants to be careful; an empty one is left out.
    """
    few = [
        grid.pairs_counted(row)
        for row in screen.percentages
        if row["bias_type"] != OVERALL and not findings.is_ranked(row)
    ]
    widget = render(
        "first_screen",
        language=screen.language,
        facts=screen.list_facts(study),
        number=screen.number,
        effects=screen.draw_effects(),
        percentages=screen.draw_percentages(),
        few=screen.say("few_types", k=len(few), low=min(few), high=max(few)) if few else "",
        answers=screen.list_answers(),
        sheet=screen.list_effects(),
        notes=list(filter(None, notes)),
        missing=[text for part in screen.parts for text in part.results.missing],
        say=screen.say,
        n_languages=len(screen.parts),
    )
    return Section(screen.title, "findings", widget=widget)
