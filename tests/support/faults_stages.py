"""A study of one small text, stage by stage: what each job is given, and the folder in which all of them have run."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults_jobs import Job, run_job

from prasanga.config import complete
from prasanga.lexicon.model import stimuli_of
from prasanga.sentences.files import find_shards
from prasanga.sentences.manifest import update_manifest

TEXT = "corpus/text.txt"
MANIFEST = "results/corpus.json"
_BYTES = 90_000  # of the demo's text
_PAIRS = 12
_CONFIG: dict[str, Any] = {
    "language": "bn",
    "lexicon": {"stimuli": "resources/stimuli/bn", "suffix_groups": "resources/suffix_groups/bn.yaml"},
    "corpus": {"root": ".", "texts": [{"files": TEXT, "documents": "blank-line"}]},
    "normalization": {"bn": "bangla"},
    "categories": ["C1", "C5"],
    "samples": {"lengths": [9, 25], "contexts_per_stimulus": 3},
    "models": {"tiny": {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 4, "seed": 1}}},
    "embeddings": {"buckets": 1, "audit": {"unknown": 1, "marks_lost": 1, "identical": 1}},
    "associations": {"n_samples": 40, "n_resamples": 20, "n_shuffles": 20, "random_twins": 0},
    "static": {"vectors": {"glove": {"train": {"method": "glove", "dimensions": 8, "epochs": 2, "minimum_count": 2}}}},
    "pairs": {"sets": {"demo": {"path": "corpus/pairs.csv", "languages": ["bn"]}}, "n_resamples": 20},
}


@dataclass(frozen=True)
class Bench:
    """A folder with the code, the text and the results of all jobs.

    Attributes:
        root: the working directory of the jobs.
        jobs: by the name of the stage, in the order in which they run.
    """

    root: Path
    jobs: dict[str, Job]

    def copy(self, root: Path) -> Bench:
        """The same elsewhere; the code is shared."""
        shutil.copytree(self.root, root, symlinks=True)
        return Bench(root, self.jobs)

    def contents(self, name: str) -> dict[str, bytes]:
        """The bytes of a stage's outputs, by path; those that are not there are left out."""
        return {path: file.read_bytes() for path in self.jobs[name].outputs if (file := self.root / path).is_file()}

    def forget(self, name: str) -> None:
        """Remove what a stage has made, as Snakemake does before a job."""
        for path in self.jobs[name].outputs:
            (self.root / path).unlink(missing_ok=True)


