"""Forms that have two readings, and the decisions about them (`ambiguous:` in `categories.yaml`).

A form like মার is the genitive of মা, and could be one of another stimulus. Counting it for both, for one or for
none changes the measurement, so somebody has to decide, and the decision stands in the data with its reason. The other
reading may also be a word that is no stimulus (খুনে, murderous); such a form can be left out, with `none`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prasanga.base.yaml import Entry, suggest
from prasanga.errors import InputError
from prasanga.lexicon.model import SurfaceForm, claimants
from prasanga.text import fold

_SHOWN = 12


def resolve(forms: Sequence[SurfaceForm], head: Entry, places: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Decide who gets the hits of each form that several stimuli claim, and of each that a decision speaks of.

    A decision about a form holds for the form with an emphatic ending as well.

    Args:
        forms: the forms of all stimuli.
        head: the content of `categories.yaml`, with its list `ambiguous`.
        places: stimulus -> file and line, for messages.

    Returns:
        Folded form -> the stimuli that get its hits.

    Raises:
        InputError: a form without decision (with the lines to write), a decision about a form that nobody claims, or
            for a stimulus that does not claim it.
    """
    claimed = claimants(forms)
    decisions = _read_decisions(head, claimed)
    resolutions: dict[str, tuple[str, ...]] = {}
    undecided: dict[str, Mapping[str, SurfaceForm]] = {}
    for form, owners in claimed.items():
        base = _without_emphatic(form, owners)
        if form in decisions:
            resolutions[form] = decisions[form]
        elif base in decisions and (len(owners) > 1 or not decisions[base]):
            resolutions[form] = decisions[base]
        elif len(owners) > 1 and len(claimed.get(base, ())) > 1:
            undecided.setdefault(base, claimed[base])
        elif len(owners) > 1:
            undecided[form] = owners
    if undecided:
        raise InputError(_explain(undecided, head, places))
    return resolutions


def _read_decisions(head: Entry, claimed: Mapping[str, Mapping[str, SurfaceForm]]) -> dict[str, tuple[str, ...]]:
    decisions: dict[str, tuple[str, ...]] = {}
    for entry in head.entries_of("ambiguous"):
        entry.require("an ambiguous form", required=["form", "resolution", "reason"])
        form, resolution = entry.text("form"), entry.text("resolution")
        owners = tuple(claimed.get(fold(form), ()))
        if not owners:
            raise InputError(
                f"{entry.place}: the form {form} is listed under `ambiguous`, but no stimulus claims it (any more)."
                " Delete the entry."
            )
        if len(owners) == 1 and resolution != "none":
            raise InputError(
                f"{entry.place}: the form {form} has the resolution `{resolution}`, but only {owners[0]} claims it (any"
                " more), and gets its hits. Delete the entry, or write `resolution: none` to leave the form out."
            )
        if fold(form) in decisions:
            raise InputError(f"{entry.place}: the form {form} is listed twice under `ambiguous`. Delete one entry.")
        match resolution:
            case "both":
                decisions[fold(form)] = owners
            case "none":
                decisions[fold(form)] = ()
            case _ if resolution in owners:
                decisions[fold(form)] = (resolution,)
            case _:
                allowed = suggest(resolution, [*owners, "both", "none"])
                raise InputError(f"{entry.place}: the form {form} has the resolution `{resolution}`.{allowed}")
    return decisions


def _without_emphatic(form: str, owners: Mapping[str, SurfaceForm]) -> str:
    """The form without its emphatic ending, where all claimants read the same one."""
    endings = {fold(reading.emphatic) for reading in owners.values()}
    return form.removesuffix(endings.pop()) if len(endings) == 1 else form


def _explain(undecided: Mapping[str, Mapping[str, SurfaceForm]], head: Entry, places: Mapping[str, str]) -> str:
    lines = [f"{head.path}: {len(undecided)} form(s) have several stimuli, and nothing says which one gets the hit:"]
    shown = list(undecided.items())[:_SHOWN]
    for form, owners in shown:
        claims = " and ".join(f"{name} ({_describe(owners[name])}; {places[name]})" for name in owners)
        lines.append(f"- {form}: {claims}")
    if len(undecided) > _SHOWN:
        lines.append(f"- ... and {len(undecided) - _SHOWN} more")
    lines.append("Write there, with the stimulus that gets the hit, or `both`, or `none`:")
    lines.append("    ambiguous:")
    lines += [f'      - {{form: {form}, resolution: {next(iter(owners))}, reason: "..."}}' for form, owners in shown]
    return "\n".join(lines)


def _describe(reading: SurfaceForm) -> str:
    return " ".join(part for part in (reading.number, reading.case) if part)
