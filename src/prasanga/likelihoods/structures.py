"""Traits in the sentence structures S1 to S5: their sentences, their scores, and the spread of scores per structure.

Sadhu et al. 2024, sections 4.3 and 5.2.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import regex

from prasanga.base.errors import InputError
from prasanga.base.io import read_frame, remade_by, require_columns
from prasanga.base.places import exists, place
from prasanga.base.seeds import generator
from prasanga.base.yaml import Entry, read_text, suggest
from prasanga.lexicon.loading import load_lexicon
from prasanga.lexicon.model import AUTHORS_LANGUAGE as LANGUAGE
from prasanga.lexicon.model import Lexicon, read_yaml, spelling_of
from prasanga.lexicon.templates import SentenceTemplate, read_entry_sentence, read_sentence
from prasanga.likelihoods.categories import AGGREGATIONS, SCORE_NOISE, fill_sentences
from prasanga.pairs.preferences import SPANS
from prasanga.schema import BOTH_POLARITIES, TABLES
from prasanga.stats.effects import FloatArray, IndexArray, choice
from prasanga.stats.intervals import FEWEST_TEMPLATES, crossed_mean_interval, difference_interval
from prasanga.text.words import count_words, words

# --------------------
# Traits, and the sentence structures S1 to S5 (Sadhu et al. 2024, section 4.3).
#
# A trait is an adjective for people, and the attribute of the sentence structures. It may have its own sentences: for
# S4 and S5 in our lists (`resources/traits/<language>/<polarity>.yaml`), for all structures in the authors' lists.


WRITTEN = "written"
"""Origin of a sentence from the lists of traits or structures, not from the study's texts."""
POLARITIES = ("positive", "negative")
STRUCTURES = ("S1", "S2", "S3", "S4", "S5")
"""The sentence structures of Sadhu et al. (2024), section 4.3 and appendix A.4, with more and more context."""
GROUPS = ("male", "female")
"""The two groups of terms; an association is the first group's score minus the second's."""

TRAIT_SENTENCES = pl.Schema(
    {
        **dict.fromkeys(("polarity", "trait", "gloss", "structure", "origin"), pl.String()),
        **{"stored": pl.Boolean(), "group": pl.String(), "pair": pl.Int64(), "term": pl.String()},
        **{**SPANS, "n_words": pl.Int64()},
    }
)
"""Columns of the structures filled with traits and terms.

`origin` is `WRITTEN` or the title of a text of the study, `stored` whether tables of results may include the sentence
(the text has a license), and `pair` the number of the term's pair."""

ODDITIES_SCHEMA = TABLES["trait_oddities"].polars
"""Columns of the table of oddities."""

_PER_TRAIT = "per-trait"


class Trait(NamedTuple):
    """A trait word and its own sentences.

    Attributes:
        polarity: positive or negative.
        word: its spelling, normalized.
        gloss: an English translation; may be "".
        sentences: by structure.
        place: file and line.
        oddities: rows of `ODDITIES_SCHEMA`; None in our layout, which refuses mistakes.
    """

    polarity: str
    word: str
    gloss: str
    sentences: Mapping[str, SentenceTemplate]
    place: str
    oddities: list[tuple[Any, ...]] | None = None


