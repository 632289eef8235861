"""Configs by tired and by hostile people: paths that climb, YAML that is more than data, names that are no names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fault_plans import Run
from faults import Surroundings, why_not
from small_study import SMALL, Study, copy_code

from prasanga.base.config import complete, main, read_config, read_schema
from prasanga.base.errors import InputError, printable

ROOT = Path(__file__).parents[2]
SCHEMA = read_schema(ROOT / "workflow/schemas/config.schema.yaml")


def own_category(targets: Any, attributes: Any) -> dict[str, Any]:
    return {"categories": {"m": {"targets": targets, "attributes": attributes}}}


PATHS: dict[str, Callable[[str], dict[str, Any]]] = {
    "corpus.root": lambda path: {"corpus": {"root": path}},
    "lexicon.stimuli": lambda path: {"lexicon": {"stimuli": path}},
    "lexicon.stimuli.0": lambda path: {"lexicon": {"stimuli": [path]}},
    "categories.m.targets.v": lambda path: own_category({"v": path, "w": ["ক"]}, ["a", "b"]),
    "categories.m.attributes.v": lambda path: own_category(["a", "b"], {"v": path, "w": ["ক"]}),
    "lexicon.suffix_groups": lambda path: {"lexicon": {"suffix_groups": path}},
    "lexicon.candidates": lambda path: {"lexicon": {"candidates": path}},
    "models.m.path": lambda path: {"models": {"m": {"path": path}}},
    "static.vectors.v.path": lambda path: {"static": {"vectors": {"v": {"path": path}}}},
    "pairs.sets.p.path": lambda path: {"pairs": {"sets": {"p": {"path": path}}}},
    "seat.templates": lambda path: {"seat": {"templates": path}},
    "log_probability.templates": lambda path: {"log_probability": {"templates": path}},
    "log_probability.structures": lambda path: {"log_probability": {"structures": path}},
    "log_probability.traits.0": lambda path: {"log_probability": {"traits": [path]}},
    "construction.tuples": lambda path: {"construction": {"tuples": path}},
    "construction.identities": lambda path: {"construction": {"identities": path}},
    "construction.templates": lambda path: {"construction": {"templates": path}},
    "construction.returned": lambda path: {"construction": {"returned": path}},
}


def refused(config: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        complete(config, SCHEMA)
    message = str(caught.value)
    assert printable(message) == message
    return message


# ---- paths


@pytest.mark.parametrize("key", sorted(PATHS))
def test_no_key_climbs_out_of_the_study(key: str) -> None:
    for path, folder in (
        ("../x", "../x"),
        ("a/../../x/y", "../x"),
        ("./../x", "../x"),
        ("..", ".."),
        ("../../x/y", "../../x"),
    ):
        message = refused(PATHS[key](path))
        assert f"`{key}` is {path!r}, which leads out of the study's folder" in message
        assert f"`outside: [{folder}]`" in message


@pytest.mark.parametrize("key", sorted(PATHS))
def test_no_key_has_a_path_that_no_file_can_have(key: str) -> None:
    for path in ("n" * 256, f"a/{'ন' * 86}/b", "n/" * 2048):
        message = refused(PATHS[key](path))
        assert f"`{key}` is {path[:40]!r} and so on, which no file can be called" in message
        assert len(message) < 400
    complete(PATHS[key](f"a/{'ন' * 85}/{'n' * 255}"), SCHEMA)
    complete(PATHS[key]("n/" * 2047), SCHEMA)


@pytest.mark.parametrize("key", sorted(PATHS))
def test_a_key_may_lead_where_the_config_says_so(key: str) -> None:
    for path in ("../shared/a", "/data/a", "a/../b", "a/..b/c..", "../shared"):
        complete({"outside": ["../shared"], **PATHS[key](path)}, SCHEMA)
    for path in ("../shared/../other", "../shared2", "../../shared"):
        assert "leads out" in refused({"outside": ["../shared"], **PATHS[key](path)})


@pytest.mark.parametrize("key", [*sorted(PATHS), "corpus.texts.0.files"])
def test_no_path_has_what_snakemake_would_fill_in(key: str) -> None:
    paths = {**PATHS, "corpus.texts.0.files": lambda path: {"corpus": {"texts": [{"files": path}]}}}
    for path in ("pp{set}.csv", "a/{model}/b", "{", "a}", "/data/{x,.*}.txt"):
        message = refused(paths[key](path))
        assert f"`{key}` is {path!r}, and Snakemake would take what stands in braces" in message
        assert "Rename the file or folder without" in message


@pytest.mark.parametrize("end", ["</script>", "</SCRIPT ", "<!-- <script>"])
def test_nothing_ends_the_script_that_holds_it(end: str) -> None:
    """Snakemake's own report has the settings of all jobs in a script."""
    for config in ({"title": f"a {end}"}, {"corpus": {"texts": [{"files": end}]}}, {"replacements": {end: "x"}}):
        assert f"has '{end.split()[0].rstrip('>')}', which would end the part of Snakemake's own report" in refused(
            config
        )


