"""Sections on texts and their vectors: contexts by word and length, hits for judging the lexicon, what was left out."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl
from markupsafe import Markup

from prasanga.report.grid import anchor_of, sort_lengths
from prasanga.report.section import Section, and_more, count, fold, hides_texts, prose
from prasanga.report.sections.ceat import ceat_grid, left_out_of_estimates
from prasanga.report.sheet import MINUS, MISSING, Cell, Row, Sheet, html, language_of, numbers, row_of
from prasanga.report.study import (
    VECTOR_REASONS,
    AuditTables,
    EmbeddingFiles,
    Report,
    Results,
    coverage_by_length,
    families_of,
    family_of,
    left_out_of,
    losses_of,
    stimuli_without_contexts,
    totals,
)
from prasanga.report.words import Word, glosses_of, pieces_as_text, word_sets

THINNEST = 12
"""So many stimuli with the fewest contexts are listed."""

_FEW = 10
"""A table of more rows sorts and filters."""

_OF_LENGTHS = {
    "Stimuli": ("n_stimuli", "g"),
    "with contexts": ("n_with_contexts", "g"),
    "Contexts in all": ("n_contexts", ","),
    "fewest": ("fewest", "g"),
    "median": ("median", "g"),
    "Stimuli below the minimum": ("n_short", "g"),
    "Contexts from the supplement": ("n_from_supplement", ","),
}
"""What is counted at each length, by its head, and how it is written."""

_SUFFIXES_SHOWN = 40
_NAMED = 3
"""So many forms, and so many files, are named of each stimulus."""


def coverage(results: Results) -> Section | None:
    """Return the section on contexts; where contexts were measured, it says also that nothing is known of them."""
    grid = ceat_grid(results)
    table = None if results.coverage is None or results.coverage.is_empty() else results.coverage
    if grid is None and table is None:
        return None
    text: list[str] = []
    if read := totals(results.corpus):
        counts = {name: f"{n:,}" for name, n in read.items()}
        text.append(prose("read", files=count(read["files"], "file"), read=counts))
    if table is None:
        text.append(prose("no_coverage"))
    without_vectors = {} if results.embeddings is None else left_out_of(results.embeddings)
    of_table = [] if table is None else [_ContextTables(table, results, without_vectors)]
    left_out = [] if grid is None else left_out_of_estimates(grid)
    said = [] if left_out else ["Nothing: every listed stimulus was used in every estimate."]
    if without_vectors:
        stimuli = len({stimulus for stimulus, _ in without_vectors})
        said.insert(0, prose("without_vectors", stimuli=stimuli))
    return Section(
        "Coverage",
        "coverage",
        text=text,
        sheets=[sheet for tables in of_table for sheet in (tables.by_length(), tables.thinnest())],
        parts=[
            *(part for tables in of_table for part in tables.folded()),
            *([] if results.audit is None else [_lengths_of_contexts(results.audit.lengths)]),
            Section("Left out of the estimates", text=said, items=left_out),
        ],
        notes=["Every stimulus has contexts at every length." for tables in of_table if not tables.missing],
    )


def audit(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section for judging the lexicon: suffixes with what they brought, and hits in their surroundings."""
    if results.audit is None:
        if ceat_grid(results) is None:
            return None
        return Section("Audit of the lexicon", "audit", text=[prose("no_audit")])
    return Section(
        "Audit of the lexicon",
        "audit",
        text=[prose("audit")],
        widget=prose("audit_callout"),
        parts=[
            Section("Suffixes", text=[prose("suffixes")], parts=_suffix_groups(results.audit.suffixes)),
            _concordance(results, hidden=hides_texts(config)),
        ],
    )


