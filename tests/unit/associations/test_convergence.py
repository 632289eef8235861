"""The effect with more and more draws, and the number of draws from which on it stays in the band."""

import numpy as np
import pytest
from tables import read_cases

from prasanga.associations import combine
from prasanga.associations.ceat import Combined, convergence, draws_settled, sizes_up_to


def rows(*effects: float) -> list[Combined]:
    return [Combined(100 * i, effect, 0.1) for i, effect in enumerate(effects, start=1)]


@pytest.mark.parametrize(("n_draws", "sizes"), read_cases(__file__, "sizes"))
def test_sizes(n_draws: int, sizes: list[int]) -> None:
    assert sizes_up_to(n_draws) == sizes


@pytest.mark.parametrize("tau2", ["dl", "pm", "reml"])
def test_each_row_combines_the_first_draws(tau2: str) -> None:
    rng = np.random.default_rng(1)
    effects, variances = rng.normal(0.4, 0.3, 700), rng.uniform(0.01, 0.1, 700)
    found = convergence(effects, variances, tau2, [100, 200, 500, 700])
    assert [row.n for row in found] == [100, 200, 500, 700]
    for n, effect, standard_error in found:
        expected = combine(effects[:n], variances[:n], tau2=tau2)
        assert (effect, standard_error) == (expected.effect, expected.standard_error)


@pytest.mark.parametrize(
    ("effects", "settled"),
    [
        ((0.5, 0.5, 0.5), 100),
        ((0.1, 0.45, 0.5), 200),
        ((0.45, 0.1, 0.5), None),  # the last is within any band of itself
        ((0.45, 0.1, 0.55, 0.5), 300),  # 100 draws were within the band, but did not stay
        ((0.4375, 0.5), 100),  # the border belongs to the band
        ((0.4374, 0.5), None),
        ((0.5,), None),
        ((-0.5, 0.5), None),
    ],
)
def test_draws_settled(effects: tuple[float, ...], settled: int | None) -> None:
    assert draws_settled(rows(*effects), 0.0625) == settled
