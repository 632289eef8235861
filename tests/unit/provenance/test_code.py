"""The fingerprint of code: what changes it, what does not, and what is remembered of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prasanga.base.documents import read_cache, write_cache
from prasanga.base.parquet import replacing
from prasanga.provenance import fingerprint
from prasanga.provenance.code import Code, edits, fingerprint_of, remembered, say_edits


class Project:
    """A small project: packages under `src/prasanga` and scripts."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, **files: str) -> None:
        """Write modules (`words__count` is `prasanga/words/count.py`) in place of what is there."""
        for name, text in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def path(self, name: str) -> Path:
        return self.root / "src/prasanga" / f"{name.replace('__', '/').replace('/init', '/__init__')}.py"

    def script(self, name: str, text: str) -> Path:
        path = self.root / "workflow/scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def fingerprint(self, name: str) -> str:
        return fingerprint(self.root / "workflow/scripts" / name).fingerprint

    def reached(self, name: str) -> set[str]:
        """The definitions of the package that a script reaches, without the package's name."""
        found = fingerprint(self.root / "workflow/scripts" / name).definitions
        return {each.removeprefix("prasanga.") for each in found} - {name}

    def changed(self, name: str, old: str, new: str) -> set[str]:
        """The scripts that an edit of a module changes; the edit is taken back."""
        before = {path.name: fingerprint(path).fingerprint for path in self.scripts()}
        text = self.path(name).read_text(encoding="utf-8")
        assert text.count(old) == 1, (name, old)
        self.path(name).write_text(text.replace(old, new), encoding="utf-8")
        after = {path.name: fingerprint(path).fingerprint for path in self.scripts()}
        self.path(name).write_text(text, encoding="utf-8")
        return {name for name in before if before[name] != after[name]}

    def scripts(self) -> list[Path]:
        return sorted((self.root / "workflow/scripts").iterdir())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two stages, an `__init__` that offers names, one that imports lazily, and a script for each function."""
    project = Project(tmp_path)
    project.write(
        errors="class InputError(ValueError):\n    def __init__(self, text):\n        super().__init__(shown(text))\n\n"
        "def shown(text):\n    return text[:100]\n",
        logs="import logging\n\ndef log_to(path):\n    logging.basicConfig(filename=path)\n",
    )
    (tmp_path / "src/prasanga/__init__.py").write_text('"""A package."""\n__version__ = "1"\n', encoding="utf-8")
    project.write(
        words__init="from prasanga.words.count import count\nfrom prasanga.words.split import split\n"
        "__all__ = ['count', 'split']\n",
        words__split='''"""Split."""
from __future__ import annotations

import logging
from prasanga.errors import InputError

_LOG = logging.getLogger(__name__)
BREAKS = " "
"""What is between words."""


def split(text: str) -> list[str]:
    """Words."""
    if not text:
        raise InputError(f"no text: {_quoted(text)}")
    _LOG.info("split %s", text)
    return text.split(BREAKS)


def join(words: list[str]) -> str:
    return BREAKS.join(words)


def _quoted(text: str) -> str:
    return f"'{text}'"
''',
        words__count="""from collections import Counter as Tally
from prasanga.words.split import BREAKS


def count(text):
    from prasanga.words.split import split
    return Tally(split(text))


def size(text):
    return len(text)
""",
        lazy__init="""from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prasanga.lazy.slow import mean


def __getattr__(name):
    from prasanga.lazy import slow
    return getattr(slow, name)
