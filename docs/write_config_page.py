"""Write docs/config.md from the schema of the config; a test fails when the page is out of date."""

from __future__ import annotations

from pathlib import Path

from prasanga.base.config import describe, read_schema

ROOT = Path(__file__).resolve().parents[1]

HEAD = """# The config of a study

A study is one YAML file. The workflow reads `config.yaml`, the demo study; `--configfile config/other.yaml` reads
another one instead of it. What a file leaves out has the default below. Keys that are not in this table are refused,
with the nearest key of the same section. The config holds science only: cores, memory and queues are in `profiles/`.

This page is made from `workflow/schemas/config.schema.yaml` by `make docs`.

"""

if __name__ == "__main__":
    schema = read_schema(ROOT / "workflow/schemas/config.schema.yaml")
    (ROOT / "docs/config.md").write_text(HEAD + describe(schema), encoding="utf-8")
