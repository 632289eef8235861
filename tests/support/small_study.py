"""A small study in a copy of the tree, and what a test needs to change it and plan it again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml
from forks import run_snakemake

CODE = (
    *("Snakefile", "config.yaml", "config", "rules", "workflow", "profiles", "resources", "src"),
    *("construction", "calibration"),
)
EVERY = Path(__file__).parents[1] / "golden/every/study.yaml"
"""A study with every method, on tiny models that are trained in the run."""
CONFIGS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("study_configs.yaml").read_text(encoding="utf-8")
)
SMALL = CONFIGS["small"]


@dataclass
class Study:
    """A copy of the tree with its config and results, and Snakemake to run in it."""

    root: Path

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = yaml.safe_load((self.root / "config.yaml").read_text(encoding="utf-8"))
        return config

    def configure(self, changes: Mapping[str, Any]) -> None:
        """Write the config with `changes` laid over it, section by section."""
        config = self.config
        for key, value in changes.items():
            config[key] = {**config.get(key, {}), **value} if isinstance(value, Mapping) else value
        (self.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace `old`, which must stand in the file, by `new`."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def append(self, path: str, code: str) -> None:
        """Add lines at the end of a file."""
        with (self.root / path).open("a", encoding="utf-8") as file:
            file.write(code)

    def snakemake(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake as a user would, from the study's folder.

        Jobs are started greedily: Snakemake's other way asks a solver, in a process of its own, each time a job ends.
        In another environment it is a process of its own, and so are its jobs.
        """
        arguments = ("--cores", "2", "--scheduler", "greedy", *arguments)
        if not environment:
            return run_snakemake(self.root, arguments)
        return subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.root,
            env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *arguments: str, **keywords: Any) -> str:
        """Run to the end; returns what was printed."""
        done = self.snakemake(*arguments, **keywords)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def plan(self, *arguments: str, **keywords: Any) -> dict[str, int]:
        """{rule: number of jobs} that a run would start, without the targets that only collect."""
        printed = self.run("--dry-run", *arguments, **keywords)
        counts = dict(re.findall(r"^(\w+) +(\d+)$", printed, flags=re.MULTILINE))
        assert counts or "Nothing to be done" in printed, printed
        collecting = {"all", "total", "sentences", "embeddings", "associations", "likelihoods", "figures", "release"}
        return {rule: int(count) for rule, count in counts.items() if rule not in collecting}

    def copy(self, destination: Path) -> Study:
        """The study elsewhere, times and all."""
        shutil.copytree(self.root, destination, symlinks=True)
        return Study(destination)

    def check_results(self, name: str, *beginnings: str) -> None:
        """Check that the results whose paths begin so are those of `tests/workflow/results_of_<name>.txt`.

        Sentences and what is kept for later studies are passed over. Every table must carry what made it.
        """
        results = self.root / "results"
        files = [path for path in results.rglob("*") if path.is_file() and not {"kept", "store"} & set(path.parts)]
        names = sorted(path.relative_to(results).as_posix() for path in files)
        listed = Path(__file__).parents[1] / f"workflow/results_of_{name}.txt"
        assert [each for each in names if each.startswith(beginnings) and not each.startswith("sentences/")] == (
            listed.read_text(encoding="utf-8").splitlines()
        )
        for path in (path for path in files if path.suffix == ".parquet"):
            metadata = {key.decode() for key in pq.read_schema(path).metadata or {}}
            assert {"prasanga.stage", "prasanga.version", "prasanga.inputs", "prasanga.fingerprint"} <= metadata, path


def copy_code(
    project_root: Path, destination: Path, *, link_source: bool = False, keep_compiled: bool = False
) -> Study:
    """Copy the tree as a fresh clone has it: sources with new modification times, nothing made.

    Args:
        project_root: the tree.
        destination: where the copy is made.
        link_source: whether the package is that of the project and not a copy; for studies that change no code.
        keep_compiled: whether the package is copied with its times and with what was compiled of it, which then need
            not be compiled again.
    """
    for name in CODE:
        source, target = project_root / name, destination / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name == "src" and link_source:
            target.symlink_to(source, target_is_directory=True)
        elif name == "src" and keep_compiled:
            # what others are compiling comes and goes, and what numba has compiled is found without (compiled_once)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.egg-info", "*.pyc.*", "compiled-*"))
        elif source.is_dir():
            shutil.copytree(
                source,
                target,
                copy_function=shutil.copyfile,
                ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
            )
        else:
            shutil.copyfile(source, target)
    shutil.copyfile(EVERY, destination / "config.yaml")
    study = Study(destination)
    study.configure({})
    return study


def write_texts(study: Study, *, every: int) -> None:
    """Write every so manyth of the demo's documents to texts/demo.txt, a file that one job reads."""
    demo = sorted((study.root / "resources/demo/corpus/bn").glob("*.txt"))
    documents = [each for path in demo for each in path.read_text(encoding="utf-8").split("\n\n")]
    (study.root / "texts").mkdir()
    (study.root / "texts/demo.txt").write_text("\n\n".join(documents[::every]), encoding="utf-8")


def run_prasanga(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, in a process of its own and without the hub."""
    return subprocess.run(
        [sys.executable, "-m", "prasanga", *arguments],
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