def test_every_path_of_the_schema_is_one_of_these() -> None:
    """A key for a path that is added without `format: path` would not be looked at."""

    def keys(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        yield place, schema
        for key, part in schema.get("properties", {}).items():
            yield from keys(part, f"{place}.{key}" if place else key)
        for part, name in ((schema.get("additionalProperties"), "<name>"), (schema.get("items"), "0")):
            if isinstance(part, dict):
                yield from keys(part, f"{place}.{name}")

    marked = {place for place, part in keys(SCHEMA, "") if part.get("format") == "path"}
    named = {re.sub(r"\.[mvp](?=\.|$)", ".<name>", key) for key in PATHS}
    assert marked == named
    said = {
        place
        for place, part in keys(SCHEMA, "")
        if any(word in part.get("description", "").lower().split() for word in ("folder", "file", "(csv)", "(yaml)"))
        and part.get("type") not in ("object", "boolean")
        and part.get("format") is None
        and part.get("enum") is None
    }
    # folders that paths may lead into; how much a file may come to; languages and layout of one; sets, whose files are
    assert {place.rpartition(".")[2] for place in said} <= {
        "outside",
        "inflation",
        "language",
        "languages",
        "layout",
        "targets",
    }


@pytest.mark.parametrize("files", ["../x/*.txt", "a/../../b", "**/../*", ".."])
@pytest.mark.parametrize("key", ["texts", "supplement"])
def test_patterns_stay_below_the_root(files: str, key: str) -> None:
    config = {"outside": ["../x", "/"], "corpus": {key: [{"files": files}]}, "samples": {"minimum": 1}}
    assert f"`corpus.{key}.0.files` is {files!r}, which leads out of `corpus.root`" in refused(config)


def test_outside_is_for_what_is_outside() -> None:
    assert "`outside` has 'resources'" in refused({"outside": ["resources"]})


@pytest.mark.parametrize("revision", ["../../x", "/etc/passwd", "a/../../b"])
def test_a_revision_is_no_path(revision: str) -> None:
    assert "no commit, tag or branch" in refused({"models": {"m": {"path": "a/b", "revision": revision}}})


NAMES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "study": lambda name: {"study": name},
    "models": lambda name: {"models": {name: {"path": "x"}}},
    "pairs.sets": lambda name: {"pairs": {"sets": {name: {"path": "x"}}}},
    "static.vectors": lambda name: {"static": {"vectors": {name: {"path": "x"}}}},
    "construction.annotators": lambda name: {"construction": {"annotators": [name, "b"]}},
    "construction.pairs": lambda name: {"construction": {"pairs": name}},
    "samples.lengths": lambda name: {"samples": {"lengths": [name]}},
    "language": lambda name: {"language": name},
    "construction.into": lambda name: {"construction": {"into": name}},
    "report.formats": lambda name: {"report": {"formats": [name]}},
}


@pytest.mark.parametrize("key", sorted(NAMES))
@pytest.mark.parametrize(
    "name",
    [
        *(
            "../x",
            "..",
            ".",
            "/etc/x",
            "a/b",
            "a\\b",
            "",
            " ",
            "a b",
            "a\n",
            "a\0",
            "\x1b[2J",
            "\u202ea",
            "\ud800",
            "ফ/ল",
        ),
        *("{model}", "*", "$HOME", "a" * 300, 7.5, None, True, ["a"]),
    ],
)
def test_names_that_become_part_of_a_path(key: str, name: Any) -> None:
    if key == "construction.pairs" and name is None:
        return
    try:
        config = NAMES[key](name)
    except TypeError:  # a list is no key
        return
    message = refused(config)
    assert key.partition(".")[0] in message


