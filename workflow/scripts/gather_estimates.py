"""Adapter: the estimates of all jobs to one table per method, corrected together, and their words to another."""

import pyarrow as pa
import pyarrow.csv

from prasanga.associations.comparisons import adjust, correct_tests, gather, select_for_csv
from prasanga.base.documents import guarded
from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import read_table, replacing, require_equal, write_table
from prasanga.methods import method_named

log_to(snakemake.log[0])
plain = {path: read_table(path).replace_schema_metadata() for path in snakemake.input}
permuted = {method: method_named(method).permuted for method in snakemake.params.methods}
effects, words = {}, {}
for method, parts in snakemake.params.methods.items():
    require_equal([*parts["estimates"], *parts["twins"], *parts["words"]], ["stage", "version"])
    twins: dict[str, list[pa.Table]] = {}
    for path, model in zip(parts["twins"], parts["twin_of"], strict=True):
        twins.setdefault(model, []).append(plain[path])
    effects[method], words[method] = adjust(
        gather([plain[path] for path in parts["estimates"]], twins, permuted=permuted[method]),
        pa.concat_tables(plain[path] for path in parts["words"]),
        [plain[path] for path in parts["coverage"]],
        {model: plain[path] for model, path in parts["tokenizers"].items()},
    )
made_from = describe("associations", inputs=snakemake.input)
for method, table in correct_tests(effects, permuted).items():
    if path := snakemake.params.methods[method]["table"]:
        write_table(f"{path}.parquet", table, made_from)
        write_table(f"{path}_words.parquet", words[method], made_from)
        with replacing(f"{path}.csv") as temporary:
            pyarrow.csv.write_csv(guarded(select_for_csv(table, snakemake.params.language)).to_arrow(), temporary)