def read_trait_sentences(settings: Mapping[str, Any], lexicon: Lexicon) -> pl.DataFrame:
    """Put every trait with every term into every structure.

    A trait's own sentence takes precedence over the structure's, and a drawn sentence over both.

    Args:
        settings: plain values: the file `structures` (`resources/templates/<language>/structures.yaml`), with the terms
            of the two groups as pairs in order, and for each structure a sentence for all traits, or `per-trait` if
            each trait has its own; the files `traits` (`read_traits`), of one or both polarities; and `drawn`, the
            table of S5 from the corpus (`prasanga.likelihoods.drawn`), or None.
        lexicon: inflects the terms.

    Returns:
        `TRAIT_SENTENCES`, by file and trait, then structure, group and pair.

    Raises:
        InputError: a missing file, or one of another kind; an unknown key; groups of different sizes or with a common
            term; files and lexicon of different languages; a trait that is listed twice, lacks a sentence for a
            per-trait structure, or occurs twice in its sentence; a term without an entry or a form in the lexicon.
    """
    path = Path(settings["structures"])
    are_drawn = settings.get("s5_from_corpus", False)
    language, terms, structures, _ = read_structures(path, lexicon.normalization, are_drawn=are_drawn)
    drawn = _read_drawn(settings.get("drawn"), language)
    lists = {file: read_traits(file, lexicon.normalization) for file in settings["traits"]}
    for file, found in ((path, language), *((file, of_list) for file, (of_list, _) in lists.items())):
        if found != lexicon.language:
            said = f"{file}: `language` is {found!r}, but the word lists are for {lexicon.language!r}"
            raise InputError(f"{said}. Name files of that language under `log_probability`.")
    known, asked = {stimulus.name for stimulus in lexicon.stimuli}, {term for group in GROUPS for term in terms[group]}
    if not asked <= known and exists(shipped := f"resources/stimuli/{language}"):  # the authors' lists lack some terms
        groups = place(f"resources/suffix_groups/{language}.yaml")
        lexicon = load_lexicon(place(shipped), groups, normalization=lexicon.normalization)
        known = {stimulus.name for stimulus in lexicon.stimuli}
    if missing := [term for group in GROUPS for term in terms[group] if term not in known]:
        raise InputError(
            f"{path}: the study's word lists lack the terms {', '.join(missing)}, so they cannot be inflected. Add"
            " them to a word set, with `searched: false` to keep them out of the search in texts."
        )
    earlier: dict[tuple[str, str], Trait] = {}
    items = []
    for trait in (trait for _, traits in lists.values() for trait in traits):
        first = earlier.setdefault((trait.polarity, trait.word), trait)
        if first is not trait:
            fault = f"{trait.place}: the {trait.polarity} trait {trait.word} is also at {first.place}"
            raise InputError(f"{fault}. Delete one, or name one list only under `log_probability.traits`.")
        for name, shared in structures.items():
            written = trait.sentences.get(name, shared), WRITTEN, True
            template, *source = drawn.get((name, trait.word), written)
            if template is None:
                raise InputError(
                    f"{trait.place}: the trait {trait.word} lacks a sentence for {name}, which is per trait in {path}."
                    f" Write `{name}: ...` for it."
                )
            if (trait.oddities is None or template is shared) and has_word(trait.word, " ".join(template.texts)):
                raise InputError(
                    f"{trait.place}: the sentence of {name} repeats the trait {trait.word} without a mask"
                    f" ({template.place}). Write another sentence for it: `{name}: ...`."
                )
            names = trait.polarity, trait.word, trait.gloss, name, *source
            for group in GROUPS:
                for pair, term in enumerate(terms[group]):
                    items.append(((*names, group, pair, term), template, term, trait.word))
    *columns, _ = TRAIT_SENTENCES
    filled = fill_sentences(items, pl.Schema({name: TRAIT_SENTENCES[name] for name in columns}), lexicon)
    return filled.with_columns(n_words=pl.Series(map(count_words, filled["text"]), dtype=pl.Int64))