def left_out(results: Results) -> Section | None:
    """Return the section on what the stages of a study left out."""
    found = losses_of(results)
    if found is None:
        return None
    columns = numbers("What", "Is", "How many", "of", "Share", "Why", "Listed under")
    rows = []
    for loss in found.rows:
        counts, link = (f"{loss.n:,}", f"{loss.of:,}", loss.share), html('<a href="{}">{}</a>', loss.link, loss.place)
        rows.append(row_of(loss.stage, loss.what, loss.lost, *counts, loss.why, link))
    texts = dict.fromkeys(("What", "Is", "Why", "Listed under"), "text")
    sheet = Sheet(("Stage",), columns, rows, "Left out, by stage and reason", "left-out", texts)
    nothing = [html("<strong>{}</strong>: {}.", stage, sentence) for stage, sentence in found.nothing]
    return Section(
        "What was left out, and why",
        "left-out",
        text=[prose("left_out")] if found.rows else [],
        sheets=[sheet] if found.rows else [],
        items=[*([html("Nothing was lost here:")] if nothing else []), *nothing],
    )


class _ContextTables:
    """The tables of the section on coverage, from one row per stimulus and segment length."""

    def __init__(
        self, table: pl.DataFrame, results: Results, without_vectors: Mapping[tuple[str, str], Mapping[str, int]]
    ) -> None:
        self._glosses = glosses_of(results.categories)
        self._without_vectors = without_vectors
        self._found: dict[str, dict[str, Cell]] = {}
        if results.audit is not None:
            self._found["Most frequent forms"] = _most_frequent(results.audit.forms, "form", "{} {:,}")
            self._found["Files"] = _most_frequent(results.audit.forms, "source", "<code>{}</code> {:,}")
        self._lengths = coverage_by_length(table)
        self._names = [each["segment_length"] for each in self._lengths]
        self.missing = stimuli_without_contexts(table)
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        for row in table.sort("stimulus").iter_rows(named=True):
            self._rows.setdefault(row["stimulus"], {})[row["segment_length"]] = row

    def by_length(self) -> Sheet:
        """Return the contexts by segment length."""
        told = {head: way for head, way in _OF_LENGTHS.items() if self._lengths[0][way[0]] is not None}
        rows = [
            row_of(each["segment_length"], *(format(each[name], how) for name, how in told.values()))
            for each in self._lengths
        ]
        return Sheet(("Words",), numbers(*told), rows, "Contexts by segment length")

    def thinnest(self) -> Sheet:
        """Return the stimuli with the fewest contexts at their worst length; those that have none stand apart."""
        sampled = {stimulus: [self._sampled(stimulus, length) for length in self._names] for stimulus in self._rows}
        found = [stimulus for stimulus, counts in sampled.items() if any(counts)]
        chosen = sorted(found, key=lambda stimulus: (min(sampled[stimulus]), stimulus))[:THINNEST]
        rows = []
        for stimulus in chosen:
            counts = map(str, (self._any(stimulus)["occurrences"], *sampled[stimulus]))
            rows.append(row_of(stimulus, self._glosses.get(stimulus, ""), *counts))
        columns = numbers("Gloss", "Occurrences", *(f"{name} words" for name in self._names))
        return Sheet(("Stimulus",), columns, rows, "Stimuli with the fewest contexts", kinds={"Gloss": "text"})

    def folded(self) -> list[Section]:
        """Return the parts with all stimuli at every length, and with the stimuli that have no contexts."""
        forms = ", with their forms and files" if self._found else ""
        title = f"All {len(self._rows)} stimuli at every length{forms}"
        parts = [Section(title, sheets=[self._stimuli()], folded=True)]
        if self.missing:
            rows = [row_of(each, self._glosses.get(each, ""), *where) for each, *where in self.missing]
            kinds = {"Gloss": "text", "Words": "list", "Reason": "list"}
            look = "explorable" if len(rows) > _FEW else ""
            sheet = Sheet(("Stimulus",), numbers(*kinds), rows, "Stimuli without contexts", look, kinds)
            parts.append(Section(f"{count(len(rows), 'time')} a stimulus has no contexts", sheets=[sheet], folded=True))
        return parts

    def _any(self, stimulus: str) -> Mapping[str, Any]:
        return next(iter(self._rows[stimulus].values()))

    def _sampled(self, stimulus: str, length: str) -> int:
        return int(self._rows[stimulus].get(length, {}).get("sampled", 0))

    def _stimuli(self) -> Sheet:
        copies = ["Copies"] if "copies" in self._any(next(iter(self._rows))) else []
        rows = []
        for stimulus in self._rows:
            any_row = self._any(stimulus)
            counts = [f"{any_row[name.lower()]:,}" for name in ("Occurrences", "Contexts", *copies)]
            cells = [self._cell(stimulus, length) for length in self._names]
            of_forms = [found.get(stimulus, "") for found in self._found.values()]
            rows.append(row_of(stimulus, self._glosses.get(stimulus, ""), *counts, *cells, *of_forms))
        lengths = [f"{name} words" for name in self._names]
        return Sheet(
            ("Stimulus",),
            numbers("Gloss", "Occurrences", "Contexts", *copies, *lengths, *self._found),
            rows,
            "Contexts kept of those possible, by stimulus and length",
            "stimuli explorable" if len(rows) > _FEW else "stimuli",
            dict.fromkeys(("Gloss", *self._found), "text"),
        )

    def _cell(self, stimulus: str, length: str) -> Cell:
        """Return the contexts kept of those possible, and what else is to be said of them."""
        row = self._rows[stimulus].get(length, {})
        sampled, eligible, supplement = (row.get(name, 0) for name in ("sampled", "eligible", "from_supplement"))
        short = row.get("short", False)
        without = self._without_vectors.get((stimulus, length), {}).items()
        asides = [
            *([f"{supplement:,} from the supplement"] if supplement else []),
            *(["below the minimum"] if short else []),
            *(f"{n:,} without a vector: {model}" for model, n in without),
        ]
        return Cell(_with_asides(f"{sampled:,} of {eligible:,}", asides), bold=short, order=str(sampled))


