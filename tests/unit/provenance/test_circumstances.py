"""The circumstances of a run: libraries, kind of host, and of which run a file is."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

from noted_results import CIRCUMSTANCES, CODE, NotedResults, small_results

from prasanga.provenance.code import Code
from prasanga.provenance.ledger import (
    LIBRARIES,
    Entry,
    Ledger,
    here,
    host_kind,
    last_planned,
    note_job,
    read_ledger,
    remember_plan,
    synchronize,
    versions,
)

CPUINFO = """\
processor\t: 0
model name\t: Some Processor 9000
flags\t\t: fpu sse2 avx avx2 fma avx512f amx_bf16
processor\t: 1
model name\t: Some Processor 9000
"""
NVIDIA = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2026\n"
CARD = "Model: \t\t NVIDIA Card 100\nIRQ:   \t\t 0\n"


def ledger_of(noted: NotedResults) -> Ledger:
    return read_ledger(noted.results / "provenance.jsonl")


def made_with(noted: NotedResults, path: str) -> str:
    ledger = ledger_of(noted)
    return ledger.of(ledger.entries[path]).libraries.get("torch", "")


def with_torch(version: str) -> dict[str, str]:
    return {**CIRCUMSTANCES.libraries, "torch": version}


def test_the_libraries_are_those_that_the_project_asks_for(project_root: Path) -> None:
    project = tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split("[<>=;[ ]", each)[0] for each in project["dependencies"]}
    on_the_terminal = {"rich", "typer"}  # of the command, which makes no result
    assert names - on_the_terminal <= set(LIBRARIES)


def test_versions_are_those_that_are_installed() -> None:
    found = versions()
    assert {"python", "prasanga", "torch", "numpy", "polars"} <= set(found)
    assert found["torch"].startswith("2.13.0")


def test_the_kind_of_host_is_told_and_not_its_name(tmp_path: Path) -> None:
    (tmp_path / "driver/nvidia/gpus/0000:01:00.0").mkdir(parents=True)
    (tmp_path / "driver/nvidia/gpus/0000:01:00.0/information").write_text(CARD)
    (tmp_path / "driver/nvidia/version").write_text(NVIDIA)
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    found = host_kind(tmp_path, {"OMP_NUM_THREADS": "1", "HOSTNAME": "node-17", "HOME": "/home/somebody"})
    assert found["processor"] == "Some Processor 9000"
    assert found["instructions"] == ["avx", "avx2", "fma", "avx512f", "amx_bf16"]
    assert (found["gpus"], found["gpu_driver"]) == (["NVIDIA Card 100"], "550.54.15")
    assert found["variables"] == {"OMP_NUM_THREADS": "1"}
    assert "node-17" not in json.dumps(found)


def test_what_cannot_be_learnt_is_left_out(tmp_path: Path) -> None:
    found = host_kind(tmp_path, {})
    assert not {"gpus", "gpu_driver", "instructions", "variables"} & set(found)


def test_circumstances_are_plain_values_with_a_digest_of_their_own() -> None:
    one, other = here({"seed": 1, "path": Path("a")}, {"cores": 2}), here({"seed": 2, "path": Path("a")}, {"cores": 2})
    assert one.config == {"seed": 1, "path": "a"}
    assert one.digest != other.digest
    assert one.digest == here({"path": "a", "seed": 1}, {"cores": 2}).digest


def test_each_file_knows_the_run_that_made_it(tmp_path: Path) -> None:
    noted = small_results(tmp_path)
    noted.make("results/report/tables/new.csv", "1\n", "write_tables", ["results/associations/ceat.csv"])
    noted.end_run(replace(CIRCUMSTANCES, libraries=with_torch("3.0.0")))
    assert made_with(noted, "results/report/tables/new.csv") == "3.0.0"
    assert made_with(noted, "results/associations/ceat.csv") == "2.13.0"
    # nothing new: nothing is said anew
    before = (noted.results / "provenance.jsonl").read_bytes()
    noted.end_run(replace(CIRCUMSTANCES, libraries=with_torch("4.0.0")))
    assert (noted.results / "provenance.jsonl").read_bytes() == before


def test_what_a_killed_run_made_is_of_that_run(tmp_path: Path) -> None:
    noted = NotedResults(tmp_path)
    synchronize(tmp_path, circumstances=CIRCUMSTANCES)  # a run begins
    noted.make("results/a.csv", "1\n", "measure")
    synchronize(tmp_path, circumstances=replace(CIRCUMSTANCES, libraries=with_torch("3.0.0")))
    assert made_with(noted, "results/a.csv") == "2.13.0"
    assert [each.libraries["torch"] for _, each in last_planned(tmp_path / ".snakemake")] == ["2.13.0", "3.0.0"]


def test_plans_that_are_alike_are_noted_once_and_the_last_ones_only(tmp_path: Path) -> None:
    for number in (1, 1, *range(2, 40)):
        remember_plan(tmp_path, replace(CIRCUMSTANCES, settings={"cores": number}))
    assert [each.settings["cores"] for _, each in last_planned(tmp_path)] == list(range(20, 40))


def test_a_job_on_another_host_tells_of_that_host(tmp_path: Path) -> None:
    noted = NotedResults(tmp_path)
    noted.make("results/a.csv", "1\n", "measure")
    noted.make("results/b.csv", "1\n", "measure")
    card = replace(CIRCUMSTANCES, config={}, host={"gpus": ["A card"]})
    note_job(tmp_path / ".snakemake", ["results/b.csv"], card)
    noted.end_run()
    ledger = ledger_of(noted)
    of_a, of_b = (ledger.of(ledger.entries[f"results/{name}.csv"]) for name in "ab")
    assert (of_a.host["cores"], of_b.host) == (2, {"gpus": ["A card"]})
    assert of_a.config == of_b.config == CIRCUMSTANCES.config
    assert not list((tmp_path / ".snakemake/prasanga/jobs").iterdir())


def test_a_ledger_of_before_is_read(tmp_path: Path) -> None:
    noted = small_results(tmp_path)
    ledger = noted.results / "provenance.jsonl"
    entries = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]
    old = [
        {k: v for k, v in each.items() if k not in ("inputs", "circumstances")} for each in entries if "path" in each
    ]
    ledger.write_text("".join(f"{json.dumps(each)}\n" for each in old), encoding="utf-8")
    assert len(read_ledger(ledger).entries) == len(old) == 6
    assert synchronize(tmp_path).unknown == 0


def test_digests_of_large_inputs_come_from_the_ledger(tmp_path: Path) -> None:
    """Snakemake takes no digests of files that are larger than its limit."""
    noted, vectors = NotedResults(tmp_path), "results/embeddings/large.bin"
    large = noted.make(vectors, "vectors", "embed")
    noted.make("results/table.csv", "1\n", "measure", [vectors], unnoted=[vectors])
    noted.end_run()
    entries = ledger_of(noted).entries
    assert entries["results/table.csv"].made_from == {vectors: entries[vectors].sha256}
    # made anew while the job ran: which one it read, nobody knows
    large.unlink()
    noted.make("results/other.csv", "1\n", "measure", [vectors], unnoted=[vectors])
    noted.make(vectors, "others", "embed")
    noted.end_run()
    assert ledger_of(noted).entries["results/other.csv"].made_from == {vectors: None}


def test_what_others_were_made_from_stays_known_when_it_is_gone(tmp_path: Path) -> None:
    noted = small_results(tmp_path)
    for gone in ("lexicon/forms.tsv", "sentences/corpus.tsv", "report/figures/ceat.svg"):
        (noted.results / gone).unlink()
    synchronize(tmp_path)
    known = set(ledger_of(noted).entries)
    assert {"results/lexicon/forms.tsv", "results/sentences/corpus.tsv"} <= known
    assert "results/report/figures/ceat.svg" not in known  # nothing is made from it


def test_a_file_that_comes_back_is_known_again(tmp_path: Path) -> None:
    noted = small_results(tmp_path)
    table = noted.results / "associations/ceat.csv"
    before = table.read_bytes()
    table.write_text("changed by hand\n")
    assert synchronize(tmp_path).unknown == 1
    table.write_bytes(before)
    assert synchronize(tmp_path).restored == 1


def test_an_entry_says_nothing_of_other_kinds_of_digests() -> None:
    record = {"rule": "r", "input": ["a", "b"], "input_checksums": {"a": "md5:1", "b": "sha256:2"}}
    assert Entry("c", "0", 1, 1, record).made_from == {"a": None, "b": "2"}


def test_the_definitions_of_all_code_that_results_were_made_with_are_kept(tmp_path: Path) -> None:
    noted = small_results(tmp_path)
    new = Code("cccccccccccc", {"measure.py": "new"})
    noted.make("results/associations/ceat.csv", "a,0.6\n", "gather_ceat", code=new)
    noted.end_run()
    assert ledger_of(noted).code == {"0123456789ab": CODE.definitions, "cccccccccccc": new.definitions}
    shutil.rmtree(noted.root / ".snakemake")
    assert synchronize(noted.root).code == {"measure.py": new}, "what the newest result was made with"
    noted.make("results/report/figures/ceat.svg", "<svg>", "draw_ceat", code=new)
    shutil.rmtree(noted.root / "results/lexicon")
    shutil.rmtree(noted.root / "results/sentences")
    shutil.rmtree(noted.root / "results/associations/ceat")
    noted.end_run()
    assert set(ledger_of(noted).code) == {"cccccccccccc"}, "nothing is made with the other any more"
