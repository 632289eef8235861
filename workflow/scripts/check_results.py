"""Adapter: the results to what does not fit among them."""

from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.logs import log_to
from prasanga.parquet import write_text
from prasanga.provenance import fingerprint
from prasanga.provenance.checking import check_results
from prasanga.provenance.findings import say

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
scripts, table = Path(__file__).resolve().parent, snakemake.params.table


def code_of(name: str) -> dict[str, str]:
    """The code of a script as it is now; nothing of one that is no more."""
    return {name: fingerprint(scripts / name).fingerprint} if (scripts / name).is_file() else {}


check = check_results("results", planned=snakemake.params.planned, code=code_of)
write_text(table, check.to_tsv())
say(check, table)
