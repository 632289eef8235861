"""The patches of docs/extending.md: each applies to a copy of the tree, touches few files, and runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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


@pytest.fixture
def copied(tmp_path: Path, project_root: Path) -> Study:
    """A copy of code, tests and docs, with times and with what was compiled of them, which then need not be again."""
    others = shutil.ignore_patterns("*.egg-info", "*.pyc.*", "*.tmp.*")  # what others are compiling comes and goes
    for name in (*CODE, "tests", "docs", "pyproject.toml"):
        source = project_root / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=others)
        else:
            shutil.copyfile(source, tmp_path / name)
    return Study(tmp_path)


def apply(heading: str, study: Study, project_root: Path) -> list[str]:
    """Apply the patches under a heading of the page, and return the files that they touch."""
    page = (project_root / "docs/extending.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    patch = "".join(re.findall(r"^```diff\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE))
    done = subprocess.run(
        ["git", "apply", "-"], input=patch, cwd=study.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return re.findall(r"^\+\+\+ b/(.+)$", patch, flags=re.MULTILINE)


def run_tests(study: Study, *paths: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths],
        cwd=study.root,
        env={**os.environ, "PYTHONPATH": str(study.root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("heading", "at_most", "also"),
    [
        ("A new statistic", 6, "tests/unit/test_methods.py"),
        ("A new figure", 3, "tests/unit/report/test_figure_registry.py"),
        ("A new layout of pairs", 3, "tests/unit/pairs/test_reading_pairs.py"),
    ],
)
def test_a_patch_touches_few_files_and_passes_its_tests(
    copied: Study, project_root: Path, heading: str, at_most: int, also: str
) -> None:
    touched = apply(heading, copied, project_root)
    assert len(set(touched)) == len(touched) <= at_most
    its_tests = [path for path in touched if path.startswith("tests/")]
    assert its_tests
    run_tests(copied, *its_tests, also)


def test_a_new_statistic_is_measured_and_counts_in_the_family_of_tests(copied: Study, project_root: Path) -> None:
    apply("A new statistic", copied, project_root)
    (copied.root / "vectors.txt").write_text(VECTORS, encoding="utf-8")
    scorer = {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 4}, "stages": ["likelihoods"]}
    study = {**yaml.safe_load(EVERY.read_text(encoding="utf-8")), **SMALL, "models": {"unused": scorer}}
    study["static"] = {"vectors": {"given": {"path": "vectors.txt"}}}
    (copied.root / "config.yaml").write_text(yaml.safe_dump(study, allow_unicode=True), encoding="utf-8")
    copied.run("results/associations/norm_distance.parquet")
    found = pl.read_parquet(copied.root / "results/associations/norm_distance.parquet")
    (row,) = found.filter(pl.col("effect_size").is_not_null()).iter_rows(named=True)
    assert row["category"] == "C1"
    # one test of this statistic, one of WEAT
    assert row["n_tests"] == 2
    assert row["p_association_holm"] >= row["p_stimuli"]
