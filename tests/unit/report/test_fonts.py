"""Bangla and Hindi in figures: letters are shaped as HarfBuzz shapes them, and there is never a box."""

from __future__ import annotations

import re
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
import uharfbuzz
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline

from prasanga.report.figures.canvas import font_families, house_style, save_figure

BANGLA = ["কি", "ক্ষমা", "র্ক", "স্ত্রী", "মন্ত্রী", "জ্ঞান", "কো", "সৌন্দর্য", "র‍্যাব", "বাঙ্‌লা", "চাঁদ", "বড়", "গাঢ়", "ঐক্য"]
HINDI = ["हिन्दी", "क्षत्रिय", "र्क", "स्त्री", "विद्यार्थी", "ट्रक", "ज्ञान", "कि", "ढाई"]
WORDS = [*((word, "bengali") for word in BANGLA), *((word, "devanagari") for word in HINDI)]
WEIGHTS = [(400, "normal"), (700, "bold")]
LETTERS = {
    "bengali": "অআইঈউঊঋএঐওঔকখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহড়ঢ়য়ৎংঃঁািীুূৃেৈোৌ়্০১২৩৪৫৬৭৮৯৳।॥",
    "devanagari": "अआइईउऊऋएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलळवशषसहक़ख़ग़ज़ड़ढ़फ़ंःँािीुूृेैॉोौ़्०१२३४५६७८९₹।॥",
}
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
SIZE = 64.0
"""Of the letters that are compared, in points."""

Glyph = tuple[int, float, float]
Points = npt.NDArray[np.float64]


def file_of(script: str, weight: int) -> str:
    return str(files("prasanga.report.templates") / f"vendor/fonts/noto-sans-{script}-{weight}.ttf")


@cache
def parsed(file: str) -> TTFont:
    return TTFont(file)


def shaped(text: str, file: str) -> list[Glyph]:
    """Glyphs with their places in ems, by HarfBuzz."""
    font = uharfbuzz.Font(uharfbuzz.Face(Path(file).read_bytes()))
    buffer = uharfbuzz.Buffer()
    buffer.add_str(text)
    buffer.guess_segment_properties()
    uharfbuzz.shape(font, buffer)
    glyphs = [
        (info.codepoint, place.x_offset, place.y_offset)
        for info, place in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True)
    ]
    advances = [place.x_advance for place in buffer.glyph_positions]
    upem = font.face.upem
    starts = np.cumsum([0, *advances[:-1]])
    return [(glyph, (start + x) / upem, y / upem) for (glyph, x, y), start in zip(glyphs, starts, strict=True)]


def reference(text: str, file: str) -> Outline:
    """The outline of a text at `SIZE`, from the glyphs of the font and HarfBuzz."""
    ttf = parsed(file)
    glyph_set, names, upem = ttf.getGlyphSet(), ttf.getGlyphOrder(), ttf["head"].unitsPerEm
    vertices: list[tuple[float, float]] = []
    codes: list[int] = []
    for glyph, x, y in shaped(text, file):
        pen = DecomposingRecordingPen(glyph_set)
        glyph_set[names[glyph]].draw(pen)
        for operator, points in pen.value:
            there = [((x + px / upem) * SIZE, (y + py / upem) * SIZE) for px, py in points]
            if operator == "moveTo":
                vertices += there
                codes.append(Outline.MOVETO)
            elif operator == "lineTo":
                vertices += there
                codes.append(Outline.LINETO)
            elif operator == "qCurveTo":
                *controls, last = there
                for n, control in enumerate(controls):
                    final = n + 1 == len(controls)
                    end = last if final else tuple((np.array(control) + controls[n + 1]) / 2)
                    vertices += [control, end]
                    codes += [Outline.CURVE3, Outline.CURVE3]
            else:
                assert operator == "closePath"
                vertices.append(vertices[-1])
                codes.append(Outline.CLOSEPOLY)
    return Outline(vertices, codes)


def ends(outline: Outline) -> Points:
    """Where the lines and curves of an outline end."""
    found = [points[-2:] for points, code in outline.iter_segments(simplify=False) if code != Outline.CLOSEPOLY]
    return np.array(found, dtype=np.float64)


