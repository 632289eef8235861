"""What a local model is asked: for attributes of people, and for sentences about them.

The kind of prompt is that of IndiBias (Sahoo et al. 2024, Table 5), the wording is this project's and stands in the
file of templates, in the language of the study, so that it can be changed there.
"""

from __future__ import annotations

from prasanga.construction.identities import Axis, Term
from prasanga.construction.templates import Prompts
from prasanga.construction.tuples import BiasTuple


def attribute_prompt(prompts: Prompts, axis: Axis, term: Term, polarity: str, *, count: int, chat: bool) -> str:
    """Asks for `count` attributes of one polarity that people ascribe to a term.

    Args:
        prompts: from the file of templates.
        axis: of the term.
        term: the identity term.
        polarity: `positive` or `negative`.
        count: how many.
        chat: for a model that answers questions; others go on from the opening of the list.
    """
    words = {"axis": axis.title, "identity": term.forms["people"][0], "polarity": prompts.polarities[polarity]}
    return _filled(prompts.attributes, {**words, "count": str(count)}, "" if chat else prompts.opening)


def sentence_prompt(prompts: Prompts, axis: Axis, term: Term, each: BiasTuple, *, count: int, chat: bool) -> str:
    """Asks for `count` sentences in which people of a term are said to have a tuple's attribute; as above."""
    words = {
        "axis": axis.title,
        "identity": term.forms["people"][0],
        "polarity": prompts.polarities[each.polarity],
        "attribute": each.attribute,
    }
    return _filled(prompts.sentences, {**words, "count": str(count)}, "" if chat else prompts.opening)


def _filled(prompt: str, words: dict[str, str], opening: str) -> str:
    for name, word in words.items():
        prompt = prompt.replace(f"{{{name}}}", word)
    return f"{prompt.strip()}\n{opening}".strip()
