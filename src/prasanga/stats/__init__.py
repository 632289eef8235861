"""Effect sizes, random effects, permutation tests, intervals, power and controls: pure functions of numbers.

Nothing here knows what was measured, where vectors come from or how a result is shown. docs/statistics.md has the
formulas.
"""

from prasanga.stats.crossed import CrossedScores, contributions, leave_one_out, variance_components
from prasanga.stats.effects import ConstantScoresError, RandomEffects, combine, effect_size_of_scores
from prasanga.stats.intervals import (
    BesideTwins,
    Interval,
    Resampling,
    ShuffledControl,
    adjusted_difference,
    compare_with_twins,
    difference_interval,
    draw_resampling,
    interval,
    moderate_deviations,
    omit_units,
    shuffled_control,
)
from prasanga.stats.permutation import (
    PermutationTest,
    Units,
    benjamini_hochberg,
    find_detectable_difference,
    holm,
    matched_effect_size,
    permutation_test_of_scores,
    sign_flip_test,
)