""",
        lazy__slow="def mean(x):\n    return sum(x) / len(x)\n\n\ndef median(x):\n    return sorted(x)[len(x) // 2]\n",
    )
    project.script("count.py", "from prasanga.words import count\nprint(count('a b'))\n")
    project.script("split.py", "from prasanga.words import split\nprint(split('a b'))\n")
    project.script("join.py", "from prasanga.words.split import join\nprint(join(['a', 'b']))\n")
    project.script("mean.py", "from prasanga.lazy import mean\nprint(mean([1]))\n")
    return project


def test_reaches_definitions_through_packages_and_functions_and_nothing_else(project: Project) -> None:
    assert project.reached("split.py") == {"words.split.split", "words.split.BREAKS"}
    assert project.reached("join.py") == {"words.split.join", "words.split.BREAKS"}
    assert project.reached("count.py") == {"words.count.count", "words.split.split", "words.split.BREAKS"}
    assert project.reached("mean.py") == {"lazy.slow.mean"}


def test_an_edit_changes_the_scripts_that_reach_it_and_no_other(project: Project) -> None:
    assert project.changed("words__count", "return Tally", "return 1 + Tally") == {"count.py"}
    assert project.changed("words__split", "return text.split(", "return text.rsplit(") == {"split.py", "count.py"}
    assert project.changed("words__split", "return BREAKS.join", "return ''.join") == {"join.py"}
    assert project.changed("words__split", '" "', '"-"') == {"split.py", "count.py", "join.py"}
    assert project.changed("words__split", "if not text", "if text is None") == {"split.py", "count.py"}
    assert project.changed("words__count", "Counter as", "OrderedDict as") == {"count.py"}
    assert project.changed("words__count", "return len", "return 2 *  len") == set()
    assert project.changed("lazy__slow", "sum(x) /", "sum(x) //") == {"mean.py"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("words__split", '"""Words."""', "", id="docstring"),
        pytest.param("words__split", '"""What is between words."""', '"""Others."""', id="string below an attribute"),
        pytest.param("words__split", "return text.split(", "# why\n\n    return text . split (", id="layout"),
        pytest.param(
            "words__split", "split(text: str) -> list[str]", "split(text: object) -> object", id="annotations"
        ),
        pytest.param("words__split", "no text: ", "nothing in ", id="message of an error"),
        pytest.param("words__split", "return f\"'{text}'\"", 'return f"<{text}>"', id="function that makes a message"),
        pytest.param("words__split", '"split %s"', '"splitting %s"', id="log message"),
        pytest.param("errors", "text[:100]", "text[:200]", id="class of errors"),
        pytest.param("errors", "super().__init__(shown(text))", "super().__init__(text)", id="class of errors, itself"),
        pytest.param("logs", "filename=path", "filename=path, level=1", id="logs"),
    ],
)
def test_what_changes_no_result_does_not_count(project: Project, name: str, old: str, new: str) -> None:
    project.script(
        "careful.py",
        "from prasanga.errors import InputError\nfrom prasanga.logs import log_to\n"
        "from prasanga.words import split\nlog_to('a')\ntry:\n    split('')\nexcept InputError:\n    pass\n",
    )
    assert project.changed(name, old, new) == set()


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        pytest.param('_LOG.warning("%d of", n)', '_LOG.info("%d from", n)', False, id="log call"),
        pytest.param('warnings.warn("slow")', 'warnings.warn("really slow")', False, id="warning"),
        pytest.param('"too many"', '"too much"', False, id="text in a variable"),
        pytest.param('" (of " + ', '" (from " + ', False, id="text in the text of a variable"),
        pytest.param('print("now", file', 'print("here", file', False, id="standard error"),
        pytest.param('x < 9, "many"', 'x < 9, "more"', False, id="assertion"),
        pytest.param('ValueError("odd")', 'ValueError("strange")', False, id="error that is raised later"),
        pytest.param('refused(x, "even")', 'refused(x, "smooth")', False, id="function that makes an error"),
        pytest.param('progress(f"counting {x}"', 'progress(f"adding {x}"', False, id="progress"),
        pytest.param("n = x + 1", "n = x + 2", True, id="value that is logged"),
        pytest.param("n > 4", "n > 5", True, id="condition of an error"),
        pytest.param("x < 9", "x < 8", True, id="condition of an assertion"),
        pytest.param('"a result"', '"the result"', True, id="text that is returned"),
        pytest.param("rows(x))", "rows(2 * x))", True, id="what progress counts"),
        pytest.param("Stop(x)", "Stop(-x)", True, id="what an exception that is no error carries"),
    ],
)
def test_messages_and_nothing_else_are_left_out(project: Project, old: str, new: str, counts: bool) -> None:
    project.write(
        progress="def progress(name, total):\n    return total\n",
        told="""import logging
