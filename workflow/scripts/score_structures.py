"""Traits in the sentence structures to the scores that a model and its random copies give them."""

from functools import partial
from pathlib import Path
from typing import Any

from prasanga.associations.comparisons import of_twins
from prasanga.likelihoods.stage import Job, known_scores, trait_shares
from prasanga.likelihoods.structures import StructureTables, score_structures
from prasanga.runner import Task

task = Task(snakemake, "likelihoods")
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)


def score(settings: dict[str, Any], shares: Any, known: Any, twin: int | None) -> StructureTables:
    """Score the traits by a model, or by one of its twins."""
    choices = {key: settings[key] for key in ("pieces", "terms")}
    tables = score_structures(known[twin or 0], shares[twin or 0], model=settings["name"], **choices)
    return StructureTables._make(table.to_arrow() for table in tables)


for number, (name, asked) in enumerate(task.params.structures.items()):
    settings, shares = {**asked, "name": name}, trait_shares(asked)
    buckets = [path for path in task.input.buckets if Path(path).parent.name == name]
    known = known_scores(shares, "structures", settings, job, buckets)
    n_twins = len(shares) if "twins" in asked["which"] else None
    made_from = task.describe(asked, libraries=["torch", "transformers", "tokenizers"])
    for table, content in of_twins(n_twins, partial(score, settings, shares, known))._asdict().items():
        task.write(task.output[table][number], content, made_from)