def _with_asides(text: str, asides: Iterable[str]) -> Markup:
    """Return a text with more on lines of its own below it."""
    return html("{}{}", text, Markup("").join(html(' <span class="aside">{}</span>', aside) for aside in asides))


def _most_frequent(forms: pl.DataFrame, name: str, template: str) -> dict[str, Cell]:
    """Return the most frequent values of a column by stimulus, each with its occurrences."""
    counts = forms.group_by("stimulus", name).agg(pl.col("occurrences").sum())
    order = counts.sort("stimulus", "occurrences", name, descending=[False, True, False])
    found = {}
    for (stimulus,), rows in order.group_by("stimulus", maintain_order=True):
        first = rows.select(name, "occurrences").head(_NAMED).iter_rows()
        named = Markup(", ").join(html(template, *row) for row in first)
        found[str(stimulus)] = Cell(and_more(named, len(rows) - _NAMED))
    return found


def _lengths_of_contexts(lengths: pl.DataFrame) -> Section:
    """Return the histogram of the contexts by their number of words."""
    counts = lengths["contexts"].to_list()
    total, most = max(sum(counts), 1), max([*counts, 1])
    rows = []
    for place, (low, high) in enumerate(lengths.select("at_least", "at_most").iter_rows()):
        n, longer = counts[place], sum(counts[place:])
        bar = html('<span style="width: {:.1f}%"></span>', 100 * n / most)
        cells = (f"{n:,}", f"{100 * n / total:.1f} %", f"{100 * longer / total:.1f} %", bar)
        rows.append(row_of(f"{low} or more" if high is None else f"{low}–{high}", *cells))
    columns = numbers("Contexts", "Share", "This long or longer", "")
    sheet = Sheet(("Words",), columns, rows, "Contexts by their number of words", "histogram", {"": "bar"})
    return Section("Length of the contexts", text=[prose("lengths_of_contexts")], sheets=[sheet])


