"""The page on reproducing the papers has a row for each of their tables and figures, with files that a study makes."""

from __future__ import annotations

import csv
import re

import pytest
from doc_pages import ROOT, read

from prasanga.report.comparison import PAPERS, printed_at
from prasanga.report.figures import figure_named
from prasanga.report.sheet import list_template
from prasanga.schema import TABLES

PAGE = "docs/reproduce.md"
NUMBERED = {"sadhu2024": (6, 11), "sahoo2024": (13, 9)}
"""How many tables and figures each paper has."""


def rows(paper: str) -> dict[str, str]:
    """The rows of a paper by what they are of: its cell of files."""
    part = read(PAGE).partition(f"\nConfig `config/{paper}.yaml`")[2].partition("\n## ")[0]
    found: dict[str, str] = {}
    for line in re.findall(r"^\| ((?:Table|Figure).*) \|$", part, re.MULTILINE):
        name, _, files, _ = re.split(r" *\| *", line)
        first, last = re.fullmatch(r"(?:Table|Figure)s? (\d+)(?: to (\d+))?", name).groups()  # type: ignore[union-attr]
        for number in range(int(first), int(last or first) + 1):
            assert found.setdefault(f"{name.split()[0].rstrip('s')} {number}", files) == files, name
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_of_a_paper_has_a_row(paper: str) -> None:
    tables, figures = NUMBERED[paper]
    wanted = [f"Table {n}" for n in range(1, tables + 1)] + [f"Figure {n}" for n in range(1, figures + 1)]
    assert list(rows(paper)) == wanted
    for path in (ROOT / "resources/published").glob(f"{paper}*.csv"):  # whose numbers are among the published ones
        with path.open(encoding="utf-8", newline="") as file:
            assert {printed_at(row["table"]) for row in csv.DictReader(file) if "table" in row} <= {*wanted}, path


@pytest.mark.parametrize("paper", PAPERS)
def test_files_of_the_rows_are_made_by_a_study(paper: str) -> None:
    layouts = {f"report/tables/{name}.{{csv,md,tex}}" for name in list_template("layouts.tsv")}
    tables = {str(path) for table in TABLES.values() for path in table.paths}
    steps = read("docs/make_pairs.md")
    n_made = 0
    for name, cell in rows(paper).items():
        for span in re.findall(r"`([^`]+)`", cell):
            path, _, file = span.rpartition("/")
            if path == "report/figures":
                assert figure_named(file.replace("<model>", "tiny")), name
            elif path == "results/construction":
                assert f"`{file}`" in steps or span in steps, name
            elif span.startswith(("report/", "pairs/", "samples/", "sentences/")):
                assert span in layouts | tables or span.replace(".tsv", ".parquet") in tables, name
            else:  # a path of the project, which `test_paths_exist` looks for, or a name
                continue
            n_made += 1
    assert n_made > 5
