"""Adapter: the scores of traits by all models to their spread by structure, and structures compared."""

import polars as pl

from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_frame, replacing, require_equal, write_table
from prasanga.likelihoods.structures import compare_structures, gather_traits, spread_by_structure
from prasanga.likelihoods.templates import list_oddities, load_traits

log_to(snakemake.log[0])
settings = snakemake.params.gathering
require_equal([*snakemake.input.traits, *snakemake.input.twins], ["stage", "version"])
traits = pl.concat(map(read_frame, snakemake.input.traits))
twins = gather_traits({m: read_frame(p) for m, p in zip(settings["twin_of"], snakemake.input.twins, strict=True)})
chance = {name: settings[name] for name in ("n_resamples", "seed")}
spread = spread_by_structure(traits, twins, **chance)
made_from = describe("likelihoods", inputs=snakemake.input, settings=settings, libraries=["numpy"])
tables = {
    "spread": spread,
    "differences": compare_structures(traits, **chance),
    "traits": traits,
    "oddities": list_oddities(load_traits(path, settings["normalization"]) for path in settings["traits"]),
}
for name, table in tables.items():
    write_table(snakemake.output[name], table.to_arrow(), made_from)
with replacing(snakemake.output.csv) as temporary:
    guarded(spread).write_csv(temporary)
