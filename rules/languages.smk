"""A study of several languages: a study of each, by the same rules, and one table, one page over them.

The results of a language are those of a study of that language alone, in a folder of its own below results/. Its rules begin
with its name: `hi_measure_ceat`.
"""

PARTS = {language: f"{language.replace('-', '_')}_" for language in STUDIES}

for language, prefix in PARTS.items():

    module:
        name: language
        pathvars:
            results=PLACES[language],
            logs=f"logs/{language}",
            benchmarks=f"benchmarks/{language}",
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
METHODS_JOINED = {name: f"{RESULTS}/{method_named(name).tables[0].path}.parquet" for name in names_of(FAMILY)}


rule join_languages:
    """The tables of all languages, one file each, with a column `language`."""
    input:
        list_paths(JOINED),
    output:
        list(JOINED),
    log:
        "<logs>/join_languages.log",
    params:
        parts=list(JOINED.values()),
    script:
        "../workflow/scripts/join_languages.py"


rule write_front_page:
    """The page over the pages of all languages, and the summary that names theirs."""
    input:
        [getattr(rules, f"{prefix}write_page").output for prefix in PARTS.values()],
        list(JOINED),
    output:
        page="<results>/report/index.html",
        summary="<results>/summary.json",
    log:
        "<logs>/write_front_page.log",
    params:
        study={key: WRITTEN[key] for key in ("study", "title", "note", "report")},
        parts={language: language for language in STUDIES},
        tables={name: path for name, path in METHODS_JOINED.items() if path in JOINED},
        files=[path.removeprefix(f"{RESULTS}/") for path in JOINED],
    script:
        "../workflow/scripts/write_front_page.py"


REPORT = rules.write_front_page.output
TABLES_OF_STUDY = list(JOINED)
for prefix in PARTS.values():
    TABLES_OF_STUDY += [*getattr(rules, f"{prefix}tables").input, *getattr(rules, f"{prefix}figures").input]


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        REPORT,
        TABLES_OF_STUDY,
