"""The tables of a study from those of its jobs: twins beside their models, and p corrected for the number of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from prasanga.associations.corrections import corrected
from prasanga.errors import InputError

_CELL = ("category", "model", "segment_length", "sample_mode")


def gather(estimates: Sequence[pa.Table], twins: Mapping[str, Sequence[pa.Table]]) -> pa.Table:
    """All estimates of a study in one table.

    Args:
        estimates: of the jobs, all with the same columns.
        twins: estimates of the twin with random weights of each model, by the name of the model.

    Returns:
        The rows of `estimates`, with `twin_effect_size` and `twin_p_stimuli` from the twin's row of the same category,
        length and sample mode, and with `p_stimuli_holm`, `p_stimuli_bh` and `n_tests` over all rows.
    """
    table = pa.concat_tables(estimates)
    key = [name for name in _CELL if name in table.column_names]
    known = {}
    for model, tables in twins.items():
        for row in pa.concat_tables(tables).select([*key, "effect_size", "p_stimuli"]).to_pylist():
            known[tuple({**row, "model": model}[name] for name in key)] = row["effect_size"], row["p_stimuli"]
    cells = zip(*(table.column(name).to_pylist() for name in key), strict=True)
    beside = [known.get(cell, (None, None)) for cell in cells]
    for name, values in zip(("twin_effect_size", "twin_p_stimuli"), zip(*beside, strict=True), strict=True):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), pa.array(values, pa.float64()))
    return corrected(table)


def require_rows(table: pa.Table, what: str) -> pa.Table:
    """Refuse a study in which nothing could be measured at all, with the reasons that its rows give.

    Raises:
        InputError: no row has an effect.
    """
    if pc.any(pc.is_valid(table["effect_size"])).as_py():
        return table
    reasons = dict.fromkeys(str(reason).rpartition("; ")[2] for reason in table["dropped"].to_pylist())
    raise InputError(
        f"{what}: not one category could be computed, in any of {len(table)} rows. The first reasons:"
        f" {'; '.join(list(reasons)[:3])}. Look at the coverage table, and add text or words."
    )
