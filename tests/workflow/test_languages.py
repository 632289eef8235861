"""A study of several languages concludes what a study of each concludes, and has one table and one page over them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal
from scoring_models import build
from small_study import run_prasanga

pytestmark = pytest.mark.workflow

PAIRS = """\
pair_id,language,bias_type,label,first,second
1,bn,gender,stereo,মেয়েরা রান্না করে,ছেলেরা রান্না করে
2,bn,gender,stereo,ছেলেরা অঙ্ক করে,মেয়েরা অঙ্ক করে
3,ta,gender,stereo,பெண்கள் சமைக்கிறார்கள்,ஆண்கள் சமைக்கிறார்கள்
4,ta,gender,antistereo,ஆண்கள் சமைக்கிறார்கள்,பெண்கள் சமைக்கிறார்கள்
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A study of sentence tests and pairs, on one random model."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    return {
        "study": "several",
        "categories": [],
        "models": {"tiny": {"path": str(build("bloom", folder / "tiny", positions=512))}},
        "embeddings": {"audit": {"unknown": 1, "identical": 1}, "unknown": "keep"},
        "associations": {"random_twins": 0, "n_resamples": 50, "n_permutations": 200, "n_shuffles": 20},
        "calibration": {"repetitions": 0},
        "seat": {"categories": ["C1"]},
        "pairs": {
            "sets": {"own": {"path": str(folder / "pairs.csv"), "languages": ["bn", "ta"]}},
            "n_resamples": 50,
            "unknown": "keep",
        },
        "report": {"formats": ["svg"], "widths": ["page"]},
    }


def run(folder: Path, config: dict[str, Any], *arguments: str) -> Path:
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    done = run_prasanga(folder, "run", "--cores", "2", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "said.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return folder / "results"


def test_a_study_of_several_languages_is_a_study_of_each(config: dict[str, Any], tmp_path: Path) -> None:
    languages: dict[str, Any] = {"bn": {}, "ta": {"seat": {"categories": []}}}
    several = run(tmp_path / "several", {**config, "languages": languages})
    one = run(tmp_path / "one", {**config, "languages": ["bn"]}, "--", "results/associations/seat.csv")
    seat = pl.read_parquet(several / "associations/seat.parquet")
    assert seat["language"].to_list() == ["bn"]
    alone = pl.read_parquet(one / "associations/seat.parquet")
    assert_frame_equal(seat.filter(language="bn").drop("language"), alone)
    assert_frame_equal(pl.read_parquet(several / "bn/associations/seat.parquet"), alone)
    csv = pl.read_csv(several / "associations/seat.csv")
    assert csv.columns == pl.read_csv(one / "associations/seat.csv").columns
    assert csv["language"].to_list() == ["bn"]
    percentages = pl.read_parquet(several / "likelihoods/bias_percentages.parquet")
    counted = percentages.filter(bias_type="all").select("language", "n_pairs").rows()
    assert counted == [("bn", 2), ("ta", 2)], "pairs need no words"
    summary = json.loads((several / "summary.json").read_text("utf-8"))
    assert summary["languages"] == {language: f"{language}/summary.json" for language in languages}
    assert all((several / path).is_file() for path in [*summary["files"], summary["page"]])
    page = (several / "report/index.html").read_text("utf-8")
    for language, name in (("bn", "Bangla"), ("ta", "ta")):
        assert f'href="../{language}/report/index.html"' in page
        assert f">{name}</" in page
        own = (several / language / "report/index.html").read_text("utf-8")
        assert 'href="../../report/index.html"' in own
    assert "corrected within it" in page
    redrawn = run_prasanga(several.parent, "figures")
    assert redrawn.returncode == 0, redrawn.stderr
    compared = run_prasanga(several.parent, "compare", str(several.parent))
    assert compared.returncode == 0, compared.stderr


def test_the_demo_measures_three_languages_and_says_so(
    config: dict[str, Any], project_root: Path, tmp_path: Path
) -> None:
    demo = yaml.safe_load((project_root / "config.yaml").read_text(encoding="utf-8"))
    for model in demo["models"].values():
        del model["package"]
        model["path"] = config["models"]["tiny"]["path"]
    demo["pairs"]["unknown"] = "keep"
    demo["languages"]["bn"]["samples"]["contexts_per_stimulus"] = 1  # the tiny model reads bytes
    demo |= {name: config[name] for name in ("embeddings", "calibration", "report")}
    results = run(tmp_path / "demo", demo)
    seat, ceat = (pl.read_parquet(results / f"associations/{name}.parquet") for name in ("seat", "ceat"))
    nine = [f"C{number}" for number in range(1, 10)]
    assert seat.select("language", "category").rows() == [(name, each) for name in demo["languages"] for each in nine]
    assert {*ceat["language"]} == {"bn"}
    assert {*ceat["category"]} == {"C1", "C2", "C6"}
    assert {*ceat["segment_length"]} == {"mean", "9", "25", "75"}
    percentages = pl.read_parquet(results / "likelihoods/bias_percentages.parquet").filter(bias_type="all")
    assert percentages.select("language", "model", "n_pairs").rows() == [("en", "smollm2", 52)]
    said = (tmp_path / "demo/said.txt").read_text(encoding="utf-8")
    heads = [f"SEAT, {name}, e5-small\teffect\t95% interval" for name in ("Bangla", "English", "Hindi")]
    first = re.findall(r"^SEAT, (\w+), e5-small +effect +95% interval *$", said, re.MULTILINE)
    assert sorted(first) == ["Bangla", "English", "Hindi"], "without p, as soon as it is measured"
    assert all(said.count(f"{head}\tHolm p\tfound\n") == 1 for head in heads)
    assert "Sentence pairs, English, smollm2\tbias percentage" in said
    assert said.count("Left out: nothing.") == 3
