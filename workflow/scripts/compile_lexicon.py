"""Adapter: word lists and suffix groups to the table of surface forms and the categories."""

import json
import logging
from typing import TYPE_CHECKING

from prasanga.lexicon import categories_of, forms_table, load_lexicon
from prasanga.logs import log_to
from prasanga.parquet import write_table, write_text
from prasanga.provenance import describe

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
settings = snakemake.params.lexicon
lexicon = load_lexicon(settings["stimuli"], settings["suffix_groups"])
for warning in lexicon.warnings:
    logging.getLogger("prasanga.lexicon").warning("%s", warning)
made_from = describe("lexicon", script=__file__, inputs=snakemake.input, settings=settings)
write_table(snakemake.output.forms, forms_table(lexicon), made_from)
write_text(snakemake.output.categories, json.dumps(categories_of(lexicon), ensure_ascii=False, indent=1) + "\n")
