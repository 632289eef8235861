"""Fingerprints: which edits change them, and that every script of the project has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables import read_data

from prasanga.base import results as code
from prasanga.base.results import fingerprints, module_file

FILES = read_data(__file__, "files_of_code")


def fingerprint(script: Path) -> str:
    return fingerprints([script])[script]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project, and a user without a cache."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(code, "installation", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "counts"),
    [
        ("workflow/scripts/measure.py", "Adapter", "Another text", False),
        ("workflow/scripts/measure.py", "effect(1)", "effect(2)", True),
        ("src/prasanga/stats/effects.py", "Return it", "Return a sum", False),
        ("src/prasanga/stats/effects.py", "x + WIDTH", "(x  +  WIDTH)  # layout", False),
        ("src/prasanga/stats/effects.py", "x + WIDTH", "x - WIDTH", True),
        ("src/prasanga/stats/plots.py", "...", "pass", False),  # the package only passes it on
        ("src/prasanga/words/__init__.py", "1", "2", True),  # an import inside a function
        ("src/prasanga/words/labels.yaml", "b", "c", True),
    ],
)
def test_only_an_edit_of_code_that_a_script_can_run_counts(
    project: Path, file: str, old: str, new: str, *, counts: bool
) -> None:
    script = project / "workflow/scripts/measure.py"
    before = fingerprint(script)
    assert fingerprint(script) == before, "from the cache"
    text = (project / file).read_text(encoding="utf-8")
    assert old in text
    (project / file).write_text(text.replace(old, new), encoding="utf-8")
    assert (fingerprint(script) != before) is counts


def test_equal_code_has_one_fingerprint_wherever_it_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = project / "workflow/scripts/measure.py"
    before = fingerprint(script)
    # another value makes the statistics of all users run again
    assert before == "9bbec38f701559a5"
    (project / "cache").rename(project / "gone")
    moved = project.rename(project.with_name("moved"))
    monkeypatch.setattr(code, "installation", lambda: moved)
    assert fingerprint(moved / "workflow/scripts/measure.py") == before


def test_a_module_that_is_not_there_is_named(project: Path) -> None:
    (project / "workflow/scripts/measure.py").write_text("from prasanga.gone import x\n", encoding="utf-8")
    with pytest.raises(ImportError, match=r"module prasanga\.gone is missing in the packages prasanga, "):
        fingerprint(project / "workflow/scripts/measure.py")


def test_the_scripts_of_the_project(project_root: Path) -> None:
    """A figure's module is reached by its name alone, and a stage does not reach the page."""
    folders = ("workflow/scripts", "construction/scripts", "calibration/scripts")
    scripts = [path for folder in folders for path in (project_root / folder).glob("*.py")]
    found = fingerprints(scripts)
    assert len(set(found.values())) == len(scripts) > 40
    assert module_file("prasanga_construction.planning").is_relative_to(project_root)