# ---- values


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"seed": float("nan")}, "`seed` is nan"),
        ({"associations": {"band": float("nan")}}, "`associations.band` is nan, which is no number"),
        ({"associations": {"band": float("inf")}}, "is inf"),
        ({"seed": 10**30}, "more than 63 bits"),
        ({"seed": "9" * 6000}, "`seed` is"),
        ({"seed": 16**6000}, "more than 63 bits"),
        ({"associations": {"n_samples": 10**12}}, "at most 10000000"),
        ({"associations": {"band": "1" + "0" * 400}}, "`associations.band` is"),
        ({"title": yaml.safe_load("2024-01-01")}, "which YAML reads as a date"),
        ({"title": b"x"}, "which YAML reads as bytes"),
        ({"categories": {"C1", "C2"}}, "which YAML reads as a set"),
        ({"models": {1: {"path": "x"}}}, "has the key 1, which YAML reads as a number"),
        ({"models": {True: {"path": "x"}}}, "which YAML reads as a truth value"),
        ({None: 1}, "which YAML reads as nothing"),
        ({"title": True}, "`title` is True"),
        ({"language": False}, "`language` is False"),
        ({"title": "a\x1b]0;b\x07"}, "the character U+001B at place 2"),
        ({"note": "a\u202eb"}, "U+202E"),
        ({"note": "a\ud800"}, "U+D800"),
        ({"lexicon": {"stimuli": "a\nb"}}, "U+000A"),
        ({"title": "x" * 30_000}, "30000 characters"),
        ({"x" * 5000: 1}, "unknown key"),
        ({"categories": [str(n) for n in range(3000)]}, "3000 entries"),
    ],
)
def test_values_that_are_none(config: dict[Any, Any], words: str) -> None:
    message = refused(config)
    assert words in message
    assert len(message) < 4000


def test_depth_and_aliases() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert "deep in each other" in refused({"categories": deep})
    bomb: Any = ["x"] * 9
    for _ in range(20):
        bomb = [bomb] * 9
    assert "once its aliases are followed" in refused({"categories": bomb})


def test_whole_numbers_may_be_written_as_others_write_them() -> None:
    for written in (1000, 1000.0, "1000", "+1000"):
        found = complete({"associations": {"n_samples": written}}, SCHEMA)["associations"]["n_samples"]
        assert found == 1000
        assert isinstance(found, int)


# ---- files

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("study: a\nseed: 1\nstudy: b\n", ("line 3: the key `study` stands twice (first: line 1)",)),
        ("corpus:\n  root: a\n  root: b\n", ("line 3: the key `root` stands twice",)),
        ('{"study": "a", "study": "b"}', ("the key `study` stands twice",)),
        ("study: !!python/object/apply:os.system [id]\n", ("line 1: the tag", "python/object/apply:os.system")),
        ("study: !!python/name:os.system\n", ("line 1: the tag",)),
        ("study: !evil x\n", ("line 1: the tag `!evil`",)),
        ("study: !!binary aGk=\n", ("line 1: the tag `!!binary`",)),
        ("categories: !!set {a, b}\n", ("line 1: the tag `!!set`",)),
        (BOMB, ("values once its aliases",)),
        ("a: &a [*a]\n", ("the alias `*a` stands before its anchor",)),
        ("a: &a {b: *a}\n", ("the alias `*a`",)),
        ("a: *b\n", ("line 1", "b")),
        ("[" * 1000, ("deep in each other",)),
        ("{a: " * 1000, ("deep in each other",)),
        ("a: [1\nb: 2\n", ("line ", "not YAML")),
        ("a:\t- b\n\tc: d\n", ("line 1", "not YAML")),
        ("a: 1\n\tb: 2\n", ("line 2: not YAML: a tab, where YAML has spaces",)),
        ("a: 2024-13-45\n", ("looks like a number or a date",)),
        ("a: " + "9" * 5000 + "\n", ("looks like a number or a date",)),
        ("a: \x1b[2J\n", ("not YAML",)),
        ("a: 1\n---\nb: 2\n", ("line 2: a second document",)),
        ("? [a, b]\n: 1\n", ("a key is a list or a mapping",)),
        ("- a\n- b\n", ("found a list",)),
        ("", ("found nothing",)),
        ("just text\n", ("found a str",)),
        ("__use_yte__: true\nstudy: ?open('canary', 'w').write('x') and 'a'\n", ("__use_yte__", "Python expressions")),
    ],
)
def test_yaml_that_is_more_than_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_config("c.yaml")
    message = str(caught.value)
    assert message.startswith("c.yaml")
    for word in words:
        assert word in message
    assert not Path("canary").exists()


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"study: a\nnote: \xff\n")
    with pytest.raises(InputError, match=r"c\.yaml, line 2: not UTF-8"):
        read_config(path)
    for odd in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_config(odd)


