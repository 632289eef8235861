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
    """The range of numbers of a figure."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return a place in percent from the left."""
        return round(min(100.0, max(0.0, 100 * (value - self.low) / (self.high - self.low))), 2)


Span: TypeAlias = tuple[float, float] | None


class Point(NamedTuple):
    """An estimate in a figure: its interval, mean ± SD of its copies, and what is said of it."""

    value: float
    interval: Span
    copies: Span
    is_found: bool
    address: str
    told: Sequence[str]


def _place_point(row: EstimateRow, value: str, ends: str, twins: str, told: Sequence[str]) -> Point:
    low, high, mean, sd = (row.get(name) for name in (f"{ends}_low", f"{ends}_high", twins, "twin_sd"))
    interval = (low, high) if is_number(low) and is_number(high) else None
    copies = (mean - sd, mean + sd) if is_number(mean) and is_number(sd) else None
    return Point(row[value], interval, copies, findings.is_found(row), row["address"], told)


Column: TypeAlias = tuple[str, ...]


class Line(NamedTuple):
    """A row of a figure: its group, its label, a short name, and its points by column."""

    group: str
    label: str
    code: str
    points: Mapping[Column, Point]


class Forest(NamedTuple):
    """A figure of at most `_MOST_COLUMNS` columns: their heads, lines by group, and where the middle and ticks are."""

    caption: str
    heads: Sequence[str]
    groups: Sequence[tuple[str, Sequence[tuple[Line, Sequence[Point | None]]]]]
    ruler: Ruler
    middle: float
    ticks: Sequence[tuple[float, str]]


def draw_forests(
    caption: str, heads: Mapping[Column, str], lines: Sequence[Line], middle: float, write: Callable[[float], str]
) -> list[Forest]:
    """Return the figures that have these columns, lines in their order; a line without a point in one is left out."""
    points = [point for line in lines for point in line.points.values()]
    ends = [end for point in points for span in (point.interval, point.copies) for end in span or ()]
    numbers = [middle, *ends, *(point.value for point in points)]
    width = (max(numbers) - min(numbers)) or 1.0
    ruler = Ruler(min(numbers) - 0.05 * width, max(numbers) + 0.05 * width)
    power = 10.0 ** math.floor(math.log10(width / 4))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= width / 4)
    counted = range(math.ceil((ruler.low - middle) / step), math.floor((ruler.high - middle) / step) + 1)
    ticks = [(ruler.at(middle + n * step), write(middle + n * step)) for n in counted]
    columns, forests = list(heads), []
    size = math.ceil(len(columns) / math.ceil(len(columns) / _MOST_COLUMNS)) if columns else 1
    for start in range(0, len(columns), size):
        chosen = columns[start : start + size]
        shown = (line for line in lines if line.points.keys() & set(chosen))
        groups = [
            (group, [(line, [line.points.get(column) for column in chosen]) for line in of_group])
            for group, of_group in groupby(shown, key=lambda line: line.group)
        ]
        forests.append(Forest(caption, [heads[key] for key in chosen], groups, ruler, ruler.at(middle), ticks))
    return forests


# --------------------


