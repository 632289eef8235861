"""For notebooks: the tables of a study, and one estimate of a model on your texts.

import prasanga
prasanga.study("studies/mine").ceat
prasanga.measure("models/mine", category="C1", texts=["..."])
prasanga.measure_pairs("models/mine", "pairs.csv")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from prasanga import methods
from prasanga.associations import Ceat, ceat
from prasanga.base.errors import InputError
from prasanga.base.io import read_frame
from prasanga.base.places import installation
from prasanga.lexicon import load_lexicon
from prasanga.lexicon.model import DEFAULT_NORMALIZATIONS, categories_of, chosen_categories
from prasanga.text import normalizer, split_sentences

if TYPE_CHECKING:
    from prasanga.embeddings import Encoder
    from prasanga.likelihoods import Percentages, Scorer

SEED = 47
"""Of the draws of `measure`."""

_NAMES = {"pairs": "bias_percentages"}
"""Tables with another name in a config."""

_FIRST = (
    *("category", "bias_type", "model", "segment_length", "effect_size", "bias_percentage", "ci_low", "ci_high"),
    *("p_association_holm", "p_binomial_holm", "twin_effect_size", "twin_bias_percentage", "language"),
)
"""Columns that a reader wants first, because polars prints only the ends of a wide table."""


class StudyTables:
    """The tables of a study as polars frames, by the names of the methods: ceat, seat, weat, log_probability, pairs.

    docs/columns.md has the names of further tables, such as ceat_words and differences, and the meaning of all columns.
    """

    def __init__(self, folder: str | Path) -> None:
        """Use the results of a study's folder, or a folder of results.

        Raises:
            InputError: there are no results.
        """
        folder = Path(folder)
        self._results = folder / "results" if (folder / "results").is_dir() else folder
        if not self._there():
            raise InputError(f"{folder}: no results of a study. Name its folder, or run it: `prasanga run`.")

    def __getattr__(self, name: str) -> pl.DataFrame:
        """Return a table, with the most important columns first.

        Raises:
            AttributeError: no study has a table of this name.
            InputError: this study does not have it (yet).
        """
        table = methods.TABLES.get(_NAMES.get(name, name))
        if table is None:
            raise AttributeError(f"no table {name!r}; there are {', '.join(self._there())}")
        path = self._results / f"{table.path}.parquet"
        if not path.is_file():
            raise InputError(f"{path}: this study has no {name} (yet). It has {', '.join(self._there())}.")
        frame = read_frame(path)
        first = [name for name in _FIRST if name in frame.columns]
        return frame.select(*first, pl.exclude(first))

    def __dir__(self) -> list[str]:
        """Return the attributes, and the study's tables."""
        return [*super().__dir__(), *self._there()]

    def __repr__(self) -> str:
        """Return the folder and the study's tables, in one line."""
        return f"results in {self._results}: {', '.join(self._there())}"

    def _there(self) -> list[str]:
        names = {table: name for name, table in _NAMES.items()}
        tables = methods.TABLES.items()
        return [names.get(key, key) for key, table in tables if (self._results / f"{table.path}.parquet").is_file()]


def study(folder: str | Path) -> StudyTables:
    """Return the tables of a study, by its folder.

    Raises:
        InputError: it has no results.
    """
    return StudyTables(folder)


def measure(
    model: str | Path | Encoder, *, category: str, texts: Sequence[str], language: str = "bn", n_samples: int = 1000
) -> Ceat:
    """Return CEAT of a model on your texts: a context is a sentence with a word of the category.

    This is for a quick look: sentences have any length, but a study fixes the length and gives other numbers.
    `interval`, `to_frame()` and `plot()` of the result show its uncertainty.

    Args:
        model: a folder, a name on the hub or of a package (multilingual-e5-small), or a loaded one
            (`prasanga.embeddings.load_encoder`).
        category: of the shipped word sets, such as C1.
        texts: of any length; they are split into sentences.
        language: of words and texts: bn, hi or en.
        n_samples: draws of one context per word.

    Raises:
        InputError: an unknown category or language, texts that are not a list, a set without words in the texts, or an
            unusable model.
    """
    from prasanga.sentences import Matcher, longest

    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError("texts: give a list of texts, such as ['the rose is red', ...].")
    if language not in DEFAULT_NORMALIZATIONS:
        raise InputError(f"language: {language!r}. Write {' or '.join(map(repr, DEFAULT_NORMALIZATIONS))}.")
    words = installation() / "resources"
    lexicon = load_lexicon(words / f"stimuli/{language}", words / f"suffix_groups/{language}.yaml")
    layout = chosen_categories(categories_of(lexicon), [category], key="category")[category]
    sets = [each for role in ("targets", "attributes") for each in layout[role]]
    wanted = {word for each in sets for word in each["stimuli"]}
    matcher, normalize = Matcher(lexicon), normalizer(DEFAULT_NORMALIZATIONS[language]).one
    sentences = [text[start:end] for text in map(normalize, texts) for start, end in split_sentences(text)]
    found = [(text, hit) for text in sentences for hit in longest(matcher.find(text)) if hit.stimulus in wanted]
    there = {hit.stimulus for _, hit in found}
    X, Y, A, B = ([word for word in each["stimuli"] if word in there] for each in sets)
    if empty := [each["name"] for each, present in zip(sets, (X, Y, A, B), strict=True) if not present]:
        raise InputError(f"texts: they have no word of {' and none of '.join(empty)}. Give more texts.")
    if isinstance(model, str | Path):
        from prasanga.embeddings import load_encoder

        model = load_encoder(_find_model(model))
    vectors = model.embed([text for text, _ in found], [(hit.start, hit.end) for _, hit in found])
    contexts = {word: vectors[[hit.stimulus == word for _, hit in found]] for word in there}
    return ceat(contexts, (X, Y), (A, B), n_samples=n_samples, rng=SEED)


def measure_pairs(model: str | Path | Scorer, pairs: Any, *, language: str | None = None) -> Percentages:
    """Return the percentage of pairs in which a model prefers the stereotypical sentence, with its interval.

    A study with default settings gives the same percentage.

    Args:
        model: as for `measure`; a loaded one comes from `prasanga.likelihoods.load_scorer`.
        pairs: a file in any layout (docs/pairs.md), or a table of polars, pandas or Arrow, or a dict, in the same
            layouts. A table needs only `first` and `second`: without `label`, the first sentence of a pair is the
            stereotypical one.
        language: of pairs without a language; otherwise the language to measure.

    Raises:
        InputError: pairs that cannot be read, without a language, or in several languages; an unusable model.
    """
    from prasanga.likelihoods import Percentages, bias_percentage, read_pairs, score_pairs

    table = read_pairs(pairs, language)
    if table["language"].n_unique() > 1:
        raise InputError(f"pairs: in {', '.join(table['language'].unique().sort())}. Name the language to measure.")
    return Percentages(bias_percentage(score_pairs(_find_model(model), table, normalization=DEFAULT_NORMALIZATIONS)))


def _find_model(model: Any) -> Any:
    """Return the folder of a packaged model, by its name; anything else unchanged."""
    from prasanga.models.packaged import PACKAGED, kept_model

    return kept_model(model) if isinstance(model, str) and model in PACKAGED else model
