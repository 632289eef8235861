"""Train static vectors on the sentences of the study's corpus."""

from prasanga.base.results import Task
from prasanga.static import trained_table
from prasanga.static.training import train

task = Task(snakemake, "static")
asked = task.params.training
made_from = task.describe(asked, libraries=["gensim", "numba", "numpy", "scipy"])
trained = train(task.input[0], **asked)
task.write(task.output[0], trained_table(trained), {**made_from, "method": asked["method"]})
