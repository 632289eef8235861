"""Other ways to embed on a processor, side by side: `python tests/benchmarks/processor.py --folder FOLDER`.

FOLDER is a model as transformers writes it (`write_packaged_model("multilingual-e5-small", FOLDER)` writes one). All
ways run the same batches of segments, in turns, and the least processor time counts for each; beside them stand the
cosine to the vectors that float32 gives, and how far effect sizes move. onnxruntime (with onnx, onnxscript) and
openvino are no dependencies: they are measured where they are installed.

What is measured without another program: one text at a time (the simple way without a vocabulary head), bfloat16, int8
made by torch as the text is run, and the model without its last block, the most that could be gained by computing that
for the targets' rows alone. Also the share of padding in batches, and the rate of float32 products at the shapes of the
model.
"""

from __future__ import annotations

import argparse
import copy
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from embeddings import cut, read_text
from gpu import least_cosine, padding_of
from measured import write_measured

from prasanga.associations import effect_size
from prasanga.embeddings import load_encoder
from prasanga.embeddings.encoder import mean_of, place
from prasanga.embeddings.pooling import Inputs, Pooling
from prasanga.models.batches import pad, plan_batches
from prasanga.models.shape import quiet, use_onednn

Vectors = np.ndarray
Way = Callable[[], Vectors]
#: Divisions of the segments into four sets of which effect sizes are compared.
DIVISIONS = 100
#: Segments of which the share of the rate of products is measured.
MANY = 512


class Batches:
    """Segments as the encoder reads them, as tables of pieces and masks."""

    def __init__(self, inputs: Inputs, dimension: int, budget: int, padding: int) -> None:
        self._inputs, self._dimension = inputs, dimension
        self.lengths = [len(ids) for ids in inputs.ids]
        self._rows = plan_batches(self.lengths, budget)
        self.feeds = [tuple(table.astype(np.int64) for table in pad(inputs.ids[rows], padding)) for rows in self._rows]

    def vectors(self, run: Callable[[Any, Any], Any]) -> Vectors:
        """The targets' vectors from states (rows, length, d), which `run` gives for pieces and mask."""
        found = np.empty((len(self._inputs.row), self._dimension), np.float32)
        for rows, (table, mask) in zip(self._rows, self.feeds, strict=True):
            states = torch.as_tensor(run(table, mask))
            within = (self._inputs.row >= rows.start) & (self._inputs.row < rows.stop)
            mine, counts = np.flatnonzero(within), self._inputs.counts[within]
            positions = self._inputs.positions[np.repeat(within, self._inputs.counts)]
            places = place(self._inputs.row[mine] - rows.start, positions, counts, states.device)
            found[mine] = mean_of(states, places).numpy()
        return found


@torch.inference_mode()
def states_of(model: Any, table: Any, mask: Any) -> Any:
    """The states that a torch model gives."""
    attended = None if mask.all() else torch.from_numpy(mask)
    return model(input_ids=torch.from_numpy(table), attention_mask=attended).last_hidden_state


@torch.inference_mode()
def one_at_a_time(model: Any, inputs: Inputs) -> Vectors:
    """The simple way: a text, its states, the mean of a few of its rows."""
    found = []
    for row, positions in zip(inputs.row, np.split(inputs.positions, np.cumsum(inputs.counts)[:-1]), strict=True):
        ids = torch.from_numpy(inputs.ids[row])[None]
        states = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        found.append(states[0, positions].mean(0).numpy())
    return np.stack(found)


def ways_of_torch(
    folder: Path, encoder: Any, plain: Any, inputs: Inputs, batches: Batches
) -> Iterator[tuple[str, Way]]:
    """The simple way, and what torch itself offers; `plain` is the model as transformers loads it."""
    model = encoder.loaded.encoder
    yield "one text at a time, float32", lambda: one_at_a_time(plain, inputs)
    yield "ours, products by MKL, float32", lambda: batches.vectors(partial(states_of, plain))
    with quiet():
        half = load_encoder(folder, device="cpu", dtype="bfloat16")
    yield "bfloat16", lambda: half.run(inputs)[0]
    short = copy.copy(model)
    short._modules = dict(model._modules)
    stack = copy.copy(model.encoder)
    stack._modules = {**model.encoder._modules, "layer": model.encoder.layer[:-1]}
    short._modules["encoder"] = stack
    yield "without the last block", lambda: batches.vectors(partial(states_of, short))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rounded = torch.ao.quantization.quantize_dynamic(copy.deepcopy(plain), {torch.nn.Linear}, dtype=torch.qint8)
    yield "int8 of torch", lambda: batches.vectors(partial(states_of, rounded))


