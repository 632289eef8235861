"""Sections on texts: contexts by word and length, forms and hits for judging the lexicon, and what was left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.report.grid import anchor_of
from prasanga.report.section import Section, and_more, count, fold, hides_texts, prose
from prasanga.report.sections.ceat import ceat_grid, left_out_of_estimates
from prasanga.report.sheet import Cell, Row, Sheet, html, language_of, numbers, row_of
from prasanga.report.study import (
    AuditTables,
    Results,
    coverage_by_length,
    left_out_of,
    losses_of,
    stimuli_without_contexts,
    totals,
)
from prasanga.report.words import Word, glosses_of, word_sets

THINNEST = 12
"""So many stimuli with the fewest contexts are listed."""

_FEW = 10
"""A table of more rows sorts and filters."""

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
        text.append(
            f"Read: {count(read['files'], 'file')} with {read['lines']:,} lines and {read['sentences']:,} sentences;"
            f" {read['matched_sentences']:,} of them hold a stimulus, in {read['occurrences']:,} occurrences. Left out:"
            f" {read['skipped_lines']:,} lines that are not UTF-8. Divided because of extreme length:"
            f" {read['cut_sentences']:,} sentences."
        )
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
    rows = [
        row_of(
            *(loss.stage, loss.what, loss.lost, f"{loss.n:,}", f"{loss.of:,}", loss.share, loss.why),
            html('<a href="{}">{}</a>', loss.link, loss.place),
        )
        for loss in found.rows
    ]
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
        self._found = None if results.audit is None else _most_frequent_of(results.audit.forms)
        self._lengths = coverage_by_length(table)
        self.missing = stimuli_without_contexts(table)
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        for row in table.sort("stimulus").iter_rows(named=True):
            self._rows.setdefault(row["stimulus"], {})[row["segment_length"]] = row

    def by_length(self) -> Sheet:
        """Return the contexts by segment length."""
        numbers_of = {
            "Stimuli": "n_stimuli",
            "with contexts": "n_with_contexts",
            "Contexts in all": "n_contexts",
            "fewest": "fewest",
            "median": "median",
            "Stimuli below the minimum": "n_short",
            "Contexts from the supplement": "n_from_supplement",
        }
        told = {head: name for head, name in numbers_of.items() if self._lengths[0][name] is not None}
        formats = dict.fromkeys(told.values(), "g") | dict.fromkeys(("n_contexts", "n_from_supplement"), ",")
        rows = [
            row_of(each["segment_length"], *(format(each[name], formats[name]) for name in told.values()))
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
        forms = "" if self._found is None else ", with their forms and files"
        title = f"All {len(self._rows)} stimuli at every length{forms}"
        parts = [Section(title, sheets=[self._stimuli()], folded=True)]
        if self.missing:
            rows = [
                row_of(stimulus, self._glosses.get(stimulus, ""), lengths, reason)
                for stimulus, lengths, reason in self.missing
            ]
            kinds = {"Gloss": "text", "Words": "list", "Reason": "list"}
            look = "explorable" if len(rows) > _FEW else ""
            sheet = Sheet(("Stimulus",), numbers(*kinds), rows, "Stimuli without contexts", look, kinds)
            parts.append(Section(f"{count(len(rows), 'time')} a stimulus has no contexts", sheets=[sheet], folded=True))
        return parts

    @property
    def _names(self) -> list[str]:
        return [each["segment_length"] for each in self._lengths]

    def _any(self, stimulus: str) -> Mapping[str, Any]:
        return next(iter(self._rows[stimulus].values()))

    def _sampled(self, stimulus: str, length: str) -> int:
        return int(self._rows[stimulus].get(length, {}).get("sampled", 0))

    def _stimuli(self) -> Sheet:
        copies = ["Copies"] if "copies" in self._any(next(iter(self._rows))) else []
        found = [] if self._found is None else ["Most frequent forms", "Files"]
        rows = []
        for stimulus in self._rows:
            any_row = self._any(stimulus)
            counts = [f"{any_row[name.lower()]:,}" for name in ("Occurrences", "Contexts", *copies)]
            cells = [self._cell(stimulus, length) for length in self._names]
            of_forms = [] if self._found is None else self._found.get(stimulus, (Cell(""), Cell("")))
            gloss = Cell(self._glosses.get(stimulus, ""))
            rows.append(row_of(stimulus, gloss, *counts, *cells, *of_forms))
        lengths = [f"{name} words" for name in self._names]
        return Sheet(
            ("Stimulus",),
            numbers("Gloss", "Occurrences", "Contexts", *copies, *lengths, *found),
            rows,
            "Contexts kept of those possible, by stimulus and length",
            "stimuli explorable" if len(rows) > _FEW else "stimuli",
            dict.fromkeys(("Gloss", *found), "text"),
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
        return Cell(with_asides(f"{sampled:,} of {eligible:,}", asides), bold=short, order=str(sampled))


def with_asides(text: str, asides: Iterable[str]) -> Markup:
    """Return a text with more on lines of its own below it."""
    return html("{}{}", text, Markup("").join(html(' <span class="aside">{}</span>', aside) for aside in asides))


def _most_frequent_of(forms: pl.DataFrame) -> dict[str, tuple[Cell, Cell]]:
    """Return of each stimulus the forms and the files that it was found in, the most frequent with their numbers."""
    of_form, of_source = (_most_frequent(forms, name) for name in ("form", "source"))
    return {
        stimulus: (_frequent_cell(named, "{} {:,}"), _frequent_cell(of_source[stimulus], "<code>{}</code> {:,}"))
        for stimulus, named in of_form.items()
    }


def _most_frequent(forms: pl.DataFrame, name: str) -> dict[str, list[tuple[str, int]]]:
    """Return the values of a column by stimulus, each with its occurrences, the most frequent first."""
    counts = forms.group_by("stimulus", name).agg(pl.col("occurrences").sum())
    order = counts.sort("stimulus", "occurrences", name, descending=[False, True, False])
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for stimulus, value, occurrences in order.select("stimulus", name, "occurrences").iter_rows():
        found[stimulus].append((value, occurrences))
    return dict(found)


def _frequent_cell(found: Sequence[tuple[str, int]], template: str) -> Cell:
    named = Markup(", ").join(html(template, value, n) for value, n in found[:_NAMED])
    return Cell(and_more(named, len(found) - _NAMED))


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
        caption = html(
            "Suffixes of {} that occur{}{}",
            named,
            f", the most frequent {_SUFFIXES_SHOWN}; {more} more in the file" if more else "",
            f"; {unused} do not occur" if unused else "",
        )
        lines = [_suffix_row(row, brought) for row in used.head(_SUFFIXES_SHOWN).iter_rows(named=True)]
        columns = numbers("Read as", "Hits", "Share", "Stimuli", "Most frequent forms")
        look = "suffixes explorable" if len(lines) > _FEW else "suffixes"
        kinds = dict.fromkeys(("Read as", "Most frequent forms"), "text")
        sheet = Sheet(("Suffix",), columns, lines, caption, look, kinds)
        share = f"{brought:,} hits, {100 * brought / total:.1f} % of all"
        groups.append((brought, fold(named, share, sheets=[sheet])))
    return [section for _, section in sorted(groups, key=lambda group: -group[0])]


def _suffix_row(row: Mapping[str, Any], brought: int) -> Row:
    kind = row["kind"]
    whole = "whole form" if kind in ("altered stem", "irregular") else "" if kind == "suffix" else kind
    label = html("{} {}", row["suffix"], html('<span class="more">{}</span>', whole) if whole else "")
    if kind == "stem":
        label = html('<span class="more">none</span>')
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
    linked = prose("concordance_file", file=file) if there else ""
    text = html(
        "Hits drawn at random, to be read; a text that occurs several times is drawn once. CEAT draws its own contexts"
        " from all hits. {}",
        linked,
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
