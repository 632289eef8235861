"""Adapter: all vectors of a study to every estimate under all choices."""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from prasanga.base.documents import guarded, read_document
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, replacing, write_table
from prasanga.embeddings.shards import StoredEmbeddings, read_embeddings
from prasanga.extras.multiverse import (
    Source,
    measure_multiverse,
    variants_of_contexts,
    variants_of_sentences,
    variants_of_words,
)
from prasanga.lexicon.model import stimuli_of
from prasanga.static import read_looked_up

log_to(snakemake.log[0])
settings: dict[str, Any] = snakemake.params.multiverse
categories = {method: snakemake.params.categories[method] for method in settings["categories"]}
templates: dict[str, dict[str, int]] = {}
for row in (row for path in snakemake.input.sentences for row in read_table(path).to_pylist()):
    places = templates.setdefault(row["stimulus"], {})
    places[row["occurrence_id"]] = len(places)


def sources() -> Iterator[Source]:
    """Each list of vectors, read when its turn comes."""
    for path, about in settings["sources"].items():
        stimuli = stimuli_of(categories[about["method"]])
        if about["method"] == "ceat":
            variants = variants_of_contexts(StoredEmbeddings(path, stimuli=stimuli), seed=settings["seed"])
        elif about["method"] == "seat":
            variants = variants_of_sentences(read_embeddings(path, stimuli=stimuli), templates)
            how = json.loads(read_document(path)["made_from"]["settings"])["sentence_vector"]
            about = {**about, "choices": {**about["choices"], "sentence_vector": how}}
        else:
            variants = variants_of_words(read_looked_up(path)[0])
        yield Source(**about, variants=variants)


table = measure_multiverse(categories, sources(), seed=settings["seed"], repeated_words=settings["repeated_words"])
made_from = describe("associations", inputs=snakemake.input, settings=settings, libraries=["numpy", "scipy"])
write_table(snakemake.output.parquet, table, made_from)
with replacing(snakemake.output.csv) as temporary:
    guarded(pl.DataFrame(table)).write_csv(temporary)
