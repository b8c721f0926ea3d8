"""Trains CREPE's regressor, encoders and judges on pairs of reports; see `TRAINING.md`."""
