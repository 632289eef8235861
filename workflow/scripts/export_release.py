"""Adapter: the sampled contexts to a data set for others, with its sources and a datasheet."""

from prasanga import __version__
from prasanga.base.documents import digest_of, sha256_of_file
from prasanga.base.logs import log_to
from prasanga.base.parquet import require_equal, write_text
from prasanga.extras.release import Text, datasheet, sampled_occurrences, sources_page, write_release

log_to(snakemake.log[0])
release = snakemake.params.release
sentences, supplement = list(snakemake.input.sentences), list(snakemake.input.supplement)
for files in (sentences, supplement, snakemake.input.segments):
    require_equal(files, ["stage", "version"])
texts = [Text(*text) for text in release["texts"]]
tables = [(path, texts[number]) for path, number in zip([*sentences, *supplement], release["of_table"], strict=True)]
tallies = write_release(snakemake.output.sentences, tables, sampled_occurrences(snakemake.input.segments))
made = {
    "study": release["study"],
    "config": f"digest {digest_of(release['settings'])} of the settings below",
    "program": f"prasanga {__version__}",
    "sha256 of sentences.csv": sha256_of_file(snakemake.output.sentences),
}
write_text(snakemake.output.sources, sources_page(tallies, made=made, settings=release["settings"]))
write_text(snakemake.output.datasheet, datasheet(release["title"], tallies))
