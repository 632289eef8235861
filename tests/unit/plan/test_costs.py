"""What a study costs, by hand: texts of a model and of its twin, pairs, seconds from measured speeds, bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from prasanga.config import complete
from prasanga.plan import StudyPlan
from prasanga.plan.runs import BASE, Constants, Cost, Shape, costs_of, tell_costs

SEAT = {"C1": ("flowers", "insects"), "C2": ("instruments", "weapons")}


@pytest.fixture
def known() -> Constants:
    return Constants()


Planned = Callable[..., StudyPlan]


@pytest.fixture
def planned(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Plan a study with these keys and no others."""
    monkeypatch.chdir(project_root)
    return lambda **config: StudyPlan.from_config(complete({"study": "s", "language": "bn", **config}))


def test_texts_pairs_seconds_and_bytes_are_those_by_hand(
    project_root: Path, tmp_path: Path, planned: Planned, known: Constants
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base/config.json").write_text(
        json.dumps({"hidden_size": 768, "num_hidden_layers": 12, "model_type": "bert"}), encoding="utf-8"
    )
    words = yaml.safe_load((project_root / "resources/stimuli/bn/categories.yaml").read_text("utf-8"))["categories"][
        "C1"
    ]
    sets = [*words["targets"], *words["attributes"]]
    lists = [yaml.safe_load((project_root / f"resources/stimuli/bn/{name}.yaml").read_text("utf-8")) for name in sets]
    n_words = sum(len(each["words"]) for each in lists)
    study = planned(
        categories=["C1"],
        samples={"lengths": [9, 75], "contexts_per_stimulus": 10},
        models={"base": {"path": str(tmp_path / "base")}, "far": {"path": "owner/name"}},
        pairs={"sets": {"demo": {"path": "resources/demo/pairs.csv"}}},
    )

    base, far = costs_of(study, known)
    decoder = planned(
        models={"smollm2": {"package": "smollm2-135m-instruct", "stages": ["likelihoods"]}},
        pairs={"sets": {"demo": {"path": "resources/demo/pairs.csv"}}},
    )

    assert (base.texts, base.pairs, base.n_twins) == (2 * 10 * n_words, 157, 8)
    values = json.loads((project_root / "docs/measured/embeddings.json").read_text("utf-8"))["constants"]
    of_9, of_75 = (10 * n_words * BASE.flop(values[f"pieces_of_{n}_words"]) for n in (9, 75))
    seconds = of_9 / (values["teraflops_at_9_words"] * 5e11) + of_75 / (values["teraflops_at_75_words"] * 5e11)
    measured = json.loads((project_root / "docs/measured/pairs.json").read_text("utf-8"))["constants"]
    copies = 157 * measured["copies_of_sample"] / measured["pairs_of_sample"]
    timed = measured["copies_per_second_of_32000_entries_in_bfloat16"] / 2 * BASE.flop(measured["pieces_per_copy"])
    seconds += copies * BASE.flop(measured["pieces_per_copy_of_sample"]) / timed
    assert base.core_seconds == pytest.approx(2 * seconds)
    [small] = costs_of(decoder, known)  # reads each sentence once
    shape = Shape(576, 30, 0)
    assert small.core_seconds == pytest.approx(2 * 2 * 157 * shape.flop(measured["pieces_per_copy_of_sample"]) / timed)
    assert base.seconds_of_twins == pytest.approx(seconds)
    assert base.n_bytes == pytest.approx(2 * base.texts * 768 * values["bytes_per_value"])
    assert (far.texts, far.core_seconds, far.n_bytes) == (base.texts, None, None), "of the hub, not looked at yet"


def test_layers_share_a_pass_and_twins_may_be_left_out(planned: Planned, known: Constants) -> None:
    train = {"hidden_size": 16, "heads": 2, "layers": 2, "steps": 1, "seed": 1}
    one, two = (
        next(
            costs_of(
                planned(
                    categories=["C1"],
                    models={"tiny": {"train": train, "layer": layers, "stages": ["embeddings"]}},
                    associations={"random_twins": 0},
                ),
                known,
            )
        )
        for layers in (-1, [1, 2])
    )
    assert (one.n_twins, one.pairs, one.seconds_of_twins) == (0, 0, 0)
    assert two.core_seconds == one.core_seconds
    assert two.n_bytes == pytest.approx(2 * (one.n_bytes or 0))


def test_of_many_contexts_twins_have_a_few(planned: Planned, known: Constants) -> None:
    train = {"hidden_size": 16, "heads": 2, "layers": 2, "steps": 1, "seed": 1}
    study = planned(
        categories=["C1"],
        samples={"contexts_per_stimulus": 1200},
        models={"tiny": {"train": train, "stages": ["embeddings"]}},
        associations={"random_twins": 8},
    )
    [cost] = costs_of(study, known)
    share = 8 * 64 / 1200
    assert cost.core_seconds is not None
    assert cost.seconds_of_twins == pytest.approx(cost.core_seconds * share / (1 + share))
    assert cost.n_bytes == pytest.approx((1 + share) * cost.texts * 16 * known["embeddings.bytes_per_value"])


def test_sentences_of_templates_are_counted_by_the_class_of_each_word(planned: Planned, known: Constants) -> None:
    """As many as the stage fills for a study of SEAT alone in Bangla."""
    train = {"hidden_size": 16, "heads": 2, "layers": 2, "steps": 1, "seed": 1}
    study = planned(
        categories=[],
        seat={"categories": [f"C{number}" for number in range(1, 10)]},
        models={"tiny": {"train": train}},
    )
    [cost] = costs_of(study, known)
    assert isinstance(cost, Cost)
    assert cost.texts == 2096


def test_the_command_is_told_what_the_plan_costs_and_nobody_else(
    planned: Planned, known: Constants, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = {"hidden_size": 16, "heads": 2, "layers": 2, "steps": 1, "seed": 1}
    study = planned(categories=["C1"], models={"tiny": {"train": train}})
    assert not tell_costs(study)
    reading, writing = os.pipe()
    monkeypatch.setenv("PRASANGA_EVENTS", str(writing))
    assert tell_costs(study)
    os.close(writing)
    with os.fdopen(reading) as events:
        [event] = map(json.loads, events)
    [cost] = costs_of(study, known)
    assert event["machine"] == known.files["embeddings"]["machine"]
    assert event["costs"] == [cost._asdict()]