def read_traits(path: str | Path, normalization: str | None = None) -> tuple[str, list[Trait]]:
    """Read a list of traits, in our layout (YAML) or in the authors' (.csv); return its language and its traits.

    Args:
        path: the file. A CSV has its polarity in its name (positive_traits_bn.csv).
        normalization: the study's, if not the language's own.

    Raises:
        InputError: a missing file, or one of another kind; an unknown key; no or an unknown polarity; an empty list.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        return LANGUAGE, list(_read_authors_traits(path, normalization))
    content = read_yaml(path, normalization=normalization)
    content.require("a list of traits", required=["language", "polarity", "traits"])
    language, polarity = content.text("language"), content.text("polarity")
    if polarity not in POLARITIES:
        raise InputError(f"{content.place}: `polarity` is {polarity!r}.{suggest(polarity, POLARITIES)}")
    traits = []
    for entry in content.entries_of("traits"):
        entry.require("a trait", required=["word"], optional=["gloss", *STRUCTURES])
        word, place = entry.text("word"), entry.place
        own = [name for name in STRUCTURES if name in entry]
        sentences = {
            name: read_sentence(entry.text(name), name=f"{word} {name}", place=place, language=language) for name in own
        }
        traits.append(Trait(polarity, word, entry.text("gloss"), sentences, place))
    if not traits:
        raise InputError(f"{path}: `traits` is empty. Write under it `- {{word: ..., gloss: ..., S4: ..., S5: ...}}`.")
    return language, traits


def list_oddities(paths: Iterable[str | Path], normalization: str | None = None) -> pl.DataFrame:
    """Return the oddities of several lists of traits, in their order; columns `ODDITIES_SCHEMA`."""
    traits = (trait for path in paths for trait in read_traits(path, normalization)[1])
    return pl.DataFrame([odd for trait in traits for odd in trait.oddities or ()], schema=ODDITIES_SCHEMA, orient="row")


def has_word(trait: str, text: str) -> bool:
    """Return whether a text has the trait as whole words."""
    around, sought = (" ".join(word for word, _, _ in words(each)) for each in (text, trait))
    return bool(sought) and f" {sought} " in f" {around} "


def _read_drawn(path: str | None, language: str) -> dict[tuple[str, str], tuple[SentenceTemplate, str, bool]]:
    """Return the drawn sentences by structure and trait, each with its origin and whether tables may include it."""
    found = {}
    for trait, text, origin, licence, *source in read_frame(path).rows() if path else ():
        sentence = read_sentence(text, name="S5", place=", byte ".join(map(str, source)), language=language)
        found["S5", trait] = sentence, origin, licence is not None
    return found


def read_structures(
    path: Path, normalization: str | None, *, are_drawn: bool
) -> tuple[str, dict[str, tuple[str, ...]], dict[str, SentenceTemplate | None], dict[str, str]]:
    """Read a file of sentence structures (`resources/templates/<language>/structures.yaml`).

    Args:
        path: the file.
        normalization: the study's, if not the language's own.
        are_drawn: whether S5 comes from the corpus, which needs `persons`.

    Returns:
        The language; the terms by group, pairs in order; the sentences by structure, None for per-trait ones; and nouns
        for a person of any sex, each with the form of a term that can replace it.

    Raises:
        InputError: a missing file, or one of another kind; an unknown key; no structure; groups of different sizes.
    """
    content, needed = read_yaml(path, normalization=normalization), ["language", "targets", "structures"]
    what = f"a file of sentence structures{' for `log_probability.s5_from_corpus`' * are_drawn}"
    content.require(what, required=[*needed, *["persons"] * are_drawn], optional=["persons"])
    language, by_name, targets = content.text("language"), content.entry_of("structures"), content.entry_of("targets")
    if not by_name:
        raise InputError(f"{path}: `structures` is empty. Write under it `S1: {{text: ...}}`, or `S4: {_PER_TRAIT}`.")
    by_name.require("the structures", required=[], optional=STRUCTURES)
    sentences: dict[str, SentenceTemplate | None] = {}
    for name in (name for name in STRUCTURES if name in by_name):
        entry = by_name[name]
        if isinstance(entry, Entry):
            entry.require(f"the structure {name}", required=["text"], optional=["gloss"])
        elif entry != _PER_TRAIT:
            raise InputError(
                f"{by_name.place}: {name} is {entry!r}. Write `{name}: {{text: ...}}`, or `{name}: {_PER_TRAIT}`."
            )
        sentences[name] = read_entry_sentence(entry, name, language) if isinstance(entry, Entry) else None
    targets.require("the terms under `targets`", required=GROUPS)
    terms = {group: targets.texts(group) for group in GROUPS}
    first, second = terms.values()
    if len(first) != len(second) or not first:
        raise InputError(
            f"{targets.place}: {GROUPS[0]} has {len(first)} terms and {GROUPS[1]} {len(second)}, but they form pairs."
            " Give equally many, at least one."
        )
    persons = content.entry_of("persons")
    return language, terms, sentences, {noun: form for form in persons for noun in persons.texts(form)}


# --------------------
# The trait lists of Sadhu et al. (2024): CSV files with parts of sentences, joined as in their program.
#
# A structure has three columns: an ending of the target (Mask_Suffix), the text after the trait (Trait_Suffix), and the
# rest (Placeholder). A part with a hyphen is an ending of the trait (-তা), and is joined to it. Here the mask covers the
# target with its ending; in the program the ending follows the mask.


_ORDERS = {
    **dict.fromkeys(("S1", "S2"), "{target} {rest} {trait}"),
    "S3": "{trait} {target} {rest}",
    **dict.fromkeys(("S4", "S5"), "{rest} {trait} {target}"),
}
_PARTS = ("Mask_Suffix", "Placeholder", "Trait_Suffix")
_COLUMNS = ("Trait", *(f"{name}_{part}" for name in STRUCTURES for part in _PARTS))
FEWEST_WORDS = {"S4": 4, "S5": 6}
"""A shorter sentence lacks the context of its structure."""


def _read_authors_traits(path: Path, normalization: str | None) -> Iterator[Trait]:
    """Yield the traits of a CSV of the authors, with all sentences unchanged, and lists of oddities."""
    polarity = next((name for name in POLARITIES if name in path.stem.lower()), None)
    if polarity is None:
        fault = f"{path}: neither its name nor its text says positive or negative"
        raise InputError(f"{fault}. Rename it, for example to positive_traits_bn.csv.")
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), restval="")
    if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
        fault = f"{path} lacks columns {', '.join(missing)}; it has {', '.join(reader.fieldnames or ()) or 'none'}"
        raise InputError(f"{fault}. Give a list of traits in YAML, or a CSV with the columns of Sadhu et al. (2024).")
    spelling, number = spelling_of(LANGUAGE, normalization), 0
    for number, row in enumerate(reader, start=1):
        word, place = spelling(row["Trait"]).strip(), f"{path}, line {reader.line_num}"
        if not word:
            raise InputError(f"{place}: the column Trait is empty. Write the trait, or delete the row.")
        sentences, oddities = {}, []
        for name in STRUCTURES:
            on_target, rest, after_trait = (row[f"{name}_{part}"] for part in _PARTS)
            ending = after_trait.strip()
            trait = "{attribute}" + (ending[1:] if ending.startswith("-") else f" {after_trait}")
            text = _ORDERS[name].format(target="{target}" + on_target, rest=rest, trait=trait)
            # Blanks between parts are one too many if a part is empty.
            text = spelling(regex.sub(r" (?=[।,?!])", "", regex.sub(r"\s+", " ", text))).strip()
            sentence = read_sentence(text, name=f"{word} {name}", place=place, language=LANGUAGE)
            sentences[name] = sentence
            oddities += [(str(path), number, word, name, *odd) for odd in _find_oddities(row, name, word, sentence)]
        yield Trait(polarity, word, "", sentences, place, oddities)
    if not number:
        raise InputError(f"{path}: an empty list. Give a list of traits.")


def _find_oddities(
    row: Mapping[str, str], name: str, word: str, sentence: SentenceTemplate
) -> Iterator[tuple[str, str, str]]:
    """Yield the kind of each oddity, the finding, and how it is handled."""
    empty = [f"{name}_{part}" for part in _PARTS if not row[f"{name}_{part}"].strip()]
    n_words, ending = count_words(" x ".join(sentence.texts)), row[f"{name}_Trait_Suffix"].strip()
    if empty and name == "S5":  # in other structures a part is often empty on purpose
        yield "empty-cell", ", ".join(empty), "the sentence is made of what is there"
    if n_words < FEWEST_WORDS.get(name, 0):
        yield "no-context", f"a sentence of {n_words} words", "scored as it is, though it lacks the structure's context"
    if has_word(word, " ".join(sentence.texts)):
        yield "trait-in-sight", "the trait stands in the context once more", "scored as it is; no mask hides it there"
    if ending.startswith("-"):
        yield "ending-after-hyphen", ending, f"written onto the trait: {word}{ending[1:]}"
    if not regex.match(r"[\p{L}\p{M}]", row[f"{name}_Mask_Suffix"]) and name not in ("S4", "S5"):
        yield "target-without-ending", repr(row[f"{name}_Mask_Suffix"]), "the bare term stands there"


# --------------------
# Scores of traits in structures.
#
# The terms of a group have one score in a sentence, by `log_probability.aggregation`, fill and prior alike. The
# association is the score of the male terms minus the female terms': positive if a male subject is likelier.


QUANTITIES = ("fill", "prior", "corrected")
_HOW = ("pieces", "aggregation", "prior_mask")

TRAITS_SCHEMA = TABLES["traits"].polars
"""Columns of the table of traits, one row per model, polarity, trait and structure.

