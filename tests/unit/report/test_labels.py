"""The page's own words in Bangla and Hindi: all of them, with the same values in them, and none that nobody says."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from string import Formatter

import pytest
from report_pages import write_page

from prasanga.associations.comparisons import UNREACHABLE
from prasanga.likelihoods.bias import why_not_found
from prasanga.methods import METHODS
from prasanga.report import ASSETS, page
from prasanga.report.first_screen import SENTENCES
from prasanga.report.grid import LANGUAGES
from prasanga.report.section import said
from prasanga.report.sheet import list_template

TEMPLATES = Path(str(ASSETS))
SAME = {"CEAT", "SEAT", "WEAT"}
"""Names, which are the same in every language."""

LABELS = list_template("labels.tsv")


def said_by_templates() -> set[str]:
    """What is sent through `said`: by code the sentences of the first screen, the rest by templates."""
    found = set(re.findall(r'return "([^"]+)"', inspect.getsource(why_not_found)))
    found |= {*SENTENCES.values(), *LANGUAGES.values(), "yes", "no", "few words", UNREACHABLE}
    found |= {f"an interval{over} that includes zero" for over in ("", " over templates")}
    found |= {"95% interval", "Random copies", "Found"}
    for file in TEMPLATES.glob("*.j2"):
        text = file.read_text("utf-8")
        found |= set(re.findall(r'"([^"]+)" \| said', text))
        for listed in re.findall(r'\[("[^\]]+")\] \| map\("said"\)', text):
            found |= set(re.findall(r'"([^"]+)"', listed))
    return {text for text in found if " " in text or text.isalpha()}


def heads_in_code() -> set[str]:
    """Heads of sections that have an address of their own, entries of the navigation and names of its tabs."""
    found = {method.title for method in METHODS if method.title} | {method.label for method in METHODS}
    of_page = Path(page.__file__)
    for file in (of_page, *of_page.parent.glob("*_views.py")):
        for title, _ in re.findall(r'\bSection\(\s*"([^"]+)",\s*"([a-z_-]+)"', file.read_text("utf-8")):
            found.add(title)
    prose = (TEMPLATES / "prose.html.j2").read_text("utf-8")
    found |= {head for head in re.findall(r"^# [\w-]+: (.*)$", prose, re.MULTILINE) if "{" not in head}
    for file in (of_page, *of_page.parent.glob("*_views.py")):
        for entry, name in re.findall(
            r'View\(\s*f?"[^"]+",\s*(?:"([^"]+)"|\w+),\s*(?:"([^"]+)"|\w+)', file.read_text("utf-8")
        ):
            found |= {entry, name} - {""}
    found |= {"Its words", "Words and sentences behind each number", "Categories"}
    english = {"Words in their sentences", "Every pair and its scores", "What the sets contain", "Oddities of the sets"}
    return found - SAME - english


@pytest.mark.parametrize("language", ["bn", "hi"])
def test_every_label_is_there_in_every_language(language: str) -> None:
    wanted = said_by_templates() | heads_in_code()
    assert len(wanted) > 60
    assert sorted(text for text in wanted if language not in LABELS.get(text, {})) == []
    script = r"[\u0980-\u09ff]" if language == "bn" else r"[\u0900-\u097f]"
    assert [text for text, found in LABELS.items() if not re.search(script, found[language])] == []


def test_no_label_is_of_nothing() -> None:
    assert sorted(LABELS.keys() - said_by_templates() - heads_in_code()) == []


def test_a_label_has_the_values_of_its_english() -> None:
    def names(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    for text, found in LABELS.items():
        assert found.keys() == {"en", "bn", "hi"}
        assert [names(each) for each in found.values()] == [names(text)] * 3, text


def test_what_is_of_a_study_stays() -> None:
    assert said("Overview", "bn") == "সারসংক্ষেপ"
    assert said("Overview", "en") == said("Overview", "fr") == "Overview"
    assert said("{n} models", "hi", n=3) == "3 मॉडल"
    assert said("muril {n}", "bn") == "muril {n}"


@pytest.mark.parametrize(("language", "word"), [("bn", "ফলাফল"), ("hi", "निष्कर्ष")])
def test_the_page_speaks_the_language_of_its_config(tmp_path: Path, language: str, word: str) -> None:
    text = write_page(tmp_path / "page.html", config={"report": {"language": language}}).read_text("utf-8")
    navigation = text[text.index("<nav") : text.index("</nav>")]
    assert f'<a href="#overview"><span lang="{language}">{word}</span></a>' in navigation
    assert ">Findings<" not in text
