"""The plan of a study of one language: STUDY, SETTINGS, FILES; and what all its rules share."""

PLANNED = partial(StudyPlan.from_config, from_results=FROM_RESULTS, is_job=not workflow.is_main_process)
STUDY = readable(PLANNED, config, RESULTS)
SETTINGS = Settings(STUDY)
FILES = readable(Files, STUDY)
WARNINGS += [*STUDY.words.lexicon.warnings, *STUDY.texts.warnings, *FILES.missing]
if workflow.is_main_process and STUDY.computed:
    readable(require_inputs, STUDY, SETTINGS)
if workflow.is_main_process and STUDY.computed and ARGUMENTS().dryrun:
    print(
        *(f"{PART}: {line}" if PART else line for line in count_texts(STUDY, ARGUMENTS().targets)),
        *name_unreachable(STUDY),
        *tabulate_shifts(STUDY),
        sep="\n",
        file=sys.stderr,
    )
if FROM_RESULTS:
    readable(require_results, FILES)
elif not STUDY.computed:
    readable(require_cached, SETTINGS.cached())

CHECKPOINTS = Checkpoints(checkpoints, IncompleteCheckpointException)
TRAINED = sorted(name for name, each in config["models"].items() if "train" in each)

# Jobs that run a model ask for a GPU, and run on the CPU where there is none. Then models without a `path`, which are small,
# run side by side: no number of GPUs limits them. Others run one at a time, with all cores, if the command has a number.
NODES, GPUS = workflow.resource_settings.nodes, workflow.global_resources.get("gpu")
CORES = 1 if NODES else workflow.resource_settings.cores
HAS_NO_GPU = bool(GPUS) and GPUS.value == 0 or not NODES and not count_gpus()
ONE_BY_ONE = HAS_NO_GPU and bool(GPUS) and any("path" in each for each in config["models"].values())
if HAS_NO_GPU and GPUS and GPUS.value and not ONE_BY_ONE:
    workflow.register_resource("gpu", CORES)


# The same patterns are in prasanga.config.values (names of models, lengths).
wildcard_constraints:
    shard=r"[A-Za-z0-9_.-]+",
    model=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    family=name_in(config["models"]),
    length=r"\d+|over\d+",
    bucket=r"\d\d",
    method=name_in(names_of(FAMILY)),
    set=name_in(STUDY.sets),
    vectors=name_in(config["static"]["vectors"]),
