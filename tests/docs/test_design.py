"""The patches of docs/design.md: each applies to one copy of the tree, touches few files, and runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
import yaml
from small_study import CODE, EVERY, SMALL, Study

pytestmark = pytest.mark.workflow

# Word 1 to 4 of the sets of C1 and C5, each with a vector.
VECTORS = "\n".join(f"{word} {n % 3 - 1} {n % 5} {n % 7}" for n, word in enumerate(
    ("গোলাপ", "পদ্ম", "জবা", "শাপলা", "মশা", "মাছি", "পোকা", "উইপোকা", "সুখ", "শান্তি", "ভালোবাসা", "ঘৃণা", "মৃত্যু", "যুদ্ধ")
))  # fmt: skip


AT_MOST = {"new_statistic": 5, "new_figure": 3, "new_layout": 2}
"""Files that a patch may touch, by its name in docs/examples."""
REGISTRIES = ("test_methods.py", "report/test_figure_registry.py", "pairs/test_reading_pairs.py")
"""Tests of what the patches add to."""


@pytest.fixture(scope="module")
def touched() -> dict[str, list[str]]:
    """The files that each patch touches; `patched` fills it."""
    return {}


@pytest.fixture(scope="module")
def patched(
    tmp_path_factory: pytest.TempPathFactory, project_root: Path, touched: dict[str, list[str]]
) -> Iterator[Study]:
    """A patched copy of code, tests and docs, with times and with what was compiled of them."""
    folder = tmp_path_factory.mktemp("patched")
    others = shutil.ignore_patterns("*.egg-info", "*.pyc.*", "*.tmp.*")  # what others are compiling comes and goes
    for name in (*CODE, "tests", "docs", "pyproject.toml"):
        source = project_root / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=others)
        else:
            shutil.copyfile(source, folder / name)
    study = Study(folder)
    touched |= {name: apply(name, study, project_root) for name in AT_MOST}
    yield study
    shutil.rmtree(folder)


def apply(name: str, study: Study, project_root: Path) -> list[str]:
    """Apply a patch, and return the files that it touches."""
    path = project_root / f"docs/examples/{name}.patch"
    done = subprocess.run(["git", "apply", str(path)], cwd=study.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return re.findall(r"^\+\+\+ b/(.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_patches_touch_few_files_and_pass_their_tests(patched: Study, touched: dict[str, list[str]]) -> None:
    assert {name: len(paths) for name, paths in touched.items() if len(paths) > AT_MOST[name]} == {}
    assert all(len(set(paths)) == len(paths) for paths in touched.values())
    own = [[path for path in paths if path.startswith("tests/")] for paths in touched.values()]
    assert all(own)
    tests = {*chain.from_iterable(own), *(f"tests/unit/{name}" for name in REGISTRIES)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sorted(tests)],
        cwd=patched.root,
        env={**os.environ, "PYTHONPATH": str(patched.root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_statistic_is_measured_and_counts_in_the_family_of_tests(patched: Study) -> None:
    (patched.root / "vectors.txt").write_text(VECTORS, encoding="utf-8")
    scorer = {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 4}, "stages": ["likelihoods"]}
    study = {**yaml.safe_load(EVERY.read_text(encoding="utf-8")), **SMALL, "models": {"unused": scorer}}
    study["static"] = {"vectors": {"given": {"path": "vectors.txt"}}}
    (patched.root / "config.yaml").write_text(yaml.safe_dump(study, allow_unicode=True), encoding="utf-8")
    patched.run("results/associations/norm_distance.parquet")
    found = pl.read_parquet(patched.root / "results/associations/norm_distance.parquet")
    (row,) = found.filter(pl.col("effect_size").is_not_null()).iter_rows(named=True)
    assert row["category"] == "C1"
    # one test of this statistic, one of WEAT
    assert row["n_tests"] == 2
    assert row["p_association_holm"] >= row["p_stimuli"]
