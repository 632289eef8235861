"""The methods in words: every choice of the config and what it means, what numbers say, and whom to cite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from prasanga.base.places import said
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

_MEANINGS: dict[str, str | Mapping[str, str]] = {
    "language": {"bn": "Bangla", "hi": "Hindi", "en": "English"},
    "seed": "every random choice derives a generator of its own from it, by name",
    "corpus.root": "folder that the file patterns start from",
    "corpus.errors": {
        "stop": "a line that is not UTF-8 stops the run",
        "skip-line": "lines that are not UTF-8 are left out and counted",
    },
    "lexicon.stimuli": "the word sets and the categories made of them",
    "lexicon.suffix_groups": "the endings that each stimulus may take",
    "normalization": {
        "bangla": "the normalization that the Bangla models were trained with",
        "nukta": "Unicode normalization form KC; spellings with and without a nukta are one",
        "none": "text as it is",
        "nfc": "Unicode normalization form C",
        "nfkc": "Unicode normalization form KC",
    },
    "categories": "the categories that were asked for",
    "sentences.match": {
        "anywhere": "a stimulus may stand anywhere in a sentence",
        "sentence-initial": "a stimulus counts at the start of a sentence only, as in the paper's program",
    },
    "sentences.neighbours": {
        "exclude": "a form beside words that tell that it is another word does not count (see the word lists)",
        "ignore": "what stands beside a form is not looked at, as in the papers' programs",
    },
    "sentences.before": "sentences of the same document that a context may reach back",
    "sentences.after": "sentences of the same document that a context may reach on",
    "sentences.concordance": "hits of each stimulus shown for judging the word lists, drawn at random",
    "samples.lengths": "segment lengths in words; > takes contexts of more words",
    "samples.window": {
        "exact": "a segment has exactly as many words as its length says, its target in the middle",
        "paper": "segments as the paper's program cuts them: up to a word short, short contexts whole, all for >75",
    },
    "samples.longest": "words of the longest segment",
    "samples.minimum": "with fewer contexts, a stimulus is looked for in the supplement as well",
    "samples.pool": {
        "shared": "all fixed lengths are cut from the same occurrences, so that their differences are paired",
        "per_length": "each length takes the occurrences that it can get, as in the paper",
    },
    "samples.contexts_per_stimulus": "at most so many contexts of a stimulus and length",
    "embeddings.stored_dtype": {
        "float16": "vectors are kept on disk in 16 bits, which rounds each number by 1 part in 2,048 at most",
        "float32": "vectors are kept on disk as they were computed",
    },
    "embeddings.unknown": {
        "leave-out": "a target with a piece that the tokenizer does not know is left out, counted and listed",
        "keep": "a target with a piece that the tokenizer does not know is used as any other",
    },
    "embeddings.audit.unknown": "largest share of occurrences with an unknown piece; above it a model is refused",
    "embeddings.audit.marks_lost": "largest share of occurrences that lose a vowel sign or another mark",
    "embeddings.audit.identical": "largest share of occurrences with the pieces of another stimulus",
    "associations.n_samples": "draws per estimate, N",
    "associations.sample_modes": (
        "fixed: models share the draws, out of the contexts they all have; random: each model has its own"
    ),
    "associations.std": {
        "union_ddof1": "the effect size is divided by the standard deviation over both target sets, with n − 1",
        "union_ddof0": "the effect size is divided by the standard deviation over both target sets, with n",
        "pooled": "the effect size is divided by the pooled standard deviation within the target sets",
    },
    "associations.variance": {
        "association": "weight of a draw: the square of its effect size's denominator (V), as in both CEAT programs",
        "hedges": "weight of a draw: the sampling variance of its effect size (V)",
    },
    "associations.tau2": {
        "dl": "variance between draws by DerSimonian and Laird",
        "pm": "variance between draws by Paule and Mandel",
        "reml": "variance between draws by restricted maximum likelihood",
    },
    "associations.draws": {
        "without-replacement": "a context is used once while its stimulus has enough of them",
        "with-replacement": "every draw is from all contexts of a stimulus",
    },
    "associations.n_permutations": "partitions drawn for a permutation test where there are too many to count them all",
    "associations.alternative": {
        "two-sided": "tests of words count partitions as far from zero as the one observed, or farther, on either side",
        "greater": "tests of words count one side: a negative effect cannot be significant, as in the papers' programs",
        "less": "tests of words count one side: a positive effect cannot be significant",
    },
    "associations.statistic": {
        "studentized": "tests of words compare differences over their standard errors where sets differ in size",
        "difference": "tests of words compare differences, also of sets that differ in size, as the papers' programs",
    },
    "associations.interval": {
        "bca": "interval over words and contexts: bootstrap, corrected for bias and acceleration",
        "studentized": "interval over words and contexts: bootstrap-t, errors by the infinitesimal jackknife",
    },
    "associations.n_resamples": "resamples of that interval, and of differences",
    "associations.resample_attributes": {
        "True": "attribute words are resampled as target words are: the interval is about other words of both kinds",
        "False": "attribute words are taken as given: the interval is about other target words alone",
    },
    "associations.n_shuffles": "times that the attribute words are dealt anew, as a control",
    "associations.random_twins": "twins of each model with random weights, which share its texts, as a control",
    "associations.band": "an effect has settled once it stays within this distance of the last one",
    "preset": {
        "recommended": "defaults of the conventions: what is right",
        "paper": "defaults of the conventions: what the papers' programs do",
    },
    "seat.categories": "categories that are measured by SEAT as well",
    "seat.templates": "the sentences of SEAT, by class of word",
    "seat.unit": {
        "word": "the test of SEAT moves a word with all its sentences",
        "sentence": "besides, p_sentences moves single sentences as the papers do; it is small far too often",
    },
    "seat.average": {
        "associations": "each sentence is an item of the effect size (May et al. 2019)",
        "vectors": "the vectors of a word's sentences are averaged first (the program of Sadhu et al.)",
    },
    "static.categories": "categories that are measured by WEAT; none: those of the study",
    "static.forms": {
        "dictionary": "a word's static vector is that of its dictionary form",
        "pooled": "a word's static vector is the mean over its inflected forms, by how often each was seen",
    },
    "log_probability.categories": "categories measured by log-probability bias",
    "log_probability.exchanged": "categories whose targets and attributes change places there",
    "log_probability.traits": "lists of traits for the sentence structures",
    "log_probability.pieces": {
        "all": "the pieces of a masked word have a mask each, and their log-probabilities are added",
        "left-to-right": "the pieces of a masked word are scored one after the other, those before in sight",
        "first": "one mask stands for a word of several pieces, and its first is scored, as in the paper's program",
    },
    "log_probability.terms": {
        "log-sum-exp": "the probabilities of a set's terms are added, fill and prior alike",
        "mean": "the logarithms of the terms' probabilities are averaged",
    },
    "pairs.encoder": {
        "p_unmodified": "an encoder's score of a sentence: each word that both sentences have, masked whole, in turn",
        "p_modified": "an encoder's score of a sentence: each word that the other has not, masked whole, in turn",
        "aul": "an encoder's score of a sentence: every piece as it stands, unmasked",
        "aula": "an encoder's score of a sentence: every piece as it stands, times the attention it gets",
        "aula_renormalized": "an encoder's score of a sentence: every piece as it stands, by its share of attention",
    },
    "pairs.encoder_decoder": {
        "infill": "an encoder-decoder reads the sentence without an unmodified word, and is scored on writing it",
        "causal": "an encoder-decoder is scored on writing the sentence from nothing, as the paper says",
    },
    "pairs.reduction": {"mean": "mean over the scored pieces", "sum": "sum over the scored pieces"},
    "pairs.pieces": {
        "all": "the pieces of a word are masked together",
        "left-to-right": "while a piece of a word is scored, those before it are shown",
    },
    "pairs.punctuation": {
        "apart": "punctuation at the ends of a word is set aside and never scored",
        "with-word": "punctuation belongs to its word, as in the paper",
    },
    "pairs.unknown": {
        "leave-out": "a pair with a scored piece that the tokenizer does not know is left out, and listed",
        "keep": "a pair with a scored piece that the tokenizer does not know is scored as any other",
    },
    "pairs.ties": {
        "apart": "pairs with equal scores are left out of the percentage and of the test, and counted",
        "against": "pairs with equal scores count as not stereotypical, as in the papers' programs",
    },
    "pairs.n_runs": "runs on random samples of the pairs, with mean and deviation as the paper prints them",
    "pairs.share": "share of the pairs in such a sample",
    "pairs.n_resamples": "resamples of the interval of a bias percentage",
}

_CONVENTIONS: dict[str, tuple[str, Mapping[str, str]]] = {
    "pieces": (
        "Target vector",
        {
            "all": "the mean over every piece that overlaps the target, the whole inflected word",
            "root": "the mean over the pieces that begin within the root of the target",
            "first": "the first piece of the target",
            "last": "the last piece of the target",
        },
    ),
    "layer": ("Hidden layer", {"-1": "the last", "0": "the input embeddings"}),
    "dtype": (
        "Precision of the forward pass",
        {"auto": "bfloat16 on a GPU that has it, else float32, decided once (see Embeddings for what it came to)"},
    ),
    "quantization": ("Quantization", {"none": "none", "int8": "weights of linear layers in 8 bits"}),
}
"""What makes a vector, by the keys of a model in the config: how it is called, and what its values mean."""

_VECTORS = ("ceat", "seat", "weat")
_FIXED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("ceat",), "A vector is computed from its segment alone: exactly the words of this length, and none around them."),
    (("ceat",), "A segment with more pieces than a model reads is cut around its target, and counted."),
    (
        ("ceat",),
        "Context: inside one document; one occurrence for each context and stimulus; copies of one text count once.",
    ),
    (_VECTORS, "Association of a word: mean cosine with the first attribute set minus mean cosine with the second."),
    (
        tuple(METHODS),
        "p_stimuli: permutation of the target words, p_attributes: of the attribute words (in log-probability bias the"
        " other way round), in CEAT by their mean associations over all contexts; every partition is counted where that"
        " is possible, else p is (count + 1) / (drawn + 1). p_association is the larger of the two, corrected over all"
        " tests of words of the study, by Holm and by Benjamini and Hochberg.",
    ),
    (tuple(METHODS), "The interval over words is given where every resampled set has at least eight words."),
    (
        ("ceat",),
        "τ², I² and Q: with the sampling variance of the effect size, whatever weights the combined effect uses.",
    ),
)
"""Choices that no key of the config changes, each with the methods that it is a choice of."""


def fixed_choices(measured: Iterable[str]) -> list[str]:
    """Return what is the same in every study, a sentence each, as far as these methods have to do with it."""
    found = set(measured)
    return [sentence for methods, sentence in _FIXED if found & set(methods)]


def choices(config: Mapping[str, Any]) -> list[Choice]:
    """Return all keys of a study's config with their values, and in words what is meant."""
    return [Choice(key, _value_text(value), _meaning(key, value)) for key, value in _flatten(config)]


