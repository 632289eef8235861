"""Social bias in language models for Bangla, Hindi and English, and how its measurement depends on context."""

__version__ = "0.1.0"
