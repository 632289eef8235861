"""Adapter: all results of the study to one file for programs, and to the methods card and the data card."""

from prasanga.base.documents import digests_of_files
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import made_from, write_text
from prasanga.report.cards import data_card, methods_card
from prasanga.report.study import read_results
from prasanga.report.summary import study_summary, to_json

LIBRARIES = ["polars", "pyarrow"]

log_to(snakemake.log[0])
asked = snakemake.params
study = asked.study
results = read_results(
    {**dict(snakemake.input.items()), "files": asked.files},
    page=asked.page,
    studied=asked.studied,
    missing=asked.missing,
)
tables = [path for path in snakemake.input if path.endswith(".parquet")]
summary = study_summary(
    config=study,
    results=results,
    made_from=describe("report", settings=study, libraries=LIBRARIES),
    records=[made_from(path) for path in tables],
)
corpus = [file for read in results.corpus for file in read.get("digest", {}).items()]
shown = sorted(set(tables) - set(snakemake.input.records))  # of the others only the record of their making is read
methods = methods_card(config=study, summary=summary, inputs=digests_of_files(shown))
data = data_card(config=study, summary=summary, results=results, corpus=corpus)
texts = {"summary": to_json(summary), "methods": methods, "data": data}
for name, path in snakemake.output.items():
    write_text(path, texts[name])
