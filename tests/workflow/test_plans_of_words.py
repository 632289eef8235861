"""What a plan says of words, classes and names, before anything is made: in a fresh tree, since nothing runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from small_study import SMALL, Study, copy_code

pytestmark = pytest.mark.workflow

FLOWERS = "resources/stimuli/bn/flowers.yaml"


@pytest.fixture
def fresh(project_root: Path, tmp_path: Path) -> Study:
    study = copy_code(project_root, tmp_path / "study", link_source=True)
    study.configure({**SMALL, "seat": {"categories": ["C1"]}})
    return study


def lists_of_the_paper(study: Study) -> None:
    """Categories in the layout of Sadhu et al., whose classes are their sets."""
    words = {"targ1": ["ক", "খ"], "targ2": ["গ", "ঘ"], "attr1": ["চ", "ছ"], "attr2": ["জ", "ঝ"]}
    content = {side: {"category": side, "examples": listed} for side, listed in words.items()}
    (study.root / "paper").mkdir()
    (study.root / "paper/ceat1.jsonl").write_text(json.dumps(content), encoding="utf-8")
    study.configure({"lexicon": {"stimuli": "paper", "suffix_groups": None}, "categories": ["C1"]})


def one_flower(study: Study) -> None:
    path = study.root / FLOWERS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    words = [number for number, line in enumerate(lines) if "stimulus:" in line]
    path.write_text("".join(lines[: words[1]]), encoding="utf-8")


MISTAKES: dict[str, tuple[Callable[[Study], object], tuple[str, ...]]] = {
    "a class that the templates lack": (
        lambda s: s.edit(FLOWERS, "class: thing", "class: thng"),
        (f"{FLOWERS}, line ", "has the class `thng`", "Did you mean `thing`?", "more of `seat.categories`"),
    ),
    "a class that was renamed in the templates": (
        lambda s: s.edit("resources/templates/bn/seat.yaml", "\n  thing:", "\n  things:"),
        (f"{FLOWERS}, line ", "has the class `thing`", "Did you mean `things`?"),
    ),
    "words without a class": (
        lambda s: s.edit(FLOWERS, "class: thing\n", ""),
        (f"{FLOWERS}, line ", "has no class of word", "Write `class:`"),
    ),
    "word lists whose sets have no templates": (
        lists_of_the_paper,
        ("is in the set targ1, for which", "`seat: {categories: []}`", "stimuli: resources/stimuli/bn"),
    ),
    "a set of one word": (one_flower, (f"{FLOWERS}: the set 'flowers' of the category C1 has 1 word", "needs 2")),
    "templates of another language": (
        lambda s: s.configure({"seat": {"templates": "resources/templates/hi/seat.yaml"}}),
        ("are for 'hi'. Write `seat: {templates: resources/templates/bn/seat.yaml}`",),
    ),
    "vectors with the name of a model": (
        lambda s: s.configure({"static": {"vectors": {"tiny-a": {"train": {"method": "glove"}}}}}),
        ("`static.vectors.tiny-a` has the name of a model", "tiny-a-static"),
    ),
}


def test_templates_of_the_paper_are_a_folder_beside_its_words(fresh: Study) -> None:
    lists_of_the_paper(fresh)
    (fresh.root / "seat").mkdir()
    content = {side: {"category": side, "templates": ["এটি XXX।"]} for side in ("targ1", "targ2", "attr1", "attr2")}
    (fresh.root / "seat/seat1.jsonl").write_text(json.dumps(content), encoding="utf-8")
    fresh.configure({"seat": {"templates": "seat"}})
    fresh.run("results/samples/templates.parquet")
    texts = pl.read_parquet(fresh.root / "results/samples/templates.parquet")["text"].to_list()
    assert texts == [f"এটি {word}।" for word in "কখগঘচছজঝ"]
    assert "fill_templates" not in fresh.plan("results/samples/templates.parquet")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_while_planning(fresh: Study, mistake: str) -> None:
    change, words = MISTAKES[mistake]
    change(fresh)
    done = fresh.snakemake("--dry-run")
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    for word in words:
        assert word in printed, printed[-3000:]
    assert "Traceback" not in printed, printed[-3000:]


def test_a_comparison_of_nothing_is_told_and_no_rule_is_missed(fresh: Study) -> None:
    fresh.configure({"comparison": {"paper": "sahoo2024"}})
    printed = fresh.run("--dry-run")
    assert printed.count("Warning: `comparison.paper` is sahoo2024, but nothing will be compared") == 1
    assert "localrules" not in printed


def test_cached_vectors_that_are_missing_may_be_those_of_twins(fresh: Study) -> None:
    fresh.configure({"embeddings": {"source": "cached"}, "associations": {"random_twins": 2}})
    done = fresh.snakemake("--dry-run")
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    assert "(and 23 more like this)" in printed
    assert "12 of these 24 are of twins with random weights (associations.random_twins); without them: `asso" in printed
    assert "8 of these 24 are of sentences for SEAT; without it: `seat: {categories: []}`." in printed
    assert printed.count("{source: computed}") == 1
    assert "localrules" not in printed


def test_a_gloss_in_the_templates_is_in_no_sentence(fresh: Study) -> None:
    target = "results/samples/templates.parquet"
    fresh.run(target)
    assert fresh.plan(target) == {}
    fresh.edit("resources/templates/bn/seat.yaml", 'gloss: "', 'gloss: "now ')
    assert fresh.plan(target) == {}
    fresh.edit(
        "resources/templates/bn/seat.yaml",
        'thing:\n    - {id: this-is, text: "',
        'thing:\n    - {id: this-is, text: "আজ ',
    )
    assert fresh.plan(target) == {"fill_templates": 1}
