"""Adapter: a local model to sentences about the tuples that are kept, as a sheet to review."""

from prasanga.base.io import write_text
from prasanga.base.logs import log_to
from prasanga_construction.building import sentences_csv
from prasanga_construction.generation import writer_of
from prasanga_construction.proposals import propose_sentences
from prasanga_construction.templates import choose_prompts, load_identities, load_templates
from prasanga_construction.tuples import kept_tuples, read_tuples

log_to(snakemake.log[0])
settings = snakemake.params.proposing
identities = load_identities(snakemake.input.identities)
templates = load_templates(snakemake.input.templates, identities.language)
for path in snakemake.input.prompts:
    templates = choose_prompts(templates, path, settings["prompts"], identities.language)
read = read_tuples(snakemake.input.tuples, identities.language, annotators=settings["annotators"])
tuples = kept_tuples(read, settings["votes"])
writer = writer_of(settings, cards=snakemake.resources.cards, kind="decoder")
proposals = propose_sentences(writer, tuples, identities, templates, seed=settings["seed"])
write_text(snakemake.output.sentences, sentences_csv(proposals.found, tuples))
write_text(snakemake.output.lost, proposals.lost.write_csv())
