"""Effect sizes, random effects, permutation tests, intervals, power and controls: pure functions of numbers.

Nothing here depends on the measure, the source of vectors or the report. docs/statistics.md has the
formulas.
"""

from prasanga.stats.crossed import CrossedScores, leave_one_out
from prasanga.stats.effects import ConstantScoresError, RandomEffects, combine, effect_size_of_scores
from prasanga.stats.intervals import Interval, adjusted_difference, interval, omit_units
from prasanga.stats.permutation import PermutationTest, Units, benjamini_hochberg, holm
