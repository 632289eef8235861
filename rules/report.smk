"""Tables to figures and the page. Needs cached results only, and never imports torch."""

from prasanga.report.figures import Measured, drawings_of, figure_files, tables_drawn

PRODUCTS = FILES.products(SETTINGS.paper_tables(), COMPARISON)
TABLES = FILES.written(PRODUCTS)

# The figures of the study by the name of their files, each with what it is drawn from.
DRAWINGS = drawings_of(
    Measured(config, FILES.models_of_traits() if "traits" in FILES.results else []),
    {
        **FILES.results,
        **{"categories": path for path in FILES.of_words().get("categories", [])},
        **({"comparison": "results/report/comparison.csv"} if COMPARISON else {}),
        **({"methods": "results/report/tables/methods.csv"} if "agreement" in PRODUCTS else {}),
    },
)
DRAWN_BY = {name: module_file(drawing.figure.module) for name, drawing in DRAWINGS.items()}
DRAWING_CODE = fingerprints(set(DRAWN_BY.values()))
ON_PAGE = [name for name, drawing in DRAWINGS.items() if drawing.figure.on_page]
ON_REQUEST = [name for name in DRAWINGS if name not in ON_PAGE]
CARDS = expand("results/report/{name}_card.md", name=["methods", "data"])
# What belongs beside the page.
BESIDE = [*figure_files(ON_PAGE, config["report"]), *TABLES, *CARDS]


rule write_tables:
    """Tables in the papers' layouts, the study beside a paper, methods compared; copies of the data behind the page."""
    input:
        FILES.read_by(PRODUCTS),
    output:
        captioned(TABLES),
    log:
        "logs/report/tables.log",
    params:
        products=PRODUCTS,
    script:
        "../workflow/scripts/write_tables.py"


if ON_PAGE:

    rule draw_figures:
        """All figures of the page, in all their formats and widths; `prasanga.report.figures` lists them."""
        input:
            tables_drawn(DRAWINGS, ON_PAGE),
        output:
            captioned(figure_files(ON_PAGE, config["report"])),
        log:
            "logs/report/figures.log",
        params:
            drawings=lambda wildcards: describe_drawings(ON_PAGE),
        script:
            "../workflow/scripts/draw_figures.py"


if ON_REQUEST:

    rule draw_one_figure:
        """A figure that is not on the page, only when asked for."""
        input:
            lambda wildcards: tables_drawn(DRAWINGS, [wildcards.figure]),
        output:
            figure_files(["{figure}"], config["report"]),
        log:
            "logs/report/figures/{figure}.log",
        wildcard_constraints:
            figure=name_in(ON_REQUEST),
        params:
            drawings=lambda wildcards: describe_drawings([wildcards.figure]),
        script:
            "../workflow/scripts/draw_figures.py"


rule write_page:
    """The page; and what was measured on what, how, and what came out, for programs, for papers and for data sets."""
    input:
        **FILES.shown(),
        figures=expand("results/report/figures/{name}.svg", name=ON_PAGE),
        tables=TABLES,
        records=FILES.records(),
    output:
        page=in_report("results/report/index.html", "page", "Page", page="all results"),
        summary="results/summary.json",
        methods=in_report(CARDS[0], "cards", "Cards", card="methods"),
        data=in_report(CARDS[1], "cards", "Cards", card="data"),
    log:
        "logs/report/page.log",
    params:
        study=SETTINGS.page(),
        studied=STUDY.models.studied,
        missing=FILES.missing,
        files=BESIDE,
        compared=PRODUCTS["comparison"][-1] if COMPARISON else [],
        # functions of `input` are not compared: where vectors come from the cache, less is known of texts and corpus
        numbers=lambda wildcards, input: FILES.tables_of_numbers(),
    script:
        "../workflow/scripts/write_page.py"


REPORT = rules.write_page.output
# Named one by one, so that a file that was deleted is made again though nothing else needs it.
TABLES_OF_STUDY = [*FILES.results.values(), *FILES.data().values(), *BESIDE]


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        REPORT,
        BESIDE,
