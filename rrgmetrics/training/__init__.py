"""Trains CREPE's regressor and encoder on labelled pairs of reports; see `TRAINING.md`."""
