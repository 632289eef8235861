"""Adapter: the vectors that one model gives to sentences to the SEAT of every category."""

import json

from prasanga.associations import TestSettings
from prasanga.associations.comparisons import of_twins
from prasanga.associations.weat import measure_seat
from prasanga.base.documents import read_document
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, write_table
from prasanga.embeddings.shards import read_embeddings
from prasanga.lexicon.model import chosen_categories, read_categories, stimuli_of

log_to(snakemake.log[0])
settings = dict(snakemake.params.seat)
made_from = describe("associations", inputs=snakemake.input, settings=settings, libraries=["numpy", "scipy"])
categories = chosen_categories(read_categories(snakemake.input.categories), settings.pop("categories"))
test, n_twins = TestSettings(**settings.pop("test")), settings.pop("n_twins")
listed = read_document(snakemake.input.embeddings)
tables = of_twins(
    n_twins,
    lambda twin: measure_seat(
        categories,
        read_table(snakemake.input.sentences),
        read_embeddings(snakemake.input.embeddings, stimuli=stimuli_of(categories), twin=twin),
        model=snakemake.wildcards.model,
        settings=test,
        sentence_vector=json.loads(listed["made_from"]["settings"])["sentence_vector"],
        **settings,
    ),
)
for name, table in tables._asdict().items():
    write_table(snakemake.output[name], table, made_from)
