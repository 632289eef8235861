"""Draw the pictures of the docs, which `pictures.yaml` lists: `python docs/pictures.py DEMO [NAME...]`."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from PIL import Image, ImageChops
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests/support"))

from browser import find_browser  # noqa: E402

COLUMNS = 100
"""Width of the terminal."""

MOST = 1000
"""Height of a picture of a part of a page, at most."""

CHANGED = ("n_samples: 1000", "n_samples: 2000")
"""What is different in the config of a copy of the demo."""

TERMINAL = """<body style="margin:0; background:#16191d">
<pre id="t" style="display:inline-block; margin:0; padding:18px 22px; color:#e6e8ea; font:15px/1.35 'DejaVu Sans Mono'">
<code style="font:inherit">{code}</code></pre></body>"""

ARTICLE = r"""\documentclass[11pt,twocolumn]{article}\usepackage{booktabs,colortbl,graphicx}
\pagestyle{empty}\begin{document}\input{TABLE}\end{document}"""


def draw(about: dict[str, Any], demo: Path, browser: Browser) -> Image.Image:
    """Return the picture of an entry of the list."""
    results = demo / "results"
    if "figure" in about:
        return Image.open(results / about["figure"])
    if "latex" in about:
        return draw_table(results / about["latex"])
    window = {"width": about.get("width", 1440), "height": about.get("height", 900)}
    page = browser.new_page(
        viewport=window,
        device_scale_factor=2 if window["width"] < 500 else 1,
        color_scheme="dark" if about.get("dark") else "light",
        reduced_motion="reduce",
    )
    if "command" in about:
        page.set_content(TERMINAL.format(code=as_html(about["command"], about, demo)))
        return picture_of(page.locator("#t").screenshot())
    file, _, address = about["page"].partition("#")
    page.goto(f"{(results / file).resolve().as_uri()}#{address}")
    page.wait_for_timeout(500)
    if "click" in about:
        page.locator(f"{about['click']} >> visible=true").first.click()
        page.wait_for_timeout(500)
    whole = picture_of(page.locator(about["part"]).screenshot() if "part" in about else page.screenshot())
    return whole.crop((0, 0, whole.width, min(whole.height, MOST))) if "part" in about else whole


def picture_of(content: bytes) -> Image.Image:
    """Return a screenshot as a picture."""
    return Image.open(io.BytesIO(content))


def as_html(command: str, about: dict[str, Any], demo: Path) -> str:
    """Run a command, and return what a terminal shows of it as HTML."""
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "prasanga-demo"
        if "{changed}" in command:
            shutil.copytree(demo, changed, symlinks=True, copy_function=os.link)
            config = (changed / "study.yaml").read_text(encoding="utf-8")
            (changed / "study.yaml").unlink()
            (changed / "study.yaml").write_text(config.replace(*CHANGED), encoding="utf-8")
        said = in_terminal([part.format(demo=demo, changed=changed) for part in shlex.split(command)])
    for path in (changed, demo.resolve(), demo):
        said = said.replace(str(path), "prasanga-demo")
    lines = [line for line in said.splitlines() if not line.startswith("From your environment")]
    shown = about.get("shown", command.format(demo="prasanga-demo", changed="prasanga-demo"))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi("\n".join([f"$ {shown}", *lines]).strip()))
    return console.export_html(inline_styles=True, code_format="{code}")


def in_terminal(command: list[str]) -> str:
    """Return what a command writes to a terminal of `COLUMNS` columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    said = bytearray()
    with subprocess.Popen(
        command, stdin=its, stdout=its, stderr=its, env={**os.environ, "TERM": "xterm-256color"}
    ) as run:
        os.close(its)
        with suppress(OSError):  # the end, when the last writer is gone
            while part := os.read(ours, 65536):
                said += part
    if run.returncode:
        sys.exit(said.decode())
    return said.decode().replace("\r\n", "\n")


def draw_table(table: Path) -> Image.Image:
    """Return a table as LaTeX sets it, without the margins."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.tex").write_text(ARTICLE.replace("TABLE", str(table.resolve())), encoding="utf-8")
        subprocess.run(
            ["pdflatex", "-interaction=batchmode", "t.tex"], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        subprocess.run(["pdftoppm", "-r", "200", "-png", "-singlefile", "t.pdf", "t"], cwd=folder, check=True)
        page = Image.open(Path(folder) / "t.png").convert("RGB")
    left, top, right, bottom = ImageChops.invert(page).getbbox() or (0, 0, *page.size)
    return page.crop((left - 20, top - 20, right + 20, bottom + 20))


def main(demo: str, *names: str) -> None:
    """Draw all pictures, or those with these names."""
    listed = yaml.safe_load((DOCS / "pictures.yaml").read_text(encoding="utf-8"))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        for name in names or listed:
            picture = draw(listed[name], Path(demo), browser).convert("RGB")
            picture.thumbnail((1440, 2000))
            picture.quantize(128).save(DOCS / f"images/{name}.png", optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
