"""Write docs/scaling.md from what was measured (docs/measured); a test fails when the page is out of date.

What a study costs follows from its plan and from constants, each with the file that it stands in. Nothing here is a
measurement; what could not be measured stands in docs/measured/assumed.json, and the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import NamedTuple

from prasanga.plan.runs import LONGER, Shape
from prasanga.plan.runs import Constants as Measured

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "docs/measured"
TEMPLATE = MEASURED / "scaling.template"
PAGE = ROOT / "docs/scaling.md"
GIB = 1 << 30
#: Of a sentence table in a note.
BYTES_OF_A_PATH = len('"results/sentences/text-00001.part0001.parquet", ')
#: Inputs up to this size are compared by content (`max-checksum-file-size` of the profiles).
LARGEST_HASHED = 50e6


LARGE = Shape(1024, 24, 336e6)
#: The four models of the Bangla paper (config/sadhu2024.yaml).
OF_PAPER = {
    "banglabert-generator": Shape(256, 24, 52.5e6),
    "banglabert-discriminator": LARGE,
    "muril": Shape(1024, 24, 506e6),
    "xlm-roberta": Shape(1024, 24, 560e6),
}
#: Those, four of BERT-base's size with large vocabularies, and two decoders of seven billion parameters.
TEN_MODELS = {
    **OF_PAPER,
    **{f"base-{number}": Shape(768, 12, 238e6) for number in (1, 2, 3, 4)},
    **{f"decoder-{number}": Shape(4096, 32, 6.7e9) for number in (1, 2)},
}
TEN_LENGTHS = (9, 12, 18, 25, 35, 50, 75, 100, 150, ">150")


@dataclass(frozen=True)
class Plan:
    """A study: its corpus, what is measured on it, and how it is cut into jobs.

    Attributes:
        name: in a table.
        gigabytes: of plain text, 10^9 bytes.
        models: their shapes by name; each has a twin with random weights.
        lengths: of segments, in words.
        report: which study of the report's benchmark is the nearest.
        shard_megabytes: `corpus.shard_megabytes`.
        buckets: `embeddings.buckets`.
        static: number of static vectors trained with each of the two methods.
    """

    name: str
    gigabytes: float
    models: Mapping[str, Shape]
    lengths: Sequence[int | str]
    report: str
    shard_megabytes: int = 512
    buckets: int = 4
    static: int = 1
    stimuli: int = 262
    contexts: int = 1_200
    categories: int = 9
    modes: int = 2

    @property
    def shards(self) -> int:
        """Parts of the corpus, each searched by one job."""
        return max(1, math.floor(self.gigabytes * 1_000 / self.shard_megabytes + 0.5))

    @property
    def words(self) -> list[int]:
        """Words of a segment of each length; those of more than n words count as `LONGER` times n."""
        return [int(str(each)[1:]) * LONGER if str(each).startswith(">") else int(each) for each in self.lengths]

    @property
    def segments(self) -> int:
        """Drawn of all stimuli at all lengths, if the corpus has enough of each."""
        return self.stimuli * self.contexts * len(self.lengths)

    @property
    def embedding_jobs(self) -> int:
        """Of models and twins, all lengths and buckets."""
        return 2 * len(self.models) * len(self.lengths) * self.buckets

    @property
    def cells(self) -> int:
        """Models and twins at all lengths: a list of shards and a job of CEAT each."""
        return 2 * len(self.models) * len(self.lengths)


PLANS = (
    Plan("Bangla2B+, 4 models", 27.5, OF_PAPER, (9, 25, 75, ">75"), "study"),
    Plan("300 GB, 10 models", 300, TEN_MODELS, (9, 25, 75, ">75"), "large"),
    Plan("10 TB, 10 models", 10_000, TEN_MODELS, TEN_LENGTHS, "large", shard_megabytes=4_096, static=0),
)


class Cost(NamedTuple):
    """Of a stage: seconds of a core without a card, seconds of a card, GiB a job, bytes on disk."""

    core_seconds: float
    card_seconds: float = 0.0
    memory: float | None = None
    disk: float = 0.0


class Constants(Measured):
    """The same, with what is not measured and what is assumed."""

    def get(self, name: str) -> float | None:
        """Return what was measured; None for what was not."""
        file, _, key = name.partition(".")
        return self[name] if key in self.files[file]["constants"] else None

    def guess(self, name: str) -> float:
        """Return an assumption."""
        return float(self.assumed[name]["value"])

    def card_flops(self, words: float, card: str) -> float:
        """FLOP/s of a card, ASSUMED: its published rate, what products give of it, and what a model is to reach."""
        share = self.guess("share_at_75_words" if words >= 75 else "share_at_9_words")
        rate = float(self.assumed["cards"][card]["bf16_teraflops"]) * 1e12
        return rate * self.guess("share_of_published_rate") * share


def digests(plan: Plan, known: Constants) -> Cost:
    """The corpus is read once while planning, for the digests of its files: B / disk."""
    return Cost(plan.gigabytes * 1_000 / known.guess("disk_megabytes_per_second"))


def sentences(plan: Plan, known: Constants) -> Cost:
    """Searching: S x start + B / (speed x gain / 2)."""
    megabytes = plan.gigabytes * 1_000
    speed = known["sentences.megabytes_per_core_second"] * known["sentences.gain_of_two_processes"] / 2
    return Cost(
        plan.shards * known["sentences.start_of_job_seconds"] + megabytes / speed,
        memory=known["sentences.gibibytes_of_search"],
        disk=rows(plan, known) * known["sentences.bytes_per_sentence"],
    )


def rows(plan: Plan, known: Constants) -> float:
    """Sentences with a stimulus in the whole corpus."""
    return plan.gigabytes * 1_000 * known["sentences.sentences_per_megabyte"]


def samples(plan: Plan, known: Constants) -> Cost:
    """Drawing and cutting, in one job: start + rows / draw + segments / cut; text as if it were not compressed."""
    bytes_per_word = 1e6 / known["static.words_per_megabyte"]
    per_length = plan.stimuli * plan.contexts
    return Cost(
        known["sentences.start_of_job_seconds"]
        + rows(plan, known) / known["sentences.drawn_sentences_per_second"]
        + plan.segments / known["sentences.cut_segments_per_second"],
        memory=known.get("sentences.gibibytes_of_draw"),
        disk=sum(per_length * words * bytes_per_word for words in plan.words),
    )


def embeddings(plan: Plan, known: Constants, card: str = "A100") -> Cost:
    """Models and twins: 2 x contexts x FLOP(pieces) / rate, and for each job imports and weights."""
    core = on_card = disk = 0.0
    for shape in plan.models.values():
        for words in plan.words:
            flop = 2 * plan.stimuli * plan.contexts * shape.flop(known.pieces(words))
            core += flop / known.core_flops(words)
            on_card += flop / known.card_flops(words, card)
            disk += 2 * plan.stimuli * plan.contexts * shape.width * known["embeddings.bytes_per_value"]
    memory = max(2 * shape.parameters for shape in plan.models.values()) / GIB
    return Cost(core + starts(plan, known), on_card + starts(plan, known), memory, disk)


def starts(plan: Plan, known: Constants) -> float:
    """Seconds until the jobs of the embeddings have imported what they need and loaded their weights in bfloat16."""
    of_a_model = 2 * len(plan.lengths) * plan.buckets
    load = known.guess("load_megabytes_per_second") * 1e6
    return sum(
        of_a_model * (known["embeddings.seconds_of_imports"] + 2 * shape.parameters / load)
        for shape in plan.models.values()
    )


def associations(plan: Plan, known: Constants) -> Cost:
    """CEAT with intervals and controls, the twins counted like the models: estimates x seconds x width / 1024."""
    each = known["associations.core_seconds_per_estimate"] / known["associations.dimensions"]
    per_model = 2 * len(plan.lengths) * plan.categories * plan.modes
    seconds = sum(per_model * each * shape.width for shape in plan.models.values())
    widest = max(shape.width for shape in plan.models.values())
    return Cost(seconds, memory=known["associations.gibibytes"] * widest / known["associations.dimensions"])


def pairs(plan: Plan, known: Constants, card: str = "A100") -> Cost:
    """IndiBias's file in two languages by models and twins: copies x FLOP / rate; the head is not counted."""
    pieces = known["pairs.pieces_per_copy_of_sample"]
    flop = sum(2 * known["pairs.copies_of_sample"] * shape.flop(pieces) for shape in plan.models.values())
    jobs = 2 * len(plan.models) * known["embeddings.seconds_of_imports"]
    return Cost(flop / known.scored_flops() + jobs, flop / known.card_flops(9, card) + jobs)


