"""Adapter: the study's corpus to static vectors of its words."""

import json
from contextlib import ExitStack

from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.provenance import describe
from prasanga.sentences import Shard, read_corpus
from prasanga.sentences.manifest import as_planned
from prasanga.static import trained_table
from prasanga.static.training import train_on_texts
from prasanga.text import normalizer

log_to(snakemake.log[0])
settings = dict(snakemake.params.training)
digests = dict(zip((shard["path"] for shard in settings["shards"]), settings["digests"], strict=True))
libraries = ["ftfy", "gensim", "numba", "numpy", "regex", "scipy"]
made_from = describe("static", script=__file__, inputs=digests, settings=settings, libraries=libraries)
del settings["digests"]
manifest, errors, shards = (settings.pop(key) for key in ("manifest", "errors", "shards"))
normalize = normalizer(settings.pop("normalization"), **settings.pop("replacements"))
with ExitStack() as planned:
    for path, digest in digests.items():
        planned.enter_context(as_planned(path, digest, manifest))
    trained = train_on_texts(read_corpus([Shard(**shard) for shard in shards], errors), normalize, **settings)
about = {"method": settings["method"], "report": json.dumps(dict(trained.report))}
write_table(snakemake.output[0], trained_table(trained), {**made_from, **about})
