"""Tuples read, kept and written; how far annotators agree."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga_construction.tuples import BiasTuple, agreement_table, fleiss_kappa, kept_tuples, read_tuples, tuples_csv

HEADER = "tuple_id,language,bias_type,identity,attribute,polarity,vote:a,vote:b,vote:c\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_votes_become_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", HEADER + "x,en,Physical Appearance,tall,Impressive,Positive,1,0,1\n")
    (each,) = read_tuples(path, "en")
    assert each == BiasTuple(
        "x", "en", "physical-appearance", "tall", "Impressive", "positive", score=2, annotators=3,
        votes={"a": 1, "b": 0, "c": 1},
    )  # fmt: skip
    assert each.place == f"{path}, line 2"


def test_the_published_tuples_are_read_and_kept(shared: Path) -> None:
    tuples = read_tuples(shared / "published/indibias_example_tuples.csv", "en", annotators=3)
    assert len(tuples) == 40
    assert sum(each.score == 3 for each in tuples) == 22
    assert kept_tuples(tuples, 2) == tuples
    assert [each.attribute for each in kept_tuples(tuples, 3)][:3] == ["Scholarly", "Terrorist", "Brave"]
    table = agreement_table(tuples, 2)
    assert table.row(0, named=True)["n_kept"] == 40
    assert table.row(0, named=True)["score_2"] == 18


def test_columns_of_annotators_by_name_and_axis(tmp_path: Path) -> None:
    text = "axis,identity,attribute,polarity,annotator-1,annotator-2\ncaste,Brahmin,aloof,negative,1,0\n"
    (each,) = read_tuples(write(tmp_path / "t.csv", text), "en")
    assert (each.tuple_id, each.bias_type, each.score, each.annotators) == ("1", "caste", 1, 2)
    assert each.votes == {"annotator-1": 1, "annotator-2": 0}
    assert "annotator-1,annotator-2,score" in tuples_csv([each])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    tuples = read_tuples(
        write(tmp_path / "t.csv", HEADER + "x,hi,age,युवा,तेज़,positive,1,0,1\ny,hi,age,युवा,अधीर,negative,0,0,0\n"), "hi"
    )
    assert read_tuples(write(tmp_path / "again.csv", tuples_csv(tuples)), "hi") == tuples
    plain = [BiasTuple("p-1", "bn", "age", "তরুণ", "চটপটে", "positive")]
    assert read_tuples(write(tmp_path / "plain.csv", tuples_csv(plain)), "bn") == plain


def test_tuples_without_votes_are_not_kept_in_silence(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "bias_type,identity,attribute,polarity\nage,young,keen,positive\n")
    with pytest.raises(InputError, match="line 2: the tuple '1' has neither votes nor a score"):
        kept_tuples(read_tuples(path, "en"), 2)


@pytest.mark.parametrize(("row", "said"), read_cases(__file__, "wrong_rows"))
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_tuples(write(tmp_path / "t.csv", HEADER + row + "\n"), "en")


@pytest.mark.parametrize(("text", "said"), read_cases(__file__, "no_tuples"))
def test_files_that_are_no_tuples(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_tuples(write(tmp_path / "t.csv", text), "en")


def test_the_example_of_fleiss_1971() -> None:
    """The table of the article's kind that textbooks print: 10 items, 14 raters, 5 categories, kappa 0.210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    kappa, observed, expected = fleiss_kappa(counts)
    assert kappa == pytest.approx(0.20993, abs=1e-5)
    assert expected == pytest.approx(0.21275, abs=1e-5)
    assert observed == pytest.approx(0.37802, abs=1e-5)
    assert fleiss_kappa(counts[1:2]).observed == pytest.approx(0.25275, abs=1e-5)


def test_kappa_is_that_of_statsmodels() -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    rng = np.random.default_rng(1)
    for n in (2, 3, 5):
        yes = rng.binomial(n, rng.beta(0.7, 0.7, size=200))
        counts = np.stack([n - yes, yes], axis=1)
        assert fleiss_kappa(counts).kappa == pytest.approx(inter_rater.fleiss_kappa(counts, method="fleiss"), abs=1e-12)


def test_kappa_of_votes_for_one_category_is_undefined() -> None:
    assert math.isnan(fleiss_kappa([[0, 3], [0, 3]]).kappa)
    tuples = [BiasTuple(str(i), "en", "age", "young", a, "positive", score=3, annotators=3) for i, a in enumerate("ab")]
    assert agreement_table(tuples, 2)["kappa"].to_list() == [None, None, None]


def test_agreement_by_bias_type_and_polarity() -> None:
    scores = [("age", "positive", 3), ("age", "negative", 2), ("caste", "negative", 0), ("caste", "negative", 1)]
    tuples = [
        BiasTuple(str(i), "en", kind, "x", f"a{i}", polarity, score=score, annotators=3)
        for i, (kind, polarity, score) in enumerate(scores)
    ]
    table = agreement_table(tuples, 2)
    assert table.select("bias_type", "polarity", "n_tuples", "n_kept").rows() == [
        ("all", "all", 4, 2),
        ("age", "all", 2, 2),
        ("age", "positive", 1, 1),
        ("age", "negative", 1, 1),
        ("caste", "all", 2, 0),
        ("caste", "negative", 2, 0),
    ]
    # by hand: P_i = 1, 1/3, 1, 1/3; half of the twelve votes are yes, so P_e = 1/2 and kappa = (2/3 - 1/2) / (1/2)
    assert table["kappa"][0] == pytest.approx(1 / 3)
    assert table["observed"][0] == pytest.approx(2 / 3)
    assert table.select("score_0", "score_1", "score_2", "score_3").row(0) == (1, 1, 1, 1)


def test_as_many_votes_on_each_item_are_needed() -> None:
    with pytest.raises(InputError, match="two or more"):
        fleiss_kappa([[1, 0], [0, 1]])
    one, two = (
        BiasTuple(str(n), "en", "age", "x", f"a{n}", "positive", score=1, annotators=n, place=f"line {n}")
        for n in (2, 3)
    )
    with pytest.raises(InputError, match="line 3: 3 annotators, but line 2 has 2"):
        agreement_table([one, two], 2)
    unasked = BiasTuple("3", "en", "age", "x", "b", "positive", place="line 4")
    with pytest.raises(InputError, match="line 4: 0 annotators, but line 2 has 2"):
        agreement_table([one, unasked], 2)
