"""The page's own words in Bangla and Hindi: all of them, with the same values in them, and none that nobody says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from string import Formatter

import pytest
from report_pages import write_page

from prasanga.methods import METHODS
from prasanga.report import templates
from prasanga.report.findings import DOUBTS
from prasanga.report.page import page_views
from prasanga.report.section import labels, said
from prasanga.report.sections import overview

SAME = {"CEAT", "SEAT", "WEAT"}
"""Names, which are the same in every language."""


def texts_in(call: ast.Call) -> list[str]:
    return [node.value for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant)]


def said_by_code() -> set[str]:
    """The first arguments of `say(...)`, the names of `many` and `one`, and what templates send through `said`."""
    found = {overview.SHOWN, overview.LIKELY, overview.OPEN, *DOUBTS}
    tree = ast.parse(inspect.getsource(overview))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            found |= {text for text in texts_in(node) if isinstance(text, str)}
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and "many" in ast.dump(node.targets[0]):
            found |= {each.value for each in node.value.elts if isinstance(each, ast.Constant)}
    for file in Path(templates.__file__).parent.glob("*.j2"):
        text = file.read_text("utf-8")
        found |= set(re.findall(r'"([^"]+)" \| said', text))
        for listed in re.findall(r'\[("[^\]]+")\] \| map\("said"\)', text):
            found |= set(re.findall(r'"([^"]+)"', listed))
    return {text for text in found if " " in text or text.isalpha()}


def heads_in_code() -> set[str]:
    """Heads of sections that have an address of their own, entries of the navigation and names of its tabs."""
    found = {method.title for method in METHODS if method.title} | {method.label for method in METHODS}
    of_page = Path(inspect.getfile(page_views))
    for file in (of_page, *Path(overview.__file__).parent.glob("*.py")):
        for title, _ in re.findall(r'\bSection\(\s*"([^"]+)",\s*"([a-z_-]+)"', file.read_text("utf-8")):
            found.add(title)
    prose = (Path(templates.__file__).parent / "prose.html.j2").read_text("utf-8")
    found |= {head for head in re.findall(r"^# [\w-]+: (.*)$", prose, re.MULTILINE) if "{" not in head}
    source = of_page.read_text("utf-8")
    for entry, name in re.findall(r'View\(\s*"[^"]+",\s*(?:"([^"]+)"|\w+),\s*(?:"([^"]+)"|\w+)', source):
        found |= {entry, name} - {""}
    for names in re.findall(r"method, data, how, paper = (.*)", source):
        found |= set(re.findall('"([^"]+)"', names))
    found |= {
        *overview.QUESTIONS,
        "Its words",
        "Which words carry the effect",
        "Words and sentences behind each number",
        "By category",
    }
    return found - SAME - {"Concordance", "Every pair and its scores", "What the sets hold", "Oddities of the sets"}


@pytest.mark.parametrize("language", ["bn", "hi"])
def test_every_label_is_there_in_every_language(language: str) -> None:
    wanted = said_by_code() | heads_in_code()
    assert len(wanted) > 60
    assert sorted(text for text in wanted if language not in labels().get(text, {})) == []
    script = r"[\u0980-\u09ff]" if language == "bn" else r"[\u0900-\u097f]"
    assert [text for text, found in labels().items() if not re.search(script, found[language])] == []


def test_no_label_is_of_nothing() -> None:
    assert sorted(labels().keys() - said_by_code() - heads_in_code()) == []


def test_a_label_has_the_values_of_its_english() -> None:
    def names(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    for text, found in labels().items():
        assert found.keys() == {"en", "bn", "hi"}
        assert [names(each) for each in found.values()] == [names(text)] * 3, text


def test_what_is_of_a_study_stays() -> None:
    assert said("Overview", "bn") == "সারসংক্ষেপ"
    assert said("Overview", "en") == said("Overview", "fr") == "Overview"
    assert said("{n} models", "hi", n=3) == "3 मॉडल"
    assert said("muril {n}", "bn") == "muril {n}"


@pytest.mark.parametrize(("language", "word"), [("bn", "সারসংক্ষেপ"), ("hi", "सारांश")])
def test_the_page_speaks_the_language_of_its_config(tmp_path: Path, language: str, word: str) -> None:
    text = write_page(tmp_path / "page.html", config={"report": {"language": language}}).read_text("utf-8")
    navigation = text[text.index("<nav") : text.index("</nav>")]
    assert f'<a href="#overview"><span lang="{language}">{word}</span></a>' in navigation
    assert ">Overview<" not in text
