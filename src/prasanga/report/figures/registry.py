"""The figures of a study, one entry each: rule, files, caption and name among the downloads follow from it.

A figure is a function of this package that takes tables, options and `width`, and returns a matplotlib figure. To add
one, write the function and an entry here. The rules read this module while they plan, so it imports neither matplotlib
nor the functions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

FOLDER = "results/report/figures"
"""Where figures lie; those in its folder `column` are as wide as one column of two, others as the page."""

COLUMN = "column"
_LONGEST_NAME = 120  # of what a config calls something, in the name of a file

Options: TypeAlias = Mapping[str, Any]
"""Arguments of the function that draws a figure, by name."""


class Measured(NamedTuple):
    """What decides which figures a study has, besides its results: the config, and the models that score traits."""

    config: Mapping[str, Any]
    models_of_traits: Sequence[str] = ()


def _once(_: Measured) -> list[Options]:
    return [{}]


@dataclass(frozen=True)
class Figure:
    """A figure, or a family of figures that one function draws.

    Attributes:
        file: name of the files, without ending; `{option}` stands for an option that tells members of a family apart.
        label: what it shows, for the list of downloads; with `{option}` as in `file`.
        plot: the function as `module.function` of this package.
        tables: results that it is drawn from, in the order of the function's arguments.
        caption: text below it on the page, in a paper, and in Snakemake's report (as reStructuredText); with `{option}`
            as in `file`.
        method: sentence for a paper's section on methods; `{key}` stands for the value of a key of the config,
            `{n_pairs}` and `{n_traits}` for how many there are.
        variants: options of each figure that a study has; none where the study has no such figure.
        on_page: whether the page shows it. A figure that it does not show is drawn when its file is asked for.
    """

    file: str
    label: str
    plot: str
    tables: tuple[str, ...]
    caption: str
    method: str
    variants: Callable[[Measured], Sequence[Options]] = _once
    on_page: bool = True

    @property
    def function(self) -> str:
        """Return the full name of the function."""
        return f"{__package__}.{self.plot}"

    def name(self, options: Options) -> str:
        """Return the name of the files with these options; what a file name should not hold becomes _."""
        return self.file.format_map({key: _safe(str(value)) for key, value in options.items()})

    def filled(self, options: Options) -> Figure:
        """Return the figure with these options in its label and caption."""
        return replace(self, label=self.label.format_map(options), caption=self.caption.format_map(options))


class Drawing(NamedTuple):
    """One figure of a study: its entry, its options, and the paths of its tables by name."""

    figure: Figure
    options: Options
    tables: Mapping[str, str]


def _band(measured: Measured) -> list[Options]:
    return [{"band": measured.config["associations"]["band"]}]


def _both_modes(measured: Measured) -> list[Options]:
    return [{}] if {"fixed", "random"} <= set(measured.config["associations"]["sample_modes"]) else []


def _each_category(measured: Measured) -> list[Options]:
    of_seat = measured.config.get("seat", {}).get("categories", [])
    return [{"category": name} for name in dict.fromkeys([*measured.config["categories"], *of_seat])]


_TRAITS = (
    "We scored {n_traits} traits in the sentence structures S1 to S5 with male and with female terms (Kurita et al."
    " 2019; pieces of a masked word: {log_probability.pieces}; probabilities of the terms: {log_probability.terms})."
)

WORDS = Figure(
    "words_{category}",
    "associations of single words, {category}",
    "words.plot_words",
    ("ceat_words", "categories"),
    "Associations s(w, A, B) of single words in {category}, by model: which words carry its effect.",
    "An association of a word is the difference of its mean cosines with the two attribute sets, standardized for each"
    " model over the words of both target sets.",
    lambda measured: [{"category": name} for name in measured.config["categories"]],
    on_page=False,  # it shows the words themselves
)
"""The words of a category, whose file the page names."""

SPECIFICATIONS = Figure(
    "specifications_{category}",
    "specification curve, {category}",
    "robustness.plot_specifications",
    ("multiverse",),
    "All estimates of {category} under every combination of choices that the vectors allow, in ascending order, with"
    " the choices behind each (after Simonsohn, Simmons and Nelson 2020). Filled markers have a star.",
    "We computed every estimate under all combinations of choices that the vectors allow, and corrected the tests of"
    " each combination by Holm.",
    _each_category,
    on_page=False,  # one a category, of hundreds of marks
)
"""The specification curve of a category, whose file the page names."""

FIGURES = (
    Figure(
        "effect_by_length",
        "effect size against context length",
        "effects.plot_effect_by_length",
        ("ceat",),
        "Combined effect size of CEAT against segment length in words, one panel a category, one line a model (after"
        " Figure 1 of Sadhu et al. 2024). Every estimate is drawn, whatever its p. Bars: 95 % interval over words and"
        " contexts, where every resampled set has at least eight words.",
        "We measured CEAT (Guo and Caliskan 2021) in segments of {samples.lengths} words, with"
        " {associations.n_samples} draws per estimate and at most {samples.contexts_per_stimulus} contexts of a word;"
        " intervals come from {associations.n_resamples} bootstrap resamples of words and contexts.",
    ),
    Figure(
        "sample_modes",
        "fixed against random draws",
        "agreement.plot_sample_modes",
        ("ceat",),
        "Each estimate with the same draws for all models (fixed) against the same estimate with draws of its own"
        " (random), one point for each category and model. The distance from the line of equal values shows what"
        " drawing alone can do.",
        "We computed each estimate twice from {associations.n_samples} draws: with the same contexts for all models,"
        " and with contexts that are drawn for each model.",
        _both_modes,
    ),
    Figure(
        "scales",
        "effects of raw, centered and standardized vectors",
        "robustness.plot_scales",
        ("ceat",),
        "Effect size of CEAT at the longest segment length by vectors as they are, less the mean of all the study's"
        " contexts, and with each dimension standardized over them (Timkey and van Schijndel 2021), one panel a model."
        " Where the markers lie apart, the mean or a few dimensions decide.",
        "We repeated CEAT with vectors that are centered, and with vectors whose dimensions are standardized, over all"
        " contexts of the study (Timkey and van Schijndel 2021).",
    ),
    WORDS,
    SPECIFICATIONS,
    Figure(
        "settling",
        "where effects settle",
        "effects.plot_settling",
        ("ceat", "differences", "settling"),
        "How far the effect at each length is from the one at the longest, with paired 95 % intervals; the shaded band"
        " is what counts as settled.",
        "An effect has settled from the length on at which it stays within {associations.band} of the one at the"
        " longest length; intervals of the paired differences come from {associations.n_resamples} bootstrap"
        " resamples.",
        _band,
    ),
    Figure(
        "convergence",
        "effects as draws are added",
        "effects.plot_convergence",
        ("ceat", "convergence"),
        "The effect of the first draws against their number, at the longest segment length; around that of all draws"
        " the band is shaded. Markers are filled from where the effect stays in it.",
        "We computed each estimate from more and more draws, up to {associations.n_samples}, and looked from where it"
        " stays within {associations.band} of the last one.",
        _band,
    ),
    *(
        Figure(
            file,
            f"sentence pairs, differences of scores by {by}",
            "likelihoods.plot_differences",
            ("pair_differences",),
            f"Score of the stereotypical sentence minus that of the other by {by}, density over all pairs, one panel a"
            " model (after Figures 4 and 5 of Sahoo et al. 2024). Right of the line the stereotype is preferred. The"
            " area under each line is 1.",
            "We scored both sentences of {n_pairs} pairs with each model (encoders: {pairs.encoder}; encoder-decoders:"
            " {pairs.encoder_decoder}; {pairs.reduction} over the scored pieces).",
            variants,
        )
        for file, by, variants in (
            ("score_differences", "language", _once),
            ("score_differences_by_type", "bias type", lambda _: [{"lines": "bias_type"}]),
        )
    ),
    Figure(
        "structures",
        "traits in sentence structures",
        "likelihoods.plot_structures",
        ("structures",),
        "Associations of traits in the sentence structures S1 to S5 (after Figure 2 of Sadhu et al. 2024): the box"
        " holds the middle half of the traits, its line is the median, the whiskers reach the smallest and the"
        " largest.",
        _TRAITS,
    ),
    Figure(
        "hexbins_{model}",
        "prior and corrected scores by sentence structure, {model}",
        "likelihoods.plot_hexbins",
        ("traits",),
        "Prior against corrected association of each trait in {model}, by sentence structure (after Figures 2 and 11 of"
        " Sadhu et al. 2024): how far the sentence alone leans to one group, and what the trait adds to it. Where there"
        " are traits enough, hexagons tell by their colour how many they hold.",
        _TRAITS,
        lambda measured: [{"model": name} for name in measured.models_of_traits],
    ),
    Figure(
        "methods",
        "effects by method, side by side",
        "robustness.plot_methods",
        ("methods",),
        "Effect size of each category by every method, one panel a method, with 95 % intervals over words where every"
        " set has at least eight. CEAT at the longest segment length.",
        "We measured the same categories by every method that fits the models; the estimates are compared by their"
        " order (Kendall's tau), since the methods have different units.",
    ),
    Figure(
        "published",
        "this study beside a paper's numbers",
        "agreement.plot_published",
        ("comparison",),
        "Effects of this study against those that a paper prints, one panel a method; on the line the two are equal."
        " Bars: 95 % interval of this study. Open markers: cells of the paper that are in doubt.",
        "We set our estimates beside the published ones for the same test, model and length; texts and programs"
        " differ.",
    ),
)
"""All figures, in the order of the page."""


def drawings_of(measured: Measured, tables: Mapping[str, str]) -> dict[str, Drawing]:
    """Return the figures that a study has, by the name of their files.

    Args:
        measured: its config and models.
        tables: paths of the results that are there, by name.
    """
    return {
        figure.name(options): Drawing(figure, options, {name: tables[name] for name in figure.tables})
        for figure in FIGURES
        if tables.keys() >= set(figure.tables)
        for options in figure.variants(measured)
    }


def figure_named(name: str) -> Figure | None:
    """Return the figure whose files have this name, its label and caption filled in; None for a name of other files."""
    for figure in FIGURES:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(figure.file))
        if found := re.fullmatch(pattern, name):
            return figure.filled(found.groupdict())
    return None


def figure_files(names: Iterable[str], report: Mapping[str, Any]) -> list[str]:
    """Return the files of figures: SVG for the page, other formats at the widths that are asked for.

    Args:
        names: of the figures; also a pattern of Snakemake's.
        report: the section `report` of the config.
    """
    names, widths = list(names), report["widths"]
    others = [ending for ending in report["formats"] if ending != "svg"]
    of_page = ["svg", *(others if "page" in widths else [])]
    of_column = others if COLUMN in widths else []
    return [
        f"{folder}/{name}.{ending}"
        for folder, endings in ((FOLDER, of_page), (f"{FOLDER}/{COLUMN}", of_column))
        for name in names
        for ending in endings
    ]


def _safe(name: str) -> str:
    """Return a name as a part of a file's; one that is long, or would lose its letters, with a digest of it."""
    safe = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    return (
        safe
        if name.isascii() and len(name) <= _LONGEST_NAME
        else f"{safe[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    )
