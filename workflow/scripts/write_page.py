"""Adapter: all results of the study to one page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.parquet import write_text
from prasanga.provenance import describe
from prasanga.report.audit import AuditTables
from prasanga.report.embedding_files import read_files
from prasanga.report.other_methods import BesideCeat
from prasanga.report.page import render_page

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

LIBRARIES = ["matplotlib", "numpy", "polars", "pyarrow", "scipy"]

log_to(snakemake.log[0])
study = snakemake.params.study
audit = {Path(path).stem: pl.read_parquet(path) for path in snakemake.input.audit}
page = render_page(
    config=study,
    ceat=pl.read_parquet(snakemake.input.ceat),
    coverage=pl.read_parquet(snakemake.input.coverage) if snakemake.input.coverage else None,
    categories=json.loads(Path(snakemake.input.categories).read_text(encoding="utf-8")),
    forms=pl.read_parquet(snakemake.input.forms),
    models=[{"name": name, **settings} for name, settings in study["models"].items()],
    figure_svg=Path(snakemake.input.figure).read_text(encoding="utf-8"),
    corpus=[json.loads(Path(path).read_text(encoding="utf-8")) for path in snakemake.input.counts],
    audit=AuditTables(**audit) if audit.keys() == set(AuditTables._fields) else None,
    embeddings=read_files(snakemake.params.studied, [*snakemake.input.embeddings, *snakemake.input.models]),
    beside=BesideCeat(
        differences=pl.read_parquet(snakemake.input.differences),
        settling=pl.read_parquet(snakemake.input.settling),
        settling_svg=Path(snakemake.input.settling_figure).read_text(encoding="utf-8"),
        convergence_svg=Path(snakemake.input.convergence_figure).read_text(encoding="utf-8"),
        **{Path(path).stem: pl.read_parquet(path) for path in snakemake.input.others},
        **{
            Path(path).stem: pl.read_parquet(path)
            for path in (*snakemake.input.log_probability, *snakemake.input.structures)
        },
        structures_svg="".join(Path(path).read_text(encoding="utf-8") for path in snakemake.input.structures_figure),
        pairs=pl.read_parquet(snakemake.input.pairs) if snakemake.input.pairs else None,
        pairs_svg="".join(Path(path).read_text(encoding="utf-8") for path in snakemake.input.pairs_figure),
        pair_statistics=(pl.read_parquet(snakemake.input.pair_statistics) if snakemake.input.pair_statistics else None),
        pair_oddities={
            Path(path).name.removesuffix(".oddities.parquet"): pl.read_parquet(path)
            for path in snakemake.input.pair_oddities
        },
        tables=[Path(path).relative_to("results/report").as_posix() for path in snakemake.input.tables],
    ),
    made_from=describe("report", script=__file__, inputs=snakemake.input, settings=study, libraries=LIBRARIES),
)
write_text(snakemake.output[0], page)
