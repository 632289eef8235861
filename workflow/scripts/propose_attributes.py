"""Adapter: a local model to attributes of every identity term, and what could not be used of its answers."""

from typing import TYPE_CHECKING

from prasanga.construction.generation import load_writer
from prasanga.construction.identities import load_identities
from prasanga.construction.proposals import propose_attributes
from prasanga.construction.templates import load_templates
from prasanga.construction.tuples import tuples_csv
from prasanga.logs import log_to
from prasanga.models import ModelOptions
from prasanga.parquet import write_text

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.proposing
identities, templates = load_identities(snakemake.input.identities), load_templates(snakemake.input.templates)
which = {key: settings[key] for key in ("revision", "dtype")}
writer = load_writer(
    settings["model"],
    kind="decoder",
    **which,
    options=ModelOptions(**settings["options"], cards=snakemake.resources.cards),
)
proposals = propose_attributes(writer, identities, templates, seed=settings["seed"])
write_text(snakemake.output.tuples, tuples_csv(proposals.tuples))
write_text(snakemake.output.lost, proposals.lost.write_csv())
