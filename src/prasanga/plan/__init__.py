"""What Snakemake asks before any job runs: what a study measures, what each job depends on, which files come out.

The rules ask three objects: a `StudyPlan`, and the `Settings` and `Files` that are built from it.
"""

from prasanga.plan.files import Files
from prasanga.plan.runs import (
    begin_config,
    finish_config,
    list_unnoticed_changes,
    require_config_of_results,
    require_results,
)
from prasanga.plan.settings import Settings
from prasanga.plan.study import StudyPlan
