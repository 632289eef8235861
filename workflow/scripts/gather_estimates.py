"""Gather the estimates of all jobs in one table per method, corrected together, with words, templates, comparisons."""

from collections.abc import Iterable

import pyarrow as pa

from prasanga.associations.comparisons import adjust, correct_tests, differences, gather, select_for_csv, settling
from prasanga.base.io import read_table
from prasanga.base.results import Task
from prasanga.methods import method_named

task = Task(snakemake, "associations")
methods, models, band = task.params.methods, task.params.models, task.params.band


def read(files: Iterable[str]) -> list[pa.Table]:
    """Tables of several jobs."""
    return [read_table(file).replace_schema_metadata() for file in files]


first = next(iter(methods))
results = task.output[0].removesuffix(f"{method_named(first).tables[0].path}.parquet")
effects, words = {}, {}
for name, parts in methods.items():
    task.require_one_version(parts["estimates"], parts["words"], *parts["twins"].values())
    twins = {model: read(files) for model, files in parts["twins"].items()}
    tokenizers = dict(zip(parts["tokenizers"], read(parts["tokenizers"].values()), strict=True))
    gathered = gather(read(parts["estimates"]), twins, permuted=method_named(name).permuted)
    of_words = pa.concat_tables(read(parts["words"]))
    effects[name], words[name] = adjust(gathered, of_words, read(parts["coverage"]), tokenizers)
made_from = task.describe()
for name, table in correct_tests(effects).items():
    path, parts = f"{results}{method_named(name).tables[0].path}", methods[name]
    task.write(f"{path}.parquet", table, made_from)
    task.write_csv(f"{path}.csv", select_for_csv(table, task.params.language))
    task.write(f"{path}_words.parquet", words[name], made_from)
    if files := parts["templates"]:
        task.require_one_version(files)
        templates = pa.concat_tables(read(files))
        task.write(f"{path}_templates.parquet", templates, task.describe(inputs=files))
        task.write_csv(f"{path}_templates.csv", templates)
    if name == "ceat":
        files = [*parts["resamples"], *parts["convergence"]]
        task.require_one_version(files)
        of_draws = task.describe({"band": band, "models": models}, files)
        resamples, convergence = (pa.concat_tables(read(parts[part])) for part in ("resamples", "convergence"))
        between = differences(table, resamples, words[name], task.params.categories, models=models)
        task.write(f"{path}_differences.parquet", between, of_draws)
        task.write(f"{path}_settling.parquet", settling(table, between, band=band), of_draws)
        task.write(f"{path}_convergence.parquet", convergence, of_draws)
