"""Which card a process gets, and what `auto` means for the precision."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from prasanga.base.errors import InputError
from prasanga.models import devices as cards_module
from prasanga.models.devices import (
    Card,
    check_device,
    claim_cards,
    claim_device,
    claim_several,
    cpu_has_bfloat16,
    dtype_of_study,
    resolve_dtype,
    warn_if_slow,
)

# Claims a card, says which one, and holds it until its input ends.
_CLAIMANT = """
import sys
from pathlib import Path
from prasanga.models.devices import Card, claim_cards

cards = [Card(i, f"uuid-{i}", int(free)) for i, free in enumerate(sys.argv[3].split(","))]
print(*(card.index for card in claim_cards(cards, int(sys.argv[2]), folder=Path(sys.argv[1]))), flush=True)
sys.stdin.read()
"""


class _Claimants:
    """Real processes that hold fake cards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []

    def start(self, free: str, count: int = 1) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _CLAIMANT, str(self.folder), str(count), free]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.running.append(subprocess.Popen(command, text=True, **pipes))  # type: ignore[call-overload]
        return self.running[-1]

    def claim(self, free: str, count: int = 1) -> list[int]:
        return self.answer(self.start(free, count))

    @staticmethod
    def answer(process: subprocess.Popen[str]) -> list[int]:
        assert process.stdout is not None
        return [int(word) for word in process.stdout.readline().split()]


@pytest.fixture
def claimants(tmp_path: Path) -> Iterator[_Claimants]:
    group = _Claimants(tmp_path)
    yield group
    for process in group.running:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards_module, "_HELD", {})


def _cards(*free: int) -> list[Card]:
    return [Card(index, f"uuid-{index}", room) for index, room in enumerate(free)]


def test_processes_that_start_together_get_different_cards(claimants: _Claimants) -> None:
    started = [claimants.start("10,10,10,10") for _ in range(4)]
    assert sorted(claimants.answer(process)[0] for process in started) == [0, 1, 2, 3]


def test_a_kill_gives_the_card_back_and_a_fifth_process_shares(claimants: _Claimants) -> None:
    assert [claimants.claim("10,10")[0] for _ in range(2)] == [0, 1]
    assert claimants.claim("3,7") == [1]  # all taken: the one with most free memory
    claimants.running[0].kill()
    claimants.running[0].wait()
    assert claimants.claim("3,7") == [0]


def test_the_emptiest_unclaimed_card_first(claimants: _Claimants) -> None:
    assert claimants.claim("10,80,40") == [1]
    assert claimants.claim("10,80,40") == [2]
    assert claimants.claim("10,80,40,5", count=2) == [0, 3]
    assert claimants.claim("10,80,40,5", count=3) == [0, 1, 2]


def test_a_process_that_asks_again_gets_the_same_card(tmp_path: Path, claimants: _Claimants) -> None:
    with ThreadPoolExecutor(4) as pool:
        claimed = list(pool.map(lambda _: claim_device(cards=lambda: _cards(5, 9, 7), folder=tmp_path), range(8)))
    assert claimed == [torch.device("cuda", 1)] * 8
    assert claim_device("cuda", cards=lambda: _cards(50, 9, 7), folder=tmp_path) == torch.device("cuda", 1)
    assert claimants.claim("5,9,7") == [2]


def test_a_lock_file_of_somebody_else(tmp_path: Path) -> None:
    lock = tmp_path / "prasanga-card-uuid-0.lock"
    lock.touch()
    lock.chmod(0o444)  # as another user's file: to be read, not written
    assert claim_cards(_cards(9, 5), folder=tmp_path)[0].index == 0
    assert lock.read_bytes() == b""


def test_lock_files_are_readable_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        claim_cards(_cards(9), folder=tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / "prasanga-card-uuid-0.lock").stat().st_mode & 0o777 == 0o644


def test_a_link_in_place_of_a_lock_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "prasanga-card-uuid-0.lock").symlink_to(tmp_path / "elsewhere")
    assert claim_cards(_cards(9, 5), folder=tmp_path)[0].index == 1
    assert not (tmp_path / "elsewhere").exists()


def test_explicit_single_and_no_cards(tmp_path: Path) -> None:
    two, one, none = (lambda: _cards(9, 5)), (lambda: _cards(9)), list
    assert claim_device("cuda:1", cards=two, folder=tmp_path) == torch.device("cuda", 1)
    assert claim_device("auto", cards=one, folder=tmp_path) == torch.device("cuda", 0)
    assert claim_device("auto", cards=none, folder=tmp_path) == torch.device("cpu")
    assert claim_device("cpu", cards=two, folder=tmp_path) == torch.device("cpu")
    assert not list(tmp_path.iterdir())  # nothing to share, nothing to lock
    with pytest.raises(InputError, match="device is 'cuda', but torch sees no CUDA device here"):
        claim_device("cuda", cards=none)
    with pytest.raises(
        InputError, match="is 'cuda:2', but this job sees 2 CUDA cards: write auto, or cuda:0 to cuda:1"
    ):
        check_device("cuda:2", cards=two)


