"""The demo's text is what the generator writes, and holds what the study needs."""

from __future__ import annotations

import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest
import regex

ROOT = Path(__file__).resolve().parents[3]
RESOURCES = ROOT / "resources"
WORD = regex.compile(r"[\p{L}\p{M}\p{N}\u200c\u200d]+")


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", RESOURCES / "demo/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def material(generate: ModuleType):  # noqa: ANN201
    return generate.read_material(RESOURCES)


@pytest.fixture(scope="module")
def documents(generate: ModuleType, material):  # noqa: ANN001, ANN201
    return generate.compose(material)


def test_the_files_are_what_the_generator_writes(generate: ModuleType, documents) -> None:  # noqa: ANN001
    files = {path.stem: path.read_text(encoding="utf-8") for path in (RESOURCES / "demo/corpus/bn").glob("*.txt")}
    assert files == {register: generate.render(parts) for register, parts in documents.items()}


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in (RESOURCES / "demo/corpus/bn").glob("*.txt")) < 3_000_000


def test_every_stimulus_has_contexts_forms_and_frames_enough(material, documents) -> None:  # noqa: ANN001
    """Counted from the text itself, by the simplest means: split at the danda, look every word up."""
    claims = material.lexicon.claims()
    several_words: dict[str, list[str]] = defaultdict(list)  # by their first word
    for form in claims:
        first, *others = WORD.findall(form)
        if others:
            several_words[first].append(form)
    contexts: dict[str, set[str]] = defaultdict(set)
    forms: dict[str, set[str]] = defaultdict(set)
    for path in sorted((RESOURCES / "demo/corpus/bn").glob("*.txt")):
        for document in path.read_text(encoding="utf-8").split("\n\n"):
            from prasanga.text import normalize

            sentences = [s.strip() for s in normalize(document.replace("\n", " ")).split("।") if s.strip()]
            for place, sentence in enumerate(sentences):
                window = " । ".join(sentences[max(0, place - 3) : place + 4])
                if len(WORD.findall(window)) <= 75:
                    continue
                words = WORD.findall(sentence)
                found = words + [form for word in words for form in several_words.get(word, ()) if form in sentence]
                for form in found:
                    for name in claims.get(form, ()):
                        contexts[name].add(window)
                        forms[name].add(form)
    frames: dict[str, set[str]] = defaultdict(set)
    for parts in documents.values():
        for document in parts:
            for sentence in document:
                frames[sentence.stimulus].add(sentence.frame)
    possible = defaultdict(set)
    for form in material.lexicon.forms:
        possible[form.stimulus].add(form.form)
    stimuli = {word for words in material.sets.values() for word in words}
    poor = {
        stimulus: (len(contexts[stimulus]), len(forms[stimulus]), len(frames[stimulus]))
        for stimulus in stimuli
        if len(contexts[stimulus]) < 30
        or len(forms[stimulus]) < min(4, len(possible[stimulus]))
        or len(frames[stimulus]) < 8
    }
    assert poor == {}


def test_links_and_fillers_hold_no_stimulus(material) -> None:  # noqa: ANN001
    from prasanga.text import normalize

    claims = material.lexicon.claims()
    texts = [text for kinds in material.links.values() for group in kinds.values() for text in group]
    texts += [text for group in material.fillers.values() for text in group]
    texts += [frame.text for frame in material.frames]
    for text in texts:
        words = WORD.findall(normalize(regex.sub(r"\{[^}]*\}", " ", text)))
        assert [word for word in words if word in claims] == [], text


def test_both_sexes_share_their_frames(material) -> None:  # noqa: ANN001
    for one, other in (("male_names", "female_names"), ("male_terms", "female_terms")):
        for frame in material.frames:
            if frame.name.startswith(("names/", "terms/")):
                left, right = (len(set(frame.stimuli) & set(material.sets[name])) for name in (one, other))
                assert abs(left - right) <= 1, frame.name  # one name takes no emphatic ই
