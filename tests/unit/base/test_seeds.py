"""Seeds have names and do not move."""

from __future__ import annotations

from prasanga.base.seeds import generator, seed_of


def test_seeds_are_what_they_were() -> None:
    """Worked out once with hashlib by hand; another value would change every study."""
    assert seed_of(47, "ceat", "fixed") == int("1791d1a399df8ac9", 16)


def test_names_are_told_apart() -> None:
    seeds = {seed_of(1, "a", "b"), seed_of(1, "ab"), seed_of(1, "b", "a"), seed_of(2, "a", "b"), seed_of(1)}
    assert len(seeds) == 5


def test_a_generator_repeats_itself() -> None:
    assert generator(1, "x").integers(1 << 30) == generator(1, "x").integers(1 << 30)
    assert generator(1, "x").integers(1 << 30) != generator(1, "y").integers(1 << 30)
