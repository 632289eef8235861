"""What every rule, script and profile of the workflow must keep to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from small_study import Study

RULE = re.compile(
    r"^\s*(?:rule|checkpoint) (\w+):\n(.*?)(?=^\s*(?:rule|checkpoint) \w+:|^\S|\Z)", re.MULTILINE | re.DOTALL
)


def rules(project_root: Path) -> dict[str, str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in rule_files(project_root))
    return dict(RULE.findall(text))


def rule_files(project_root: Path) -> list[Path]:
    return [*sorted((project_root / "rules").glob("*.smk")), project_root / "construction/construction.smk"]


def test_work_is_done_by_scripts_so_that_the_fingerprint_sees_it(project_root: Path) -> None:
    found = rules(project_root)
    assert {"compile_forms", "embed_segments", "write_page"} <= set(found)
    for name, body in found.items():
        assert "shell:" not in body, name
        assert "run:" not in body, name
        if "output:" in body:
            assert {"script:", "log:"} <= set(re.findall(r"\w+:", body)), name


def test_a_plan_waits_for_no_compiler_and_no_model_library(project_root: Path) -> None:
    """Snakemake reads the rules for every plan, and in every job of a cluster."""
    imports = re.compile(r"^from prasanga[\w.]* import (?:\([^)]*\)|.*)$", re.MULTILINE)
    files = [*rule_files(project_root), project_root / "Snakefile"]
    lines = [found[0] for path in files for found in imports.finditer(path.read_text(encoding="utf-8"))]
    assert len(lines) > 10
    slow = ("torch", "transformers", "scipy", "numba", "matplotlib", "gensim", "statsmodels")
    program = "\n".join([*lines, "import sys", f"print([name for name in {slow} if name in sys.modules])"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_rule_says_what_it_makes(project_root: Path) -> None:
    for name, body in rules(project_root).items():
        assert re.match(r'\s*"""\w', body), name


def test_scripts_are_adapters(project_root: Path) -> None:
    scripts = [
        path for place in ("workflow", "construction") for path in (project_root / place / "scripts").glob("*.py")
    ]
    used = "\n".join(path.read_text(encoding="utf-8") for path in rule_files(project_root))
    for path in scripts:
        code = path.read_text(encoding="utf-8")
        assert path.name in used, f"{path.name} belongs to no rule"
        assert "snakemake.config" not in code, "what a job needs goes through params, which Snakemake tracks"
        assert len(code.splitlines()) <= 60, path.name


def test_the_lock_file_pins_torch_for_every_machine(project_root: Path) -> None:
    lines = (project_root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert "torch==2.13.0" in lines
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+", pin) for pin in pins), "no hash, index or local version"
    assert not [pin for pin in pins if pin.lower().startswith(("nvidia", "cuda", "triton"))]


def test_construction_imports_neither_the_page_nor_what_measures(project_root: Path) -> None:
    names = ("embeddings", "likelihoods", "static", "associations", "report")
    rooms = ("snakemake", *(f"prasanga.{name}" for name in names))
    for path in (project_root / "construction/prasanga_construction").rglob("*.py"):
        found = re.findall(r"^\s*(?:from|import) ([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert not [name for name in found if name.startswith(rooms)], path


@pytest.mark.workflow
@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_every_profile_plans_the_study(finished: Study, profile: str) -> None:
    assert finished.plan("--workflow-profile", f"profiles/{profile}") == {}


@pytest.mark.workflow
def test_models_of_the_run_ask_for_a_gpu_and_take_a_core_each_where_there_is_none(finished: Study) -> None:
    printed = finished.run("--dry-run", "--forcerun", "embed_segments")
    jobs = re.findall(r"^rule embed_segments:\n((?:    .*\n)+)", printed, re.MULTILINE)
    assert len(jobs) == 2
    for job in jobs:
        assert {"gpu=1", "cards=0"} <= set(re.split(r"[ ,\n]+", job)), job
        assert "threads:" not in job, job  # Snakemake says how many where there are several


@pytest.mark.workflow
def test_the_results_are_exactly_these(finished: Study) -> None:
    finished.check_results("ceat", "")


@pytest.mark.workflow
def test_every_estimate_is_there(finished: Study) -> None:
    table = pq.read_table(finished.root / "results/associations/ceat.parquet").to_pylist()
    keys = {(row["category"], row["model"], row["segment_length"]) for row in table}
    assert len(table) == len(keys) == 2 * 2 * 3  # mean, 9, >75
    for row in table:
        assert row["n_samples"] == 40
        assert -2 <= row["effect_size"] <= 2
        assert row["segment_length"] == "mean" or 0 <= row["p_draws"] <= 1
        assert row["n_x"] == row["listed_x"], row["lost"]
