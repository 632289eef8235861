"""Categories in sentences to the log-probability bias that a model and its random copies show in them."""

from functools import partial
from pathlib import Path
from typing import Any

from prasanga.associations import TestSettings
from prasanga.associations.comparisons import of_twins
from prasanga.likelihoods.categories import score_categories
from prasanga.likelihoods.stage import Job, category_shares, flat, known_scores
from prasanga.runner import Task

task = Task(snakemake, "likelihoods")
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)


def score(settings: dict[str, Any], shares: Any, known: Any, twin: int | None) -> Any:
    """Score the categories by a model, or by one of its twins."""
    choices = {key: settings[key] for key in ("exchanged", "pieces", "terms", "seed")}
    test, number = TestSettings(**settings["test"]), twin or 0
    return score_categories(known[number], shares[number], model=settings["name"], settings=test, **choices)


for number, (name, asked) in enumerate(task.params.log_probability.items()):
    settings, shares = {**asked, "name": name}, category_shares(asked, task.params.categories)
    buckets = [path for path in task.input.buckets if Path(path).parent.name == name]
    known = known_scores(flat(shares), "log_probability", settings, job, buckets)
    n_twins = len(shares) if "twins" in asked["which"] else None
    made_from = task.describe(asked, libraries=["torch", "transformers", "tokenizers", "numpy", "scipy"])
    for table, content in of_twins(n_twins, partial(score, settings, shares, known))._asdict().items():
        task.write(task.output[table][number], content, made_from)
