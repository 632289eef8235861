"""The record of a result's making: what is in it, what no longer fits, and how the origin of one file is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.base.io import sha256_of_file, write_document, write_table
from prasanga.base.results import check_results, describe, read_record, tell_origin

TABLE = pa.table({"effect": [0.5]})


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words to vectors to effects: a table of each, a list of the vectors, a CSV file and a figure."""
    monkeypatch.chdir(tmp_path)
    words, vectors, effects = Path("words.yaml"), Path("results/vectors/a/0.parquet"), Path("results/effects.parquet")
    words.write_text("set: flowers\n", encoding="utf-8")
    made = describe("vectors", inputs=[words], settings={"layer": -1}, version={"VECTORS_VERSION": 3})
    write_table(vectors, TABLE, made)
    listed = {"shards": {"a/0.parquet": sha256_of_file(vectors)}, "made_from": {key: made[key] for key in ("stage",)}}
    write_document("results/vectors/a.json", listed)
    made = describe(
        "effects", inputs=["results/vectors/a.json"], settings={"std": "ddof1", "band": 0.1}, libraries=["numpy"]
    )
    write_table(effects, TABLE, made)
    Path("results/effects.csv").write_text("effect\n0.5\n", encoding="utf-8")
    write_figure(Path("results/figures/column/effects.svg"), describe("figures", inputs=[effects]))
    Path("results/store/key").mkdir(parents=True)
    write_table("results/store/key/0.parquet", TABLE, describe("kept", inputs={"gone": "0" * 64}))


def write_figure(path: Path, made_from: dict[str, str]) -> None:
    from matplotlib.figure import Figure

    from prasanga.report.figures.canvas import save_figure

    path.parent.mkdir(parents=True)
    save_figure(Figure(), path, made_from=json.dumps(made_from))
    path.with_suffix(".pdf").write_bytes(b"%PDF")


def test_a_record_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a")
    record = describe("samples", inputs=[file], settings={"b": 2, "a": 1}, libraries=["numpy"])
    assert record == {
        "stage": "samples",
        "version": "{}",
        "inputs": json.dumps({str(file): sha256_of_file(file)}),
        "settings": '{"a": 1, "b": 2}',
        "versions": json.dumps({"numpy": np.__version__}),
        "fingerprint": record["fingerprint"],
    }
    again = describe(
        "samples", inputs={str(file): sha256_of_file(file)}, settings={"a": 1, "b": 2}, libraries=["numpy"]
    )
    assert again == record
    changes: list[dict[str, Any]] = [{"inputs": []}, {"settings": {}}, {"version": {"SENTENCES_VERSION": 2}}]
    for change in changes:
        asked = {"inputs": [file], "settings": {"a": 1, "b": 2}, "libraries": ["numpy"], **change}
        assert describe("samples", **asked)["fingerprint"] != record["fingerprint"]
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        describe("samples", inputs=[tmp_path / "gone.txt"])


def test_results_that_fit_have_no_problem() -> None:
    assert check_results(Path("results")) == ([], "Compared: 4 inputs of 4 results.")
    assert read_record(Path("results/store/key/0.parquet"))["stage"] == "kept"  # and yet it was not looked at


@pytest.mark.parametrize(("file", "said"), read_cases(__file__, "changed_files"))
def test_what_has_changed_is_named_with_what_was_made_from_it(file: str, said: str) -> None:
    with Path(file).open("a", encoding="utf-8") as opened:
        opened.write("more\n")
    problems, _ = check_results(Path("results"))
    assert [sentence for sentence in problems if sentence.startswith(said)]


def test_inputs_that_are_not_here_are_counted() -> None:
    Path("words.yaml").unlink()
    assert check_results(Path("results")) == ([], "Compared: 4 inputs of 4 results. 1 of these inputs are not here.")


@pytest.mark.parametrize("file", ["effects.parquet", "effects.csv"])
def test_the_origin_of_a_table_leads_to_the_words(file: str) -> None:
    listed, words = (sha256_of_file(path) for path in ("results/vectors/a.json", "words.yaml"))
    assert tell_origin(Path("results", file)) == (
        "results/effects.parquet\n  stage: effects\n\n"
        'Settings\n  std: "ddof1"\n  band: 0.1\n\n'
        f"Libraries\n  numpy: {np.__version__}\n\n"
        f"Made from\n  results/vectors/a.json: {listed}, as it is now\n\n"
        f"Sources\n  words.yaml: {words}, as it is now\n"
    ).replace('  std: "ddof1"\n  band: 0.1', '  band: 0.1\n  std: "ddof1"')


@pytest.mark.parametrize("ending", [".svg", ".pdf"])
def test_a_figure_has_its_record_in_its_svg(ending: str) -> None:
    Path("words.yaml").write_text("set: insects\n", encoding="utf-8")
    said = tell_origin(Path("results/figures/column/effects").with_suffix(ending))
    assert "  stage: figures\n" in said
    assert "  words.yaml: " in said
    assert ", changed since\n" in said


@pytest.mark.parametrize("file", ["results/gone.csv", "words.yaml"])
def test_a_file_without_a_record_is_refused(file: str) -> None:
    with pytest.raises(InputError, match=r"no such file\. Name|it lacks a record of its inputs\. Name"):
        tell_origin(Path(file))