def vector_conventions(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how the models' vectors are made, a sentence for each choice; where models differ, with their names.

    A model is a mapping with `name` and what the config says of it; a choice that it does not state is left out.
    """
    sentences = []
    for key, (title, meanings) in _CONVENTIONS.items():
        named: dict[str, list[str]] = {}
        for model in models:
            if key in model:
                value = _value_text(model[key])
                named.setdefault(meanings.get(value, value), []).append(str(model["name"]))
        said = [*named] if len(named) == 1 else [f"{value} ({', '.join(names)})" for value, names in named.items()]
        sentences += [f"{title}: {'; '.join(said)}."] if said else []
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
    meaning = _MEANINGS.get(key, "")
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


_OF_WORDS = tuple(METHODS)


class Quantity(NamedTuple):
    """A number that the study reports: the methods that have it, what it says, and what it does not say."""

    name: str
    methods: tuple[str, ...]
    meaning: str
    limit: str


QUANTITIES = (
    Quantity(
        "Effect size",
        _OF_WORDS,
        "The difference of two target sets in their association with two attribute sets, in standard deviations.",
        "Effects of different methods are no measurements of the same thing. The largest of many is likely to be"
        " overestimated.",
    ),
    Quantity(
        "p_draws",
        ("ceat",),
        "Whether other draws from the same contexts of the same words would agree; the p that Sadhu et al. report.",
        "No test of bias: it falls as the number of draws grows, and with no effect at all it is below .05 most of the"
        " time.",
    ),
    Quantity(
        "p_association",
        _OF_WORDS,
        "Whether other words would do: permutation of the target words (p_stimuli) and of the attribute words"
        " (p_attributes), the larger p of the two. This is the p to call an effect significant by.",
        "The words were chosen, not drawn at random, and with few of them p cannot be small: four and four have 70"
        " partitions.",
    ),
    Quantity(
        "Interval over words",
        _OF_WORDS,
        "How large the effect might be with other words of the same kind, and other contexts of them.",
        "In simulated studies BCa intervals held their level of 95 % in 95 to 99 % of cases, studentized ones in 93 to"
        " 99 %; with other seeds and skewed words BCa fell to 92 %, and near the largest effect there is to 91 %. Sets"
        " of fewer than eight words have none.",
    ),
    Quantity(
        "Near zero",
        (*_OF_WORDS, "pairs"),
        "Whether an effect lies within a margin of 0, a percentage within one of 50: two one-sided tests"
        " (p_equivalence), and the smallest margin that they confirm.",
        "The margin is a choice. That nothing was found is no ground to say so: with few words or pairs neither is.",
    ),
    Quantity(
        "Raw and adjusted differences",
        _OF_WORDS[:3],
        "The difference of mean cosines, also of vectors less their mean and of standardized ones, and between words"
        " alike in corpus frequency and pieces.",
        "A regression over some dozen words: what else makes them differ is not taken out.",
    ),
    Quantity(
        "Random twins",
        (*_OF_WORDS[:2], "log_probability", "structures", "pairs"),
        "The model with random weights, several times: what comes from spelling, tokenizer and texts alone.",
        "The model's difference from them has an interval and p_twins, over words and random weights; of sets of fewer"
        " than eight words it has none. It is no test of what the model learnt from which texts.",
    ),
    Quantity(
        "Attributes dealt anew",
        _OF_WORDS,
        "The range of effects when the words of both attribute sets are shuffled and dealt into two sets. Where the"
        " test moves attribute words (log-probability bias), the targets are dealt.",
        "An effect outside of it is about the division of these words; it is no test over other words.",
    ),
    Quantity(
        "Corrections",
        (*_OF_WORDS, "pairs"),
        "Holm: no false find among all tests of the family. Benjamini-Hochberg: few false ones among those found.",
        "There are two families: all tests of words (CEAT, SEAT, WEAT, log-probability bias) together, and all bias"
        " percentages. Intervals of differences and comparisons of structures are not corrected.",
    ),
    Quantity(
        "Differences and settling",
        ("ceat",),
        "Paired differences between lengths and between models, and the length from which an effect stays.",
        "The contexts of more words than the longest fixed length are others, so that part of such a difference may"
        " come from other texts; with a pool for each length this holds of all differences.",
    ),
    Quantity(
        "Spread of traits",
        ("structures",),
        "How far the log-probability bias of traits spreads in a sentence structure, and paired comparisons of two.",
        "A structure is one frame or a context of each trait's own: what holds of it may not hold of other sentences of"
        " that length.",
    ),
    Quantity(
        "Bias percentage",
        ("pairs",),
        "The share of the pairs whose stereotypical sentence the model finds more likely; 50 is no preference.",
        "Below 20 pairs only the exact interval can be relied on. The deviation over runs on samples of the pairs is no"
        " standard error. A percentage says nothing of how a model behaves in use.",
    ),
)
"""What is reported, and how far it goes. The studies behind these numbers: docs/statistics.md, docs/statistics.md,
docs/pairs.md."""


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


REFERENCES = (
    Reference(
        (*_OF_WORDS, "structures"),
        "Jayanta Sadhu, Ayan Antik Khan, Abhik Bhattacharjee and Rifat Shahriyar",
        2024,
        "An Empirical Study on the Characteristics of Bias upon Context Length Variation for Bangla",
        "Findings of ACL 2024",
        "https://arxiv.org/abs/2406.17375",
        "The categories, the segment lengths, CEAT for Bangla, sentence structures.",
    ),
    Reference(
        ("seat", "pairs"),
        "Nihar Ranjan Sahoo, Pranamya Prashant Kulkarni, Narjis Asad, Arif Ahmad, Tanu Goyal, Aparna Garimella and"
        " Pushpak Bhattacharyya",
        2024,
        "IndiBias: A Benchmark Dataset to Measure Social Biases in Language Models for Indian Context",
        "NAACL 2024",
        "https://arxiv.org/abs/2403.20147",
        "Sentence pairs and intersectional tests for the Indian context.",
    ),
    Reference(
        _OF_WORDS,
        "Aylin Caliskan, Joanna J. Bryson and Arvind Narayanan",
        2017,
        "Semantics derived automatically from language corpora contain human-like biases",
        "Science 356",
        "https://doi.org/10.1126/science.aal4230",
        "WEAT, and the design of the word lists.",
    ),
    Reference(
        ("ceat",),
        "Wei Guo and Aylin Caliskan",
        2021,
        "Detecting Emergent Intersectional Biases: Contextualized Word Embeddings Contain a Distribution of Human-like"
        " Biases",
        "AIES 2021",
        "",
        "CEAT.",
    ),
    Reference(
        ("seat",),
        "Chandler May, Alex Wang, Shikha Bordia, Samuel R. Bowman and Rachel Rudinger",
        2019,
        "On Measuring Social Biases in Sentence Encoders",
        "NAACL 2019",
        "https://arxiv.org/abs/1903.10561",
        "SEAT.",
    ),
    Reference(
        ("log_probability", "structures"),
        "Keita Kurita, Nidhi Vyas, Ayush Pareek, Alan W. Black and Yulia Tsvetkov",
        2019,
        "Measuring Bias in Contextualized Word Representations",
        "First Workshop on Gender Bias in Natural Language Processing",
        "",
        "Log-probability bias.",
    ),
    Reference(
        ("pairs",),
        "Nikita Nangia, Clara Vania, Rasika Bhalerao and Samuel R. Bowman",
        2020,
        "CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language Models",
        "EMNLP 2020",
        "",
        "Scores of sentence pairs.",
    ),
    Reference(
        (*_OF_WORDS, "pairs"),
        "Donald J. Schuirmann",
        1987,
        "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of"
        " average bioavailability",
        "Journal of Pharmacokinetics and Biopharmaceutics 15",
        "",
        "p_equivalence.",
    ),
    Reference(
        _OF_WORDS[:3],
        "William Timkey and Marten van Schijndel",
        2021,
        "All Bark and No Bite: Rogue Dimensions in Transformer Language Models Obscure Representational Quality",
        "EMNLP 2021",
        "",
        "Rogue dimensions, and standardizing them.",
    ),
    Reference(
        ("ceat",),
        "Uri Simonsohn, Joseph P. Simmons and Leif D. Nelson",
        2020,
        "Specification curve analysis",
        "Nature Human Behaviour 4",
        "",
        "Specification curves.",
    ),
)
"""What whoever publishes numbers made this way should cite."""

PAPERS = REFERENCES[:2]
"""The two papers whose tests, tables and figures these are."""


def references_of(measured: Iterable[str]) -> list[Reference]:
    """Return what a study that measured these methods should cite."""
    found = set(measured)
    return [each for each in REFERENCES if found & set(each.methods)]
