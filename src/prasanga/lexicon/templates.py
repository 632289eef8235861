"""Sentence templates by class of word (`resources/templates/<language>/seat.yaml`), and words put into them.

A template is bleached of meaning - "This is {word}." - so that what its sentence is about comes from the word alone
(May et al. 2019). It has one slot, which says in which form the word stands there:

    {word}                   the stimulus as its word set writes it
    {word:genitive}          its genitive, from the lexicon; any number and case, in any order: {word:genitive plural}
    {word:indefinite}        English, with a or an before it
    {Word}                   with a capital; a word at the beginning of an English sentence gets one by itself
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.yaml import Entry, read_distinct, suggest
from prasanga.errors import InputError
from prasanga.lexicon.model import Lexicon
from prasanga.lexicon.slots import SLOT, WordForm, read_word_form, whole_words
from prasanga.lexicon.spelling import read_yaml, spelling_of


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with a slot for a word.

    Attributes:
        name: its `id`, unique in its class.
        word_class: the class of words that it takes.
        before: the sentence up to the slot, normalized.
        after: the rest.
        form: the form in which the slot takes the word.
        gloss: English translation.
        place: file and line, for messages.
    """

    name: str
    word_class: str
    before: str
    after: str
    form: WordForm
    gloss: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a language.

    Attributes:
        path: the file that they come from.
        language: bn, hi, en.
        classes: templates by class of word, in the order of the file.
    """

    path: Path
    language: str
    classes: Mapping[str, tuple[Template, ...]]


class FilledTemplate(NamedTuple):
    """A sentence with a word in it: `text[start:end]` is the whole inflected word, without its article."""

    stimulus: str
    template: str
    word_class: str
    text: str
    start: int
    end: int


def load_templates(path: str | Path, normalization: str | None = None) -> Templates:
    """Read a file of templates.

    Args:
        path: the file.
        normalization: the corpus's, if not the language's own.

    Raises:
        InputError: the file cannot be read; an unknown key; a class without templates; an id or a text that stands
            twice in a class; a text with no slot, with two, or with one that asks for what there is not.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path under `seat.templates` in the config.")
    content = read_yaml(path, normalization=normalization)
    content.require("a file of templates", required=["language", "templates"])
    language, by_class = content.text("language"), content.entry_of("templates")
    if not by_class:
        raise InputError(f"{path}: `templates` is empty. Write under it `class: [{{id: this-is, text: ...}}]`.")
    return Templates(path, language, {name: _read_class(name, by_class, language) for name in by_class})


def filled_templates(lexicon: Lexicon, stimuli: Sequence[str], templates: Templates) -> Iterator[FilledTemplate]:
    """Put each stimulus into every template of its class, in the order of `stimuli` and then of the file.

    Args:
        lexicon: where the stimuli, their classes and their forms stand.
        stimuli: names of its stimuli; one that stands there twice is filled in once.
        templates: of the same language.

    Raises:
        InputError: templates of another language; a stimulus that the lexicon lacks, that has no class or one without
            templates; a form that a stimulus does not have.
    """
    if templates.language != lexicon.language:
        raise InputError(
            f"{templates.path}: `language` is {templates.language!r}, but the word lists are for"
            f" {lexicon.language!r}. Name templates of that language under `seat.templates`."
        )
    classes = {stimulus.name: (stimulus.word_class, stimulus.place) for stimulus in lexicon.stimuli}
    for name in dict.fromkeys(stimuli):
        if name not in classes:
            raise InputError(f"The lexicon has no stimulus {name!r}; add it to a word set, or write one that it has.")
        require_classes({name: classes[name]}, [name], templates)
        for template in templates.classes[classes[name][0]]:
            yield _fill(lexicon, name, template)


def require_classes(classes: Mapping[str, Sequence[str]], stimuli: Iterable[str], templates: Templates) -> None:
    """Refuse stimuli that no template takes, before anything is filled in.

    Args:
        classes: of every stimulus its class of word and where it is written (`LexiconPlan.classes`); the first may be
            "", the second is where the word lists are not of our layout.
        stimuli: those that are to stand in templates.
        templates: of the study.

    Raises:
        InputError: a line for each class without templates, and one for the words without a class: the first word with
            its file and line, how many more there are, and what to write.
    """
    without: dict[str, list[str]] = {}
    for name in dict.fromkeys(stimuli):
        word_class = classes[name][0]
        if word_class not in templates.classes:
            without.setdefault(word_class, []).append(name)
    problems = [
        _no_templates(word_class, names, classes[names[0]][1], templates) for word_class, names in without.items()
    ]
    if problems:
        raise InputError("\n".join(problems))


