"""Archives that inflate without end, lines without end, and other corpora that would take all memory or all time."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import resource
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
import zstandard
from hostile_inputs import try_input

from prasanga.base.errors import InputError
from prasanga.lexicon.model import Lexicon, Stimulus, SurfaceForm
from prasanga.sentences import ExtractionReport, Shard, find_shards
from prasanga.sentences import corpus as limits
from prasanga.sentences.columns import arrow_texts, parquet_texts
from prasanga.sentences.corpus import open_decompressed
from prasanga.sentences.passages import extract_shard
from prasanga.sentences.records import read_texts
from prasanga.static.files import read_vectors

LEXICON = Lexicon("bn", (Stimulus("ফুল"),), {}, (SurfaceForm("ফুল", "ফুল"),), ())
LINE = "একটি ফুল ফুটেছে।\n".encode()
BLANK = b" " * 999 + b"\n"


@pytest.fixture(autouse=True)
def low_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than what is read of any file otherwise, so that the tests are quick; the ratio is what it is."""
    monkeypatch.setattr(limits, "HARMLESS", 2_000_000)


def nothing(size: int) -> bytes:
    """Blank lines, which every format passes over; short ones, which are slow to read, only of little."""
    return b"\n" * size if size < 10_000_000 else BLANK * (size // len(BLANK))


def gz_bomb(size: int) -> bytes:
    return gzip.compress(nothing(size), 6)


def gz_of_members(size: int) -> bytes:
    return gzip.compress(BLANK * 100, 9) * (size // 100_000)


def zst_bomb(size: int) -> bytes:
    return bytes(zstandard.ZstdCompressor(level=3).compress(nothing(size)))


def xz_bomb(size: int) -> bytes:
    return lzma.compress(nothing(size), preset=0)


BOMBS: dict[str, Callable[[int], bytes]] = {".gz": gz_bomb, ".zst": zst_bomb, ".xz": xz_bomb}


def extracted(path: Path, format: str = "text", inflation: int = limits.INFLATION, errors: str = "stop") -> int:
    shard = Shard(str(path), path.name, "line", format, inflation=inflation)  # type: ignore[arg-type]
    options = {"lexicon": LEXICON, "normalization": "bangla", "language": "bn", "errors": errors}
    return sum(batch.num_rows for batch in extract_shard(shard, report=ExtractionReport(), **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("ending", sorted(BOMBS))
@pytest.mark.parametrize("format", ["text", "jsonl", "extracted"])
def test_an_archive_bomb_is_given_up(tmp_path: Path, ending: str, format: str) -> None:
    path = tmp_path / f"a.txt{ending}"
    size = 200_000_000 if ending == ".zst" else 8_000_000 if format == "extracted" else 40_000_000
    path.write_bytes(BOMBS[ending](size))
    with pytest.raises(InputError) as caught:
        extracted(path, format)
    message = str(caught.value)
    for words in (
        f"{path}: reading stopped at byte ",
        f"has {path.stat().st_size} bytes on the disk",
        "200 times as many",
        "archive bomb",
        "`inflation: 2000`",
    ):
        assert words in message
    stopped = int(message.split("stopped at byte ")[1].split()[0])
    assert 2_000_000 < stopped <= size
    assert format != "text" or stopped < size  # not the whole of it


def test_members_after_each_other_count_together(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gz_of_members(8_000_000))
    with pytest.raises(InputError, match="archive bomb"):
        extracted(path)


def test_the_limit_can_be_raised_and_lowered(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(LINE * 100_000, 9))
    times = len(LINE) * 500_000 // path.stat().st_size
    assert times > limits.INFLATION
    with pytest.raises(InputError, match="archive bomb"):
        extracted(path)
    assert extracted(path, inflation=times + 1) == 100_000


def test_text_as_it_is_comes_nowhere_near_the_limit(project_root: Path) -> None:
    text = b"".join(path.read_bytes() for path in sorted((project_root / "resources/demo/corpus/bn").glob("*.txt")))[
        :300_000
    ]
    for ending, compress in (
        (".gz", lambda data: gzip.compress(data, 9)),
        (".zst", zstandard.ZstdCompressor(level=12).compress),
        (".xz", lzma.compress),
    ):
        assert len(text) / len(compress(text)) < limits.INFLATION / 4, ending


def test_a_nested_archive_is_text_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(gzip.compress(LINE)))
    with pytest.raises(InputError, match="not UTF-8"):
        extracted(path)


def test_a_format_that_is_not_read_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.bz2"
    path.write_bytes(bz2.compress(LINE * 1000))
    with pytest.raises(InputError, match="not UTF-8"):
        extracted(path)


def test_training_and_vectors_have_the_limit_too(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(BLANK * 10_000, 6))
    with pytest.raises(InputError, match="archive bomb"):
        list(read_texts(Shard(str(path), "a", "line")))
    for name in ("v.txt.gz", "v.bin"):  # gzip under another name, too
        vectors = tmp_path / name
        vectors.write_bytes(gzip.compress(b"2 3\n" + b"a 1 2 3\n" * 500_000, 9))
        with pytest.raises(InputError, match="archive bomb"):
            read_vectors(vectors, ["b"])


def test_the_limit_of_the_config_reaches_the_shard(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(LINE)
    (shard,) = find_shards(tmp_path, [{"files": "a.txt", "inflation": 7}], 10**6).values()
    assert shard.inflation == 7
    (shard,) = find_shards(tmp_path, [{"files": "a.txt"}], 10**6).values()
    assert shard.inflation == 200


def test_a_zstandard_frame_that_wants_gigabytes_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.zst"
    # magic, a header without content size, and a window of 2^41 bytes
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(41 - 10) << 3]) + b"\x01\0\0")
    with pytest.raises(InputError, match="truncated or damaged"):
        extracted(path)


def test_an_xz_stream_that_wants_gigabytes_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    data = bytearray(lzma.compress(LINE, lzma.FORMAT_XZ, filters=filters))
    at = data.index(b"\x21\x01") + 2  # the size of the dictionary, in the block's header
    data[at] = 40  # 4 GB
    block = data[12 : 12 + (data[12] + 1) * 4]
    data[12 + len(block) - 4 : 12 + len(block)] = zlib.crc32(block[:-4]).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match="Memory usage limit"):
        extracted(path)


