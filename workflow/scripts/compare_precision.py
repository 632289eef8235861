"""Adapter: how far the vectors of the study are from those in full precision, on a few of its segments."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.embeddings import VectorSettings, compare_with_full_precision, settle_dtype
from prasanga.logs import log_to
from prasanga.parquet import write_text

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
report = json.loads(Path(snakemake.input.model).read_text(encoding="utf-8"))
settings = VectorSettings.of(snakemake.params.embedding, cards=snakemake.resources.cards)
settings = settle_dtype(settings, report, "results/store")
compared = compare_with_full_precision(
    settings, report, snakemake.input.segments, "results/store", threads=snakemake.threads
)
write_text(snakemake.output[0], json.dumps(compared, indent=2, ensure_ascii=False) + "\n")