@pytest.mark.parametrize(("weight", "name"), WEIGHTS)
@pytest.mark.parametrize(("word", "script"), WORDS)
def test_glyphs_and_their_places_are_those_of_harfbuzz(
    word: str, script: str, weight: int, name: str, tmp_path: Path
) -> None:
    with house_style("page"):
        figure = Figure(figsize=(6, 2))
        figure.text(0.1, 0.4, word, fontsize=SIZE, fontweight=name)
    save_figure(figure, tmp_path / "word.svg")
    uses = [
        element
        for element in ElementTree.parse(tmp_path / "word.svg").iter("{http://www.w3.org/2000/svg}use")
        if "NotoSans" in element.attrib["{http://www.w3.org/1999/xlink}href"]
    ]
    drawn = []
    for use in uses:
        x, y = re.findall(r"-?[\d.]+", use.get("transform", "translate(0 0)"))[:2]
        glyph = use.attrib["{http://www.w3.org/1999/xlink}href"].rpartition("-")[2]
        drawn.append((int(glyph, 16), float(x) / 100, float(y) / 100))
    empty = {parsed(file_of(script, weight)).getGlyphID("space")}  # of a joiner, HarfBuzz makes a space without width
    expected = [glyph for glyph in shaped(word, file_of(script, weight)) if glyph[0] not in empty]
    drawn = [glyph for glyph in drawn if glyph[0] not in empty]
    assert [glyph for glyph, _, _ in drawn] == [glyph for glyph, _, _ in expected]
    np.testing.assert_allclose([place[1:] for place in drawn], [place[1:] for place in expected], atol=0.002)


def pdf_of(figure: Figure, path: Path) -> tuple[bytes, Points]:
    """A PDF, and where the lines and curves in it end, in points."""
    save_figure(figure, path)
    content = path.read_bytes()
    drawing = b""
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
        try:
            drawing += zlib.decompress(packed)
        except zlib.error:
            continue
    steps = re.findall(rb"(-?[\d.]+) (-?[\d.]+) [mlc]\b", drawing)
    return content, np.array(steps, dtype=np.float64)


@pytest.mark.parametrize(("word", "script"), [("বাঙ্‌লা", "bengali"), ("স্ত্রী", "bengali"), ("हिन्दी", "devanagari")])
@pytest.mark.parametrize("tick", [False, True])
def test_in_a_pdf_bangla_and_hindi_are_outlines(word: str, script: str, tick: bool, tmp_path: Path) -> None:
    with house_style("page"):
        figure = Figure(figsize=(6, 2))
        if tick:
            axes = figure.add_axes((0.5, 0.2, 0.4, 0.7))
            axes.set_yticks([0.5], [word], fontsize=SIZE)
            axes.set_xticks([])
        else:
            figure.text(0.1, 0.4, word, fontsize=SIZE)
    content, drawn = pdf_of(figure, tmp_path / "word.pdf")
    assert not re.search(rb"/(BaseFont|FontFile)", content)
    expected = ends(reference(word, file_of(script, 400)))
    # Wherever it stands: the first point of the word is one of those drawn, and then all others are where they belong.
    best = min(
        float(np.linalg.norm(drawn[None] - (expected - expected[0] + start)[:, None], axis=2).min(axis=1).max())
        for start in drawn
    )
    assert best / SIZE < 0.003


def test_in_a_pdf_latin_is_text(tmp_path: Path) -> None:
    with house_style("page"):
        figure = Figure(figsize=(6, 2))
        figure.text(0.1, 0.4, "−0.5 · rose")
    content, drawn = pdf_of(figure, tmp_path / "word.pdf")
    assert re.findall(rb"/BaseFont /\w+\+(\w+)", content)
    assert b"/ToUnicode" in content
    assert len(drawn) == 5  # the edge of the figure


@pytest.mark.parametrize("script", LETTERS)
@pytest.mark.parametrize("weight", [400, 700])
def test_a_shipped_font_has_all_letters_and_the_rules_that_join_them(script: str, weight: int) -> None:
    ttf = parsed(file_of(script, weight))
    assert not {*LETTERS[script], *JOINERS, "\N{DOTTED CIRCLE}"} - {chr(code) for code in ttf.getBestCmap()}
    joined = {record.FeatureTag for record in ttf["GSUB"].table.FeatureList.FeatureRecord}
    assert joined >= {"akhn", "blwf" if script == "bengali" else "rkrf", "half", "nukt", "pres", "rphf"}
    assert {record.FeatureTag for record in ttf["GPOS"].table.FeatureList.FeatureRecord} >= {"abvm", "blwm"}
    assert ttf["OS/2"].usWeightClass == weight


def test_shipped_fonts_are_known_without_a_cache_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    font_families()  # the list that is put back has the fonts as well
    known = [entry for entry in font_manager.fontManager.ttflist if not entry.name.startswith("prasanga")]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", known)
    font_families.cache_clear()
    for _ in range(2):
        assert font_families() == ("DejaVu Sans", "prasanga Bengali", "prasanga Devanagari")
    assert sorted(entry.weight for entry in known if entry.name == "prasanga Bengali") == [400, 700]
