"""Training of metrics: report pairs, labels, models."""
