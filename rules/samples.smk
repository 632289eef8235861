"""Sentences to segments of a length, per stimulus; and the sampled contexts as a data set for others.

A checkpoint, because what is embedded depends on what is drawn: a bucket that comes out as it was is not embedded again.
Snakemake waits for the first output of a checkpoint only, so that one is named after all others: for another length or
another number of buckets it is missing, and the samples are drawn again.
"""

SHORT_BY = "samples: lengths pool minimum window longest"

if STUDY.texts.supplement:

    rule find_short_stimuli:
        """The stimuli with too few contexts at some length; the supplement is searched for these alone."""
        input:
            FILES.fill(SENTENCES),
        output:
            "<results>/samples/short.json",
        log:
            "<logs>/samples/short.log",
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            sampling={**SETTINGS.select(SHORT_BY), "stimuli": STUDY.words.stimuli},
        script:
            "../workflow/scripts/find_short_stimuli.py"


checkpoint draw_samples:
    """The contexts of every stimulus, cut to every length; buckets by stimulus, so that a new category touches few."""
    input:
        sentences=FILES.fill(SENTENCES),
        supplement=FILES.fill(SUPPLEMENT),
    output:
        drawn=STUDY.drawn,
        segments=FILES.fill(SEGMENTS),
        coverage="<results>/samples/coverage.parquet",
        forms="<results>/samples/forms.parquet",
    log:
        "<logs>/samples/draw.log",
    params:
        version={"SENTENCES_VERSION": SENTENCES_VERSION},
        sampling=SETTINGS.sampling(),
    script:
        "../workflow/scripts/draw_samples.py"


if FILES.measured_sentences():

    rule choose_sentences:
        """Some of the sentences that each word was measured in, to be read behind the numbers of the page."""
        input:
            **FILES.texts_measured(),
        output:
            parquet="<results>/samples/measured_sentences.parquet",
            tsv="<results>/samples/measured_sentences.tsv",
        log:
            "<logs>/report/sentences.log",
        script:
            "../workflow/scripts/choose_sentences.py"


rule export_release:
    """The CSV in the layout of the authors, where its sentences come from and under which terms, and a datasheet."""
    input:
        sentences=FILES.fill(SENTENCES),
        supplement=FILES.fill(SUPPLEMENT),
        segments=FILES.fill(SEGMENTS),
    output:
        sentences="<results>/release/sentences.csv",
        sources="<results>/release/SOURCES.md",
        datasheet="<results>/release/README.md",
    log:
        "<logs>/release/export.log",
    params:
        release=SETTINGS.release(),
    script:
        "../workflow/scripts/export_release.py"


rule release:
    """The data set to pass on, in results/release; runs when asked for."""
    input:
        rules.export_release.output,