@dataclass(frozen=True)
class Screen:
    """What the first screen says of the results of one language or several.

    Attributes:
        parts: results by language.
        language: of the page's own words.
        is_part: whether the study has other languages, which have pages of their own.
    """

    parts: Sequence[Part]
    language: str = ENGLISH
    is_part: bool = False

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
        kinds = {"not_computed": self.effects, "structures": self._structures, "nothing": True}
        return next(kind for kind, rows in kinds.items() if rows), {}

    # ---- sentences

    @property
    def title(self) -> str:
        """Return the title: a sentence that names one estimate, or two short ones on traits."""
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
            rows = self._structures
            facts = {"n": max(each["n"] or 0 for each in rows), "k": len({each["structure"] for each in rows})}
        return self.say(kind, **facts)

    @property
    def number(self) -> list[str]:
        """Return sentences on the number of the title: interval, p, copies, and why it is no finding."""
        kind, row = self.headline
        if not row:
            return []
        if "effect_size" in row:
            facts = self._tell_effect(row)
        else:
            facts = [*self._tell_percentage(row, findings.is_found(row)), self.say("even")]
        if kind in ("not_found", "few_words"):
            facts = [self.say("largest", label=row["label"], where=self._place(row)), *facts]
        text = " · ".join(facts)
        sentences = [f"{text[:1].upper()}{text[1:]}."]
        alike = [each for each in self.computed if findings.is_found(each) and each["is_check"] == row.get("is_check")]
        if kind == "found" and len(alike) > 1:
            is_of_people = not row["is_check"] and any(each["is_check"] for each in self.computed)
            sentences.append(self.say("overestimated_people" if is_of_people else "overestimated", k=len(alike)))
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
            known = {"p": probability(row["p_association_holm"]), "n": row.get("n_tests") or len(self.computed)}
            parts.append(self.say("p", where=self._name_language(row["language"]), **known))
        return [*parts, self._tell_copies(row.get("twin_effect_size"), row.get("twin_sd"), two)]

    def _tell_percentage(self, row: EstimateRow, is_balanced: bool) -> list[str]:
        """Return the facts of a percentage, the balanced one first where it is the number that is shown."""
        parts = [self.say("percent", percent=one_decimal(row["bias_percentage"]), n=grid.pairs_counted(row))]
        parts.append(self.say("interval", low=one_decimal(row["exact_low"]), high=one_decimal(row["exact_high"])))
        if is_number(row["balanced_percentage"]):
            ends = f"{one_decimal(row['balanced_ci_low'])} to {one_decimal(row['balanced_ci_high'])}"
            balanced = f"{self.say('balanced', percent=one_decimal(row['balanced_percentage']))} ({ends})"
            parts.insert(0 if is_balanced else 2, balanced)
        if is_number(p := row["p_label_holm" if is_balanced else "p_binomial_holm"]):
            where = self._name_language(row["language"])
            parts.append(self.say("p", where=where, p=probability(p), n=row["n_tests"]))
        return [*parts, self._tell_copies(row["twin_balanced_percentage"], row["twin_sd"], one_decimal)]

    def _tell_copies(self, mean: object, sd: object, write: Callable[[float], str]) -> str:
        if not is_number(mean):
            return self.say("no_copies")
        return self.say("copies", mean=write(mean), sd=write(sd).lstrip("+") if is_number(sd) else grid.MISSING)

    def _name_language(self, language: str) -> str:
        return said(name_of_language(language), self.language)

    def _place(self, row: EstimateRow) -> str:
        """Return the head of the column of an effect in one line."""
        return Markup(self.columns[row["method"], row["language"], row["model"]].replace("<br>", ", ")).striptags()

    def list_facts(self) -> list[str]:
        """Return the facts of the first line: models, methods, languages, number of tests."""
        rows = [*self.effects, *self.percentages, *self._structures]
        models = list(dict.fromkeys(row["model"] for row in rows if row["model"]))
        methods = [METHODS[name] for name in METHODS if any(row["method"] == name for row in self.effects)]
        methods += ["Sentence structures"] * bool(self._structures) + ["Sentence pairs"] * bool(self.percentages)
        languages = {str(row["language"]) for row in rows if row.get("language")}
        languages |= {part.language for part in self.parts if part.page}
        tested = [
            row.get("p_association_holm", row.get("p_binomial_holm")) for row in [*self.computed, *self.percentages]
        ]
        n = sum(map(is_number, tested))
        return [
            *(models if len(models) <= 3 else [self.say("n_models", n=len(models))]),
            *(said(method, self.language) for method in methods),
            *map(self._link_language, sorted(languages, key=_order_language)),
            *[self.say("n_tests", n=n)] * bool(n),
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
            told = [*self._tell_effect(row), self.say("click")]
            point = _place_point(row, "effect_size", "ci", "twin_effect_size", told)
            points[row["method"], row["language"], row["model"]] = point
        has_checks = any(not is_other for is_other, *_ in lines)
        titles = [self.say("checks"), self.say("people" if has_checks else "associations")]
        order = sorted(lines, key=lambda key: (key[0], -max(point.value for point in lines[key].values()), key[1:]))
        written = [Line(titles[key[0]], key[1], key[2], lines[key]) for key in order]
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
        names, lines = dict[Column, Sequence[str]](), dict[str, dict[Column, Point]]()
        for row in shown:
            key = (row["model"] or "", row["language"], row["set"] or "")
            names[key] = (key[0], self._link_language(key[1]), key[2])
            is_balanced = is_number(row["balanced_percentage"])
            columns = ("balanced_percentage", "balanced_ci") if is_balanced else ("bias_percentage", "exact")
            point = _place_point(row, *columns, "twin_balanced_percentage", self._tell_percentage(row, is_balanced))
            lines.setdefault(row["bias_type"], {})[key] = point
        order = [name for name in (OVERALL, *grid.sort_types(lines)) if name in lines]
        written = [Line("", grid.name_of_type(name), "", lines[name]) for name in order]
        return draw_forests(self.say("stereotypes"), _head_columns(names), written, 50.0, "{:.4g}".format)

    @property
    def few_types(self) -> str:
        """Return which bias types have too few pairs to rank; empty if none has."""
        rows = [row for row in self.percentages if row["bias_type"] != OVERALL and not findings.is_ranked(row)]
        few = list(map(grid.pairs_counted, rows))
        return self.say("few_types", k=len(few), high=max(few)) if few else ""

    def list_effects(self) -> Sheet | None:
        """Return the sortable table of all effects, or of bias percentages where pairs alone were measured."""
        if not self.computed:
            named = [{**row, "bias_type": grid.name_of_type(row["bias_type"])} for row in self.percentages]
            return show_table("first_percentages", named) if named else None
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
        answers = (self._tell_what(), self._tell_sure(), self._tell_moves(), self._tell_next())
        named = zip(("what", "sure", "moves", "next"), map(list, answers), strict=True)
        return [(self.say(name), sentences) for name, sentences in named if sentences]

    def _tell_what(self) -> Iterator[str]:
        lengths = ", ".join(dict.fromkeys(length for part in self.parts for length in part.results.ceat.lengths))
        told = []
        for method, label in METHODS.items():
            if n := len({row["category"] for row in self.effects if row["method"] == method}):
                told.append((label, f"{self.say(f'of_{method}', lengths=lengths)}; {self.say('categories', n=n)}"))
        if self._structures:
            told.append(("Sentence structures", self.say("of_structures")))
        if self.percentages:
            overall = (row for row in self.percentages if row["bias_type"] == OVERALL)
            n = sum({(row["set"], row["language"]): row["n_pairs"] for row in overall}.values())
            told.append(("Sentence pairs", f"{self.say('of_pairs')}; {self.say('n_pairs', n=f'{n:,}')}"))
        yield from (html("<strong>{}</strong>: {}", said(label, self.language), what) for label, what in told)

    def _tell_sure(self) -> Iterator[str]:
        enough = list(filter(grid.may_be_found, self.computed))
        if enough:
            has_copies = any(is_number(row.get("twin_effect_size")) for row in enough)
            name = "n_found" if has_copies else "n_found_without_copies"
            yield self.say(name, k=sum(map(findings.is_found, enough)), n=len(enough))
        if ranked := list(filter(findings.is_ranked, self.percentages)):
            yield self.say("n_found_pairs", k=sum(map(findings.is_found, ranked)), n=len(ranked))
        yield from self._tell_checks()
        yield from self._tell_detectable([row for row in enough if not findings.is_found(row)])
        if len(enough) < len(self.effects):
            yield self.say("enough", n=FEWEST_WORDS)
        for part in self.parts:
            lost = findings.describe_lost_words(part.results)
            if lost["words"]:
                kinds = ["lost", *(f"lost_{kind}" for kind in ("effects", "intervals") if lost[kind])]
                yield " ".join(self.say(kind, **lost) for kind in kinds)

    @property
    def lacks_checks(self) -> bool:
        """Return whether no sanity check was computed; results older than these checks tell nothing of it."""
        known = any(each["sanity_check"] for part in self.parts for each in part.categories.values())
        return known and bool(self.computed) and not any(row["is_check"] for row in self.computed)

    def _tell_checks(self) -> Iterator[str]:
        if self.lacks_checks:
            yield self.say("no_check")
        places = dict[str, dict[str, list[str]]](passed={}, failed={}, few_checked={})
        for row in self.computed:
            if row["is_check"] and not row.get("as_published"):
                verdict = "passed" if findings.is_found(row) and row["effect_size"] > 0 else "failed"
                values = places["few_checked" if grid.few_words(row) else verdict].setdefault(self._place(row), [])
                values.append(f"{row['category']} {two(row['effect_size'])}")
        passed, failed = (sum(map(len, places[name].values())) for name in ("passed", "failed"))
        for name, found in places.items():
            each = [f"{place}: {', '.join(values)}" for place, values in found.items()]
            named = "; ".join([*each[:_MOST_COLUMNS], *["(…)"] * (len(each) > _MOST_COLUMNS)])
            if named:
                yield self.say(name, where=named, k=passed, n=passed + failed)

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
        told = list[str]()
        if row and is_number(row.get("leave_out_low")):
            ends = {"low": two(row["leave_out_low"]), "high": two(row["leave_out_high"])}
            told.append(html('{} <a href="{}">{}</a>', self.say("leave_out", **ends), row["address"], self.say("see")))
        for part in self.parts:
            if len((ceat := part.results.ceat).lengths) > 1 and (changes := findings.list_changes(ceat)).found:
                told.append(self._tell_of(part.language, self._tell_change(part.language, changes)))
        if self.contexts:
            told.append(self._tell_of(self.contexts["of"], self.say("contexts", **self.contexts)))
        yield from told or [self.say("in_view")] * bool(row)

    @cached_property
    def contexts(self) -> dict[str, Any]:
        """Return how many contexts a word has at least, and how many would steady every effect; empty if not known.

        Of several languages it is the one that lacks contexts, and needs most.
        """
        known = [row for row in self.effects if row.get("contexts_enough") and row["contexts_min"]]
        if not known:
            return {}
        wanted = max(known, key=lambda row: (row["contexts_enough"] > row["contexts_min"], row["contexts_enough"]))
        rows = [row for row in known if row["language"] == wanted["language"]]
        used, enough = min(row["contexts_min"] for row in rows), max(row["contexts_enough"] for row in rows)
        return {"used": used, "enough": enough, "band": f"{wanted['band']:g}", "of": wanted["language"]}

    def _tell_of(self, language: str, text: str) -> str:
        """Return a text with the name of its language before it, where there are several."""
        return html("<strong>{}</strong>: {}", self._name_language(language), text) if len(self.parts) > 1 else text

    def _tell_change(self, language: str, changes: findings.Changes) -> str:
        if not changes.shown:
            return self.say("no_change", short=changes.shortest, long=changes.longest)
        (category, _), row = max(changes.shown.items(), key=lambda each: abs(each[1]["slope"]))
        facts = {name.removeprefix("slope_"): two(row[name]) for name in ("slope", "slope_low", "slope_high")}
        place = ("ceat", language, category)
        labels = {(each["method"], each["language"], each["category"]): each["label"] for each in self.effects}
        return self.say("change", k=len(changes.shown), n=len(changes.found), label=labels[place], **facts)

    def _tell_next(self) -> Iterator[str]:
        kind, row = self.headline
        if any(part.results.missing for part in self.parts):
            yield self._give("finish", "prasanga run")
        language = row.get("language") or self.parts[0].language
        if self.lacks_checks and language in LANGUAGES:
            asked = sorted({"C1", "C2", *(each["category"] for each in self.effects if each["method"] == "seat")})
            yield self._give("add_check", f"seat: {{categories: [{', '.join(asked)}]}}")
        if self.contexts and self.contexts["enough"] > self.contexts["used"]:
            more = f"samples: {{contexts_per_stimulus: {self.contexts['enough']}}}"
            if self.is_part or len(self.parts) > 1:
                more = f"languages: {{{self.contexts['of']}: {{{more}}}}}"
            yield self._give("more_contexts", more)
        if kind in ("not_found", "few_words", "not_computed"):
            yield self._give("more_words", "prasanga config 'categories.<name>.targets'")
        yield from self._give_measure(language) if language in LANGUAGES else []
        pages = {part.language: part.page for part in self.parts}
        page = pages.get(language, self.parts[0].page)
        if row:
            yield html('<a href="{}#paper">{}</a>', page, self.say("to_paper"))

    def _give_measure(self, language: str) -> Iterator[str]:
        measure = f"prasanga measure MODEL --language {language}"
        yield self._give("own_model", measure)
        if self.effects:
            yield self._give("own_texts", f"{measure} --corpus 'texts/*.txt'")
        if self.percentages:
            yield self._give("own_pairs", f"{measure} --pairs pairs.csv")

    def _give(self, name: str, command: str) -> Markup:
        words = Markup(" ").join(html("<span>{}</span>", word) for word in command.split(" "))
        return html("{} <code>{}</code>", self.say(name), words)


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
    return with_sign(value, max(0, len(f"{abs(value):.4g}".partition(".")[2])))


def fill_first_screen(screen: Screen, study: str, notes: Iterable[str]) -> Section:
    """Return the section of the first screen.

    Args:
        screen: what it says.
        study: name of the study.
        notes: of the study, for the reader who wants to be careful; an empty one is left out.
    """
    shown = {"study": study, "notes": list(filter(None, notes)), "language": screen.language}
    missing = [text for part in screen.parts for text in part.results.missing]
    widget = render("first_screen", screen=screen, missing=missing, **shown)
    return Section(screen.title, "findings", widget=widget)
