"""Adapter: the vectors of one model at one length to the CEAT of every category."""

from prasanga.associations import CeatSettings, TestSettings, measure_ceat
from prasanga.associations.comparisons import of_twins
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.embeddings.shards import StoredEmbeddings, read_common_occurrences
from prasanga.lexicon.model import chosen_categories, read_categories, stimuli_of

log_to(snakemake.log[0])
settings = dict(snakemake.params.ceat)
made_from = describe("associations", inputs=snakemake.input, settings=settings, libraries=["numba", "numpy", "scipy"])
categories = chosen_categories(read_categories(snakemake.input.categories), settings.pop("categories"))
length, n_twins = settings.pop("segment_length"), settings.pop("n_twins")
common = read_common_occurrences(snakemake.input.all_embeddings)
tables = of_twins(
    n_twins,
    lambda twin: measure_ceat(
        categories,
        StoredEmbeddings(snakemake.input.embeddings, stimuli=stimuli_of(categories), twin=twin),
        model=snakemake.wildcards.model,
        segment_length=length,
        common=common,
        settings=CeatSettings(**{**settings, "test": TestSettings(**settings["test"])}),
    ),
)
for name, table in tables._asdict().items():
    write_table(snakemake.output[name], table, made_from)
