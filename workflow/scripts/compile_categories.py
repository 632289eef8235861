"""Adapter: word lists to the categories with their words and glosses."""

import json
from typing import TYPE_CHECKING

from prasanga.lexicon import categories_of, load_lexicon
from prasanga.logs import log_to
from prasanga.parquet import write_text

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.lexicon
lexicon = load_lexicon(settings["stimuli"], settings["suffix_groups"], normalization=settings["normalization"])
categories = categories_of(lexicon)
write_text(snakemake.output[0], json.dumps(categories, ensure_ascii=False, indent=1) + "\n")
