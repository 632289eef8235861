"""Adapter: the results to what does not fit among them."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.base.parquet import write_text
from prasanga.embeddings.shards import fitting_shards
from prasanga.provenance.check import check_results, say
from prasanga.provenance.code import fingerprint, remembered

log_to(snakemake.log[0])
table = snakemake.params.table
with remembered():
    code = {script.name: fingerprint(script) for script in Path(__file__).resolve().parent.glob("*.py")}
asked = {name: snakemake.params[name] for name in ("planned", "wanted")}
check = check_results("results", **asked, code=code, shards=fitting_shards)
write_text(table, check.to_tsv())
say(check, table)