def test_merge_keys_and_anchors_are_plain_data(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\n")
    assert read_config(path) == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": [{"x": 1, "y": 2}] * 2}


@pytest.mark.parametrize("path", ["config.yaml", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("config/*.yaml"))])
def test_the_configs_that_are_shipped_are_good_ones(path: str) -> None:
    complete(read_config(ROOT / path), SCHEMA)


def test_a_stranger_s_config_can_be_looked_at_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    bad = tmp_path / "bad.yaml"
    bad.write_text("study: ../x\n")
    assert main(["config.yaml"]) == 0
    assert main([str(bad), "config.yaml"]) == 1
    said = capsys.readouterr()
    assert "`study` is '../x'" in said.err
    assert said.out.count("plain data") == 2


# ---- as a user meets them


@pytest.fixture(scope="module")
def study(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    made = copy_code(project_root, tmp_path_factory.mktemp("hostile") / "tree", link_source=True)
    made.configure(SMALL)
    return made


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text + "\nseed: 1\nseed: 2\n", "the key `seed` stands twice"),
        (lambda text: text.replace("study:", "__use_yte__: true\nstudy:"), "__use_yte__"),
        (lambda text: text.replace("root: .", "root: ../elsewhere"), "`outside: [../elsewhere]`"),
    ],
)
def test_a_plan_ends_with_a_sentence(study: Study, change: Callable[[str], str], words: str) -> None:
    path = study.root / "config.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text(change(before), encoding="utf-8")
    try:
        done = study.snakemake("--dry-run")
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (study.root / "results").exists()


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("key", "targets"),
    [
        pytest.param("corpus.root", [], marks=pytest.mark.long),
        pytest.param("lexicon.stimuli", [], marks=pytest.mark.long),
        pytest.param("models.m.path", [], marks=pytest.mark.long),
        pytest.param("pairs.sets.p.path", [], marks=pytest.mark.long),
        ("construction.returned", ["score_annotations"]),
    ],
)
def test_a_path_that_may_not_be_searched_is_named(study: Study, key: str, targets: list[str]) -> None:
    if why := why_not("ordinary user"):
        pytest.skip(why)
    changed, locked = study.copy(study.root.with_name(key)), "locked/inner"
    changed.configure(PATHS[key](locked))
    (changed.root / locked).mkdir(parents=True)
    (changed.root / "locked").chmod(0)
    with Surroundings("ordinary user", 1, "").around(changed.root) as around:
        run = Run(changed, "--dry-run", *targets, around=around)
        said = run.wait()
    (changed.root / "locked").chmod(0o755)
    assert run.code != 0
    assert locked in said
    assert "chmod" in said or "Permission denied" in said
    assert "Traceback" not in said
    assert "defect" not in said


@pytest.mark.workflow
def test_a_defect_of_ours_while_planning_is_said_to_be_one(study: Study) -> None:
    rule = study.root / "rules/common.smk"
    before = rule.read_text(encoding="utf-8")
    rule.write_text(before.replace("STUDY = readable(partial(Study", "STUDY = readable(partial(lambda *_, **__: 1 / 0"))
    try:
        done = study.snakemake("--dry-run")
    finally:
        rule.write_text(before)
    said = done.stdout + done.stderr
    assert "a defect of prasanga" in said
    assert "ZeroDivisionError" in said
    assert "Traceback" not in said
    assert "Traceback (most recent call last)" in (study.root / "logs/planning.log.traceback").read_text()


def test_looking_at_a_config_compares_it_with_the_schema_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    for named, code, words in ((["c.yaml"], 1, "nonsense"), ([], 2, "Name the config to look at")):
        done = subprocess.run(
            [sys.executable, "-m", "prasanga.base.config", *named],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (code, "")
        assert words in done.stderr


def test_a_config_that_cannot_be_compared_is_not_said_to_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("prasanga.base.config._SCHEMA", tmp_path / "absent.yaml")
    (tmp_path / "c.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    assert main([str(tmp_path / "c.yaml")]) == 0
    assert "plain data, and not compared with the schema" in capsys.readouterr().out


def test_looking_at_a_config_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"__use_yte__": True, "study": "?open('canary', 'w').write('x')"}))
    done = subprocess.run(
        [sys.executable, "-m", "prasanga.base.config", "c.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "__use_yte__" in done.stderr
    assert not (tmp_path / "canary").exists()
