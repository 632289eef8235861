"""Adapter: all sentences to the tables by which a reader judges the lexicon, each also as text for a spreadsheet."""

from prasanga.base.documents import to_tsv
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, require_equal, write_table, write_text
from prasanga.sentences.audit import concordance, count_forms, count_suffixes, length_histogram

log_to(snakemake.log[0])
settings = snakemake.params.audit
for part in (snakemake.input.sentences, snakemake.input.supplement):
    require_equal(list(part), ["stage", "version"])
paths = [*snakemake.input.sentences, *snakemake.input.supplement]
forms = count_forms(paths)
tables = {
    "forms": forms,
    "concordance": concordance(paths, settings["concordance"], settings["seed"]),
    "suffixes": count_suffixes(forms, read_table(snakemake.input.forms)),
    "lengths": length_histogram(paths),
}
made_from = describe("sentences", inputs=snakemake.input, settings=settings)
for name, table in tables.items():
    write_table(snakemake.output[name], table, made_from)
    for_reader = ["false_friend"] if name == "concordance" else []
    write_text(snakemake.output[f"{name}_tsv"], to_tsv(table, for_reader=for_reader))