def static(plan: Plan, known: Constants) -> Cost:
    """Cutting once, and word2vec and GloVe: 5 epochs of words, counting, and 25 epochs of counts.

    Memory is GloVe's, the larger: different words grow with a power of all words (Heaps' law), and a constant share of
    them is frequent enough for a vector.
    """
    megabytes = plan.gigabytes * 1_000
    words = megabytes * known["static.words_per_megabyte"]
    counts = words * known["static.counts_per_word"]
    seconds = (
        megabytes / known["static.megabytes_cut_per_second"]
        + 5 * words / known["static.words_trained_per_second"]
        + words / known["static.words_counted_per_second"]
        + 25 * counts / known["static.counts_per_second"]
    )
    growth = (words / known["static.words_measured"]) ** known["static.growth_of_different_words"]
    memory = growth * (
        known["static.different_words"] * known["static.bytes_per_different_word"]
        + known["static.frequent_words"] * known["static.bytes_per_vector_of_glove"]
    )
    disk = plan.static * words * known["static.bytes_per_word"]
    return Cost(plan.static * seconds, memory=memory / GIB, disk=disk)


def report(plan: Plan, known: Constants) -> Cost:
    """The nearest study of the report's benchmark."""
    return Cost(known[f"report.core_seconds_of_{plan.report}"], disk=known[f"report.megabytes_of_{plan.report}"] * 1e6)


