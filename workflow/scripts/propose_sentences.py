"""Adapter: a local model to sentences about the tuples that are kept, as a sheet to review."""

from typing import TYPE_CHECKING

from prasanga.construction.generation import load_writer
from prasanga.construction.identities import load_identities
from prasanga.construction.proposals import propose_sentences
from prasanga.construction.sentences import sentences_csv
from prasanga.construction.templates import load_templates
from prasanga.construction.tuples import kept_tuples, read_tuples
from prasanga.logs import log_to
from prasanga.models import ModelOptions
from prasanga.parquet import write_text

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.proposing
identities, templates = load_identities(snakemake.input.identities), load_templates(snakemake.input.templates)
read = read_tuples(snakemake.input.tuples, identities.language, annotators=settings["annotators"])
tuples = kept_tuples(read, settings["votes"])
which = {key: settings[key] for key in ("revision", "dtype")}
writer = load_writer(
    settings["model"],
    kind="decoder",
    **which,
    options=ModelOptions(**settings["options"], cards=snakemake.resources.cards),
)
proposals = propose_sentences(writer, tuples, identities, templates, seed=settings["seed"])
write_text(snakemake.output.sentences, sentences_csv(proposals.sentences, tuples))
write_text(snakemake.output.lost, proposals.lost.write_csv())
