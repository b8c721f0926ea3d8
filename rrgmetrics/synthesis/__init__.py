"""Makes pairs of reports with known errors, from anyone's reports or from the generator's; see `SYNTHESIS.md`."""
