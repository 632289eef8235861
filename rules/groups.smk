"""Which jobs of a study are sent to a cluster as one, and which stay where Snakemake runs.

A job on a cluster costs a place in the queue, two starts of Snakemake and a reading of these rules, some ten seconds of a
core; most of our jobs take less. So those that hang together go as one. On this machine nothing is grouped.

- Groups stand here and not in a profile: with groups of a profile the Slurm plugin starts one more Snakemake for every
  member, one after the other, inside the job.
- Members are connected by files. `group-components`, which would put together what is not, is not to be used here: when a
  checkpoint is done, Snakemake deals such groups anew, the running ones among them.
- A group that a checkpoint changes loses members: Snakemake (9.27.1) keeps the groups of the plan before and adds jobs to
  them (its issue 4202, open). So a group lies before the checkpoints, or all of its members wait until every checkpoint of
  the study is done; and `joined_groups.smk` works groups out anew, since waiting alone was not enough on a real Slurm.
- If one member fails, the files of all are removed, and the group is tried again: so what takes hours on a card is not put
  together with what may fail behind it. Vectors stay in the store in any case.
- A model on a card has a job for each length: its shards one after the other on the same card. That is what the resource
  `on_card` is for. Snakemake does not tell the jobs that it sends what limits it was given, so the limit stands here.
- Models that the workflow trains itself are small: all that runs them goes together, with the statistics.
"""

# Read rather than computed: a second on the machine where Snakemake runs, instead of a level in the queue.
HERE = (
    "compile_forms",
    "compile_categories",
    "fill_templates",
    "read_pairs",
    "describe_pairs",
)

# As one only as long as the corpus has few parts: a core reads one in seconds, and a job may run some of them at a time.
FEW_PARTS = 64

# Groups of jobs that no checkpoint changes.
BEFORE = {
    "sentences": ("draw_samples", "audit_sentences"),
    "models": ("train_model", "check_model"),
    "static": ("train_static", "read_trained"),
}
if len(STUDY.shards) + len(STUDY.supplement) <= FEW_PARTS:
    BEFORE["sentences"] += ("extract_sentences", "find_short_stimuli", "extract_supplement")

# Groups of jobs that wait for all checkpoints.
BEHIND = {
    "associations": ("measure_ceat", "measure_seat", "measure_weat", "gather_estimates", "compare_ceat"),
    "report": (
        "draw_figure",
        *("write_tables", "write_paper_tables", "write_pair_table", "compare_with_papers"),
        *("collect_data", "describe_study", "write_page"),
    ),
}
if STUDY.small:
    BEHIND["associations"] += ("embed_segments", "list_embeddings", "embed_templates", "score_log_probability")
    BEHIND["likelihoods"] = ("score_pairs", "measure_bias_percentages", "score_structures", "gather_structures")
    BEHIND["report"] += ("compare_precision",)
else:
    BEHIND["embeddings"] = ("embed_segments", "list_embeddings", "embed_templates")
    BEHIND["report"] += ("measure_bias_percentages", "gather_structures")

DEFINED = {rule.name: rule for rule in workflow.rules}


resource_scopes:
    # in each job that is sent, for itself
    on_card="local",


# Jobs are counted by --jobs where they are sent elsewhere, and by cores where they are not; what was sent is not the main
# process. On one machine, cards are counted by `gpu`.
if workflow.resource_settings.nodes or not workflow.is_main_process:
    workflow.register_resource("on_card", 1)

if workflow.resource_settings.nodes:

    # Where jobs are put together again whenever a checkpoint is done.
    include: "joined_groups.smk"


if workflow.resource_settings.nodes and not FROM_RESULTS:
    workflow.localrules(*(name for name in HERE if name in DEFINED))
    # A profile with groups of its own has thought of all of them: two ways of grouping would wait for each other.
    if not workflow.group_settings.overwrite_groups:
        for group, names in BEFORE.items():
            for name in filter(DEFINED.get, names):
                DEFINED[name].group = group
        # Whoever asks for less than that has such jobs sent one by one: not all checkpoints are theirs.
        for group, names in BEHIND.items() if STUDY.needs_all_checkpoints(asked_for()) else ():
            for name in filter(DEFINED.get, names):
                DEFINED[name].group = group
                DEFINED[name].set_input(lambda wildcards: once_done([], STUDY.looked_at))
