"""Tables to figures and the page. Needs cached results only, and never imports torch."""

from prasanga.report.figures import describe_drawings, drawings_of, figure_files, tables_drawn
from prasanga.report.paper_tables import list_read, list_written, plan_comparison, plan_products

COMPARISON = {}

if config["comparison"]["paper"] != "none":
    # a name that the study or the paper does not have is reported before any job
    STUDIED = list(dict.fromkeys([*sorted(STUDY.embedded.models), *STUDY.scored.models, *config["static"]["vectors"]]))
    COMPARISON, WHY_NONE = readable(plan_comparison, config, place("resources/published"), STUDIED, FILES.results)
    WARNINGS.append(WHY_NONE)

PRODUCTS = plan_products(config, FILES.results, FILES.data(), COMPARISON, STUDY.results)
WRITTEN_TABLES = list_written(PRODUCTS)
SHOWN = FILES.shown()

# The figures of the study by the name of their files, each with its tables.
DRAWINGS = drawings_of(
    config,
    {
        **FILES.results,
        **{"categories": path for path in SHOWN.get("categories", [])},
        **({"comparison": f"{STUDY.results}/report/comparison.csv"} if COMPARISON else {}),
        **({"methods": f"{STUDY.results}/report/tables/methods.csv"} if "agreement" in PRODUCTS else {}),
    },
    list(STUDY.scored.masked.models) if "traits" in FILES.results else [],
)
DESCRIBED = describe_drawings(DRAWINGS, config["report"], STUDY.results)
ON_PAGE = [name for name, drawing in DRAWINGS.items() if drawing.figure.on_page]
ON_REQUEST = [name for name in DRAWINGS if name not in ON_PAGE]
CARDS = [f"{STUDY.results}/report/{name}_card.md" for name in ("methods", "data")]
# The files that go with the page.
BESIDE = [*figure_files(ON_PAGE, config["report"], STUDY.results), *WRITTEN_TABLES, *CARDS]


if COMPARISON:
    COMPARED = {
        method: paths if method == "pairs" else FILES.estimates(method.removesuffix("_bias"))
        for method, paths in PRODUCTS["comparison"].sources.items()
        if method != "first_draws"
    }

    rule compare_one_method:
        """One method, only when asked for, and before p is corrected over all: SEAT takes no corpus, CEAT does."""
        input:
            unpack(lambda wildcards: {wildcards.method: COMPARED[wildcards.method]}),
        output:
            "<results>/report/comparison_{method}.csv",
            "<results>/report/comparison_{method}.md",
        log:
            "<logs>/report/comparison_{method}.log",
        wildcard_constraints:
            method=name_in(COMPARED),
        params:
            comparison=COMPARISON,
        script:
            "../workflow/scripts/compare_one_method.py"


rule write_tables:
    """Tables in the papers' layouts, the study next to a paper, methods compared; copies of the data behind the page."""
    input:
        list_read(PRODUCTS),
    output:
        WRITTEN_TABLES,
    log:
        "<logs>/report/tables.log",
    params:
        products={name: list(product) for name, product in PRODUCTS.items()},
    script:
        "../workflow/scripts/write_tables.py"


if ON_PAGE:

    rule draw_figures:
        """All figures of the page, in all their formats and widths; `prasanga.report.figures` lists them."""
        input:
            tables_drawn(DRAWINGS, ON_PAGE),
        output:
            figure_files(ON_PAGE, config["report"], STUDY.results),
        log:
            "<logs>/report/figures.log",
        params:
            drawings=[DESCRIBED[name] for name in ON_PAGE],
        script:
            "../workflow/scripts/draw_figures.py"


if ON_REQUEST:

    rule draw_one_figure:
        """A figure that is not on the page, only when asked for."""
        input:
            lambda wildcards: tables_drawn(DRAWINGS, [wildcards.figure]),
        output:
            figure_files(["{figure}"], config["report"], STUDY.results),
        log:
            "<logs>/report/figures/{figure}.log",
        wildcard_constraints:
            figure=name_in(ON_REQUEST),
        params:
            drawings=lambda wildcards: [DESCRIBED[wildcards.figure]],
        script:
            "../workflow/scripts/draw_figures.py"


rule write_page:
    """The page, the summary for programs, and the cards on methods and data."""
    input:
        **SHOWN,
        figures=expand("<results>/report/figures/{name}.svg", name=ON_PAGE),
        tables=WRITTEN_TABLES,
        records=FILES.records(),
    output:
        page=report(
            "<results>/report/index.html",
            caption="../workflow/report/page.rst",
            category="Page",
            labels={"page": "all results"},
        ),
        summary="<results>/summary.json",
        methods=CARDS[0],
        data=CARDS[1],
    log:
        "<logs>/report/page.log",
    params:
        study=SETTINGS.page(),
        studied=STUDY.embedded.models,
        missing=FILES.missing,
        files=BESIDE,
        compared=list_written({name: PRODUCTS[name] for name in ("comparison", "described") if name in PRODUCTS}),
        # functions of `input` are not compared: where vectors come from the cache, less is known of texts and corpus
        numbers=lambda wildcards, input: FILES.tables_of_numbers(),
    script:
        "../workflow/scripts/write_page.py"


REPORT = rules.write_page.output
# Named one by one, so that a file that was deleted is made again though nothing else needs it.
TABLES_OF_STUDY = [*FILES.results.values(), *FILES.data().values(), *BESIDE]


rule tables:
    """All tables of results."""
    input:
        FILES.results.values(),
        FILES.data().values(),


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        REPORT,
        BESIDE,
