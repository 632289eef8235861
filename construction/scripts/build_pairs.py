"""Adapter: annotated tuples, templates and sentences to pairs, and a list of omissions."""

from prasanga.base.io import write_text
from prasanga.base.logs import log_to
from prasanga_construction.building import build_pairs, read_sentences, sentence_drafts, template_drafts
from prasanga_construction.templates import load_identities, load_templates
from prasanga_construction.tuples import kept_tuples, read_tuples

log_to(snakemake.log[0])
settings = snakemake.params.building
identities = load_identities(snakemake.input.identities)
templates = load_templates(snakemake.input.templates, identities.language)
read = read_tuples(snakemake.input.tuples, identities.language, annotators=settings["annotators"])
tuples = kept_tuples(read, settings["votes"])
drafts = template_drafts(tuples, identities, templates)
for path in snakemake.input.sentences:
    reviewed = path == settings["reviewed"]
    sentences = read_sentences(path, tuples, reviewed=reviewed)
    proposed = f"proposed by {settings['proposer']}, not reviewed by a person"
    note = "reviewed by a person" if reviewed else proposed
    drafts += sentence_drafts(sentences, tuples, identities, note=note)
built = build_pairs(drafts)
write_text(snakemake.output.pairs, built.pairs.write_csv())
write_text(snakemake.output.left_out, built.left_out.write_csv())
