"""The fingerprint of code: what changes it, what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.provenance.code import fingerprint, fingerprint_of_module


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package with two stages, an `__init__` that offers names, and a script for each stage."""
    package = tmp_path / "src" / "prasanga"
    (package / "words").mkdir(parents=True)
    (package / "__init__.py").write_text('"""A package."""\n')
    (package / "words" / "__init__.py").write_text(
        "from prasanga.words.count import count\nfrom prasanga.words.split import split\n__all__ = ['count', 'split']\n"
    )
    write(
        package,
        words__split='"""Split."""\n\ndef split(text):\n    """Words."""\n    return text.split()\n',
        words__count="def count(text):\n    from prasanga.words.split import split\n    return len(split(text))\n",
        errors="class InputError(ValueError):\n    pass\n",
        statistics="from prasanga import errors\n\ndef mean(x):\n    return sum(x) / len(x)\n",
    )
    write(
        tmp_path,
        count_words="from prasanga.words import count\nprint(count('a b'))\n",
        split_words="from prasanga.words import split\nprint(split('a b'))\n",
        average="from prasanga.statistics import mean\nprint(mean([1]))\n",
    )
    return tmp_path


def names(tree: Path, script: str) -> set[str]:
    return set(fingerprint(tree / script, tree / "src"))


