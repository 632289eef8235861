"""Adapter: a training, or a file of vectors, to the vectors of the study's words."""

from prasanga.base.logs import bound_memory, log_to
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of
from prasanga.provenance import describe
from prasanga.static import spellings_of
from prasanga.static.lookup import Source, vectors_of_words

log_to(snakemake.log[0])
bound_memory(snakemake.resources.get("mem_mb"))
settings = dict(snakemake.params.reading)
of_file = {key: settings[key] for key in ("format", "normalization", "digest", "manifest")}
source = Source(snakemake.input.get("trained"), snakemake.input.get("file"), **of_file)
libraries = ["ftfy", "numpy", "regex"]
made_from = describe("static", script=__file__, inputs=source.digests(), settings=settings, libraries=libraries)
lexicon = lexicon_of(settings)
table, about = vectors_of_words(spellings_of(lexicon), source, settings["pooling"])
write_table(snakemake.output[0], table, {**made_from, **about})
