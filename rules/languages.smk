"""A study of several languages: a study of each, by the same rules, and one table, one page over them.

The results of a language equal a study of only that language, in a separate folder below results/. Its rules begin
with its name: `hi_measure_ceat`.
"""

from prasanga.plan.models import plan_embedded, plan_scored
from prasanga.report.paper_tables import list_read, list_written, plan_comparison, plan_products

PARTS = {language: f"{language.replace('-', '_')}_" for language in STUDIES}

if is_asked_for(config["construction"], sys.argv, INSTALLATION / "construction/construction.smk"):
    raise WorkflowError(
        "Pairs are made and examined in a study of one language: write `languages` with one in a study of its own."
    )

# What a profile or the command sets for a rule holds for the rule of each language.
for settings in ("overwrite_resources", "overwrite_threads"):
    parsed = getattr(workflow.resource_settings, f"_parsed_{settings}")
    parsed |= {f"{prefix}{rule}": value for prefix in PARTS.values() for rule, value in parsed.items()}

for language, prefix in PARTS.items():

    module:
        name: language
        pathvars:
            results=PLACES[language],
            logs=f"logs/{language}",
            benchmarks=f"benchmarks/{language}",
            part=language,
        snakefile:
            str(INSTALLATION / "Snakefile")
        config:
            STUDIES[language]

    use rule * from language as prefix*


# By the path of a table over all languages, the table of each.
JOINED: dict[str, dict[str, str]] = {}
for language, prefix in PARTS.items():
    for path in getattr(rules, f"{prefix}tables").input:
        if path.endswith((".parquet", ".csv")):
            JOINED.setdefault(f"{RESULTS}/{path.removeprefix(PLACES[language] + '/')}", {})[language] = str(path)
OVER_LANGUAGES = {name: path for name, table in TABLES.items() if (path := f"{RESULTS}/{table.path}.parquet") in JOINED}


rule join_languages:
    """The tables of all languages, one file each, with a column `language`."""
    input:
        list_paths(JOINED),
    output:
        list(JOINED),
    log:
        "<logs>/report/join_languages.log",
    localrule: True
    params:
        parts=list(JOINED.values()),
    script:
        "../workflow/scripts/join_languages.py"


# Tables of the papers with languages side by side, and the study beside a paper.
COMPARISON = {}
if config["comparison"]["paper"] != "none":
    NAMES = (
        [*plan_embedded(own, are_joined=True).models, *plan_scored(own).models, *own["static"]["vectors"]]
        for own in STUDIES.values()
    )
    STUDIED = sorted({name for names in NAMES for name in names})
    COMPARISON, WHY_NONE = readable(plan_comparison, config, place("resources/published"), STUDIED, OVER_LANGUAGES)
    WARNINGS.append(WHY_NONE)
PRODUCTS = plan_products(config, OVER_LANGUAGES, {}, COMPARISON, RESULTS)
TABLES_OF_PAPERS = list_written(PRODUCTS)

if PRODUCTS:

    rule write_tables:
        """Tables in the papers' layouts with languages side by side; all languages next to a paper."""
        input:
            list_read(PRODUCTS),
        output:
            TABLES_OF_PAPERS,
        log:
            "<logs>/report/tables.log",
        localrule: True
        params:
            products={name: list(product) for name, product in PRODUCTS.items()},
        script:
            "../workflow/scripts/write_tables.py"


rule write_front_page:
    """The page over the pages of all languages, and the summary that names theirs."""
    input:
        [getattr(rules, f"{prefix}write_page").output for prefix in PARTS.values()],
        list(JOINED),
        TABLES_OF_PAPERS,
    output:
        page="<results>/report/index.html",
        summary="<results>/summary.json",
    log:
        "<logs>/report/front_page.log",
    localrule: True
    params:
        study={key: WRITTEN[key] for key in ("study", "title", "note", "report")},
        languages=list(STUDIES),
        tables=OVER_LANGUAGES,
        files=[path.removeprefix(f"{RESULTS}/") for path in (*JOINED, *TABLES_OF_PAPERS)],
    script:
        "../workflow/scripts/write_front_page.py"


REPORT = rules.write_front_page.output
TABLES_OF_STUDY = [*JOINED, *TABLES_OF_PAPERS]
for prefix in PARTS.values():
    TABLES_OF_STUDY += [*getattr(rules, f"{prefix}tables").input, *getattr(rules, f"{prefix}figures").input]


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        REPORT,
        TABLES_OF_STUDY,
