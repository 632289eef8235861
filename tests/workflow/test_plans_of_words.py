"""What a plan says of words, classes and names, before anything is made: in a fresh tree, since nothing runs."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from small_study import SMALL, Study, copy_code

pytestmark = pytest.mark.workflow


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


def test_a_comparison_of_nothing_is_told_and_no_rule_is_missed(fresh: Study) -> None:
    fresh.configure({"comparison": {"paper": "sahoo2024"}})
    printed = fresh.run("--dry-run")
    assert printed.count("Warning: `comparison.paper` is sahoo2024, but nothing will be compared") == 1
    assert "localrules" not in printed


def test_cached_vectors_that_are_missing_are_counted_with_those_of_twins(fresh: Study) -> None:
    fresh.configure({"embeddings": {"source": "cached"}, "associations": {"random_twins": 2}})
    done = fresh.snakemake("--dry-run")
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    assert "(and 23 more like this)" in printed
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


def test_a_plan_looks_for_garbage_seldom(fresh: Study) -> None:
    """A quarter of its time went into that: what it makes stays."""
    fresh.append("rules/groups.smk", "\n\nimport gc\n\nprint('after', gc.get_threshold()[0])\n")
    assert "after 7000\n" in fresh.run("--dry-run")
