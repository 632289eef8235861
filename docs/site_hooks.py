"""Add to the site what is not a page in docs/: generated pages, linked files, fonts, search, an example.

On a code host a link such as `../config.yaml` leads to the file. A site has no such file, so each file and folder that
a page links to becomes a page under `project/`. Markdown becomes a page, and other files appear as code.
"""

from __future__ import annotations

import logging
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.contrib import search
from mkdocs.structure.files import File, Files
from pygments.formatters import HtmlFormatter

from prasanga.extras.studies import compared, comparison_to_csv, read_studies, render_comparison
from prasanga.report.section import font_faces

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "docs"))
from generated_pages import generated_pages  # noqa: E402 (a neighbor of this file)

FOLDER = "project"
"""The folder of the site for files from outside docs/."""

ALWAYS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Files in the navigation that no page needs to link to."""

EXAMPLES = "examples"
"""The folder of summaries of studies, and on the site of the page by `prasanga compare`."""

LARGEST = 400_000
"""Bytes of the largest file that the site shows."""

_CODE = re.compile(
    r"^ {0,8}(`{3,}).*?^ {0,8}\1 *$|(?<!`)(`+)(?!`)(?:.|\n(?!\n))+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"(\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?(\))")
_MENTION = re.compile(r"(?<![\w/.\[])(?<!\]\()docs/(?P<page>[a-z0-9_]+\.md)")
_KEY = re.compile(r"(?<=<td><code>)[^<]*(?=</code></td>)")
_LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".py": "python", ".smk": "python", ".toml": "toml", ".cff": "yaml"}

_log = logging.getLogger("mkdocs.hooks.site")


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Return Markdown with `change` applied to everything except code."""
    parts, end = [], 0
    for code in _CODE.finditer(markdown):
        parts += [change(markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(markdown[end:])])


def links_of(markdown: str) -> list[str]:
    """Return the targets of all links of a page to files, without anchors."""
    found: list[str] = []

    def note(text: str) -> str:
        found.extend(match["target"] for match in _LINK.finditer(text) if "://" not in match["target"])
        return text

    outside_code(markdown, note)
    return [target for target in found if not target.startswith("mailto:")]


def place_of(target: str, page: PurePosixPath) -> PurePosixPath:
    """Return the path in the project to which a link of `page` leads."""
    return PurePosixPath(posixpath.normpath(posixpath.join(page.parent.as_posix(), target)))


def uri_of(place: PurePosixPath) -> str:
    """Return the page of the site that shows a file or folder of the project."""
    if place.parts[:1] == ("docs",):
        return PurePosixPath(*place.parts[1:]).as_posix()
    if (PROJECT / place).is_dir():
        readme = PROJECT / place / "README.md"
        return f"{FOLDER}/{place}/{'README' if readme.is_file() else 'index'}.md"
    return f"{FOLDER}/{place}" if place.suffix == ".md" else f"{FOLDER}/{place}.md"


