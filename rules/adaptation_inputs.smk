"""What the rules of adaptation and translation read: names of files, and what to write where something is missing."""

ADAPTED = config["construction"]["pairs"] or "none"
ADAPTATION = f"results/construction/{ADAPTED}/adaptation"
TRANSLATION = f"results/construction/{ADAPTED}/translation/{config['construction']['into']}"
RETURNED = f"{config['construction'].get('returned', 'annotations')}/{ADAPTED}"


def pairs_to_construct(wildcards):
    """The table of the set that is adapted or translated; without one, what to write."""
    if config["construction"]["pairs"] is None:
        raise WorkflowError(
            "construction.pairs is null, so there is nothing to adapt or translate. Name a set of pairs.sets there"
            " (docs/construction.md)."
        )
    if ADAPTED not in config["pairs"]["sets"]:
        known = ", ".join(config["pairs"]["sets"]) or "none"
        raise WorkflowError(
            f"construction.pairs is {ADAPTED!r}, and pairs.sets has: {known}. Write one of them, or add the set to"
            " pairs.sets."
        )
    return f"results/pairs/{ADAPTED}.parquet"


def translations(wildcards):
    """The candidates of every engine; without an engine, what to write."""
    engines = config["construction"]["translators"]
    unknown = [engine for engine in engines if engine not in config["models"]]
    if unknown or not engines:
        found = f"names {unknown[0]!r}, which is not among models" if unknown else "is empty"
        raise WorkflowError(
            f"construction.translators {found}. Name encoder-decoders of `models` there, two or more if possible"
            " (docs/construction.md)."
        )
    return expand(f"{TRANSLATION}/candidates/{{family}}.parquet", family=engines)


def returned_sheet(path):
    """A sheet that people have filled in; as long as it is not there, where to put it."""
    if not Path(path).exists():
        raise WorkflowError(
            f"{path} is not there. Put the sheet that came back there, as CSV in UTF-8 (docs/construction.md), or write"
            " another folder under construction.returned."
        )
    return path


def returned_translations(wildcards):
    """The sheets of all annotators."""
    annotators = config["construction"]["annotators"]
    return [
        returned_sheet(f"{RETURNED}/translation/{config['construction']['into']}/{name}.csv") for name in annotators
    ]


def returned_key(wildcards):
    """The key to the sheets that were given out, kept beside those that came back."""
    path = f"{RETURNED}/translation/{config['construction']['into']}/key.csv"
    if not Path(path).exists():
        raise WorkflowError(
            f"{path} is not there. It says what the letters of the sheets mean: copy {TRANSLATION}/key.csv there when"
            " the sheets are given out (docs/construction.md)."
        )
    return path


def decisions_on_translations(wildcards):
    """The file that settles ties, where there is one."""
    path = f"{RETURNED}/translation/{config['construction']['into']}/decisions.csv"
    return [path] if Path(path).exists() else []


def adaptation_settings():
    """What decides which pairs are on the sheet, and which names are suggested."""
    return {"into": config["construction"]["into"], "names": "resources/candidates", "seed": config["seed"]}


def sets_by_model(ending):
    """A file for each set of pairs and model; without sets, what to write."""
    if not config["pairs"]["sets"]:
        raise WorkflowError("pairs.sets is empty, so there are no pairs to look at. Add a set (docs/construction.md).")
    return expand(
        f"results/construction/shared_pieces/{{set}}/{{family}}.{ending}",
        set=sorted(config["pairs"]["sets"]),
        family=sorted(config["models"]),
    )
