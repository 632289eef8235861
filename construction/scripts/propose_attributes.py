"""Adapter: a local model to attributes of every identity term, and what could not be used of its answers."""

from prasanga.base.io import write_text
from prasanga.base.logs import log_to
from prasanga_construction.generation import writer_of
from prasanga_construction.proposals import propose_attributes
from prasanga_construction.templates import choose_prompts, load_identities, load_templates
from prasanga_construction.tuples import tuples_csv

log_to(snakemake.log[0])
settings = snakemake.params.proposing
identities = load_identities(snakemake.input.identities)
templates = load_templates(snakemake.input.templates, identities.language)
for path in snakemake.input.prompts:
    templates = choose_prompts(templates, path, settings["prompts"], identities.language)
writer = writer_of(settings, cards=snakemake.resources.cards, kind="decoder")
proposals = propose_attributes(writer, identities, templates, seed=settings["seed"])
write_text(snakemake.output.tuples, tuples_csv(proposals.found))
write_text(snakemake.output.lost, proposals.lost.write_csv())
