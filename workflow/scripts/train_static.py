"""Adapter: the study's corpus to static vectors of its words."""

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.logs import log_to
from prasanga.parquet import write_table
from prasanga.provenance import describe
from prasanga.sentences import Shard, read_texts
from prasanga.sentences.manifest import as_planned
from prasanga.static import sentences_of, spool, train_glove, train_word2vec, trained_table
from prasanga.static.tokens import has_capitals
from prasanga.text import normalizer

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = dict(snakemake.params.training)
digests = dict(zip(snakemake.input.corpus, settings["digests"], strict=True))
libraries = ["ftfy", "gensim", "numba", "numpy", "regex", "scipy"]
made_from = describe("static", script=__file__, inputs=digests, settings=settings, libraries=libraries)
settings.pop("digests")
method, manifest, errors = (settings.pop(key) for key in ("method", "manifest", "errors"))
shards = [Shard(**shard) for shard in settings.pop("shards")]
normalize = normalizer(settings.pop("normalization"), **settings.pop("replacements"))
lower = has_capitals(settings.pop("language"))
with ExitStack() as planned, tempfile.TemporaryDirectory(prefix="prasanga-static-") as folder:
    for path, digest in digests.items():
        planned.enter_context(as_planned(path, digest, manifest))
    texts = (text for shard in shards for text in read_texts(shard, errors))
    tokens = spool(sentences_of(texts, normalize, lower=lower), Path(folder, "tokens"))
    trained = {"word2vec": train_word2vec, "glove": train_glove}[method](tokens, **settings)
about = {"method": method, "report": json.dumps(dict(trained.report))}
write_table(snakemake.output[0], trained_table(trained), {**made_from, **about})
