"""Write the demo study's text from hand-written sentence frames: `python resources/demo/generate.py`.

Every stimulus of the categories stands in the same number of sentences. The frames of its word set are dealt out to
it in turn, so that it meets many of them and many of its inflected forms; a second slot in a frame is filled by any
word of its set with equal chance, so that no stereotype is written into the text. Sentences are then dealt into
documents, between openings, links and closings that hold no stimulus. The text is the same on every machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from prasanga.base.errors import InputError
from prasanga.base.io import write_text
from prasanga.base.seeds import generator
from prasanga.lexicon import Lexicon, load_lexicon

HERE = Path(__file__).resolve().parent
REGISTERS = ("news", "encyclopedia", "letters", "stories")
SEED = 2024
SENTENCES_PER_STIMULUS = 34
SENTENCES_PER_DOCUMENT = 20  # with a stimulus
SENTENCES_PER_LINK = 6
SENTENCES_PER_PARAGRAPH = 5
# A context reaches three sentences to either side, so the first and last three hold no stimulus.
MARGIN = 3

_SLOT = re.compile(r"\{(?P<what>[a-z_]+)(?::(?P<form>[a-z.]+))?(?:\+(?P<emphatic>[ইও]))?\}")
_NUMBERS = ("definite", "plural", "partitive")


class Slot(NamedTuple):
    """A place in a frame: `word`, the name of a word set or of a filler; and the form that stands there."""

    what: str
    number: str
    case: str
    emphatic: str


@dataclass(frozen=True)
class Frame:
    """A sentence with slots, and the stimuli that its main slot (`{word}`) takes."""

    name: str
    register: str
    text: str
    stimuli: tuple[str, ...]


class Sentence(NamedTuple):
    """A sentence of the text, the frame it was made from, and the stimulus in its main slot (empty for links)."""

    text: str
    frame: str
    stimulus: str


@dataclass(frozen=True)
class Material:
    """All that the text is made from."""

    lexicon: Lexicon
    sets: dict[str, tuple[str, ...]]
    frames: list[Frame]
    links: dict[str, dict[str, list[str]]]
    fillers: dict[str, list[str]]


def read_material(resources: Path) -> Material:
    """Read the lexicon and the frames, and refuse frames that name an unknown set, stimulus, filler or register."""
    lexicon = load_lexicon(resources / "stimuli/bn", resources / "suffix_groups/bn.yaml")
    sides = [side for c in lexicon.categories.values() for side in (*c.targets, *c.attributes)]
    sets = {side.name: side.stimuli for side in sides if side.searched}  # the others stand in templates alone
    folder = resources / "demo/frames/bn"
    fillers: dict[str, list[str]] = _read(folder / "fillers.yaml")["fillers"]
    links: dict[str, dict[str, list[str]]] = _read(folder / "links.yaml")["links"]
    frames: list[Frame] = []
    for path in sorted(folder.glob("*.yaml")):
        if path.stem not in {"fillers", "links"}:
            frames += _frames_of(path, sets)
    material = Material(lexicon, sets, frames, links, fillers)
    for name, text in _all_texts(material):
        for slot in slots_of(text):
            if slot.what != "word" and slot.what not in sets and slot.what not in fillers:
                known = ", ".join(["word", *sorted(sets), *sorted(fillers)])
                raise InputError(f"{name}: the slot {{{slot.what}}} is unknown. Allowed: {known}.")
    return material


def slots_of(text: str) -> list[Slot]:
    """The slots of a frame, in order."""
    return [_slot(match) for match in _SLOT.finditer(text)]


def compose(material: Material) -> dict[str, list[list[Sentence]]]:
    """The documents of each register: lists of sentences."""
    rng = generator(SEED, "demo")
    sentences: dict[str, list[Sentence]] = {register: [] for register in REGISTERS}
    for stimuli in material.sets.values():
        for stimulus in stimuli:
            frames = _fitting(material, stimulus)
            order = rng.permutation(len(frames))
            for turn in range(SENTENCES_PER_STIMULUS):
                frame = frames[order[turn % len(frames)]]
                text = _fill(material, frame.text, stimulus, rng)
                sentences[frame.register].append(Sentence(text, frame.name, stimulus))
    return {register: list(_documents(material, register, sentences[register], rng)) for register in REGISTERS}


def render(documents: Sequence[Sequence[Sentence]]) -> str:
    """Plain text: a paragraph a line, a blank line between documents."""
    return "\n".join("".join(f"{line}\n" for line in _paragraphs(document)) for document in documents)


def main(resources: Path = HERE.parent) -> None:
    """Write one file a register."""
    for register, documents in compose(read_material(resources)).items():
        write_text(resources / f"demo/corpus/bn/{register}.txt", render(documents))


def _documents(
    material: Material, register: str, sentences: Sequence[Sentence], rng: np.random.Generator
) -> Iterator[list[Sentence]]:
    shuffled = _in_rounds([sentences[place] for place in rng.permutation(len(sentences))])
    of_register = material.links[register]

    def link(kind: str, number: int) -> list[Sentence]:
        picked = rng.choice(len(of_register[kind]), size=number, replace=False)
        return [Sentence(_fill(material, of_register[kind][place], "", rng), kind, "") for place in picked]

    for start in range(0, len(shuffled), SENTENCES_PER_DOCUMENT):
        document = link("openings", MARGIN)
        for number, sentence in enumerate(shuffled[start : start + SENTENCES_PER_DOCUMENT], start=1):
            document.append(sentence)
            if number % SENTENCES_PER_LINK == 0:
                document += link("links", 1)
        yield document + link("closings", MARGIN)


def _in_rounds(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with those of one frame far apart: each frame's first, then each one's second, and so on."""
    seen: Counter[str] = Counter()
    rounds = []
    for sentence in sentences:
        rounds.append(seen[sentence.frame])
        seen[sentence.frame] += 1
    return [sentences[place] for place in np.argsort(rounds, kind="stable")]


