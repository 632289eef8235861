"""What a lexicon holds, in one spelling: stimuli, their surface forms, and the categories that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from prasanga.base.errors import InputError
from prasanga.base.yaml import Entry, read_entry
from prasanga.text import fold, normalizer

# --------------------
# One spelling for one word: word lists are normalized as the corpus of their language is.
#
# A word that the list writes with a nukta and the corpus without (ज़िंदगी, जिंदगी) would never be found. So the
# forms of a lexicon are in the same normalization as the text that they are looked for in, and that depends on the
# language.


#: What a corpus of the language goes through unless the config says otherwise (`normalization` there).
DEFAULT_NORMALIZATIONS = {"bn": "bangla", "hi": "nukta", "en": "nfkc"}
_OF_OTHER_LANGUAGES = "nfkc"


def spelling_of(language: str, normalization: str | None = None) -> Callable[[str], str]:
    """Return the function that gives a text of word lists the spelling that it has in the corpus.

    Args:
        language: bn, hi, en; another language's texts are brought into NFKC.
        normalization: the name of another normalization than the language's own (`prasanga.text.normalizer`).

    Raises:
        InputError: for an unknown normalization.
    """
    name = normalization or DEFAULT_NORMALIZATIONS.get(language, _OF_OTHER_LANGUAGES)
    return normalizer(name).one


def read_yaml(path: Path, language: str | None = None, normalization: str | None = None) -> Entry:
    """Read a YAML file of words, texts spelled as in the corpus.

    Args:
        path: the file, which holds one mapping.
        language: of its words; by default what the file says under `language`.
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: an unknown normalization; as `read_entry`.
    """
    return read_entry(path, lambda entry: spelling_of(language or str(entry.get("language", "")), normalization))


# --------------------
# What a lexicon holds: stimuli, their surface forms, and the categories that use them.
#
# A stimulus is a word; whether it is a target or an attribute is said by the category. A surface form is one
# spelling under which a stimulus stands in running text. All strings are normalized (`prasanga.lexicon.model`).


NUMBERS = ("singular", "definite", "plural", "partitive")
# The nominative is Hindi's direct case; its oblique stands before postpositions (लड़के को), which are words of their own.
CASES = ("nominative", "genitive", "objective", "locative", "instrumental", "oblique", "vocative")


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A word of the study.

    Attributes:
        name: its spelling, which is also its name in every table.
        gloss: an English translation ("" where the source gives none).
        groups: the suffix groups that license its forms.
        variants: other spellings of the same word.
        word_class: which templates it is put into (person_name, adjective; `prasanga.lexicon.templates`), "" for none.
        place: file and line where it is written, with its class if any place says one; "" where the layout has none.
    """

    name: str
    gloss: str = ""
    groups: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    word_class: str = ""
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SurfaceForm:
    """One spelling of a stimulus in running text, and how it is read.

    Attributes:
        form: the spelling; one or several words.
        stimulus: whose form it is.
        group: the suffix group that licenses it; "irregular" for a listed form, "" where the source has no groups.
        number: one of `NUMBERS`, or "" where the source does not say.
        case: one of `CASES`, or "" where the source does not say.
        emphatic: the emphatic ending (ই, ও) or "".
        hyphenated: whether the ending follows a hyphen (মা-কে). Such forms are found in text but never produced.
    """

    form: str
    stimulus: str
    group: str = ""
    number: str = ""
    case: str = ""
    emphatic: str = ""
    hyphenated: bool = False


@dataclass(frozen=True, slots=True)
class WordSet:
    """A named list of stimuli; a word that the source lists twice stands here twice.

    Attributes:
        name: its name in the categories.
        gloss: what it holds, in English.
        stimuli: their names.
        searched: whether its words are looked for in texts; false for words that stand in templates only.
        path: its file; "" of a set that is joined of others.
    """

    name: str
    gloss: str
    stimuli: tuple[str, ...]
    searched: bool = True
    path: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Category:
    """An association test: two target sets and two attribute sets."""

    name: str
    title: str
    targets: tuple[WordSet, WordSet]
    attributes: tuple[WordSet, WordSet]


