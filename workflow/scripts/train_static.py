"""Adapter: the study's corpus as numbered words to static vectors."""

import json
from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.base.parquet import write_table
from prasanga.provenance import describe, digests_of_files
from prasanga.static import CutCorpus, trained_table
from prasanga.static.training import train

log_to(snakemake.log[0])
settings = dict(snakemake.params.training)
files = [snakemake.input.sentences, snakemake.input.words]
libraries = ["numba", "numpy", "scipy"]
inputs = digests_of_files(files)
made_from = describe("static", script=__file__, inputs=inputs, settings=settings, libraries=libraries)
trained = train(CutCorpus(*map(Path, files)), **settings, threads=snakemake.threads)
about = {"method": settings["method"], "report": json.dumps(dict(trained.report))}
write_table(snakemake.output[0], trained_table(trained), {**made_from, **about})
