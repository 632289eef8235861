"""A folder of results against its ledger: what does not fit is found, and nothing else."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from noted_results import CIRCUMSTANCES, CODE, NotedResults, small_results

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_table
from prasanga.provenance.check import Check, Finding, check_results, say
from prasanga.provenance.code import Code
from prasanga.provenance.ledger import LEDGER, synchronize

TABLE = "results/associations/ceat.csv"


@pytest.fixture
def noted(tmp_path: Path) -> NotedResults:
    return small_results(tmp_path)


def check(noted: NotedResults, **options: object) -> Check:
    return check_results(noted.results, root=noted.root, **options)  # type: ignore[arg-type]


def found(noted: NotedResults, **options: object) -> list[tuple[str, str, bool]]:
    return [(each.kind, each.path, each.is_wrong) for each in check(noted, **options).findings]


def test_whole_results_have_no_finding(noted: NotedResults) -> None:
    done = check(noted)
    assert done.findings == ()
    assert done.n_files == 6
    assert done.summary == "6 files of 0.0 MB: all are what the ledger says, and fit together."


def test_a_file_that_is_gone_is_missed_where_another_of_its_job_is_there(noted: NotedResults) -> None:
    """No job reads it, so that no run makes it again, and no entry of the ledger speaks of it any more."""
    clock = noted.clock
    for number, name in enumerate(("forms.tsv", "forms.csv")):
        noted.clock = clock + number / 1000  # as Snakemake notes it: each file for itself
        noted.make(f"results/lexicon/{name}", "rose\n", "compile_forms", ["words/flowers.yaml"])
    noted.end_run()
    assert not [each for each in found(noted) if each[0] == "lost"]
    (noted.results / "lexicon/forms.csv").unlink()
    noted.end_run()
    [lost] = [each for each in check(noted).findings if each.kind == "lost"]
    assert (lost.path, lost.is_wrong) == ("results/lexicon/forms.csv", True)
    assert "results/lexicon/forms.tsv, which the same job of the rule compile_forms wrote, is there" in lost.text
    assert lost.text.endswith("made again by its name: snakemake results/lexicon/forms.csv --cores all")
    (noted.results / "lexicon/forms.tsv").unlink()
    [(kind, path, is_wrong)] = [each for each in found(noted) if each[0] == "lost"]
    assert (kind, path, is_wrong) == ("lost", "results/lexicon/forms.tsv", True), "the sentences were made from it"
    shutil.rmtree(noted.root / ".snakemake")
    assert not [each for each in found(noted) if each[0] == "lost"], "nothing says that it ever was there"


def test_a_file_that_its_job_wrote_alone_is_missed_where_the_study_ends_with_it(noted: NotedResults) -> None:
    noted.make("results/report/figures/settling.svg", "<svg/>", "draw_figure", ["words/flowers.yaml"])
    noted.end_run()
    path = noted.results / "report/figures/settling.svg"
    path.unlink()
    noted.end_run()
    wanted = ["results/report/figures/settling.svg", "results/report/figures/never_made.svg"]

    def lost() -> list[Finding]:
        done = check_results(noted.results, root=noted.root, wanted=wanted)
        return [each for each in done.findings if each.kind == "lost"]

    [found_now] = lost()
    assert (found_now.path, found_now.is_wrong) == (wanted[0], True)
    assert found_now.text.startswith("It is gone, and the rule draw_figure had made it for this study. Restore it")
    path.write_text("<svg/>")
    assert lost() == []


def edit_a_table(noted: NotedResults) -> None:
    (noted.root / TABLE).write_text("a,0.6\nb,0.5\n")


def flip_a_bit_and_keep_the_time(noted: NotedResults) -> None:
    place = noted.root / TABLE
    status, data = place.stat(), bytearray(place.read_bytes())
    data[2] ^= 1
    place.write_bytes(data)
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def put_a_file_there(noted: NotedResults) -> None:
    (noted.results / "report/notes.txt").write_text("mine")


def leave_a_temporary_file(noted: NotedResults) -> None:
    (noted.results / "report/.index.html.host.12.abcd.tmp").write_text("<html")


def make_a_part_anew(noted: NotedResults) -> None:
    noted.make("results/associations/ceat/a.tsv", "a 0.7\n", "measure_ceat", ["results/sentences/corpus.tsv"])
    noted.end_run()


def change_the_corpus(noted: NotedResults) -> None:
    noted.source("texts/corpus.txt", "Another text.\n")


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (edit_a_table, [("changed", TABLE)]),
        (flip_a_bit_and_keep_the_time, [("changed", TABLE)]),
        (put_a_file_there, [("unknown", "results/report/notes.txt")]),
        (leave_a_temporary_file, [("unfinished", "results/report/.index.html.host.12.abcd.tmp")]),
        (make_a_part_anew, [("input", TABLE)]),
        (change_the_corpus, [("source", "texts/corpus.txt")]),
    ],
)
def test_each_harm_is_found_and_named(
    noted: NotedResults, harm: Callable[[NotedResults], None], expected: list[tuple[str, str]]
) -> None:
    harm(noted)
    assert found(noted) == [(kind, path, True) for kind, path in expected]
    # and the same after Snakemake has planned a run, which looks at the files as well
    synchronize(noted.root)
    assert found(noted) == [(kind, path, True) for kind, path in expected]


def test_word_lists_that_were_edited_are_told_and_not_wrong_where_the_plan_reads_them(noted: NotedResults) -> None:
    noted.source("words/flowers.yaml", "words: [rose]  # a comment\n")
    assert found(noted) == [("source", "words/flowers.yaml", True)]
    assert found(noted, planned=["words/flowers.yaml"]) == [("source", "words/flowers.yaml", False)]


def test_what_is_absent_is_told_and_not_wrong(noted: NotedResults) -> None:
    shutil.rmtree(noted.root / "texts")
    shutil.rmtree(noted.results / "sentences")
    shutil.rmtree(noted.root / ".snakemake")
    assert found(noted) == [("absent", "results/sentences", False), ("absent", "sources", False)]


def test_a_way_that_ends_is_found(noted: NotedResults) -> None:
    """A result that was made from a file that is not there and of which nothing is known any more."""
    ledger = noted.results / "provenance.jsonl"
    lines = [
        line for line in ledger.read_text().splitlines() if '"path": "results/associations/ceat/b.tsv"' not in line
    ]
    ledger.write_text("".join(f"{line}\n" for line in lines))
    (noted.results / "associations/ceat/b.tsv").unlink()
    shutil.rmtree(noted.root / ".snakemake")  # which would say that it was made, and is lost
    assert found(noted) == [("input", TABLE, True)]


@pytest.mark.parametrize("path", ["results/sentences/corpus.tsv", "results/associations/ceat/a.tsv", TABLE])
def test_a_file_that_its_job_wrote_alone_is_missed_where_something_was_made_from_it(
    noted: NotedResults, path: str
) -> None:
    (noted.root / path).unlink()
    noted.end_run()
    [lost] = [each for each in check(noted).findings if each.kind == "lost"]
    assert (lost.path, lost.is_wrong) == (path, True)
    assert "was made from it" in lost.text
    assert f"snakemake {path} --cores all" in lost.text


def test_without_a_ledger_nothing_is_known(noted: NotedResults) -> None:
    (noted.results / "provenance.jsonl").unlink()
    assert found(noted) == [("missing", str(noted.results / "provenance.jsonl"), True)]
    shutil.rmtree(noted.results)
    assert found(noted) == [("missing", str(noted.results), True)]


def test_other_code_than_that_of_the_neighbours(noted: NotedResults) -> None:
    newer = Code("cccccccccccc", {**CODE.definitions, "prasanga.base.parquet.write": "dddddddddddd"})
    noted.make("results/report/tables/ceat.md", "| a |\n", "write_tables", [TABLE], code=newer)
    noted.end_run()
    findings = check(noted).wrong
    assert {each.kind for each in findings} == {"code"}
    assert len(findings) == 6
    assert "prasanga.base.parquet.write ba9876543210" in findings[0].text


def test_a_setting_of_an_earlier_config_beside_one_of_the_new(noted: NotedResults) -> None:
    """A run with another config was stopped in the middle, and so the table is of before, too."""
    new = replace(CIRCUMSTANCES, config={**CIRCUMSTANCES.config, "associations": {"n_samples": 60}})
    settings = {"seed": 47, "n_samples": 60, "model": "models/a", "revision": None}
    noted.make(
        "results/associations/ceat/a.tsv",
        "a 0.7\n",
        "measure_ceat",
        ["results/sentences/corpus.tsv"],
        settings=settings,
    )
    noted.end_run(new)
    findings = check(noted).wrong
    assert [(each.kind, each.path) for each in findings] == [
        ("input", TABLE),
        ("settings", "results/associations/ceat/b.tsv"),
    ]
    assert "associations.n_samples 40, but results/associations/ceat/a.tsv with 60" in findings[1].text


def test_another_revision_of_a_model(noted: NotedResults) -> None:
    settings = {"model": "models/a", "revision": "abc123"}
    noted.make("results/likelihoods/a.tsv", "1\n", "score_pairs", settings=settings)
    noted.end_run()
    assert found(noted) == [("model", "results/associations/ceat/a.tsv", True)]


def test_what_no_table_of_the_study_needs_any_more_is_told_and_not_wrong(noted: NotedResults) -> None:
    """As after a change of lengths or buckets: the old files lie there, and what was drawn is not made from them."""
    newer = replace(CIRCUMSTANCES, config={**CIRCUMSTANCES.config, "associations": {"n_samples": 50}})
    for name, settings in (("old", CIRCUMSTANCES), ("new", newer)):
        samples = dict(settings.config["associations"])
        noted.make(f"results/samples/{name}.tsv", name, "draw_samples", settings=samples)
        noted.end_run(settings)
    noted.make("results/report/index.html", "page", "write_page", ["results/samples/new.tsv"], settings={})
    noted.end_run(newer)
    [left] = [each for each in check(noted).findings if each.kind == "settings"]
    assert (left.path, left.is_wrong) == ("results/samples/old.tsv", False)
    assert left.text.startswith(
        "Left over from before, no table of the study needs it: Made with associations.n_samples"
    )
    assert left.text.endswith("Delete it.")
    noted.make("results/report/index.html", "other", "write_page", ["results/samples/old.tsv"], settings={})
    noted.end_run(newer)
    [mixed] = [each for each in check(noted).findings if each.kind == "settings"]
    assert (mixed.path, mixed.is_wrong) == ("results/samples/old.tsv", True)


def test_other_libraries_are_told_and_not_wrong(noted: NotedResults) -> None:
    noted.make("results/report/tables/ceat.md", "| a |\n", "write_tables", [TABLE])
    noted.end_run(replace(CIRCUMSTANCES, libraries={**CIRCUMSTANCES.libraries, "torch": "3.0.0"}))
    done = check(noted)
    assert [(each.kind, each.path) for each in done.findings] == [("libraries", "results/report/tables/ceat.md")]
    assert done.findings[0].text == "1 result(s) were made with torch 3.0.0, unlike 6 others."
    assert done.wrong == ()


def test_code_that_was_edited_since_is_told_and_not_wrong(noted: NotedResults) -> None:
    assert found(noted, code={"measure.py": CODE}) == []
    edited = Code("cccccccccccc", {**CODE.definitions, "prasanga.base.parquet.write": "dddddddddddd"})
    [finding] = check(noted, code={"measure.py": edited}).findings
    assert (finding.kind, finding.is_wrong) == ("newer code", False)
    assert finding.text.startswith(
        "6 result(s) were made before an edit of prasanga.base.parquet.write; a run that needs"
    )


def test_notes_of_an_older_version_name_modules(noted: NotedResults) -> None:
    """Each module that a script reached was a parameter of its own."""
    ledger = noted.results / LEDGER
    old = ledger.read_text(encoding="utf-8").replace(
        "\"'measure.py 0123456789ab'\"", "\"'measure.py 0123456789ab'\", \"'prasanga.base.parquet ba9876543210'\""
    )
    ledger.write_text("".join(line for line in old.splitlines(keepends=True) if "definitions" not in line))
    assert found(noted) == []
    [finding] = check(noted, code={"measure.py": Code("cccccccccccc", {"measure.py": "0"})}).findings
    assert finding.text.startswith("6 result(s) were made before an edit of measure.py")


def test_lists_name_their_shards(noted: NotedResults) -> None:
    shard = noted.make("results/embeddings/a/9/00.parquet", parquet(noted.root / "t"), "embed")
    listed = {"shards": {"9/00.parquet": "0" * 64}, "sizes": {"9/00.parquet": shard.stat().st_size}}
    noted.make("results/embeddings/a/9.json", json.dumps(listed), "list", ["results/embeddings/a/9/00.parquet"])
    drawn = {"segments": ["results/samples/9/00.parquet"]}
    noted.make("results/samples/9.of1.json", json.dumps(drawn), "draw")
    noted.end_run()

    def no_shards(path: Path) -> None:
        raise InputError(f"{path}: of two models")

    findings = check(noted, shards=no_shards).wrong
    assert [(each.kind, each.path) for each in findings] == [
        ("list", "results/embeddings/a/9.json"),
        ("list", "results/embeddings/a/9.json"),
        ("list", "results/samples/9.of1.json"),
    ]
    assert "The shard 9/00.parquet is not the one that this list names" in findings[0].text
    assert findings[0].text.endswith("made again by its name: snakemake results/embeddings/a/9.json --cores all")
    assert findings[1].text.endswith("results/embeddings/a/9.json: of two models")


def parquet(place: Path) -> bytes:
    write_table(place, pa.table({"stimulus": ["ফুল", "মা"]}), {})
    return place.read_bytes()


def test_damage_before_the_ledger_came_to_know_a_file(noted: NotedResults) -> None:
    """A run was killed, and a byte was lost before the next one noted what is there."""
    whole = parquet(noted.root / "t")
    page = pq.ParquetFile(noted.root / "t").metadata.row_group(0).column(0)
    place = (page.dictionary_page_offset or page.data_page_offset) + page.total_compressed_size - 1
    noted.make("results/samples/a.parquet", whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :], "draw")
    noted.make("results/samples/b.parquet", whole[:-9], "draw")
    noted.make("results/samples/b.json", '{"segments": [', "draw")
    noted.make("results/samples/whole.parquet", whole, "draw")
    noted.end_run()
    assert found(noted) == [
        ("unknown", "results/samples/b.json", True),
        ("unknown", "results/samples/b.parquet", True),
        ("damaged", "results/samples/a.parquet", True),
        ("damaged", "results/samples/b.json", True),
        ("damaged", "results/samples/b.parquet", True),
    ]
    assert "by its name: snakemake results/samples/a.parquet --cores all" in check(noted).wrong[2].text


def test_kept_vectors_and_scores_are_no_results(noted: NotedResults) -> None:
    for path in ("store/key/part.parquet", "likelihoods/kept/key/set.parquet"):
        (noted.results / path).parent.mkdir(parents=True)
        (noted.results / path).write_text("")
    assert found(noted) == []


def test_what_was_found_is_written_down_and_ends_in_a_sentence(
    noted: NotedResults, caplog: pytest.LogCaptureFixture
) -> None:
    put_a_file_there(noted)
    done = check(noted)
    rows = [line.split("\t") for line in done.to_tsv().splitlines()]
    assert rows[0] == ["kind", "path", "wrong", "text"]
    assert rows[1][:3] == ["unknown", "results/report/notes.txt", "yes"]
    with (
        caplog.at_level(logging.INFO),
        pytest.raises(InputError, match=r"1 finding\(s\) that must be seen to \(unknown 1\)"),
    ):
        say(done, "check.tsv")
    assert "results/report/notes.txt (unknown): Nothing says what made this file." in caplog.text