import sys
import warnings
from prasanga.progress import progress

_LOG = logging.getLogger(__name__)


class Stop(Exception):
    pass


def refused(x, what):
    return ValueError(f"{x} is {what}")


def rows(x):
    return range(x)


def told(x):
    n = x + 1
    _LOG.warning("%d of", n)
    warnings.warn("slow")
    print("now", file=sys.stderr)
    assert x < 9, "many"
    if n > 4:
        whole = " (of " + str(x) + ")"
        said = "too many" + whole
        raise ValueError(said)
    if n > 3:
        raise refused(x, "even")
    problem = ValueError("odd") if n == 1 else None
    if problem:
        raise problem
    if x == 7:
        raise Stop(x)
    for _ in progress(f"counting {x}", rows(x)):
        pass
    return "a result"
""",
    )
    project.script("told.py", "from prasanga.told import told\nprint(told(1))\n")
    assert project.changed("told", old, new) == ({"told.py"} if counts else set())


def test_a_definition_may_move_to_another_module(project: Project) -> None:
    before = {path.name: fingerprint(path).fingerprint for path in project.scripts()}
    text = project.path("words__split").read_text(encoding="utf-8")
    function = text[text.index("def join") : text.index("def _quoted")]
    project.path("words__split").write_text(text.replace(function, ""), encoding="utf-8")
    project.write(words__together=f"from prasanga.words.split import BREAKS\n\n\n{function}")
    project.script("join.py", "from prasanga.words.together import join\nprint(join(['a', 'b']))\n")
    shutil.move(project.path("lazy__slow"), project.path("lazy__statistics"))
    init = project.path("lazy__init")
    init.write_text(init.read_text(encoding="utf-8").replace("slow", "statistics"), encoding="utf-8")
    assert {path.name: fingerprint(path).fingerprint for path in project.scripts()} == before


def test_two_definitions_of_one_name_are_told_apart(project: Project) -> None:
    """The same two functions under one name, taken the other way round, are other code."""
    functions = ["def of(x):\n    return x + 1\n", "def of(x):\n    return x + 2\n"]
    project.write(one=functions[0], two=functions[1])
    text = "from prasanga.one import of as first\nfrom prasanga.two import of as second\nprint(first(second(1) * 2))\n"
    project.script("both.py", text)
    before = project.fingerprint("both.py")
    project.write(one=functions[1], two=functions[0])
    assert project.fingerprint("both.py") != before


@pytest.mark.parametrize(
    ("using", "reached"),
    [
        pytest.param("def f(name):\n    return getattr(kinds, name)()\n", {"a", "b", "C"}, id="getattr on a module"),
        pytest.param("def f(use):\n    return use(kinds)\n", {"a", "b", "C"}, id="module passed on"),
        pytest.param("def f():\n    return kinds.lost()\n", {"a", "b", "C"}, id="name that a module lacks"),
        pytest.param("def f():\n    return kinds.a()\n", {"a"}, id="attribute of a module"),
        pytest.param("def f():\n    from prasanga.kinds import b\n    return b()\n", {"b"}, id="import in a function"),
        pytest.param("def f():\n    import prasanga.kinds\n    return prasanga.kinds.b()\n", {"b"}, id="dotted import"),
        pytest.param("def f():\n    from .kinds import b as mine\n    return mine()\n", {"b"}, id="relative import"),
        pytest.param("from prasanga.kinds import *\n\ndef f():\n    return a()\n", {"a", "b", "C"}, id="star import"),
        pytest.param("class f:\n    kind: 'kinds.C'\n", {"C", "b"}, id="string annotation of a class"),
        pytest.param("def f(kind: 'kinds.C'):\n    return kind\n", set(), id="annotation of a function"),
        pytest.param("def f(a):\n    return kinds.a(a)\n", {"a"}, id="local name like another"),
        pytest.param("X = [kinds.a]\n\ndef f():\n    return X[0]()\n", {"a"}, id="constant"),
        pytest.param(
            "try:\n    import fast as b\nexcept ImportError:\n    from .kinds import b\n\ndef f():\n    return b\n",
            {"b"},
            id="one of two imports",
        ),
    ],
)
def test_names_are_followed_and_what_they_do_not_tell_falls_back_to_the_module(
    project: Project, using: str, reached: set[str]
) -> None:
    project.write(
        kinds="def a():\n    return 1\n\ndef b():\n    return 2\n\nclass C:\n    def get(self):\n        return b()\n",
        using=f"from prasanga import kinds\n\n{using}",
    )
    project.script("using.py", "from prasanga.using import f\nprint(f)\n")
    found = {name.removeprefix("kinds.") for name in project.reached("using.py") if name.startswith("kinds.")}
    assert found == reached


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(
            "KNOWN = {}\n\n\ndef seat():\n    return 1\n\n\nKNOWN['seat'] = seat\n", id="assignment to an item"
        ),
        pytest.param("KNOWN = {}\n\n\ndef seat():\n    return 1\n\n\nKNOWN.update(seat=seat)\n", id="call"),
        pytest.param(
            "KNOWN = {}\n\ndef add(f):\n    KNOWN[f.__name__] = f\n    return f\n\n@add\ndef seat():\n    return 1\n",
            id="decorator",
        ),
        pytest.param(
            "KNOWN = {}\n\n\ndef add(f):\n    KNOWN['seat'] = f\n    return f\n\n\ndef seat():\n    return 1\n\n\n"
            "SEAT = add(seat)\n",
            id="constant that a function of ours gives",
        ),
        pytest.param("def seat():\n    return 1\n\n\nKNOWN = {}\nfor f in [seat]:\n    KNOWN['seat'] = f\n", id="loop"),
        pytest.param(
            "KNOWN = {}\n\n\ndef seat():\n    return 1\n\n\nif KNOWN == {}:\n    KNOWN.update(seat=seat)\n", id="if"
        ),
        pytest.param("def seat():\n    return 1\n\n\ndef KNOWN():\n    return globals()['seat']\n", id="globals"),
    ],
)
def test_code_that_runs_on_import_counts_for_the_whole_module(project: Project, module: str) -> None:
    project.write(methods=module, using="from prasanga.methods import KNOWN\n\n\ndef f():\n    return KNOWN\n")
    project.script("using.py", "from prasanga.using import f\nprint(f())\n")
    project.script("beside.py", "import prasanga.methods\nimport prasanga.words\nprint(1)\n")
    both = {"using.py", "beside.py"} if "globals" not in module else {"using.py"}
    assert project.changed("methods", "return 1", "return 2") == both


def test_what_a_package_offers_is_no_code(project: Project) -> None:
    before = project.fingerprint("split.py")
    project.write(words__init="from prasanga.words.split import join, split\n__all__ = ['split', 'join']\n")
    (project.root / "src/prasanga/__init__.py").write_text('__version__ = "2"\n', encoding="utf-8")
    assert project.fingerprint("split.py") == before


def test_a_lazy_package_that_does_not_name_what_it_gives_counts_whole(project: Project) -> None:
    project.write(
        lazy__init="def __getattr__(name):\n    from prasanga.lazy import slow\n    return getattr(slow, name)\n"
    )
    assert project.reached("mean.py") == {"lazy.__getattr__", "lazy.slow.mean", "lazy.slow.median"}


def test_data_files_count_for_what_reaches_their_package(project: Project) -> None:
    template = project.root / "src/prasanga/words/templates/page.html"
    template.parent.mkdir()
    template.write_text("one", encoding="utf-8")
    before = {path.name: fingerprint(path).fingerprint for path in project.scripts()}
    template.write_text("two", encoding="utf-8")
    changed = {path.name for path in project.scripts() if fingerprint(path).fingerprint != before[path.name]}
    assert changed == {"count.py", "split.py", "join.py"}
    assert "words data" in project.reached("split.py")


@pytest.mark.parametrize("name", [".split.py.swp", "split.py~", "#split.py#", ".DS_Store"])
def test_what_an_editor_leaves_does_not_count(project: Project, name: str) -> None:
    before = project.fingerprint("split.py")
    (project.root / "src/prasanga/words" / name).write_text("x", encoding="utf-8")
    assert project.fingerprint("split.py") == before


def test_a_missing_module_is_an_error(project: Project) -> None:
    project.script("broken.py", "from prasanga.nowhere import thing\n")
    with pytest.raises(ImportError, match=r"there is no module prasanga\.nowhere"):
        project.fingerprint("broken.py")


def test_another_package_of_the_project_is_followed(project: Project) -> None:
    path = project.root / "construction/prasanga_construction/tuples.py"
    path.parent.mkdir(parents=True)
    path.write_text("from prasanga.words import split\n\n\ndef read(text):\n    return split(text)\n", encoding="utf-8")
    script = project.root / "construction/scripts/read.py"
    script.parent.mkdir()
    script.write_text("from prasanga_construction.tuples import read\nprint(read('a'))\n", encoding="utf-8")
    assert {"prasanga_construction.tuples.read", "prasanga.words.split.split"} <= set(fingerprint(script).definitions)


def test_of_functions() -> None:
    found = fingerprint_of(replacing, "prasanga.base.parquet.write_text").definitions
    assert {"prasanga.base.parquet.write_text", "prasanga.base.parquet.replacing"} <= set(found)
    assert not [name for name in found if name.startswith("prasanga.provenance")]  # which is left out everywhere
    without = fingerprint_of(
        "prasanga.base.parquet.write_text", without=["prasanga.base.parquet.replacing"]
    ).definitions
    assert "prasanga.base.parquet.replacing" not in without
    assert "prasanga.base.parquet.write_text" in without


@pytest.mark.parametrize("name", ["prasanga.base.parquet.no_such_function", "prasanga.nowhere.f", "elsewhere.f"])
def test_a_function_that_is_no_more_is_told(name: str) -> None:
    with pytest.raises(LookupError, match=name):
        fingerprint_of(name)


def test_digests_are_the_same_on_every_python(project: Project) -> None:
    """A digest worked out once: it must not move with the version of Python, or an upgrade reruns every study."""
    project.script("f.py", "import os\n\ndef f(x: int, *, y=1) -> str:\n    return f'{x + y!r:>3} \u0995'\n")
    assert project.fingerprint("f.py") == "f11de607d684"


@pytest.mark.parametrize("way", ["import_module", "__import__", "__subclasses__", "def __init_subclass__"])
def test_nothing_escapes_that_names_do_not_tell(project_root: Path, way: str) -> None:
    """What finds code by a string, or registers classes unseen, would be in no fingerprint."""
    # the exceptions: a figure is named by its entry, and the rule passes the fingerprint of its function; what a
    # package offers when it is asked for stands among its imports, which are followed; warm starts import libraries
    names = ("report/figures/canvas.py", "base/__init__.py", "warm.py")
    told = {project_root / "src/prasanga" / each for each in names}
    for path in [*(project_root / "src").rglob("*.py"), *(project_root / "construction").rglob("*.py")]:
        if path not in told or way != "import_module":
            assert way not in path.read_text(encoding="utf-8"), path


def test_scripts_of_the_workflow_reach_what_they_call(project_root: Path) -> None:
    found = set(fingerprint(project_root / "workflow/scripts/measure_ceat.py").definitions)
    assert {"measure_ceat.py", "prasanga.base.parquet.replacing"} <= found
    assert not [name for name in found if name.startswith("prasanga.report")]
    assert not {name.rpartition(".")[2] for name in found} & {"describe", "log_to", "progress", "Progress"}


def test_what_is_remembered_gives_the_same_fingerprints(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plain = {path.name: fingerprint(path) for path in project.scripts()}
    for _ in range(2):
        with remembered():
            assert {path.name: fingerprint(path) for path in project.scripts()} == plain


def test_an_edit_is_seen_whatever_the_times_say(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with remembered():
        before = project.fingerprint("split.py")
    module = project.path("words__split")
    times, text = module.stat(), module.read_text(encoding="utf-8")
    module.write_text(text.replace("text.split", "text.strip"), encoding="utf-8")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    with remembered():
        assert project.fingerprint("split.py") != before


_PARSED = """
import ast, sys
from prasanga.base.parquet import replacing
from prasanga.provenance import fingerprint
from prasanga.provenance.code import remembered
parsed, parse = [], ast.parse
ast.parse = lambda *args, **named: parsed.append(args) or parse(*args, **named)
with remembered():
    print(fingerprint(sys.argv[1]).fingerprint, len(parsed))
