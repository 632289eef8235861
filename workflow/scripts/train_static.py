"""Adapter: the sentences of the study's corpus to static vectors."""

import json

from prasanga.base.documents import digests_of_files
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_table
from prasanga.static import trained_table
from prasanga.static.training import train

log_to(snakemake.log[0])
settings = dict(snakemake.params.training)
inputs = digests_of_files(snakemake.input)
libraries = ["gensim", "numba", "numpy", "scipy"]
made_from = describe("static", inputs=inputs, settings=settings, libraries=libraries, version=snakemake.params.version)
trained = train(snakemake.input[0], **settings)
about = {"method": settings["method"], "report": json.dumps(dict(trained.report))}
write_table(snakemake.output[0], trained_table(trained), {**made_from, **about})
