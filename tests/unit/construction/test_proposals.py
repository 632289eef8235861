"""Attributes and sentences that a model proposes: asked for, taken apart, asked for again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga_construction.proposals import propose_attributes, propose_sentences
from prasanga_construction.templates import (
    Identities,
    PairTemplates,
    choose_prompts,
    load_identities,
    load_templates,
)
from prasanga_construction.tuples import BiasTuple

WORDS = ["brave", "calm", "proud", "loyal", "witty", "quiet", "kind", "strict", "frugal", "lively", "modest"]


class Stub:
    """Answers from a function of prompt and number of the try."""

    def __init__(self, answer: object, *, is_chat: bool = False) -> None:
        self.answer, self.is_chat, self.asked = answer, is_chat, [[]]
        self.asked.clear()
        self.limits: list[int] = []
        self.seeds: list[int] = []

    def room(self, _: Sequence[str]) -> int | None:
        return 120

    def generate(self, texts: Sequence[str], *, max_new_tokens: int, seed: int) -> list[str]:
        self.asked.append(list(texts))
        self.limits.append(max_new_tokens)
        self.seeds.append(seed)
        return [self.answer(text, len(self.asked)) for text in texts]  # type: ignore[operator]


@pytest.fixture(scope="module")
def english(project_root: Path) -> tuple[Identities, PairTemplates]:
    folder = project_root / "resources/construction/en"
    return load_identities(folder / "identities.yaml"), load_templates(folder / "templates.yaml", "en")


def test_the_prompts_of_the_paper_by_their_ids(english: tuple[Identities, PairTemplates], project_root: Path) -> None:
    """Table 5 has eight prompts for attributes and six for sentences, three of the former for two models each."""
    identities, templates = english
    path = project_root / "resources/construction/prompts.yaml"
    own = templates.prompts
    kinds = {}
    for number in range(1, 15):
        prompts = choose_prompts(templates, path, [f"table5-{number}"], "en").prompts
        changed = [kind for kind in ("attributes", "sentences") if getattr(prompts, kind) != getattr(own, kind)]
        kinds[number] = " ".join(changed)
        assert (prompts.opening, prompts.polarities) == (own.opening, own.polarities)
    assert [number for number, kind in kinds.items() if kind == "sentences"] == [2, 3, 4, 5, 13, 14]
    assert [number for number, kind in kinds.items() if kind == "attributes"] == [1, 6, 7, 8, 9, 10, 11, 12]
    assert choose_prompts(templates, path, [], "en") == templates

    stub = Stub(lambda *_: "brave")
    both = choose_prompts(templates, path, ["table5-11", "table5-13"], "en")
    propose_attributes(stub, identities, both, seed=1)
    assert stub.asked[0][1].startswith("Give negative stereotypes about Hindus in the Indian context, each in one to")
    one = BiasTuple("t", "en", "religion", "Hindu", "devout", "positive")
    propose_sentences(stub, [one], identities, both, seed=1)
    assert "For the tuple (Hindus, devout), write natural sentences" in stub.asked[-1][0]
    with pytest.raises(InputError, match=r"prompts: .*prompts.yaml lacks the prompt 'table5-15'\. Did you mean"):
        choose_prompts(templates, path, ["table5-15"], "en")
    with pytest.raises(InputError, match=r"prompts.yaml.*`language` is 'en'.*hi"):
        choose_prompts(templates, path, ["table5-1"], "hi")


def test_ten_of_each_polarity_for_every_term(english: tuple[Identities, PairTemplates]) -> None:
    stub = Stub(lambda *_: " " + "\n".join(f"{n}. {word}" if n > 1 else word for n, word in enumerate(WORDS, 1)))
    proposals = propose_attributes(stub, *english, seed=47)
    assert len(stub.asked) == 1
    assert len(stub.asked[0]) == 88  # 35 terms of Figure 2 and 9 of regions, twice
    assert len(proposals.found) == 880
    assert proposals.short == {}
    assert set(proposals.lost["reason"]) == {"beyond-count"}
    first = proposals.found[0]
    assert (first.tuple_id, first.identity, first.attribute, first.polarity) == (
        "religion-hindu-positive-1",
        "Hindus",
        "brave",
        "positive",
    )
    prompt = stub.asked[0][1]
    assert "10 negative attributes" in prompt
    assert "Hindus" in prompt
    assert prompt.endswith("\n1.")
    assert "{" not in prompt
    assert stub.limits == [120]


def test_who_gives_too_little_is_asked_again(english: tuple[Identities, PairTemplates]) -> None:
    def answer(text: str, number: int) -> str:
        if "Sikhs" in text and "negative" in text:
            return ["I cannot answer that.", "brave, calm", "1. calm\n2. proud", "!!"][number - 1]
        return ", ".join(WORDS)

    stub = Stub(answer, is_chat=True)
    proposals = propose_attributes(stub, *english, seed=47)
    assert [len(asked) for asked in stub.asked] == [88, 1, 1, 1]
    assert len(set(stub.seeds)) == 4
    assert proposals.short == {"religion-sikh-negative": 7}
    mine = [each.attribute for each in proposals.found if each.tuple_id.startswith("religion-sikh-negative")]
    assert mine == ["brave", "calm", "proud"]
    lost = proposals.lost.filter(proposals.lost["asked_for"] == "religion-sikh-negative")
    assert lost.select("tried", "text", "reason").rows() == [
        (1, "I cannot answer that.", "no-item"),
        (3, "calm", "repeated"),
        (4, "!!", "no-word"),
    ]
    assert not stub.asked[0][0].endswith("1.")


def test_sentences_of_tuples(english: tuple[Identities, PairTemplates]) -> None:
    each = BiasTuple("k", "en", "caste", "Kshatriya", "brave", "positive", score=3, annotators=3)
    texts = [f"In the village number {n} the Kshatriyas were brave." for n in range(7)]
    stub = Stub(lambda *_: f"{texts[0]}\n2. Nothing here.\n" + "\n".join(f"{n}. {t}" for n, t in enumerate(texts, 3)))
    proposals = propose_sentences(stub, [each], *english, seed=1)
    assert [one.sentence for one in proposals.found] == texts[:5]
    assert [one.sentence_id for one in proposals.found] == [f"k-s{n}" for n in range(1, 6)]
    assert "brave" in stub.asked[0][0]
    assert set(proposals.lost["reason"]) == {"too-short", "repeated", "beyond-count"}
