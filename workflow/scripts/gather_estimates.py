"""Adapter: the estimates of all jobs of a method to one table, and their words to another."""

import polars as pl
import pyarrow as pa
import pyarrow.csv

from prasanga.associations.comparisons import adjust, gather
from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, replacing, require_equal, write_table
from prasanga.losses import join_losses
from prasanga.methods import method_named

log_to(snakemake.log[0])
require_equal([*snakemake.input.estimates, *snakemake.input.twins, *snakemake.input.words], ["stage", "version"])
plain = {path: read_table(path).replace_schema_metadata() for path in snakemake.input}
twins: dict[str, list[pa.Table]] = {}
for path, model in zip(snakemake.input.twins, snakemake.params.twin_of, strict=True):
    twins.setdefault(model, []).append(plain[path])
of_study = [[plain[path] for path in paths] for paths in (snakemake.input.estimates, snakemake.input.others)]
table = gather(of_study[0], twins, of_study[1], permuted=method_named(snakemake.wildcards.method).permuted)
words = pa.concat_tables(plain[path] for path in snakemake.input.words)
table, words = adjust(
    table,
    words,
    [plain[path] for path in snakemake.input.coverage],
    {model: plain[path] for model, path in snakemake.params.tokenizers.items()},
)
made_from = describe("associations", inputs=snakemake.input)
write_table(snakemake.output.parquet, table, made_from)
write_table(snakemake.output.words, words, made_from)
with replacing(snakemake.output.csv) as temporary:
    pyarrow.csv.write_csv(guarded(join_losses(pl.DataFrame(table))).to_arrow(), temporary)
