"""The tables of a study from those of its jobs: twins beside their models, and p corrected for the number of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from prasanga.associations.corrections import corrected

_CELL = ("category", "model", "segment_length", "sample_mode")


def gather(
    estimates: Sequence[pa.Table], twins: Mapping[str, Sequence[pa.Table]], family: Sequence[pa.Table] = ()
) -> pa.Table:
    """All estimates of a method in one table.

    Args:
        estimates: of the jobs, all with the same columns.
        twins: estimates of the twin with random weights of each model, by the name of the model.
        family: estimates of the study's other methods, whose tests count in the correction: whoever looks at all
            tables looks at all tests.

    Returns:
        The rows of `estimates`, with `twin_effect_size` and `twin_p_stimuli` from the twin's row of the same category,
        length and sample mode, and with `p_stimuli_holm`, `p_stimuli_bh` and `n_tests` over these and the family's.
    """
    table = pa.concat_tables(estimates)
    key = [name for name in _CELL if name in table.column_names]
    known = {}
    for model, tables in twins.items():
        for row in pa.concat_tables(tables).select([*key, "effect_size", "p_stimuli"]).to_pylist():
            known[tuple({**row, "model": model}[name] for name in key)] = row["effect_size"], row["p_stimuli"]
    beside = [known.get(tuple(row.values()), (None, None)) for row in table.select(key).to_pylist()]
    for number, name in enumerate(("twin_effect_size", "twin_p_stimuli")):
        place = table.schema.get_field_index(name)
        values = pa.array([pair[number] for pair in beside], pa.float64())
        table = table.set_column(place, table.schema.field(place), values)
    shared = pa.concat_tables([table.select(["p_stimuli"]), *(other.select(["p_stimuli"]) for other in family)])
    found = corrected(shared).slice(0, len(table))
    for name in ("p_stimuli_holm", "p_stimuli_bh", "n_tests"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), found[name])
    return table
