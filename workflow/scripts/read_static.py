"""Read the vectors of the study's words from a training, or from a file."""

from prasanga.base.results import Task
from prasanga.lexicon import lexicon_of
from prasanga.static import look_up_stimuli, spellings_of

task = Task(snakemake, "static")
asked = task.params.reading
source = {key: path for key in ("trained", "file") if (path := task.input.get(key))}
made_from = task.describe(asked, source.values(), ["ftfy", "numpy", "regex"])
lexicon = lexicon_of(asked)
options = {key: asked[key] for key in ("format", "normalization")} | {"language": lexicon.language}
table, method = look_up_stimuli(spellings_of(lexicon), asked["pooling"], **source, **options)
task.write(task.output[0], table, {**made_from, "method": method})
