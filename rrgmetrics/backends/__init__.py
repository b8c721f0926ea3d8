"""One file per model or data source that annotates texts; all load lazily. `weights/` contains the bundled weights."""
