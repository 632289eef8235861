"""Whether the results are what they say they are; only when asked for, and then alone.

    snakemake check_results --cores 1

It reads every file under results/ and makes none of them, so that it runs whenever it is asked for. No corpus, model or
vectors need to be there; what is absent is told.
"""

if "check_results" in sys.argv and not CHECKED:
    raise WorkflowError(
        "check_results looks at results that nobody is writing. Ask for it alone: snakemake check_results --cores 1"
    )


rule check_results:
    """Compares every file with the ledger, and what it was made from with what is there."""
    log:
        "logs/provenance/check.log",
    localrule: True
    params:
        table="logs/provenance/check.tsv",
        wanted=[*REPORT, *TABLES_OF_STUDY],
        planned=[path for path in FILES.word_lists() if Path(path).is_file()],
    script:
        "../workflow/scripts/check_results.py"