"""


@pytest.mark.parametrize("damage", [None, b'["", ""]\n{"split.py": []}'])
def test_nothing_is_parsed_twice_and_a_damaged_cache_is_made_anew(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache, script = tmp_path / "prasanga/plans/code.json", project.root / "workflow/scripts/split.py"
    command = [sys.executable, "-c", _PARSED, str(script)]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert first[0] == project.fingerprint("split.py")
    assert int(first[1]) >= 4
    whole = cache.read_bytes()
    if damage is not None:
        cache.write_bytes(damage)
    second = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert second == [first[0], "0" if damage is None else first[1]]
    assert cache.read_bytes() == whole


def test_what_is_kept_is_of_one_key_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder/cache.json"
    write_cache(path, "first", {"অ": [1, None]})
    assert read_cache(path, "first") == {"অ": [1, None]}
    assert read_cache(path, "second") is None
    whole = path.read_bytes()
    for damaged in (whole.replace(b"1", b"2"), whole[:-9], b"", b"{}", b"{}\n{}", b"\xff"):
        path.write_bytes(damaged)
        assert read_cache(path, "first") is None
    assert read_cache(tmp_path / "absent.json", "first") is None
    assert [found.name for found in path.parent.iterdir()] == ["cache.json"]


def test_what_was_edited_is_named() -> None:
    before = {
        "a.py": Code("1", {"a.py": "a", "x.mean": "m", "x.old": "o", "y.moved": "v"}),
        "b.py": Code("2", {"b.py": "b", "x.mean": "m"}),
        "c.py": Code("3", {"c.py": "c"}),
        "d.py": Code("4", {}),
        "gone.py": Code("5", {}),
    }
    now = {
        "a.py": Code("6", {"a.py": "a", "x.mean": "n", "z.moved": "v"}),
        "b.py": Code("7", {"b.py": "b", "x.mean": "n"}),
        "c.py": before["c.py"],
        "d.py": Code("8", {"d.py": "d"}),
        "new.py": Code("9", {}),
    }
    assert edits(before, now) == {"x.mean": ["a.py", "b.py"], "x.old": ["a.py"], "d.py": ["d.py"]}
    assert say_edits(before, now) == (
        "code was edited since results were made, and what needs it runs again: x.mean (a.py, b.py), x.old (a.py),"
        " d.py (d.py)."
    )
    assert say_edits(now, now) == ""
    many = {f"{number}.py": Code("0", {}) for number in range(7)}
    assert say_edits(many, dict.fromkeys(many, Code("1", {}))).endswith("4.py (4.py) and 2 more.")