def test_reaches_through_packages_and_functions_and_nothing_else(tree: Path) -> None:
    shared = {"prasanga", "prasanga.words"}
    assert names(tree, "split_words.py") == {"split_words.py", "prasanga.words.split"} | shared
    assert names(tree, "count_words.py") == {"count_words.py", "prasanga.words.count", "prasanga.words.split"} | shared
    assert names(tree, "average.py") == {"average.py", "prasanga", "prasanga.statistics", "prasanga.errors"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def split(text):\n    return text.split()\n", id="docstrings removed"),
        pytest.param("# why\n\n\ndef split(text):\n    'other'\n    return (text\n        .split())\n", id="layout"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(tree: Path, text: str) -> None:
    before = fingerprint(tree / "count_words.py", tree / "src")
    write(tree / "src" / "prasanga", words__split=text)
    assert fingerprint(tree / "count_words.py", tree / "src") == before


def test_an_edit_changes_the_scripts_that_reach_it_and_no_other(tree: Path) -> None:
    scripts = ("count_words.py", "split_words.py", "average.py")
    before = {script: fingerprint(tree / script, tree / "src") for script in scripts}
    write(tree / "src" / "prasanga", words__count="def count(text):\n    return len(text.split(' '))\n")
    changed = {
        script: {
            name
            for name, digest in fingerprint(tree / script, tree / "src").items()
            if before[script].get(name) != digest
        }
        for script in scripts
    }
    assert changed == {"count_words.py": {"prasanga.words.count"}, "split_words.py": set(), "average.py": set()}


def test_what_a_package_offers_is_no_code(tree: Path) -> None:
    before = fingerprint(tree / "split_words.py", tree / "src")
    init = tree / "src/prasanga/words/__init__.py"
    init.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from prasanga.words.count import count\n"
        "from prasanga.words.split import split\n__all__ = ['split', 'count']\n"
        "def __getattr__(name):\n    if name == 'count':\n        from prasanga.words.count import count\n"
        "        return count\n    raise AttributeError(name)\n"
    )
    assert fingerprint(tree / "split_words.py", tree / "src") == before
    assert "prasanga.words.count" in names(tree, "count_words.py")  # followed through the lazy attribute


def test_data_files_of_a_package_count(tree: Path) -> None:
    template = tree / "src/prasanga/words/templates/page.html"
    template.parent.mkdir()
    template.write_text("one")
    before = fingerprint(tree / "split_words.py", tree / "src")
    template.write_text("two")
    after = fingerprint(tree / "split_words.py", tree / "src")
    assert {name for name in after if after[name] != before[name]} == {"prasanga.words data"}
    assert fingerprint(tree / "average.py", tree / "src").keys() & {"prasanga.words data"} == set()


def test_relative_imports_are_followed(tree: Path) -> None:
    write(tree / "src" / "prasanga", words__count="from .split import split\nfrom .. import errors\n")
    assert {"prasanga.words.split", "prasanga.errors"} <= names(tree, "count_words.py")


def test_strings_below_attributes_and_the_version_do_not_count(tree: Path) -> None:
    package = tree / "src/prasanga"
    write(package, words__split='A = 1\n"""What A is."""\n\ndef split(text):\n    return text.split()\n')
    before = fingerprint(tree / "split_words.py", tree / "src")
    write(package, words__split='A = 1\n"""Another word on A."""\n\ndef split(text):\n    return text.split()\n')
    (package / "__init__.py").write_text('__version__ = "2.0"\n')
    assert fingerprint(tree / "split_words.py", tree / "src") == before


@pytest.mark.parametrize("name", [".split.py.swp", "split.py~", "#split.py#", ".DS_Store"])
def test_what_an_editor_leaves_does_not_count(tree: Path, name: str) -> None:
    before = fingerprint(tree / "split_words.py", tree / "src")
    (tree / "src/prasanga/words" / name).write_text("x")
    assert fingerprint(tree / "split_words.py", tree / "src") == before


def test_a_missing_module_is_an_error(tree: Path) -> None:
    write(tree, broken="from prasanga.nowhere import thing\n")
    with pytest.raises(ImportError, match=r"there is no module prasanga\.nowhere"):
        fingerprint(tree / "broken.py", tree / "src")


def test_of_a_module(tree: Path) -> None:
    assert set(fingerprint_of_module("prasanga.words.count", tree / "src")) == {
        "prasanga",
        "prasanga.words",
        "prasanga.words.count",
        "prasanga.words.split",
    }


def test_digests_are_the_same_on_every_python(tmp_path: Path) -> None:
    """A digest worked out once: it must not move with the version of Python, or an upgrade reruns every study."""
    write(tmp_path, script="import os\n\ndef f(x: int, *, y=1) -> str:\n    return f'{x + y!r:>3}'\n")
    assert fingerprint(tmp_path / "script.py", tmp_path)["script.py"] == "e4d4a5fd5a16"


def test_no_module_is_imported_by_a_name_in_a_string(project_root: Path) -> None:
    """The fingerprint follows import statements only; an import by string would escape it."""
    for path in [*(project_root / "src").rglob("*.py"), *(project_root / "construction").rglob("*.py")]:
        assert "import_module" not in path.read_text(encoding="utf-8"), path
        assert "__import__" not in path.read_text(encoding="utf-8"), path


def test_what_is_shown_of_a_job_is_no_code_of_its_result(tree: Path) -> None:
    package = tree / "src/prasanga"
    before = fingerprint(tree / "split_words.py", tree / "src")
    write(
        package,
        progress="from prasanga import errors\nfrom prasanga.statistics import mean\n\ndef progress():\n    return 1\n",
        progression="def next_of(x):\n    return x + 1\n",
        words__split="from prasanga.progress import progress\nfrom prasanga import progression\n\n"
        "def split(text):\n    return text.split()\n",
    )
    using = fingerprint(tree / "split_words.py", tree / "src")
    assert using.keys() - before.keys() == {"prasanga.progression"}  # that, and neither `progress` nor what it imports
    assert using["prasanga.words.split"] != before["prasanga.words.split"]  # a call is code of who calls
    write(package, progress="def progress():\n    return 2\n")
    assert fingerprint(tree / "split_words.py", tree / "src") == using
    write(package, progression="def next_of(x):\n    return x + 2\n")
    assert fingerprint(tree / "split_words.py", tree / "src") != using


@pytest.mark.parametrize(
    "statement",
    ["import prasanga.progress", "from prasanga import progress", "from prasanga.progress import Progress, progress"],
)
def test_however_progress_is_imported_it_is_left_out(tree: Path, statement: str) -> None:
    package = tree / "src/prasanga"
    write(package, progress="class Progress:\n    pass\n\ndef progress():\n    return 1\n")
    write(package, words__split=f"{statement}\n\ndef split(text):\n    return text.split()\n")
    assert names(tree, "split_words.py") == {"split_words.py", "prasanga", "prasanga.words", "prasanga.words.split"}


def test_the_progress_of_this_package_is_in_no_fingerprint() -> None:
    root = Path(__file__).parents[3]
    assert (root / "src/prasanga/progress.py").is_file()
    for script in sorted((root / "workflow/scripts").glob("*.py")):
        found = fingerprint(script, root / "src")
        assert "prasanga.progress" not in found
        assert "prasanga.logs" in found  # which is not left out
