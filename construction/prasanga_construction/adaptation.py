"""Adapt a set of pairs to another society: write the sheet, check the returned one, and make pairs of it.

Sahoo et al. 2024, sections 4.2.1 and 4.3, took over the pairs of CrowS-Pairs that make sense in India, changed those
that could be changed, and removed the others; Figure 6, Table 7 and Table 13 give the reasons, which follow the
pitfalls that Blodgett et al. 2021 found in such sets. They are named here in our own words.

Another sheet, or one with a word that is not allowed, is refused (`InputError`). Problems that annotators can solve are
findings: an error keeps the pair out of the result, a flag asks for a check.

Sahoo et al., section 4.2.1, replace the names of CrowS-Pairs by Indian names of women and of men that are frequent in
text. Here they come from the candidate sets for the tests of gender and religion
(`resources/candidates/<language>`). They are suggestions: annotators decide.
"""

from __future__ import annotations

import calendar
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.io import read_rows
from prasanga.base.seeds import generator
from prasanga.lexicon.model import read_yaml
from prasanga.pairs.alignment import align_words, words_of, write_mark
from prasanga_construction.distance import are_same, changes, count_differences, find_places
from prasanga_construction.sheets import SheetRow, fill_instructions, read_filled, same_text

_LOG = logging.getLogger(__name__)

_DECISIONS = ("keep", "modify", "remove")
_KEEP, _MODIFY, _REMOVE = _DECISIONS
_CONTRADICTION, _MISMATCH, _OTHER = "contradicts-reality", "attribute-mismatch", "other"

CONCERNS = {row["concern"]: row["meaning"] for row in read_rows(Path(__file__).with_name("concerns.tsv"))}
"""Allowed words in the column `concern`, with their meaning."""

FILLED_IN = ("decision", "concern", "names", "modified_first", "modified_second", "note")
"""The columns that annotators write in."""

_ERROR, _FLAG = "error", "flag"
_UNDECIDED = "undecided"
_LAYOUT = ("pair_id", "language", "bias_type", "label", "first", "second", "origin", "cluster")
_FINDING = ("pair_id", "place", "severity", "kind", "found", "advice")
_COUNTED = ("errors", "flags", "n_modified_first", "n_modified_second", "n_changes")
_REPORT = {
    **dict.fromkeys(("pair_id", "bias_type", "decision", "concerns"), pl.String),
    **dict.fromkeys(_COUNTED, pl.Int64),
    "differs": pl.String,
}
_POSSESSIVE = re.compile(r"['’]s?$")
_NO_NAMES = frozenset(
    name.lower()
    for name in (
        *("I", "I'm", "I'll", "I've", "I'd", "English", "Hindi", "Bangla", "Indian", "American", "Christmas"),
        *(*calendar.day_name, *calendar.month_name),
    )
)


class Adaptation(NamedTuple):
    """An adapted set.

    Attributes:
        pairs: those kept and modified, without an error, in our own layout; origin `inherited` where none was given.
        findings: `pair_id`, `place` (file and line), `severity` (error, flag), `kind`, `found`, `advice`.
        report: a row per pair: `pair_id`, `bias_type`, `decision` (or undecided), `concerns`,
            `errors`, `flags` (numbers), and of pairs that stay `n_modified_first`, `n_modified_second` (words),
            `n_changes` (things changed between the sentences; 1 is allowed), `differs`.
        summary: `what` (decision, concern, error, flag), `value`, `bias_type` (all is a row too), `n_pairs`.
    """

    pairs: pl.DataFrame
    findings: pl.DataFrame
    report: pl.DataFrame
    summary: pl.DataFrame


def read_names(folder: str | Path) -> dict[str, dict[str, str]]:
    """Read the names of each set of a folder of candidates: every spelling, with the name that it is a spelling of.

    Args:
        folder: one of `resources/candidates/<language>`.

    Returns:
        By name of the set (`hindu_female_names`, ...), in the order of the files.

    Raises:
        InputError: no `categories.yaml`, or a file that is not a word set.
    """
    folder = Path(folder)
    language = read_yaml(folder / "categories.yaml").text("language")
    names: dict[str, dict[str, str]] = {}
    for path in (path for path in sorted(folder.glob("*.yaml")) if path.name != "categories.yaml"):
        content = read_yaml(path, language)
        spellings: dict[str, str] = {}
        for entry in content.entries_of("words"):
            name = entry.text("stimulus")
            spellings |= dict.fromkeys((name, *entry.texts("variants")), name)
        names[content.text("set")] = spellings
    return names


