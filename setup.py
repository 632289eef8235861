"""Put the workflow into a wheel, which pyproject.toml cannot do: in `prasanga_workflow`, beside the packages."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = (
    "Snakefile",
    "config.yaml",
    "config",
    "rules",
    "workflow",
    "profiles",
    "resources",
    "construction",
)
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "prasanga_construction", "*.egg-info")


class BuildWithWorkflow(build_py):
    """Builds the packages, and puts the files of the workflow beside them as they lie in the checkout."""

    def run(self) -> None:
        """Build; an editable installation has the checkout itself."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "prasanga_workflow")
        shutil.rmtree(target, ignore_errors=True)
        for name in SHIPPED:
            if Path(name).is_dir():
                shutil.copytree(name, target / name, ignore=LEFT_OUT)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(name, target / name)


setup(cmdclass={"build_py": BuildWithWorkflow})
