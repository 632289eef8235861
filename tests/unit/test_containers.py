"""The images have the environment of the lock file and nothing else. They are read here; no image is built."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
# What pip needs to install the project itself: the versions, what it is built by, and the files that this one names.
COPIED = {
    *("requirements.lock", "pyproject.toml", "setup.py", "README.md", "LICENSE", "src", "construction"),
    *("Snakefile", "config.yaml", "config", "rules", "workflow", "profiles", "resources"),
}
ONLY_IN_IMAGES = {"--no-cache-dir"}  # a cache would be kept in the image
ONLY_IN_THE_CHECKOUT = {"--editable", "-x", "$(LATER)"}  # there, an edit is to count at once
PIP = "python -m pip install"


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """(instruction, arguments) of a Dockerfile without comments, continued lines joined."""
    text = re.sub(r"\\\n", " ", "\n".join(line for line in dockerfile.splitlines() if not line.startswith("#")))
    return [(name, rest.strip()) for name, rest in re.findall(r"^([A-Z]+) (.*)$", text, re.M)]


def sections(definition: str) -> dict[str, list[str]]:
    """{section: lines} of an Apptainer definition without comments; the head has an empty name."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in definition.splitlines():
        if line.startswith("%"):
            name = line[1:].strip()
            found[name] = []
        elif line.strip() and not line.strip().startswith("#"):
            found[name].append(line.strip())
    return found


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    return instructions((ROOT / "containers/Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def definition() -> dict[str, list[str]]:
    return sections((ROOT / "containers/prasanga.def").read_text(encoding="utf-8"))


def commands_of_the_checkout() -> list[str]:
    """The commands by which `make` sets up the environment, with the names that they have in an image."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^\$\(VENV\)/\.installed:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert recipe is not None
    lines = [line.strip().partition("  #")[0] for line in recipe[1].splitlines() if "$(BIN)/python" in line]
    return [line.replace("$(BIN)/python", "python").replace("$(VENV)/lib", "/usr/local/lib") for line in lines]


def without(command: str, left_out: set[str]) -> list[str]:
    return [word for word in command.split() if word not in left_out]


def same_steps(image: list[str]) -> None:
    """That an image takes the checkout's steps, each once; compiling comes last there, with the project in it."""
    wanted = sorted(without(command, ONLY_IN_THE_CHECKOUT) for command in commands_of_the_checkout())
    assert sorted(without(command, ONLY_IN_IMAGES) for command in image) == wanted
    assert [command for command in image if command.startswith(PIP)] == image[:2]
    assert "--requirement requirements.lock" in image[0], "the versions first, so that nothing else chooses any"
    assert all("--no-cache-dir" in command for command in image[:2])


def test_docker_takes_the_steps_of_the_checkout(dockerfile: list[tuple[str, str]]) -> None:
    assert [name for name, _ in dockerfile] == ["FROM", *["COPY"] * 8, "WORKDIR", *["RUN"] * 3]
    same_steps([rest for name, rest in dockerfile if name == "RUN"])


def test_apptainer_takes_the_steps_of_the_checkout(definition: dict[str, list[str]]) -> None:
    assert set(definition) == {"", "files", "post"}
    first, *steps = definition["post"]
    assert first == "cd /opt/prasanga"
    same_steps(steps)


def test_both_begin_with_the_same_python(dockerfile: list[tuple[str, str]], definition: dict[str, list[str]]) -> None:
    assert definition[""] == ["Bootstrap: docker", f"From: {dockerfile[0][1]}"]
    assert dockerfile[0] == ("FROM", "python:3.11-slim")


def test_both_copy_what_is_there_and_no_more(
    dockerfile: list[tuple[str, str]], definition: dict[str, list[str]]
) -> None:
    by_docker: dict[str, str] = {}
    for name, rest in dockerfile:
        if name == "COPY":
            *sources, target = rest.split()
            by_docker |= {source: f"/opt/prasanga/{source}" for source in sources}
            assert target in ("/opt/prasanga/", f"/opt/prasanga/{sources[0]}")
    by_apptainer = dict(line.split() for line in definition["files"])
    assert by_docker == by_apptainer
    assert set(by_docker) == COPIED
    assert all((ROOT / name).exists() for name in COPIED)


def test_the_snakefile_names_the_image_that_the_recipe_says_how_to_build() -> None:
    snakefile = (ROOT / "Snakefile").read_text(encoding="utf-8")
    assert re.findall(r'^container: "(.*)"$', snakefile, re.M) == ["containers/prasanga.sif"]
    recipe = (ROOT / "containers/prasanga.def").read_text(encoding="utf-8")
    assert "#   apptainer build containers/prasanga.sif containers/prasanga.def\n" in recipe


def read_pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {
        canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines) if version
    }


def test_the_lock_files_have_all_that_users_and_developers_need() -> None:
    """The project is installed without its dependencies, so the lock files must hold them, in versions that fit."""
    users, developers = read_pins("requirements.lock"), read_pins("requirements-dev.lock")
    assert not users.keys() & developers.keys()
    assert len(users) < 120
    assert not {"pytest", "mypy", "mkdocs", "playwright", "statsmodels", "ruff", "hypothesis"} & users.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    needed = {
        "requirements.lock": [*project["dependencies"], *optional["cluster"], *optional["sentencepiece"]],
        "requirements-dev.lock": [*optional["dev"], *optional["docs"]],
    }
    for file, requirements in needed.items():
        found = read_pins(file)
        for requirement in map(Requirement, requirements):
            version = found.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement.name} is not in {file}"
            assert requirement.specifier.contains(version), f"{requirement} does not fit {version}"
