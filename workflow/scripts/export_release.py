"""Export the sampled contexts as a data set, with its sources and a datasheet."""

from prasanga import __version__
from prasanga.base.io import digest_of, sha256_of_file, write_text
from prasanga.base.results import Task
from prasanga.extras.corpora import Text, datasheet, sampled_occurrences, sources_page, write_release

task = Task(snakemake, "release")
release, files, out = task.params.release, task.input, task.output
for of_one_kind in (files.sentences, files.supplement, files.segments):
    task.require_one_version(of_one_kind)
texts = [Text(*text) for text in release["texts"]]
paths = zip([*files.sentences, *files.supplement], release["of_table"], strict=True)
tables = [(path, texts[number]) for path, number in paths]
tallies = write_release(out.sentences, tables, sampled_occurrences(files.segments))
made = {
    "study": release["study"],
    "config": f"digest {digest_of(release['settings'])} of the settings below",
    "program": f"prasanga {__version__}",
    "sha256 of sentences.csv": sha256_of_file(out.sentences),
}
write_text(out.sources, sources_page(tallies, made=made, settings=release["settings"]))
write_text(out.datasheet, datasheet(release["title"], tallies))
