"""Check a model before it runs, and write a report."""

from prasanga.base.io import write_document
from prasanga.base.results import Task
from prasanga.models import ModelOptions, check_model

task = Task(snakemake, "models")
settings = task.params.check
model, options = settings["model"], ModelOptions(**settings["options"])
names = ("dtype", "layers", "stages", "kinds", "masked", "language_codes", "sentence_vector")
asked = {name: settings[name] for name in names}
write_document(task.output[0], check_model(model, revision=settings["revision"], options=options, **asked))