`male_fill` and the like are a group's scores; `fill`, `prior` and `corrected` are the associations, male minus female.
`n_pairs` counts their pairs of terms, `n_pieces` all pieces of these terms, `n_words` the words of the sentence.
`masked_as_one` says that one mask hid a trait of several pieces (`pieces` first). `left_out` says which pairs are
missing and why, or why the number is."""

TERMS_SCHEMA = TABLES["terms"].polars
"""Columns of the table of terms, one row per model, polarity, trait, structure and term."""


class StructureTables(NamedTuple):
    """The scores of one model, or of its twins with the column `twin`."""

    traits: pl.DataFrame
    """`TRAITS_SCHEMA`"""
    terms: pl.DataFrame
    """`TERMS_SCHEMA`"""


def measure_traits(
    scored: pl.DataFrame,
    *,
    model: str,
    pieces: str = "all",
    aggregation: str = "log-sum-exp",
    prior_mask: str = "target",
) -> StructureTables:
    """Return the associations of all traits in all structures by one model, or by each of its twins.

    Args:
        scored: `TRAIT_SENTENCES` with the columns `SENTENCE_SCORES`; of twins also `twin`.
        model: its name, for the tables.
        pieces: how a term of several pieces is scored (`log_probability`).
        aggregation: how the terms of a group become one score: log-sum-exp or mean.
        prior_mask: where the prior was read (`score_sentences`).

    Returns:
        Both tables in the order of the sentences. If a term lacks a score in a sentence, its counterpart does not count
        there either. Without any pair, or with a trait that cannot be masked, a row lacks numbers.

    Raises:
        InputError: an unknown aggregation.
    """
    choice("log_probability.aggregation", aggregation, AGGREGATIONS[:2])
    twin = {"twin": pl.Int64()} if "twin" in scored.columns else {}
    key = [*twin, "polarity", "trait", "structure"]
    role, left_out = pl.col("left_out_role"), pl.col("left_out")
    who = pl.when(role == "target").then("term").when(role == "attribute").then("trait")
    start, end = (pl.col("target").list.get(place) for place in (0, 1))
    scored = scored.with_columns(
        model=pl.lit(model),
        pieces=pl.lit(pieces),
        aggregation=pl.lit(aggregation),
        prior_mask=pl.lit(prior_mask),
        corrected=pl.col("fill") - pl.col("prior"),
        form=pl.col("text").str.slice(start, end - start),
        reason=pl.when(left_out.is_not_null()).then(pl.concat_str("left_out", who, separator=" ", ignore_nulls=True)),
    ).with_columns(missing=pl.col("reason").drop_nulls().first().over([*key, "pair"]))
    kept, both = pl.col("missing").is_null(), tuple(product(GROUPS, ("fill", "prior")))
    traits = scored.group_by(key, maintain_order=True).agg(
        pl.col("gloss", "origin", "n_words", "model", "n_attribute_pieces", *_HOW).first(),
        n_pairs=(kept & (pl.col("group") == GROUPS[0])).sum(),
        n_pieces=pl.col("n_pieces").filter(kept).sum(),
        left_out=pl.col("reason").filter(pl.col("reason") == pl.col("missing")).unique(maintain_order=True),
        **{f"{g}_{what}": _combined(pl.col(what).filter(kept, pl.col("group") == g), aggregation) for g, what in both},
    )
    traits = traits.with_columns(
        *((pl.col(f"{group}_fill") - pl.col(f"{group}_prior")).alias(f"{group}_corrected") for group in GROUPS),
        masked_as_one=pl.lit(pieces == "first") & (pl.col("n_attribute_pieces") > 1),
        left_out=pl.when(pl.col("left_out").list.len() > 0).then(pl.col("left_out").list.join("; ")),
    ).with_columns((pl.col(f"{GROUPS[0]}_{what}") - pl.col(f"{GROUPS[1]}_{what}")).alias(what) for what in QUANTITIES)
    said = pl.when(role.is_not_null()).then(pl.format("{} ({})", left_out, role)).otherwise(left_out)
    scored = scored.with_columns(left_out=said, text=pl.when("stored").then("text"))
    tables = (traits, TRAITS_SCHEMA), (scored, TERMS_SCHEMA)
    return StructureTables(
        *(table.select(*schema, *twin).cast(pl.Schema({**schema, **twin})) for table, schema in tables)
    )


def _combined(scores: pl.Expr, aggregation: str) -> pl.Expr:
    """Return one score of several terms from their log-probabilities: of their sum, or their mean."""
    return scores.mean() if aggregation == "mean" else (scores - scores.max()).exp().sum().log() + scores.max()


# --------------------
# The effect of context on log-probability bias: the spread of associations over traits, per structure.
#
# The paper shows it in a plot (Sadhu et al. 2024, Figure 2 and section 5.2): prior associations spread from S1 to S3,
# and approach zero in S4 and S5. Here the spread is a number per structure, and two structures are compared on the
# traits that both have, with a bootstrap over traits: a trait is drawn with its sentences in both.


SPREAD_SCHEMA = TABLES["structures"].polars
"""Columns of the spread, one row per model, polarity (`all` is both), structure and quantity (fill, prior, corrected).

