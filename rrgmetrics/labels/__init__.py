"""A reading → the labels of others: CheXpert's conditions, SRR, RadBERT-CT, changes, entities, RadGraph's graph."""
