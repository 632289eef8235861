"""Associations between target words and attributes: WEAT, SEAT and CEAT, from vectors to tables.

`weat`, `seat`, `ceat`, `effect_size`, `permutation_test` and `combine` take plain numpy arrays and work in a notebook.
`measure_ceat` and the like, `differences` and `settling` measure a whole study, from tables to tables.
docs/statistics.md has the formulas.
"""

from prasanga.associations.ceat import Ceat, ceat, contexts_enough, draw_contexts, draws_settled, named_draws
from prasanga.associations.comparisons import differences, settling
from prasanga.associations.contexts import CeatSettings, CeatTables, measure_ceat
from prasanga.associations.effects import (
    Seat,
    Weat,
    effect_size,
    measure_seat,
    measure_weat,
    permutation_test,
    seat,
    weat,
)
from prasanga.associations.estimates import Estimand, TestSettings, measure_cosines
from prasanga.associations.vectors import compute_cosines
from prasanga.stats import RandomEffects, combine
