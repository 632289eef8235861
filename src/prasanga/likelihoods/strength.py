"""The strength of stereotype that a study of sentence pairs could have found, from its own scores.

Labels are dealt again within bias types, so that no stereotype is left, and whatever preference there is for the first
sentence stays. A shift of k then adds k standard deviations of score differences to the stereotypical sentence of each
pair. The rule of a finding (`prasanga.likelihoods.bias.why_not_found`) is applied as a whole, and random-weight copies
get the same labels and no shift. `prasanga.stats.strength` does the same for words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from prasanga.base.seeds import generator
from prasanga.likelihoods.balance import LabelCounts, balance, label_p_value
from prasanga.likelihoods.bias import why_not_found
from prasanga.pairs.preferences import LABELS, OVERALL, add_differences
from prasanga.schema import TABLES
from prasanga.stats.controls import BesideTwins, judge_difference, moderate_deviations
from prasanga.stats.effects import FloatArray
from prasanga.stats.permutation import ALPHA
from prasanga.stats.strength import estimate_shift, find_level

_FIRST = 0.5
"""Standard deviations by which a model that prefers first sentences is simulated to score them higher."""


def measure_pair_strengths(
    bias: pl.DataFrame,
    scores: pl.DataFrame,
    twins: Mapping[str, pl.DataFrame],
    *,
    repetitions: int,
    shifts: Sequence[float],
    seed: int = 47,
) -> pl.DataFrame:
    """Return the table `pair_strength`: a row for each set, model and language whose labels were tested over all types.

    Sets with clusters are left out.

    Args:
        bias: what `bias_percentage` returns.
        scores: of the pairs, with their set and model.
        twins: scores of random-weight copies, by model, with `twin`.
        repetitions: number of simulated studies.
        shifts: that are planted, in standard deviations of score differences.
        seed: of the study.
    """
    found = []
    tested = bias.filter(pl.col("bias_type") == OVERALL, pl.col("p_label").is_not_null()).rows(named=True)
    for row in (each for each in tested if each["n_clusters"] is None):
        key = {name: row[name] for name in ("set", "model", "language")}
        others = [each["p_label"] for each in tested if each["language"] == row["language"] and each is not row]
        studies = _Studies(
            bias.filter(model=row["model"], language=row["language"]), row, scores, twins, find_level(others)
        )
        rng = generator(seed, "strength", "pairs", *key.values())
        results = np.array([[*studies.find(shifts, rng)] for _ in range(repetitions)])
        *shares, false_first = results.mean(axis=0).tolist()
        steps = [0.0, *shifts]
        low, middle, high = (float(v) if np.isfinite(v) else None for v in estimate_shift(steps, results[:, :-1], rng))
        found.append(
            {**key, "repetitions": repetitions, "level": studies.level, "shifts": steps, "shares_found": shares}
            | {"shift_80": middle, "shift_80_low": low, "shift_80_high": high, "false_first": false_first}
            | {"shift_80_nats": None if middle is None else middle * studies.sd}
        )
    return pl.DataFrame(found, schema=TABLES["pair_strength"].polars)


class _Studies:
    """Simulated studies with the pairs of a set, model and language.

    Attributes:
        level: largest p of the label that is significant.
        sd: standard deviation of score differences, in nats.
    """

    def __init__(
        self,
        bias: pl.DataFrame,
        row: Mapping[str, Any],
        scores: pl.DataFrame,
        twins: Mapping[str, pl.DataFrame],
        level: float,
    ) -> None:
        self.level, model = level, row["model"]
        pairs = _subtract(scores.filter(model=model), row)
        self._differences = pairs["of_first"].to_numpy()
        self._is_stereo = (pairs["label"] == LABELS[0]).to_numpy()
        self._types = [(pairs["bias_type"] == name).to_numpy() for name in pairs["bias_type"].unique().sort()]
        self.sd = float(self._differences.std(ddof=1))
        copies = twins[model].partition_by("twin") if model in twins else []
        self._copies = [
            pairs.join(_subtract(copy, row), "pair_id", "left", maintain_order="left")["of_first_right"].to_numpy()
            for copy in copies
        ]
        known = bias.filter(
            pl.col("twin_sd").is_not_null(),
            pl.struct("set", "bias_type")
            != pl.struct(pl.lit(row["set"]).alias("set"), pl.lit(OVERALL).alias("bias_type")),
        )
        unit = known["balanced_ci_high"] - known["balanced_ci_low"]
        self._others = (known["twin_sd"] / unit).to_list(), (known["n_twins"] - 1).to_list()
        self._groups = [f"{name}, {bias_type}" for name, bias_type in known.select("set", "bias_type").iter_rows()]

    def find(self, shifts: Sequence[float], rng: np.random.Generator) -> Iterator[bool]:
        """Yield whether a study finds a stereotype: without a shift, with each, and with a preference for the first."""
        is_stereo = self._is_stereo.copy()
        for of_type in self._types:
            is_stereo[of_type] = rng.permutation(is_stereo[of_type])
        twins = [balance(self._count(copy, is_stereo)).percentage for copy in self._copies]
        known = [percentage for percentage in twins if percentage is not None]
        for k in (0.0, *shifts):
            yield self._judge(self._differences + k * self.sd * np.where(is_stereo, 1, -1), is_stereo, known)
        yield self._judge(self._differences + _FIRST * self.sd, is_stereo, known)

    def _judge(self, differences: FloatArray, is_stereo: npt.NDArray[np.bool_], twins: Sequence[float]) -> bool:
        counts, n_stereo = self._count(differences, is_stereo), int(is_stereo.sum())
        balanced, p = balance(counts), label_p_value([of_type for of_type in counts if of_type.has_both])
        assert balanced.low is not None  # the labels were tested
        assert balanced.high is not None
        row = {"p_label_holm": p * ALPHA / self.level, "n_stereo": n_stereo, "p_twins": None}
        row |= {"n_antistereo": is_stereo.size - n_stereo}
        row |= {"balanced_ci_low": balanced.low, "balanced_ci_high": balanced.high}
        if len(twins) > 1:
            unit = balanced.high - balanced.low
            (measured, df), own = self._others, float(np.std(twins, ddof=1)) / unit
            s, freedom = moderate_deviations([*measured, own], [*df, len(twins) - 1], [*self._groups, OVERALL])
            cell = BesideTwins(balanced.percentage, balanced.low, balanced.high, twins)
            row["p_twins"] = (
                judge_difference(cell, float(s[-1]) * unit, float(freedom[-1]))["p_twins"] if s[-1] else None
            )
        return not why_not_found(row)

    def _count(self, differences: FloatArray, is_stereo: npt.NDArray[np.bool_]) -> list[LabelCounts]:
        """Return the counts of each bias type; a difference that is not known counts nowhere."""
        first, known = differences > 0, ~np.isnan(differences)
        return [
            LabelCounts(
                *(
                    int((part & of_type).sum())
                    for part in (first & is_stereo, known & is_stereo, first & ~is_stereo, known & ~is_stereo)
                )
            )
            for of_type in self._types
        ]


def _subtract(scores: pl.DataFrame, row: Mapping[str, Any]) -> pl.DataFrame:
    """Return the untied pairs of a set and language, with the score of the first sentence less that of the second."""
    pairs = scores.filter(pl.col("set").eq_missing(pl.lit(row["set"])), pl.col("language") == row["language"])
    pairs = add_differences(pairs).filter(pl.col("preference").is_in(["stereotypical", "other"]))
    sign = pl.when(pl.col("label") == LABELS[0]).then(1.0).otherwise(-1.0)
    return pairs.select("pair_id", "bias_type", "label", of_first=pl.col("difference") * sign)
