"""Forty-six faults on single stages: each job is disturbed in a process of its own, and then run again in peace.

While it is disturbed, it may end with what an undisturbed run gives, or with a sentence for the user; never with
another result, a traceback, or half a file under a name that is believed. Run again, it gives the undisturbed run's
bytes, and nothing that was half-written is left. `FAULTS_SEED=<n>` draws other moments, places and sizes. Of every
kind of fault there is one at least that is not `long`.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest
from faults import Around, FaultMissedError, FileFault, Kill, Surroundings, temporary_files, why_not
from faults_jobs import run_job, start_job
from faults_stages import MANIFEST, TEXT, Bench, build_bench
from shared_studies import shared_study
from small_study import Study

SEED = int(os.environ.get("FAULTS_SEED", "8"))

FORMS = "results/lexicon/forms.parquet"
SENTENCES = "results/sentences/text.parquet"
SEGMENTS = "results/samples/9/00.parquet"
VECTORS = "results/embeddings/tiny/9/00.parquet"
LISTED = "results/embeddings/tiny/9.json"
ESTIMATES = "results/associations/ceat/tiny/9.parquet"
CEAT = "results/associations/ceat.parquet"
SCORES = "results/likelihoods/pairs/demo/tiny.parquet"
WEIGHTS = "results/models/tiny/model.safetensors"
ANY_TEMPORARY = "results/**/.*.tmp"


@pytest.fixture(scope="session")
def whole(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Every stage after an undisturbed run."""

    def finish(root: Path) -> Study:
        jobs = build_bench(project_root, root).jobs
        (root / "jobs.pickle").write_bytes(pickle.dumps(jobs))
        return Study(root)

    root = shared_study(tmp_path_factory, "stages", finish).root
    return Bench(root, pickle.loads((root / "jobs.pickle").read_bytes()))


@pytest.fixture
def bench(whole: Bench, tmp_path: Path) -> Bench:
    """A copy of it, to be disturbed."""
    return whole.copy(tmp_path / "study")


@dataclass(frozen=True)
class Ended:
    """How a disturbed job ended; `code` None if it was killed."""

    code: int | None
    printed: str
    did: str


def values_of(contents: Mapping[str, bytes]) -> dict[str, object]:
    """What results say: of tables the rows, without the digests of the files that they were made from."""
    return {
        path: repr(pl.read_parquet(BytesIO(data)).rows()) if path.endswith(".parquet") else data
        for path, data in contents.items()
    }


def require_survived(
    bench: Bench,
    stage: str,
    ended: Ended,
    expected: Mapping[str, bytes],
    named: str = "",
    read: Callable[[Mapping[str, bytes]], Mapping[str, object]] = dict,
) -> None:
    """A sentence, or the right result; no half of it in either case."""
    assert "Traceback" not in ended.printed, f"{ended.did}\n{ended.printed}"
    assert "defect of prasanga" not in ended.printed, f"{ended.did}\n{ended.printed}\n{tracebacks(bench)}"
    found, wanted = read(bench.contents(stage)), read(expected)
    wrong = [path for path, data in found.items() if data != wanted[path]]
    assert not wrong, f"{ended.did}\nanother result in {wrong}"
    if ended.code == 0:
        assert found == wanted, f"{ended.did}\nended well without {sorted(set(wanted) - set(found))}"
    elif ended.code is not None:
        assert " ERROR " in ended.printed, f"{ended.did}\nno sentence:\n{ended.printed}"
        assert named in ended.printed, f"{ended.did}\n{named} is not named:\n{ended.printed}"


def tracebacks(bench: Bench) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in (bench.root / "logs").glob("*.traceback"))


def require_whole_again(bench: Bench, stage: str, did: str, expected: Mapping[str, bytes]) -> None:
    """Run in peace, the job gives the undisturbed run's bytes and leaves nothing half-written."""
    bench.forget(stage)
    code, printed = run_job(bench.jobs[stage], bench.root, name="again")
    assert code == 0, f"{did}\nnot mended by another run:\n{printed}\n{tracebacks(bench)}"
    found = bench.contents(stage)
    assert found == expected, f"{did}\nafterwards other bytes in {[p for p in expected if found.get(p) != expected[p]]}"
    assert temporary_files(bench.root / "results") == [], did


def require_possible(*kinds: str) -> None:
    for kind in kinds:
        if reason := why_not(kind):
            pytest.skip(f"{kind}: {reason}")


def case(stage: str, kind: str, target: str, number: int, *, long: bool = False) -> object:
    name = "-".join(filter(None, [stage, kind.replace(" ", "_"), target.replace("/", ".") if "/" in target else ""]))
    return pytest.param(stage, kind, target, SEED * 1000 + number, id=name, marks=[pytest.mark.long] if long else [])