def _suffix_groups(suffixes: pl.DataFrame) -> list[Section]:
    """Return the suffix groups with what each suffix brought, the group with the most hits first."""
    total = max(int(suffixes["occurrences"].sum()), 1)
    groups = []
    for (name,), rows in suffixes.group_by("group", maintain_order=True):
        brought = int(rows["occurrences"].sum())
        used = rows.filter(pl.col("occurrences") > 0)
        more, unused = max(used.height - _SUFFIXES_SHOWN, 0), rows.height - used.height
        named = html("<code>{}</code>", str(name) or "no group")
        said = f", the most frequent {_SUFFIXES_SHOWN}; {more} more in the file" if more else ""
        caption = html("Suffixes of {} that occur{}{}", named, said, f"; {unused} do not occur" if unused else "")
        lines = [_suffix_row(row, brought) for row in used.head(_SUFFIXES_SHOWN).iter_rows(named=True)]
        columns = numbers("Read as", "Hits", "Share", "Stimuli", "Most frequent forms")
        look = "suffixes explorable" if len(lines) > _FEW else "suffixes"
        kinds = dict.fromkeys(("Read as", "Most frequent forms"), "text")
        sheet = Sheet(("Suffix",), columns, lines, caption, look, kinds)
        share = f"{brought:,} hits, {100 * brought / total:.1f} % of all"
        groups.append((brought, fold(named, share, sheets=[sheet])))
    return [section for _, section in sorted(groups, key=lambda group: -group[0])]


def _suffix_row(row: Mapping[str, Any], brought: int) -> Row:
    kind, more = row["kind"], '<span class="more">{}</span>'
    whole = "whole form" if kind in ("altered stem", "irregular") else "" if kind == "suffix" else kind
    label = html(more, "none") if kind == "stem" else html("{} {}", row["suffix"], html(more, whole) if whole else "")
    share = 100 * row["occurrences"] / brought
    read_as = ", ".join(filter(None, (row["number"], row["case"])))
    cells = (read_as, f"{row['occurrences']:,}", f"{share:.1f} %", str(row["stimuli"]), row["examples"])
    return row_of(label, *cells)


def _concordance(results: Results, *, hidden: bool) -> Section:
    """Return the hits of every stimulus once, in the first word set that has it; those of no set at the end."""
    if hidden:
        text = html("Sentences of the corpus are left out of this page (<code>report.texts: hidden</code>).")
        return Section("Concordance", "concordance", text=[text])
    tables, file = results.audit, "data/concordance.tsv"
    if tables is None or tables.concordance.is_empty():
        text = html("No hits were drawn: <code>sentences.concordance</code> is 0, or nothing was found.")
        return Section("Concordance", "concordance", text=[text])
    there = file in results.files
    text = html(
        "Hits drawn at random, to be read; a text that occurs several times is drawn once. CEAT draws its own contexts"
        " from all hits. {}",
        prose("concordance_file", file=file) if there else "",
    )
    unpacked = f"A script unpacks these hits{'; without one they are in the file of the concordance' * there}."
    return Section("Concordance", "concordance", text=[text], parts=_hits_by_set(tables, results, unpacked))


def words_with_hits(results: Results) -> dict[str, list[Word]]:
    """Return the words that hits were drawn of, by the first word set that has each; those of none last."""
    drawn = set() if results.audit is None else set(results.audit.concordance["stimulus"])
    found: dict[str, list[Word]] = {}
    for word_set in word_sets(results.categories, results.forms):
        for word in word_set.words:
            if word.stimulus in drawn:
                drawn.remove(word.stimulus)
                found.setdefault(word_set.name, []).append(word)
    if drawn:
        found["Words of no set"] = [Word(stimulus, "", "", [], 0) for stimulus in sorted(drawn)]
    return found


def _hits_by_set(tables: AuditTables, results: Results, unpacked: str) -> list[Section]:
    hits: defaultdict[str, list[Markup]] = defaultdict(list)
    for row in tables.concordance.sort("stimulus", "rank").iter_rows(named=True):
        hit = Markup("<li><span>{}</span><mark>{}</mark><span>{}</span></li>")
        hits[row["stimulus"]].append(hit.format(row["left"], row["form"], row["right"]))
    totals = dict(tables.forms.group_by("stimulus").agg(pl.col("occurrences").sum()).iter_rows())
    made = []
    for name, words in words_with_hits(results).items():
        n_hits = count(sum(len(hits[word.stimulus]) for word in words), "hit")
        parts = [_hits_of(word, hits[word.stimulus], totals.get(word.stimulus, 0)) for word in words]
        about = {"id": anchor_of(name, "hits"), "packed": unpacked, "look": "concordance"}
        made.append(fold(name, f"{count(len(words), 'stimulus', 'stimuli')}, {n_hits}", parts=parts, **about))
    return made


