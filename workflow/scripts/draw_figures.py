"""Draw all figures of the study from tables, in all formats and widths."""

import json

from prasanga.base.results import Task
from prasanga.report.figures.canvas import draw_figure

task = Task(snakemake, "report")
for drawing in task.params.drawings:
    # the function that draws is known by name alone, so its code is a setting
    settings = {key: drawing[key] for key in ("plot", "options", "code")}
    made_from = json.dumps(task.describe(settings, drawing["tables"], ["matplotlib", "numpy"]))
    draw_figure(drawing["plot"], drawing["tables"], drawing["options"], drawing["files"], made_from=made_from)
