"""Adapter: one corpus file, or part of it, to the number of occurrences and sentences of each candidate."""

from prasanga.base.documents import digests_of_files
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.extras.candidates import count_stimuli
from prasanga.sentences import Shard, extract_shard, read_forms
from prasanga.text import normalizer

log_to(snakemake.log[0])
settings = dict(snakemake.params.extraction)
shard = Shard(**settings["shard"])
inputs = {**digests_of_files([snakemake.input.forms]), **shard.digest()}
libraries = ["ftfy", "regex", "numba", "xxhash"]
made_from = describe("lexicon", inputs=inputs, settings=settings, libraries=libraries, version=snakemake.params.version)
settings.pop("shard")
settings["normalization"] = normalizer(settings["normalization"], **settings.pop("replacements"))
forms = read_forms(snakemake.input.forms, neighbours=settings.pop("neighbours") == "exclude")
counts = count_stimuli(extract_shard(shard, lexicon=forms, **settings))
write_table(snakemake.output[0], counts, made_from)