@pytest.mark.parametrize(
    "device",
    ["gpu", "mps", "xpu", "meta", "cpu:0", "cuda:", "cuda:-1", "cuda:01", "cuda:১", "cuda:0,1", "CUDA", ""],
)
def test_devices_that_were_never_tried_are_refused(device: str) -> None:
    with pytest.raises(InputError) as caught:
        check_device(device, cards=lambda: _cards(9, 5))
    assert str(caught.value) == (
        f"device is {device!r}; write auto, cpu, cuda or cuda:<number>. Models run on CPUs and CUDA cards only."
    )


def test_devices_that_are_taken() -> None:
    found = [check_device(device, cards=lambda: _cards(9, 5)) for device in ("cpu", "cuda:0", "cuda:1", "cuda", "auto")]
    assert found == [torch.device("cpu"), torch.device("cuda", 0), torch.device("cuda", 1), None, None]
    with pytest.raises(InputError, match="is 'cuda:4096', but this job sees 2 CUDA cards"):
        check_device("cuda:4096", cards=lambda: _cards(9, 5))


def test_several_cards_for_one_model(tmp_path: Path) -> None:
    claimed = claim_several(2, cards=lambda: _cards(1, 9, 5), folder=tmp_path)
    assert [card.index for card in claimed] == [1, 2]
    with pytest.raises(InputError, match="cards is 4, but this job sees 3 CUDA cards"):
        claim_several(4, cards=lambda: _cards(1, 9, 5), folder=tmp_path)
    with pytest.raises(InputError, match="cards is 2, but this job sees 0 CUDA cards"):
        claim_several(2, cards=list, folder=tmp_path)


@pytest.mark.parametrize(
    ("dtype", "device", "cards", "expected"),
    [
        ("auto", "auto", [(9, 0), (9, 0)], "bfloat16"),
        ("auto", "auto", [(9, 0), (7, 5)], "float32"),
        ("auto", "cuda:0", [(9, 0), (7, 5)], "bfloat16"),
        ("auto", "cuda:1", [(9, 0), (7, 5)], "float32"),
        ("auto", "auto", [], "float32"),
        ("auto", "cpu", [(9, 0)], "float32"),
        ("float16", "cuda", [(7, 5)], "float16"),
    ],
)
def test_auto_is_bfloat16_where_every_card_in_question_has_it(
    monkeypatch: pytest.MonkeyPatch, dtype: str, device: str, cards: list[tuple[int, int]], expected: str
) -> None:
    monkeypatch.setattr(cards_module, "_capabilities", lambda: cards)
    assert resolve_dtype(dtype, device) == expected


def test_other_precisions_are_refused() -> None:
    with pytest.raises(InputError, match="dtype is 'half'; write auto, float32, bfloat16, float16"):
        resolve_dtype("half")


def test_half_precision_on_a_cpu_without_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def cpuinfo(text: str) -> None:
        (tmp_path / "cpuinfo").write_text(text)

    monkeypatch.setattr(cards_module, "_CPUINFO", tmp_path / "cpuinfo")
    assert not cpu_has_bfloat16()  # there is no such file
    cpuinfo("processor : 0\nFeatures\t: fp asimd bf16 i8mm\n")
    assert cpu_has_bfloat16()
    cpuinfo("processor : 0\nflags\t\t: fpu sse avx512f avx512_bf16\n")
    assert cpu_has_bfloat16()
    cpu = torch.device("cpu")
    warn_if_slow("bfloat16", cpu)
    cpuinfo("processor : 0\nflags\t\t: fpu sse avx512f\n")
    assert not cpu_has_bfloat16()
    warn_if_slow("float32", cpu)
    warn_if_slow("bfloat16", torch.device("cuda", 0))
    assert not caplog.records
    warn_if_slow("bfloat16", cpu)
    assert "bfloat16 is allowed on this CPU, but will be slow" in caplog.text


@pytest.mark.parametrize(
    ("dtype", "device", "flags", "expected"),
    [
        ("bfloat16", "cpu", "avx2", "float32"),
        ("bfloat16", "cpu", "avx512_bf16", "bfloat16"),
        ("float16", "cpu", "avx512_bf16", "float32"),
        ("auto", "cpu", "avx512_bf16", "float32"),
        ("bfloat16", "auto", "avx2", "bfloat16"),  # there is a card
        ("float32", "cpu", "avx2", "float32"),
    ],
)
def test_a_study_computes_in_no_precision_that_the_processor_emulates(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    dtype: str,
    device: str,
    flags: str,
    expected: str,
) -> None:
    (tmp_path / "cpuinfo").write_text(f"flags\t\t: fpu sse {flags}\n")
    monkeypatch.setattr(cards_module, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(cards_module, "_capabilities", lambda: [(9, 0)])
    assert dtype_of_study(dtype, device) == expected
    said = f"this processor does not compute in {dtype} itself, and float32 is faster: float32 is used"
    assert (said in caplog.text) == (expected == "float32" and dtype not in ("float32", "auto"))


def test_options_need_no_torch() -> None:
    program = "import sys, prasanga.models.options; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