def ways_of_others(plain: Any, batches: Batches, folder: Path, threads: int) -> Iterator[tuple[str, Way]]:
    """onnxruntime in float32 and int8, openvino in float32 and bfloat16, from one exported file."""
    import onnxruntime
    import openvino
    from onnxruntime.quantization import QuantType, quantize_dynamic

    class States(torch.nn.Module):
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    names, axes = ["input_ids", "attention_mask"], {0: "rows", 1: "length"}
    exact, rounded = folder / "exact.onnx", folder / "rounded.onnx"
    torch.onnx.export(
        States(plain).eval(),  # export would leave the model as it found this: in training
        tuple(map(torch.from_numpy, batches.feeds[0])),
        exact,
        input_names=names,
        output_names=["states"],
        dynamic_axes=dict.fromkeys([*names, "states"], axes),
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(exact, rounded, weight_type=QuantType.QInt8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    for name, file in (("onnxruntime, float32", exact), ("onnxruntime, int8", rounded)):
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

        def run(table: Any, mask: Any, session: Any = session) -> Any:
            return session.run(["states"], {"input_ids": table, "attention_mask": mask})[0]

        yield name, partial(batches.vectors, run)
    model = openvino.Core().read_model(exact)
    for hint, name in (("f32", "openvino, float32"), ("bf16", "openvino, bfloat16")):
        settings = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
        compiled = openvino.Core().compile_model(model, "CPU", settings)

        def infer(table: Any, mask: Any, compiled: Any = compiled) -> Any:
            return np.array(compiled({"input_ids": table, "attention_mask": mask})[0])

        yield name, partial(batches.vectors, infer)


def effects(vectors: Vectors) -> Vectors:
    """The effect sizes of `DIVISIONS` random divisions of the vectors into four sets."""
    rng = np.random.default_rng(1)
    return np.array([effect_size(*np.array_split(vectors[rng.permutation(len(vectors))], 4)) for _ in range(DIVISIONS)])


def take_turns(ways: dict[str, Way], rounds: int) -> tuple[dict[str, float], dict[str, Vectors]]:
    """The least processor time of each after a warm-up, and what each gives."""
    least, found = dict.fromkeys(ways, float("inf")), {}
    for number in range(rounds + 1):
        for name, way in ways.items():
            began = time.process_time()
            found[name] = way()
            if number:
                least[name] = min(least[name], time.process_time() - began)
    return least, found


@torch.inference_mode()
def rate_of_products(pieces: int, width: int, inner: int) -> float:
    """FLOP a second of processor time of the model's float32 products, all shapes of a block together."""
    flop = seconds = 0.0
    for wide, high, count in ((width, width, 4), (width, inner, 1), (inner, width, 1)):
        given, layer, took = torch.randn(pieces, wide), torch.nn.Linear(wide, high), []
        use_onednn(layer)
        for _ in range(12):
            began = time.process_time()
            layer(given)
            took.append(time.process_time() - began)
        flop, seconds = flop + count * 2 * pieces * wide * high, seconds + count * min(took)
    return flop / seconds


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="of a model of BERT's family")
    parser.add_argument("--words", type=int, default=25, help="of a segment (default: %(default)s)")
    parser.add_argument("--segments", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured there")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    segments = cut(read_text(), asked.words, asked.segments)
    with quiet():
        encoder = load_encoder(asked.folder, device="cpu", dtype="float32")
        plain = type(encoder.loaded.encoder).from_pretrained(asked.folder).eval()
    inputs, config = encoder.read(segments.texts, segments.spans, Pooling()), encoder.loaded.config
    batches = Batches(inputs, encoder.dimension, 2_048, encoder.loaded.tokenizer.pad_token_id)
    ways: dict[str, Way] = {"ours, float32": lambda: encoder.run(inputs)[0]}
    with TemporaryDirectory() as folder:
        ways |= dict(ways_of_torch(asked.folder, encoder, plain, inputs, batches))
        try:
            ways |= dict(ways_of_others(plain, batches, Path(folder), asked.threads))
        except ImportError as error:
            print(f"Not measured: {error}.\n")
        least, found = take_turns(ways, asked.rounds)
    results = table(least, found)
    width, inner, blocks = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    rate = rate_of_products(2_048, width, inner)
    many = cut(read_text(), asked.words, MANY)  # as in a study: with few, batches are not full
    of_many = encoder.read(many.texts, many.spans, Pooling())
    seconds = take_turns({"many": lambda: encoder.run(of_many)[0]}, 2)[0]["many"]
    lengths = [len(ids) for ids in of_many.ids]
    products = sum(lengths) * blocks * 2 * (4 * width**2 + 2 * width * inner)
    constants = {
        "gigaflops of float32 products at the shapes of the model": rate / 1e9,
        f"share of it that ours reaches, {MANY} segments": products / seconds / rate,
        f"share of padding, {asked.segments} segments": padding_of(batches.lengths, 2_048),
        f"share of padding, {MANY} segments": padding_of(lengths, 2_048),
    }
    print("\n".join(f"- {name}: {value:.3g}" for name, value in constants.items()))
    if asked.json:
        others = [f"{name} {version(name)}" for name in ("onnx", "onnxruntime", "openvino") if find_spec(name)]
        measured_on = (
            f"{asked.folder.name}: segments of {asked.words} words of the demo's text, {asked.threads} thread(s);"
            " seconds are those of the processor"
        )
        write_measured(asked.json, results, constants=constants, facts=[measured_on, ", ".join(others)])


def table(least: dict[str, float], found: dict[str, Vectors]) -> dict[str, dict[str, float]]:
    """Print and return what each way is, beside ours in float32."""
    first = next(iter(least))
    cells: Sequence[str] = ("way", "CPU s a segment", "times as fast as ours", "least cosine", "largest change of d")
    print(f"| {' | '.join(cells)} |\n{'| --- ' * len(cells)}|")
    results, expected = {}, effects(found[first])
    for name, seconds in least.items():
        row = results[name] = {
            "seconds_a_segment": seconds / len(found[name]),
            "times": least[first] / seconds,
            "least_cosine": least_cosine(found[name], found[first]),
            "largest_change_of_d": float(np.abs(effects(found[name]) - expected).max()),
        }
        print(f"| {name} | {' | '.join(f'{value:.3g}' for value in row.values())} |", flush=True)
    return results


if __name__ == "__main__":
    main()