STAGES = {
    "digests of the corpus": digests,
    "sentences": sentences,
    "samples": samples,
    "embeddings, with twins": embeddings,
    "static vectors": static,
    "associations": associations,
    "pairs": pairs,
    "report": report,
}


class Notes(NamedTuple):
    """What Snakemake and the ledger keep of a study.

    Attributes:
        jobs: to be planned, but for some forty that every study has.
        files: results, logs and benchmarks of these.
        bytes: of notes, those of outputs that were made from all sentence tables; the ledger has them again.
        hashed: bytes that Snakemake hashes in its main process for these notes, each table once for each output.
    """

    jobs: int
    files: int
    bytes: float
    hashed: float


def notes(plan: Plan, known: Constants) -> Notes:
    """Jobs S + 2MLb + 2 x 2ML; two results a shard and bucket, 1 + 4 a cell; a path for each shard in S-wide notes."""
    jobs = plan.shards + plan.embedding_jobs + 2 * plan.cells
    drawn = 3 + len(plan.lengths) * plan.buckets
    results = 2 * plan.shards + 2 * plan.embedding_jobs + 5 * plan.cells + drawn
    of_audit = 8
    tables = sentences(plan, known).disk
    hashed = tables if tables / plan.shards <= LARGEST_HASHED else 0.0
    wide = drawn + of_audit
    return Notes(jobs, results + 2 * jobs, wide * plan.shards * BYTES_OF_A_PATH, wide * hashed)


def page(known: Constants) -> str:
    """The text of docs/scaling.md."""
    parts = {
        "costs": [line for plan in PLANS for line in _costs(plan, known)] + list(_cards(known)),
        "breaks": list(_breaks(known)),
        "planning": list(_planning(known)),
        "constants": list(_constants(known)),  # those that the parts above have used
    }
    written = {name: "\n".join(lines) for name, lines in parts.items()}
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(written)


def _costs(plan: Plan, known: Constants) -> Iterator[str]:
    yield f"### {plan.name}\n"
    yield (
        f"{len(plan.models)} models and their twins, {len(plan.lengths)} lengths, {plan.stimuli} stimuli with"
        f" {plan.contexts:,} contexts at most, {plan.categories} categories; parts of {plan.shard_megabytes:,} MB,"
        f" {plan.buckets} buckets.\n"
    )
    yield _row(
        "stage", "core hours, no card", "core hours beside a card", "A100 hours (ASSUMED)", "memory a job", "disk"
    )
    yield _row(*["---"] * 6)
    total = [0.0, 0.0, 0.0, 0.0]
    for name, stage in STAGES.items():
        cost = stage(plan, known)
        if name == "static vectors" and not plan.static:
            yield _row(name, "not planned", "-", "-", "-", "-")
            continue
        beside = 0.0 if cost.card_seconds else cost.core_seconds
        for place, value in enumerate((cost.core_seconds, beside, cost.card_seconds, cost.disk)):
            total[place] += value
        yield _row(
            name,
            _hours(cost.core_seconds),
            _hours(beside) if beside else "-",
            _hours(cost.card_seconds) if cost.card_seconds else "-",
            _memory(cost, name),
            _bytes(cost.disk) if cost.disk else "-",
        )
    yield _row("**in all**", *map(_hours, total[:3]), "", _bytes(total[3])) + "\n"


