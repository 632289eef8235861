"""Adapter: the static vectors of the study's words to the WEAT of every category."""

from prasanga.associations import TestSettings
from prasanga.associations.weat import measure_weat
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import made_from as made_from_of
from prasanga.base.parquet import write_table
from prasanga.lexicon.model import chosen_categories, read_categories
from prasanga.static import read_looked_up

log_to(snakemake.log[0])
settings = dict(snakemake.params.weat)
made_from = describe("associations", inputs=snakemake.input, settings=settings, libraries=["numpy", "scipy"])
vectors, missing = read_looked_up(snakemake.input[0])
estimates, words = measure_weat(
    chosen_categories(read_categories(snakemake.input.categories), settings.pop("categories")),
    vectors,
    missing,
    name=snakemake.wildcards.vectors,
    settings=TestSettings(**settings.pop("test")),
    method=made_from_of(snakemake.input[0])["method"],
    **settings,
)
write_table(snakemake.output.estimates, estimates, made_from)
write_table(snakemake.output.words, words, made_from)
