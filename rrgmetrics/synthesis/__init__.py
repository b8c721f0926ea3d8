"""Makes pairs of reports with known errors, from given or generated reports; see `SYNTHESIS.md`."""
