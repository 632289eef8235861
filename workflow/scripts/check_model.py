"""Adapter: a model to what is known of it before it runs, and how its tokenizer treats the words of the study."""

import json
from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.models import ModelOptions, audit_tokenizer, check_model, load_tokenizer
from prasanga.parquet import write_table, write_text
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.check
model, options = settings["model"], ModelOptions(**settings["options"])
revision, stages = settings["revision"], settings["stages"]
asked = {key: settings[key] for key in ("dtype", "layers", "stages", "kinds", "masked", "language_codes")}
report = check_model(model, revision=revision, options=options, **asked)
tokenizer = load_tokenizer(model, revision=report["identity"].get("commit", revision), options=options)
audit = audit_tokenizer(tokenizer, pl.read_parquet(snakemake.input.forms))
if "embeddings" in stages:
    audit.require(settings["audit"], snakemake.wildcards.family)
made_from = describe("models", script=__file__, inputs=[snakemake.input.forms], settings=settings)
write_table(snakemake.output.words, audit.table.to_arrow(), made_from)
write_text(snakemake.output.tokenizer, json.dumps(audit.summary, indent=2, ensure_ascii=False) + "\n")
write_text(snakemake.output.report, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