def _hits_of(word: Word, drawn: Sequence[Markup], occurrences: int) -> Section:
    groups = html(" · <code>{}</code>", word.groups) if word.groups else ""
    more = html("{}{} · {} of {:,} hits", word.gloss, groups, len(drawn), occurrences)
    hits = html('<ol class="kwic" lang="{}">{}</ol>', language_of(word.stimulus), Markup("").join(drawn))
    return fold(word.stimulus, more, id=anchor_of(word.stimulus, "word"), widget=hits)


# --------------------
# Vectors: which models made them and how, what was cut or left out, what tokenizers lose.
#
# What none of the files tells is said to be not known: nothing here is guessed from the config alone.


NOT_KNOWN = "not known"

_Counts: TypeAlias = tuple[int | None, ...]
"""Vectors, targets left out, contexts cut, and targets kept with unknown pieces; None where no file says it."""

_COSINES = ("cosine_mean", "cosine_min", "float16_cosine_min")
_PIECES = {"all": "mean of all", "root": "mean of the root's", "first": "first", "last": "last"}
_DAMAGES = {
    "unknown": "Pieces that it does not know",
    "marks_lost": "Marks lost",
    "identical": "The same pieces for two stimuli",
}
"""What a tokenizer may do to a form, by the names of the audit."""


def embeddings(results: Results) -> Section | None:
    """Return the section on vectors; where contexts were measured, it says also that nothing is known of them."""
    files = results.embeddings
    if files is None:
        if ceat_grid(results) is None:
            return None
        return Section("Embeddings", "embeddings", text=[prose("no_embeddings")])
    glosses = glosses_of(results.categories)
    lengths = sort_lengths(length for _, length in files.lists)
    decoders, both = (
        ", ".join(name for name in files.studied if _kind(files, name) == kind)
        for kind in ("decoder", "encoder-decoder")
    )
    summary = _summary([_total(files, name, lengths) for name in families_of(files).values()])
    text = [*([html("<strong>{}</strong>", summary)] if summary else []), *_missing(files)]
    if decoders:
        text.append(prose("decoders", models=decoders))
    if both:
        text.append(f"{both}: vectors are those of the encoder; the decoder is not used.")
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


def _count(listed: Report | None) -> _Counts:
    if listed is None:
        return None, None, None, 0
    left_out, cut = listed.get("left_out"), listed.get("cut")
    return (
        listed["n_segments"],
        None if left_out is None else sum(sum(reasons.values()) for reasons in left_out.values()),
        None if cut is None else sum(cut.values()),
        sum(listed.get("unknown", {}).values()),
    )


def _total(files: EmbeddingFiles, name: str, lengths: Sequence[str]) -> _Counts:
    counts = [_count(files.lists.get((name, length))) for length in lengths] or [(None,) * 4]
    return tuple(None if None in column else sum(column) for column in zip(*counts, strict=True))


def _count_cell(counts: _Counts) -> Cell:
    vectors, left_out, cut, _ = counts
    asides = [f"{n:,} {what}" for n, what in ((left_out, "left out"), (cut, "cut")) if n]
    return Cell(_with_asides(NOT_KNOWN if vectors is None else f"{vectors:,}", asides))


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