@dataclass(frozen=True)
class Lexicon:
    """The words of a study and every spelling under which they are found.

    Attributes:
        language: bn, hi, en.
        stimuli: in the order of the word sets; after those that are looked for, those that stand in templates only.
        categories: by name.
        forms: what is looked for, one per stimulus and spelling, with the first reading that gives it (a thing's
            nominative is also its objective: it stands here as nominative). A stimulus that stands in templates only
            has none.
        warnings: what the reader of the files should know, a sentence each.
        readings: every reading that can be produced, also those whose spelling has an earlier one, and those of
            stimuli that stand in templates only; empty means `forms`.
        resolutions: folded form -> the stimuli that get its hits, for forms that several stimuli claim. A form that is
            not named here belongs to all its claimants.
        normalization: the name of the normalization that the words went through; None is the language's own.
    """

    language: str
    stimuli: tuple[Stimulus, ...]
    categories: Mapping[str, Category]
    forms: tuple[SurfaceForm, ...]
    warnings: tuple[str, ...] = ()
    readings: tuple[SurfaceForm, ...] = field(default=(), repr=False)
    resolutions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normalization: str | None = None

    def claims(self) -> dict[str, tuple[str, ...]]:
        """Map each folded form (`prasanga.text.fold`: without ZWNJ) to the stimuli that get a hit for it.

        A form whose resolution is `none` is absent.
        """
        claims = {form: tuple(owners) for form, owners in claimants(self.forms).items()}
        claims.update(self.resolutions)
        return {form: owners for form, owners in claims.items() if owners}

    def inflect(self, stimulus: str, *, number: str = "singular", case: str = "nominative", emphatic: str = "") -> str:
        """Return the first form that the stimulus's suffix groups license for a number, a case and an emphatic ending.

        Forms of the stimulus's own name come before those of its variants, a group's endings in the order of its file;
        endings after a hyphen are never returned.

        Raises:
            InputError: if there is none; the message lists what exists.
        """
        found = self._inflections.get((stimulus, number, case, emphatic))
        if found is None:
            # A user may write the stimulus as the word list does (ख़ुशी), not as it is named after normalization (खुशी).
            normalized = spelling_of(self.language, self.normalization)(stimulus)
            found = self._inflections.get((normalized, number, case, emphatic))
        if found is None:
            raise InputError(self._explain_missing(stimulus, number, case, emphatic))
        return found

    @cached_property
    def _inflections(self) -> dict[tuple[str, str, str, str], str]:
        inflections: dict[tuple[str, str, str, str], str] = {}
        for form in self.readings or self.forms:
            if not form.hyphenated:
                inflections.setdefault((form.stimulus, form.number, form.case, form.emphatic), form.form)
        return inflections

    def _explain_missing(self, stimulus: str, number: str, case: str, emphatic: str) -> str:
        existing = [key[1:] for key in self._inflections if key[0] == stimulus]
        if not existing:
            return f"The lexicon has no stimulus {stimulus!r}; add it to a word set, or write one that it has."
        cases: dict[str, dict[str, None]] = {}
        for found_number, found_case, _ in existing:
            cases.setdefault(found_number or "(not said)", {})[found_case or "(not said)"] = None
        wanted = f"number {number!r}, case {case!r}" + (f", emphatic {emphatic!r}" if emphatic else "")
        exists = "; ".join(f"{found}: {', '.join(of_number)}" for found, of_number in cases.items())
        emphatics = ", ".join(dict.fromkeys(found for _, _, found in existing if found)) or "none"
        return (
            f"The stimulus {stimulus!r} has no form with {wanted}. It has {exists}; emphatic endings: {emphatics}."
            " Write one of these, or add the ending to its suffix group."
        )


def claimants(forms: Iterable[SurfaceForm]) -> dict[str, dict[str, SurfaceForm]]:
    """Map each folded form to the stimuli that claim it, each with its reading, in the order of `forms`."""
    claimed: dict[str, dict[str, SurfaceForm]] = {}
    for form in forms:
        claimed.setdefault(fold(form.form), {}).setdefault(form.stimulus, form)
    return claimed


def first_readings(readings: Iterable[SurfaceForm]) -> tuple[SurfaceForm, ...]:
    """Keep one reading per stimulus and spelling: the first."""
    first: dict[tuple[str, str], SurfaceForm] = {}
    for reading in readings:
        first.setdefault((reading.stimulus, reading.form), reading)
    return tuple(first.values())