# ---- columns


def parquet(path: Path, texts: list[str], **options: object) -> Path:
    pq.write_table(pa.table({"text": texts}), path, **options)
    return path


def test_a_parquet_file_that_inflates(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", ["a" * 3_000_000 + str(n) for n in range(4)], compression="zstd")
    with pytest.raises(InputError, match=r"a\.parquet: reading stopped at byte \d+.*archive bomb"):
        extracted(path, "parquet")


def test_a_dictionary_of_one_long_text(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", ["ফুল " * 10_000] * 300, compression="zstd", use_dictionary=True)
    with pytest.raises(InputError, match="archive bomb"):
        extracted(path, "parquet")


def test_an_arrow_file_that_inflates(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"text": ["a" * 9_000_000]})
    with ipc.new_stream(path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="archive bomb"):
        extracted(path, "dataset")


def test_places_of_texts_that_lie_anywhere_in_memory(tmp_path: Path) -> None:
    """Arrow believes a file's offsets; before they were checked, this ended the process (found by the fuzzer)."""
    out = io.BytesIO()
    table = pa.table({"text": ["ফুল", "মা", "গোলাপ"]})
    with ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    data = out.getvalue()
    offsets = b"".join(n.to_bytes(4, "little") for n in (0, 9, 15, 30))
    assert data.count(offsets) == 1
    path = tmp_path / "a.arrow"
    for lie in ((0, 9, 2**31 - 1, 2**31 - 1), (0, 9, 15, 2**30), (-5, 9, 15, 30), (0, 29, 15, 30)):
        path.write_bytes(data.replace(offsets, b"".join(n.to_bytes(4, "little", signed=True) for n in lie)))
        with pytest.raises(InputError, match=r"a\.arrow: cannot be read as Arrow"):
            extracted(path, "dataset")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2]),
        pa.array([["a"]]),
        pa.array([b"\xff\xfe"]),
        pa.array([{"a": "b"}]),
        pa.nulls(3),
        pa.array([1.5]),
    ],
)
def test_columns_of_wrong_types(tmp_path: Path, column: pa.Array) -> None:
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="where text"):
        extracted(tmp_path / "a.parquet", "parquet")


# ---- lines


def test_a_line_of_a_million_characters_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ফুল " + "কথা " * 250_000 + "\n", encoding="utf-8")
    assert extracted(path) >= 1


