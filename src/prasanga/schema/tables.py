"""The registry of tables: what a row is, the columns in order, and the files."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from prasanga.base.errors import InputError
from prasanga.base.parquet import read_frame
from prasanga.schema.columns import COLUMNS, FLAG, REAL, SMALL, TEXT, TEXTS, WHOLE, Column, list_columns

_ARROW: dict[Any, pa.DataType] = {
    TEXT: pa.string(),
    WHOLE: pa.int64(),
    SMALL: pa.int32(),
    REAL: pa.float64(),
    FLAG: pa.bool_(),
}


@dataclass(frozen=True)
class TableSchema:
    """A table of a study.

    Attributes:
        name: its name in `TABLES`.
        row: the meaning of a row, a phrase.
        names: columns in order.
        paths: its files below `results/`, the first one first; parts in angle brackets differ between files.
        own: columns with another type, unit or meaning than in other tables.
    """

    name: str
    row: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    own: Mapping[str, Column] = field(default_factory=dict)

    @property
    def columns(self) -> list[Column]:
        """Return the columns in order."""
        return [self.own.get(name) or COLUMNS[name] for name in self.names]

    @property
    def polars(self) -> pl.Schema:
        """Return names and types for Polars."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def arrow(self, nullable: Collection[str] | None = None) -> pa.Schema:
        """Return the Arrow schema; only the columns `nullable` may have nulls, by default all of them."""
        may = self.names if nullable is None else nullable
        return pa.schema(pa.field(each.name, _arrow_type(each.dtype), each.name in may) for each in self.columns)

    def check(self, frame: pl.DataFrame, source: object) -> pl.DataFrame:
        """Return the table's columns of a frame, in order.

        Raises:
            InputError: a column is missing or has another type; the message begins with `source`.
        """
        for column in self.columns:
            if column.name not in frame.columns:
                there = ", ".join(frame.columns) or "none"
                raise InputError(f"{source}: no column `{column.name}`; it has {there}. {self._remedy}")
            found = frame.schema[column.name]
            if found not in (column.dtype, pl.Null):
                raise InputError(f"{source}: `{column.name}` is {found}, not {column.dtype}. {self._remedy}")
        return frame.select(self.names).cast({c.name: c.dtype for c in self.columns if frame.schema[c.name] == pl.Null})

    @property
    def _remedy(self) -> str:
        return f"An older version made it: make it again with the {self.paths[0].partition('/')[0]} stage."


def _arrow_type(dtype: Any) -> pa.DataType:
    if isinstance(dtype, pl.List):
        return pa.list_(_arrow_type(dtype.inner))
    if isinstance(dtype, pl.Struct):
        return pa.struct([(each.name, _arrow_type(each.dtype)) for each in dtype.fields])
    return _ARROW[dtype]


_CATEGORY = "category category_title target_x target_y attribute_a attribute_b"
_EFFECT = "effect_size ci_low ci_high interval_note p_equivalence equivalent_within"
_RAW = (
    "difference difference_centered effect_centered difference_standardized effect_standardized "
    "difference_adjusted adjusted_low adjusted_high effect_adjusted adjusted_note"
)
_TESTS = (
    "p_stimuli p_stimuli_exact n_partitions p_stimuli_low p_stimuli_high p_attributes p_attributes_exact "
    "n_attribute_partitions p_association p_association_holm p_association_bh n_tests n_twins twin_effect_size "
    "twin_sd twin_difference twin_difference_low twin_difference_high p_twins shuffled_low shuffled_high "
    "p_shuffled leave_out_low leave_out_high smallest_effect is_found not_found_because"
)
_USED = "n_x n_y n_a n_b listed_x listed_y listed_a listed_b"
_TEMPLATES = (
    "n_templates ci_templates_low ci_templates_high templates_note by_template_low by_template_high "
    "without_template_low without_template_high"
)
_CONVENTIONS = (
    "std alternative statistic interval resample_attributes n_resamples n_shuffles n_permutations equivalence_margin"
)
_WORD = "role set stimulus association n_items effect_without n_pieces occurrences"
_SEGMENT = "segment_id occurrence_id context_id stimulus segment_length text start end n_words"
_VECTOR = "segment_id occurrence_id stimulus segment_length n_pieces n_unknown cut embedding"
_SCORED = "score_first score_second n_first n_second left_out kind measure reduction pieces punctuation unknown"


