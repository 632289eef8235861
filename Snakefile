"""From a corpus to effect sizes by context length: one include per stage, in the order in which data flow."""

from snakemake.utils import min_version

min_version("9.19")


# The head of Snakemake's own report.
report: "workflow/report/workflow.rst"


# The environment as an image, for `--software-deployment-method apptainer`; otherwise the environment one is in.
container: "containers/prasanga.sif"


# The config, completed and checked: WRITTEN, and of each language STUDIES.
include: "rules/common.smk"


rule all:
    """The page with every result of the study, and the files that go with it."""
    default_target: True
    input:
        lambda wildcards: [*REPORT, *TABLES_OF_STUDY],


if not PART:

    include: "rules/packages.smk"


if len(STUDIES) > 1:

    include: "rules/languages.smk"

else:

    # The plan of the study: STUDY, SETTINGS, FILES.
    include: "rules/study.smk"
    include: "rules/lexicon.smk"

    if STUDY.computed:

        include: "rules/sentences.smk"
        include: "rules/samples.smk"
        include: "rules/models.smk"

        if TRAINED:
            if not IS_CHECKOUT:
                raise WorkflowError(
                    f"models.{TRAINED[0]}: `train` makes a tiny model for tests, in a clone of the project only. Write"
                    " `path` or `package` instead."
                )

            include: "calibration/calibration.smk"

        if is_asked_for(config["construction"], sys.argv, INSTALLATION / "construction/construction.smk"):

            include: "construction/construction.smk"

    if not FROM_RESULTS:

        include: "rules/embeddings.smk"
        include: "rules/static.smk"
        include: "rules/pairs.smk"
        include: "rules/associations.smk"
        include: "rules/likelihoods.smk"
    include: "rules/report.smk"
    include: "rules/groups.smk"


if FROM_RESULTS:
    # A job that is sent elsewhere reads the rules again, and does not know that only figures were asked for.
    workflow.localrules(*(rule.name for rule in workflow.rules))

if not PART:
    attach_fingerprints(workflow, INSTALLATION)

for warning in filter(None, WARNINGS if workflow.is_main_process else []):
    print(f"Warning: {warning}", file=sys.stderr)