def shown(place: PurePosixPath) -> str:
    """Return the Markdown of the page that shows a file or folder of the project."""
    path = PROJECT / place
    if path.is_dir():
        if (path / "README.md").is_file():
            return (path / "README.md").read_text(encoding="utf-8")
        names = sorted(
            each.name + ("/" if each.is_dir() else "") for each in path.iterdir() if each.name[0] not in "._"
        )
        return f"# {place}/\n\n" + "".join(f"- `{name}`\n" for name in names)
    text = path.read_text(encoding="utf-8")
    if place.suffix == ".md":
        return text
    fence = "`" * max(4, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    language = _LANGUAGES.get(place.suffix, "python" if place.name == "Snakefile" else "text")
    return f"# {place}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"


def source_of(file: File) -> PurePosixPath:
    """Return the path in the project of the Markdown of a page."""
    return PurePosixPath(getattr(file, "project_place", None) or PurePosixPath("docs", file.src_uri))


def on_files(files: Files, config: Any) -> Files:
    """Add the files outside docs/ that pages link to, those that these link to, and the fonts."""
    for uri, content in generated_pages().items():
        files.append(File.generated(config, uri, content=content))
    waiting = [PurePosixPath(name) for name in ALWAYS if (PROJECT / name).is_file()]
    for file in files.documentation_pages():
        page = source_of(file)
        waiting += [place_of(target, page) for target in links_of(file.content_string)]
    seen: set[str] = set()
    while waiting:
        place = waiting.pop()
        uri = uri_of(place)
        path = PROJECT / place
        if place.parts[0] in ("docs", "..", ".") or uri in seen:
            continue
        seen.add(uri)
        if not path.exists():
            _log.warning("%s: a page links to it, and there is no such file in the project", place)
            continue
        if path.is_file() and path.stat().st_size > LARGEST:
            _log.warning("%s: %d bytes are too many for a page; name it without a link", place, path.stat().st_size)
            continue
        markdown = shown(place)
        file = File.generated(config, uri, content=markdown)
        source = place / "README.md" if path.is_dir() else place
        file.project_place = source
        files.append(file)
        waiting += [place_of(target, source) for target in links_of(markdown)] if source.suffix == ".md" else []
    lunr = Path(search.base_path) / "templates/search/lunr.js"
    files.append(File.generated(config, "assets/lunr.js", content=lunr.read_text(encoding="utf-8")))
    files.append(File.generated(config, "assets/fonts.css", content=font_faces(["bn", "hi"])))
    for mode, style in (("light", "default"), ("dark", "monokai")):  # the theme switches between the two
        colors = HtmlFormatter(style=style, nobackground=True).get_style_defs(".highlight")
        files.append(File.generated(config, f"assets/code_{mode}.css", content=colors))
    studies = read_studies(sorted((PROJECT / "docs" / EXAMPLES).glob("*.json")))
    found = compared(studies)
    files.append(File.generated(config, f"{EXAMPLES}/comparison.html", content=render_comparison(studies, found)))
    files.append(File.generated(config, f"{EXAMPLES}/comparison.csv", content=comparison_to_csv(found)))
    return files


def on_post_build(config: Any) -> None:
    """Write the index of the search as a script: a page opened from disk cannot request JSON."""
    folder = Path(config["site_dir"], "search")
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"window.searchIndex = {index};\n", encoding="utf-8")
    (folder / "search_index.json").unlink()


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001 (MkDocs names them)
    """Turn links that leave docs/ to the pages that show the files, and names of pages (docs/methods.md) to links."""
    source = source_of(page.file)
    here = posixpath.dirname(page.file.src_uri)

    def turn(match: re.Match[str]) -> str:
        target = match["target"]
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        place = place_of(target, source)
        if source.parts[0] == "docs" and place.parts[0] == "docs":
            return match[0]
        return f"]({posixpath.relpath(uri_of(place), here or '.')}{match['anchor'] or ''})"

    def name(match: re.Match[str]) -> str:
        uri = match["page"]
        known = files.get_file_from_path(uri)
        return f"[{uri}]({posixpath.relpath(uri, here or '.')})" if known else match[0]

    shown_as_it_is = FOLDER in page.file.src_uri.split("/")[:1] and source.suffix != ".md"
    if shown_as_it_is:
        return markdown
    return outside_code(markdown, lambda text: _MENTION.sub(name, _LINK.sub(turn, text)))


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001 (MkDocs names them)
    """Turn names of pages in docstrings (docs/statistics.md) to links; let keys and paths of the config break."""
    if page.file.src_uri == "config.md":
        return _KEY.sub(lambda match: re.sub(r"([./])", r"\1<wbr>", match[0]), html)
    if not page.file.src_uri.startswith("api/"):
        return html

    def name(match: re.Match[str]) -> str:
        known = files.get_file_from_path(match["page"])
        return f'<a href="../{known.url}">{match["page"]}</a>' if known else match[0]

    return _MENTION.sub(name, html)