def adaptation_sheet(pairs: pl.DataFrame, names: Mapping[str, Mapping[str, str]], *, seed: int) -> pl.DataFrame:
    """Make the sheet of a set of pairs of one language, a row each.

    Args:
        pairs: the pairs (columns of `prasanga.pairs.read_pairs`).
        names: sets of names to suggest from (`read_names`).
        seed: the study's.

    Returns:
        `pair_id`, `language`, `bias_type`, `label`, `first`, `second`; `differs` (the modified words, `first /
        second`); `suggested_names` (words that may be foreign names, with one name of each set); and, to fill in,
        `decision`, `concern`, `names`, `modified_first`, `modified_second`, `note`.
    """
    known = [spelling for spellings in names.values() for spelling in spellings]
    found = possible_names((*pairs["first"], *pairs["second"]), known)
    suggested = suggest_names(sorted(found), names, seed=seed)
    differs, suggestions = [], []
    for pair in pairs.iter_rows(named=True):
        aligned = align_words(pair["first"], pair["second"])
        differs.append(write_mark(aligned.modified_first, aligned.modified_second))
        here = [name for name in suggested if has_name(pair["first"], name) or has_name(pair["second"], name)]
        suggestions.append(" | ".join(f"{name} = {suggested[name]}" for name in here))
    return pairs.select("pair_id", "language", "bias_type", "label", "first", "second").with_columns(
        pl.Series("differs", differs, dtype=pl.String),
        pl.Series("suggested_names", suggestions, dtype=pl.String),
        *(pl.lit("", pl.String).alias(name) for name in FILLED_IN),
    )


def adaptation_instructions(n_pairs: int) -> str:
    """Return the page that goes with the sheet of an adaptation."""
    return fill_instructions("adaptation", n_pairs=n_pairs, concerns=CONCERNS)


def read_adaptation(path: str | Path, pairs: pl.DataFrame, names: Mapping[str, Mapping[str, str]]) -> Adaptation:
    """Check a sheet that came back, and make the adapted set of it.

    Args:
        path: the sheet that came back.
        pairs: the pairs that it was made from (`adaptation_sheet`), of one language.
        names: sets of names of the language (`read_names`).

    Raises:
        InputError: with file and line: as `read_filled`; a decision or concern that is not allowed, names that cannot
            be read.
    """
    given = pairs.select("pair_id", pl.exclude("pair_id"))
    entries = [_read(row, pair) for row, pair in read_filled(path, given, ("first", "second"), FILLED_IN)]
    listed = {spelling for spellings in names.values() for spelling in spellings}
    chosen: dict[str, Counter[str]] = {}
    for entry in entries:
        for old, new in entry.names.items():
            chosen.setdefault(old, Counter())[new] += 1
    findings: list[tuple[str, ...]] = []
    report: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for entry in entries:
        found = [*_check_decision(entry), *_check_names(entry, listed, chosen), *_check_sentences(entry)]
        findings += [(entry.pair["pair_id"], entry.place, *each) for each in found]
        errors = sum(severity == _ERROR for severity, *_ in found)
        report.append(_report(entry, errors, len(found) - errors))
        if entry.decision in (_KEEP, _MODIFY) and not errors:
            written.append(entry.pair | {"first": entry.first, "second": entry.second})
    schema = {name: dtype for name, dtype in pairs.schema.items() if name in _LAYOUT} | {"origin": pl.String}
    adapted = pl.DataFrame(written, schema=schema).with_columns(pl.col("origin").fill_null("inherited"))
    table = pl.DataFrame(findings, schema=dict.fromkeys(_FINDING, pl.String), orient="row")
    return Adaptation(adapted, table, pl.DataFrame(report, schema=_REPORT), _summarize(entries, table))


def warn_of_findings(adapted: Adaptation) -> None:
    """Say in the log what annotators should look at, a line for each kind of finding."""
    for (severity, kind), count in Counter(adapted.findings.select("severity", "kind").iter_rows()).items():
        consequence = ", and are not written" if severity == _ERROR else ""
        _LOG.warning("%s: %d pairs of %d have %s%s", severity, count, adapted.report.height, kind, consequence)


