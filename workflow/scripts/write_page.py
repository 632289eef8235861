"""Write the summary, the cards and the page from all results of the study."""

from prasanga.base.results import Task
from prasanga.report.page import write_study
from prasanga.report.study import read_results

task = Task(snakemake, "report")
asked, study = task.params, task.params.study
files = dict(task.input.items())
tables, records = files.pop("tables"), files.pop("records")
fields = {**files, "comparison": asked.compared, "files": asked.files}
results = read_results(fields, page=task.output.page, studied=asked.studied, missing=asked.missing)
shown = [path for paths in files.values() for path in ([paths] if isinstance(paths, str) else paths)]
write_study(
    study,
    results,
    lambda inputs: task.describe(study, inputs, ["matplotlib", "numpy", "polars", "pyarrow", "scipy"]),
    shown={"numbers": asked.numbers, "records": records, "page": [*shown, *asked.compared]},
    outputs=dict(task.output.items()),
)
