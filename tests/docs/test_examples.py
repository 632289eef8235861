"""What a reader copies from a page works: Python runs, configs are accepted, commands and paths exist."""

from __future__ import annotations

import ast
import importlib
import io
import itertools
import json
import re
import shlex
import shutil
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_pages import ROOT, Block, blocks, commands, generated, pages, read, spans
from prepared_examples import prepare
from snakemake.cli import get_argument_parser
from typer.core import TyperGroup
from typer.main import get_command

from prasanga.base import offered
from prasanga.cli import app
from prasanga.config import complete, make_schema, merge_configs
from prasanga.lexicon import check_examples, load_lexicon, load_suffix_groups
from prasanga.report.figures import COLUMN, FOLDER, figure_named

PAGES = pages()
PYTHON = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]
WORDS = ("docs/my_language.md", "docs/lexicon.md")
"""Pages whose blocks with a title are files that go together."""

STUDIES = {"mine.yaml", "config/mine.yaml", "config/other.yaml"}
"""Names that stand for a reader's own config."""


def comments(code: str) -> dict[int, str]:
    """The comment at the end of each line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


def require_as_said(value: Any, said: str, where: str) -> None:
    """A comment that is a value, or begins with one, must be the value of the expression before it."""
    begin = re.match(r"""(\(.*?\)|\[.*?\]|'.*?'|".*?"|-?\d+(?:\.\d+)?|True|False)(?=$|[,:; ])""", said)
    if begin:
        try:
            expected = ast.literal_eval(begin[1])
        except (ValueError, SyntaxError):
            return
        if isinstance(expected, tuple) and not all(isinstance(each, str) for each in expected):
            return  # the shape of an array
        if isinstance(expected, float):
            assert round(float(value), len(str(expected).partition(".")[2])) == expected, where
        else:
            assert value == expected, where
    elif isinstance(value, str) and " " not in said:
        assert value == said, where


def run(block: Block, names: dict[str, Any]) -> int:
    """Run an example, compare what its comments say, and return how many values were compared."""
    said, compared = comments(block.code), 0
    for node in ast.parse(block.code).body:
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), str(block), "eval"), names)
            comment = said.get(node.end_lineno or 0)
            if comment is not None:
                require_as_said(value, comment, f"{block}, line {node.lineno} of the block: {value!r}")
                compared += 1
        else:
            exec(compile(ast.Module([node], []), str(block), "exec"), names)
    return compared


@pytest.mark.parametrize("page", PYTHON)
def test_python_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: Mapping[str, Path], study_files: Path
) -> None:
    (tmp_path / "study").mkdir()
    folder = tmp_path / "study"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if page in WORDS:
        shutil.copytree(study_files, folder, dirs_exist_ok=True)
    else:
        (folder / "resources").symlink_to(ROOT / "resources")
    names = prepare(page, folder, models)
    for block in blocks(page):
        if block.language == "python":
            run(block, names)


def test_what_is_said_of_a_value_is_compared() -> None:
    wrong = Block("a page", 1, "python", "", "1 + 1  # 3\n")
    with pytest.raises(AssertionError, match="a page:1"):
        run(wrong, {})
    assert run(Block("a page", 1, "python", "", "'a' + 'b'  # 'ab': both\n"), {}) == 1
    with pytest.raises(AssertionError):
        run(Block("a page", 1, "python", "", "[1.2341][0]  # 1.235\n"), {})


# ------------------------------------------------------------------------------------------------------------ configs


def without_placeholders(code: str) -> str:
    return code.replace("<commit>", "0a" * 20).replace("<64 hexadecimal digits>", "0a" * 32)


RESOURCE_KEYS = {
    *("set", "gloss", "class", "searched", "words", "language", "categories", "exchanged", "templates", "polarity"),
    *("traits", "groups", "ambiguous", "neighbours", "examples", "structures", "targets", "axes", "prompts"),
}
"""Top-level keys of word sets, groups, categories, templates and the like."""


def is_config(content: Any, keys: set[str]) -> bool:
    """Whether a snippet is part of a config, and not of a file of words."""
    if not isinstance(content, Mapping) or not set(content) <= keys:
        return False
    return "study" in content or not isinstance(content.get("categories"), Mapping)


YAML = [block for page in PAGES for block in blocks(page) if block.language == "yaml"]


@pytest.mark.parametrize("block", YAML, ids=str)
def test_yaml_is_accepted(block: Block, study_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (
        block.title.startswith(("assamese/resources/", "words/", "workflow/", "profiles/"))
        or "profile.yaml" in block.title
    ):
        return  # files of words are read as a whole below, profiles by the tests of profiles
    monkeypatch.chdir(study_files / "assamese" if block.title.startswith("assamese/") else study_files)
    if block.title == "changes.yaml":  # merged into the config of a paper: docs/published.md
        config = yaml.safe_load((ROOT / "config/sadhu2024.yaml").read_text(encoding="utf-8"))
        complete(merge_configs(config, yaml.safe_load(without_placeholders(block.code))))
        return
    content = yaml.safe_load(without_placeholders(block.code))
    keys = set(make_schema()["properties"])
    if is_config(content, keys):
        config = yaml.safe_load((ROOT / "tests/golden/every/study.yaml").read_text(encoding="utf-8"))
        if "study" in content:
            config = content
        else:
            for key, value in content.items():
                config[key] = {**config.get(key, {}), **value} if isinstance(value, Mapping) else value
        completed = complete(config)
        assert all(key in completed for key in content)
        return
    if isinstance(content, list):
        assert all({"stimulus", "set", "word", "id", "form", "files"} & set(entry) for entry in content), str(block)
        return
    assert isinstance(content, Mapping), str(block)
    parts = [part for part in content.values() if isinstance(part, Mapping)]
    fragment = bool(parts) and all({"targets", "ending", "mem_mb", "slurm_partition"} & set(part) for part in parts)
    profile = {"executor", "default-resources", "set-resources", "jobs", "resources"} & set(content)
    assert set(content) <= RESOURCE_KEYS or fragment or profile, f"{block}: neither a config nor words nor a profile"


@pytest.fixture(scope="module")
def study_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the word lists as a reader of the pages on languages and categories has them."""
    folder = tmp_path_factory.mktemp("words")
    shutil.copytree(ROOT / "resources", folder / "resources", ignore=shutil.ignore_patterns("demo", "published"))
    for page in WORDS:
        for _, command in commands(page, "cp"):
            _, *options, source, target = shlex.split(command)
            copied = shutil.copytree if options else shutil.copy
            (folder / target).parent.mkdir(exist_ok=True)
            copied(folder / source, folder / target)
        for block in blocks(page):
            if block.title.startswith(("assamese/", "words/")):
                path = folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                if block.code.startswith("  "):  # goes under the file's own heading
                    head = "groups:\n" if "groups" in block.title else "categories:\n"
                    text = path.read_text(encoding="utf-8")
                    assert text.count(f"\n{head}") == 1
                    path.write_text(text.replace(head, head + block.code, 1), encoding="utf-8")
                else:
                    path.write_text(block.code, encoding="utf-8")
    return folder