def possible_names(sentences: Iterable[str], known: Iterable[str] = ()) -> dict[str, int]:
    """Count words that the sentences write with a capital letter and never with a small one, by sentences.

    That is what a name looks like in English; in scripts without capital letters nothing is found. Words in capitals
    throughout (IQ), days, months and languages are left out, and names that are `known`.

    Args:
        sentences: all sentences of a set: the more there are, the fewer ordinary words begin with a capital everywhere.
        known: names that need no replacement.
    """
    counts: Counter[str] = Counter()
    small: set[str] = set()
    for sentence in sentences:
        words = {_POSSESSIVE.sub("", word.text) for word in words_of(sentence)}
        small |= set(filter(str.islower, words))
        counts.update(word for word in words if word.istitle() and word.isalpha() and len(word) > 1)
    left_out = _NO_NAMES | {name.casefold() for name in known}
    return {
        text: count for text, count in counts.items() if text.lower() not in small and text.casefold() not in left_out
    }


def suggest_names(foreign: Sequence[str], names: Mapping[str, Mapping[str, str]], *, seed: int) -> dict[str, str]:
    """Suggest a name of each set for each foreign name, the same in all sentences.

    The drawn name depends only on the seed and the foreign name. A name signals a group, at least a gender and a
    religion, so annotators choose the set: the topic of the pair must not change.

    Returns:
        By foreign name: `hindu_female_names: Sunita; hindu_male_names: Rahul; ...`.
    """
    choices = {name_of_set: sorted(set(spellings.values())) for name_of_set, spellings in names.items()}

    def draw(name_of_set: str, name: str) -> str:
        its = choices[name_of_set]
        return its[generator(seed, "names", name_of_set, name).integers(len(its))]

    return {name: "; ".join(f"{its}: {draw(its, name)}" for its in names) for name in foreign}


def has_name(sentence: str, name: str) -> bool:
    """Return whether a sentence has a name of one or several words, whole and perhaps with 's."""
    words = [_POSSESSIVE.sub("", word.text) for word in words_of(sentence)]
    wanted = name.split()
    return any(words[start : start + len(wanted)] == wanted for start in range(len(words) - len(wanted) + 1))


class _Decision(NamedTuple):
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


_Finding = Sequence[str]
"""Severity, kind, place and advice."""

_NOT_WRITTEN = "A removed pair is not written: modify it, or delete this."
_UNREAL = "Remove a pair that contradicts reality, or modify it."
_COULD_BE = "Make sure that both sentences, as they are now, could be true."
_CONCERNED = "Modify or remove the pair, or delete the concern."
_KEPT = "Write modify, or empty modified_first, modified_second and names."


def _read(row: SheetRow, pair: dict[str, Any]) -> _Decision:
    concerns = [part.strip() for part in row.cells["concern"].split(";") if part.strip()]
    return _Decision(
        pair=pair,
        place=row.place,
        decision=row.one_of("decision", ("", *_DECISIONS), row.cells["decision"].lower()) or _UNDECIDED,
        concerns=[row.one_of("concern", CONCERNS, concern) for concern in concerns],
        names=_read_replacements(row.cells["names"], row.place),
        first=row.cells["modified_first"] or pair["first"],
        second=row.cells["modified_second"] or pair["second"],
        note=row.cells["note"],
    )


def _check_decision(entry: _Decision) -> Iterator[_Finding]:
    """Yield what does not go together in decision, concerns and new sentences."""
    concerns, first = "; ".join(entry.concerns), entry.first
    undecided, keep, modify, remove = (entry.decision == each for each in (_UNDECIDED, *_DECISIONS))
    unreal, renamed = _CONTRADICTION in entry.concerns, "; ".join(entry.names)
    no_note = _OTHER in entry.concerns and not entry.note
    rules = (
        (undecided, _ERROR, _UNDECIDED, "", "Write keep, modify or remove under decision."),
        (remove and not concerns, _ERROR, "no-concern", "", "Say under concern why the pair is removed."),
        (modify and not concerns, _FLAG, "no-concern", "", "Say under concern why the pair is changed."),
        (remove and entry.changed, _FLAG, "removed-but-changed", first, _NOT_WRITTEN),
        (no_note, _ERROR, "no-note", _OTHER, "Say under note what the concern is."),
        (unreal and keep, _ERROR, "kept-contradiction", concerns, _UNREAL),
        (unreal and modify, _FLAG, "contradiction", first, _COULD_BE),
        (concerns and keep and not unreal, _FLAG, "kept-with-concern", concerns, _CONCERNED),
        (keep and (entry.changed or renamed), _ERROR, "kept-but-changed", first if entry.changed else renamed, _KEPT),
        (modify and not entry.changed, _ERROR, "modified-but-unchanged", first, "Write the new sentences, or keep."),
    )
    yield from (finding for applies, *finding in rules if applies)


