"""Our metrics in the harnesses that others evaluate with: one file each, each with an extra of its own."""
