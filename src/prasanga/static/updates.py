"""The inner loops of the trainings, compiled: pairs of skip-gram, their updates, and those of GloVe.

All work on a block: pairs of which the first words are of one block of the vocabulary and the second ones of another.
Blocks that share neither rows nor columns can run beside each other and change nothing of each other's.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from prasanga.text.compiled import compiled_sums

NEGATIVE: Final = 5
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_32: Final = np.uint64(32)


@compiled_sums
def _mixed(state: np.uint64) -> np.uint64:
    """Return a random number of 64 bits; the states of a generator are `_STEP` apart (SplitMix64)."""
    value = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled_sums
def _below(number: np.uint64, n: int) -> np.int64:
    """Return a random number from 0 to `n` - 1 out of one of 64 bits."""
    return np.int64(((number >> _32) * np.uint64(n)) >> _32)


@compiled_sums
def _share(number: np.uint64) -> float:
    """Return a random number from 0 to below 1, of the 24 lowest bits."""
    return float(number & np.uint64(0xFFFFFF)) / float(1 << 24)


@compiled_sums
def skip_grams(
    numbers: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    first: int,
    last: int,
    window: int,
    kept: NDArray[np.float64],
    limit: NDArray[np.float32],
    other: NDArray[np.int32],
    block: NDArray[np.int32],
    n_blocks: int,
    seed: int,
    at: NDArray[np.int64],
    pairs: NDArray[np.int32],
) -> None:
    """Lay windows over sentences `first` to before `last`, and write pairs of words, sorted by their blocks.

    These are the pairs of near words, and behind each `NEGATIVE` pairs of its first word and a negative one, whose
    number is written as -1 - number.

    Args:
        numbers: the words of all sentences.
        bounds: sentence i is `numbers[bounds[i]:bounds[i + 1]]`.
        first: the first sentence.
        last: the one after the last.
        window: the largest window; each word has one of its own, from 1 to this.
        kept: (n_words,) the share of a word's occurrences that are not thinned out.
        limit: with `other`, how negative words are drawn (`alias_table`).
        other: see `limit`.
        block: (n_words,) of each word.
        n_blocks: how many there are.
        seed: of what is thinned out, of the windows, and of the negative words.
        at: (n_blocks ** 2,) where the next pair of each block goes; moved on.
        pairs: (n, 2) the words of each pair; with none, the pairs are counted and not written.
    """
    state = np.uint64(seed)
    places = np.empty(0, dtype=np.int64)
    for sentence in range(first, last):
        length = bounds[sentence + 1] - bounds[sentence]
        if length > places.size:
            places = np.empty(2 * length, dtype=np.int64)
        n = 0
        for i in range(bounds[sentence], bounds[sentence + 1]):
            state += _STEP
            if _share(_mixed(state)) < kept[numbers[i]]:
                places[n] = numbers[i]
                n += 1
        for i in range(n):
            state += _STEP
            size = 1 + _below(_mixed(state), window)
            center = places[i]
            for j in range(max(0, int(i - size)), min(n, int(i + size + 1))):
                if j == i:
                    continue
                near = places[j]
                row = block[near] * n_blocks
                for k in range(NEGATIVE + 1):
                    target, written = center, center
                    if k > 0:
                        state += _STEP
                        number = _mixed(state)
                        target = _below(number, len(limit))
                        if _share(number) >= limit[target]:
                            target = np.int64(other[target])
                        if target == center:
                            continue
                        written = -1 - target
                    place = row + block[target]
                    if len(pairs) > 0:
                        pairs[at[place], 0] = near
                        pairs[at[place], 1] = written
                    at[place] += 1


@compiled_sums
def alias_table(weights: NDArray[np.float64], limit: NDArray[np.float32], other: NDArray[np.int32]) -> None:
    """Write the tables from which an item is drawn by its weight in constant time (Walker 1977, Vose 1991).

    Item i of n is drawn by a random place i and a random share: it is i itself if the share is below `limit[i]`, and
    else `other[i]`.
    """
    n = len(weights)
    total = 0.0
    for i in range(n):
        total += weights[i]
    scaled = weights * (n / total)
    todo = np.empty(n, dtype=np.int64)  # the small ones from the front, the large ones from the back
    small, large = 0, n
    for i in range(n):
        if scaled[i] < 1.0:
            todo[small] = i
            small += 1
        else:
            large -= 1
            todo[large] = i
    while small > 0 and large < n:
        small -= 1
        i, j = todo[small], todo[large]
        limit[i] = scaled[i]
        other[i] = j
        scaled[j] -= 1.0 - scaled[i]
        if scaled[j] < 1.0:
            large += 1
            todo[small] = j
            small += 1
    while small > 0:
        small -= 1
        limit[todo[small]] = 1.0
        other[todo[small]] = todo[small]
    while large < n:
        limit[todo[large]] = 1.0
        other[todo[large]] = todo[large]
        large += 1


@compiled_sums
def update_skip_grams(pairs: NDArray[np.int32], inputs: NDArray[Any], outputs: NDArray[Any], rate: Any) -> None:
    """Go over pairs once, in their order, and change vectors in place.

    Args:
        pairs: (n, 2) of `skip_grams`: the word whose vector is asked for, and one near it or a negative one.
        inputs: (n_words, d) the vectors.
        outputs: (n_words, d) those of words as neighbours.
        rate: in the vectors' type.
    """
    d = inputs.shape[1]
    one = rate / rate
    for pair in range(len(pairs)):
        target, label = pairs[pair, 1], one
        if target < 0:
            target, label = -1 - target, one - one
        vector, near = inputs[pairs[pair, 0]], outputs[target]
        product = one - one
        for i in range(d):
            product += vector[i] * near[i]
        step = rate * (label - one / (one + np.exp(-product)))
        for i in range(d):
            before = vector[i]
            vector[i] += step * near[i]
            near[i] += step * before


@compiled_sums
def update_glove(
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[Any],
    logs: NDArray[Any],
    parameters: NDArray[Any],
    squares: NDArray[Any],
    rate: Any,
) -> float:
    """Go over counts once, in their order, and change `parameters` and `squares` in place, by AdaGrad.

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
        error = w[d] + c[d] - logs[entry]
        for k in range(d):
            error += w[k] * c[k]
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