@pytest.mark.parametrize("format", ["text", "jsonl", "extracted"])
def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    for module in ("passages", "corpus"):
        monkeypatch.setattr(f"prasanga.sentences.{module}.LONGEST_LINE", 1_500_000)
    path = tmp_path / "a.txt"
    first = LINE if format != "extracted" else b"word,sentence\n"
    path.write_bytes(first + b"a" * 4_000_000)
    with pytest.raises(InputError, match=rf"a\.txt: the line that begins at byte {len(first)} .* 1500000 bytes"):
        extracted(path, format, errors="skip-line")
    with pytest.raises(InputError, match="the line that begins at byte"):
        list(read_texts(Shard(str(path), "a", "line")))


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"text":' * 50_000,
        b'{"text": "\\ud800"}',
        b'{"text": 1e999}',
        b'{"text": ' + b"9" * 100_000 + b"}",
        b'{"text": NaN}',
        b"\0",
        b'{"text": null}',
        b'"text"',
    ],
)
def test_json_that_is_no_record(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    good = json.dumps({"text": LINE.decode()}).encode()
    path.write_bytes(line + b"\n" + good + b"\n")
    with pytest.raises(InputError, match=r"a\.jsonl: line 1 "):
        extracted(path, "jsonl")
    assert extracted(path, "jsonl", errors="skip-line") == 1


@pytest.mark.parametrize(
    "text",
    [
        "ফুল\0ফুল ফুল\n",
        "\u202eফুল\u202c ফুল\n",
        "ফুল" + "\u0301" * 50_000 + " ফুল\n",
        "\x1b[2Jফুল\x07 ফুল\n",
        "ফুল\u2028ফুল\u0085ফুল\n",
        "\ufeff\ufeffফুল\n",
        "ফুল।" * 20_000,
        "." * 300_000 + "ফুল",
        "\u200d\u200c" * 50_000 + " ফুল",
        "ফুল \U000e0001\U0010ffff\ufdd0\n",
    ],
)
def test_characters_that_no_text_should_have(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    message = try_input("corpus: characters", lambda: extracted(path), str(path))
    assert message is None
    assert open_decompressed(path).read().decode() == text


@pytest.mark.parametrize("ending", sorted(BOMBS))
def test_cut_or_damaged_archives(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.txt{ending}"
    whole = BOMBS[ending](1000)
    for data in (whole[:-3], whole[:4], whole + b"more", b"\0" * 50, b""):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"a\.txt\."):
            extracted(path)


# ---- columns that come to more than they are


@contextmanager
def little_memory() -> Iterator[None]:
    """At most 400 MB more than the process has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 400_000_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def arrow(path: Path, table: pa.Table, is_file: bool, compression: str | None = "zstd") -> Path:
    opened = ipc.new_file if is_file else ipc.new_stream
    with opened(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return path


LONG = "ফ" * 1_500_000
NAMED = pa.DictionaryArray.from_arrays(pa.array([0] * 256, pa.int8()), pa.array([LONG]))
ONE_VIEW = pa.array([LONG], pa.string_view()).buffers()
VIEWS = pa.Array.from_buffers(
    pa.string_view(), 256, [None, pa.py_buffer(ONE_VIEW[1].to_pybytes()[:16] * 256), *ONE_VIEW[2:]]
)


@pytest.mark.parametrize("is_file", [True, False])
@pytest.mark.parametrize("column", [NAMED, VIEWS], ids=["dictionary", "views"])
def test_a_long_text_that_many_rows_name(tmp_path: Path, is_file: bool, column: pa.Array) -> None:
    path = arrow(tmp_path / "a.arrow", pa.table({"text": column}), is_file)
    with little_memory(), pytest.raises(InputError, match=r"a\.arrow: reading stopped at byte \d+.*archive bomb"):
        extracted(path, "dataset")


def test_a_long_text_that_many_rows_of_parquet_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HARMLESS", 100_000_000)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": NAMED}), path, compression="zstd")
    with little_memory(), pytest.raises(InputError, match=r"a\.parquet: reading stopped at byte \d+.*archive bomb"):
        extracted(path, "parquet")


@pytest.mark.parametrize("is_file", [True, False])
@pytest.mark.parametrize("nested", [False, True])
def test_another_column_that_inflates(tmp_path: Path, is_file: bool, nested: bool) -> None:
    """The text is harmless, and is read; what the other column comes to is counted, and not allocated."""
    for size in (1_000_000, 700_000_000):
        other = pa.array([b"\0" * size], pa.large_binary())
        column = pa.StructArray.from_arrays([other], ["a"]) if nested else other
        path = arrow(tmp_path / "a.arrow", pa.table({"other": column, "text": ["ফুল।"]}), is_file)
        assert path.stat().st_size < 60_000
        del other, column
        if size == 1_000_000:
            assert extracted(path, "dataset") == 1
        else:
            with little_memory(), pytest.raises(InputError, match="archive bomb"):
                extracted(path, "dataset")


@pytest.mark.parametrize("is_file", [True, False])
def test_a_batch_that_is_too_large_for_any_memory(
    tmp_path: Path, is_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prasanga.sentences.columns._LARGEST_BATCH", 1_000_000)
    path = arrow(tmp_path / "a.arrow", pa.table({"text": ["a" * 1_500_000]}), is_file)
    with pytest.raises(InputError, match=r"read as Arrow \(a batch that comes to 15000\d\d bytes, of at most"):
        extracted(path, "dataset", inflation=10**6)


@pytest.mark.parametrize("is_file", [True, False])
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_columns_of_every_kind_of_text_are_read(tmp_path: Path, is_file: bool, compression: str | None) -> None:
    texts = ["ফুল।", None, "", "একটি ফুল।", "ফুল।"] * 300
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array(texts, pa.string()).cast(kind) if pa.types.is_dictionary(kind) else pa.array(texts, kind)
        table = pa.table({"n": range(len(texts)), "text": column, "list": [[1, 2]] * len(texts)})
        path = arrow(tmp_path / "a.arrow", pa.concat_tables([table, table.slice(3, 7)]), is_file, compression)
        read = list(arrow_texts(path, "text"))
        assert read == [*texts, *texts[3:10]]
        if kind != pa.string_view():
            pq.write_table(table, tmp_path / "a.parquet", row_group_size=700)
            assert list(parquet_texts(tmp_path / "a.parquet", "text")) == texts
