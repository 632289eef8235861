"""Adapter: a model to what is known of it before it runs, and how its tokenizer treats the words of the study."""

from prasanga.base.documents import write_document
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_frame, write_table
from prasanga.models import ModelOptions, audit_tokenizer, check_model, load_tokenizer

log_to(snakemake.log[0])
settings = snakemake.params.check
model, options = settings["model"], ModelOptions(**settings["options"])
revision, stages = settings["revision"], settings["stages"]
of_model = ("dtype", "layers", "stages", "kinds", "masked", "language_codes", "sentence_vector")
asked = {key: settings[key] for key in of_model}
report = check_model(model, revision=revision, options=options, **asked)
tokenizer = load_tokenizer(model, revision=report["identity"].get("commit", revision), options=options)
audit = audit_tokenizer(tokenizer, read_frame(snakemake.input.forms))
if "embeddings" in stages:
    audit.require(settings["audit"], snakemake.wildcards.family)
made_from = describe("models", inputs=[snakemake.input.forms], settings=settings, version=snakemake.params.version)
write_table(snakemake.output.words, audit.table.to_arrow(), made_from)
write_document(snakemake.output.tokenizer, audit.summary)
write_document(snakemake.output.report, report)
