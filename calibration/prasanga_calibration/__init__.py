"""Tiny models and planted text: what tests and calibration need and no user does. It is not part of the wheel."""

from prasanga_calibration.training import TrainingReport, train_model

__all__ = ["TrainingReport", "train_model"]
