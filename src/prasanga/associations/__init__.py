"""Associations between target words and attributes: effect sizes, their tests and intervals, WEAT, SEAT and CEAT.

The functions take plain numpy arrays, so that they can be used in a notebook; what measures a whole study
(`measure_ceat` and others, `differences`, `settling`) takes and gives tables. docs/statistics.md has the formulas.
"""

from prasanga.associations.ceat import (
    Ceat,
    ceat,
    contexts_enough,
    convergence,
    draw_contexts,
    draws_settled,
    named_draws,
)
from prasanga.associations.comparisons import differences, settling
from prasanga.associations.cosines import Cosines, contributions, leave_one_out
from prasanga.associations.effects import (
    RandomEffects,
    association_scores,
    benjamini_hochberg,
    combine,
    effect_size,
    effect_size_of_scores,
    holm,
)
from prasanga.associations.estimates import (
    ShuffledControl,
    TestSettings,
    measure_cosines,
    shuffled_control,
    shuffled_effects,
)
from prasanga.associations.intervals import (
    Interval,
    Resampling,
    difference_interval,
    draw_resampling,
    interval,
    replicate_effects,
)
from prasanga.associations.permutation import (
    PermutationTest,
    SingleTarget,
    permutation_test,
    permutation_test_of_scores,
    sc_weat,
    smallest_effect,
    smallest_effect_of_sizes,
)
from prasanga.associations.study import CEAT_SCHEMA, CeatSettings, CeatTables, measure_ceat
from prasanga.associations.weat import Seat, Weat, measure_seat, measure_weat, seat, weat
