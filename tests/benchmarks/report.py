"""Time and size of the report: `python tests/benchmarks/report.py [grid|study|large ...]`.

Prints Markdown. Each study is made up (`tests/support/large_study.py`), and lies in a copy of the tree with its results
alone: no corpus, no model, no vectors. `grid`: CEAT of the papers' grid, 9 categories, 10 lengths, 4 models, N = 5,000.
`study`: the same with SEAT, WEAT, log-probability bias, sentence structures and IndiBias's number of sentence pairs.
`large`: 10 models, 10 lengths, 100,000 rows of sentence pairs. `snakemake figures --cores 2` draws each from nothing;
Then headless Chromium opens the page from disk, without a network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests/support"))

from browser import OpenPage, find_browser  # noqa: E402
from large_study import LENGTHS, MODELS, write_large_study  # noqa: E402
from measured import write_measured  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from small_study import CODE  # noqa: E402

STUDIES: Mapping[str, Mapping[str, Any]] = {
    "grid": {"ceat_alone": True},
    "study": {},
    "large": {"models": [f"{model}-{size}" for size in ("base", "large", "xl") for model in MODELS][:10],
              "pairs": 5_000},
}  # fmt: skip
OPENINGS = 5
_PATIENCE = 120


class Opened(NamedTuple):
    """How long a page took: seconds to the first view and to `load`, and what its console said."""

    first_view: float
    loaded: float
    problems: list[str]


def main() -> None:
    """Measure the studies that the command line names; all of them if it names none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="study", help="which; all if none is named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    options = parser.parse_args()
    names = options.studies or list(STUDIES)
    constants: dict[str, float] = {}
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {len(LENGTHS)} lengths\n")
    print("| study | figures and tables drawn | CPU | files | page | first view | loaded | interactions | console |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        with TemporaryDirectory() as folder:
            print(f"| {' | '.join(measured(name, Path(folder), constants))} |", flush=True)
    print("\nAsked for `grid`: 15 s on two cores, less than 5 MB, first view within 2 s, nothing in the console.")
    if options.json:
        write_measured(options.json, {}, constants=constants)


def measured(name: str, folder: Path, constants: dict[str, float]) -> Iterator[str]:
    """The cells of a study's row; what docs/outputs.md computes with goes into `constants`."""
    root = folder / "study"
    root.mkdir()
    for part in CODE:
        (shutil.copytree if (PROJECT / part).is_dir() else shutil.copy)(PROJECT / part, root / part)
    write_large_study(root, **STUDIES[name])
    yield name
    # the first run compiles modules and reads fonts; what is asked is how long a redraw takes
    draw(root)
    shutil.rmtree(root / "results/report")
    seconds, cpu = draw(root)
    page = root / "results/report/index.html"
    constants |= {f"core_seconds_of_{name}": cpu, f"megabytes_of_{name}": page.stat().st_size / 1e6}
    yield f"{seconds:.1f} s"
    yield f"{cpu:.1f} s"
    yield str(sum(path.is_file() for path in (root / "results/report").rglob("*")))
    yield f"{page.stat().st_size / 1e6:.2f} MB"
    browser = find_browser()
    if browser is None:
        yield from ("no browser",) * 4
        return
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser)
        opened = [open_once(started, page) for _ in range(OPENINGS)]
        yield _spread([found.first_view for found in opened])
        yield _spread([found.loaded for found in opened])
        yield "; ".join(interactions(started, page))
        said = [problem for found in opened for problem in found.problems]
        yield said[0] if said else "nothing"


def draw(root: Path) -> tuple[float, float]:
    """Seconds and seconds of processor time of `snakemake figures`."""
    before, start = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "snakemake", "figures", "--cores", "2", "--quiet", "all"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    after = os.times()
    used = sum(after[place] - before[place] for place in (2, 3))
    return time.perf_counter() - start, used


def open_once(browser: Browser, path: Path) -> Opened:
    """Open the page in a new context."""
    open_page = OpenPage(browser)
    page = open_page(path)
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.timing.loadEventEnd"
    )
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    open_page.close()
    return Opened(paint / 1000, loaded / 1000, list(open_page.problems))


def interactions(browser: Browser, path: Path) -> Iterator[str]:
    """Seconds until the table of all numbers is open, and until the pairs are, and are searched."""
    open_page = OpenPage(browser)
    page = open_page(path)

    def timed(what: str, act: str, done: str) -> str:
        start = time.perf_counter()
        page.evaluate(act)
        # the page's policy forbids what would wait within it
        while not page.evaluate(f"Boolean({done})"):
            if time.perf_counter() - start > _PATIENCE:
                return f"{what} not within {_PATIENCE} s"
            time.sleep(0.01)
        return f"{what} {time.perf_counter() - start:.2f} s"

    all_numbers = "document.querySelector('#numbers table.explorable')?.closest('.dt-container')"
    yield timed("all numbers", "location.hash = '#numbers'", all_numbers)
    if page.locator("#pair-browser").count():
        count = "document.querySelector('.pair-browser .dt-info')?.textContent"
        yield timed("pairs", "location.hash = '#pair-browser'", f"{count}?.match(/[0-9]/)")
        yield timed("search", _SEARCH, f"{count} !== window.before")
    open_page.close()


_SEARCH = """() => {
      window.before = document.querySelector('.pair-browser .dt-info').textContent;
      const search = document.querySelector('.pair-browser .dt-search input');
      search.value = '1';
      search.dispatchEvent(new Event('input', { bubbles: true }));
    }"""


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s (at most {max(seconds):.2f})"


if __name__ == "__main__":
    main()