Numbers are of associations over the `n` traits that have one; sd and variance with n - 1, 0 where all are the same.
`mean_low` and `mean_high` are the ends of the bootstrap interval of the mean; `mean_size` is the mean distance from
zero, `mean_words` the mean length of the sentences. The twin is a random-weight copy of the model.

`overall` is the mean over all structures, of the `n_overall` traits that all of them have, with an interval in which
traits and structures are resampled: the same in all rows of a model, polarity and quantity. `overall_without` is that
mean without the structure of the row."""

STRUCTURE_DIFFERENCES_SCHEMA = TABLES["structure_differences"].polars
"""Columns of the comparison of two structures on the `n` traits that both have.

`ratio` is sd_2 / sd_1, `difference` mean_2 - mean_1, each with a 95% bootstrap interval over traits."""

_FEWEST_TRAITS = 8
_INDEX = ["structure", "origin", "n_words", *_HOW]
_NEEDED = ("model", "polarity", "trait", "n_pairs", *_INDEX, *QUANTITIES)


def spread_by_structure(
    traits: pl.DataFrame, twins: pl.DataFrame | None = None, *, n_resamples: int = 2000, seed: int = 47
) -> pl.DataFrame:
    """Return the spread of associations by structure; columns `SPREAD_SCHEMA`.

    Args:
        traits: of one or several models (`TRAITS_SCHEMA`).
        twins: the same of their twins, under the names of their models.
        n_resamples: of the interval of the mean, which needs 8 traits; may be 0.
        seed: of the study.

    Raises:
        InputError: a column is missing.
    """
    names = ("model", "polarity", "structure", "quantity")
    described = _describe(traits)
    if twins is not None:
        of_twins = _describe(twins).select(*names, twin_mean="mean", twin_sd="sd")
        described = described.join(of_twins, on=names, how="left", maintain_order="left")
    overall = {
        (*key, quantity): _measure_overall(structures, table)
        for key, quantity, structures, table in _pivot_structures(traits)
    }
    rows = []
    for row in described.iter_rows(named=True):
        model, polarity, structure, quantity = (row[name] for name in names)
        values = np.array(row.pop("values"))
        if n_resamples and len(values) >= _FEWEST_TRAITS:
            means = values[_draw_traits(len(values), n_resamples, seed, polarity)].mean(axis=1)
            row["mean_low"], row["mean_high"] = np.quantile(means, [0.025, 0.975]).tolist()
        columns, without = overall[model, polarity, quantity]
        columns = {**columns, "overall_without": without[structure], "n_resamples": n_resamples, "seed": seed}
        rows.append(row | columns)
    return pl.DataFrame(rows, schema=dict(SPREAD_SCHEMA))


def _describe(traits: pl.DataFrame) -> pl.DataFrame:
    """Return the spread of the associations of each model, polarity, structure and quantity, and their `values`."""
    value, probability = pl.col("value").cast(pl.Float64), pl.col("probability")
    is_drawn = (pl.col("origin") != WRITTEN) & value.is_not_null()
    # a spread within rounding errors is 0, as for a prior that all traits of a structure share
    sd = value.std() * (value.std() > SCORE_NOISE)
    tables = []
    for (model, polarity), rows in _by_polarity(traits):
        apart = rows.select(*_INDEX, **_subtract_probabilities()).unpivot(QUANTITIES, index=_INDEX)
        long = rows.unpivot(QUANTITIES, index=_INDEX, variable_name="quantity")
        long = long.with_columns(probability=apart["value"])
        groups = long.sort("structure", maintain_order=True).group_by("structure", "quantity", maintain_order=True)
        described = groups.agg(
            *(pl.lit(name).alias(column) for column, name in (("model", model), ("polarity", polarity))),
            **{"n": value.count(), "n_left_out": value.null_count(), "mean_words": pl.col("n_words").mean()},
            n_drawn=pl.when(is_drawn.any()).then(is_drawn.sum()),
            **{"mean": value.mean(), "mean_size": value.abs().mean(), "sd": sd, "variance": sd**2},
            **{"probability_mean": probability.mean(), "probability_variance": probability.var()},
            **{"min": value.min(), "q25": value.quantile(0.25, "linear"), "median": value.median()},
            **{"q75": value.quantile(0.75, "linear"), "max": value.max(), "values": value.drop_nulls()},
            **{name: pl.col(name).first() for name in _HOW},
        )
        tables.append(described)
    return pl.concat(tables)


def _subtract_probabilities() -> dict[str, pl.Expr]:
    """Return by quantity the probability of a male term minus its female counterpart's, averaged over the pairs.

    Sadhu et al. plot this difference in Figures 2 and 11. It does not exist for means of logarithms.
    """
    of_group = {(g, what): pl.col(f"{g}_{what}").cast(pl.Float64).exp() for g in GROUPS for what in ("fill", "prior")}
    found = {what: of_group[GROUPS[0], what] - of_group[GROUPS[1], what] for what in ("fill", "prior")}
    found["corrected"] = found["fill"] - found["prior"]
    kept = pl.col("aggregation") == "log-sum-exp"
    return {what: pl.when(kept).then(found[what] / pl.col("n_pairs")) for what in QUANTITIES}


def compare_structures(traits: pl.DataFrame, *, n_resamples: int = 2000, seed: int = 47) -> pl.DataFrame:
    """Compare every two structures on the traits that both have; columns `STRUCTURE_DIFFERENCES_SCHEMA`.

    The interval of the ratio of standard deviations comes from the difference of their logarithms; both are
    bias-corrected percentiles over resampled traits, the same traits for both structures.

    Args:
        traits: as for `spread_by_structure`.
        n_resamples: of the intervals, which need 8 traits; may be 0.
        seed: of the study.

    Raises:
        InputError: a column is missing.
    """
    rows = []
    for (model, polarity), quantity, structures, table in _pivot_structures(traits):
        for i, j in combinations(range(len(structures)), 2):
            both = table[:, [i, j]]
            both = both[np.isfinite(both).all(axis=1)]
            row = {"model": model, "polarity": polarity, "quantity": quantity, "n": len(both)}
            row |= {"structure_1": structures[i], "structure_2": structures[j]}
            row |= {"n_resamples": n_resamples, "seed": seed}
            rows.append(row | _compare(both, n_resamples, seed, polarity))
    return pl.DataFrame(rows, schema=dict(STRUCTURE_DIFFERENCES_SCHEMA))


def gather_traits(twins: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """Join the tables of twins with random weights, under the names of their models; return None without twins."""
    if not twins:
        return None
    return pl.concat(table.with_columns(model=pl.lit(model)) for model, table in twins.items())


def _measure_overall(structures: list[str], table: FloatArray) -> tuple[dict[str, Any], dict[str, float | None]]:
    """Return the columns of the mean over all structures, and that mean without each structure."""
    table = table[np.isfinite(table).all(axis=1)]
    n, n_structures = table.shape
    mean = _mean(table)
    columns: dict[str, Any] = {"n_overall": n, "overall": mean}
    without = {name: _mean(np.delete(table, place, axis=1)) for place, name in enumerate(structures)}
    if mean is None or n < _FEWEST_TRAITS or n_structures < FEWEST_TEMPLATES:
        columns["overall_note"] = (
            f"no interval: {n} traits in all of {n_structures} structures, and an interval over both needs"
            f" {_FEWEST_TRAITS} and {FEWEST_TEMPLATES}"
        )
    else:
        ends = crossed_mean_interval(table)
        columns |= {"overall_low": ends.low, "overall_high": ends.high}
    return columns, without


def _compare(both: FloatArray, n_resamples: int, seed: int, polarity: str) -> dict[str, Any]:
    if len(both) < 2:
        return {"note": f"{len(both)} traits have both structures, and a spread takes two"}
    mean_1, mean_2 = both.mean(axis=0)
    deviations = (float(values.std(ddof=1)) for values in both.T)
    sd_1, sd_2 = (sd if sd > SCORE_NOISE else 0.0 for sd in deviations)
    found: dict[str, Any] = {"sd_1": sd_1, "sd_2": sd_2, "mean_1": mean_1, "mean_2": mean_2}
    found |= {"difference": mean_2 - mean_1, "note": "no ratio: in one of them all traits have the same association"}
    if vary := sd_1 > 0 and sd_2 > 0:
        found |= {"ratio": sd_2 / sd_1, "note": None}
    if not n_resamples:
        return {**found, "note": "no interval was asked for (associations.n_resamples is 0)"}
    if len(both) < _FEWEST_TRAITS:
        return {**found, "note": f"no interval: {len(both)} traits, and an interval over traits needs {_FEWEST_TRAITS}"}
    drawn = both[_draw_traits(len(both), n_resamples, seed, polarity)]  # (n_resamples, n, 2)
    means = drawn.mean(axis=1)
    apart = difference_interval(means[:, 1], means[:, 0], mean_2, mean_1)
    found |= {"difference_low": apart.low, "difference_high": apart.high}
    if vary:
        with np.errstate(divide="ignore"):
            logs = np.log(drawn.std(axis=1, ddof=1))
        logs[~np.isfinite(logs)] = np.nan
        ratio = difference_interval(logs[:, 1], logs[:, 0], float(np.log(sd_2)), float(np.log(sd_1)))
        low, high = (None if end is None else float(np.exp(end)) for end in (ratio.low, ratio.high))
        found |= {"ratio_low": low, "ratio_high": high, "note": ratio.note or None}
    return found


def _mean(table: FloatArray) -> float | None:
    return float(table.mean()) if table.size else None


def _draw_traits(n: int, n_resamples: int, seed: int, polarity: str) -> IndexArray:
    """Return (n_resamples, n) traits drawn with replacement, the same for all models, structures and quantities."""
    return generator(seed, "structures", polarity, n).integers(n, size=(n_resamples, n))


def _by_polarity(traits: pl.DataFrame) -> Iterator[tuple[tuple[str, str], pl.DataFrame]]:
    """Yield the rows of each model and polarity, and of both polarities if there are two."""
    require_columns("traits", traits, _NEEDED, remade_by("likelihoods"))
    for (model,), rows in traits.group_by("model", maintain_order=True):
        parts = rows.partition_by("polarity", maintain_order=True, as_dict=True)
        yield from (((str(model), str(polarity)), part) for (polarity,), part in parts.items())
        if len(parts) > 1:
            yield (str(model), BOTH_POLARITIES), rows


def _pivot_structures(traits: pl.DataFrame) -> Iterator[tuple[tuple[str, str], str, list[str], FloatArray]]:
    """Yield model and polarity, quantity, structures, and (n_traits, n_structures) associations, which may be NaN."""
    for key, group in _by_polarity(traits):
        structures = sorted(group["structure"].unique())
        for quantity in QUANTITIES:
            wide = group.pivot("structure", index=["polarity", "trait"], values=quantity).sort("polarity", "trait")
            yield key, quantity, structures, wide.select(pl.col(structures).cast(pl.Float64)).to_numpy()
