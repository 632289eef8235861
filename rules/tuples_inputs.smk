"""What the rules from tuples to pairs read: names of files, and what to write where something is missing."""

from prasanga.construction.planning import require_proposer
from prasanga.construction.sheets import check_annotators

CONSTRUCTION = config["construction"]
IDENTITIES = CONSTRUCTION["identities"] or f"resources/construction/{config['language']}/identities.yaml"
TEMPLATES_OF_PAIRS = CONSTRUCTION["templates"] or f"resources/construction/{config['language']}/templates.yaml"
ANNOTATORS = CONSTRUCTION["annotators"]
FILLED_IN = CONSTRUCTION.get("returned", "annotations")
FILLED_SHEETS = [f"{FILLED_IN}/tuples/{annotator}.csv" for annotator in ANNOTATORS]
REVIEWED_SENTENCES = f"{FILLED_IN}/sentences.csv"
PROPOSED = "results/construction/attributes.csv"


def tuples_to_annotate():
    """The tuples of the study, or those that a model proposes."""
    return CONSTRUCTION["tuples"] or PROPOSED


def annotated_tuples():
    """The tuples with the votes of the sheets that came back; where none did, those of the study with their own."""
    if any(readable(Path(sheet).exists) for sheet in FILLED_SHEETS) or not CONSTRUCTION["tuples"]:
        return "results/construction/tuples.csv"
    return CONSTRUCTION["tuples"]


def filled_sheets(wildcards):
    """The sheets of all annotators, as they came back."""
    readable(check_annotators, ANNOTATORS)
    for sheet in FILLED_SHEETS:
        if not readable(Path(sheet).exists):
            raise WorkflowError(
                f"{sheet} is not there. Put the sheet that this annotator has filled in there, as CSV in UTF-8; empty ones"
                " are written by `snakemake write_annotation_sheets` (docs/construction.md)."
            )
    return FILLED_SHEETS


def proposer_files(wildcards):
    """The files of the model that proposes; without one, what to write."""
    return FILES.model(readable(require_proposer, CONSTRUCTION, config["models"]))


def proposer_settings():
    """Which model proposes, and with which seed."""
    name = CONSTRUCTION["proposer"]
    if name not in config["models"]:
        return {}
    which = {"dtype": config["models"][name]["dtype"], "files": SETTINGS.model_files(name), "seed": config["seed"]}
    return {**SETTINGS.model(name), **which}


def proposer_cards():
    """The cards that the model is spread over; 0 if it runs on the processor."""
    return config["models"].get(CONSTRUCTION["proposer"], {}).get("cards", 1)


def sentences_of_pairs(wildcards):
    """Sentences that people have reviewed; else those of the model, if there is one."""
    if Path(REVIEWED_SENTENCES).exists():
        return [REVIEWED_SENTENCES]
    return ["results/construction/sentences.csv"] if CONSTRUCTION["proposer"] else []
