"""rules/joined_groups.smk: jobs that are sent to a cluster as one, on plans that change."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake.api  # noqa: F401 - its parts import one another; this is the way in
from snakemake.dag import DAG
from snakemake.exceptions import WorkflowError

Job = Any
Joined = Callable[[Any], dict[Job, frozenset[Job]]]


def read_rules(project_root: Path) -> Any:
    """The rules as a module; reading them replaces a method of Snakemake."""
    loader = SourceFileLoader("joined_groups", str(project_root / "rules" / "joined_groups.smk"))
    spec = spec_from_loader("joined_groups", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def joined_jobs(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Joined:
    """The function of the rules."""
    monkeypatch.setattr(DAG, "update_groups", DAG.update_groups)
    module = read_rules(project_root)
    assert DAG.update_groups is module.update_groups
    found: Joined = module.joined_jobs
    return found


def test_a_snakemake_with_other_names_is_refused_with_a_sentence(
    project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = DAG.update_groups
    monkeypatch.delattr(DAG, "_check_groups")
    with pytest.raises(
        WorkflowError, match=r"\(it has no DAG\._check_groups\)\. Install the version of requirements\.lock"
    ):
        read_rules(project_root)
    assert DAG.update_groups is before


class Plan:
    """What the function asks of Snakemake's plan."""

    def __init__(self, needs: dict[Job, list[Job]], finished: set[Job], running: list[Job]) -> None:
        self.dependencies = {job: {each: {"file"} for each in needed} for job, needed in needs.items()}
        self.finished = finished
        self._running = running

    def needrun_jobs(self) -> list[Job]:
        return [job for job in self.dependencies if job not in self.finished]


class Planned:
    """A job: itself, whatever it is called."""

    def __init__(self, name: str, group: str | None = None) -> None:
        self.name, self.group = name, group

    def is_group(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self.name


def test_a_job_that_came_to_a_known_group_is_in_it(joined_jobs: Joined) -> None:
    """As when the first model was looked at: `list` is planned anew, and what is below it was there before."""
    embed, before, later = Planned("embed", "g"), Planned("list", "g"), Planned("list", "g")
    for end in (before, later):
        assert joined_jobs(Plan({embed: [], end: [embed]}, set(), [])) == {
            embed: frozenset({embed, end}),
            end: frozenset({embed, end}),
        }


def test_what_runs_stays_as_it_was_sent(joined_jobs: Joined) -> None:
    """Sent again with what came to it, it would run twice at a time."""
    embed, new = Planned("embed", "g"), Planned("new", "g")
    sent = SimpleNamespace(jobs=frozenset({embed}), is_group=lambda: True)
    joined = joined_jobs(Plan({embed: [], new: [embed]}, set(), [sent, Planned("alone")]))
    assert joined == {embed: frozenset({embed}), new: frozenset({new})}


@pytest.mark.parametrize("seed", range(30))
def test_jobs_of_a_group_are_together_if_a_path_joins_them(joined_jobs: Joined, seed: int) -> None:
    rng = random.Random(seed)
    jobs = [Planned(f"{n}", rng.choice([None, "g", "h"])) for n in range(rng.randrange(1, 25))]
    needs = {job: rng.sample(jobs[:n], min(n, rng.randrange(3))) for n, job in enumerate(jobs)}
    finished = {job for job in jobs if rng.random() < 0.2}
    joined = joined_jobs(Plan(needs, finished, []))

    grouped = [job for job in jobs if job.group is not None and job not in finished]
    assert joined.keys() == set(grouped)
    slow = {job: {job} for job in grouped}
    for _ in grouped:
        for job in grouped:
            for needed in needs[job]:
                if needed in slow and needed.group == job.group:
                    slow[job] |= slow[needed]
                    slow[needed] |= slow[job]
    assert joined == {job: frozenset(together) for job, together in slow.items()}
