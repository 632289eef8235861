"""Associations between target words and attributes: effect sizes, their tests and intervals, WEAT, SEAT and CEAT.

The functions take plain numpy arrays, so that they can be used in a notebook; what measures a whole study
(`measure_ceat` and others) takes and gives tables.
"""

from prasanga.associations.ceat import Ceat, ceat
from prasanga.associations.corrections import benjamini_hochberg, holm
from prasanga.associations.cosines import Cosines
from prasanga.associations.effects import association_scores, effect_size, effect_size_of_scores
from prasanga.associations.estimates import TestSettings
from prasanga.associations.permutation import PermutationTest, permutation_test, permutation_test_of_scores
from prasanga.associations.random_effects import RandomEffects, combine
from prasanga.associations.sampling import draw_contexts, named_draws
from prasanga.associations.seat import Seat, measure_seat, seat
from prasanga.associations.single import SingleTarget, sc_weat
from prasanga.associations.study import CEAT_SCHEMA, CeatSettings, CeatTables, measure_ceat
from prasanga.associations.weat import Weat, measure_weat, weat

__all__ = [
    "CEAT_SCHEMA",
    "Ceat",
    "CeatSettings",
    "CeatTables",
    "Cosines",
    "PermutationTest",
    "RandomEffects",
    "Seat",
    "SingleTarget",
    "TestSettings",
    "Weat",
    "association_scores",
    "benjamini_hochberg",
    "ceat",
    "combine",
    "draw_contexts",
    "effect_size",
    "effect_size_of_scores",
    "holm",
    "measure_ceat",
    "measure_seat",
    "measure_weat",
    "named_draws",
    "permutation_test",
    "permutation_test_of_scores",
    "sc_weat",
    "seat",
    "weat",
]
