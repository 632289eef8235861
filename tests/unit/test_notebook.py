"""What a notebook asks first: tables of a study, one estimate with its interval, and how both are shown."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars as pl
import pytest
import torch
import yaml
from scoring_models import build
from tables import read_cases

import prasanga
from prasanga.associations import Ceat, ceat, effect_size, seat, weat
from prasanga.base.errors import InputError
from prasanga.base.io import as_frame
from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.models.packaged import PACKAGED

PAIRS = [
    ("bn", "মায়ের হাতে লাল গোলাপ ছিল।", "বাবার হাতে লাল গোলাপ ছিল।"),
    ("bn", "দুঃখের দিনেও তিনি সৎ মানুষ ছিলেন।", "চাঁদের দিনেও তিনি সৎ মানুষ ছিলেন।"),
    ("bn", "বিজ্ঞানীরা যন্ত্রপাতি পরীক্ষা করছেন।", "মায়েরা যন্ত্রপাতি পরীক্ষা করছেন।"),
]


def write(folder: Path, name: str, **columns: list[Any]) -> None:
    path = folder / f"results/{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)


def test_tables_have_first_what_a_person_looks_for(tmp_path: Path) -> None:
    write(tmp_path, "associations/seat", tau2=[0.1], effect_size=[0.5], model=["m"], std=["pooled"], category=["C1"])
    write(tmp_path, "likelihoods/bias_percentages", n_ties=[1], bias_percentage=[60.0], language=["hi"], model=["m"])
    found = prasanga.study(tmp_path)
    assert repr(found) == f"results in {tmp_path / 'results'}: seat, pairs"
    assert {"seat", "pairs"} <= set(dir(found))
    assert found.seat.columns == ["category", "model", "effect_size", "tau2", "std"]
    assert found.pairs.columns == ["model", "bias_percentage", "language", "n_ties"]
    assert prasanga.study(tmp_path / "results").seat.equals(found.seat)
    with pytest.raises(InputError, match=r"ceat\.parquet: this study has no ceat \(yet\)\. It has seat, pairs\."):
        _ = found.ceat
    with pytest.raises(AttributeError, match="no table 'seeat'; there are seat, pairs"):
        _ = found.seeat
    with pytest.raises(InputError, match="no results of a study"):
        prasanga.study(tmp_path / "none")


class Planted:
    """A model in which a word points to the east if it is in the first target or attribute set, else to the north."""

    def __init__(self, first: set[str]) -> None:
        self.first, self.asked = first, list[tuple[str, str]]()

    def embed(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> np.ndarray[Any, np.dtype[np.float32]]:
        rng = np.random.default_rng(1)
        vectors = []
        for text, (start, end) in zip(texts, spans, strict=True):
            self.asked.append((text, text[start:end]))
            vectors.append([1.0, 0.0] if text[start:end] in self.first else [0.0, 1.0])
        return np.asarray(vectors + 0.3 * rng.normal(size=(len(vectors), 2)), dtype=np.float32)


@pytest.fixture(scope="module")
def sets(project_root: Path) -> list[list[str]]:
    """Words of X, Y, A and B of C1 in English."""
    folder = project_root / "resources/stimuli/en"
    category = yaml.safe_load((folder / "categories.yaml").read_text("utf-8"))["categories"]["C1"]
    names = [*category["targets"], *category["attributes"]]
    words = [yaml.safe_load((folder / f"{name}.yaml").read_text("utf-8"))["words"] for name in names]
    return [[entry["stimulus"] for entry in each][:10] for each in words]


@pytest.fixture(scope="module")
def found(sets: list[list[str]]) -> tuple[Ceat, Planted]:
    planted = Planted({*sets[0], *sets[2]})
    texts = [" ".join(f"The word {word} stands here. It is {word} again." for word in each) for each in sets]
    return prasanga.measure(planted, category="C1", texts=texts, language="en", n_samples=50), planted


def test_one_call_gives_an_estimate_with_its_interval(found: tuple[Ceat, Planted], sets: list[list[str]]) -> None:
    result, planted = found
    assert len(planted.asked) == 2 * sum(map(len, sets))
    assert planted.asked[0] == (f"The word {sets[0][0]} stands here.", sets[0][0]), "the sentence around it"
    assert result.combined.effect > 1
    assert result.interval.low is not None
    assert result.interval.high is not None
    assert 0 < result.interval.low < result.combined.effect < result.interval.high
    assert repr(result) == (
        f"CEAT {result.combined.effect:+.2f} (95% {result.interval.low:+.2f} to {result.interval.high:+.2f}),"
        f" p_association {result.p_association:.3g}, 10 and 10 words"
    )


def test_an_estimate_is_a_table_and_a_picture(found: tuple[Ceat, Planted]) -> None:
    result, _ = found
    row = result.to_frame().row(0, named=True)
    assert (row["effect_size"], row["ci_low"], row["n_x"]) == (result.combined.effect, result.interval.low, 10)
    assert "<table" in result._repr_html_()
    axes = result.plot().axes[0]
    assert axes.get_title() == repr(result)
    assert [len(line.get_xdata()) for line in axes.lines[::2]] == [10, 10]


@pytest.mark.parametrize(("changes", "said"), read_cases(__file__, "notebook_mistakes"))
def test_what_cannot_be_measured_is_told(changes: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"category": "C1", "texts": ["The rose is red."], "language": "en", **changes}
    with pytest.raises(InputError) as told:
        prasanga.measure(Planted(set()), **asked)
    assert said in str(told.value)


def test_weat_and_seat_are_shown_alike_and_few_words_have_no_interval() -> None:
    rng = np.random.default_rng(3)
    X, Y, A, B = (center + 0.5 * rng.normal(size=(9, 3)) for center in np.eye(3)[[0, 1, 0, 1]])
    of_words, of_sentences = weat(X, Y, A, B, rng=1), seat(*([[w] for w in each] for each in (X, Y, A, B)), rng=1)
    assert of_words.interval.low == pytest.approx(of_sentences.interval.low, rel=1e-9), "one sentence a word"
    assert repr(of_sentences).replace("SEAT", "WEAT") == repr(of_words)
    few = weat(X[:3], Y, A, B, rng=1)
    assert "no interval: set X has 3 words" in repr(few)
    assert few.to_frame()["ci_low"].to_list() == [None]


def test_vectors_may_be_arrays_tensors_frames_or_lists() -> None:
    rng = np.random.default_rng(4)
    X, Y, A, B = (rng.normal(size=(4, 3)) for _ in range(4))
    expected, by_word = effect_size(X, Y, A, B), dict(zip("xyab", (X, Y, A, B), strict=True))
    drawn = ceat(by_word, (["x"], ["y"]), (["a"], ["b"]), n_samples=20, rng=1).effect_sizes
    for kind in (torch.tensor, pandas.DataFrame, pl.DataFrame, np.ndarray.tolist):
        assert effect_size(*(kind(each) for each in (X, Y, A, B))) == pytest.approx(expected, rel=1e-12), kind
        found = ceat(
            {word: kind(each) for word, each in by_word.items()}, (["x"], ["y"]), (["a"], ["b"]), n_samples=20, rng=1
        )
        np.testing.assert_allclose(found.effect_sizes, drawn, rtol=1e-12)


def test_tables_may_be_of_pandas_or_dicts_and_nothing_else() -> None:
    expected = pl.DataFrame({"first": ["a", "b"], "n": [1, 2]})
    for given in (expected, pandas.DataFrame({"first": ["a", "b"], "n": [1, 2]}), {"first": ["a", "b"], "n": [1, 2]}):
        assert as_frame("pairs", given).equals(expected)
    with pytest.raises(InputError, match=r"pairs: a int .*Give a frame of polars or pandas"):
        as_frame("pairs", 3)


def test_one_call_gives_a_percentage_with_its_interval(tmp_path: Path) -> None:
    folder = build("bert", tmp_path / "bert")
    known = PAIRS[:3]
    columns = {"first": [first for _, first, _ in known], "second": [second for _, _, second in known]}
    found = prasanga.measure_pairs(folder, columns, language="bn")
    scores = score_pairs(folder, pl.DataFrame(known, schema=["language", "first", "second"], orient="row"))
    preferred = sum(scores["score_first"] > scores["score_second"])
    assert found.percentage == pytest.approx(100 * preferred / 3)
    assert found.table["language"].to_list() == ["bn", "bn"]
    loaded = load_scorer(folder)
    file = tmp_path / "pairs.csv"
    more = {**columns, "bias_type": ["age"] * 3, "label": ["antistereo"] * 3, "language": ["bn"] * 3}
    pl.DataFrame({**more, "pair_id": ["1", "2", "3"]}).write_csv(file)
    for given in (pandas.DataFrame(more), file, more):
        assert prasanga.measure_pairs(loaded, given).percentage == pytest.approx(100 - 100 * preferred / 3)
    assert loaded.passes > 0, "the loaded one was asked"
    with pytest.raises(InputError, match=r"record 1 \(pair 1\): language '' is not a language tag"):
        prasanga.measure_pairs(loaded, columns)
    with pytest.raises(InputError, match=r"pairs: in bn, hi\. Name the language"):
        prasanga.measure_pairs(loaded, {**columns, "language": ["bn", "hi", "bn"]})


def test_the_notebook_goes_from_a_models_name_to_a_figure(tmp_path: Path, project_root: Path) -> None:
    """Its cells run in order, on tiny models in place of those that it names; outputs are not kept, so none is old."""
    cells = json.loads((project_root / "docs/notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    assert len(cells) <= 10
    shown: dict[str, Any] = {}
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert (cell["outputs"], cell["execution_count"]) == ([], None), "clear all outputs before committing"
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), cell["id"], "exec"), names)
        if last is not None:
            shown[cell["id"]] = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
        if "parameters" in cell["metadata"].get("tags", ()):
            assert {names["encoder"], names["decoder"]} <= PACKAGED.keys()
            names |= {"encoder": build("bert", tmp_path / "bert"), "decoder": build("gpt2", tmp_path / "gpt2")}
    assert repr(shown["texts"]).startswith("CEAT ")
    assert shown["frame"]["effect_size"].to_list() == [shown["texts"].combined.effect]
    assert repr(shown["percentages"]).startswith("bias percentage ")
    for name, said in (("figure", "texts"), ("percentages-figure", "percentages")):
        assert shown[name].axes[0].get_title() == repr(shown[said])


def test_a_model_of_a_package_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[Path]()

    def write(package: str, folder: Path) -> None:
        assert package == "multilingual-e5-small"
        build("bert", folder)
        written.append(folder)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("prasanga.models.packaged.write_packaged_model", write)
    texts = ["The rose and the tulip, the ant and the flea, love and peace, murder and hatred."]
    once, twice = (
        prasanga.measure("multilingual-e5-small", category="C1", texts=texts, language="en") for _ in range(2)
    )
    assert [path.parent for path in written] == [tmp_path / "prasanga/models"]
    assert once.scores.mean(axis=0).tolist() == twice.scores.mean(axis=0).tolist()