def build_bench(project_root: Path, root: Path) -> Bench:
    """Run every stage once, undisturbed.

    Raises:
        AssertionError: a stage failed.
    """
    root.mkdir(parents=True)
    for name in ("src", "workflow", "resources"):  # a copy, so that an edit of the tree is no other result
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(project_root / name, root.parent / "code" / name, ignore=ignored)
        (root / name).symlink_to(root.parent / "code" / name, target_is_directory=True)
    (root / "corpus").mkdir()
    text = (project_root / "resources/demo/corpus/bn/news.txt").read_bytes()[:_BYTES]
    (root / TEXT).write_bytes(text[: text.rindex(b"\n\n")] + b"\n")
    header, *pairs = (project_root / "resources/demo/pairs.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    bangla = [pair for pair in pairs if ",bn," in pair]
    (root / "corpus/pairs.csv").write_text("".join([header, *bangla[:_PAIRS]]), encoding="utf-8")
    jobs: dict[str, Job] = {}
    bench = Bench(root, jobs)
    for name, job in _jobs(root, project_root):
        code, printed = run_job(job, root)
        assert code == 0, f"{name}:\n{printed}"
        missing = [path for path in job.outputs if not (root / path).is_file()]
        assert not missing, f"{name} has not written {missing}:\n{printed}"
        jobs[name] = job
    return bench


def _jobs(root: Path, project_root: Path) -> Any:
    config = complete(_CONFIG)
    here = Path.cwd()
    os.chdir(root)  # paths in results are relative to the working directory of a run
    try:
        shard = find_shards(".", config["corpus"]["texts"], 10**9, "corpus.texts").popitem()[1]
    finally:
        os.chdir(here)
    plain_shard = {**shard._asdict(), "columns": list(shard.columns), "text": 0}
    manifest = {"manifest": str(root / MANIFEST), "files": [str(root / TEXT)]}
    digest = update_manifest(**manifest)[str(root / TEXT)]
    (root / MANIFEST).unlink()
    lexicon = {**config["lexicon"], "normalization": "bangla"}
    lexicon = {key: lexicon[key] for key in ("stimuli", "suffix_groups", "normalization")}
    words = sorted(str(path.relative_to(project_root)) for path in (project_root / lexicon["stimuli"]).iterdir())
    text = {"normalization": "bangla", "replacements": {}, "errors": "stop"}
    yield (
        "lexicon",
        Job(
            "compile_forms",
            input=[*words, lexicon["suffix_groups"]],
            output={"table": "results/lexicon/forms.parquet", "for_spreadsheets": "results/lexicon/forms.tsv"},
            params={"version": {}, "lexicon": lexicon},
        ),
    )
    yield (
        "categories",
        Job(
            "compile_categories",
            input=words,
            output=["results/lexicon/categories.json"],
            params={"lexicon": lexicon},
        ),
    )
    yield (
        "manifest",
        Job(
            "prasanga.sentences.manifest:update_manifest",
            output=[MANIFEST],
            params={"manifest": MANIFEST, "files": [TEXT]},
        ),
    )
    yield (
        "sentences",
        Job(
            "extract_sentences",
            input={"corpus": TEXT, "forms": "results/lexicon/forms.parquet"},
            output={"sentences": "results/sentences/text.parquet", "counts": "results/sentences/text.json"},
            params={
                "version": {},
                "extraction": {
                    **{key: config["sentences"][key] for key in ("match", "neighbours", "before", "after")},
                    "language": "bn",
                    **text,
                    "shard": plain_shard,
                    "digest": digest,
                    "manifest": MANIFEST,
                },
            },
        ),
    )
    categories = json.loads((root / "results/lexicon/categories.json").read_text(encoding="utf-8"))
    chosen = {name: categories[name] for name in config["categories"]}
    yield (
        "samples",
        Job(
            "draw_samples",
            input={"sentences": ["results/sentences/text.parquet"], "supplement": []},
            output={
                "drawn": "results/samples/drawn.json",
                "segments": ["results/samples/9/00.parquet", "results/samples/25/00.parquet"],
                "coverage": "results/samples/coverage.parquet",
                "forms": "results/samples/forms.parquet",
            },
            params={
                "version": {},
                "sampling": {**config["samples"], "seed": 47, "stimuli": stimuli_of(chosen), "buckets": 1},
            },
        ),
    )
    names = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "training.json")
    model_files = [f"results/models/tiny/{name}" for name in names]
    yield (
        "training",
        Job(
            "../../calibration/scripts/train_model",
            input={"corpus": [TEXT]},
            output=model_files,
            params={
                "training": {
                    **config["models"]["tiny"]["train"],
                    "kind": "encoder",
                    **text,
                    "shards": [plain_shard],
                    "digests": [digest],
                }
            },
        ),
    )
    occurrences = "results/lexicon/occurrences.parquet"
    yield (
        "occurrences",
        Job(
            "count_forms",
            input={"corpus": [TEXT], "forms": "results/lexicon/forms.parquet", "templates": []},
            output=[occurrences],
            params={
                "version": {},
                "sampling": {
                    **{key: config["sentences"][key] for key in ("match", "neighbours")},
                    **{key: text[key] for key in ("normalization", "replacements")},
                    "shards": [plain_shard],
                    "digests": [digest],
                },
            },
        ),
    )
    model = config["models"]["tiny"]
    names = ("kind", "tokenizer", "weights_sha256", "remote_code", "quantization")
    which = {
        "model": "results/models/tiny",
        "revision": None,
        "options": {key: model[key] for key in names},
    }
    report = "results/models/tiny.json"
    yield (
        "check",
        Job(
            "check_model",
            input={"forms": occurrences, "files": model_files[:4]},
            output={
                "report": report,
                "tokenizer": "results/models/tiny.tokenizer.json",
                "words": "results/models/tiny.tokenizer.parquet",
            },
            params={
                "version": {},
                "check": {
                    **which,
                    "dtype": "float32",
                    "layers": [-1],
                    "audit": config["embeddings"]["audit"],
                    "language_codes": model["language_codes"],
                    "stages": ["embeddings", "likelihoods"],
                    "kinds": ["encoder"],
                    "masked": ["encoder"],
                    "sentence_vector": None,
                },
            },
            wildcards={"family": "tiny"},
        ),
    )
    options = {key: value for key, value in which["options"].items() if key != "kind"}
    shard_of_vectors = "results/embeddings/tiny/9/00.parquet"
    yield (
        "embeddings",
        Job(
            "embed_segments",
            input={"segments": ["results/samples/9/00.parquet"], "model": report},
            output={"vectors": [shard_of_vectors], "left_out": ["results/embeddings/tiny/9/00.left_out.tsv"]},
            params={
                "embedding": {
                    **which,
                    "options": options,
                    "layer": -1,
                    "layers": [-1],
                    "dtype": "float32",
                    "pieces": model["pieces"],
                    **{key: config["embeddings"][key] for key in ("stored_dtype", "unknown")},
                }
            },
            wildcards={"model": "tiny", "bucket": "00"},
            folders=("results/store",),
        ),
    )
    listed = "results/embeddings/tiny/9.json"
    yield "list", Job("list_embeddings", input={"vectors": [shard_of_vectors]}, output=[listed])
    names = ("n_samples", "sample_modes", "variance", "tau2", "draws", "repeated_words", "band")
    test_names = (
        "std",
        "alternative",
        "statistic",
        "n_permutations",
        "interval",
        "n_resamples",
        "resample_attributes",
        "n_shuffles",
    )
    test = {name: config["associations"][name] for name in test_names}
    estimates = "results/associations/ceat/tiny/9.parquet"
    yield (
        "associations",
        Job(
            "measure_ceat",
            input={"embeddings": listed, "all_embeddings": [listed], "categories": "results/lexicon/categories.json"},
            output={
                "estimates": estimates,
                **{
                    name: f"results/associations/ceat/tiny/9.{name}.parquet"
                    for name in ("words", "resamples", "convergence")
                },
            },
            params={
                "ceat": {
                    **{key: config["associations"][key] for key in names},
                    "test": test,
                    **{key: config["samples"][key] for key in ("pool", "window")},
                    **{key: config["sentences"][key] for key in ("match", "neighbours")},
                    "pieces": model["pieces"],
                    "seed": 47,
                    "categories": config["categories"],
                    "segment_length": "9",
                    "n_twins": None,
                }
            },
            wildcards={"model": "tiny", "length": "9"},
        ),
    )
    yield (
        "gathering",
        Job(
            "gather_estimates",
            input={
                "estimates": [estimates],
                "twins": [],
                "words": ["results/associations/ceat/tiny/9.words.parquet"],
                "others": [],
                "coverage": [],
                "tokenizers": [],
            },
            output={
                "parquet": "results/associations/ceat.parquet",
                "csv": "results/associations/ceat.csv",
                "words": "results/associations/ceat_words.parquet",
            },
            params={"twin_of": [], "tokenizers": {}},
            wildcards={"stage": "associations", "method": "ceat"},
        ),
    )
    yield (
        "report",
        Job(
            "write_tables",
            input=["results/associations/ceat.parquet"],
            output=[f"results/report/tables/ceat.{ending}" for ending in ("csv", "md", "tex")],
        ),
    )
    yield (
        "copies",
        Job(
            "collect_data",
            input=["results/associations/ceat.parquet"],
            output=["results/report/data/ceat_estimates.parquet"],
        ),
    )
    cut = ["results/static/corpus.txt"]
    yield (
        "cutting",
        Job(
            "cut_corpus",
            input={"corpus": [TEXT]},
            output=cut,
            params={
                "version": {},
                "cutting": {
                    "language": "bn",
                    **text,
                    "shards": [plain_shard],
                    "digests": [digest],
                    "manifest": MANIFEST,
                },
            },
        ),
    )
    yield (
        "static",
        Job(
            "train_static",
            input=cut,
            output=["results/static/glove.vectors.parquet"],
            params={"version": {}, "training": dict(sorted(config["static"]["vectors"]["glove"]["train"].items()))},
        ),
    )
    yield (
        "lookup",
        Job(
            "read_static",
            input={"words": words, "trained": "results/static/glove.vectors.parquet"},
            output=["results/static/glove.parquet"],
            params={
                "reading": {
                    **lexicon,
                    "pooling": config["static"]["forms"],
                    "format": "auto",
                }
            },
        ),
    )
    yield (
        "weat",
        Job(
            "measure_weat",
            input={"vectors": "results/static/glove.parquet", "categories": "results/lexicon/categories.json"},
            output={
                "estimates": "results/associations/weat/glove.parquet",
                "words": "results/associations/weat/glove.words.parquet",
            },
            params={
                "weat": {
                    "categories": config["categories"],
                    "test": test,
                    "forms": config["static"]["forms"],
                    "source": "the study's corpus",
                    "seed": 47,
                }
            },
            wildcards={"vectors": "glove"},
        ),
    )
    yield (
        "pairs",
        Job(
            "read_pairs",
            input=["corpus/pairs.csv"],
            output={
                "pairs": "results/pairs/demo.parquet",
                "oddities": "results/pairs/demo.oddities.parquet",
                "csv": "results/pairs/demo.oddities.csv",
            },
            params={
                "version": {},
                "pairs": {
                    **{key: config["pairs"]["sets"]["demo"][key] for key in ("layout", "languages")},
                    "spoken": config["language"],
                },
            },
        ),
    )
    settings = {key: config["pairs"][key] for key in ("reduction", "pieces", "punctuation", "unknown")}
    scores = "results/likelihoods/pairs/demo/tiny.parquet"
    yield (
        "scores",
        Job(
            "score_pairs",
            input={"pairs": "results/pairs/demo.parquet", "model": report, "buckets": []},
            output=[scores],
            params={
                "version": {},
                "scoring": {
                    "which": {**which, "options": options, "dtype": "float32", "files": {}},
                    "measures": {"encoder": config["pairs"]["encoder"]},
                    **settings,
                    "normalization": config["normalization"],
                    "language_codes": model["language_codes"],
                    "name": "tiny",
                },
            },
            wildcards={"set": "demo", "model": "tiny"},
            folders=("results/likelihoods/kept",),
        ),
    )
    yield (
        "likelihoods",
        Job(
            "measure_bias_percentages",
            input={"scores": [scores], "twins": []},
            output={
                "percentages": "results/likelihoods/bias_percentages.parquet",
                "differences": "results/likelihoods/pair_differences.parquet",
                "csv": "results/likelihoods/bias_percentages.csv",
            },
            params={
                "bias": {
                    **{key: config["pairs"][key] for key in ("n_runs", "share", "n_resamples", "ties")},
                    "seed": 47,
                },
                "twin_of": {},
            },
        ),
    )
