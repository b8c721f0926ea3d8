"""Converts a reading to other labels: CheXpert's conditions, SRR, RadBERT-CT, changes, entities, RadGraph's graph."""
