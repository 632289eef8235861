"""Adapter: the study's corpus to a tiny model with its tokenizer."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.sentences import Shard
from prasanga.sentences.records import read_records
from prasanga.text import normalizer
from prasanga_calibration import train_model

log_to(snakemake.log[0])
settings = dict(snakemake.params.training)
normalize, errors = normalizer(settings.pop("normalization"), **settings.pop("replacements")), settings.pop("errors")
shards = [Shard(**shard) for shard in settings.pop("shards")]
texts = [text for shard in shards for text in normalize([record.text for record in read_records(shard, errors)])]
train_model(texts, Path(snakemake.output[0]).parent, **settings)
