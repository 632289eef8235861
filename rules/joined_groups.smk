"""Which jobs make up a group, worked out anew whenever the plan changes, in place of what Snakemake does.

Snakemake (9.27.1) keeps the groups of an earlier plan, adds jobs to them, and goes through them in the order they had
before. A job that was added then has no group, and once a checkpoint is done the study ends with `KeyError:
embed_templates`, sometimes, because sets are gone through in any order (its issue 4202, open). Here jobs are joined as
sets, and a group is made of the finished set.
"""

from collections import defaultdict

from snakemake import __version__ as snakemake_version
from snakemake.dag import DAG
from snakemake.exceptions import WorkflowError
from snakemake.jobs import GroupJobFactory


def joined_jobs(dag):
    """Every unfinished job of a group with all that it is sent with: those of its group that it is connected to.

    A group that runs stays as it was sent; what has come to it since then is a group of its own, and waits for it.
    """
    together = {job: frozenset(group.jobs) for group in dag._running if group.is_group() for job in group.jobs}
    waiting = {job for job in dag.needrun_jobs() if job.group is not None and job not in together}
    neighbours = defaultdict(set)
    for job in waiting:
        for needed in dag.dependencies[job]:
            if needed in waiting and needed.group == job.group:
                neighbours[job].add(needed)
                neighbours[needed].add(job)
    for job in waiting:
        if job in together:
            continue
        reached, left = {job}, [job]
        while left:
            new = neighbours[left.pop()] - reached
            reached |= new
            left += new
        together.update(dict.fromkeys(reached, frozenset(reached)))
    return together


def update_groups(dag):
    """Give the plan its groups; as the method of that name, but for how jobs are joined."""
    resources = dag.workflow.global_resources
    dag._group = {job: dag.group_job_factory.new(job.group, jobs, resources) for job, jobs in joined_jobs(dag).items()}
    for group in set(dag._group.values()):
        dag.validate_group(group)
    dag._update_group_components()
    dag._check_groups()


# Names that Snakemake promises to nobody: where a version has others, it is said before a job is sent.
NEEDED_OF_SNAKEMAKE = {
    DAG: ("update_groups", "needrun_jobs", "validate_group", "_update_group_components", "_check_groups"),
    GroupJobFactory: ("new",),
}
MISSING_OF_SNAKEMAKE = [
    f"{owner.__name__}.{name}"
    for owner, names in NEEDED_OF_SNAKEMAKE.items()
    for name in names
    if not hasattr(owner, name)
]
if MISSING_OF_SNAKEMAKE:
    raise WorkflowError(
        f"This Snakemake ({snakemake_version}) joins jobs into groups in another way than the one that prasanga was made"
        f" for (it has no {MISSING_OF_SNAKEMAKE[0]}). Install the version of requirements.lock: make .venv/.installed"
    )

DAG.update_groups = update_groups