def _memory(cost: Cost, name: str) -> str:
    if cost.memory is None:
        return "-"
    return f"{cost.memory:.1f} GiB" + (" of weights at most" if name.startswith("embeddings") else "")


def _cards(known: Constants) -> Iterator[str]:
    yield "### Other cards\n"
    yield "ASSUMED as above; the part of the hours that is starts (imports, weights) no card makes shorter.\n"
    cards = list(known.assumed["cards"])
    yield _row("embeddings of", *(f"{card} hours" for card in cards), "of these starts")
    yield _row(*["---"] * (2 + len(cards)))
    for plan in PLANS:
        hours = [_hours(embeddings(plan, known, card).card_seconds) for card in cards]
        yield _row(plan.name, *hours, _hours(starts(plan, known)))
    for buckets in (1, 16):
        other = replace(PLANS[0], name=f"{PLANS[0].name}, `buckets: {buckets}`", buckets=buckets)
        hours = [_hours(embeddings(other, known, card).card_seconds) for card in cards]
        yield _row(other.name, *hours, _hours(starts(other, known)))


def _constants(known: Constants) -> Iterator[str]:
    yield _row("constant (file in `docs/measured`, name)", "value", "from", "machine, date")
    yield _row(*["---"] * 4)
    for name in sorted(known.used):
        file = known.files[name.partition(".")[0]]
        origin = file.get("source", f"`{file['command']}`")
        yield _row(f"`{name}`", f"{known[name]:,.6g}", origin, f"{file['machine']}, {file['date']}")
    for name, card in known.assumed["cards"].items():
        yield _row(f"`{name}`", f"{card['bf16_teraflops']:,g} TFLOP/s", f"**ASSUMED**: {card['source']}", "-")
    for name, guess in known.assumed.items():
        if isinstance(guess, dict) and "value" in guess:
            yield _row(f"`{name}`", f"{guess['value']:,g}", f"**ASSUMED**: {guess['source']}", "-")


def _breaks(known: Constants) -> Iterator[str]:
    sizes = ("notes on all shards", "hashed for them", "sentence tables")
    columns = ("plan", "jobs", "files", *sizes, "draw", "digests", "static vectors")
    yield _row(*columns)
    yield _row(*["---"] * len(columns))
    as_it_comes = replace(PLANS[2], name="10 TB in small parts, 16 buckets", shard_megabytes=512, buckets=16, static=1)
    in_files = replace(PLANS[0], name="Bangla2B+ in 256 files", shard_megabytes=107)
    for plan in (PLANS[0], in_files, *PLANS[1:], as_it_comes):
        kept = notes(plan, known)
        yield _row(
            plan.name,
            f"{kept.jobs:,}",
            f"{kept.files:,}",
            _bytes(kept.bytes),
            _bytes(kept.hashed) if kept.hashed else "-",
            _bytes(sentences(plan, known).disk),
            _hours(samples(plan, known).core_seconds),
            _hours(digests(plan, known).core_seconds),
            _hours(static(plan, known).core_seconds) if plan.static else "-",
        )


def _planning(known: Constants) -> Iterator[str]:
    file = known.files["planning"]
    yield _row("plan", "state", "jobs", "planned within", "processor time", "memory")
    yield _row(*["---"] * 6)
    for name, found in file["results"].items():
        plan, _, state = name.partition(", ")
        cells = (_timed(found[key]) for key in ("seconds", "cpu"))
        memory = "not measured" if found["memory"] is None else f"{found['memory']:.2f} GiB"
        yield _row(plan, state, f"{found['jobs']:,}", *cells, memory)
    yield f"\nMeasured on {file['machine']}, {file['date']}."


def _timed(seconds: float | None) -> str:
    return "not measured" if seconds is None else f"{seconds:.1f} s"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _hours(seconds: float) -> str:
    """Hours with two digits that count; less than a hundredth of an hour is said so."""
    hours = seconds / 3600
    if hours < 0.01:
        return "< 0.01"
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.1f}" if hours >= 1 else f"{hours:.2f}"


def _bytes(amount: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if amount >= size:
            return f"{amount / size:,.1f} {unit}"
    return f"{amount / 1e3:,.1f} kB"


if __name__ == "__main__":
    PAGE.write_text(page(Constants()), encoding="utf-8")
