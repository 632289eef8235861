"""Read the tests of log-probability bias in the notebook of Sadhu et al. (2024), with their sentences and words.

The notebook (`Log_Probability_bias_for_all_Categories_in_Bangla.ipynb`, in their repository) assigns each list of words
to a name and scores them in sentences, GGG for the target and XXX for the attribute:

    male_words = ["...", ...]
    pd.DataFrame([bias_score("GGG ... XXX ...", [male_words, female_words], w) for w in career_words])

Its lists differ from CEAT's. The cells are parsed and never run; other cells and lines are skipped.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.yaml import read_json_object
from prasanga.lexicon.model import AUTHORS_LANGUAGE, spelling_of

NOTEBOOK = ".ipynb"
_CATEGORIES = {
    ("flower_words", "pleasant_words"): "C1",
    ("instrument_words", "pleasant_words"): "C2",
    ("male_names", "pleasant_words"): "C3",
    ("male_names", "career_words"): "C4",
    ("male_words", "career_words"): "C5",
    ("math_words", "male_words"): "C6",
    ("math_words", "male_names"): "C7",
    ("science_words", "male_words"): "C8",
    ("science_words", "male_names"): "C9",
}
"""The categories by the names of their first lists of targets and of attributes, which an exchanged test swaps."""

WordLists = dict[str, tuple[str, ...]]


class NotebookTest(NamedTuple):
    """The cell of a category.

    Attributes:
        sentences: each once, in order; the notebook scores them for each attribute set.
        targets: the words of GGG, by the names of the two lists.
        attributes: the words of XXX.
    """

    sentences: tuple[str, ...]
    targets: WordLists
    attributes: WordLists


def read_notebook(path: Path, normalization: str | None) -> dict[str, dict[str, NotebookTest]]:
    """Return the tests by category, under `categories` as the paper describes them, under `exchanged` in reverse.

    Raises:
        InputError: the file is not JSON.
    """
    spelled = spelling_of(AUTHORS_LANGUAGE, normalization)
    tests: dict[str, dict[str, NotebookTest]] = {"categories": {}, "exchanged": {}}
    lists: WordLists = {}
    for cell in read_json_object(path).get("cells", ()):
        sentences, targets, attributes = dict[str, None](), WordLists(), WordLists()
        for node in ast.walk(_parse(cell)):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=words)):
                    texts = [word.value for word in words if isinstance(word, ast.Constant)]
                    lists[name] = tuple(spelled(str(text)).strip() for text in texts)
                case ast.ListComp(
                    elt=ast.Call(
                        func=ast.Name(id="bias_score"),
                        args=[ast.Constant(value=str(text)), ast.List(elts=[ast.Name(id=one), ast.Name(id=two)]), *_],
                    ),
                    generators=[ast.comprehension(iter=ast.Name(id=name))],
                ) if {one, two, name} <= lists.keys():
                    sentences[spelled(text)] = None
                    targets |= {one: lists[one], two: lists[two]}
                    attributes[name] = lists[name]
        first = next(iter(targets), ""), next(iter(attributes), "")
        for section, key in (("categories", first), ("exchanged", first[::-1])):
            if key in _CATEGORIES and len(attributes) == 2:
                tests[section][_CATEGORIES[key]] = NotebookTest(tuple(sentences), targets, attributes)
    return tests


def take_words(
    categories: Mapping[str, Mapping[str, Any]], path: Path, exchanged: Collection[str], normalization: str | None
) -> dict[str, Mapping[str, Any]]:
    """Return categories with the notebook's words, whose lists are neither matched nor clustered.

    Args:
        categories: in the layout of `prasanga.lexicon.model.chosen_categories`; one without a test is unchanged.
        path: the notebook.
        exchanged: categories for which the reverse test is used.
        normalization: the study's, if not the language's own.

    Raises:
        InputError: as `read_notebook`.
    """
    tests, taken = read_notebook(path, normalization), dict(categories)
    for name, layout in categories.items():
        test = tests["exchanged" if name in exchanged else "categories"].get(name)
        if test is not None:
            sides = [[{"name": key, "stimuli": list(words)} for key, words in side.items()] for side in test[1:]]
            targets, attributes = sides[::-1] if name in exchanged else sides
            taken[name] = {"title": layout["title"], "targets": targets, "attributes": attributes}
    return taken


def _parse(cell: Mapping[str, Any]) -> ast.AST:
    """Return the tree of a code cell; an empty tree for text, or for notebook commands (!pip, %cd)."""
    try:
        return ast.parse("".join(cell.get("source", "")) if cell.get("cell_type") == "code" else "")
    except SyntaxError:
        return ast.Module([], [])