def _paragraphs(document: Sequence[Sentence]) -> Iterator[str]:
    for start in range(0, len(document), SENTENCES_PER_PARAGRAPH):
        yield " ".join(sentence.text for sentence in document[start : start + SENTENCES_PER_PARAGRAPH])


def _fitting(material: Material, stimulus: str) -> list[Frame]:
    """The frames whose main slot takes this stimulus in a form that the lexicon licenses."""
    fitting = [
        frame
        for frame in material.frames
        if stimulus in frame.stimuli
        and all(_inflected(material, stimulus, slot) for slot in slots_of(frame.text) if slot.what == "word")
    ]
    if not fitting:
        raise InputError(f"no frame fits the stimulus {stimulus}: write one under resources/demo/frames.")
    return fitting


def _inflected(material: Material, stimulus: str, slot: Slot) -> str:
    """The form of a stimulus that a slot asks for; empty if the lexicon does not license it."""
    try:
        return material.lexicon.inflect(stimulus, number=slot.number, case=slot.case, emphatic=slot.emphatic)
    except InputError:
        return ""


def _fill(material: Material, text: str, stimulus: str, rng: np.random.Generator) -> str:
    def fill(match: re.Match[str]) -> str:
        slot = _slot(match)
        if slot.what == "word":
            return _inflected(material, stimulus, slot)
        if slot.what in material.fillers:
            return str(rng.choice(material.fillers[slot.what]))
        licensed = [form for word in material.sets[slot.what] if (form := _inflected(material, word, slot))]
        if not licensed:
            raise InputError(f"no word of {slot.what} has the form that the slot {match.group()} of {text!r} asks for.")
        return str(rng.choice(licensed))

    return _SLOT.sub(fill, text)


def _slot(match: re.Match[str]) -> Slot:
    first, _, second = (match["form"] or "").partition(".")
    number = first if first in _NUMBERS else "singular"
    case = second or (first if first and first not in _NUMBERS else "nominative")
    return Slot(match["what"], number, case, match["emphatic"] or "")


def _frames_of(path: Path, sets: Mapping[str, tuple[str, ...]]) -> Iterator[Frame]:
    content = _read(path)
    for name in content["sets"]:
        if name not in sets:
            raise InputError(f"{path}: the set {name!r} is in no category. Allowed: {', '.join(sorted(sets))}.")
    stimuli = [word for name in content["sets"] for word in sets[name]]
    for register, frames in content["frames"].items():
        if register not in REGISTERS:
            raise InputError(f"{path}: the register {register!r} is unknown. Allowed: {', '.join(REGISTERS)}.")
        for number, frame in enumerate(frames, start=1):
            entry: dict[str, Any] = frame if isinstance(frame, dict) else {"text": frame}
            name = f"{path.stem}/{register}/{number}"
            listed = entry.get("only", []) + entry.get("except", [])
            if unknown := sorted(set(listed) - set(stimuli)):
                raise InputError(f"{path}: frame {name} lists {', '.join(unknown)}, which are not in its word sets.")
            chosen = entry.get("only") or [word for word in stimuli if word not in entry.get("except", [])]
            yield Frame(name, register, entry["text"], tuple(chosen))


def _all_texts(material: Material) -> Iterator[tuple[str, str]]:
    yield from ((frame.name, frame.text) for frame in material.frames)
    for register, kinds in material.links.items():
        yield from ((f"links/{register}/{kind}", text) for kind, texts in kinds.items() for text in texts)


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


if __name__ == "__main__":
    main()
