"""Adapter: tables of earlier stages to copies beside the page."""

import shutil
from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.base.parquet import replacing, require_every_page

log_to(snakemake.log[0])
for source, path in zip(snakemake.input, snakemake.output, strict=True):
    if Path(source).suffix == ".parquet":
        require_every_page(source)  # damage must not get a copy
    with replacing(path) as temporary:
        shutil.copyfile(source, temporary)
# what an earlier run left must not go with the page: texts may have been hidden since
written = set(map(Path, snakemake.output))
for folder in {path.parent for path in written}:
    for path in filter(Path.is_file, set(folder.iterdir()) - written):
        path.unlink()
