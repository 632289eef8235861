"""The section on vectors: which models made them and how, what was cut or left out, what tokenizers lose.

What none of the files tells is said to be not known: nothing here is guessed from the config alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.report.grid import sort_lengths
from prasanga.report.section import Section, fold, prose
from prasanga.report.sections.ceat import ceat_grid
from prasanga.report.sections.texts import with_asides
from prasanga.report.sheet import MINUS, MISSING, Cell, Row, Sheet, html, numbers, row_of
from prasanga.report.study import VECTOR_REASONS, EmbeddingFiles, Report, Results, families_of, family_of
from prasanga.report.words import glosses_of, pieces_as_text

NOT_KNOWN = "not known"

_COSINES = ("cosine_mean", "cosine_min", "float16_cosine_min")
_PIECES = {"all": "mean of all", "root": "mean of the root's", "first": "first", "last": "last"}
_DAMAGES = {
    "unknown": "Pieces that it does not know",
    "marks_lost": "Marks lost",
    "identical": "The same pieces for two stimuli",
}
"""What a tokenizer may do to a form, by the names of the audit."""


class _Count(NamedTuple):
    """Vectors, targets left out, contexts cut, and targets kept with unknown pieces; None where no file says it."""

    vectors: int | None
    left_out: int | None
    cut: int | None
    unknown: int | None = 0


def embeddings(results: Results) -> Section | None:
    """Return the section on vectors; where contexts were measured, it says also that nothing is known of them."""
    files = results.embeddings
    if files is None:
        if ceat_grid(results) is None:
            return None
        return Section("Embeddings", "embeddings", text=[prose("no_embeddings")])
    glosses = glosses_of(results.categories)
    lengths = sort_lengths(length for _, length in files.lists)
    kinds = {name: _kind(files, name) for name in files.studied}
    summary = _summary([_total(files, name, lengths) for name in families_of(files).values()])
    text = [*([html("<strong>{}</strong>", summary)] if summary else []), *_missing(files)]
    if decoders := [name for name, kind in kinds.items() if kind == "decoder"]:
        text.append(prose("decoders", models=", ".join(decoders)))
    if both := [name for name, kind in kinds.items() if kind == "encoder-decoder"]:
        text.append(f"{', '.join(both)}: vectors are those of the encoder; the decoder is not used.")
    return Section(
        "Embeddings",
        "embeddings",
        text=text,
        sheets=[_models_sheet(files), *([_vectors_sheet(files, lengths)] if lengths else [])],
        parts=[
            *_losses("Targets left out", files, "left_out", lengths, glosses),
            *_losses("Contexts cut to fit the model", files, "cut", lengths, glosses),
            *_difference_to_float32(files),
            *_tokenizers(files, glosses),
        ],
    )


def _models_sheet(files: EmbeddingFiles) -> Sheet:
    texts = ("Layer", "Pieces of the target", "Run in", "Kept in", "Tokenizer options", "Quantization")
    columns = numbers("Kind", "Weights", "Parameters", "Dimensions", "Reads pieces", *texts)
    rows = [row_of(name, *_model(files, name)) for name in files.studied]
    kinds = dict.fromkeys(("Kind", "Weights", *texts), "text")
    return Sheet(("Model",), columns, rows, "Models, and how their vectors were made", "settings", kinds)


def _kind(files: EmbeddingFiles, name: str) -> str:
    """Return whether a model is an encoder, a decoder or an encoder-decoder, as far as that is known."""
    settings = files.studied[name]
    report = files.reports.get(family_of(settings, name), {})
    kind = report.get("kind") or settings.get("kind", "auto")
    return NOT_KNOWN if kind == "auto" else str(kind)


def _model(files: EmbeddingFiles, name: str) -> list[str]:
    """Return what a model is and how its vectors were made, a text for each column."""
    settings = files.studied[name]
    report = files.reports.get(family_of(settings, name), {})
    listed = next((each for (model, _), each in files.lists.items() if model == name), {})
    made = json.loads(listed.get("made_from", {}).get("settings", "{}"))
    precision = files.precisions.get(name, {})
    parameters = report.get("parameters")
    options = settings.get("tokenizer", {}).items()
    return [
        _kind(files, name),
        _source(settings, report.get("identity") or made, report),
        NOT_KNOWN if parameters is None else f"{parameters / 1e6:,.1f} million",
        str(listed.get("dimension", report.get("hidden_size", NOT_KNOWN))),
        _longest(report),
        _layer(settings.get("layer"), report.get("blocks")),
        _PIECES.get(str(settings.get("pieces", "all")), str(settings.get("pieces"))),
        str(made.get("dtype") or precision.get("dtype") or settings.get("dtype", NOT_KNOWN)),
        str(listed.get("stored_dtype") or precision.get("stored_dtype") or NOT_KNOWN),
        ", ".join(f"{option}: {json.dumps(value, ensure_ascii=False)}" for option, value in options) or "none",
        str(settings.get("quantization", "none")),
    ]


def _source(settings: Report, identity: Report, report: Report) -> str:
    """Return where the weights come from, and which they are: a commit of the hub, or the digest of a folder."""
    place = "trained in this study" if "train" in settings else str(settings.get("path", NOT_KNOWN))
    if package := report.get("package"):
        of_package = "{name} from the package {requirement}, which keeps weights in {weights}"
        place = of_package.format_map(package)
    if identity.get("commit"):
        place += f" at {identity['commit']}"
    elif identity.get("sha256"):
        place += f", folder with sha256 {identity['sha256'][:16]}…"
    elif settings.get("revision"):
        place += f" at {settings['revision']}"
    if not report.get("pinned", True):
        place += ", which the config does not pin"
    return place + (", with Python code of its own" if settings.get("remote_code") else "")


def _longest(report: Report) -> str:
    """Return how many pieces a model reads at once."""
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


def _vectors_sheet(files: EmbeddingFiles, lengths: Sequence[str]) -> Sheet:
    rows = []
    for name in files.studied:
        lists = [files.lists.get((name, length)) for length in lengths]
        sizes = [sum(listed["sizes"].values()) for listed in lists if listed and "sizes" in listed]
        size = f"{sum(sizes) / 1e6:,.1f} MB" if len(sizes) == len(lengths) else NOT_KNOWN
        counts = [*map(_count, lists), _total(files, name, lengths)]
        rows.append(row_of(name, *map(_count_cell, counts), size))
    columns = numbers(*(f"{length} words" for length in lengths), "In all", "On disk")
    caption = "Vectors by segment length; what was left out has none, what was cut has one from a part of its context"
    return Sheet(("Model",), columns, rows, caption)


def _count(listed: Report | None) -> _Count:
    if listed is None:
        return _Count(None, None, None)
    left_out, cut = listed.get("left_out"), listed.get("cut")
    return _Count(
        listed["n_segments"],
        None if left_out is None else sum(sum(reasons.values()) for reasons in left_out.values()),
        None if cut is None else sum(cut.values()),
        sum(listed.get("unknown", {}).values()),
    )


def _total(files: EmbeddingFiles, name: str, lengths: Sequence[str]) -> _Count:
    counts = [_count(files.lists.get((name, length))) for length in lengths]
    columns = zip(*counts, strict=True) if counts else [(None,)] * 4
    return _Count(*(None if None in column else sum(column) for column in columns))


def _count_cell(counted: _Count) -> Cell:
    asides = [f"{n:,} {what}" for n, what in ((counted.left_out, "left out"), (counted.cut, "cut")) if n]
    return Cell(with_asides(NOT_KNOWN if counted.vectors is None else f"{counted.vectors:,}", asides))


def _losses(
    title: str, files: EmbeddingFiles, key: str, lengths: Sequence[str], glosses: Mapping[str, str]
) -> list[Section]:
    """Return what each stimulus lost with each model, the most first; `key` is that of the lists, left_out or cut."""
    rows = []
    for family, name in families_of(files).items():
        found: dict[tuple[str, str], Counter[str]] = {}
        for length in lengths:
            for stimulus, reasons in files.lists.get((name, length), {}).get(key, {}).items():
                for reason, n in reasons.items() if isinstance(reasons, Mapping) else [(key, reasons)]:
                    found.setdefault((stimulus, reason), Counter())[length] += n
        for (stimulus, reason), by_length in sorted(found.items(), key=lambda pair: (-pair[1].total(), pair[0])):
            counts = [*(by_length[length] for length in lengths), by_length.total()]
            texts = (glosses.get(stimulus, ""), family, VECTOR_REASONS.get(reason, reason))
            rows.append(row_of(stimulus, *texts, *(f"{n:,}" for n in counts)))
    if not rows:
        return []
    heads = ("Gloss", "Model", "Reason")
    columns = numbers(*heads, *(f"{length} words" for length in lengths), "In all")
    caption = f"{title} by stimulus and model"
    sheet = Sheet(("Stimulus",), columns, rows, caption, "losses", dict.fromkeys(heads, "text"))
    where = [prose("left_out_of_vectors")] if key == "left_out" else []
    return [fold(title, "by stimulus, model and length", sheets=[sheet], notes=where)]


def _summary(totals: Sequence[_Count]) -> str:
    """Return what became of the targets of all models and lengths, in a sentence; empty if that is not known."""
    vectors, left_out, cut, unknown = (sum(total[i] or 0 for total in totals) for i in range(len(_Count._fields)))
    kept = ""
    if unknown:
        kept = f" {unknown:,} have a piece that the tokenizer does not know, and were kept as the config says."
    whole = not any(None in total for total in totals)
    if not left_out and not cut:
        if not whole or not vectors:
            return ""
        return f"Nothing was dropped: all {vectors:,} targets have their vectors, each from its whole segment.{kept}"
    lost = f"{left_out:,} of {vectors + left_out:,} targets were left out" if left_out else "No target was left out"
    shorter = f"{cut:,} contexts were cut to fit the model" if cut else "no context was cut"
    return f"{lost}, {shorter}{'' if whole else ', as far as the lists of vectors say'}.{kept}"


def _missing(files: EmbeddingFiles) -> list[str]:
    """Return what no file says, a sentence each."""
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
        "The audit of the tokenizer is not there for {}.": [name for name in families if name not in files.audits],
    }
    return [sentence.format(", ".join(names)) for sentence, names in absent.items() if names]


def _difference_to_float32(files: EmbeddingFiles) -> list[Section]:
    """Return how near the vectors are to those in float32."""
    rows = []
    for name in (name for name in files.studied if name in files.precisions):
        found = files.precisions[name]
        cosines = (f"{found[key]:.7f}" if found.get(key) is not None else MISSING for key in _COSINES)
        compared = f"{found['compared']:,}" if found.get("compared") else MISSING
        rows.append(row_of(name, compared, *cosines, str(found.get("reason") or "")))
    if not rows:
        return []
    columns = numbers("Compared", "Mean", "Least", "Least, float16 on disk alone", "Remark")
    caption = "Cosine between the vectors used and those in float32"
    sheet = Sheet(("Model",), columns, rows, caption, kinds={"Remark": "text"})
    return [Section("Difference to float32", text=[prose("float32")], sheets=[sheet])]


def _tokenizers(files: EmbeddingFiles, glosses: Mapping[str, str]) -> list[Section]:
    """Return what the audit says of the tokenizers."""
    audited = [family for family in families_of(files) if family in files.audits]
    if not audited:
        return []
    shares = ("With an unknown piece", "Losing marks", "With the pieces of another stimulus")
    rows = []
    for family in audited:
        audit = files.audits[family]
        cells = (f"{100 * audit[name]:.3g} %" for name in _DAMAGES)
        occurrences = (f"{audit[name]:,}" if name in audit else "" for name in ("n_occurrences", "n_unseen"))
        counts = (f"{audit['n_forms']:,}", *occurrences, f"{audit['pieces_per_form']:.2f}")
        rows.append(row_of(family, *counts, *cells))
    columns = numbers("Forms", "Occurrences", "Forms that do not occur", "Pieces per form", *shares)
    sheet = Sheet(("Model",), columns, rows, "What the tokenizers make of the forms")
    parts: list[Section] = []
    for family in audited:
        parts += _tokenizer(family, files.audits[family], files.audit_tables.get(family), glosses)
    return [Section("Audit of the tokenizers", text=[prose("tokenizers")], sheets=[sheet], parts=parts)]


def _tokenizer(model: str, audit: Report, table: pl.DataFrame | None, glosses: Mapping[str, str]) -> list[Section]:
    """Return examples of what a tokenizer damages, and what it makes of every stimulus, the damaged ones first."""
    found = audit.get("examples", {})
    examples = [f"{title}: {'; '.join(found[name])}" for name, title in _DAMAGES.items() if found.get(name)]
    rows = [] if table is None else [_pieces(row, glosses) for row in table.iter_rows(named=True)]
    if not rows:
        return [fold(model, "examples; the table by stimulus is not there", items=examples)] if examples else []
    damaged = sum(bool(row.cells[-1].text) for row in rows)
    heads = (
        *("Gloss", "Pieces", "Forms", "Occurrences", "Pieces per form", "Most", "Unknown", "Marks lost"),
        *("Same pieces as", "Examples"),
    )
    sheet = Sheet(
        ("Stimulus",),
        numbers(*heads),
        sorted(rows, key=lambda row: not row.cells[-1].text),
        f"Stimuli in pieces of {model}",
        "suffixes",
        dict.fromkeys(("Gloss", "Pieces", "Same pieces as", "Examples"), "text"),
    )
    more = f"{damaged} of {audit['n_stimuli']} stimuli with a form that comes out damaged"
    return [fold(model, more, sheets=[sheet], items=examples)]


def _pieces(row: Mapping[str, Any], glosses: Mapping[str, str]) -> Row:
    """Return what a tokenizer makes of the forms of a stimulus; the last cell is empty where nothing is damaged."""
    counts = (f"{row['unknown_forms']:,}", f"{row['marks_lost_forms']:,}")
    cells = (
        glosses.get(row["stimulus"], ""),
        pieces_as_text(row),
        *(f"{row['forms']:,}", f"{row['occurrences']:,}" if "occurrences" in row else ""),
        *(f"{row['pieces_per_form']:.2f}", str(row["most_pieces"]), *counts),
        ", ".join(row["identical_to"]),
        "; ".join(row[f"{name}_example"] for name in _DAMAGES if row[f"{name}_example"]),
    )
    return row_of(row["stimulus"], *cells)
