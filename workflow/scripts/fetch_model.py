"""Adapter: a package of the Python index to the model that it carries."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.models.packaged import write_packaged_model

log_to(snakemake.log[0])
write_packaged_model(snakemake.params.package, Path(snakemake.output[0]).parent)
