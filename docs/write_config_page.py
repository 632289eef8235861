"""Write docs/config.md and the schema for editors from the models of the config; a test compares them."""

from __future__ import annotations

import json
from pathlib import Path

from prasanga.config import describe_config, make_schema

ROOT = Path(__file__).resolve().parents[1]

HEAD = """# The config of a study

A study is one YAML file. The workflow reads `config.yaml`, the demo study; `--configfile config/other.yaml` reads
another one instead of it. What a file leaves out has the default below. Keys that are not in this table are refused,
with the nearest key of the same section. The config holds science only: cores, memory and queues are in `profiles/`.

`make docs` writes this page and `config.schema.json` from `prasanga.config`. An editor that knows YAML completes and
checks keys if a study begins with `# yaml-language-server: $schema=<path of config.schema.json>`.

"""

if __name__ == "__main__":
    (ROOT / "docs/config.md").write_text(HEAD + describe_config(), encoding="utf-8")
    schema = json.dumps(make_schema(), indent=1, ensure_ascii=False)
    (ROOT / "docs/config.schema.json").write_text(f"{schema}\n", encoding="utf-8")