def _no_templates(word_class: str, names: Sequence[str], place: str, templates: Templates) -> str:
    who = f"{place}{': ' if place else ''}the stimulus {names[0]}"
    who += f" (and {len(names) - 1} more of `seat.categories`)" if len(names) > 1 else ""
    if not word_class and not place:
        ours = f"resources/stimuli/{templates.language}"
        return (
            f"{who} has no class of word, so no template takes it: word lists in the layout of Sadhu et al. (2024) have"
            " no classes. Write `seat: {categories: []}`, or measure SEAT in a study with word sets in YAML:"
            f" `lexicon: {{stimuli: {ours}, suffix_groups: resources/suffix_groups/{templates.language}.yaml}}`."
        )
    allowed = suggest(word_class, templates.classes)
    if not word_class:
        return (
            f"{who} has no class of word, so no template takes it. Write `class:` in the word set, for the whole set or"
            f" for the word.{allowed}"
        )
    return (
        f"{who} has the class `{word_class}`, for which {templates.path} has no templates. Write another `class:` in"
        f" the word set, or templates for it.{allowed}"
    )


def texts_of(templates: Templates, classes: Iterable[str]) -> dict[str, Any]:
    """What sentences depend on: the language, and of these classes the templates in order, without their glosses.

    What is not here (a comment, a gloss, a class that no word has) may change in the file, and no sentence does.
    """
    return {
        "language": templates.language,
        "classes": {
            name: [[each.name, each.before, each.after, *astuple(each.form)] for each in templates.classes[name]]
            for name in sorted(set(classes))
        },
    }


def _read_class(name: str, by_class: Entry, language: str) -> tuple[Template, ...]:
    entries = by_class.entries_of(name)
    if not entries:
        raise InputError(
            f"{by_class.place}: the class `{name}` has no templates. Write at least one `- {{id: this-is, text: ...}}`,"
            " or delete the class."
        )
    return read_distinct(f"the class `{name}`", entries, lambda entry: _read_template(name, entry, language))


def _read_template(word_class: str, entry: Entry, language: str) -> Template:
    entry.require(f"a template of the class `{word_class}`", required=["id", "text"], optional=["gloss"])
    name, text = entry.text("id"), entry.text("text")
    what = f"{entry.place}: the template `{name}`"
    slots = list(SLOT.finditer(text))
    if len(slots) != 1 or text.count("{") != 1 or text.count("}") != 1:
        found = (
            f"{len(slots)} slots" if len(slots) > 1 else "an open brace" if "{" in text or "}" in text else "no slot"
        )
        raise InputError(f"{what} has {found}: {text}. Write one slot, such as {{word}} or {{word:genitive}}.")
    (slot,) = slots
    before, after = text[: slot.start()], text[slot.end() :]
    word, _, options = slot[1].partition(":")
    if word.strip() not in ("word", "Word"):
        raise InputError(f"{what} has the slot {slot[0]}. Write {{word}}, or with what it asks for {{word:genitive}}.")
    form = read_word_form(
        f"{what} asks in its slot {slot[0]} for",
        options,
        language=language,
        before=before,
        capital=word.strip() == "Word",
    )
    return Template(name, word_class, before, after, form, gloss=entry.text("gloss"), place=entry.place)


def _fill(lexicon: Lexicon, stimulus: str, template: Template) -> FilledTemplate:
    word = _form(lexicon, stimulus, template)
    phrase = template.form.phrase(word)
    before, after = template.before + phrase[: len(phrase) - len(word)], template.after
    text = spelling_of(lexicon.language, lexicon.normalization)(f"{before}{phrase[-len(word) :]}{after}")
    # The parts are normalized, but letters at the seams may combine; outside them the sentence is as it was.
    if not (text.startswith(before) and text.endswith(after)):
        raise InputError(
            f"{template.place}: in the template `{template.name}` the word {word} changes letters beside the slot"
            f" when the sentence is normalized ({text}). Write a space or a form (`{{word:genitive}}`) there."
        )
    start, end = whole_words(text, len(before), len(text) - len(after))
    return FilledTemplate(stimulus, template.name, template.word_class, text, start, end)


def _form(lexicon: Lexicon, stimulus: str, template: Template) -> str:
    try:
        return template.form.of(lexicon, stimulus)
    except InputError as error:
        raise InputError(
            f"{template.place}: the template `{template.name}` of the class `{template.word_class}` cannot be filled."
            f" {error} Or list the form under `forms:` of the word in its word set, or give the word another `class:`."
        ) from None
