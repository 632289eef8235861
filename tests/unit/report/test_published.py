"""The published numbers: as the papers print them, every doubtful cell named, and files that cannot be used refused."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from planted_pairs import planted_scores
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.likelihoods import bias_percentage
from prasanga.report.comparison import (
    PAPERS,
    compare_described,
    compare_pairs,
    match_models,
    published_files,
    read_percentages,
    read_published,
)
from prasanga.report.paper_tables import plan_comparison

TABLE_4 = read_data(__file__, "table_4")


@pytest.fixture(scope="module")
def folder(project_root: Path) -> Path:
    return project_root / "resources/published"


@pytest.fixture(scope="module")
def sadhu(folder: Path) -> pl.DataFrame:
    return read_published(folder, "sadhu2024")


@pytest.fixture(scope="module")
def sahoo(folder: Path) -> pl.DataFrame:
    return read_published(folder, "sahoo2024")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """The files in a place where a test may change them."""
    return Path(shutil.copytree(folder, tmp_path / "published"))


def transcript(shared: Path, name: str) -> Iterator[dict[str, str]]:
    path = shared / "published" / name
    if not path.is_file():
        pytest.skip(f"needs the transcribed tables: no file {path}")
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def flag(value: bool | None) -> str:
    return {True: "true", False: "false", None: ""}[value]


def test_numbers_as_printed(sadhu: pl.DataFrame, sahoo: pl.DataFrame) -> None:
    generator = sadhu.filter(table="5", category="C7", model="banglabert_large_generator", sample_mode="fixed")
    assert generator["segment_length"].to_list() == ["9", "25", "75", ">75"]
    assert generator["effect_size"].to_list() == [-0.643, -0.639, -0.638, -0.637]
    assert generator["n_samples"].to_list() == [5000] * 4
    glove = sadhu.filter(table="4", model="glove", category="C9").row(0, named=True)
    assert (glove["effect_size"], glove["significant"], glove["alpha"]) == (-1.03, False, 0.05)
    hindi = sahoo.filter(category="GA4", language="hi")
    assert dict(zip(hindi["model"], hindi["effect_size"], strict=True))["mGPT"] == -1.712
    assert sahoo.filter(category="GR1", language="en", model="mT5").row(0, named=True)["significant"] is True


def test_doubtful_cells(sadhu: pl.DataFrame, sahoo: pl.DataFrame) -> None:
    codes = Counter(code for cell in sadhu["doubts"].drop_nulls() for code in cell.split())
    assert codes == read_data(__file__, "doubts_of_sadhu")
    assert Counter(code for cell in sahoo["doubts"] for code in cell.split()) == {"marks-lost": 468, "columns": 108}
    # what concerns a mark alone leaves the number alone
    assert sahoo.filter(pl.col("table") != "9")["doubt"].null_count() == 360
    assert sahoo["mark_doubt"].null_count() == 0
    assert sahoo.filter(pl.col("table") == "9")["significant"].null_count() == 108


def test_equal_to_the_transcribed_tables_of_sadhu(sadhu: pl.DataFrame, shared: Path) -> None:
    rows = list(transcript(shared, "bangla_method_comparison.csv"))
    ours = {(r["method"], r["model"], r["category"]): r for r in sadhu.filter(table="4").iter_rows(named=True)}
    assert len(rows) == len(ours) == 45
    for row in rows:
        found = ours[*TABLE_4[row["method"]], row["category"]]
        assert (found["effect_size"], flag(found["significant"])) == (float(row["effect_size"]), row["significant_p05"])
    key = ("category", "model", "sample_mode", "segment_length")
    for table, n in (("5", 5000), ("6", 1000)):
        rows = list(transcript(shared, f"bangla_ceat_n{n}.csv"))
        cells = {tuple(r[k] for k in key): r for r in sadhu.filter(table=table).iter_rows(named=True)}
        assert len(rows) == len(cells) == 288
        for row in rows:
            found = cells[tuple(row[k] for k in key)]
            assert found["effect_size"] == float(row["effect_size"])
            assert (found["bound"] or "") == row["bound"]
            assert flag(found["significant"]) == row["significant_p005"]
            assert found["n_samples"] == int(row["n_samples"]) == n


def test_equal_to_the_numbers_of_the_notebook_and_all_in_doubt(sadhu: pl.DataFrame, shared: Path) -> None:
    drawn = [row for row in transcript(shared, "sadhu_figure1.csv") if row["segment_length"] != "150"]
    key = ("model", "category", "segment_length")
    figure = sadhu.filter(table="Figure 1")
    assert [tuple(row[name] for name in key) for row in drawn] == figure.select(key).rows()
    assert [float(row["effect_size"]) for row in drawn] == figure["effect_size"].to_list()
    assert figure["doubt"].null_count() == 0
    assert figure["sample_mode"].null_count() == len(figure)
    # what the doubt says: they are not those of the tables
    both = sadhu.filter(table="6", sample_mode="fixed").join(figure, on=key)
    apart = both.group_by("model").agg(
        (pl.col("effect_size") - pl.col("effect_size_right")).abs().max().round(2).alias("size"),
        (pl.col("effect_size") * pl.col("effect_size_right") < 0).sum().alias("signs"),
        pl.len().alias("cells"),
    )
    assert set(apart.rows()) == {("banglabert_large_discriminator", 0.06, 1, 27), ("xlm_roberta_large", 0.55, 4, 27)}


def test_equal_to_the_transcribed_tables_of_sahoo(sahoo: pl.DataFrame, shared: Path) -> None:
    languages = {"English": "en", "Hindi": "hi"}
    for table, axis, prefix in (("3", "religion", "GR"), ("4", "caste", "GC"), ("9", "age", "GA")):
        rows = list(transcript(shared, f"indibias_seat_gender_{axis}.csv"))
        tests = {name: f"{prefix}{i}" for i, name in enumerate(dict.fromkeys(row["test"] for row in rows), start=1)}
        cells = {(r["category"], r["language"], r["model"]): r for r in sahoo.filter(table=table).iter_rows(named=True)}
        assert len(rows) == len(cells)
        for row in rows:
            found = cells[tests[row["test"]], languages[row["language"]], row["model"]]
            assert found["effect_size"] == float(row["effect_size"])
            assert flag(found["significant"]) == row["significant_p01"]


def test_equal_to_the_transcribed_tables_of_pairs(folder: Path, shared: Path) -> None:
    ours = {
        (row["language"], row["model"].lower(), row["bias_type"]): row
        for row in csv.DictReader((folder / "sahoo2024_bias_percentages.csv").read_text(encoding="utf-8").splitlines())
    }
    rows = list(transcript(shared, "indibias_bias_percentage.csv"))
    assert len(rows) == len(ours) + 16  # the deviations stand beside the means
    for row in rows:
        language, model = {"English": "en", "Hindi": "hi"}[row["language"]], row["model"].lower()
        kind = "all" if row["bias_type"].startswith("ICS") else row["bias_type"]
        column = "spread" if "std" in row["bias_type"] else "percentage"
        assert ours[language, model, kind][column] == row["value"]
    statistics = pl.read_csv(folder / "sahoo2024_data_set.csv", infer_schema=False)["value"].fill_null("")
    assert statistics.to_list() == [row["value"] for row in transcript(shared, "indibias_dataset_statistics.csv")]


def test_what_pairs_consist_of_is_next_to_table_6(folder: Path) -> None:
    """Read in the paper: Hindi pairs from tuples have 19.08 words, and 37.42% of pairs from tuples are of caste."""
    row = {"language": "hi", "subset": "tuples", "n_pairs": 9, "set": "ics"}
    mean = row | {"statistic": "mean_words", "category": "all", "value": 18.0}
    caste = row | {"statistic": "bias_type_percentage", "category": "caste", "value": 40.0}
    own = row | {"statistic": "bias_type_percentage", "category": "region", "value": 60.0}
    name, found = compare_described(pl.DataFrame([mean, caste, own]), folder, "sahoo2024", {})
    assert name == "comparison_statistics"
    assert found.select("set", "language", "category", "published", "measured").rows() == [
        ("ics", "hi", "all", 19.08, 18.0),
        ("ics", "hi", "caste", 37.42, 40.0),
    ]
    assert found["difference"].to_list() == pytest.approx([-1.08, 2.58])


def test_traits_are_next_to_the_numbers_of_the_notebook(folder: Path, shared: Path) -> None:
    path = shared / "reference/banglacontextualbias/logprob_context_summary_cell50.csv"
    printed = pl.read_csv(folder / "sadhu2024_structures.csv")
    assert len(printed) == 120
    if path.is_file():
        key, theirs = ["mean", "variance"], pl.read_csv(path)
        assert sorted(printed.select(key).rows()) == sorted(theirs.select(key).rows())
    row = {"model": "bert", "structure": "S3", "polarity": "negative", "probability_variance": 1e-5}
    rows = [row | {"quantity": name, "probability_mean": 0.01} for name in ("fill", "prior", "corrected")]
    asked = {"bert": "banglabert_large_generator"}
    _, found = compare_described(pl.DataFrame(rows), folder, "sadhu2024", asked)
    numbers = ("table", "quantity", "published_mean", "probability_mean", "published_variance")
    assert found.select(numbers).rows() == [
        ("Figure 2", "fill", 0.00650926508165289, 0.01, 3.73529215786788e-05),
        ("Figure 2", "corrected", 0.005576736477002858, 0.01, 3.6956332364075935e-05),
    ]
    assert compare_described(pl.DataFrame(rows), folder, "sadhu2024", {})[1].is_empty()


@pytest.mark.parametrize("paper", PAPERS)
def test_names_of_other_files_fit(folder: Path, paper: str) -> None:
    table, percentages = read_published(folder, paper), read_percentages(folder, paper)
    pairs = {(row["model"], "pairs") for row in percentages.iter_rows(named=True)}
    with (folder / "models.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["paper"] == paper]
    described = Counter((row["model"], method) for row in rows for method in row["methods"].split())
    assert described == dict.fromkeys([*table.select("model", "method").rows(), *pairs], 1)
    with (folder / "categories.csv").open(encoding="utf-8", newline="") as file:
        named = {row["category"] for row in csv.DictReader(file) if row["paper"] == paper}
    assert named == set(table["category"])
    assert all(path.is_file() for path in published_files(folder, paper))


def test_no_doubt_is_written_down_for_nothing(folder: Path, sadhu: pl.DataFrame, sahoo: pl.DataFrame) -> None:
    with (folder / "doubts.csv").open(encoding="utf-8", newline="") as file:
        codes = {row["code"] for row in csv.DictReader(file)}
    readme = (folder / "README.md").read_text(encoding="utf-8")
    used = {code for table in (sadhu, sahoo) for cell in table["doubts"].drop_nulls() for code in cell.split()}
    assert codes == used
    assert all(f"`{code}`" in readme for code in codes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"sahoo2024.csv: .*Put the project's file back"),
        (b"paper,table\n", r"sahoo2024.csv: .*method"),
        (b"\xff\xfe", r"sahoo2024.csv: "),
    ],
)
def test_a_file_that_cannot_be_used_is_named(copy: Path, content: bytes | None, message: str) -> None:
    (copy / "sahoo2024.csv").unlink()
    if content is not None:
        (copy / "sahoo2024.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_published(copy, "sahoo2024")


def test_a_comparison_of_nothing_is_told_beforehand(folder: Path) -> None:
    def why(paper: str, language: str, *studied: str, **models: str) -> str:
        config = {"comparison": {"paper": paper, "models": models}, "language": language, "preset": "recommended"}
        return plan_comparison({**config, "associations": {"n_samples": 5}}, folder, studied, {})[1]

    assert why("sadhu2024", "bn", "glove") == ""
    assert why("sahoo2024", "hi", "mine", mine="Muril") == ""
    assert why("sahoo2024", "bn", "Muril").startswith(
        "`comparison.paper` is sahoo2024, but nothing will be compared: the study has bn and the models Muril, the"
    )
    assert "Models that match: none. Say in `comparison.models` which is which." in why("sadhu2024", "bn", "bert")
    with pytest.raises(InputError, match=r"has 'bert', which is not a model of the study\. Allowed: none"):
        why("sadhu2024", "bn", bert="glove")
    with pytest.raises(InputError, match=r"has 'glov', which is not a model of the paper\. Allowed: word2vec, glove"):
        why("sadhu2024", "bn", "bert", bert="glov")


def test_models_match_by_config_and_by_name() -> None:
    paper = ["XLMR", "Muril"]
    assert match_models({"ours": "XLMR"}, ["ours", "Muril", "other"], paper) == {"ours": "XLMR", "Muril": "Muril"}
    # the config takes precedence over the same name
    assert match_models({"Muril": "XLMR"}, ["Muril"], paper) == {"Muril": "XLMR"}


def test_doubts_about_models_are_those_of_the_method(sadhu: pl.DataFrame, folder: Path) -> None:
    muril = sadhu.filter(model="muril_large_cased")
    assert dict(muril.group_by("method").agg(pl.col("model_doubt").null_count()).iter_rows()) == {"ceat": 0}
    assert sadhu.filter(model="banglabert_large_generator")["model_doubt"].count() == 0
    pairs = dict(read_percentages(folder, "sahoo2024").group_by("model").agg(pl.col("model_doubt").first()).iter_rows())
    assert (bool(pairs["XLMR"]), pairs["Bloom"]) == (True, None)


def test_pairs_without_a_score_are_compared_under_the_papers_preset(folder: Path) -> None:
    scores = pl.concat(
        [
            planted_scores("mGPT", "en", 0.7, types=["caste"]),
            planted_scores("mGPT", "en", 0.7, types=["gender"], n=3, left_out=range(3)),
        ]
    )
    bias = bias_percentage(scores, n_resamples=0)
    found = compare_pairs(bias, read_percentages(folder, "sahoo2024"), models={}, preset="paper")
    notes = dict(found.select("category", "note").rows())
    assert notes["caste"].startswith("mean over runs; of all pairs 70.00")
    assert "of all pairs" not in notes["gender"]
    assert dict(found.select("category", "measured").rows())["gender"] is None
