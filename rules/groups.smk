"""Which jobs go to a cluster as one, and which stay where Snakemake runs.

A job on a cluster costs about ten seconds of a core. So small jobs that need each other go as one, and those that only read
and write tables run here. On one machine nothing is grouped.

- With a profile's groups, the Slurm plugin would start one more Snakemake for each member inside the job.
- Do not use `group-components`: after a checkpoint, Snakemake deals out such groups again, also those that run.
- Only jobs before a checkpoint have groups. Snakemake (9.27.1) puts jobs behind it into two groups or none (issue 4202).
"""

HERE = (
    # reads and lists
    *("compile_forms", "compile_categories", "fill_templates", "read_pairs", "list_embeddings"),
    # gathers and draws: the report of the papers' whole grid is a quarter of a minute
    *("gather_estimates", "gather_structures", "measure_bias_percentages"),
    *("choose_sentences", "draw_figures", "write_tables", "write_page"),
)

GROUPS = {
    "sentences": ["draw_samples", "audit_sentences"],
    "models": ["train_model", "check_model"],
    "static": ["train_static", "read_trained"],
}
# A core reads a part of the corpus in seconds; many parts are read by many jobs.
if len(STUDY.texts.shards) + len(STUDY.texts.supplement) <= 64:
    GROUPS["sentences"] += ["extract_sentences", "find_short_stimuli", "extract_supplement"]


if workflow.resource_settings.nodes and not FROM_RESULTS:
    # As a module, rules may have other names.
    defined, called = {rule.name: rule for rule in workflow.rules}, workflow.modifier.modify_rulename
    workflow.localrules(*filter(defined.get, map(called, HERE)))
    # A profile with groups of its own has thought of all of them: two ways of grouping would wait for each other.
    if not workflow.group_settings.overwrite_groups:
        for group, names in GROUPS.items():
            for name in filter(defined.get, map(called, names)):
                defined[name].group = group
