"""Tiny models and planted text for tests and calibration, not for users. It is not part of the wheel."""

from prasanga_calibration.training import TrainingReport, train_model

__all__ = ["TrainingReport", "train_model"]
