"""What came back of an adapted set: checked row by row, counted, and made into pairs.

A sheet that is not the one given out, or that holds a word that is not allowed, is refused (`InputError`). Everything
that annotators can settle among themselves is a finding: an error keeps the pair out of what is written, a flag asks
for a look.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.construction.adaptation import (
    CONCERNS,
    CONTRADICTION,
    DECISIONS,
    FILLED_IN,
    KEEP,
    MISMATCH,
    MODIFY,
    OTHER,
    REMOVE,
)
from prasanga.construction.names import has_name, read_replacements
from prasanga.construction.places import changes, find_places
from prasanga.construction.returned import rows_of_pairs, same_text
from prasanga.construction.tables import Row
from prasanga.construction.translation import are_same
from prasanga.errors import InputError
from prasanga.pairs.marks import write_mark

_LOG = logging.getLogger(__name__)

ERROR, FLAG = "error", "flag"
UNDECIDED = "undecided"


class Adaptation(NamedTuple):
    """An adapted set.

    Attributes:
        pairs: those kept and modified, without an error, in our own layout; origin `inherited` where none was given.
        findings: `pair_id`, `place` (file and line), `severity` (error, flag), `kind`, `found`, `advice`.
        report: a row per pair: `pair_id`, `bias_type`, `decision` (undecided where there is none), `concerns`,
            `errors`, `flags` (numbers), and of pairs that stay `n_modified_first`, `n_modified_second` (words),
            `n_changes` (things changed between the sentences: 1 is what is allowed), `differs`.
        summary: `what` (decision, concern, error, flag), `value`, `bias_type` (all is a row too), `n_pairs`.
    """

    pairs: pl.DataFrame
    findings: pl.DataFrame
    report: pl.DataFrame
    summary: pl.DataFrame


class _Entry(NamedTuple):
    """A row of the sheet, read."""

    pair: dict[str, Any]
    place: str
    decision: str
    concerns: list[str]
    names: dict[str, str]
    first: str
    second: str
    note: str

    @property
    def changed(self) -> bool:
        return not (same_text(self.first, self.pair["first"]) and same_text(self.second, self.pair["second"]))


_Finding = tuple[str, str, str, str]


def read_adaptation(rows: Sequence[Row], pairs: pl.DataFrame, names: Mapping[str, Mapping[str, str]]) -> Adaptation:
    """Check a sheet that came back, and make the adapted set of it.

    Args:
        rows: of the sheet (`prasanga.construction.tables.read_rows`).
        pairs: the pairs that it was made from (`prasanga.construction.adaptation.adaptation_sheet`), of one language.
        names: sets of names of the language (`prasanga.construction.names.read_names`).

    Raises:
        InputError: with file and line: a missing column, a pair that is missing, unknown or there twice, an original
            sentence that was changed, a decision or concern that is not allowed, names that cannot be read.
    """
    entries = [_read(row, pair) for row, pair in rows_of_pairs(rows, pairs, ["first", "second", *FILLED_IN])]
    listed = {spelling for spellings in names.values() for spelling in spellings}
    chosen: dict[str, Counter[str]] = {}
    for entry in entries:
        for old, new in entry.names.items():
            chosen.setdefault(old, Counter())[new] += 1
    findings: list[dict[str, str]] = []
    report: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for entry in entries:
        of_pair = [*_of_decision(entry), *_of_names(entry, listed, chosen), *_of_sentences(entry)]
        for severity, kind, found, advice in of_pair:
            told = {"severity": severity, "kind": kind, "found": found, "advice": advice}
            findings.append({"pair_id": entry.pair["pair_id"], "place": entry.place, **told})
        errors = sum(severity == ERROR for severity, *_ in of_pair)
        report.append(_report(entry, errors, len(of_pair) - errors))
        if entry.decision in (KEEP, MODIFY) and not errors:
            written.append(entry.pair | {"first": entry.first, "second": entry.second})
    schema = {name: dtype for name, dtype in pairs.schema.items() if name in _LAYOUT} | {"origin": pl.String}
    adapted = pl.DataFrame([{name: row.get(name) for name in schema} for row in written], schema=schema)
    table = pl.DataFrame(findings, schema=dict.fromkeys(_FINDING, pl.String))
    return Adaptation(
        pairs=adapted.with_columns(pl.col("origin").fill_null("inherited")),
        findings=table,
        report=pl.DataFrame(report, schema=_REPORT),
        summary=_summarize(entries, table),
    )


def warn_of_findings(adapted: Adaptation) -> None:
    """Say in the log what annotators should look at, a line for each kind of finding."""
    for (severity, kind), count in Counter(adapted.findings.select("severity", "kind").iter_rows()).items():
        consequence = ", and are not written" if severity == ERROR else ""
        _LOG.warning("%s: %d pairs of %d have %s%s", severity, count, adapted.report.height, kind, consequence)


_LAYOUT = ("pair_id", "language", "bias_type", "label", "first", "second", "origin")
_FINDING = ("pair_id", "place", "severity", "kind", "found", "advice")
_COUNTED = ("errors", "flags", "n_modified_first", "n_modified_second", "n_changes")
_REPORT = {
    **dict.fromkeys(("pair_id", "bias_type", "decision", "concerns"), pl.String),
    **dict.fromkeys(_COUNTED, pl.Int64),
    "differs": pl.String,
}


def _read(row: Row, pair: dict[str, Any]) -> _Entry:
    for side in ("first", "second"):
        if not same_text(row.cells[side], pair[side]):
            raise InputError(
                f"{row.place}: {side!r} is {row.cells[side]!r}, but the sheet was given out with {pair[side]!r}."
                f" Restore it; what is to be written instead belongs in modified_{side}."
            )
    decision = row.cells["decision"].lower()
    if decision:
        row.one_of("decision", DECISIONS, decision)
    concerns = [part.strip() for part in row.cells["concern"].split(";") if part.strip()]
    for concern in concerns:
        row.one_of("concern", list(CONCERNS), concern)
    return _Entry(
        pair=pair,
        place=row.place,
        decision=decision or UNDECIDED,
        concerns=concerns,
        names=read_replacements(row.cells["names"], row.place),
        first=row.cells["modified_first"] or pair["first"],
        second=row.cells["modified_second"] or pair["second"],
        note=row.cells["note"],
    )


def _of_decision(entry: _Entry) -> Iterator[_Finding]:
    """Whether decision, concern and what was written go together."""
    decision, concerns = entry.decision, "; ".join(entry.concerns)
    if decision == UNDECIDED:
        yield ERROR, UNDECIDED, "", f"Write {', '.join(DECISIONS[:-1])} or {DECISIONS[-1]} under decision."
    if decision == REMOVE and not concerns:
        yield ERROR, "no-concern", "", "Say under concern why the pair is removed."
    if decision == MODIFY and not concerns:
        yield FLAG, "no-concern", "", "Say under concern why the pair is changed."
    if decision == REMOVE and entry.changed:
        yield FLAG, "removed-but-changed", entry.first, "A removed pair is not written: modify it, or delete this."
    if OTHER in entry.concerns and not entry.note:
        yield ERROR, "no-note", OTHER, "Say under note what the concern is."
    if CONTRADICTION in entry.concerns and decision == KEEP:
        yield ERROR, "kept-contradiction", concerns, "Remove a pair that contradicts reality, or modify it."
    elif CONTRADICTION in entry.concerns and decision == MODIFY:
        yield FLAG, "contradiction", entry.first, "Make sure that both sentences, as they are now, could be true."
    elif concerns and decision == KEEP:
        yield FLAG, "kept-with-concern", concerns, "Modify or remove the pair, or delete the concern."
    if decision == KEEP and (entry.changed or entry.names):
        found = entry.first if entry.changed else "; ".join(entry.names)
        yield ERROR, "kept-but-changed", found, "Write modify, or empty modified_first, modified_second and names."
    if decision == MODIFY and not entry.changed:
        yield ERROR, "modified-but-unchanged", entry.first, "Write the new sentences, or keep."


def _of_names(entry: _Entry, listed: set[str], chosen: Mapping[str, Counter[str]]) -> Iterator[_Finding]:
    """Whether names were replaced as the sheet says, in both sentences and everywhere alike."""
    if entry.decision != MODIFY:
        return
    sides = ((entry.pair["first"], entry.first), (entry.pair["second"], entry.second))
    for old, new in entry.names.items():
        before = [after for original, after in sides if has_name(original, old)]
        if not before:
            yield ERROR, "name-not-there", old, f"Neither sentence has the name {old}: mend its spelling under names."
        for after in before:
            if has_name(after, old):
                yield ERROR, "name-left", after, f"Replace {old} by {new} in both sentences."
            elif not has_name(after, new):
                yield ERROR, "name-missing", after, f"names says that {old} became {new}: write {new} in it."
        if listed and new not in listed:
            yield FLAG, "name-unlisted", new, "The name is in none of the name sets: check that it is usual."
        if len(chosen[old]) > 1:
            used = ", ".join(f"{name} ({count})" for name, count in chosen[old].most_common())
            yield FLAG, "name-varies", f"{old}: {used}", "Replace a name by the same one in the whole set."
    if len(set(entry.names.values())) < len(entry.names):
        yield FLAG, "names-merged", "; ".join(entry.names), "Two persons have become one: give each a name."


def _of_sentences(entry: _Entry) -> Iterator[_Finding]:
    """Whether the sentences, as they will be, make a pair that can be scored and differ in one thing."""
    if entry.decision not in (KEEP, MODIFY):
        return
    if are_same(entry.first, entry.second):
        yield ERROR, "identical", entry.first, "No word differs: change one sentence, or remove the pair."
        return
    language = entry.pair["language"]
    places = find_places(entry.first, entry.second, language)
    changed = changes(places, language)
    if len(changed) > 1:
        told = "; ".join(place.mark for place in changed)
        advice = "More than one thing differs: change the group or the attribute back, or remove the pair."
        yield FLAG, MISMATCH, told, advice
    if any(place.negates(language) for place in places):
        told = "; ".join(place.mark for place in places if place.negates(language))
        yield FLAG, "negation", told, "One sentence says no and the other does not: let them differ in the group alone."


def _report(entry: _Entry, errors: int, flags: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "pair_id": entry.pair["pair_id"],
        "bias_type": entry.pair["bias_type"],
        "decision": entry.decision,
        "concerns": "; ".join(entry.concerns),
        "errors": errors,
        "flags": flags,
    }
    if entry.decision in (KEEP, MODIFY):
        places = find_places(entry.first, entry.second, entry.pair["language"])
        first = [word for place in places for word in place.first]
        second = [word for place in places for word in place.second]
        row |= {"n_modified_first": len(first), "n_modified_second": len(second)}
        row |= {"n_changes": len(changes(places, entry.pair["language"])) or int(bool(places))}
        row |= {"differs": write_mark(first, second)}
    return row


def _summarize(entries: Sequence[_Entry], findings: pl.DataFrame) -> pl.DataFrame:
    """How many pairs of each bias type have each decision, concern, error and flag."""
    counts: Counter[tuple[str, str, str]] = Counter()
    types = {entry.pair["pair_id"]: str(entry.pair["bias_type"]) for entry in entries}
    for entry in entries:
        counts["decision", entry.decision, types[entry.pair["pair_id"]]] += 1
        for concern in dict.fromkeys(entry.concerns):
            counts["concern", concern, types[entry.pair["pair_id"]]] += 1
    for pair_id, severity, kind in findings.select("pair_id", "severity", "kind").unique().iter_rows():
        counts[severity, kind, types[pair_id]] += 1
    for (what, value, _), count in list(counts.items()):
        counts[what, value, "all"] += count
    rows = sorted(counts.items(), key=lambda item: _place(item[0]))
    names = ["what", "value", "bias_type", "n_pairs"]
    return pl.DataFrame(
        [dict(zip(names, (*which, count), strict=True)) for which, count in rows],
        schema={**dict.fromkeys(names[:-1], pl.String), "n_pairs": pl.Int64},
    )


def _place(counted: tuple[str, str, str]) -> tuple[int, str, bool, str]:
    """Where a count stands in the summary: decisions first, and of each value all bias types together first."""
    what, value, bias_type = counted
    return ("decision", "concern", ERROR, FLAG).index(what), value, bias_type != "all", bias_type
