"""GloVe's updates, compiled: AdaGrad over the counts in the order in which they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prasanga.text.compiled import compiled


@compiled
def update(
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[Any],
    logs: NDArray[Any],
    parameters: NDArray[Any],
    squares: NDArray[Any],
    rate: Any,
) -> float:
    """Go once over counts and change `parameters` and `squares` in place.

    Args:
        rows: (n,) the word i of each count.
        columns: (n,) the word j.
        weights: (n,) f(X_ij).
        logs: (n,) log X_ij.
        parameters: (2, n_words, d + 1); row i of [0] is w_i and the bias b_i, of [1] c_i and d_i.
        squares: the same shape, AdaGrad's sums.
        rate: in the parameters' type.

    Returns:
        The sum of half the weighted squared errors, each before its own update.
    """
    d = parameters.shape[2] - 1
    loss = 0.0
    for entry in range(len(rows)):
        w, c = parameters[0, rows[entry]], parameters[1, columns[entry]]
        w_squares, c_squares = squares[0, rows[entry]], squares[1, columns[entry]]
        # Four sums that do not wait for each other.
        error = w[d] + c[d] - logs[entry]
        second = error - error
        third, fourth = second, second
        k = 0
        while k + 4 <= d:
            error += w[k] * c[k]
            second += w[k + 1] * c[k + 1]
            third += w[k + 2] * c[k + 2]
            fourth += w[k + 3] * c[k + 3]
            k += 4
        while k < d:
            error += w[k] * c[k]
            k += 1
        error += second + third + fourth
        weighted = weights[entry] * error
        loss += 0.5 * weighted * error
        step = rate * weighted
        for k in range(d):
            of_w, of_c = step * c[k], step * w[k]
            # np.divide looks at no zero, which would keep the loop from being vectorized; squares are 1 and more.
            w[k] -= np.divide(of_w, np.sqrt(w_squares[k]))
            c[k] -= np.divide(of_c, np.sqrt(c_squares[k]))
            w_squares[k] += of_w * of_w
            c_squares[k] += of_c * of_c
        w[d] -= np.divide(step, np.sqrt(w_squares[d]))
        c[d] -= np.divide(step, np.sqrt(c_squares[d]))
        w_squares[d] += step * step
        c_squares[d] += step * step
    return loss