def _summary(totals: Sequence[_Counts]) -> str:
    """Return what became of the targets of all models and lengths, in a sentence; empty if that is not known."""
    vectors, left_out, cut, unknown = (sum(total[i] or 0 for total in totals) for i in range(4))
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
    names, families = files.studied.keys(), families_of(files).keys()
    silent = {model for (model, _), each in files.lists.items() if not {"left_out", "cut"} <= each.keys()}
    parameters = "its kind and its number of parameters are not known"
    said = (
        ("No list of vectors is there for {}.", names, {model for model, _ in files.lists}),
        ("What was left out or cut is not said in the lists of {}.", names, names - silent),
        (f"The check of the model is not there for {{}}: {parameters}.", families, files.reports),
        ("The comparison with float32 is not there for {}.", names, files.precisions),
        ("The audit of the tokenizer is not there for {}.", families, files.audits),
    )
    absent = ((sentence, [name for name in asked if name not in there]) for sentence, asked, there in said)
    return [sentence.format(", ".join(missing)) for sentence, missing in absent if missing]


def _difference_to_float32(files: EmbeddingFiles) -> list[Section]:
    """Return how near the vectors are to those in float32."""
    rows = []
    for name, found in ((name, files.precisions[name]) for name in files.studied if name in files.precisions):
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
    rows, parts = [], []
    for family in audited:
        audit = files.audits[family]
        cells = (f"{100 * audit[name]:.3g} %" for name in _DAMAGES)
        occurrences = (f"{audit[name]:,}" if name in audit else "" for name in ("n_occurrences", "n_unseen"))
        counts = (f"{audit['n_forms']:,}", *occurrences, f"{audit['pieces_per_form']:.2f}")
        rows.append(row_of(family, *counts, *cells))
        parts += _tokenizer(family, audit, files.audit_tables.get(family), glosses)
    columns = numbers("Forms", "Occurrences", "Forms that do not occur", "Pieces per form", *shares)
    sheet = Sheet(("Model",), columns, rows, "What the tokenizers make of the forms")
    return [Section("Audit of the tokenizers", text=[prose("tokenizers")], sheets=[sheet], parts=parts)]


def _tokenizer(model: str, audit: Report, table: pl.DataFrame | None, glosses: Mapping[str, str]) -> list[Section]:
    """Return examples of what a tokenizer damages, and what it makes of every stimulus, the damaged ones first."""
    found = audit.get("examples", {})
    examples = [f"{title}: {'; '.join(found[name])}" for name, title in _DAMAGES.items() if found.get(name)]
    rows = [] if table is None else [_pieces(row, glosses) for row in table.iter_rows(named=True)]
    if not rows:
        return [fold(model, "examples; the table by stimulus is not there", items=examples)] if examples else []
    damaged = sum(bool(row.cells[-1].text) for row in rows)
    counts = ("Forms", "Occurrences", "Pieces per form", "Most", "Unknown", "Marks lost")
    columns = numbers("Gloss", "Pieces", *counts, "Same pieces as", "Examples")
    kinds = dict.fromkeys(("Gloss", "Pieces", "Same pieces as", "Examples"), "text")
    rows.sort(key=lambda row: not row.cells[-1].text)
    sheet = Sheet(("Stimulus",), columns, rows, f"Stimuli in pieces of {model}", "suffixes", kinds)
    more = f"{damaged} of {audit['n_stimuli']} stimuli with a form that comes out damaged"
    return [fold(model, more, sheets=[sheet], items=examples)]


def _pieces(row: Mapping[str, Any], glosses: Mapping[str, str]) -> Row:
    """Return what a tokenizer makes of the forms of a stimulus; the last cell is empty where nothing is damaged."""
    forms, unknown, lost = (f"{row[name]:,}" for name in ("forms", "unknown_forms", "marks_lost_forms"))
    occurrences = f"{row['occurrences']:,}" if "occurrences" in row else ""
    counts = (forms, occurrences, f"{row['pieces_per_form']:.2f}", str(row["most_pieces"]), unknown, lost)
    examples = "; ".join(filter(None, (row[f"{name}_example"] for name in _DAMAGES)))
    texts = (glosses.get(row["stimulus"], ""), pieces_as_text(row))
    return row_of(row["stimulus"], *texts, *counts, ", ".join(row["identical_to"]), examples)