def test_the_language_of_the_page_has_its_forms(study_files: Path) -> None:
    lexicon = load_lexicon(
        study_files / "assamese/resources/stimuli/as", study_files / "assamese/resources/suffix_groups/as.yaml"
    )
    # 8 words: bare and plural, each alone and in three cases, and every ending once more after a hyphen
    counted = [form for form in lexicon.forms if "-" not in form.form]
    assert len(counted) == 8 * 2 * 4
    assert lexicon.categories["C1"].title == "Flowers and insects, pleasant and unpleasant"


def test_the_group_of_the_page_is_used(study_files: Path) -> None:
    groups = yaml.safe_load((study_files / "words/bn_groups.yaml").read_text(encoding="utf-8"))
    assert groups["groups"]["paired_a"]["examples"][0]["no_match"][0] == "জুতাপেটা"
    assert check_examples(load_suffix_groups(study_files / "words/bn_groups.yaml").groups) == []
    wrong = study_files / "words/wrong.yaml"
    text = (study_files / "words/bn_groups.yaml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("no_match: [জুতাপেটা,", "no_match: [জুতাটি,"), encoding="utf-8")
    said = check_examples(load_suffix_groups(wrong).groups)
    assert said == ["paired_a: জুতাটি must not be a form of জুতা, but is one."]
    assert said[0] in " ".join(read("docs/lexicon.md").split())


# ----------------------------------------------------------------------------------------------------------- commands


@cache
def rules() -> tuple[set[str], list[re.Pattern[str]]]:
    """Names of all rules, and patterns of the files that they speak of."""
    paths = [*(ROOT / "rules").glob("*.smk"), ROOT / "construction/construction.smk", ROOT / "Snakefile"]
    text = "\n".join(path.read_text(encoding="utf-8").replace("<results>", "results") for path in paths)
    names = set(re.findall(r"^ *(?:rule|checkpoint) (\w+):", text, re.MULTILINE))
    files = [re.sub(r"\\\{.*?\\\}", "[^/]+", re.escape(path)) for path in re.findall(r'"(results/[^"]+)"', text)]
    return names, [re.compile(pattern) for pattern in files]


def is_target(name: str) -> bool:
    names, files = rules()
    plain = re.sub(r"<[^>]+>", "x", name)
    if figure := re.fullmatch(rf"{FOLDER}/(?:{COLUMN}/)?([^/]+)\.(?:svg|pdf|png)", plain):
        return figure_named(figure[1]) is not None
    effects = re.fullmatch(r"results/associations/\w+\.(parquet|csv)", plain)  # `gather_estimates` makes all of them
    return plain in names or bool(effects) or any(pattern.fullmatch(plain) for pattern in files)


SNAKEMAKE = [each for page in PAGES for each in commands(page, "snakemake")]


@pytest.mark.parametrize(("where", "command"), SNAKEMAKE, ids=[f"{where} {command}" for where, command in SNAKEMAKE])
def test_snakemake_commands_are_understood(where: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        asked, unknown = get_argument_parser().parse_known_args(shlex.split(command)[1:])
    except SystemExit:
        pytest.fail(f"{where}: {capsys.readouterr().err.splitlines()[-1]}")
    plugins = ("--slurm", "--cluster-generic", "--kubernetes", "--storage", "--default-storage")
    assert all(option.startswith(plugins) or not option.startswith("-") for option in unknown), f"{where}: {unknown}"
    wanted = [*asked.targets, *(asked.until or []), *(asked.forcerun or [])]
    assert all(is_target(each) for each in wanted if "..." not in each), f"{where}: {wanted}"
    written = {block.title for page in PAGES for block in blocks(page)} | STUDIES
    for config in map(str, asked.configfile or []):
        assert config in written or (ROOT / config).is_file(), f"{where}: {config}"
    for profile in filter(None, (asked.workflow_profile, asked.profile)):
        places = [ROOT / profile, ROOT / "profiles" / profile]
        assert any(place.is_dir() for place in places), f"{where}: there is no profile {profile}"


def test_commands_of_ours_are_understood() -> None:
    """Their names and options are those that the command has."""
    known = get_command(app)
    assert isinstance(known, TyperGroup)
    found = 0
    for page in PAGES:
        for where, command in commands(page, "prasanga", "python -m prasanga"):
            name, *words = shlex.split(command.removeprefix("python -m ").partition(" -- ")[0])[1:]
            assert name in known.commands, f"{where}: {command}"
            asked = known.commands[name]
            if isinstance(asked, TyperGroup):  # `store list`; `models STUDY` is short for `models list STUDY`
                asked = asked.commands[words.pop(0) if words[:1] and words[0] in asked.commands else "list"]
            options = {option for each in asked.params for option in each.opts}
            assert {word for word in words if word.startswith("-")} <= options, f"{where}: {command}"
            found += 1
    assert found > 10


def test_commands_were_found() -> None:
    assert len(SNAKEMAKE) > 20
    assert not is_target("embedings")
    assert not is_target("results/report/figures/word_C1")


def test_make_targets_and_test_folders_exist() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for where, command in commands(page, "make", "pytest", "python"):
            program, *words = command.split()
            words = [word for word in words if not word.startswith("-") and "=" not in word]
            if program == "make":
                assert set(words[:1]) <= {*targets, ".venv/.installed"}, f"{where}: {command}"
            elif words and (program == "pytest" or words[0].endswith((".py", "/"))):
                assert (ROOT / re.sub(r"/?<.*", "", words[0])).exists(), f"{where}: {command}"


# -------------------------------------------------------------------------------------------------- names in the text

_PLACES = r"(?:src|construction|rules|resources|config|profiles|workflow|tests|docs|containers)/[\w./*<>{},-]+"


def variants(path: str) -> Iterator[str]:
    """`a/{b,c}.yaml` as a/b.yaml and a/c.yaml; `<x>` as anything."""
    braces = re.search(r"\{([^}]*)\}", path)
    if braces is None:
        yield re.sub(r"<[^>]*>", "*", path)
        return
    for choice in braces[1].split(","):
        yield from variants(path[: braces.start()] + choice + path[braces.end() :])


def written_by_readers() -> set[str]:
    """Files that pages tell their readers to write."""
    titles = {block.title for page in PAGES for block in blocks(page) if block.title}
    copies = {shlex.split(command)[-1] for page in PAGES for _, command in commands(page, "cp")}
    return titles | copies | STUDIES


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page: str) -> None:
    own = written_by_readers()
    for span in spans(page):
        if re.fullmatch(_PLACES, span):
            for path in variants(span):
                there = any(ROOT.glob(path.rstrip("/"))) or any(each.startswith(path.rstrip("/")) for each in own)
                assert there, f"{page}: {path} does not exist"


@pytest.mark.parametrize("page", PAGES)
def test_names_of_the_library_exist(page: str) -> None:
    for span in spans(page):
        if re.fullmatch(r"prasanga(_construction)?(\.\w+)+", span):
            require_name(span, page)


def require_name(name: str, page: str) -> None:
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            assert hasattr(found, part), f"{page}: {name} does not exist"
            found = getattr(found, part)
        return
    pytest.fail(f"{page}: {name} does not exist")


def test_the_python_pages_have_all_public_names() -> None:
    packages = {path.parent.name for path in (ROOT / "src/prasanga").glob("*/__init__.py")} - {"cli"}
    written = {path: text for path, text in generated().items() if path.startswith("docs/api/")}
    assert set(written) == {f"docs/api/{name}.md" for name in packages | {"construction"}}
    listed = 0
    for path, page in written.items():
        for module, members in re.findall(r"^::: (\S+)\n((?: {4,}.+\n)*)", page, re.MULTILINE):
            found, names = importlib.import_module(module), re.findall(r"- (\w+)", members)
            assert all(hasattr(found, name) for name in names), path
            if not names or module in ("prasanga.config", "prasanga.schema", "prasanga.methods"):
                continue  # the site shows what a module defines
            assert set(names) == set(offered(module, "__all__")), path
            listed += len(names)
    assert listed > 100


def test_lines_of_pages_are_short() -> None:
    for page in [*PAGES, "CHANGELOG.md"]:
        code = False
        for number, line in enumerate(read(page).splitlines(), start=1):
            code ^= line.lstrip().startswith("```")
            assert code or "|" in line or len(line) <= 126, f"{page}:{number} has {len(line)} characters"


def rows_after(heading: str) -> list[list[str]]:
    """The cells of the table of docs/simulations.md that follows a heading, without its head."""
    lines = itertools.dropwhile(
        lambda line: line[:1] != "|", read("docs/simulations.md").partition(heading)[2].splitlines()
    )
    table = list(itertools.takewhile(lambda line: line[:1] == "|", lines))[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_tables_of_simulated_studies_are_what_was_measured() -> None:
    measured = json.loads(read("docs/measured/calibration.json"))["results"]
    names = ("p_stimuli", "p_attributes", "p_association", "interval", "p_association and interval")
    for part, heading, columns, n in (
        ("rejected", "## Why both sides are tested", names, 10),
        ("units", "## Words that are not independent", ("independent", "declared", "declared, and interval"), 5),
        ("twins", "## Differences from random-weight copies", ("other weights", "other words", "p_twins"), 4),
    ):
        rows = rows_after(heading)
        assert len(rows) == n
        for truth, words, *shares in rows:
            assert shares == [share(measured[part][truth][words].get(name)) for name in columns]
    unequal = rows_after("## Sets of different sizes")
    assert len(unequal) == 4
    assert all(shares == list(map(share, measured["unequal"][f"{n}, {sd}"].values())) for n, sd, *shares in unequal)
    nulls = ("nothing differs", "targets differ", "attributes differ")
    assert all(of["p_association"] <= 0.06 for truth in nulls for of in measured["rejected"][truth].values())
    page = " ".join(read("docs/simulations.md").split())
    both = [of["p_association"] for of in measured["rejected"]["both differ, at right angles"].values()]
    assert f"rejects in up to {max(both):.0%}" in page
    few, many = (share(measured["twins"]["an association"][words]["p_twins"]) for words in ("8", "25"))
    assert f"in {few} of studies, with 25 in {many}" in page
    declared = {truth: max(of["declared"] for of in of_words.values()) for truth, of_words in measured["units"].items()}
    assert max(share for truth, share in declared.items() if truth != "pairs that differ") <= 0.07


def test_what_is_said_of_moderated_copies_is_what_was_measured() -> None:
    rows = json.loads(read("docs/measured/twins_simulated.json"))["results"]["rows"]
    found = {(row["cells"], row["spreads"], row["K"], row["deviations"]): row for row in rows}
    page = " ".join(read("docs/simulations.md").split())
    for k in (4, 8):
        alone, moderated = (found["12 categories", "equal", k, each]["d + .8"] for each in ("alone", "moderated"))
        assert re.search(rf"in {share(moderated)} instead of {share(alone)} (?:of cases )?with {k}", page)
    level = max(
        row[truth] for row in rows if row["deviations"] == "moderated" for truth in ("one more copy", "other words")
    )
    assert level <= 0.07
    assert f"no null hypothesis is rejected in more than {share(level)} of tests" in page
    of_one = [row for row in rows if row["spreads"].startswith("one ")]
    kept, without = (
        max(row["one more copy, there"] for row in of_one if row["deviations"] == each)
        for each in ("moderated", "all moderated")
    )
    assert f"in up to {share(kept)}, instead of {share(without)} without the exception" in page


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("0.", ".")
