"""The embedded study through a real Slurm, and what its jobs ask for.

Three things are smaller than in the demo: models are trained for 40 steps and not for 300 to 1000, there are two
lengths and not four, and figures are drawn in one format. Both runs train their models, so that all is compared.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from slurm_node import SlurmNode
from slurm_runs import require_equal_tables, slurm_run
from small_study import SMALL, Study, copy_code
from waiting import until

STEPS = 40

pytestmark = pytest.mark.long


def shorter(study: Study) -> Study:
    """The demo with fewer steps of training, fewer lengths, and one format of figures."""
    models = study.config["models"]
    for settings in models.values():
        settings["train"]["steps"] = STEPS
    study.configure(
        {"models": models, "samples": {"lengths": [9, ">75"]}, "report": {"formats": ["svg"], "widths": ["page"]}}
    )
    return study


def test_demo_equals_local_run(node: SlurmNode, project_root: Path, tmp_path: Path) -> None:
    """Small jobs before a checkpoint go together, those behind it alone; its tables equal a local run."""
    study = shorter(copy_code(project_root, tmp_path / "slurm", link_source=True))
    with slurm_run(node, study) as run:
        printed = run.finish()
        sent = Counter(re.sub(r"^(models|sentences|static)_.*", r"\1", name) for _, name in run.submitted())
        cards = {node.asked_for(number).get("TresPerJob", "none") for number, _ in run.submitted()}
    done = re.search(r"(\d+) of (\d+) steps \(100%\) done", printed)
    assert done is not None
    assert int(done[1]) == int(done[2]) > 40
    assert sent == {
        **{"models": 4, "audit_tokenizers": 1, "sentences": 1, "cut_corpus": 1, "static": 2},
        # models with their twins, in both lengths at once
        **{"embed_segments": 2, "embed_templates": 2, "measure_ceat": 2, "measure_seat": 2, "measure_weat": 2},
        **{"measure_multiverse": 1, "score_pairs": 3, "score_structures": 1, "score_log_probability": 1},
    }
    assert cards == {"none", "gres:gpu:1"}  # the latter of jobs that run a model

    local = shorter(copy_code(project_root, tmp_path / "local", link_source=True))
    local.run("--resources", "gpu=1")
    assert require_equal_tables(study, local) > 50


@pytest.fixture(scope="module")
def with_cards(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study as far as its samples."""
    study = copy_code(project_root, tmp_path_factory.mktemp("cards") / "study", link_source=True)
    config = {**study.config, **SMALL}
    (study.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    study.run("results/samples/coverage.parquet", "results/lexicon/occurrences.parquet")  # the audit of all models
    return study


def test_models_with_cards_get_one(node: SlurmNode, with_cards: Study) -> None:
    """A shard is a Slurm job with one card, whose number the job is told.

    There is no card in this machine: torch finds none, and the job goes on without.
    """
    target = "results/embeddings/tiny-a/9.json"
    with slurm_run(node, with_cards, target) as run:
        number = run.wait_for("embed_segments")
        asked = node.asked_for(number)
        assert (asked["TresPerJob"], asked["NumCPUs"]) == ("gres:gpu:1", "2")
        told: set[str] = set()

        def says() -> bool:
            told.update(cards_told(node, number))
            return bool(told)

        until(says, "a process of the job that is told its card")
        assert told == {"0"}
        run.finish()
        assert [name for _, name in run.submitted()] == ["embed_segments"]
    assert (with_cards.root / target).exists()


def cards_told(node: SlurmNode, number: str) -> set[str]:
    """CUDA_VISIBLE_DEVICES of the processes of a Slurm job, as they run."""
    told = (environment.get("CUDA_VISIBLE_DEVICES") for environment in node.processes(number).values())
    return {each for each in told if each is not None}
