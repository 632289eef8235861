"""The papers' layouts: which come out, rows and columns in the papers' order, marks by preset, LaTeX that closes."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import polars as pl
import pytest
from loss_columns import losses, same_losses

from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.report.ceat_table import HOLM, NOT_BY_DRAWS, to_markdown
from prasanga.report.paper_tables import (
    SADHU,
    SAHOO,
    layouts_of,
    methods_of,
    render_languages,
    render_layout,
)
from prasanga.report.sheet import (
    Cell,
    Row,
    Sheet,
    count_words_of_other_scripts,
    escape_latex,
    escape_markdown,
    sheet_to_csv,
    sheets_to_latex,
    sheets_to_markdown,
    split_wide,
)

SETS = {
    "C1": ("flowers", "insects", "pleasant", "unpleasant"),
    "C4": ("male_names", "female_names", "career", "family"),
    "GR1": ("male_names", "female_names", "career", "family"),
    "GR3": ("hindu_male_first_names", "muslim_female_first_names", "career_caliskan", "family_caliskan"),
    "GR10": ("hindu_male_names", "muslim_female_names", "nonviolent", "violent"),
}


def estimate(category: str, model: str, effect: float | None, **changes: Any) -> dict[str, Any]:
    x, y, a, b = SETS[category]
    return {
        "category": category, "category_title": "", "target_x": x, "target_y": y, "attribute_a": a, "attribute_b": b,
        "model": model, "effect_size": effect, "p_stimuli": 0.2, "p_association_holm": 1.0, "lost": [],
        "std": "union_ddof1", "alternative": "two-sided",
    } | changes  # fmt: skip


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def ceat_table(n_samples: int = 5000) -> pl.DataFrame:
    return table(
        *(
            estimate(
                category,
                "bert",
                base + step,
                segment_length=length,
                sample_mode=mode,
                p_draws=0.0049 if length == "9" else 0.005,
                p_association_holm=0.04 if category == "C1" else 0.06,
                n_samples=n_samples,
                variance="association",
                tau2_method="dl",
            )
            for category, base in (("C1", 0.5), ("C4", -0.3))
            for length, step in ((">75", 0.2), ("9", 0.1))
            for mode in ("random", "fixed")
        )
    )


@pytest.fixture
def tables() -> dict[str, pl.DataFrame]:
    weat = table(
        estimate("C1", "word2vec", 1.7, p_association_holm=0.01, method="word2vec", forms="dictionary"),
        estimate("C4", "word2vec", 0.3, p_stimuli=0.04, method="word2vec", forms="dictionary"),
    )
    seat = table(
        estimate(
            "C1", "bert", None, lost=losses("গোলাপ: unknown; not computed: one word left"), p_sentences=None, unit="word"
        ),
        estimate("C4", "bert", -0.2, p_sentences=0.001, unit="word"),
        estimate("C1", "gpt_2", 0.9, p_sentences=0.06, unit="word"),
        estimate("GR1", "bert", 0.5, p_sentences=0.2, unit="word"),
    )
    return {"ceat": ceat_table(), "seat": seat, "weat": weat}


def study(**changes: Any) -> dict[str, Any]:
    return complete(changes)


def lines_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def require_closed(latex: str) -> None:
    """What a compiler would stop at: environments and braces that do not close, rows with too many or few cells."""
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", latex):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    depth = 0
    for sign in re.sub(r"\\.", "", latex, flags=re.DOTALL):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    bare = re.sub(r"\\.", "", re.sub(r"^%.*$", "", latex, flags=re.MULTILINE))
    assert bare.count("$") % 2 == 0
    assert not re.search(r"[#%]|(?<!\^)_(?=[a-z])", re.sub(r"\\label\{[^}]*\}", "", bare))
    for body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", latex, flags=re.DOTALL):
        for line in body[1].split("\n"):
            if line.endswith(r"\\"):
                spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
                assert len(re.findall(r"(?<!\\)&", line)) + 1 + sum(spans) == len(body[0]), line


def test_which_layouts_come_out() -> None:
    assert layouts_of(study()) == ["sadhu_table5"]
    assert layouts_of(study(associations={"n_samples": 1000})) == ["sadhu_table6"]
    static = {"vectors": {"w": {"path": "w.txt"}}}
    assert layouts_of(study(static=static)) == ["sadhu_table4", "sadhu_table5"]
    assert layouts_of(study(static={**static, "categories": ["GR1"]})) == ["sadhu_table5"]
    seat = {"categories": ["C1", "GR2", "GA6"]}
    everything = study(seat=seat, static=static)
    assert layouts_of(everything) == ["sadhu_table4", "sadhu_table5", "sahoo_table3", "sahoo_table9"]
    assert methods_of(everything) == ["ceat", "seat", "weat"]
    assert methods_of(study()) == ["ceat"]
    assert layouts_of(study(categories=["own"])) == []


def test_tests_of_the_tables() -> None:
    assert SADHU == ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9")
    assert [len(tests) for tests in SAHOO.values()] == [14, 6, 6]


def test_table_4(tables: dict[str, pl.DataFrame]) -> None:
    layout = render_layout("sadhu_table4", tables)
    lines = lines_of(layout.csv)
    assert lines[0] == [
        "category", "targets", "attributes", "WEAT word2vec", "SEAT bert", "SEAT gpt_2", "CEAT bert",
        "Log-probability bias", "note",
    ]  # fmt: skip
    assert lines[1] == [
        "C1", "flowers/insects", "pleasant/unpleasant", "+1.700*", "–", "+0.900", "+0.600*", "–",
        "SEAT bert: one word left",
    ]  # fmt: skip
    assert lines[2][3:] == ["+0.300", "-0.200", "–", "-0.200", "–", "SEAT gpt_2: not in the table"]
    assert len(lines) == 3
    assert "- CEAT: segments of 9 words, fixed draws" in layout.md
    assert "- \\* WEAT, SEAT, CEAT: p\\_association\\_holm \\< .05" in layout.md
    assert "- – Log-probability bias: not measured in this study." in layout.md
    assert "- – C1: SEAT bert: one word left." in layout.md
    assert "- Conventions of SEAT: std union\\_ddof1; alternative two-sided; unit word." in layout.md
    assert r" & word2vec & bert & gpt\_2 & bert & \shortstack{Log- \\ probability \\ bias} \\" in layout.tex
    assert r"\multicolumn{1}{c}{WEAT} & \multicolumn{2}{c}{SEAT} & \multicolumn{1}{c}{CEAT}" in layout.tex
    assert r"\cmidrule(lr){2-2} \cmidrule(lr){3-4} \cmidrule(lr){5-5}" in layout.tex
    require_closed(layout.tex)


def test_table_4_with_the_papers_marks(tables: dict[str, pl.DataFrame]) -> None:
    layout = render_layout("sadhu_table4", tables, preset="paper")
    first, second = lines_of(layout.csv)[1:]
    # WEAT and SEAT by p_stimuli: the program of this paper permutes words, whatever p_sentences the study has
    assert first[3:7] == ["+1.700", "–", "+0.900", "+0.600*"]
    assert second[3:7] == ["+0.300*", "-0.200", "–", "-0.200*"]
    assert "- \\* WEAT, SEAT: p\\_stimuli \\< .05: permutation of the target words as in the paper" in layout.md
    assert "p\\_sentences" not in layout.md
    assert "- \\* CEAT: p\\_draws \\< .05" in layout.md


def test_table_4_says_what_the_study_did_not_measure(tables: dict[str, pl.DataFrame]) -> None:
    layout = render_layout("sadhu_table4", {"weat": tables["weat"]})
    assert lines_of(layout.csv)[0][3:] == ["WEAT word2vec", "SEAT", "CEAT", "Log-probability bias", "note"]
    assert "- – SEAT: not measured in this study." in layout.md
    with pytest.raises(InputError, match="no table has any of C1 to C9"):
        render_layout("sadhu_table4", {"seat": tables["seat"].filter(pl.col("category") == "GR1")})


def test_a_table_of_log_probability_bias_has_its_place(tables: dict[str, pl.DataFrame]) -> None:
    bias = table(estimate("C1", "bert", 0.89))
    lines = lines_of(render_layout("sadhu_table4", {**tables, "log_probability_bias": bias}).csv)
    assert lines[0][-2] == "Log-probability bias bert"
    assert lines[1][-2] == "+0.890"


def test_the_mark_of_log_probability_bias_is_that_of_the_others(tables: dict[str, pl.DataFrame]) -> None:
    bias = table(estimate("C1", "bert", 0.89))
    layout = render_layout("sadhu_table4", {**tables, "log_probability_bias": bias})
    said = "p\\_association\\_holm \\< .05: permutation of the target words and of the attribute words"
    assert f"- \\* WEAT, SEAT, CEAT, Log-probability bias: {said}" in layout.md


def test_an_exchanged_category_keeps_its_name_and_says_so() -> None:
    turned = dict(
        zip(("target_x", "target_y", "attribute_a", "attribute_b"), SETS["C4"][2:] + SETS["C4"][:2], strict=True)
    )
    bias = table(estimate("C4", "bert", 0.93, **turned, exchanged=True, p_sentences=0.001, pieces="first"))
    for preset, mark in (("recommended", ""), ("paper", "*")):
        layout = render_layout("sadhu_table4", {"log_probability_bias": bias}, preset=preset)
        assert lines_of(layout.csv)[1][:3] == ["C4", "male/female names", "career/family"]
        assert lines_of(layout.csv)[1][-2] == f"+0.930{mark}"
        assert "targets and attributes exchanged in C4 (the paper exchanged those of C6 to C9)" in layout.md
        assert "pieces first" in layout.md
    assert "p\\_sentences \\< .05: permutation of single sentences as in the paper" in layout.md


def test_log_probability_bias_makes_table_4() -> None:
    config = study(log_probability={"categories": ["C4", "C6"]})
    assert layouts_of(config) == ["sadhu_table4", "sadhu_table5"]
    assert methods_of(config) == ["ceat", "log_probability_bias"]


def test_tables_5_and_6() -> None:
    layout = render_layout("sadhu_table5", {"ceat": ceat_table()})
    assert lines_of(layout.csv)[0] == [
        "category", "targets", "attributes", "sample_mode", "bert 9", "bert >75", "note",
    ]  # fmt: skip
    # by Holm: C1 alone
    assert [line[4:6] for line in lines_of(layout.csv)[1:]] == [["+0.600*", "+0.700*"]] * 2 + [["-0.200", "-0.100"]] * 2
    assert layout.md.startswith("CEAT effect size by category, model and segment length in words, N = 5000 draws;")
    assert r"N = 5000 draws; f: fixed, r: random draws. In the layout of Table 5 of Sadhu et al. (2024).}" in layout.tex
    assert r"\label{tab:sadhu5}" in layout.tex
    require_closed(layout.tex)
    paper = render_layout("sadhu_table6", {"ceat": ceat_table(1000)}, preset="paper")
    # as in the paper what is not significant has the mark: p of .005 and more
    assert [line[4:6] for line in lines_of(paper.csv)[1:]] == [["+0.600", "+0.700*"]] * 2 + [["-0.200", "-0.100*"]] * 2
    assert "N = 1000 draws" in paper.tex
    assert "Table 6" in paper.tex
    assert "- \\* not significant, p\\_draws of at least .005, as in the paper." in paper.md


def sahoo_tables(**changes: Any) -> dict[str, pl.DataFrame]:
    seat = table(
        estimate("GR10", "bert", 0.8, p_association_holm=0.049, p_stimuli=0.02, **changes),
        estimate("GR1", "bert", -0.8, p_association_holm=0.05, p_stimuli=0.009, **changes),
        estimate("GR3", "bert", 0.79999, p_association_holm=0.01, p_stimuli=0.01, **changes),
        estimate("GR1", "gpt_2", 0.1, **changes),
        estimate("GR10", "gpt_2", None, lost=losses("not computed: no vectors"), **changes),
        estimate("C1", "other", 0.1, **changes),
    )
    return {"seat": seat}


def test_table_3_of_sahoo() -> None:
    layout = render_layout("sahoo_table3", sahoo_tables(sentence_vector="cls"), language="hi")
    lines = lines_of(layout.csv)
    assert lines[0] == ["category", "targets", "attributes", "Hindi bert", "Hindi gpt_2", "note"]
    assert [line[0] for line in lines[1:]] == ["GR1", "GR3", "GR10"]
    assert [line[3] for line in lines[1:]] == ["-0.800", "+0.800*", "+0.800*"]
    assert lines[2][4:] == ["–", "Hindi gpt_2: not in the table"]
    assert lines[3][4:] == ["–", "Hindi gpt_2: no vectors"]
    # large by the number itself: 0.79999 is not, though it is written as 0.800
    assert "| GR1: Male/Female names, C/F | **-0.800** | +0.100 |" in layout.md
    assert "| GR3: Hindu male/Muslim female names, C/F | <u>+0.800</u> | – |" in layout.md
    assert "| GR10: Hindu male/Muslim female names, N/V | <u>**+0.800**</u> | – |" in layout.md
    assert "- C/F: career/family; N/V: nonviolent/violent." in layout.md
    assert "sentence\\_vector cls" in layout.md
    assert r"\multicolumn{2}{c}{Hindi}" in layout.tex
    assert r"GR1: Male/Female names, C/F & $\mathbf{-0.800}$ & $+0.100$ \\" in layout.tex
    assert r"GR10: Hindu male/Muslim female names, N/V & \underline{$\mathbf{+0.800}$} & -- \\" in layout.tex
    assert "other" not in layout.tex
    require_closed(layout.tex)


def test_table_3_with_the_papers_marks() -> None:
    words = render_layout("sahoo_table3", sahoo_tables(), preset="paper", language="en")
    assert [line[3] for line in lines_of(words.csv)[1:]] == ["-0.800*", "+0.800", "+0.800"]
    assert "Underlined (in CSV \\*): p\\_stimuli \\< .01" in words.md
    sentences = render_layout("sahoo_table3", sahoo_tables(p_sentences=0.001), preset="paper", language="en")
    assert [line[3] for line in lines_of(sentences.csv)[1:]] == ["-0.800*", "+0.800*", "+0.800*"]
    assert "p\\_sentences \\< .01" in sentences.md


def test_conventions_that_differ_are_named_with_their_models() -> None:
    seat = table(
        estimate("GR1", "bert", 0.1, sentence_vector="cls"), estimate("GR1", "gpt_2", 0.1, sentence_vector="last")
    )
    layout = render_layout("sahoo_table3", {"seat": seat}, language="en")
    assert "sentence\\_vector cls (bert), last (gpt\\_2)" in layout.md


def test_tables_that_cannot_be_used(tables: dict[str, pl.DataFrame]) -> None:
    with pytest.raises(InputError, match="no layout 'table7'; there are sadhu_table4"):
        render_layout("table7", tables)
    with pytest.raises(InputError, match="sahoo_table3 is made of the table of SEAT, which this study does not have"):
        render_layout("sahoo_table3", {"ceat": tables["ceat"]})
    with pytest.raises(InputError, match="the table of SEAT has none of GC1 to GC6"):
        render_layout("sahoo_table4", tables)
    with pytest.raises(InputError, match="WEAT: the table has no column lost"):
        render_layout("sadhu_table4", {"weat": tables["weat"].drop("lost")})
    with pytest.raises(InputError, match="the table of SEAT has two rows for GR1, bert"):
        render_layout("sahoo_table3", {"seat": pl.concat([tables["seat"], tables["seat"].tail(1)])})
    with pytest.raises(InputError, match="there is no method 'meat'"):
        render_layout("sadhu_table4", {"meat": tables["weat"]})
    with pytest.raises(InputError, match="the table of CEAT has none of C1 to C9"):
        render_layout("sadhu_table5", {"ceat": tables["ceat"].clear()})


def test_marks() -> None:
    assert [HOLM.marks({"p_association_holm": p}) for p in (0.049, 0.05, None, float("nan"))] == [
        True,
        False,
        False,
        False,
    ]
    assert [NOT_BY_DRAWS.marks({"p_draws": p}) for p in (0.0049, 0.005, None)] == [False, True, False]
    assert not HOLM.marks({})


@pytest.mark.parametrize(
    ("alternative", "said"),
    [
        ("two-sided", " The test is two-sided."),
        ("greater", " The test is one-sided: negative effects cannot be marked."),
        ("less", " The test is one-sided: positive effects cannot be marked."),
        (None, ""),
    ],
)
def test_a_mark_says_the_alternative_of_its_table(alternative: str | None, said: str) -> None:
    ceat = ceat_table().with_columns(alternative=pl.lit(alternative, pl.String))
    own = f"{HOLM.note}{said}"
    assert HOLM.said_of(ceat.iter_rows(named=True)) == own
    assert "sided" not in HOLM.note
    assert "over all tests of words in the study (CEAT, SEAT, WEAT and log-probability bias together)." in HOLM.note
    assert f"- \\* {escape_markdown(own)}\n" in to_markdown(ceat)
    layout = render_layout("sadhu_table5", {"ceat": ceat})
    assert f"- \\* {escape_markdown(HOLM.note + said)}\n" in layout.md
    # the p of draws has no such choice
    assert NOT_BY_DRAWS.said_of(ceat.iter_rows(named=True)) == NOT_BY_DRAWS.note
    assert HOLM.said_of([{}]) == HOLM.note


def test_languages_side_by_side() -> None:
    english = sahoo_tables(sentence_vector="cls", p_sentences=0.02, alternative="greater")
    hindi = {"seat": table(estimate("GR3", "muril", 0.4, p_sentences=None, p_stimuli=0.001, sentence_vector="mean"))}
    layout = render_languages("sahoo_table3", {"en": english, "hi": hindi}, preset="paper")
    lines = lines_of(layout.csv)
    assert lines[0] == [
        "category", "targets", "attributes", "English bert", "English gpt_2", "Hindi muril", "note",
    ]  # fmt: skip
    assert [line[3:6] for line in lines[1:]] == [
        ["-0.800", "+0.100", "–"], ["+0.800", "–", "+0.400*"], ["+0.800", "–", "–"],
    ]  # fmt: skip
    assert lines[1][6] == "Hindi muril: not in the table"
    assert "- Underlined (in CSV \\*), English: p\\_sentences \\< .01" in layout.md
    assert "- Underlined (in CSV \\*), Hindi: p\\_stimuli \\< .01" in layout.md
    assert "- Conventions of SEAT, English: std union\\_ddof1; alternative greater; sentence\\_vector cls." in layout.md
    assert r"\multicolumn{2}{c}{English} & \multicolumn{1}{c}{Hindi}" in layout.tex
    require_closed(layout.tex)
    one = render_languages("sahoo_table3", {"hi": sahoo_tables()})
    assert one == render_layout("sahoo_table3", sahoo_tables(), language="hi")
    with pytest.raises(InputError, match="'sadhu_table4' has no languages side by side; sahoo_table3"):
        render_languages("sadhu_table4", {"en": english})
    with pytest.raises(InputError, match="sahoo_table3 is made of the table of SEAT, which this study does not have"):
        render_languages("sahoo_table3", {"en": english, "hi": {}})


def test_latex_has_no_sign_that_pdflatex_does_not_set(tables: dict[str, pl.DataFrame]) -> None:
    lost = "গোলাপ, জবা ফুল: no vector; गुलाब: 3 of 8 sentences left out"
    seat = table(
        estimate("C1", "bert", None, lost=losses(lost)), estimate("C4", "মডেল", 0.1, lost=[], alternative="less")
    )
    ceat = ceat_table().with_columns(effect_size=None, lost=same_losses("কলকাতা: no contexts – × “naïve”"))
    for layout in (
        render_layout("sadhu_table4", {**tables, "seat": seat}),
        render_layout("sadhu_table5", {"ceat": ceat}),
        render_layout("sahoo_table3", sahoo_tables()),
    ):
        assert layout.tex.isascii()
        require_closed(layout.tex)
    tex = render_layout("sadhu_table4", {**tables, "seat": seat}).tex
    assert "-- C1: SEAT bert: 2 words: no vector; 1 word: 3 of 8 sentences left out." in tex
    assert "Words in other scripts are counted here; the CSV and Markdown files of this table name them." in tex
    assert "(?)" in tex  # a model's name, which is no note
    for text in render_layout("sadhu_table4", {**tables, "seat": seat})[:2]:
        assert lost.split(";")[0] in text
    plain = render_layout("sahoo_table3", sahoo_tables()).tex
    assert "other scripts" not in plain
    tex = render_layout("sadhu_table5", {"ceat": ceat}).tex
    assert "1 word: no contexts -- $\\times$ ``naive''." in tex
    # commands of booktabs and of LaTeX itself, no others
    assert set(re.findall(r"\\([a-z]+)", plain + tex)) <= {
        "begin", "end", "centering", "small", "toprule", "midrule", "bottomrule", "cmidrule", "multicolumn",
        "shortstack", "underline", "mathbf", "smallskip", "medskip", "footnotesize", "linewidth", "par", "caption",
        "label", "times", "usepackage", "textbackslash", "textasciitilde", "textasciicircum", "setlength", "tabcolsep",
        "scriptsize",
    }  # fmt: skip


def test_wide_tables_are_parted_between_groups() -> None:
    columns = (("W", "a"), ("W", "b"), ("S", "c"), ("S", "d"), ("S", "e"), ("", "f"))
    sheet = Sheet(("l",), columns, (Row(("r",), tuple(Cell(name) for _, name in columns)),))
    assert [[name for _, name in part.columns] for part in split_wide(sheet, 4)] == [["a", "b"], ["c", "d", "e", "f"]]
    assert [[name for _, name in part.columns] for part in split_wide(sheet, 2)] == [["a", "b"], ["c", "d"], ["e", "f"]]
    assert [cell.text for part in split_wide(sheet, 2) for cell in part.rows[0].cells] == list("abcdef")
    assert split_wide(sheet, 6) == [sheet]


def test_special_signs_and_long_names() -> None:
    name = "google_muril-large-cased-layer12"
    sheet = Sheet(("A & B",), (("50 %", name), ("50 %", "x^2")), (Row(("#1 {a}_b|c",), (Cell("-0.100", "*"), Cell())),))
    latex = sheets_to_latex([sheet], ["\N{MINUS SIGN}1 < ~2 \\ $3"], caption="N_1 & more", label="tab:x")
    assert r"\shortstack{google\_muril- \\ large-cased- \\ layer12} & x\textasciicircum{}2 \\" in latex
    assert r"\#1 \{a\}\_b$|$c & $-0.100^{*}$ & -- \\" in latex
    assert r"$-$1 $<$ \textasciitilde{}2 \textbackslash{} \$3" in latex
    assert r"A \& B & \multicolumn{2}{c}{50 \%} \\" in latex
    assert r"\caption{N\_1 \& more}" in latex
    require_closed(latex)
    assert "| #1 {a}\\_b\\|c | -0.100* | – |" in sheets_to_markdown([sheet], [])
    assert lines_of(sheet_to_csv(sheet))[0] == ["A & B", f"50 % {name}", "50 % x^2", "note"]


def test_greek_letters_and_signs_are_those_of_latex() -> None:
    assert (
        escape_latex("τ² ≤ ½, ±1 µm, Ω ς Α ο") == r"$\tau$$^{2}$ $\leq$ 1/2, $\pm$1 $\mu$m, $\Omega$ $\varsigma$ A $o$"
    )
    assert escape_latex("Søren Łódź naïve e\u0301") == r"S\o{}ren \L{}odz naive e"
    assert count_words_of_other_scripts("τ² of গোলাপ, জবা") == "τ² of 2 words"


def test_tables_that_a_page_has_no_room_for_go_on_below_and_on_the_next() -> None:
    names = [f"a-model-of-some-length-{i}" for i in range(9)]
    label = "C1: flowers and other plants/insects (pleasant/unpleasant)"
    rows = tuple(Row((label,), tuple(Cell("+0.100") for _ in names)) for _ in range(16))
    sheet = Sheet(("Category",), tuple(("CEAT", name) for name in names), rows)
    parts = split_wide(sheet, 9)
    assert len(parts) > 1
    assert [column for part in parts for column in part.columns] == list(sheet.columns)
    latex = sheets_to_latex(parts, ["A remark."], caption="c & d", label="tab:x")
    require_closed(latex)
    pages = latex.count(r"\begin{table*}")
    assert pages > 1
    assert latex.count(r"\caption{c \& d (Continued.)}") == latex.count(r"\addtocounter{table}{-1}") == pages - 1
    assert latex.count(r"\label{tab:x}") == 1
    assert latex.count("A remark.") == 1
    assert r"\shortstack[l]{C1: flowers and other \\ " in latex
    one = Sheet(("Category",), (("", "m"),), (Row((label,), (Cell("+0.100"),)),))
    assert f"{label} & $+0.100$" in sheets_to_latex([one], [], caption="c", label="l")


def test_labels_cannot_be_taken_for_an_option_of_a_new_line() -> None:
    rows = tuple(Row((label,), (Cell("+1.000"),)) for label in ("[x] a", "* b"))
    latex = sheets_to_latex([Sheet(("l",), (("", "a"),), rows)], [], caption="c", label="l")
    assert "\n{}[x] a & " in latex
    assert "\n{}* b & " in latex


def test_without_groups_there_is_one_line_of_heads() -> None:
    sheet = Sheet(("l",), (("", "a"),), (Row(("r",), (Cell("+1.000"),)),))
    latex = sheets_to_latex([sheet], [], caption="c", label="l")
    assert "\\toprule\nl & a \\\\\n\\midrule" in latex
    require_closed(latex)