def _check_names(entry: _Decision, listed: set[str], chosen: Mapping[str, Counter[str]]) -> Iterator[_Finding]:
    """Yield names that were not replaced as the sheet says, in both sentences and everywhere alike."""
    if entry.decision != _MODIFY:
        return
    sides = ((entry.pair["first"], entry.first), (entry.pair["second"], entry.second))
    for old, new in entry.names.items():
        before = [after for original, after in sides if has_name(original, old)]
        if not before:
            yield (
                _ERROR,
                "name-not-there",
                old,
                f"Neither sentence has the name {old}: correct its spelling under names.",
            )
        for after in before:
            if has_name(after, old):
                yield _ERROR, "name-left", after, f"Replace {old} by {new} in both sentences."
            elif not has_name(after, new):
                yield _ERROR, "name-missing", after, f"names says that {old} became {new}: write {new} in it."
        if listed and new not in listed:
            yield _FLAG, "name-unlisted", new, "The name is in none of the name sets: check that it is usual."
        if len(chosen[old]) > 1:
            used = ", ".join(f"{name} ({count})" for name, count in chosen[old].most_common())
            yield _FLAG, "name-varies", f"{old}: {used}", "Replace a name by the same one in the whole set."
    if len(set(entry.names.values())) < len(entry.names):
        yield _FLAG, "names-merged", "; ".join(entry.names), "Two persons have become one: give each a name."


def _check_sentences(entry: _Decision) -> Iterator[_Finding]:
    """Yield why the sentences, as they will be, make no pair that differs in one thing."""
    if entry.decision not in (_KEEP, _MODIFY):
        return
    if are_same(entry.first, entry.second):
        yield _ERROR, "identical", entry.first, "No word differs: change one sentence, or remove the pair."
        return
    language = entry.pair["language"]
    places = find_places(entry.first, entry.second, language)
    changed, negated = changes(places, language), [place for place in places if place.negates(language)]
    if len(changed) > 1:
        advice = "More than one thing differs: change the group or the attribute back, or remove the pair."
        yield _FLAG, _MISMATCH, "; ".join(place.mark for place in changed), advice
    if negated:
        advice = "One sentence says no and the other does not: let them differ only in the group."
        yield _FLAG, "negation", "; ".join(place.mark for place in negated), advice


def _report(entry: _Decision, errors: int, flags: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "pair_id": entry.pair["pair_id"],
        "bias_type": entry.pair["bias_type"],
        "decision": entry.decision,
        "concerns": "; ".join(entry.concerns),
        "errors": errors,
        "flags": flags,
    }
    if entry.decision in (_KEEP, _MODIFY):
        aligned = align_words(entry.first, entry.second)
        row |= count_differences(entry.first, entry.second, entry.pair["language"])
        row |= {"differs": write_mark(aligned.modified_first, aligned.modified_second)}
    return row


def _summarize(entries: Sequence[_Decision], findings: pl.DataFrame) -> pl.DataFrame:
    """Count how many pairs of each bias type have each decision, concern, error and flag."""
    types = {entry.pair["pair_id"]: str(entry.pair["bias_type"]) for entry in entries}
    told = [
        *(("decision", entry.decision, entry.pair["pair_id"]) for entry in entries),
        *(("concern", one, entry.pair["pair_id"]) for entry in entries for one in dict.fromkeys(entry.concerns)),
        *findings.select("severity", "kind", "pair_id").unique().iter_rows(),
    ]
    rows = [(what, value, bias_type) for what, value, pair_id in told for bias_type in (types[pair_id], "all")]
    table = pl.DataFrame(rows, schema=dict.fromkeys(("what", "value", "bias_type"), pl.String), orient="row")
    decisions_first = pl.col("what").cast(pl.Enum(("decision", "concern", _ERROR, _FLAG)))
    counted = table.group_by(table.columns).agg(n_pairs=pl.len().cast(pl.Int64))
    return counted.sort(decisions_first, "value", pl.col("bias_type") != "all", "bias_type")


def _read_replacements(cell: str, place: str) -> dict[str, str]:
    """Read the replaced names of a pair, written `Tom=Rahul; Mary=Sunita`; `place` is for the message."""
    parts = [tuple(name.strip() for name in part.split("=")) for part in cell.split(";") if part.strip()]
    replaced = {names[0]: names[-1] for names in parts}
    if any(len(names) != 2 or not all(names) or replaced[names[0]] != names[1] for names in parts):
        raise InputError(
            f"{place}: names has {cell!r}. Write each name and its one replacement as `Tom=Rahul; Mary=Sunita`."
        )
    return replaced
