"""One file per model or data source that reads texts; all load lazily. `weights/` holds what ships in the wheel."""
