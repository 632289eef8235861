"""Put the estimates and the bias percentages of a study into reading order.

Tables, figures and the page walk the same grids, so that they show the same numbers in the same order. A grid of
estimates has categories, models and segment lengths; one of pairs has sets, languages and bias types.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import polars as pl
import regex

from prasanga.associations.comparisons import MEAN, has_few_words, is_primary, sort_lengths
from prasanga.base.errors import InputError
from prasanga.methods import FAMILY
from prasanga.pairs.preferences import OVERALL
from prasanga.schema import CONVENTIONS, describe_losses, describe_missing_effect
from prasanga.stats.permutation import ALPHA

FIRST_DRAWS = 100
"""The smallest number of draws for which the effect is stored, besides all draws."""

METHODS = {method.name: method.label for method in FAMILY}
"""How a method of word associations is called in a sentence, a caption or a menu, by the name of its table."""

_LABELS = {method.published_as: method.label for method in FAMILY}
PUBLISHED_AS = {name: _LABELS[name] for name in ("weat", "seat", "ceat", "log_probability_bias")}
"""How methods are called in a sentence or a head, in the order of Table 4 of Sadhu et al."""

LANGUAGES = {"en": "English", "hi": "Hindi", "bn": "Bangla"}
"""Names by code, in the order of Table 2 of Sahoo et al. (2024)."""


def name_of_language(language: str) -> str:
    """Return English for en; an unknown code is returned unchanged."""
    return LANGUAGES.get(language, language)


EstimateRow: TypeAlias = Mapping[str, Any]
"""One row of the table of estimates, by column name."""

KEY = ("category", "model", "segment_length")
_SETS = ("target_x", "target_y", "attribute_a", "attribute_b")


class TitledCategory(NamedTuple):
    """A test category with its target sets and its attribute sets in short: "flowers/insects", "male/female names"."""

    name: str
    targets: str
    attributes: str


@dataclass(frozen=True)
class Grid:
    """All estimates of CEAT by (category, model, segment length): primary ones (`MEAN`), and at each length."""

    categories: tuple[TitledCategory, ...]
    models: tuple[str, ...]
    lengths: tuple[str, ...]
    estimates: Mapping[tuple[str, str, str], EstimateRow]

    @property
    def rows(self) -> list[EstimateRow]:
        """Return all estimates in reading order, the primary one of a category and model first."""
        names = [category.name for category in self.categories]
        found = (self.list_lengths(*place) for place in product(names, self.models))
        return [row for rows in found for row in rows if row is not None]

    @property
    def primary(self) -> list[EstimateRow]:
        """Return the primary estimates in reading order."""
        return [row for row in self.rows if is_primary(row)]

    def list_lengths(self, category: str, model: str) -> list[EstimateRow | None]:
        """Return the estimates of a category and model: the primary one, and one for each length."""
        return [self.at(category, model, length) for length in (MEAN, *self.lengths)]

    def at(self, category: str, model: str, length: str) -> EstimateRow | None:
        """Return the estimate of one cell; None if the table has no row for it."""
        return self.estimates.get((category, model, length))


def grid_of(ceat: pl.DataFrame) -> Grid:
    """Arrange the table of estimates.

    Categories are sorted by name (C2 before C10), lengths by words (75 before >75); models keep the order in which the
    table has them.

    Raises:
        InputError: two rows for one cell.
    """
    if ceat.select(KEY).is_duplicated().any():
        raise InputError(f"the table of CEAT has two rows for one {', '.join(KEY)}. Measure again: `prasanga run`.")
    rows = ceat.rows(named=True)
    categories = {row["category"]: category_of(row) for row in reversed(rows)}
    return Grid(
        categories=tuple(categories[name] for name in sorted(categories, key=natural_order)),
        models=tuple(dict.fromkeys(ceat["model"])),
        lengths=tuple(sort_lengths(ceat["segment_length"])),
        estimates={tuple(row[name] for name in KEY): row for row in rows},
    )


def name_length(label: str) -> str:
    """Return a `segment_length` as a reader sees it: "9 words", "mean over lengths"."""
    return "mean over lengths" if label == MEAN else f"{label} words"


def select_primary(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the primary estimates of a method: of CEAT those over the fixed lengths, of others all."""
    return estimates.filter(segment_length=MEAN) if "segment_length" in estimates.columns else estimates


