"""What the page says of the vectors: which models made them and how, what was cut or left out, what tokenizers lose.

What none of the files tells is said to be not known: nothing here is guessed from the config alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from prasanga.report.grid import sort_lengths
from prasanga.report.sheet import MINUS, MISSING
from prasanga.report.study import EmbeddingFiles, Report, families_of, family_of
from prasanga.report.tokenizers import Tokenizer, describe_tokenizer

NOT_KNOWN = "not known"
REASONS = {
    "unknown": "the tokenizer does not know a piece of it",
    "cut": "more pieces than the model reads",
}
"""Why a target has no vector, or one of a part of its context."""
_COSINES = ("cosine_mean", "cosine_min", "float16_cosine_min")
_PIECES = {"all": "mean of all", "root": "mean of the root's", "first": "first", "last": "last"}


class EmbeddedModel(NamedTuple):
    """What a model is and how its vectors were made, as text."""

    name: str
    source: str
    kind: str
    parameters: str
    dimension: str
    longest: str
    layer: str
    pieces: str
    precision: str
    stored: str
    tokenizer: str
    quantization: str


class Count(NamedTuple):
    """Vectors, targets left out, contexts cut, and targets kept with unknown pieces; None where no file says it."""

    vectors: int | None
    left_out: int | None
    cut: int | None
    unknown: int | None = 0


class Vectors(NamedTuple):
    """The counts of a model at each length and at all of them, and what its shards take on disk."""

    model: str
    cells: list[Count]
    total: Count
    size: str


class Loss(NamedTuple):
    """A stimulus that lost something with a model: how many contexts at each length and in total, and why."""

    stimulus: str
    gloss: str
    model: str
    reason: str
    counts: list[int]
    total: int


class Precision(NamedTuple):
    """Cosines with the same vectors in float32: mean and least of those used, and the least of float16 on disk alone.

    `reason` says why they are low, or why there are none.
    """

    model: str
    compared: str
    mean: str
    least: str
    float16: str
    reason: str


class Embedded(NamedTuple):
    """What the page shows of embeddings.

    `summary` tells in a sentence what was lost, and `missing` what no file says.
    """

    summary: str
    missing: list[str]
    models: list[EmbeddedModel]
    decoders: list[str]
    encoder_decoders: list[str]
    lengths: list[str]
    vectors: list[Vectors]
    left_out: list[Loss]
    cut: list[Loss]
    precisions: list[Precision]
    tokenizers: list[Tokenizer]


def embedded_section(files: EmbeddingFiles, glosses: Mapping[str, str]) -> Embedded:
    """Arrange what is known of the vectors for the page; `glosses` are by stimulus."""
    lengths = sort_lengths(length for _, length in files.lists)
    vectors = {name: _vectors(files, name, lengths) for name in files.studied}
    models = [_model(files, name) for name in files.studied]
    families = families_of(files)
    return Embedded(
        _summary([vectors[name].total for name in families.values()]),
        _missing(files),
        models,
        [model.name for model in models if model.kind == "decoder"],
        [model.name for model in models if model.kind == "encoder-decoder"],
        lengths,
        list(vectors.values()),
        _losses(files, "left_out", lengths, glosses),
        _losses(files, "cut", lengths, glosses),
        [_precision(name, files.precisions[name]) for name in files.studied if name in files.precisions],
        [
            describe_tokenizer(family, files.audits[family], files.audit_tables.get(family), glosses)
            for family in families
            if family in files.audits
        ],
    )


def _model(files: EmbeddingFiles, name: str) -> EmbeddedModel:
    settings = files.studied[name]
    report = files.reports.get(family_of(settings, name), {})
    listed = next((each for (model, _), each in files.lists.items() if model == name), {})
    made = json.loads(listed.get("made_from", {}).get("settings", "{}"))
    precision = files.precisions.get(name, {})
    kind = report.get("kind") or settings.get("kind", "auto")
    parameters = report.get("parameters")
    options = settings.get("tokenizer", {}).items()
    return EmbeddedModel(
        name,
        _source(settings, report.get("identity") or made, pinned=report.get("pinned", True)),
        NOT_KNOWN if kind == "auto" else str(kind),
        NOT_KNOWN if parameters is None else f"{parameters / 1e6:,.1f} million",
        str(listed.get("dimension", report.get("hidden_size", NOT_KNOWN))),
        _longest(report),
        _layer(settings.get("layer"), report.get("blocks")),
        _PIECES.get(str(settings.get("pieces", "all")), str(settings.get("pieces"))),
        str(made.get("dtype") or precision.get("dtype") or settings.get("dtype", NOT_KNOWN)),
        str(listed.get("stored_dtype") or precision.get("stored_dtype") or NOT_KNOWN),
        ", ".join(f"{option}: {json.dumps(value, ensure_ascii=False)}" for option, value in options) or "none",
        str(settings.get("quantization", "none")),
    )


def _source(settings: Report, identity: Report, *, pinned: bool) -> str:
    """Where the weights come from, and which they are: a commit of the hub, or the digest of a folder."""
    place = "trained in this study" if "train" in settings else str(settings.get("path", NOT_KNOWN))
    if identity.get("commit"):
        place += f" at {identity['commit']}"
    elif identity.get("sha256"):
        place += f", folder with sha256 {identity['sha256'][:16]}…"
    elif settings.get("revision"):
        place += f" at {settings['revision']}"
    if not pinned:
        place += ", which the config does not pin"
    return place + (", with Python code of its own" if settings.get("remote_code") else "")


def _longest(report: Report) -> str:
    """How many pieces a model reads at once."""
    if "max_pieces" not in report:
        return NOT_KNOWN
    return "no limit" if report["max_pieces"] is None else f"{report['max_pieces']:,}"


def _layer(layer: int | None, blocks: int | None) -> str:
    if layer is None:
        return NOT_KNOWN
    if layer == 0:
        return "0, the input embeddings"
    text = str(layer).replace("-", MINUS)
    if blocks is None:
        return f"{text}, the last" if layer == -1 else text
    number = layer if layer > 0 else blocks + 1 + layer
    return f"{number} of {blocks}" + (", the last" if number == blocks else "")


def _vectors(files: EmbeddingFiles, name: str, lengths: list[str]) -> Vectors:
    lists = [files.lists.get((name, length)) for length in lengths]
    cells = [_count(listed) for listed in lists]
    columns = zip(*cells, strict=True) if cells else [(None,)] * 4
    total = Count(*(None if None in column else sum(column) for column in columns))
    sizes = [sum(listed["sizes"].values()) for listed in lists if listed and "sizes" in listed]
    return Vectors(name, cells, total, f"{sum(sizes) / 1e6:,.1f} MB" if len(sizes) == len(cells) > 0 else NOT_KNOWN)


def _count(listed: Report | None) -> Count:
    if listed is None:
        return Count(None, None, None)
    left_out, cut = listed.get("left_out"), listed.get("cut")
    return Count(
        listed["n_segments"],
        None if left_out is None else sum(sum(reasons.values()) for reasons in left_out.values()),
        None if cut is None else sum(cut.values()),
        sum(listed.get("unknown", {}).values()),
    )


def _losses(files: EmbeddingFiles, key: str, lengths: list[str], glosses: Mapping[str, str]) -> list[Loss]:
    """What each stimulus lost with each model, the most first; `key` is that of the lists, `left_out` or `cut`."""
    losses = []
    for family, name in families_of(files).items():
        found: dict[tuple[str, str], Counter[str]] = {}
        for length in lengths:
            for stimulus, reasons in files.lists.get((name, length), {}).get(key, {}).items():
                for reason, n in reasons.items() if isinstance(reasons, Mapping) else [(key, reasons)]:
                    found.setdefault((stimulus, reason), Counter())[length] += n
        for (stimulus, reason), by_length in sorted(found.items(), key=lambda pair: (-pair[1].total(), pair[0])):
            counts, why = [by_length[length] for length in lengths], REASONS.get(reason, reason)
            losses.append(Loss(stimulus, glosses.get(stimulus, ""), family, why, counts, by_length.total()))
    return losses


def _summary(totals: list[Count]) -> str:
    """What became of the targets of all models and lengths, in a sentence; empty if that is not known."""
    vectors = sum(total.vectors or 0 for total in totals)
    left_out, cut, unknown = (
        sum(getattr(total, part) or 0 for total in totals) for part in ("left_out", "cut", "unknown")
    )
    kept = (
        f" {unknown:,} have a piece that the tokenizer does not know, and were kept as the config says."
        if unknown
        else ""
    )
    whole = not any(None in total for total in totals)
    if not left_out and not cut:
        if not whole or not vectors:
            return ""
        return f"Nothing was dropped: all {vectors:,} targets have their vectors, each from its whole segment.{kept}"
    lost = f"{left_out:,} of {vectors + left_out:,} targets were left out" if left_out else "No target was left out"
    shorter = f"{cut:,} contexts were cut to fit the model" if cut else "no context was cut"
    return f"{lost}, {shorter}{'' if whole else ', as far as the lists of vectors say'}.{kept}"


def _missing(files: EmbeddingFiles) -> list[str]:
    """What no file says, a sentence each."""
    families = list(families_of(files))
    listed = {model for model, _ in files.lists}
    silent = {model for (model, _), each in files.lists.items() if not {"left_out", "cut"} <= each.keys()}
    absent = {
        "No list of vectors is there for {}.": [name for name in files.studied if name not in listed],
        "What was left out or cut is not said in the lists of {}.": [name for name in files.studied if name in silent],
        "The check of the model is not there for {}: its kind and its number of parameters are not known.": [
            family for family in families if family not in files.reports
        ],
        "The comparison with float32 is not there for {}.": [
            name for name in files.studied if name not in files.precisions
        ],
        "The audit of the tokenizer is not there for {}.": [
            family for family in families if family not in files.audits
        ],
    }
    return [sentence.format(", ".join(names)) for sentence, names in absent.items() if names]


def _precision(name: str, found: Report) -> Precision:
    mean, least, float16 = (f"{found[key]:.7f}" if found.get(key) is not None else MISSING for key in _COSINES)
    compared = found.get("compared")
    return Precision(
        name, f"{compared:,}" if compared else MISSING, mean, least, float16, str(found.get("reason") or "")
    )
