"""Associations between target words and attributes: effect sizes, their tests, and CEAT tables."""

from prasanga.associations.ceat import Ceat, ceat
from prasanga.associations.effects import association_scores, effect_size, effect_size_of_scores
from prasanga.associations.permutation import PermutationTest, permutation_test, permutation_test_of_scores
from prasanga.associations.random_effects import RandomEffects, combine
from prasanga.associations.sampling import draw_contexts, named_draws
from prasanga.associations.study import CEAT_SCHEMA, CeatSettings, measure

__all__ = [
    "CEAT_SCHEMA",
    "Ceat",
    "CeatSettings",
    "PermutationTest",
    "RandomEffects",
    "association_scores",
    "ceat",
    "combine",
    "draw_contexts",
    "effect_size",
    "effect_size_of_scores",
    "measure",
    "named_draws",
    "permutation_test",
    "permutation_test_of_scores",
]
