"""Adapter: the study's corpus to a tiny model with its tokenizer."""

from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.logs import log_to
from prasanga.models import train_masked_model
from prasanga.sentences import read_lines
from prasanga.text import normalizer

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = dict(snakemake.params.training)
normalize, errors = normalizer(settings.pop("normalization")), settings.pop("errors")
texts = [
    text
    for path in snakemake.input.corpus
    for text in normalize([line.text for line in read_lines(path, errors=errors)])
]
train_masked_model(texts, Path(snakemake.output[0]).parent, **settings)