_OF_VECTORS: Mapping[tuple[Any, str], Mapping[str, str]] = {
    (SMALL, "pieces"): {"n_pieces": "pieces whose vectors were averaged", "n_unknown": "of these, unknown ones"}
}


def _table(
    name: str, row: str, names: str, paths: str, own: Mapping[tuple[Any, str], Mapping[str, str]] | None = None
) -> TableSchema:
    columns = {column.name: column for column in list_columns(own or {})}
    return TableSchema(name, row, tuple(names.split()), tuple(paths.split()), columns)


_TABLES = (
    _table(
        "forms",
        "a surface form of a stimulus, or of a candidate word",
        "form stimulus group number case emphatic hyphenated counted not_after not_before",
        "lexicon/forms.parquet lexicon/candidates.parquet",
    ),
    _table(
        "form_occurrences",
        "a surface form of a stimulus",
        "form stimulus counted occurrences",
        "lexicon/occurrences.parquet",
    ),
    _table(
        "candidate_counts",
        "a candidate word that was found in a part of the corpus",
        "stimulus occurrences sentences",
        "lexicon/counts/<shard>.parquet",
    ),
    _table(
        "candidates",
        "a candidate word",
        "set rank stimulus gloss occurrences sentences chosen",
        "lexicon/candidates.csv",
    ),
    _table(
        "sentences",
        "an occurrence of a stimulus in the corpus",
        "occurrence_id context_id text_id stimulus form language text start end word_index n_words before after "
        "source offset",
        "sentences/<text>.parquet sentences/supplement/<text>.parquet",
    ),
    _table(
        "audit_forms",
        "a form of a stimulus in a file of the corpus",
        "stimulus form source occurrences",
        "sentences/audit/forms.parquet",
    ),
    _table(
        "concordance",
        "a hit, drawn at random for judging the lexicon",
        "stimulus rank left form right source offset occurrence_id",
        "sentences/audit/concordance.parquet",
    ),
    _table(
        "suffixes",
        "a suffix of a suffix group",
        "group number case suffix kind stimuli forms occurrences examples",
        "sentences/audit/suffixes.parquet",
    ),
    _table(
        "context_lengths", "a range of context lengths", "at_least at_most contexts", "sentences/audit/lengths.parquet"
    ),
    _table(
        "coverage",
        "a stimulus at a segment length",
        "stimulus segment_length occurrences contexts copies too_short target_too_long long_enough outside_pool "
        "eligible over_cap sampled from_supplement short reason",
        "samples/coverage.parquet",
    ),
    _table(
        "sampled_forms",
        "a form of a stimulus in a file of the corpus",
        "stimulus form source occurrences sampled",
        "samples/forms.parquet",
        {(WHOLE, "places"): {"sampled": "how many of these were drawn, at any length"}},
    ),
    _table("segments", "a segment, as a model reads it", _SEGMENT, "samples/<length>/<bucket>.parquet"),
    _table(
        "template_sentences",
        "a filled template, a sentence of SEAT",
        f"{_SEGMENT} template word_class",
        "samples/templates.parquet",
    ),
    _table(
        "measured_sentences",
        "one of the first sentences of a word that were measured, to be read behind the numbers of the page",
        "method category segment_length stimulus rank n_measured text start end source occurrence_id",
        "samples/measured_sentences.parquet",
    ),
    _table(
        "released_sentences",
        "a context that was drawn, of a text that names its licence",
        "word sentence form start end language title licence source offset context_id occurrence_id",
        "release/sentences.csv",
    ),
    _table(
        "tokenizer",
        "a stimulus, as the tokenizer of a model reads it",
        "stimulus pieces forms occurrences pieces_per_form most_pieces one_piece unknown_forms marks_lost_forms "
        "unknown_occurrences marks_lost_occurrences identical_occurrences identical_to unknown_example "
        "marks_lost_example identical_example",
        "models/<model>.tokenizer.parquet",
        {
            (TEXTS, ""): {
                "pieces": "those of the dictionary form; a letter that several pieces share (bytes) is in each",
            },
        },
    ),
    _table(
        "embeddings",
        "a segment with the vector of its stimulus (of a template, of the sentence)",
        _VECTOR,
        "embeddings/<model>/<length>/<bucket>.parquet embeddings/<model>/templates/<bucket>.parquet",
        _OF_VECTORS,
    ),
    _table(
        "stored_embeddings",
        "a vector that is kept for later runs",
        "segment_id n_pieces n_unknown cut embedding",
        "store/<key>/<part>.parquet",
        _OF_VECTORS,
    ),
    _table(
        "trained_vectors", "a word of trained static vectors", "word count vector", "static/<vectors>.vectors.parquet"
    ),
    _table(
        "looked_up_vectors",
        "a stimulus, looked up in static vectors",
        "stimulus forms count n_forms source vector reason",
        "static/<vectors>.parquet",
        {(TEXTS, ""): {"forms": "words that were found, as the file writes them"}},
    ),
    _table(
        "ceat",
        "an estimate by CEAT, of a category, model, segment length and sample mode",
        f"{_CATEGORY} model segment_length sample_mode {_EFFECT} {_RAW} standard_error draws_low draws_high "
        "p_draws log_p_draws tau2 q i2 variance_words variance_attributes variance_contexts variance_rest "
        f"variance_note {_TESTS} contexts_enough draws_settled {_USED} reason lost n_samples contexts_min "
        f"{_CONVENTIONS} variance tau2_method draws repeated_words pool match neighbours window pieces band seed",
        "associations/ceat.parquet associations/ceat.csv associations/ceat/<model>/<length>.parquet",
    ),
    _table(
        "seat",
        "an estimate by SEAT, of a category and model",
        f"{_CATEGORY} model {_EFFECT} {_RAW} {_TESTS} {_USED} reason lost n_sentences_x n_sentences_y n_sentences_a "
        f"n_sentences_b {_TEMPLATES} sentence_vector unit average p_sentences {_CONVENTIONS} seed",
        "associations/seat.parquet associations/seat.csv associations/seat/<model>.parquet",
    ),
    _table(
        "weat",
        "an estimate by WEAT, of a category and set of static vectors",
        f"{_CATEGORY} model {_EFFECT} {_RAW} {_TESTS} {_USED} reason lost vectors method forms {_CONVENTIONS} seed",
        "associations/weat.parquet associations/weat.csv associations/weat/<vectors>.parquet "
        "associations/<added>.parquet",
        {
            (TEXT, ""): {
                "forms": "how words were looked up: dictionary or pooled",
                "method": "how the vectors were trained, or the format of their file",
            },
        },
    ),
    _table(
        "log_probability",
        "an estimate of log-probability bias, of a category and model",
        f"{_CATEGORY} model {_EFFECT} difference {_TESTS} {_USED} reason lost n_sentences_a n_sentences_b {_TEMPLATES} "
        f"n_masked_as_one masked_as_one exchanged pieces terms p_sentences {_CONVENTIONS} seed",
        "likelihoods/log_probability.parquet likelihoods/log_probability.csv "
        "likelihoods/log_probability/<model>.parquet",
        {
            (REAL, "nats"): {"difference": "mean s over the sentences of A - mean s over those of B"},
            (REAL, "p"): {"p_stimuli": "permutation test of the attribute words, each with all its sentences"},
        },
    ),
    _table(
        "ceat_words",
        "a word of an estimate by CEAT",
        f"category model segment_length sample_mode {_WORD}",
        "associations/ceat_words.parquet associations/ceat/<model>/<length>.words.parquet",
    ),
    _table(
        "seat_words",
        "a word of an estimate by SEAT",
        f"category model {_WORD}",
        "associations/seat_words.parquet associations/seat/<model>.words.parquet",
    ),
    _table(
        "weat_words",
        "a word of an estimate by WEAT",
        f"category model {_WORD}",
        "associations/weat_words.parquet associations/weat/<vectors>.words.parquet associations/<added>_words.parquet",
    ),
    _table(
        "log_probability_words",
        "a word of an estimate of log-probability bias",
        f"category model {_WORD}",
        "likelihoods/log_probability_words.parquet likelihoods/log_probability/<model>.words.parquet",
        {
            (REAL, "nats"): {
                "association": "attribute word: mean of s over its sentences; target: mean corrected score, A minus B",
            },
        },
    ),
    _table(
        "seat_templates",
        "a template in a category, measured by SEAT",
        "category model place template effect_size effect_without",
        "associations/seat_templates.parquet associations/seat_templates.csv "
        "associations/seat/<model>.templates.parquet",
    ),
    _table(
        "log_probability_templates",
        "a template of a category in log-probability bias",
        "category model place template effect_size effect_without",
        "likelihoods/log_probability_templates.parquet likelihoods/log_probability_templates.csv "
        "likelihoods/log_probability/<model>.templates.parquet",
    ),
    _table(
        "resamples",
        "an estimate by CEAT",
        "category model segment_length sample_mode effect_size words replicates",
        "associations/ceat/<model>/<length>.resamples.parquet",
    ),
    _table(
        "convergence",
        "an estimate by CEAT after some of its draws",
        "category model segment_length sample_mode n effect_size standard_error",
        "associations/ceat_convergence.parquet associations/ceat/<model>/<length>.convergence.parquet",
    ),
    _table(
        "differences",
        "two estimates by CEAT, at two lengths of one model or of two models at one length",
        "kind category sample_mode model segment_length first second effect_first effect_second difference ci_low "
        "ci_high note",
        "associations/ceat_differences.parquet",
        {
            (TEXT, ""): {"kind": "length (two lengths of `model`) or model (two models at `segment_length`)"},
            (REAL, "d"): {
                "difference": "effect_second - effect_first",
                "ci_*": "95% interval of the difference, resampled in pairs",
            },
        },
    ),
    _table(
        "settling",
        "a category, model and sample mode",
        "category model sample_mode band settled_length longest largest_distance sure",
        "associations/ceat_settling.parquet",
    ),
    _table("pairs", "a sentence pair", "pair_id language bias_type label first second origin", "pairs/<set>.parquet"),
    _table(
        "pair_oddities",
        "something odd in a file of sentence pairs",
        "pair_id row language column kind found done",
        "pairs/<set>.oddities.parquet pairs/<set>.oddities.csv report/data/<set>.oddities.parquet",
    ),
    _table(
        "pair_statistics",
        "a number about a set of sentence pairs",
        "language subset statistic category value n_pairs set",
        "pairs/statistics.parquet pairs/statistics.csv",
        {(TEXT, ""): {"category": "label or bias type that it is of; all for a mean"}},
    ),
    _table(
        "pair_scores",
        "a sentence pair, scored by a model",
        f"pair_id language bias_type label first second origin {_SCORED} model set",
        "likelihoods/pairs/<set>/<model>.parquet",
    ),
    _table(
        "kept_pair_scores",
        "scores of different pairs, kept for later runs, or of one bucket of a set",
        f"id {_SCORED} model",
        "likelihoods/kept/<key>/<part>.parquet likelihoods/pairs/<set>/<model>/<bucket>.parquet",
    ),
    _table(
        "kept_sentence_scores",
        "scores of different sentences of one bucket; those kept for later runs have the same columns",
        "id fill prior n_pieces n_attribute_pieces left_out left_out_role",
        "likelihoods/<method>/<model>/<bucket>.parquet",
        {(WHOLE, "pieces"): {"n_pieces": "pieces of the target"}},
    ),
    _table(
        "pair_differences",
        "a sentence pair, scored by a model or by one of its random-weight copies",
        "set model language bias_type pair_id label random_twin difference preference left_out",
        "likelihoods/pair_differences.parquet",
        {(REAL, "nats"): {"difference": "score of the stereotypical sentence minus that of the other"}},
    ),
    _table(
        "bias_percentages",
        "a bias percentage, of a set, model, language and bias type",
        "model language bias_type bias_percentage ci_low ci_high exact_low exact_high p_binomial p_binomial_holm "
        "p_binomial_bh p_equivalence equivalent_within balanced_percentage balanced_ci_low balanced_ci_high "
        "p_label p_label_holm n_tests set n_twins twin_bias_percentage twin_sd twin_difference "
        "twin_difference_low twin_difference_high p_twins percentage_stereo percentage_antistereo n_pairs "
        "n_scored n_stereotypical n_other n_ties n_left_out n_stereo n_antistereo runs_mean runs_sd difference_q1 "
        "difference_median difference_q3 interval_note left_out kind measure reduction pieces punctuation unknown "
        "ties n_runs share n_resamples equivalence_margin seed conventions",
        "likelihoods/bias_percentages.parquet likelihoods/bias_percentages.csv",
        {
            (REAL, "%"): {
                "ci_*": "95% bootstrap interval over pairs",
                "twin_difference_*": "95% interval of twin_difference, over pairs and random weights",
                "equivalent_within": "the smallest margin about 50 at which that p is .05; ties are left out",
                "twin_difference": "percentage of the model minus that mean",
                "equivalence_margin": "distance from 50 that counts as no preference",
            },
            (TEXT, ""): {"left_out": "the pairs left out, by reason, as JSON; null for none"},
        },
    ),
    _table(
        "log_probability_sentences",
        "a template with an attribute word in it",
        "category model role attribute template text fill_x prior_x corrected_x fill_y prior_y corrected_y score "
        "n_pieces n_attribute_pieces left_out",
        "likelihoods/log_probability/<model>.sentences.parquet",
        {(WHOLE, "pieces"): {"n_pieces": "pieces of all targets together"}},
    ),
    _table(
        "traits",
        "a trait in a sentence structure, scored by a model",
        "model polarity trait gloss structure male_fill male_prior male_corrected female_fill female_prior "
        "female_corrected fill prior corrected n_pairs n_words n_pieces n_attribute_pieces masked_as_one left_out "
        "pieces terms",
        "likelihoods/traits.parquet likelihoods/structures/<model>.parquet",
        {
            (WHOLE, "words"): {"n_words": "words of the sentence"},
            (WHOLE, "pieces"): {"n_pieces": "pieces of these terms together"},
            (FLAG, ""): {"masked_as_one": "whether one mask stood for a trait of several pieces"},
        },
    ),
    _table(
        "terms",
        "a term and a trait in a sentence structure, scored by a model",
        "model polarity trait structure group term form text fill prior corrected n_words n_pieces "
        "n_attribute_pieces left_out pieces",
        "likelihoods/structures/<model>.terms.parquet",
        {
            (WHOLE, "words"): {"n_words": "words of the sentence"},
            (WHOLE, "pieces"): {"n_pieces": "pieces of the term"},
        },
    ),
    _table(
        "structures",
        "the spread of associations of a model's traits, by polarity, structure and quantity",
        "model polarity structure quantity n n_left_out mean_words mean mean_low mean_high sd variance min q25 "
        "median q75 max mean_size twin_mean twin_sd n_overall overall overall_low overall_high overall_note "
        "overall_without pieces terms n_resamples seed",
        "likelihoods/structures.parquet likelihoods/structures.csv",
        {(REAL, "nats squared"): {"variance": "sd squared"}},
    ),
    _table(
        "structure_differences",
        "two sentence structures, on the traits that both have",
        "model polarity quantity structure_1 structure_2 n sd_1 sd_2 ratio ratio_low ratio_high mean_1 mean_2 "
        "difference difference_low difference_high note n_resamples seed",
        "likelihoods/structure_differences.parquet",
        {(REAL, "nats"): {"difference": "mean_2 - mean_1"}},
    ),
    _table(
        "trait_oddities",
        "something odd in a list of traits",
        "file row trait structure kind found done",
        "likelihoods/trait_oddities.parquet",
    ),
    _table(
        "comparison",
        "a published number and the study's",
        "paper table method category language model published_model sample_mode segment_length published bound "
        "measured difference same_sign ci_low ci_high published_inside published_n_samples n_samples "
        "published_significant doubt mark_doubt model_doubt note set",
        "report/comparison.csv report/comparison_<method>.csv",
        {(REAL, "d or %"): {"ci_*": "interval of the measured number", "difference": "measured - published"}},
    ),
    _table(
        "ceat_layout",
        "a category (of CEAT and Tables 5 and 6, and a sample mode)",
        "category targets attributes sample_mode <cells> note",
        "report/tables/ceat.csv report/tables/sadhu_table4.csv report/tables/sadhu_table5.csv "
        "report/tables/sadhu_table6.csv",
        {
            (TEXT, "d"): {
                "<cells>": "effect size with its mark (docs/published.md); empty with a reason in `note`",
            },
        },
    ),
    _table(
        "multiverse",
        "an estimate under one combination of choices (docs/statistics.md)",
        f"method {_CATEGORY} model std layer pieces segment_length window pool sentence_vector average templates "
        f"effect_size p_association p_association_holm {_USED}",
        "associations/multiverse.parquet associations/multiverse.csv",
    ),
    _table(
        "methods",
        "an estimate of a method; of CEAT those of the longest segment length and the first sample mode",
        "method category category_title model segment_length sample_mode effect_size ci_low ci_high "
        "p_association_holm twin_effect_size few_words",
        "report/tables/methods.csv",
    ),
    _table(
        "agreement",
        "two methods",
        "method_1 method_2 n_points n_categories n_models tau tau_low tau_high same_sign twin_tau",
        "report/tables/agreement.csv",
        {(REAL, ""): {"same_sign": "share of points in which both effects have the same sign, 0 to 1"}},
    ),
    _table(
        "sahoo_layout",
        "a test of intersectional bias",
        "category targets attributes <cells> note",
        "report/tables/sahoo_table3.csv report/tables/sahoo_table4.csv report/tables/sahoo_table9.csv",
        {
            (TEXT, "d"): {
                "<cells>": "effect size with its mark (docs/published.md); empty with a reason in `note`",
            },
        },
    ),
    _table(
        "pair_layout",
        "a bias type",
        "bias_type <cells> note",
        "report/tables/sahoo_table2.csv",
        {
            (TEXT, "%"): {
                "<cells>": "bias percentage of a language and model with its mark; empty with a reason in `note`",
            },
        },
    ),
)

TABLES = {table.name: table for table in _TABLES}
"""All tables by name."""


def find_table(path: str | Path) -> TableSchema | None:
    """Return the table that a file below results/ has, by its path; None if the registry does not know it."""
    found = [
        (len(re.sub("<[^>]+>", "", known)), table) for known, table in _PATHS if _fits(known, Path(path).as_posix())
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


_PATHS = [(path, table) for table in _TABLES for path in table.paths]


def _fits(known: str, path: str) -> bool:
    pattern = re.sub("<[^>]+>", "[^/]+", known.replace(".", r"\."))
    return re.search(f"(^|results/){pattern}$", path) is not None


def read_table(path: str | Path) -> pl.DataFrame:
    """Read a table of Parquet, and check its columns if the registry knows the file.

    Raises:
        InputError: the file is absent or damaged, or lacks a column.
    """
    frame, table = read_frame(path), find_table(path)
    return frame if table is None else table.check(frame, path)
