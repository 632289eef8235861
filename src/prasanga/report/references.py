"""The publications whose methods a study uses: what whoever publishes its numbers should cite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from prasanga.report.method_names import METHODS

_OF_WORDS = tuple(METHODS)
_ARXIV = "https://arxiv.org/abs/"
_DOI = "https://doi.org/"


class Reference(NamedTuple):
    """A publication, the methods that it is to be cited for, and what of it is used."""

    methods: tuple[str, ...]
    authors: str
    year: int
    title: str
    venue: str
    url: str
    used: str

    @property
    def link(self) -> str:
        """The address as a reader knows it, arXiv:<number> or doi:<name>; empty where there is none."""
        return self.url.replace(_ARXIV, "arXiv:").replace(_DOI, "doi:")


REFERENCES = (
    Reference(
        (*_OF_WORDS, "structures"),
        "Jayanta Sadhu, Ayan Antik Khan, Abhik Bhattacharjee and Rifat Shahriyar",
        2024,
        "An Empirical Study on the Characteristics of Bias upon Context Length Variation for Bangla",
        "Findings of ACL 2024",
        "https://arxiv.org/abs/2406.17375",
        "The categories, the segment lengths, CEAT for Bangla, sentence structures.",
    ),
    Reference(
        ("seat", "pairs"),
        "Nihar Ranjan Sahoo, Pranamya Prashant Kulkarni, Narjis Asad, Arif Ahmad, Tanu Goyal, Aparna Garimella and"
        " Pushpak Bhattacharyya",
        2024,
        "IndiBias: A Benchmark Dataset to Measure Social Biases in Language Models for Indian Context",
        "NAACL 2024",
        "https://arxiv.org/abs/2403.20147",
        "Sentence pairs and intersectional tests for the Indian context.",
    ),
    Reference(
        _OF_WORDS,
        "Aylin Caliskan, Joanna J. Bryson and Arvind Narayanan",
        2017,
        "Semantics derived automatically from language corpora contain human-like biases",
        "Science 356",
        "https://doi.org/10.1126/science.aal4230",
        "WEAT, and the design of the word lists.",
    ),
    Reference(
        ("ceat",),
        "Wei Guo and Aylin Caliskan",
        2021,
        "Detecting Emergent Intersectional Biases: Contextualized Word Embeddings Contain a Distribution of Human-like"
        " Biases",
        "AIES 2021",
        "",
        "CEAT.",
    ),
    Reference(
        ("seat",),
        "Chandler May, Alex Wang, Shikha Bordia, Samuel R. Bowman and Rachel Rudinger",
        2019,
        "On Measuring Social Biases in Sentence Encoders",
        "NAACL 2019",
        "https://arxiv.org/abs/1903.10561",
        "SEAT.",
    ),
    Reference(
        ("log_probability", "structures"),
        "Keita Kurita, Nidhi Vyas, Ayush Pareek, Alan W. Black and Yulia Tsvetkov",
        2019,
        "Measuring Bias in Contextualized Word Representations",
        "First Workshop on Gender Bias in Natural Language Processing",
        "",
        "Log-probability bias.",
    ),
    Reference(
        ("pairs",),
        "Nikita Nangia, Clara Vania, Rasika Bhalerao and Samuel R. Bowman",
        2020,
        "CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language Models",
        "EMNLP 2020",
        "",
        "Scores of sentence pairs.",
    ),
)
"""What whoever publishes numbers made this way should cite."""

PAPERS = REFERENCES[:2]
"""The two papers whose tests, tables and figures these are."""


def references_of(measured: Iterable[str]) -> list[Reference]:
    """What a study that measured these methods should cite."""
    found = set(measured)
    return [each for each in REFERENCES if found & set(each.methods)]
