"""The page: complete, self-contained, well formed, escaped, and honest about what is not there."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from report_pages import CATEGORIES, coverage
from tables import read_data

import prasanga.report
from prasanga.report.page import render_page
from prasanga.report.study import EmbeddingFiles, Results

VOID = {"meta", "link", "br", "wbr", "hr", "img", "input", "col"}
SVG = (
    '<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="9pt" viewBox="0 0 9 9">'
    "<metadata><a>b</a></metadata><!-- a comment --><path d='M 0 0' style='fill: #22262b'/></svg>"
)
CONFIG = read_data(__file__, "config_of_page")
MODELS: dict[str, dict[str, Any]] = {
    "wide_1": {"train": {"hidden_size": 96, "seed": 1}},
    "narrow": {"path": "hub/model", "revision": "abc", "layer": -1},
}
MADE_FROM = {
    "fingerprint": "f00d",
    "versions": json.dumps({"polars": "2.1.0"}),
    "inputs": json.dumps({"results/associations/ceat.parquet": "ab12"}),
}


@pytest.fixture
def render(small: pl.DataFrame) -> Callable[..., str]:
    def with_changes(**changes: Any) -> str:
        given: dict[str, Any] = {
            "ceat": small,
            "coverage": coverage(),
            "categories": CATEGORIES,
            "figures": {"sample_modes": SVG},
        }
        config, made_from = changes.pop("config", CONFIG), changes.pop("made_from", MADE_FROM)
        models = changes.pop("models", MODELS)
        return render_page(
            config={"models": models, **config}, results=Results(**{**given, **changes}), made_from=made_from
        )

    return with_changes


def unpacked(page: str) -> str:
    """The page with its packed parts in their places."""

    def unpack(found: re.Match[str]) -> str:
        return f">{gzip.decompress(base64.b64decode(found.group(1))).decode()}"

    return re.sub(r' data-packed="([^"]*)">', unpack, page)


class Reader(HTMLParser):
    """Checks that tags are balanced, and keeps text, ids, links and table rows."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.unscoped = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named[key] or "" for key in ("href", "src", "xlink:href") if key in named]
        self.unscoped += tag == "th" and "scope" not in named
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        assert tag in {"circle", "line", "path", "use"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style"}:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.mark.parametrize("whole", [False, True])
def test_page_is_well_formed(
    render: Callable[..., str], audit: dict[str, pl.DataFrame], embedding_files: EmbeddingFiles, whole: bool
) -> None:
    page = unpacked(render(**audit, embeddings=embedding_files) if whole else render())
    reader = Reader(page)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)
    assert set(re.findall(r'aria-labelledby="([^"]*)"', page)) <= set(reader.ids)
    assert reader.unscoped == 0
    assert page.count("<caption") == page.count("<table")


def test_nothing_is_loaded_from_elsewhere(render: Callable[..., str], audit: dict[str, pl.DataFrame]) -> None:
    page = render(**audit)
    inside = ("#", "figures/", "tables/", "data/")
    outside = [link for link in Reader(page).links if not link.startswith(inside)]
    cited = ["arxiv.org/abs/2406.17375", "arxiv.org/abs/2403.20147", "doi.org/10.1126/science.aal4230"]
    assert outside == [f"https://{address}" for address in cited]
    # libraries name their authors' sites, and load nothing from there
    body = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    assert re.findall(r'https?://[^\s"<]*', body) == outside
    style = "".join(re.findall(r"<style>.*?</style>", page, flags=re.DOTALL))
    assert {link[:5] for link in re.findall(r"url\([\"']?([^)]+)", style)} == {"data:"}
    assert "@import" not in style
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in html.unescape(policy.group(1))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_every_shade(theme: int) -> None:
    style = Path(prasanga.report.__file__).with_name("templates").joinpath("style.css").read_text(encoding="utf-8")
    found = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", style)
    colours = {name: both[theme] for name, *both in found}
    on = {"1": "ink", "2": "ink", "3": "on-middle", "4": "on-strong", "5": "on-strong"}
    pairs = [(f"{sign}-{step}", text) for sign in ("plus", "minus") for step, text in on.items()]
    pairs += [("zero", "ink"), ("page", "ink"), ("page", "muted"), ("surface", "muted"), ("surface", "accent")]
    for ground, text in pairs:
        low, high = sorted((luminance(colours[ground]), luminance(colours[text])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, text)


def test_the_page_needs_no_matplotlib() -> None:
    code = "import sys, prasanga.report.page; print([name for name in sys.modules if name.startswith('matplotlib')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
