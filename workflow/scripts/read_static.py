"""Adapter: a training, or a file of vectors, to the vectors of the study's words."""

import json
import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING

from prasanga.lexicon import load_lexicon
from prasanga.logs import log_to
from prasanga.parquet import write_table
from prasanga.provenance import describe, digests_of_files
from prasanga.sentences.manifest import as_planned
from prasanga.static import look_up, read_trained, read_vectors, spellings_of, wanted_spellings
from prasanga.static.lookup import single_words
from prasanga.static.spelling import spelling_like

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = dict(snakemake.params.reading)
trained, file, digest = snakemake.input.get("trained"), snakemake.input.get("file"), settings["digest"]
# a file's digest is known from planning; the lexicon is what the settings say
inputs = digests_of_files([trained]) if trained else {file: digest}
made_from = describe("static", script=__file__, inputs=inputs, settings=settings, libraries=["ftfy", "numpy", "regex"])
normalization = settings["normalization"]
stimuli = spellings_of(load_lexicon(settings["stimuli"], settings["suffix_groups"], normalization=normalization))
wanted = wanted_spellings(stimuli, settings["pooling"])
with nullcontext() if trained else as_planned(file, digest, settings["manifest"]):
    vectors = (
        read_trained(trained, wanted)
        if trained
        else read_vectors(
            file,
            wanted,
            format=settings["format"],
            spelling=spelling_like(normalization),
            from_subwords=single_words(stimuli),
        )
    )
table = look_up(stimuli, vectors, settings["pooling"])
report = {
    "n_words": vectors.n_words,
    "dimensions": vectors.dimensions,
    "repeated": vectors.repeated,
    "cut_off": vectors.cut_off,
    "n_stimuli": table.num_rows,
    "n_missing": table["vector"].null_count,
}
logging.getLogger("prasanga.static").info("%s", report)
write_table(snakemake.output[0], table, {**made_from, "method": vectors.method, "report": json.dumps(report)})
