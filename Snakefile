"""From a corpus to effect sizes by context length: one include per stage, in the order in which data flow."""

from snakemake.utils import min_version

min_version("9.19")


# The files of the config are looked at before anything is made of them.
include: "rules/config_files.smk"


# A study is one file: with --configfile another one, complete by its own keys and the defaults of the schema.
if not workflow.overwrite_configfiles:

    configfile: "config.yaml"


# What stands at the head of Snakemake's own report.
report: "workflow/report/workflow.rst"


# The environment as an image, for `--software-deployment-method apptainer`; otherwise the environment one is in.
container: "containers/prasanga.sif"


include: "rules/common.smk"
# What the jobs of each stage take in, and which settings change what they write; other stages ask for it, too.
include: "rules/sentences_inputs.smk"
include: "rules/embeddings_inputs.smk"
include: "rules/associations_inputs.smk"
include: "rules/likelihoods_inputs.smk"
include: "rules/report_inputs.smk"


from prasanga_construction.planning import is_asked_for


localrules:
    all,
    figures,


rule all:
    """The page with every result of the study, and all that lies beside it."""
    default_target: True
    input:
        lambda wildcards: REPORT,


if LEXICON:

    # Word lists and suffix groups to the table of surface forms.
    include: "rules/lexicon.smk"


if COMPUTED:

    localrules:
        sentences,
        fetch_released_sentences,
        release,

    # Corpus files to sentences with located stimuli.
    include: "rules/sentences.smk"
    # Candidate words ranked by their frequency in the corpus; only when asked for.
    include: "rules/candidates.smk"
    # Sentences to segments of an exact length, the same for all models.
    include: "rules/samples.smk"
    # The sampled contexts as a data set for others; only when asked for.
    include: "rules/release.smk"
    # Tiny models, trained by the workflow where the config asks for them.
    include: "rules/models.smk"

    if is_asked_for(config["construction"], sys.argv, Path(workflow.basedir, "construction/construction.smk")):

        # Pairs from annotated tuples, for another society and in another language; only when asked for.
        include: "construction/construction.smk"


if FROM_RESULTS:

    # Tables of what is done so far, where a study is not finished.
    include: "rules/unfinished.smk"

else:

    localrules:
        embeddings,
        associations,
        likelihoods,

    # Segments to vectors of their target words; the stage that wants a GPU.
    include: "rules/embeddings.smk"
    # Vectors to CEAT effect sizes.
    include: "rules/associations.smk"
    # Words in templates, and their associations as sentences.
    include: "rules/seat.smk"
    # Static vectors of words, trained or read, and their associations.
    include: "rules/static.smk"
    # Sentence pairs as tables.
    include: "rules/pairs.smk"
    # Pairs and templates to probabilities; wants a GPU as well.
    include: "rules/likelihoods.smk"


# The papers' tables, and the study beside them.
include: "rules/comparison.smk"
# Tables to figures and the page; never starts a model.
include: "rules/report.smk"
# Results against what the ledger says of them; only when asked for.
include: "rules/provenance.smk"
# On a cluster: which jobs are sent together, and which stay here.
include: "rules/groups.smk"


if FROM_RESULTS:
    # A job that is sent elsewhere reads the rules anew, and does not know that figures alone were asked for.
    workflow.localrules(*(rule.name for rule in workflow.rules))


attach_fingerprints(workflow)

if workflow.remote_exec:
    note_host(workflow)