def split_draws(ceat: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of CEAT, then the estimates with random draws as rows of their own, as papers print them.

    These have the effect, its standard error and p over draws; intervals and p of words do not depend on draws.
    """
    if "effect_random" not in ceat.columns:
        return ceat
    taken = {"effect_size": "effect_random", "standard_error": "standard_error_random", "p_draws": "p_draws_random"}
    changed = {name: pl.col(source) for name, source in taken.items() if name in ceat.columns}
    untold = {"p_association_holm", "log_p_draws", "draws_low", "draws_high"} & {*ceat.columns}
    of_random = {**changed, **dict.fromkeys(untold, pl.lit(None)), "sample_mode": pl.lit("random")}
    random = ceat.filter(pl.col("effect_random").is_not_null()).with_columns(**of_random)
    return pl.concat([ceat, random.cast(ceat.schema)])


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a cell is a number that can be shown: not null, NaN or infinite."""
    return isinstance(value, int | float) and math.isfinite(value)


def is_significant(p: object, alpha: float = ALPHA) -> TypeGuard[float]:
    """Return whether there is a p, and it is at most the level."""
    return is_number(p) and p <= alpha


MISSING = "–"
"""Shown in place of a missing number."""


def write_interval(low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return both ends as `write` writes them, "0.1 to 0.2"; a dash where one is not there."""
    return f"{write(low)} to {write(high)}" if is_number(low) and is_number(high) else MISSING


def why_missing(estimate: EstimateRow | None) -> str:
    """Return why a cell has no number, in the words of the table; empty if it has one."""
    if estimate is None:
        return "not in the table"
    effect, lost = estimate["effect_size"], estimate["lost"]
    if effect is not None:
        return "" if is_number(effect) else f"the estimate is not a finite number ({effect})"
    return describe_missing_effect(lost) or describe_losses(lost) or "not computed, and the table does not say why"


def few_words(estimate: EstimateRow | None) -> str:
    """Return how many words of how many an effect rests on, where they are few: "2/14 v 3/14"; else nothing.

    Few are fewer than `FEWEST_WORDS` in a set, or a set that lost more than a third of its list. No finding is built on
    such an effect, and it is marked everywhere.
    """
    if estimate is None or not is_number(estimate["effect_size"]):
        return ""
    said = [
        prefix + " v ".join(f"{estimate.get(f'n_{side}')}/{estimate.get(f'listed_{side}')}" for side in sides)
        for sides, prefix in (("xy", ""), ("ab", "attributes "))
        if has_few_words(estimate, sides)
    ]
    return ", ".join(said)


def may_be_found(estimate: EstimateRow) -> bool:
    """Return whether an effect has enough words for a finding, and words of the study's own choice."""
    return not few_words(estimate) and not estimate.get("as_published")


@dataclass(frozen=True)
class Marking:
    """A mark by a column of p; `templates/marks.tsv` says what it means.

    Attributes:
        column: of the table of estimates.
        alpha: the level.
        above: mark p above the level (not significant), as Tables 5 and 6 of Sadhu et al. do.
    """

    column: str
    alpha: float
    above: bool = False

    def marks(self, estimate: EstimateRow) -> bool:
        """Return whether the estimate has the mark. One without this p has none."""
        p = estimate.get(self.column)
        return is_number(p) and is_significant(p, self.alpha) != self.above


HOLM = Marking("p_association_holm", ALPHA)
"""The recommended mark."""

NOT_BY_DRAWS = Marking("p_draws", 0.005, above=True)
"""The mark of Tables 5 and 6 of Sadhu et al."""


NOT_COMPARED = "not compared with random-weight copies"


def conventions_of(rows: Iterable[EstimateRow]) -> list[str]:
    """Return the choices behind the rows with an effect (all rows if none has one), each text once."""
    rows = list(rows)
    rows = [row for row in rows if is_number(row["effect_size"])] or rows
    rest = [] if any(row.get("n_twins") for row in rows) else [NOT_COMPARED]
    named = ([f"{name} {row[name]}" for name in CONVENTIONS if row.get(name) is not None] for row in rows)
    return list(dict.fromkeys(", ".join([*texts, *rest]) for texts in named))


def names_of_sets(row: EstimateRow) -> tuple[str, str, str, str]:
    """Return the names of the four sets of an estimate as a reader sees them ("male names", not "male_names")."""
    x, y, a, b = (str(row[name]).replace("_", " ") for name in _SETS)
    return x, y, a, b


def category_of(row: EstimateRow) -> TitledCategory:
    """Return the category of an estimate."""
    x, y, a, b = names_of_sets(row)
    return TitledCategory(row["category"], name_both(x, y), name_both(a, b))


def name_both(first: str, second: str) -> str:
    """Return the names of two sets in short, words that both begin or end with only once."""
    x, y = first.split(), second.split()

    def count_alike(words: list[str], others: list[str]) -> int:
        return len(list(takewhile(lambda both: both[0] == both[1], zip(words, others, strict=False))))

    before = count_alike(x[:-1], y[:-1])
    after = count_alike(x[:before:-1], y[:before:-1])
    kept = f"{' '.join(x[before : len(x) - after])}/{' '.join(y[before : len(y) - after])}"
    return " ".join([*x[:before], kept, *x[len(x) - after :]])


def anchor_of(name: str, kind: str = "category") -> str:
    """Return the address of something on the page by its name and kind; no two names have the same."""
    # a vowel sign or the like is a mark, and no letter to Python
    kept = (c.isalnum() or c in "_.-" or unicodedata.category(c).startswith("M") for c in name)
    return f"{kind}-" + "".join(c if is_kept else f"~{ord(c):x}~" for c, is_kept in zip(name, kept, strict=True))


def address_of_number(method: str, row: EstimateRow) -> str:
    """Return the address of the panel for an estimate."""
    parts = (row.get(name) for name in KEY)
    return anchor_of(".".join((method, *(str(part) for part in parts if part is not None))), "behind")


def natural_order(text: str) -> list[tuple[int, str]]:
    """Return a sorting key in which numbers inside a name count as numbers."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text) if part]


NO_PAIRS = "no pairs of this type"
"""Why a group has no percentage of a bias type."""

TYPES = ("age", "disability", "gender", "physical-appearance", "socioeconomic", "religion", "caste")
"""Bias types in the order of Table 2 of Sahoo et al. (2024); others come after them."""


class Group(NamedTuple):
    """The pairs of one language in one set; `title` names the set where there are several."""

    set: str
    language: str
    title: str


@dataclass(frozen=True)
class PairGrid:
    """Rows by (set, language, model, bias type). `types` is without `OVERALL`."""

    groups: tuple[Group, ...]
    models: tuple[str, ...]
    types: tuple[str, ...]
    rows: Mapping[tuple[str, str, str, str], EstimateRow]

    def at(self, group: Group, model: str, bias_type: str) -> EstimateRow | None:
        """Return the row of one cell; None if the table has none."""
        return self.rows.get((group.set, group.language, model, bias_type))

    def models_of(self, group: Group) -> list[str]:
        """Return the models that scored the pairs of a group."""
        return [model for model in self.models if self.at(group, model, OVERALL) is not None]


def pair_grid_of(bias: pl.DataFrame) -> PairGrid:
    """Arrange a table of bias percentages."""
    named = bias.with_columns(pl.col("set", "model").fill_null("")).rows(named=True)
    return PairGrid(
        groups_of((row["set"], row["language"]) for row in named),
        tuple(dict.fromkeys(row["model"] for row in named)),
        tuple(sort_types(bias["bias_type"])),
        {(row["set"], row["language"], row["model"], row["bias_type"]): row for row in named},
    )


def groups_of(found: Iterable[tuple[str, str]]) -> tuple[Group, ...]:
    """Return groups of (set, language), sets as they come, languages in the paper's order."""
    pairs = list(dict.fromkeys(found))
    sets = list(dict.fromkeys(name for name, _ in pairs))
    order = list(LANGUAGES)
    pairs.sort(key=lambda pair: (sets.index(pair[0]), order.index(pair[1]) if pair[1] in order else len(order)))
    return tuple(
        Group(name, language, ", ".join(filter(None, [name_of_language(language), name if len(sets) > 1 else ""])))
        for name, language in pairs
    )


def sort_types(found: Iterable[str]) -> list[str]:
    """Return bias types, each once, without `OVERALL`: types of the paper in its order, then others by name."""
    names = set(found) - {OVERALL}
    return [*(name for name in TYPES if name in names), *sorted(names - set(TYPES))]


def name_of_type(bias_type: str) -> str:
    """Return a bias type as a reader sees it: "Physical appearance", "All pairs"."""
    return "All pairs" if bias_type == OVERALL else bias_type.replace("-", " ").capitalize()


def choose_percentage(bias: pl.DataFrame, preset: str) -> str:
    """Return the column that Table 2 shows: means over runs with `preset: paper`, as far as there are any."""
    by_runs = preset == "paper" and bias["runs_mean"].is_not_null().any()
    return "runs_mean" if by_runs else "bias_percentage"


def differs_from_half(row: EstimateRow) -> bool:
    """Return whether the percentage differs from 50 by the exact test, after Holm's correction."""
    return is_significant(row["p_binomial_holm"])


def tests_of(grid: PairGrid) -> int:
    """Return of how many tests the family of the correction is; a row without a test says nothing of it."""
    return max(row["n_tests"] or 0 for row in grid.rows.values())


def why_no_percentage(row: EstimateRow | None) -> str:
    """Return why a cell has no number; empty if it has one."""
    if row is None:
        return NO_PAIRS
    if is_number(row["bias_percentage"]):
        return ""
    if row["n_left_out"] == row["n_pairs"]:
        return "all pairs were left out"
    return "all scored pairs tie"


def pairs_left_out(row: EstimateRow) -> Mapping[str, Sequence[str]]:
    """Return the pairs that a row leaves out, by the code of the reason."""
    found: Mapping[str, Sequence[str]] = json.loads(row["left_out"] or "{}")
    return found


def pairs_counted(row: EstimateRow) -> int:
    """Return how many pairs the percentage is of."""
    ties = row["n_ties"] if row["ties"] == "against" else 0
    return int(row["n_stereotypical"] + row["n_other"] + ties)


# --------------------
# The words of a study.


def glosses_of(categories: Mapping[str, Any]) -> Mapping[str, str]:
    """Return English glosses by stimulus."""
    glosses: Mapping[str, str] = categories.get("glosses", {})
    return glosses


def title_of_set(word_set: Mapping[str, Any]) -> str:
    """Return the name of a word set as a reader sees it."""
    return str(word_set.get("gloss") or word_set["name"]).replace("_", " ")


def gloss_of(stimulus: str, glosses: Mapping[str, str]) -> str:
    """Return the gloss on one line; empty if it is missing or equals the word."""
    gloss = " ".join((glosses.get(stimulus) or "").split())
    return "" if gloss == stimulus else gloss


def pieces_as_text(row: Mapping[str, Any]) -> str:
    """Return the pieces of a stimulus, of a row of a tokenizer's audit; empty in audits from before they were kept.

    A vowel sign that begins a piece gets a dotted circle; without a letter, fonts show a box or nothing.
    """
    return " + ".join(_SIGN_WITHOUT_LETTER.sub("◌", piece) for piece in row.get("pieces") or ())


_SIGN_WITHOUT_LETTER = regex.compile(r"(?<![\p{L}\p{M}\u200c\u200d])(?=\p{M})")
