"""The studies that a reader of the site makes first, through Snakemake, with the files and commands of the pages."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from doc_pages import blocks, commands
from small_study import Study, copy_code

pytestmark = pytest.mark.workflow

FIRST, LANGUAGE = "docs/first_study.md", "docs/my_language.md"
MINE = "my_first/study.yaml"
STARTED = ("--snakefile", "Snakefile", "--directory", "my_first")
"""What `prasanga run my_first` comes to."""


@pytest.fixture
def tree(project_root: Path, tmp_path: Path) -> Study:
    """A fresh clone to type the commands in."""
    return copy_code(project_root, tmp_path / "tree", link_source=True)


def arguments(page: str, config: str) -> list[list[str]]:
    """What the page has typed after `snakemake` with its config, in order."""
    typed = [shlex.split(command)[1:] for _, command in commands(page, "snakemake")]
    return [each for each in typed if config in each]


@pytest.fixture
def first(tree: Study) -> dict[str, Any]:
    """The config of the page, written where the page has it, with less training and fewer files of each figure."""
    [written] = [yaml.safe_load(block.code) for block in blocks(FIRST) if block.code.startswith("study: my-first")]
    written["models"]["tiny"]["train"] |= {"steps": 4, "hidden_size": 16}
    written |= {"report": {"formats": ["svg"], "widths": ["page"]}}
    (tree.root / MINE).parent.mkdir()
    (tree.root / MINE).write_text(yaml.safe_dump(written), encoding="utf-8")
    return written


@pytest.mark.usefixtures("first")
def test_the_first_study_is_planned(tree: Study) -> None:
    assert [command for _, command in commands(FIRST, "prasanga")] == [
        "prasanga plan my_first",
        "prasanga run my_first",
    ]
    planned = tree.plan(*STARTED)
    assert planned["measure_ceat"] == 4, "two lengths, the model and its twin"
    assert planned["write_page"] == 1


@pytest.mark.long
def test_the_first_study_runs(tree: Study, first: dict[str, Any]) -> None:
    tree.run(*STARTED)
    results = tree.root / "my_first/results"
    assert "My first study" in (results / "report/index.html").read_text(encoding="utf-8")
    ceat = pl.read_parquet(results / "associations/ceat.parquet")
    assert set(ceat["category"]) == {"C1", "C5"}
    assert set(ceat["segment_length"]) == {"9", "25"}
    (tree.root / MINE).write_text(yaml.safe_dump(first | {"associations": {"n_samples": 2000}}), encoding="utf-8")
    again = tree.plan(*STARTED)
    assert again["measure_ceat"] == 4
    assert again["write_page"] == 1
    assert not {"extract_sentences", "draw_samples", "train_model", "embed_segments", "train_static"} & again.keys()


def test_a_language_of_ones_own(tree: Study) -> None:
    """The plan and the audit, with a text of the page's own words."""
    for block in blocks(LANGUAGE):
        if block.title:
            path = tree.root / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code.replace("<commit>", "0a" * 20), encoding="utf-8")
    name = "config/assamese.yaml"
    text = tree.root / "corpora/as/text.txt"
    text.parent.mkdir(parents=True)
    text.write_text("তাই গোলাপৰ বাগিচাত গোলাপজল ছটিয়ালে।\nপৰুৱাবোৰক সুখ নালাগে।\n" * 3, encoding="utf-8")
    look, audit = arguments(LANGUAGE, name)
    planned = tree.plan(*look)
    assert planned["extract_sentences"] == 1
    assert planned["check_model"] == 1
    assert audit[0] == "audit_sentences"
    tree.run(*audit)
    hits = pl.read_parquet(next((tree.root / "results/sentences").glob("corpora-as-text.parquet")))
    assert set(hits["form"]) == {"গোলাপৰ", "পৰুৱাবোৰক", "সুখ"}