pytestmark = pytest.mark.fault


# Killed in the middle, by SIGKILL, when there is something to lose.
@pytest.mark.parametrize(
    ("stage", "kind", "target", "seed"),
    [
        case("lexicon", "at file", ANY_TEMPORARY, 1, long=True),
        case("sentences", "at time", "1", 2),
        case("sentences", "at file", ANY_TEMPORARY, 3, long=True),
        case("samples", "at file", ANY_TEMPORARY, 4, long=True),
        case("training", "at file", "results/models/.tiny.*/model.safetensors", 5),
        case("embeddings", "at file", "results/store/**/.*.tmp", 6),
        case("associations", "at file", ANY_TEMPORARY, 7, long=True),
        case("scores", "at file", ANY_TEMPORARY, 8, long=True),
        case("static", "at time", "2", 9, long=True),
    ],
)
def test_killed(
    whole: Bench,
    bench: Bench,
    stage: str,
    kind: str,
    target: str,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    expected = whole.contents(stage)
    for attempt in range(5):
        bench.forget(stage)
        for folder in bench.jobs[stage].folders:
            shutil.rmtree(bench.root / folder, ignore_errors=True)
        process = start_job(bench.jobs[stage], bench.root)
        try:
            ended = Ended(None, "", Kill(kind, seed + attempt, target).apply(process, bench.root))
            break
        except FaultMissedError as missed:  # it was as fast as that, and its result is asked for
            ended = Ended(process.wait(), process.printed(), str(missed))
            require_survived(bench, stage, ended, expected)
    else:
        record_property("fault missed", ended.did)
    require_survived(bench, stage, ended, expected)
    require_whole_again(bench, stage, ended.did, expected)


# What a job reads is damaged: refused by name, or what comes out is right.
@pytest.mark.parametrize(
    ("stage", "kind", "target", "seed"),
    [
        case("sentences", "flipped", FORMS, 1, long=True),
        case("sentences", "truncated", TEXT, 2),
        case("samples", "flipped", SENTENCES, 3, long=True),
        case("samples", "truncated", SENTENCES, 4, long=True),
        case("samples", "deleted", SENTENCES, 5),
        case("embeddings", "flipped", SEGMENTS, 6, long=True),
        case("embeddings", "flipped", WEIGHTS, 7),
        case("embeddings", "emptied", "results/models/tiny.json", 8),
        case("scores", "flipped", WEIGHTS, 9, long=True),
        case("list", "truncated", VECTORS, 10, long=True),
        case("associations", "flipped", VECTORS, 11),
        case("associations", "flipped", LISTED, 12, long=True),
        case("associations", "flipped", "results/lexicon/categories.json", 13, long=True),
        case("gathering", "flipped", ESTIMATES, 14, long=True),
        case("report", "flipped", CEAT, 15, long=True),
        case("report", "folder", CEAT, 16),
        case("copies", "flipped", CEAT, 21),
        case("lookup", "flipped", "results/static/glove.vectors.parquet", 17, long=True),
        case("weat", "truncated", "results/static/glove.parquet", 18),
        case("likelihoods", "flipped", SCORES, 19),
        case("pairs", "emptied", "corpus/pairs.csv", 20, long=True),
    ],
)
def test_damaged_input(whole: Bench, bench: Bench, stage: str, kind: str, target: str, seed: int) -> None:
    expected = whole.contents(stage)
    bench.forget(stage)
    for folder in bench.jobs[stage].folders:  # else nothing of the model is read
        shutil.rmtree(bench.root / folder)
    fault = FileFault(kind, seed, target)
    did = fault.apply(bench.root)
    ended = Ended(*run_job(bench.jobs[stage], bench.root), did)
    named = Path(target).parent.name if target == WEIGHTS else Path(target).name
    # a byte that means nothing changes the digest of its file, which tables carry
    require_survived(bench, stage, ended, expected, named=named, read=values_of)
    fault.undo(bench.root)
    shutil.copy2(whole.root / target, bench.root / target)
    require_whole_again(bench, stage, did, expected)


# No room, no permission, or something in the way, where a job writes.
@pytest.mark.parametrize(
    ("stage", "kind", "target", "seed"),
    [
        case("lexicon", "small files", "", 1),
        case("samples", "small disk", "results/samples", 2),
        case("training", "small disk", "results/models", 3, long=True),
        case("embeddings", "small files", "", 4, long=True),
        case("report", "folder", "results/report/tables/ceat.csv", 5),
        case("sentences", "read-only folder", SENTENCES, 6),
        case("associations", "full log", "logs/measure_ceat.log", 7),
    ],
)
def test_cannot_write(whole: Bench, bench: Bench, stage: str, kind: str, target: str, seed: int) -> None:
    require_possible(kind)
    expected = whole.contents(stage)
    bench.forget(stage)
    for folder in bench.jobs[stage].folders:
        shutil.rmtree(bench.root / folder)
    fault: FileFault | None = None
    if kind in ("folder", "read-only folder"):
        fault = FileFault(kind, seed, target)
        did = fault.apply(bench.root)
        around = Surroundings("ordinary user", seed, "") if kind == "read-only folder" else None
    else:
        largest = max(map(len, expected.values()))
        around = Surroundings(kind, seed, target, at_least=largest // 3, at_most=largest * 2 // 3)
        did = ""
    with around.around(bench.root) if around else nullcontext(Around()) as surroundings:
        ended = Ended(*run_job(bench.jobs[stage], bench.root, around=surroundings), f"{did} {surroundings.said}")
        require_survived(bench, stage, ended, expected)
        assert temporary_files(bench.root / "results") == [], ended.did
        if kind != "full log":
            assert ended.code, f"{ended.did}\nit was written all the same"
            assert "could not be written" in ended.printed, f"{ended.did}\n{ended.printed}"
    if fault:
        fault.undo(bench.root)
    require_whole_again(bench, stage, ended.did, expected)


def test_a_model_of_the_hub_without_network(whole: Bench, bench: Bench) -> None:
    """No network is there, nobody has said so, and the model is not in the cache: the job ends with what to type."""
    require_possible("no network")
    job = bench.jobs["check"]
    check = {**job.params["check"], "model": "prasanga/not-in-the-cache", "revision": None}
    asking = replace(job, params={"check": check})
    bench.forget("check")
    with Surroundings("no network", SEED, "").around(bench.root) as around:
        ended = Ended(*run_job(asking, bench.root, around=around), around.said)
    require_survived(bench, "check", ended, whole.contents("check"), named="hf download prasanga/not-in-the-cache")
    assert ended.code, f"{ended.did}\nit was found all the same"
    assert "the hub cannot be reached" in ended.printed, ended.printed
    require_whole_again(bench, "check", ended.did, whole.contents("check"))


# What is kept for later runs is damaged: computed again, and never trusted.
@pytest.mark.parametrize(
    ("stage", "kind", "target", "seed"),
    [
        case("embeddings", "flipped", "results/store/*/[!.]*.parquet", 1),
        case("embeddings", "truncated", "results/store/*/[!.]*.parquet", 2),
        case("scores", "flipped", "results/likelihoods/kept/*/*.parquet", 3),
        case("manifest", "flipped", MANIFEST, 4),
    ],
)
def test_damaged_store(whole: Bench, bench: Bench, stage: str, kind: str, target: str, seed: int) -> None:
    expected = whole.contents(stage)
    path = min(bench.root.glob(target))
    did = FileFault(kind, seed, path.relative_to(bench.root).as_posix()).apply(bench.root)
    if stage != "manifest":
        bench.forget(stage)
    ended = Ended(*run_job(bench.jobs[stage], bench.root), did)
    assert ended.code == 0, f"{did}\n{ended.printed}\n{tracebacks(bench)}"
    require_survived(bench, stage, ended, expected)
    require_whole_again(bench, stage, did, expected)


# Two jobs that write the same files at once, and an input that goes away while it is read.
@pytest.mark.parametrize("stage", ["embeddings", pytest.param("gathering", marks=pytest.mark.long)])
def test_two_at_once(whole: Bench, bench: Bench, stage: str) -> None:
    expected = whole.contents(stage)
    bench.forget(stage)
    for folder in bench.jobs[stage].folders:
        shutil.rmtree(bench.root / folder)
    processes = [start_job(bench.jobs[stage], bench.root, name=name) for name in ("one", "two")]
    for process in processes:
        ended = Ended(process.wait(), process.printed(), f"{stage} twice at the same time")
        assert ended.code == 0, f"{ended.did}\n{ended.printed}\n{tracebacks(bench)}"
    require_survived(bench, stage, ended, expected)
    require_whole_again(bench, stage, ended.did, expected)


def test_input_deleted_while_it_is_read(whole: Bench, bench: Bench) -> None:
    expected = whole.contents("samples")
    bench.forget("samples")
    (bench.root / "logs/draw_samples.log").unlink()
    process = start_job(bench.jobs["samples"], bench.root)
    while process.poll() is None and not (bench.root / "logs/draw_samples.log").exists():
        pass
    did = FileFault("deleted", SEED, SENTENCES).apply(bench.root)
    ended = Ended(process.wait(), process.printed(), did)
    require_survived(bench, "samples", ended, expected, named="text.parquet")
    shutil.copy2(whole.root / SENTENCES, bench.root / SENTENCES)
    require_whole_again(bench, "samples", did, expected)
