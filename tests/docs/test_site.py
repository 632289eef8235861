"""The site as it is built: links and anchors lead somewhere, nothing is loaded from elsewhere, it opens from disk."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from browser import OpenPage, overflow
from doc_pages import ROOT, generated, pages
from playwright.sync_api import expect

LOADING = {
    **dict.fromkeys(("script", "iframe", "video", "audio", "embed"), ("src",)),
    **dict.fromkeys(("img", "source"), ("src", "srcset")),
    "object": ("data",),
}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}


class Parsed(HTMLParser):
    """Links, anchors, and what is loaded, of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.styles: list[str] = []
        self.headings = 0
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.styles.append(given.get("style", ""))
        self.loaded += [given[name] for name in LOADING.get(tag, ()) if name in given]
        self._style = tag == "style"
        self.headings += tag == "h1"
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            self.loaded.append(given["href"])

    def handle_data(self, data: str) -> None:
        if self._style:
            self.styles.append(data)
            self._style = False


@cache
def parsed(path: Path) -> Parsed:
    return Parsed(path.read_text(encoding="utf-8"))


def html_pages(site: Path) -> Iterator[Path]:
    yield from sorted(path for path in site.rglob("*.html") if path.name != "404.html")


def broken(site: Path) -> Iterator[str]:
    """Links of the site that lead nowhere."""
    for page in html_pages(site):
        for link in parsed(page).links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            target = page
            if parts.path:
                target = Path(posixpath.normpath(page.parent / unquote(parts.path)))
            if not target.is_file():
                yield f"{page.relative_to(site)}: {link} does not exist"
            elif parts.fragment and target.suffix == ".html":
                known = parsed(target).anchors
                if unquote(parts.fragment) not in known | {"__skip", "__top", ""}:
                    yield f"{page.relative_to(site)}: {link} has no such anchor"


def external(text: str) -> list[str]:
    """Addresses of other machines that a style or a list of files names."""
    return re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", text)


def test_all_links_and_anchors_lead_somewhere(site: Path) -> None:
    assert list(broken(site)) == []
    assert sum(len(parsed(page).links) for page in html_pages(site)) > 2000


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#x">b</a><a href="c.html">c</a>', encoding="utf-8"
    )
    (tmp_path / "b.html").write_text('<h1 id="y">B</h1>', encoding="utf-8")
    assert list(broken(tmp_path)) == ["a.html: b.html#x has no such anchor", "a.html: c.html does not exist"]


def test_every_page_of_docs_is_in_the_site_and_in_the_navigation(site: Path) -> None:
    docs = [Path(path).relative_to("docs") for path in [*pages(), *generated()] if path.startswith("docs/")]
    links = parsed(site / "index.html").links
    for page in docs:
        html = page.with_suffix(".html").as_posix()
        assert (site / html).is_file(), page
        assert html == "index.html" or html in links, f"{page} is not in the navigation"
        assert parsed(site / html).headings == 1, f"{page} has not exactly one heading of the first level"


def test_pages_that_the_program_and_its_data_name_exist() -> None:
    known = {*pages(), *generated()}
    named = {
        page
        for folder in ("src", "rules", "resources", "config", "workflow", "construction")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".smk", ".yaml", ".tsv", ".json", ".md", ".j2")
        for page in re.findall(r"docs/\w+\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 5
    assert named <= known


def test_files_outside_docs_come_along(site: Path) -> None:
    for page in ("CONTRIBUTING", "CHANGELOG", "README" if (site / "project/README.html").is_file() else "index"):
        assert (site / f"project/{page}.html").is_file()
    assert "cff-version" in (site / "project/CITATION.cff.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in [*html_pages(site), site / "404.html"]:
        for address in parsed(page).loaded:
            assert not re.match(r"(?:https?:)?//", address), f"{page.relative_to(site)} loads {address}"
        for style in parsed(page).styles:
            assert external(style) == [], page
    for style in site.rglob("*.css"):
        assert external(style.read_text(encoding="utf-8")) == [], style


def test_letters_of_bangla_and_hindi_come_along(site: Path) -> None:
    fonts = (site / "assets/fonts.css").read_text(encoding="utf-8")
    assert fonts.count("@font-face") == 4
    assert external(fonts) == []
    assert "Noto Sans Bengali" in (site / "assets/site.css").read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------------------- in a browser


def test_search_works_from_disk_also_for_bangla(open_page: OpenPage, site: Path) -> None:
    page = open_page(site / "index.html")
    page.get_by_role("link", name="Search").click()
    box, results = page.locator("#mkdocs-search-query"), page.locator("#mkdocs-search-results")
    expect(box).to_be_focused()
    for words, found in (("p_association", "The columns"), ("গোলাপজল", "My language"), ("permut", "permutation")):
        box.fill(words)
        expect(results).to_contain_text(found)
    results.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("html(#|$)"))
    page.keyboard.press("s")
    box.fill("nothinghasthisword")
    expect(results).to_have_text("No results found")


def test_a_page_fits_a_telephone_and_shapes_bangla(open_page: OpenPage, site: Path) -> None:
    for name in ("index.html", "lexicon.html", "which_statistic.html", "config.html", "api/associations.html"):
        page = open_page(site / name, width=360, height=740, dark=True)
        assert overflow(page) <= 0, name
    page = open_page(site / "lexicon.html")
    assert page.evaluate("document.fonts.load('16px \"Noto Sans Bengali\"', 'ক').then(found => found.length)") >= 1


# ------------------------------------------------------------------------------------------------------- CITATION.cff


def test_the_citation_says_what_its_format_asks() -> None:
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    required = {"cff-version", "message", "title", "authors"}
    allowed = required | {
        *("abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url"),
        *("preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url"),
        "version",
    }
    assert required <= set(content) <= allowed
    assert content["cff-version"] == "1.2.0"
    assert content["type"] in ("software", "dataset")
    assert content["authors"] == [{"name": "The prasanga authors"}]
    assert re.search(rf'__version__ = "{content["version"]}"', (ROOT / "src/prasanga/__init__.py").read_text("utf-8"))
    assert content["license"] in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    citing = " ".join((ROOT / "docs/write_it_up.md").read_text(encoding="utf-8").split())
    assert len(content["references"]) == 3
    for reference in content["references"]:
        assert {"type", "title", "authors"} <= set(reference)
        assert reference["type"] in ("article", "conference-paper", "conference", "proceedings", "report")
        assert all(set(author) == {"given-names", "family-names"} for author in reference["authors"])
        assert 2000 < reference["year"] < 2030
        assert reference["title"] in citing
        assert reference["title"] in readme or "citing.md" in readme


def test_the_changes_name_the_version() -> None:
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/prasanga/__init__.py").read_text(encoding="utf-8"))
    assert version is not None
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert all(heading.startswith(version[1]) for heading in headings[1:2]), "the first release that is named"
