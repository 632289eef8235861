"""Adapter: a training, or a file of vectors, to the vectors of the study's words."""

from prasanga.base.documents import digests_of_files
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.lexicon import lexicon_of
from prasanga.static import look_up_stimuli, spellings_of

log_to(snakemake.log[0])
settings = dict(snakemake.params.reading)
source = {key: snakemake.input.get(key) for key in ("trained", "file")}
inputs = digests_of_files([path for path in source.values() if path])
made_from = describe("static", inputs=inputs, settings=settings, libraries=["ftfy", "numpy", "regex"])
options = {key: settings[key] for key in ("format", "normalization")}
table, about = look_up_stimuli(spellings_of(lexicon_of(settings)), settings["pooling"], **source, **options)
write_table(snakemake.output[0], table, {**made_from, **about})
